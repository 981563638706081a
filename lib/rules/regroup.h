/* Regrouping: a dimension that several factors make up, split by axes that do not divide the factor
 * they come to.
 *
 * 64 elements that are 4 heads of 16, on 3 devices, lie there as 22, 22 and 20, as any 64 elements
 * do. An op that takes the heads apart gives each device whole ones, ceil(4 / 3) = 2: 32, 32 and 0
 * elements. Layouts know nothing of such units. Instead an op works on whole units locally: what
 * its device lacks of an operand is fetched from its neighbours in front of the op, and results are
 * brought back behind it. What moves is the difference between the two ways to cut, and nothing
 * where they agree.
 *
 * The other factors of such a dimension are split completely if they stand before the uneven one,
 * and not at all behind it. */
#ifndef TP_RULES_REGROUP_H
#define TP_RULES_REGROUP_H

#include "rules/rule.h"

/* Can the factor of `size` in a dimension with `unit` elements behind each of its points be split
 * by these axes, major to minor? Not where a device would need pieces of very many others. */
bool tp__can_regroup(const tp_mesh *mesh, int n_axes, const int *axes, int64_t size, int64_t unit);

/* The same for all dimensions that the strategy splits so. */
bool tp__regroups_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);
/* Modelled time of what moves in front of and behind the op. */
tp_cost tp__regroup_cost(const tp_rule *rule, const tp_pricing *pricing,
                         const tp_strategy *strategy);

/* In front of the op: its operands become whole units. */
tp_status tp__regroup_operands(const tp_local *local);
/* Behind the op, whose results have their local types: they become what the op computes, whole
 * units, and their users get values of these types. */
tp_status tp__regroup_results(const tp_local *local);

#endif
