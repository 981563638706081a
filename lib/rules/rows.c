/* Rows of groups: the choices of ops with tp.rows, and their cost. */
#include "rules/rows_inside.h"

/* ---- marks ---- */

static const char *const own_roles[] = {[TP_OWN_EACH] = TP_ROWS_EACH,
                                        [TP_OWN_MASK] = TP_ROWS_MASK,
                                        [TP_OWN_PRODUCT] = TP_ROWS_PRODUCT,
                                        [TP_OWN_SUM] = TP_ROWS_SUM};

tp_rows_own tp__rows_own(MlirOperation op) {
  int role = tp__attr_which(tp__get(op, "tp.own"), TP_LEN(own_roles), own_roles);
  return role < 0 ? TP_OWN_EACH : (tp_rows_own)role;
}

int64_t tp__rows_groups(MlirOperation op) {
  MlirAttribute n = mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tp__get(op, "tp.n_groups");
  return mlirAttributeIsNull(n) || !mlirAttributeIsAInteger(n) ? 1 : mlirIntegerAttrGetValueInt(n);
}

void tp__rows_drop_marks(MlirOperation op) {
  static const char *const names[] = {"tp.rows", "tp.groups", "tp.own", "tp.n_groups"};
  for (int i = 0; i < TP_LEN(names); i++)
    tp__remove(op, names[i]);
}

int64_t tp__rows_block(int64_t n, int64_t n_groups) {
  enum { LEAST = 16, MOST = 256, FEWEST_BLOCKS = 8, BLOCKS_PER_GROUP = 4 };
  int64_t most = n / FEWEST_BLOCKS < MOST ? n / FEWEST_BLOCKS : MOST,
          wanted = n_groups > 1 ? n / n_groups / BLOCKS_PER_GROUP : most, b;
  wanted = wanted < LEAST ? LEAST : wanted;
  for (b = wanted < most ? wanted : most; b >= LEAST; b--)
    if (n % b == 0)
      return b;
  for (b = wanted; b <= most; b++)
    if (n % b == 0)
      return b;
  return 0;
}

bool tp__rows_has_role(MlirOperation op, const char *role) {
  MlirAttribute attr = tp__get(op, "tp.rows");
  return !mlirAttributeIsNull(attr) && mlirAttributeIsAString(attr) &&
         tp__ref_is(mlirStringAttrGetValue(attr), role);
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

int tp__rows_factor(const tp_value_map *map, int dim) {
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
  int f = tp__rows_factor(&rule->results[0], 0);
  if (f < 0)
    return;
  *rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .own = 1, .even = true, .makes_mask = true};
  tp__rule_variant(rule, TP_ROW_PARTS, 1);
}

static void product_rows(tp_rule *rule) {
  int f = tp__rows_factor(&rule->operands[0], 0);
  if (f < 0)
    return;
  *rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .results = true, .even = true, .masks = 1};
  tp__rule_variant(rule, TP_ROW_PARTS, UINT64_C(1) << (rule->n_operands - 1) | 1);
}

/* Parts of the rows give parts of the sum. */
static void sum_rows(tp_rule *rule) {
  int f = tp__rows_factor(&rule->operands[0], 0);
  if (f < 0 || rule->n_variants == TP_MAX_VARIANTS)
    return;
  *rule->rows = (tp_rows){.groups = UINT32_C(1) << f, .masks = 3};
  tp__rule_variant(rule, TP_ROW_PARTS, UINT64_C(1) << (rule->n_operands - 1) | 3);
  rule->variants[rule->n_variants - 1].result = TP_SUM;
}

static void gather_rows(tp_rule *rule, const tp_row_access *access, bool to_groups) {
  int table = rule->n_operands - 1; /* the only captured tensor */
  int f = tp__rows_factor(to_groups ? &rule->operands[table] : &rule->results[0], 0);
  if (f < 0)
    return;
  *rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .traveling = -1, .sends = true};
  if (to_groups) {
    rule->rows->results = true;
  } else {
    rule->rows->own = UINT64_C(1) << table;
    rule->rows->whole = UINT64_C(1) << access->index;
  }
}

static void scatter_rows(tp_rule *rule, const tp_row_access *access, bool to_groups) {
  int f = tp__rows_factor(to_groups ? &rule->operands[access->updates] : &rule->results[0], 0);
  if (f < 0)
    return;
  *rule->rows = (tp_rows){.factors = UINT32_C(1) << f, .traveling = access->updates, .sends = true};
  if (to_groups) {
    rule->rows->results = true;
    rule->rows->whole = UINT64_C(1) << access->index;
  } else {
    rule->rows->own = UINT64_C(1) << access->updates;
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
  rule->rows->n_groups = rule->operands[n_wanted - 3].shape[0];
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

int tp__rows_route_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  for (int f = 0; f < rule->n_factors && rule->rows->sends; f++)
    if ((rule->rows->factors >> f & 1) && tp__strategy_by_rows(mesh, s, f))
      return tp__strategy_axes(mesh, s, f, axes);
  return 0;
}

tp_cost tp__rows_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  const tp_mesh *mesh = pricing->mesh;
  int axes[TP_MAX_AXES], n_axes = tp__rows_route_axes(rule, mesh, s, axes),
                         t = rule->rows->traveling;
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

bool tp__rows_by_parts(const tp_rule *rule, tp_choice c) {
  return c.kind == TP_CHOOSE_VARIANT ? rule->variants[c.index].combiner == TP_ROW_PARTS
                                     : c.rows == TP_BY_PARTS;
}

bool tp__rows_divided(const tp_rule *rule, tp_choice c) {
  if (c.kind == TP_CHOOSE_VARIANT)
    return tp_combiner_is_rows(rule->variants[c.index].combiner);
  return c.kind == TP_CHOOSE_FACTOR &&
         ((c.rows && !rule->rows->sends) || (rule->rows->groups >> c.index & 1));
}

/* The number of devices among which rows are divided. */
static int64_t n_holders(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  int64_t n = 1;
  for (int a = 0; a < mesh->n_axes; a++)
    n *= tp__rows_divided(rule, s->choices[a]) ? mesh->axes[a].size : 1;
  return n;
}

bool tp__rows_whole(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  const tp_value_map *result = &rule->results[0];
  /* groups that are split, but not by rows: the device has zeros for the rows of other groups */
  for (int g = 0; g < rule->n_factors; g++)
    if ((rule->rows->factors >> g & 1) && !rule->rows->sends &&
        tp__strategy_shards(rule, mesh, s, g) > 1 && !tp__strategy_by_rows(mesh, s, g))
      return false;
  int f = rule->rows->makes_mask ? tp__rows_factor(result, 1)
          : rule->rows->masks    ? tp__rows_factor(&rule->operands[0], 1)
                                 : tp__rows_factor(result, 0);
  return f >= 0 && tp__strategy_shards(rule, mesh, s, f) == 1;
}

bool tp__rows_of_one_group(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int f) {
  uint32_t groups = rule->rows->groups | (rule->rows->sends ? 0 : rule->rows->factors);
  if (!(groups >> f & 1) || !tp__rows_whole(rule, mesh, s))
    return false;
  const tp_value_map *masked = rule->rows->makes_mask ? &rule->results[0] : &rule->operands[0];
  return tp__rows_block(masked->shape[1], rule->factors[f].size) > 0;
}

double tp__rows_share(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  return 1 / (double)n_holders(rule, mesh, s);
}

double tp__rows_held(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int operand) {
  tp_spec spec = operand < 0 ? tp__strategy_result(rule, mesh, s, 0)
                             : tp__strategy_operand(rule, mesh, s, operand);
  bool is_masked = rule->rows->results && !rule->rows->sends && operand == 0;
  double held = 1;
  if (is_masked)
    return tp__rows_share(rule, mesh, s);
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp_place_is_rows(tp_spec_place(spec, a)))
      held /= (double)mesh->axes[a].size;
  }
  return held;
}
