/* Regrouping: a dimension that consists of several factors, split by axes that do not divide the
 * factor they apply to.
 *
 * Example: 64 elements are 4 heads of 16. On 3 devices, the dimension is split as 22, 22 and 20
 * elements. An op that separates the heads assigns whole heads to each device, ceil(4 / 3) = 2: 32,
 * 32 and 0 elements. Shardings cannot express such units. Instead, the op works on whole units
 * locally: before the op, each device fetches the missing elements of the operands from its
 * neighbors, and after the op the results are moved back. Only the difference between the two
 * splits moves.
 *
 * Of the other factors of such a dimension, those before the uneven one are split completely, and
 * those after it are not split. */
#ifndef TP_RULES_REGROUP_H
#define TP_RULES_REGROUP_H

#include "rules/rule.h"

/* True if these axes, major to minor, can split a factor of `size` whose points each cover `unit`
 * elements of the dimension. False if a device would need pieces from very many others. */
bool tp__can_regroup(const tp_mesh *mesh, int n_axes, const int *axes, int64_t size, int64_t unit);

/* The same for all dimensions that the strategy splits in this way. */
bool tp__regroups_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);
/* Returns the modeled time of the moves before and after the op. */
tp_cost tp__regroup_cost(const tp_rule *rule, const tp_pricing *pricing,
                         const tp_strategy *strategy);

/* Before the op: converts the operands into whole units. */
tp_status tp__regroup_operands(const tp_local *local);
/* After the op, whose results have their local types already: changes the result types to the whole
 * units that the op computes, and gives the users values of the local types. */
tp_status tp__regroup_results(const tp_local *local);

#endif
