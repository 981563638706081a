/* Why the parts of a pick combine: the meaning of its ops, and all cases. */
#ifndef TP_RULES_PICK_PROOF_H
#define TP_RULES_PICK_PROOF_H

#include "rules/pick.h"

/* What an op takes and gives: truth values (i1), or numbers of one sort. */
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

/* Kinds of steps that are no row. */
enum { TP_PICK_ACCUMULATOR = -1, TP_PICK_CANDIDATE = -2, TP_PICK_TRUTH = -3 };

/* Does the body combine what two parts of its loop have picked? Sets any_order. `same_init`: for
 * each output the first that starts from the same value. */
bool tp__pick_prove(tp_pick *pick, const int *same_init);

#endif
