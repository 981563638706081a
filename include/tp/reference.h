/* The evaluator: what a program computes, from its text alone.
 *
 * It runs programs of linalg, tensor, arith, math, complex, scf, cf.assert and func op by op, as
 * the documentation of these ops says. It shares no code with the passes or with code generation,
 * so a defect that one device and N devices have in common shows against it. Floats are computed in
 * binary64. Beside each stands a bound of how far a correct implementation in the types of the
 * program may be off: every operation may round once, in any order of sums (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd edition, section 4.2). A number is unknown where rounding
 * may decide what it is (a comparison of two numbers that are closer than their bounds), or where
 * nothing was written (tensor.empty).
 *
 * Thread rule: an evaluation uses the module's context, one thread at a time; a tp_reference is
 * read-only afterwards. */
#ifndef TP_REFERENCE_H
#define TP_REFERENCE_H

#include "tp/status.h"

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The results of one evaluation. */
typedef struct tp_reference tp_reference;

typedef struct tp_reference_options {
  /* sizeof(tp_reference_options), set by the caller; a zeroed rest means defaults. */
  size_t size;
  /* Most scalar operations to run; 0: no limit. */
  double max_steps;
  /* Floats are computed as if nothing rounded, without bounds: then comparisons of close numbers
   * are decided by their values, and all numbers are known. For programs whose bounds, which hold
   * for any order of sums, grow beyond use. */
  bool without_bounds;
  /* Called now and then with the scalar operations run so far; NULL: never. A result other than 0
   * ends the evaluation. */
  int (*progress)(void *user, double steps);
  void *user;
} tp_reference_options;

/* Evaluates `function` of a module that is not partitioned. `inputs` has one pointer per argument
 * to dense row-major data, as a compiled program is called (tp_entry in tp/compile.h): i1 is a
 * byte, index has 8 bytes, a complex element is two numbers. The data are only read, and not needed
 * afterwards. `options` may be NULL.
 *
 * The caller owns *reference. On failure `why` (why_size bytes, at least 1) receives a message that
 * names the op:
 *   TP_NOT_FOUND         there is no such function
 *   TP_UNSUPPORTED       an op, a type or a number of steps that the evaluator does not do
 *   TP_INVALID_ARGUMENT  the program does what MLIR leaves undefined, or what it does next depends
 *     on rounding
 *   TP_NO_MEMORY */
TP_API tp_status tp_reference_evaluate(MlirModule module, const char *function,
                                       const void *const *inputs,
                                       const tp_reference_options *options, size_t why_size,
                                       char *why, tp_reference **reference);
TP_API void tp_reference_destroy(tp_reference *reference);

/* Numbers of result `result`: its elements, times two for complex ones. */
TP_API int64_t tp_reference_count(const tp_reference *reference, int result);

/* One number of a result; integers up to 2^53 are exact in `value`. False: it is unknown. `error`
 * (may be NULL) receives how far a correct result may be off; 0: not at all. */
TP_API bool tp_reference_value(const tp_reference *reference, int result, int64_t number,
                               double *value, double *error);

/* How data compare with a result. */
typedef struct tp_reference_judgement {
  int64_t n_numbers, n_known;
  /* The first number that is farther off than in any correct implementation; -1: none. */
  int64_t first_wrong;
  /* Over the known floats: the largest |difference| (infinite where a NaN or an infinity stands on
   * one side only), and the largest finite |value| of the reference. */
  double error, largest;
  /* What first_wrong is, and what it should be; "" for none. */
  char text[160];
} tp_reference_judgement;

/* Compares `data`, dense row-major data of the result's type, as a compiled program writes them. */
TP_API void tp_reference_judge(const tp_reference *reference, int result, const void *data,
                               tp_reference_judgement *judgement);

#ifdef __cplusplus
}
#endif
#endif
