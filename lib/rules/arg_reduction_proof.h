/* Proves by exhaustive case analysis that a pick can combine the results of two parts. Defines the
 * semantics of its ops. */
#ifndef TP_RULES_ARG_REDUCTION_PROOF_H
#define TP_RULES_ARG_REDUCTION_PROOF_H

#include "rules/arg_reduction.h"

/* The operands and results of an op: booleans (i1), or numbers of one sort. */
typedef enum tp__arg_reduction_shape {
  TP_PICK_COMPARE,
  TP_PICK_CHOOSE,
  TP_PICK_EXTREME,
  TP_PICK_LOGIC
} tp__arg_reduction_shape;
typedef enum tp__arg_reduction_sign {
  TP_PICK_NO_SIGN,
  TP_PICK_SIGNED,
  TP_PICK_UNSIGNED,
  TP_PICK_BY_PREDICATE
} tp__arg_reduction_sign;

typedef struct tp__arg_reduction_op {
  const char *name;
  tp__arg_reduction_shape shape;
  tp__arg_reduction_sign sign;
  double (*eval)(int predicate, const double *v);
} tp__arg_reduction_op;

extern const tp__arg_reduction_op tp__arg_reduction_ops[];
extern const int tp__n_arg_reduction_ops;

/* Kinds of steps that are not in the table. */
enum { TP_PICK_ACCUMULATOR = -1, TP_PICK_CANDIDATE = -2, TP_PICK_TRUTH = -3 };

/* True if the body can combine the results of two parts of its loop. Sets any_order. same_init[k]
 * is the first output that starts from the same value as output k. */
bool tp__arg_reduction_prove(tp_arg_reduction *pick, const int *same_init);

#endif
