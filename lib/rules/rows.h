/* Rows of groups: tensors whose rows (dimension 0) are sorted into groups, such as tokens sorted by
 * expert. The sizes of the groups are known only at run time. Groups are split over devices in
 * blocks, and each device holds the rows of its groups: partial("rows"). Its buffer has the size of
 * the whole tensor, since all rows may belong to one group; the other rows are unspecified. Devices
 * that have the same groups may divide the rows of these groups into parts: partial("row_parts").
 *
 * The attribute tp.rows of an op, which tp-group-rows writes, names the op's role:
 *
 *   "each"          every row of the result follows from the same row of the operands
 *   "mask"          repeats the rows of operand 0 once for each group, zero outside of the group
 *   "product"       contracts such a value over the groups and over the columns
 *   "sum"           contracts two such values over the rows
 *   "gather_to"     reads rows of a table; the result has rows of groups
 *   "gather_from"   the same, where the table has them
 *   "scatter_to"    adds or writes rows to places of the result, which has rows of groups
 *   "scatter_from"  the same, where the updates have them
 *
 * The last four exchange rows between devices: an all-to-all of as many rows as belong to each
 * device. Their last two inputs, which their bodies ignore, are the first row of each group and the
 * row after its last. Beyond the rows of all groups, rows belong to the last device. */
#ifndef TP_RULES_ROWS_H
#define TP_RULES_ROWS_H

#include "rules/rule.h"

#define TP_ROWS_EACH "each"
#define TP_ROWS_MASK "mask"
#define TP_ROWS_PRODUCT "product"
#define TP_ROWS_SUM "sum"
#define TP_ROWS_GATHER_TO "gather_to"
#define TP_ROWS_GATHER_FROM "gather_from"
#define TP_ROWS_SCATTER_TO "scatter_to"
#define TP_ROWS_SCATTER_FROM "scatter_from"

/* In a per-device program: ops on rows of groups that need to compute only the rows of the device,
 * and the ops that compute the first of these rows and the row behind the last one. They also have
 * tp.groups, the number that tp-group-rows gave to the groups. */
#define TP_ROWS_OWN "own"
#define TP_ROWS_FIRST "first"
#define TP_ROWS_LAST "last"

/* The maximum number of values of one loop over rows that others use. */
enum { TP_MAX_ROWS_RESULTS = 64 };

/* True if the op masks rows: its rows are dimension 1 of its result, and its groups dimension 0. */
bool tp__rows_is_mask(MlirOperation op);
/* True if the op has this tp.rows. */
bool tp__rows_has_role(MlirOperation op, const char *role);

/* A linalg.generic that reads or changes whole rows at positions that one of its inputs gives. */
typedef struct tp_row_access {
  bool scatters;   /* else it gathers */
  bool adds;       /* a scatter: adds the updates; else it writes them, in order */
  int index;       /* input with one position for each row */
  int updates;     /* a scatter: input with the rows */
  MlirValue table; /* a gather: the captured tensor with the rows */
} tp_row_access;

/* Reads such an op. A position outside of the table is moved to its first or last row, and one
 * outside of the result of a scatter is ignored. False for other ops. */
bool tp__row_access_of(MlirOperation op, tp_row_access *access);

/* True if row r of the result depends on no other rows than rows r of some operands (bits), and is
 * computed without a trap from any values. */
bool tp__is_row_wise(const tp_rule *rule, uint64_t *operands);

/* Adds the choices that tp.rows gives an op, if its structure allows them. */
void tp__rule_rows(tp_rule *rule);

/* Both assume groups of equal size, and return 1 for ops without tp.rows. tp__rows_held returns
 * which part of all rows of an operand (or of the result, for -1) a device has; tp__rows_share,
 * which part of the op's work it does. */
double tp__rows_held(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                     int operand);
double tp__rows_share(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);

/* Returns the modeled time of the exchange of rows. Groups of equal size are assumed: each device
 * sends an equal share of its rows to every device. */
tp_cost tp__rows_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy);

/* Replaces an op that exchanges rows under this strategy by a call of a declaration with the
 * attribute tp.route; *done tells if this is such an op. The op itself remains, without uses. Drops
 * the inputs that only the exchange needs from other ops. */
tp_status tp__rows_localize(const tp_local *local, bool *done);

#endif
