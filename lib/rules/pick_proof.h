/* Proves by exhaustive case analysis that a pick can combine the results of two parts. Defines the
 * semantics of its ops. */
#ifndef TP_RULES_PICK_PROOF_H
#define TP_RULES_PICK_PROOF_H

#include "rules/pick.h"

/* The operands and results of an op: booleans (i1), or numbers of one sort. */
typedef enum tp__pick_shape {
  TP_PICK_COMPARE,
  TP_PICK_CHOOSE,
  TP_PICK_EXTREME,
  TP_PICK_LOGIC
} tp__pick_shape;
typedef enum tp__pick_sign {
  TP_PICK_NO_SIGN,
  TP_PICK_SIGNED,
  TP_PICK_UNSIGNED,
  TP_PICK_BY_PREDICATE
} tp__pick_sign;

typedef struct tp__pick_op {
  const char *name;
  tp__pick_shape shape;
  tp__pick_sign sign;
  double (*eval)(int predicate, const double *v);
} tp__pick_op;

extern const tp__pick_op tp__pick_ops[];
extern const int tp__n_pick_ops;

/* Kinds of steps that are not in the table. */
enum { TP_PICK_ACCUMULATOR = -1, TP_PICK_CANDIDATE = -2, TP_PICK_TRUTH = -3 };

/* True if the body can combine the results of two parts of its loop. Sets any_order. same_init[k]
 * is the first output that starts from the same value as output k. */
bool tp__pick_prove(tp_pick *pick, const int *same_init);

#endif
