/* Rows of groups: the choices of ops with tp.rows, their cost, and the exchange of rows. */
#include "rules/rows.h"

#include "ir/collectives.h"
#include "ir/route_call.h"
#include "ir/scatter.h"
#include "rules/pointwise_builder.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* ---- gathers and scatters of rows ---- */

static bool is_loop(MlirAffineMap map, int dim, int loop) {
  MlirAffineExpr expr = mlirAffineMapGetResult(map, dim);
  return mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == loop;
}

/* True if the map is (rows, 1, 2, ...), where `rows` is a loop. */
static bool reads_rows(MlirAffineMap map, int rows) {
  intptr_t n = mlirAffineMapGetNumResults(map);
  bool fits = n > 0 && is_loop(map, 0, rows);
  for (int d = 1; d < n && fits; d++)
    fits = is_loop(map, d, d);
  return fits;
}

/* True if the operand has one number for each iteration of loop `rows`: [n] or [n, 1]. */
static bool is_position_of(MlirOperation op, int operand, int rows) {
  MlirAffineMap map = tp__map_at(tp__inherent(op, "indexing_maps"), operand);
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand));
  intptr_t rank = mlirAffineMapGetNumResults(map);
  MlirType element = tp__number_type(type);
  return tp__is_tensor(type) && mlirTypeIsAInteger(element) &&
         mlirIntegerTypeGetWidth(element) >= 32 && (rank == 1 || rank == 2) &&
         is_loop(map, 0, rows) && (rank == 1 || mlirShapedTypeGetDimSize(type, 1) == 1);
}

static int body_argument(MlirOperation op, MlirValue value) {
  return mlirValueIsABlockArgument(value) &&
                 mlirBlockEqual(mlirBlockArgumentGetOwner(value), tp__region_block(op, 0))
             ? (int)mlirBlockArgumentGetArgNumber(value)
             : -1;
}

static bool is_constant(MlirValue value, int64_t wanted) {
  MlirOperation constant = tp__defined_by(value, "arith.constant");
  return !mlirOperationIsNull(constant) &&
         mlirIntegerAttrGetValueInt(tp__inherent(constant, "value")) == wanted;
}

/* Returns the block argument that a position is, as an index, and limited to [0, n) or not limited;
 * -1: it is another value. n < 0: any limits, which were checked before. */
static int position_argument(MlirOperation op, MlirValue position, int64_t n) {
  static const char *const limits[] = {"arith.minsi", "arith.maxsi"};
  for (int i = 0; i < TP_LEN(limits); i++) {
    MlirOperation limit = tp__defined_by(position, limits[i]);
    if (mlirOperationIsNull(limit))
      continue;
    if (n >= 0 && !is_constant(mlirOperationGetOperand(limit, 1), i == 0 ? n - 1 : 0))
      return -1;
    position = mlirOperationGetOperand(limit, 0);
  }
  MlirOperation cast = tp__defined_by(position, "arith.index_cast");
  return mlirOperationIsNull(cast) ? -1 : body_argument(op, mlirOperationGetOperand(cast, 0));
}

static bool is_index(MlirValue value, int loop) {
  MlirOperation index = tp__defined_by(value, "linalg.index");
  return !mlirOperationIsNull(index) && tp__dim_of(index) == loop;
}

static bool gather_of(MlirOperation op, int n_loops, bool is_local, tp_row_access *access) {
  MlirOperation yield = mlirBlockGetTerminator(tp__region_block(op, 0));
  MlirOperation read = tp__defined_by(mlirOperationGetOperand(yield, 0), "tensor.extract");
  if (mlirOperationIsNull(read))
    return false;
  access->table = mlirOperationGetOperand(read, 0);
  if (!tp__is_captured(op, access->table) || tp__value_rank(access->table) != n_loops)
    return false;
  access->index = position_argument(op, mlirOperationGetOperand(read, 1),
                                    is_local ? -1 : tp__value_size(access->table, 0));
  bool fits = access->index >= 0 && is_position_of(op, access->index, 0);
  for (int d = 1; d < n_loops && fits; d++)
    fits = is_index(mlirOperationGetOperand(read, 1 + d), d) &&
           (is_local ||
            tp__value_size(access->table, d) == tp__value_size(mlirOperationGetResult(op, 0), d));
  return fits;
}

/* The input whose element replaces `old`, or is added to it; -1: neither. */
static int update_of(MlirOperation op, MlirValue value, int old, bool *adds) {
  int direct = body_argument(op, value);
  *adds = false;
  if (direct >= 0)
    return direct;
  static const char *const sums[] = {"arith.addf", "arith.addi"};
  for (int i = 0; i < TP_LEN(sums); i++) {
    MlirOperation sum = tp__defined_by(value, sums[i]);
    if (mlirOperationIsNull(sum) || body_argument(op, mlirOperationGetOperand(sum, 0)) != old)
      continue;
    *adds = true;
    return body_argument(op, mlirOperationGetOperand(sum, 1));
  }
  return -1;
}

static bool scatter_of(MlirOperation op, MlirAttribute maps, int n_inputs, tp_row_access *access) {
  tp_scatter s;
  if (!tp__scatter_match(op, &s) || s.n_targets != 1 || s.targets[0].loop != 0 ||
      !mlirValueIsNull(s.targets[0].offset) ||
      !mlirValueEqual(s.condition, mlirOperationGetResult(s.targets[0].compare, 0)))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(s.body);
  MlirOperation select = tp__defined_by(mlirOperationGetOperand(yield, 0), "arith.select");
  MlirOperation cast = tp__defined_by(s.targets[0].position, "arith.index_cast");
  if (mlirOperationIsNull(cast) || mlirOperationIsNull(select))
    return false;
  access->scatters = true;
  access->index = body_argument(op, mlirOperationGetOperand(cast, 0));
  access->updates = update_of(op, mlirOperationGetOperand(select, 1), n_inputs, &access->adds);
  int rows = s.n_loops - 1; /* the loop over the updates, which results do not have */
  return access->index >= 0 && access->index < n_inputs && access->updates >= 0 &&
         access->updates < n_inputs && access->updates != access->index &&
         body_argument(op, mlirOperationGetOperand(select, 2)) == n_inputs &&
         is_position_of(op, access->index, rows) &&
         reads_rows(tp__map_at(maps, access->updates), rows) &&
         reads_rows(tp__map_at(maps, n_inputs), 0) &&
         mlirAffineMapGetNumResults(tp__map_at(maps, n_inputs)) == rows &&
         mlirAffineMapGetNumResults(tp__map_at(maps, access->updates)) == rows;
}

/* `is_local`: operands may have local types, while the op has its global ones. */
static bool access_of(MlirOperation op, bool is_local, tp_row_access *access) {
  *access = (tp_row_access){.index = -1, .updates = -1};
  int64_t segments[2];
  if (!tp__op_is(op, "linalg.generic") ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2 || segments[1] != 1 ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, segments[0]))))
    return false;
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  MlirAffineMap map = tp__map_at(maps, segments[0]);
  int n_loops = (int)mlirAffineMapGetNumDims(map);
  if (mlirAffineMapIsIdentity(map))
    return gather_of(op, n_loops, is_local, access);
  return scatter_of(op, maps, (int)segments[0], access);
}

bool tp__row_access_of(MlirOperation op, tp_row_access *access) {
  return access_of(op, false, access);
}

/* ---- row-wise ops ---- */

static bool may_trap(const tp_rule *rule, int f) {
  static const char *const divisions[] = {"arith.divsi",     "arith.divui",     "arith.remsi",
                                          "arith.remui",     "arith.ceildivsi", "arith.ceildivui",
                                          "arith.floordivsi"};
  return rule->factors[f].must_divide || tp__op_is_any(rule->op, TP_LEN(divisions), divisions);
}

bool tp__is_row_wise(const tp_rule *rule, uint64_t *operands) {
  *operands = 0;
  const tp_value_map *result = &rule->results[0];
  if (rule->n_results != 1 || !result->is_tensor || result->rank == 0 ||
      result->dims[0].n_factors != 1 || result->dims[0].window)
    return false;
  int f = result->dims[0].factors[0];
  if (rule->factors[f].kind != TP_PARALLEL || may_trap(rule, f) ||
      rule->n_operands > mlirOperationGetNumOperands(rule->op) || rule->n_operands > 64)
    return false;
  for (int i = 0; i < rule->n_operands; i++) {
    const tp_value_map *map = &rule->operands[i];
    for (int d = 0; map->is_tensor && d < map->rank; d++)
      for (int k = 0; k < map->dims[d].n_factors; k++) {
        if (map->dims[d].factors[k] != f)
          continue;
        if (d != 0 || map->dims[d].n_factors != 1 || map->dims[d].window)
          return false;
        *operands |= UINT64_C(1) << i;
      }
  }
  return true;
}

/* ---- choices ---- */

/* The single factor of a dimension; -1: it has none. */
static int factor_of(const tp_value_map *map, int dim) {
  return dim < map->rank && map->dims[dim].n_factors == 1 ? map->dims[dim].factors[0] : -1;
}

static void each_row(tp_rule *rule) {
  uint64_t operands;
  if (!tp__is_row_wise(rule, &operands))
    return;
  tp__rule_variant(rule, TP_ROWS, operands);
  tp__rule_variant(rule, TP_ROW_PARTS, operands);
}

/* The first dimension of the result of a mask, and of operand 0 of a product, is that of the
 * groups. */
static void mask_rows(tp_rule *rule) {
  int f = factor_of(&rule->results[0], 0);
  if (f < 0)
    return;
  rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .own = 1, .even = true, .makes_mask = true};
  tp__rule_variant(rule, TP_ROW_PARTS, 1);
}

static void product_rows(tp_rule *rule) {
  int f = factor_of(&rule->operands[0], 0);
  if (f < 0)
    return;
  rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .results = true, .even = true, .masks = 1};
  tp__rule_variant(rule, TP_ROW_PARTS, UINT64_C(1) << (rule->n_operands - 1) | 1);
}

/* Parts of the rows give parts of the sum. */
static void sum_rows(tp_rule *rule) {
  int f = factor_of(&rule->operands[0], 0);
  if (f < 0 || rule->n_variants == TP_MAX_VARIANTS)
    return;
  rule->rows = (tp_rows){.groups = UINT32_C(1) << f, .masks = 3};
  tp__rule_variant(rule, TP_ROW_PARTS, UINT64_C(1) << (rule->n_operands - 1) | 3);
  rule->variants[rule->n_variants - 1].result = TP_SUM;
}

static void gather_rows(tp_rule *rule, const tp_row_access *access, bool to_groups) {
  int table = rule->n_operands - 1; /* the only captured tensor */
  int f = factor_of(to_groups ? &rule->operands[table] : &rule->results[0], 0);
  if (f < 0)
    return;
  rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .traveling = -1, .sends = true};
  if (to_groups) {
    rule->rows.results = true;
  } else {
    rule->rows.own = UINT64_C(1) << table;
    rule->rows.whole = UINT64_C(1) << access->index;
  }
}

static void scatter_rows(tp_rule *rule, const tp_row_access *access, bool to_groups) {
  int f = factor_of(to_groups ? &rule->operands[access->updates] : &rule->results[0], 0);
  if (f < 0)
    return;
  rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .traveling = access->updates, .sends = true};
  if (to_groups) {
    rule->rows.results = true;
    rule->rows.whole = UINT64_C(1) << access->index;
  } else {
    rule->rows.own = UINT64_C(1) << access->updates;
  }
}

static void exchange_rows(tp_rule *rule, MlirAttribute role) {
  MlirStringRef text = mlirStringAttrGetValue(role);
  bool to_groups = tp__ref_is(text, TP_ROWS_GATHER_TO) || tp__ref_is(text, TP_ROWS_SCATTER_TO);
  bool gathers = tp__ref_is(text, TP_ROWS_GATHER_TO) || tp__ref_is(text, TP_ROWS_GATHER_FROM);
  tp_row_access access;
  /* besides the positions, the updates of a scatter, and the init: two inputs for the groups */
  int n_wanted = gathers ? 4 : 5;
  if (!tp__row_access_of(rule->op, &access) || access.scatters == gathers ||
      mlirOperationGetNumOperands(rule->op) != n_wanted)
    return;
  (gathers ? gather_rows : scatter_rows)(rule, &access, to_groups);
}

void tp__rule_rows(tp_rule *rule) {
  MlirAttribute role = tp__get(rule->op, "tp.rows");
  if (mlirAttributeIsNull(role) || !mlirAttributeIsAString(role) || rule->n_results != 1)
    return;
  MlirStringRef text = mlirStringAttrGetValue(role);
  if (tp__ref_is(text, TP_ROWS_EACH))
    each_row(rule);
  else if (tp__ref_is(text, TP_ROWS_MASK))
    mask_rows(rule);
  else if (tp__ref_is(text, TP_ROWS_PRODUCT))
    product_rows(rule);
  else if (tp__ref_is(text, TP_ROWS_SUM))
    sum_rows(rule);
  else
    exchange_rows(rule, role);
}

/* ---- cost ---- */

/* Lists the axes along which rows travel, major to minor; 0: none. */
static int route_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  for (int f = 0; f < rule->n_factors && rule->rows.sends; f++)
    if ((rule->rows.factors >> f & 1) && tp__strategy_by_rows(mesh, s, f))
      return tp__strategy_axes(mesh, s, f, axes);
  return 0;
}

tp_cost tp__rows_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  const tp_mesh *mesh = pricing->mesh;
  int axes[TP_MAX_AXES], n_axes = route_axes(rule, mesh, s, axes), t = rule->rows.traveling;
  if (n_axes == 0)
    return 0;
  const tp_value_map *map = t < 0 ? &rule->results[0] : &rule->operands[t];
  tp_spec spec =
      t < 0 ? tp__strategy_result(rule, mesh, s, 0) : tp__strategy_operand(rule, mesh, s, t);
  int64_t n = 1;
  for (int i = 0; i < n_axes; i++) {
    tp_spec_clear(&spec, axes[i]);
    n *= mesh->axes[axes[i]].size;
  }
  int64_t all = tp_spec_local_elements(mesh, spec, map->rank, map->shape);
  return tp__price(pricing, TP_ALL_TO_ALL, n_axes, axes, all / n + (all % n != 0),
                   map->element_size);
}

/* The number of devices among which rows are divided: of a mask, a product, or an op on each row. */
static int64_t n_holders(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  int64_t n = 1;
  for (int a = 0; a < mesh->n_axes; a++) {
    tp_choice c = s->choices[a];
    bool by_rows = c.kind == TP_CHOOSE_VARIANT ? tp_combiner_is_rows(rule->variants[c.index].result)
                                               : c.rows && !rule->rows.sends;
    n *= by_rows ? mesh->axes[a].size : 1;
  }
  return n;
}

double tp__rows_share(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  return 1 / (double)n_holders(rule, mesh, s);
}

double tp__rows_held(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int operand) {
  tp_spec spec = operand < 0 ? tp__strategy_result(rule, mesh, s, 0)
                             : tp__strategy_operand(rule, mesh, s, operand);
  bool is_masked = rule->rows.results && !rule->rows.sends && operand == 0;
  double held = 1;
  if (is_masked)
    return tp__rows_share(rule, mesh, s);
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp_place_is_rows(tp_spec_place(spec, a)))
      held /= (double)mesh->axes[a].size;
  }
  return held;
}

/* ---- localize ---- */

bool tp__rows_is_mask(MlirOperation op) {
  return tp__op_is(op, "linalg.generic") && !mlirAttributeIsNull(tp__get(op, "tp.mask"));
}

bool tp__rows_has_role(MlirOperation op, const char *role) {
  MlirAttribute attr = tp__get(op, "tp.rows");
  return !mlirAttributeIsNull(attr) && mlirAttributeIsAString(attr) &&
         tp__ref_is(mlirStringAttrGetValue(attr), role);
}

static MlirValue element_at(MlirOperation where, MlirValue list, int64_t i, int64_t limit) {
  MlirValue operands[] = {list, tp__index_constant(where, i)};
  MlirType element = tp__element_type(mlirValueGetType(list)),
           index = mlirValueGetType(operands[1]);
  MlirOperation read = tp__create(&(tp_build){.name = "tensor.extract",
                                              .location = mlirOperationGetLocation(where),
                                              .n_operands = 2,
                                              .operands = operands,
                                              .n_results = 1,
                                              .results = &element});
  tp__insert_before(where, read);
  MlirValue value = mlirOperationGetResult(read, 0);
  MlirOperation cast = tp__create(&(tp_build){.name = "arith.index_cast",
                                              .location = mlirOperationGetLocation(where),
                                              .n_operands = 1,
                                              .operands = &value,
                                              .n_results = 1,
                                              .results = &index});
  tp__insert_before(where, cast);
  value = tp__binary(where, "arith.maxsi", mlirOperationGetResult(cast, 0),
                     tp__index_constant(where, 0));
  return tp__binary(where, "arith.minsi", value, tp__index_constant(where, limit));
}

static void mark(MlirValue value, const char *role, MlirAttribute number) {
  MlirOperation op = tp__defining_op(value);
  tp__set(op, "tp.rows", tp__attr_string(mlirOperationGetContext(op), role));
  tp__set(op, "tp.groups", number);
}

/* The rows of a device: [first, last), of type index. */
typedef struct row_range {
  MlirValue first, last;
} row_range;

/* Builds the rows of the device's groups, before a mask. Rows in front of all groups are those of
 * the first device, and rows behind them those of the last one. */
static row_range build_range(const tp_local *local) {
  MlirOperation op = local->rule->op;
  int axes[TP_MAX_AXES], f = factor_of(&local->rule->results[0], 0),
                         n_axes = tp__strategy_axes(local->mesh, local->strategy, f, axes);
  int64_t rows = local->rule->results[0].shape[1],
          n = tp__strategy_shards(local->rule, local->mesh, local->strategy, f),
          per_device = local->rule->factors[f].size / n;
  MlirValue rank = tp__build_group_index(op, local->mesh, n_axes, axes);
  MlirValue is_first = tp__compare(op, TP_EQ, rank, tp__index_constant(op, 0)),
            is_last = tp__compare(op, TP_EQ, rank, tp__index_constant(op, n - 1));
  MlirValue start = element_at(op, mlirOperationGetOperand(op, 1), 0, rows),
            end = element_at(op, mlirOperationGetOperand(op, 2), per_device - 1, rows);
  return (row_range){tp__select(op, is_first, tp__index_constant(op, 0), start),
                     tp__select(op, is_last, tp__index_constant(op, rows), end)};
}

/* Builds a list of bounds of groups, limited to the range. */
static MlirValue build_limited(MlirOperation op, MlirValue bounds, row_range range) {
  MlirType type = mlirValueGetType(bounds), element = tp__element_type(type);
  MlirValue limits[] = {range.first, range.last};
  for (int i = 0; i < TP_LEN(limits); i++) {
    MlirOperation cast = tp__create(&(tp_build){.name = "arith.index_cast",
                                                .location = mlirOperationGetLocation(op),
                                                .n_operands = 1,
                                                .operands = &limits[i],
                                                .n_results = 1,
                                                .results = &element});
    tp__insert_before(op, cast);
    limits[i] = mlirOperationGetResult(cast, 0);
  }
  tp_pointwise points = tp__pointwise_begin(op, 1, &bounds, tp__empty(op, type));
  MlirValue limited =
      tp__binary(points.yield, "arith.maxsi", tp__pointwise_value(&points, 0), limits[0]);
  return tp__pointwise_end(&points, tp__binary(points.yield, "arith.minsi", limited, limits[1]));
}

/* Lists the axes along which an op divides the rows of the groups of a device, major to minor. */
static int part_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    tp_choice c = s->choices[a];
    if (c.kind == TP_CHOOSE_VARIANT ? rule->variants[c.index].combiner == TP_ROW_PARTS
                                    : c.rows == TP_BY_PARTS)
      axes[n++] = a;
  }
  return n;
}

/* Localizes a mask, whose groups end where the rows of the device do. Returns these rows. */
static row_range localize_mask(const tp_local *local) {
  MlirOperation op = local->rule->op;
  int axes[TP_MAX_AXES], n_axes = part_axes(local->rule, local->mesh, local->strategy, axes);
  row_range own = build_range(local);
  if (n_axes == 0)
    return own;
  tp__route_build_part(op, local->mesh, n_axes, axes, &own.first, &own.last);
  for (int i = 1; i <= 2; i++)
    mlirOperationSetOperand(op, i, build_limited(op, mlirOperationGetOperand(op, i), own));
  return own;
}

/* Localizes an op that needs to compute only the rows of the device. */
static void localize_own(const tp_local *local) {
  MlirOperation op = local->rule->op;
  MlirAttribute number = tp__get(op, "tp.groups"), role = tp__get(op, "tp.rows");
  if (n_holders(local->rule, local->mesh, local->strategy) == 1)
    return;
  bool is_mask = tp__ref_is(mlirStringAttrGetValue(role), TP_ROWS_MASK);
  row_range own = {{NULL}, {NULL}};
  if (is_mask)
    own = localize_mask(local);
  if (mlirAttributeIsNull(number))
    return;
  if (is_mask) {
    mark(own.first, TP_ROWS_FIRST, number);
    mark(own.last, TP_ROWS_LAST, number);
    tp__set(op, "tp.mask", mlirUnitAttrGet(mlirOperationGetContext(op)));
  }
  tp__set(op, "tp.rows", tp__attr_string(mlirOperationGetContext(op), TP_ROWS_OWN));
}

static tp_status replace_by_route(const tp_local *local, const tp_row_access *access, int n_axes,
                                  const int *axes) {
  const tp_rule *rule = local->rule;
  MlirOperation op = rule->op;
  const tp_value_map *result = &rule->results[0];
  int n_inputs = (int)mlirOperationGetNumOperands(op) - 1; /* the init follows */
  int64_t shape[TP_MAX_RANK];
  tp_spec_local_shape(local->mesh, tp__strategy_result(rule, local->mesh, local->strategy, 0),
                      result->rank, result->shape, shape);
  bool to_groups = rule->rows.results;
  /* the side whose rows are split in blocks: table, updates or result */
  const tp_value_map *blocks = !to_groups         ? result
                               : access->scatters ? &rule->operands[access->updates]
                                                  : &rule->operands[rule->n_operands - 1];
  tp_route route = {.form = !access->scatters ? TP_ROUTE_GATHER
                            : access->adds    ? TP_ROUTE_ADD
                                              : TP_ROUTE_SET,
                    .to_groups = to_groups,
                    .blocks = blocks->shape[0],
                    .n_axes = n_axes};
  memcpy(route.axes, axes, (size_t)n_axes * sizeof *axes);
  for (int i = 0; i < n_axes; i++)
    if (local->strategy->choices[axes[i]].rows == TP_BY_PARTS)
      route.part_axes |= UINT32_C(1) << i;
  MlirValue operands[] = {
      access->scatters ? mlirOperationGetOperand(op, access->updates) : access->table,
      mlirOperationGetOperand(op, access->index), mlirOperationGetOperand(op, n_inputs - 2),
      mlirOperationGetOperand(op, n_inputs - 1), mlirOperationGetOperand(op, n_inputs)};
  MlirType type = tp__tensor_like(mlirValueGetType(result->value), result->rank, shape);
  MlirValue routed = tp__route_build(op, local->module, local->mesh, &route,
                                     access->scatters ? 5 : 4, operands, type);
  if (mlirValueIsNull(routed))
    return tp__out_of_memory(op);
  mlirValueReplaceAllUsesOfWith(result->value, routed);
  return TP_OK;
}

tp_status tp__rows_localize(const tp_local *local, bool *done) {
  const tp_rule *rule = local->rule;
  tp_row_access access;
  int axes[TP_MAX_AXES], n_axes = route_axes(rule, local->mesh, local->strategy, axes);
  *done = n_axes > 0;
  if (n_axes == 0) {
    localize_own(local);
    return TP_OK;
  }
  if (!access_of(rule->op, true, &access))
    return tp__error(rule->op, TP_INTERNAL, "has tp.rows, but no rows to exchange");
  return replace_by_route(local, &access, n_axes, axes);
}
