/* The reference evaluator: interprets a program op by op, with error bounds.
 *
 * It runs programs of linalg, tensor, arith, math, complex, scf, cf.assert, func and shard as the
 * documentation of these ops specifies. It shares no code with the passes or with code generation,
 * so it also reveals bugs that the one-device and the N-device program have in common. Floats are
 * computed in binary64. Each value carries a bound on the error of a correct implementation in the
 * types of the program: every operation may round once, and sums may use any order (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd edition, section 4.2). A number is unknown if
 * rounding may decide its value (a comparison of two numbers that are closer than their bounds), or
 * if it was never written (tensor.empty).
 *
 * If the program communicates (ops of the shard dialect such as all_reduce and process_multi_index,
 * and permutes), it runs on all devices of its grid in step, each with its own copies of the
 * values, as docs/explanation/rules.md defines it. The devices then have to agree on the results.
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

enum { TP_NOISES = 4 };

typedef struct tp_reference_options {
  /* sizeof(tp_reference_options), set by the caller; zeroed fields mean defaults. */
  size_t size;
  /* Limit on the number of scalar operations; 0: none. */
  double max_steps;
  /* Computes floats without error bounds, as if nothing but arith.truncf rounded. Then comparisons
   * of close numbers are decided by their values, and all numbers are known. For programs whose
   * bounds, which hold for any summation order, become too large to be useful. */
  bool without_bounds;
  /* Computes without error bounds, and changes every result of a float operation by a pseudorandom
   * fraction of the unit roundoff of its type, always the same for the same number. What this
   * changes in a result is what rounding may change, to an order of magnitude (Parker, Monte Carlo
   * Arithmetic, 1997). 1 to TP_NOISES: which sequence of fractions; 0: no noise. */
  int with_noise;
  /* Called periodically with the number of scalar operations so far; NULL: never. A nonzero result
   * ends the evaluation. */
  int (*progress)(void *user, double steps);
  void *user;
} tp_reference_options;

/* Evaluates `function` of a module that is not partitioned. `inputs` has one pointer per argument
 * to dense row-major data, as for a compiled program (tp_entry in tp/compile.h): i1 is a byte,
 * index has 8 bytes, a complex element is two numbers. The data are only read, and are not needed
 * afterwards. An argument with tp.constant has the value of that attribute; its pointer is not
 * used. `options` may be NULL.
 *
 * The caller owns *reference. On failure `why` (why_size bytes, at least 1) receives a message that
 * names the op:
 *   TP_NOT_FOUND         there is no such function
 *   TP_UNSUPPORTED       the evaluator does not support an op or type, or the step limit is
 *                        exceeded
 *   TP_INVALID_ARGUMENT  the program does something that MLIR leaves undefined, its next action
 *                        depends on rounding, devices wait for each other forever or differ in a
 *                        result, or an option is out of range
 *   TP_NO_MEMORY */
TP_API tp_status tp_reference_evaluate(MlirModule module, const char *function,
                                       const void *const *inputs,
                                       const tp_reference_options *options, size_t why_size,
                                       char *why, tp_reference **reference);
TP_API void tp_reference_destroy(tp_reference *reference);

/* Returns the number of numbers in result `result`: its elements, times two for complex ones. */
TP_API int64_t tp_reference_count(const tp_reference *reference, int result);

/* Returns one number of a result; integers up to 2^53 are exact in `value`. False: it is unknown.
 * `error` (may be NULL) receives the error bound of a correct result; 0: none is allowed. */
TP_API bool tp_reference_value(const tp_reference *reference, int result, int64_t number,
                               double *value, double *error);

/* The comparison of data with a result. */
typedef struct tp_reference_judgement {
  int64_t n_numbers, n_known;
  /* The first number whose error exceeds its bound; -1: none. */
  int64_t first_wrong;
  /* Over the known floats: the largest |difference| (infinite if only one side is a NaN or an
   * infinity), and the largest finite |value| of the reference. */
  double error, largest;
  /* The largest unit roundoff of the float types in which the result, or a value that it depends
   * on, is computed: 2^-8 if a f32 result depends on a sum in bf16. 0: nothing is computed. */
  double unit;
  /* The actual and the expected value of first_wrong; "" if there is none. */
  char text[160];
} tp_reference_judgement;

/* Compares `data`, the output of a compiled program: dense row-major data of the result's type. */
TP_API void tp_reference_judge(const tp_reference *reference, int result, const void *data,
                               tp_reference_judgement *judgement);

#ifdef __cplusplus
}
#endif
#endif
