/* Exchanges of rows between devices in a per-device program: all-to-alls whose sizes are known at
 * run time. A route is a call of a private declaration with the attribute tp.route:
 *
 *     %y = call @tp.route(%rows, %positions, %starts, %ends)
 *         {tp.route = {axes = ["ep"], form = "gather", to = "groups", rows = 64}}
 *         : (tensor<8x16xf32>, tensor<128x1xi32>, tensor<8xi32>, tensor<8xi32>)
 *         -> tensor<128x16xf32>
 *
 * On one side, rows are split into blocks: the group's rank d has rows d*b, d*b + 1, ..., where b
 * is the number of rows of its tensor; `rows` is their number on all devices. On the other side,
 * each rank has a buffer for all rows, and those of its groups: rows starts[g] to ends[g] of group
 * g, where the groups are split over the ranks in equal blocks. The last rank also has the rows
 * behind the last group, and the first one those before the first. Along the axes in `parts`, which
 * may be missing, ranks have the same groups, and divide their rows into n consecutive parts: of m
 * rows, those before m * (i + 1) / n are in part i or before it.
 *
 *   form = "gather"       y[i] = rows[positions[i]], for all i
 *   form = "add", "set"   y[positions[i]] += rows[i], or = rows[i], in the order of i, starting
 *                         from the last operand, the init
 *
 * `to` names the side of y. positions, starts and ends are equal on all devices of the group. */
#ifndef TP_IR_ROUTE_H
#define TP_IR_ROUTE_H

#include "ir/ir.h"
#include "tp/mesh.h"

typedef enum tp_route_form { TP_ROUTE_GATHER, TP_ROUTE_ADD, TP_ROUTE_SET } tp_route_form;

typedef struct tp_route {
  tp_route_form form;
  bool to_groups;
  int64_t blocks; /* rows on the side of blocks, of all devices */
  int n_axes;
  int axes[TP_MAX_AXES]; /* of the mesh, major to minor */
  uint32_t part_axes;    /* bits: those of `axes` that divide the rows of the same groups */
} tp_route;

/* The operands of a route. The init is that of forms that are no gather. */
enum { TP_ROUTE_ROWS, TP_ROUTE_POSITIONS, TP_ROUTE_STARTS, TP_ROUTE_ENDS, TP_ROUTE_INIT };

/* True for a call with the attribute; for a declaration that such calls have. */
bool tp__is_route(MlirOperation op);
bool tp__is_route_symbol(MlirOperation func);

/* Builds a route before `where`, with its declaration in `module`. Returns its result. Null if
 * memory runs out. */
MlirValue tp__route_build(MlirOperation where, MlirOperation module, const tp_mesh *mesh,
                          const tp_route *route, int n_operands, const MlirValue *operands,
                          MlirType result);

/* Reads and checks a route. An error emits one diagnostic. */
tp_status tp__route_read(MlirOperation op, const tp_mesh *mesh, tp_route *route);

/* Lists the axes that divide rows (of_parts), or the groups, in order. Returns their number, and
 * the product of their sizes in *n. */
int tp__route_axes(const tp_route *route, const tp_mesh *mesh, bool of_parts, int *axes,
                   int64_t *n);

/* *first and *last, of type index, are the first row of a device's groups and the row behind their
 * last one. Replaces them by those of the device's part of these rows, which `axes`, in the order
 * of the mesh, divide. */
void tp__route_build_part(MlirOperation where, const tp_mesh *mesh, int n_axes, const int *axes,
                          MlirValue *first, MlirValue *last);

#endif
