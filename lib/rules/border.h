/* Borders between a global value and the values that single devices hold, such as those of
 * shard_map: shard.all_slice gives each device its part of a value, shard.all_gather joins the
 * parts. Where several dimensions are cut, the ops form a chain in an scf.execute_region with
 * no_inline, since the values in between are of no use: the border is one op, with one decision.
 *
 * The part of a device is what it holds if the global value is split by the axes of the group, so
 * with that layout nothing is done. Fewer axes, the major ones of each dimension, leave the rest of
 * the op. */
#ifndef TP_RULES_BORDER_H
#define TP_RULES_BORDER_H

#include "rules/rule.h"

/* True for shard.all_slice, shard.all_gather, and a region with a chain of one of them. */
bool tp__is_border(MlirOperation op);
/* True for a border that gives devices their parts; false for one that joins them. */
bool tp__border_cuts(MlirOperation op);

/* Fills tp_rule.border_axes, and takes its axes out of tp_rule.barred_axes. `operand` and `result`
 * are the axes along which operand and result differ between devices. */
tp_status tp__border_mark(tp_rule *rule, const tp_mesh *mesh, uint32_t operand, uint32_t result);
/* Returns the operand or result that is global, and its layout if nothing is to be done. */
MlirValue tp__border_spec(const tp_rule *rule, tp_spec *spec);
/* The axes, as bits, that may split factor f. */
uint8_t tp__border_axes(const tp_rule *rule, int f);
/* True if the strategy splits the factors of a border by the first axes of their groups. */
bool tp__border_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);

#endif
