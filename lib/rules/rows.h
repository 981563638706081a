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
 * tp.groups, a number that those with the same rows have. The first kind has tp.own, its role
 * before the partition, and a mask has tp.n_groups, the number of groups of all devices. */
#define TP_ROWS_OWN "own"
#define TP_ROWS_FIRST "first"
#define TP_ROWS_LAST "last"

/* The maximum number of values of one loop over rows that others use. */
enum { TP_MAX_ROWS_RESULTS = 64 };

/* The role of an op with tp.rows = "own", which it had before the partition. */
typedef enum tp_rows_own { TP_OWN_EACH, TP_OWN_MASK, TP_OWN_PRODUCT, TP_OWN_SUM } tp_rows_own;
tp_rows_own tp__rows_own(MlirOperation op);
/* The number of groups of all devices that a mask of the device has; 1 for others and null. */
int64_t tp__rows_groups(MlirOperation op);
void tp__rows_drop_marks(MlirOperation op);
/* True if ops with this tp.groups compute all rows on each device. */
bool tp__rows_are_all(int64_t groups);

/* The number of rows of one block of a loop over n rows in groups: a divisor of n, from 16 to 256
 * and at most n / 8. Of these, the largest that is at most a quarter of a group of mean size, or
 * the largest of all if there is one group; if there is none, the smallest above that. 0: n has no
 * such divisor, and the ops compute all rows. */
int64_t tp__rows_block(int64_t n, int64_t n_groups);

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
/* True if the work of the op under this strategy is that for one value of the factor, the groups:
 * each row is computed for its group alone. */
bool tp__rows_of_one_group(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                           int factor);

/* Returns the modeled time of the exchange of rows. Groups of equal size are assumed: each device
 * sends an equal share of its rows to every device. */
tp_cost tp__rows_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy);

/* Replaces an op that exchanges rows under this strategy by a call of a declaration with the
 * attribute tp.route; *done tells if this is such an op. The op itself remains, without uses. Drops
 * the inputs that only the exchange needs from other ops. */
tp_status tp__rows_localize(const tp_local *local, bool *done);

#endif
