/* Pads that windows read in place.
 *
 * A padded image has other shards than the image: 18 rows on 4 devices are 5, 5, 5 and 3, where 16
 * are 4 each. Were a pad a value with a layout, rows would move once to make it and again for the
 * windows that read it. Instead a tensor.pad with the attribute tp.in_place has no layout and is no
 * decision. The op behind it reads the image itself: its windows begin `low` elements earlier and
 * may reach past both ends. Each device fetches its run once, and puts the padding value where the
 * run is outside of the image.
 *
 * Such a pad has one user, a structured op in the same block that reads a padded dimension through
 * a window. tp-propagate makes one for each. */
#ifndef TP_RULES_IN_PLACE_H
#define TP_RULES_IN_PLACE_H

#include "rules/rule.h"

/* Is the op a pad that is read in place, as its attribute says? */
bool tp__is_in_place(MlirOperation op);
/* The pad that is read in place as operand i of `op`; null: none. */
MlirOperation tp__pad_in_place(MlirOperation op, int i);

/* Can operand i of `user`, the result of `pad`, be read in place? Errors: those of the rule of
 * `user`. */
tp_status tp__can_read_in_place(MlirOperation pad, MlirOperation user, int i, tp__arena *arena,
                                bool *can);
/* Refuses an attribute that somebody put where it means nothing. */
tp_status tp__check_in_place(MlirOperation pad, tp__arena *arena);

/* Makes the rule of a structured op, in which pads are values, read the operands of those pads that
 * are in place. */
tp_status tp__rule_in_place(tp_rule *rule, tp__arena *arena);
/* Drops variants under which a pad would add its value once for each partial sum. */
void tp__drop_padded_variants(tp_rule *rule);

/* Gives the pads of the op their local operands and types, behind tp__fetch_windows. They are
 * ordinary ops then, or gone. */
tp_status tp__pads_in_place_locally(const tp_local *local);

#endif
