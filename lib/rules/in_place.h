/* Pads that windows read in place.
 *
 * A padded image is sharded differently from the image: 18 rows on 4 devices give 5, 5, 5 and 3,
 * but 16 rows give 4 each. If the padded image were a value with a sharding, rows would move once
 * to produce it and again for the windows that read it. A tensor.pad with the attribute tp.in_place
 * therefore has no sharding, and the planner makes no decision for it. The op after it reads the
 * image directly: its windows start `low` elements earlier and may extend beyond both ends. Each
 * device fetches its run once and fills in the padding value outside of the image.
 *
 * Such a pad has exactly one user, in the same block: a structured op that reads a padded dimension
 * through a window, or a slice that cuts one. tp-propagate creates one pad per user. Slices with
 * the attribute belong to shifts (shift.h). */
#ifndef TP_RULES_IN_PLACE_H
#define TP_RULES_IN_PLACE_H

#include "rules/rule.h"

/* Determines whether operand i of `user`, the result of `pad`, can be read in place. Errors: those
 * of the rule of `user`. */
tp_status tp__can_read_in_place(MlirOperation pad, MlirOperation user, int i, tp__arena *arena,
                                bool *can);
/* Reports an error if the attribute is on a pad or a slice that cannot be read in place. */
tp_status tp__check_in_place(MlirOperation op, tp__arena *arena);

/* Changes the rule of a structured op or a slice so that it reads the operands of its in-place
 * pads. Before, the rule treats the pads as values. */
tp_status tp__rule_in_place(tp_rule *rule, tp__arena *arena);
/* Drops variants under which the padding value would be added once per partial sum. */
void tp__drop_padded_variants(tp_rule *rule);

/* Gives the pads of the op their local operands and types, after tp__halo_fetch_windows. Each pad
 * becomes an ordinary op, or is removed. */
tp_status tp__pads_in_place_locally(const tp_local *local);

#endif
