/* Numbers a function's ops in the order in which they run, and records which ops use which
 * values. */
#include "passes/propagate/model/storage.h"

typedef struct builder {
  tp_timeline *t;
  int next_item; /* in the graph; items have the same order */
  int n_blocks;
  int moment; /* the op whose body is being visited */
} builder;

/* ---- values ---- */

int tp__timeline_find(const tp_timeline *t, MlirValue value) {
  int number = tp__func_graph_number(&t->planner->problem.graph, value);
  return number >= 0 ? number : tp__table_get(&t->other_values, value.ptr);
}

MlirValue tp__timeline_value(const tp_timeline *t, int value) {
  size_t n = t->planner->problem.n_values, i = (size_t)value;
  return i < n ? t->planner->problem.values[i].value : t->others[i - n];
}

static tp_status add_other(tp_timeline *t, MlirValue value, int *number) {
  *number = (int)t->n_values;
  if (tp__grow((void **)&t->values, &t->value_capacity, t->n_values + 1, sizeof *t->values) !=
          TP_OK ||
      tp__grow((void **)&t->others, &t->other_capacity, t->n_others + 1, sizeof *t->others) !=
          TP_OK ||
      tp__table_put(&t->other_values, value.ptr, *number) != TP_OK)
    return TP_NO_MEMORY;
  t->values[t->n_values++] = (tp_timeline_value){-1, -1};
  t->others[t->n_others++] = value;
  return TP_OK;
}

/* Records op k as the maker of its results. Its rule numbers nearly all of them; others are
 * added. */
static tp_status add_results(tp_timeline *t, int k) {
  tp_timeline_op *m = &t->moments[k];
  for (intptr_t i = 0; i < mlirOperationGetNumResults(m->op); i++) {
    int number = m->rule ? m->rule->results[i].number : -1;
    MlirValue value = m->rule ? (MlirValue){NULL} : mlirOperationGetResult(m->op, i);
    if (!m->rule && tp__is_tensor(mlirValueGetType(value))) {
      number = tp__timeline_find(t, value);
      if (number < 0 && add_other(t, value, &number) != TP_OK)
        return TP_NO_MEMORY;
    }
    if (number >= 0)
      t->values[number].maker = k;
    if (i == 0)
      m->result = number;
  }
  return m->result < 0 ? tp__table_put(&t->bare_ops, m->op.ptr, k) : TP_OK;
}

/* ---- uses ---- */

bool tp__timeline_has_one_use(const tp_timeline *t, int value) {
  int use = t->values[value].first_use;
  return use >= 0 && t->uses[use].next < 0;
}

bool tp__timeline_is_operand(const tp_timeline *t, int use) {
  const tp_timeline_op *m = &t->moments[t->uses[use].moment];
  return use < m->first_use + m->n_operands;
}

static tp_status add_use(tp_timeline *t, int k, int value) {
  int use = (int)t->n_uses;
  if (tp__grow((void **)&t->uses, &t->use_capacity, t->n_uses + 1, sizeof *t->uses) != TP_OK)
    return TP_NO_MEMORY;
  t->uses[t->n_uses++] = (tp_timeline_use){value, k, value >= 0 ? t->values[value].first_use : -1};
  if (value >= 0)
    t->values[value].first_use = use;
  return TP_OK;
}

/* The value of operand i: from the rule, unless a reshard replaced the operand. */
static int operand_of(const tp_timeline *t, const tp_timeline_op *m, int i) {
  MlirValue value = mlirOperationGetOperand(m->op, i);
  const tp_value_map *map = m->rule && i < m->rule->n_operands ? &m->rule->operands[i] : NULL;
  if (map && map->number >= 0 &&
      mlirValueEqual(t->planner->problem.values[map->number].value, value))
    return map->number;
  return (!map || map->is_tensor) && tp__is_tensor(mlirValueGetType(value))
             ? tp__timeline_find(t, value)
             : -1;
}

static tp_status add_captured(MlirOperation op, void *data) {
  builder *b = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    int number = tp__is_tensor(mlirValueGetType(value)) ? tp__timeline_find(b->t, value) : -1;
    if (number >= 0)
      TP_TRY(add_use(b->t, b->moment, number));
  }
  return TP_OK;
}

static tp_status add_uses(builder *b, int k) {
  tp_timeline_op *m = &b->t->moments[k];
  tp_status status = TP_OK;
  for (int i = 0; i < m->n_operands && status == TP_OK; i++)
    status = add_use(b->t, k, operand_of(b->t, m, i));
  bool captures = m->rule ? m->rule->n_operands > m->n_operands : !m->is_control;
  b->moment = k;
  return captures && status == TP_OK ? tp__walk(m->op, add_captured, b) : status;
}

/* ---- ops ---- */

/* Items come in the order of ops, but not every op is an item. */
static const tp_rule *next_rule(builder *b, MlirOperation op) {
  const tp_planner *p = b->t->planner;
  if (b->next_item == p->problem.graph.n_items ||
      !mlirOperationEqual(p->problem.graph.items[b->next_item].op, op))
    return NULL;
  const tp_rule *rule = p->problem.graph.items[b->next_item++].rule;
  return rule && rule->n_results > 0 && rule->results[0].number >= 0 ? rule : NULL;
}

static tp_status add_moment(builder *b, MlirOperation op, int parent, int block) {
  tp_timeline *t = b->t;
  int k = (int)t->n;
  if (tp__grow((void **)&t->moments, &t->capacity, t->n + 1, sizeof *t->moments) != TP_OK)
    return TP_NO_MEMORY;
  MlirStringRef name = tp__op_name(op);
  const tp_rule *rule = next_rule(b, op); /* an op of scf that has one is a border */
  t->moments[t->n++] = (tp_timeline_op){.op = op,
                                        .rule = rule,
                                        .parent = parent,
                                        .end = k,
                                        .block = block,
                                        .result = -1,
                                        .first_use = (int)t->n_uses,
                                        .n_operands = (int)mlirOperationGetNumOperands(op),
                                        .is_control = !rule && tp__op_has_dialect(op, "scf"),
                                        .is_change = tp__name_is(name, "shard.shard"),
                                        .is_constant = tp__name_is(name, "arith.constant"),
                                        .is_view = tp__is_view(op),
                                        .is_named = tp__op_has_dialect(op, "linalg") &&
                                                    !tp__name_is(name, "linalg.generic")};
  TP_TRY(add_results(t, k));
  return add_uses(b, k);
}

static tp_status add_regions(builder *b, MlirOperation op, int parent) {
  tp_timeline *t = b->t;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      int number = b->n_blocks++;
      for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o);
           o = mlirOperationGetNextInBlock(o)) {
        int k = (int)t->n;
        tp__prefetch_items(&t->planner->problem.graph, b->next_item, false);
        if (add_moment(b, o, parent, number) != TP_OK ||
            (t->moments[k].is_control && add_regions(b, o, k) != TP_OK))
          return TP_NO_MEMORY;
        t->moments[k].end = (int)t->n - 1;
      }
    }
  return TP_OK;
}

tp_status tp__timeline_build(const tp_planner *p, tp_timeline *t) {
  builder b = {.t = t};
  *t = (tp_timeline){.planner = p, .n_values = p->problem.n_values};
  tp_status status =
      tp__grow((void **)&t->values, &t->value_capacity, p->problem.n_values + 1, sizeof *t->values);
  for (size_t i = 0; i < p->problem.n_values && status == TP_OK; i++)
    t->values[i] = (tp_timeline_value){-1, -1};
  if (status == TP_OK)
    status = add_regions(&b, p->problem.graph.func, -1);
  return status == TP_OK ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}

void tp__timeline_destroy(tp_timeline *t) {
  tp__free(t->moments);
  tp__free(t->values);
  tp__free(t->others);
  tp__free(t->uses);
  tp__table_destroy(&t->other_values);
  tp__table_destroy(&t->bare_ops);
  *t = (tp_timeline){0};
}

/* ---- positions of ops ---- */

/* The number of an op; -1: none. */
static int number_of(const tp_timeline *t, MlirOperation op) {
  int value =
      mlirOperationGetNumResults(op) > 0 ? tp__timeline_find(t, mlirOperationGetResult(op, 0)) : -1;
  return value >= 0 ? t->values[value].maker : tp__table_get(&t->bare_ops, op.ptr);
}

/* The number of the op in whose region `value` is defined; -1: the function. */
static int place_of(const tp_timeline *t, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (!mlirOperationIsNull(op))
    return t->moments[number_of(t, op)].parent;
  return number_of(t, mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value)));
}

int tp__timeline_number(const tp_timeline *t, MlirOperation op) {
  int k;
  while ((k = number_of(t, op)) < 0) /* inside the body of a structured op */
    op = mlirOperationGetParentOperation(op);
  return k;
}

int tp__timeline_around(const tp_timeline *t, int place, int k) {
  while (t->moments[k].parent != place)
    k = t->moments[k].parent;
  return k;
}

int tp__timeline_anchor(const tp_timeline *t, MlirValue value, MlirOperation user) {
  return tp__timeline_around(t, place_of(t, value), tp__timeline_number(t, user));
}

int64_t tp__local_bytes(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                        int64_t element_size) {
  return tp_spec_local_elements(mesh, spec, rank, shape) * element_size;
}

int64_t tp__value_bytes(const tp_planner *p, const tp_planned_value *v, tp_spec spec) {
  return tp__local_bytes(p->problem.mesh, spec, v->rank, v->shape, v->element_size);
}

int64_t tp__reshard_excess(const tp_reshard *path, int rank, const int64_t *shape,
                           int64_t element_size) {
  const tp_mesh *mesh = &path->mesh;
  int64_t excess = 0, result = 0;
  if (path->n_steps > 0)
    result = tp__local_bytes(mesh, path->steps[path->n_steps - 1].to, rank, shape, element_size);
  for (int i = 0; i < path->n_steps; i++) {
    int64_t held = tp__local_bytes(mesh, path->steps[i].to, rank, shape, element_size);
    if (i > 0)
      held += tp__local_bytes(mesh, path->steps[i].from, rank, shape, element_size);
    excess = held - result > excess ? held - result : excess;
  }
  return excess;
}
