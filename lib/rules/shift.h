/* Shifts: ops whose result is a tensor that is moved along one dimension.
 *
 * A rotation is a concat of the end and the beginning of a tensor, which is how jnp.roll is
 * exported. A shift that fills up is a pad of the end or of the beginning. The slices are sharded
 * differently from the tensor: 12 of 16 rows on 4 devices give 3 each, but 16 rows give 4. If they
 * were values with a sharding, rows would move once to produce them and again to put them together.
 * The slices therefore have the attribute tp.in_place (in_place.h): the op reads the tensor itself
 * through one window, cyclic for a rotation, and each device fetches only the elements that others
 * hold. */
#ifndef TP_RULES_SHIFT_H
#define TP_RULES_SHIFT_H

#include "rules/rule.h"

typedef struct tp_shift {
  int dim;
  int64_t offset; /* element j of the result is element j + offset of the source */
  bool cyclic;    /* a concat; otherwise a pad */
  int n_slices;   /* the first operands of the op */
  MlirValue source;
} tp_shift;

/* True if `op` is a concat or a pad that shifts a tensor, and if its slices may be read in place:
 * they are in the same block and have no annotations. False for an op with a rule of the user. */
bool tp__shift_of(MlirOperation op, tp_shift *shift);
/* True if `op` is a shift that reads its slices in place, according to their attribute. */
bool tp__shift_in_place(MlirOperation op, tp_shift *shift);

/* Makes a shift in place read another copy of its source, which may stand behind its slices. */
void tp__shift_rewire(MlirOperation op, MlirValue source);

/* Makes the rule of the op read the source instead of the slices. All slices but the first are
 * unused. The caller sets the dimensions of operand 0. */
tp_status tp__shift_operands(tp_rule *rule, const tp_shift *shift, tp__arena *arena);

/* Gives a shift in place its local operands, after tp__halo_fetch_windows. Along a split dimension
 * the fetched run replaces the slices; otherwise they become ordinary ops. */
void tp__shift_locally(const tp_local *local);

#endif
