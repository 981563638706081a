/* Shared by the files of rows of groups (rows.h). */
#ifndef TP_RULES_ROWS_INSIDE_H
#define TP_RULES_ROWS_INSIDE_H

#include "rules/rows.h"

/* Reads an op like tp__row_access_of. `is_local`: operands may have local types, while the op has
 * its global ones. */
bool tp__rows_access(MlirOperation op, bool is_local, tp_row_access *access);

/* The single factor of a dimension; -1: it has none. */
int tp__rows_factor(const tp_value_map *map, int dim);

/* Lists the axes along which rows travel, major to minor; 0: none. */
int tp__rows_route_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes);

/* True if an axis with this choice divides the rows of the same groups. */
bool tp__rows_by_parts(const tp_rule *rule, tp_choice c);

/* True if an axis with this choice divides the rows that the op computes, all of which the devices
 * have together: that of a mask, a product, a sum, or an op on each row. */
bool tp__rows_divided(const tp_rule *rule, tp_choice c);

/* True if the device has all rows, or its own by groups and parts, of a mask, a product, a sum, or
 * an op on each row: no axis splits rows into blocks, or groups so that others have zeros. */
bool tp__rows_whole(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s);

#endif
