/* Builds rules: shapes and factors. */
#include "rules/rule.h"

#include <string.h>

int64_t tp__shape_elements(int rank, const int64_t *shape) {
  int64_t n = 1;
  for (int d = 0; d < rank; d++)
    n *= shape[d];
  return n;
}

/* ---- captured tensors ---- */

enum { MAX_CAPTURED = 64 };

typedef struct captured {
  MlirOperation root;
  int n;
  MlirValue values[MAX_CAPTURED];
  bool overflow;
} captured;

static tp_status collect_captured(MlirOperation op, void *data) {
  captured *c = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (!tp__is_tensor(mlirValueGetType(v)) || !tp__is_captured(c->root, v))
      continue;
    bool known = false;
    for (int k = 0; k < c->n; k++)
      known |= mlirValueEqual(c->values[k], v);
    if (known)
      continue;
    if (c->n == MAX_CAPTURED)
      c->overflow = true;
    else
      c->values[c->n++] = v;
  }
  return TP_OK;
}

static captured captured_tensors(MlirOperation op) {
  captured c = {.root = op};
  tp__walk(op, collect_captured, &c);
  return c;
}

int tp__captured_tensors(MlirOperation op, int max, MlirValue *values) {
  captured c = captured_tensors(op);
  for (int i = 0; i < c.n && i < max; i++)
    values[i] = c.values[i];
  return c.n;
}

bool tp__op_has_tensors(MlirOperation op) {
  /* results first: they lie beside the op, those of other ops may be far away */
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, i))))
      return true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return true;
  return captured_tensors(op).n > 0;
}

/* ---- maps ---- */

static tp_status begin_map(MlirOperation op, const char *what, int i, MlirValue value,
                           tp__arena *arena, tp_value_map *map) {
  MlirType type = mlirValueGetType(value);
  map->value = value;
  map->is_tensor = tp__is_tensor(type);
  if (!map->is_tensor)
    return TP_OK;
  int64_t shape[TP_MAX_RANK];
  TP_TRY(tp__check_tensor(op, what, i, type));
  int rank = 0;
  tp__static_tensor(type, &rank, shape);
  map->rank = (uint8_t)rank;
  map->element_size = tp__element_size(tp__element_type(type));
  int64_t *copy = tp__arena_array(arena, (size_t)map->rank + 1, sizeof *copy);
  map->dims = tp__arena_array(arena, (size_t)map->rank + 1, sizeof *map->dims);
  if (!copy || !map->dims)
    return tp__out_of_memory(op);
  memcpy(copy, shape, (size_t)map->rank * sizeof *copy);
  map->shape = copy;
  return TP_OK;
}

tp_value_map *tp__rule_maps(tp__arena *arena, int n) {
  return tp__arena_array(arena, n > 0 ? (size_t)n : 1, sizeof(tp_value_map));
}

tp_status tp__rule_begin(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  captured c = captured_tensors(op);
  int n_own = (int)mlirOperationGetNumOperands(op);
  rule->op = op;
  rule->n_operands = n_own + c.n;
  rule->n_results = (int)mlirOperationGetNumResults(op);
  if (c.overflow || rule->n_operands > 64 || rule->n_results > 64)
    return tp__error(op, TP_UNSUPPORTED,
                     "has more than 64 operands and captured tensors, or more than 64 results");
  rule->operands = tp__rule_maps(arena, rule->n_operands);
  rule->results = tp__rule_maps(arena, rule->n_results);
  if (!rule->operands || !rule->results)
    return tp__out_of_memory(op);
  for (int i = 0; i < rule->n_operands; i++) {
    MlirValue v = i < n_own ? mlirOperationGetOperand(op, i) : c.values[i - n_own];
    TP_TRY(begin_map(op, i < n_own ? "operand" : "captured value", i < n_own ? i : i - n_own, v,
                     arena, &rule->operands[i]));
  }
  for (int i = 0; i < rule->n_results; i++)
    TP_TRY(begin_map(op, "result", i, mlirOperationGetResult(op, i), arena, &rule->results[i]));
  return TP_OK;
}

void tp__rule_traffic(tp_rule *rule) {
  rule->traffic = tp__op_traffic(rule->op);
  for (int i = 0; i < rule->n_operands && i < 64; i++) {
    tp_value_map *map = &rule->operands[i];
    map->is_updated = rule->traffic.updated >> i & 1;
    map->n_reads = map->is_tensor && rule->traffic.read >> i & 1
                       ? (uint8_t)tp__reads_per_point(rule->op, map->value)
                       : 0;
  }
}

double tp__operand_traffic(const tp_rule *rule, int i, tp_update update, double whole,
                           double points) {
  const tp_value_map *map = &rule->operands[i];
  double touched = points * (double)map->element_size;
  return map->is_updated ? tp__update_bytes(update, rule->traffic.n_moves, whole, touched)
                         : tp__read_bytes(map->n_reads, whole, touched);
}

bool tp__always_follows(MlirOperation op) {
  (void)op;
  return true;
}

int tp__rule_factor(tp_rule *rule, int64_t size, tp_factor_kind kind) {
  if (rule->n_factors == TP_MAX_FACTORS)
    return -1;
  rule->factors[rule->n_factors] = (tp_factor){.size = size, .kind = kind};
  return rule->n_factors++;
}

void tp__dim_set(tp_value_map *map, int dim, int f) {
  if (f < 0)
    return;
  map->dims[dim].n_factors = 1;
  map->dims[dim].factors[0] = (uint8_t)f;
}

tp_status tp__dim_window(tp_rule *rule, tp_value_map *map, int dim, int f, tp_window window,
                         tp__arena *arena) {
  tp_window *copy = tp__arena_alloc(arena, sizeof *copy);
  if (!copy)
    return tp__out_of_memory(rule->op);
  *copy = window;
  tp__dim_set(map, dim, f);
  map->dims[dim].window = copy;
  return TP_OK;
}

bool tp__rule_has_window(const tp_rule *rule) {
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; d < rule->operands[i].rank; d++)
      if (rule->operands[i].dims[d].window)
        return true;
  return false;
}

void tp__rule_variant(tp_rule *rule, tp_combiner combiner, uint64_t operands) {
  if (rule->n_variants < TP_MAX_VARIANTS)
    rule->variants[rule->n_variants++] = (tp_variant){combiner, operands, combiner};
}

void tp__rule_same_dims(tp_rule *rule) {
  const tp_value_map *first = &rule->results[0];
  for (int d = 0; d < first->rank; d++) {
    int f = tp__rule_factor(rule, first->shape[d], TP_PARALLEL);
    for (int i = 0; i < rule->n_operands; i++)
      if (rule->operands[i].is_tensor && rule->operands[i].rank == first->rank)
        tp__dim_set(&rule->operands[i], d, f);
    for (int i = 0; i < rule->n_results; i++)
      tp__dim_set(&rule->results[i], d, f);
  }
}
