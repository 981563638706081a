/* Reads the plan for tp-partition: the sharding of every value, the strategy of each op that these
 * shardings imply, and the path of every reshard. Shardings that match no strategy are refused
 * here, before any rewriting. */
#include "passes/partition/partition.h"

#include <stdio.h>

static void set_spec(tp_partitioner *p, int value, tp_spec spec) {
  if (value < 0) /* the tensor is refused elsewhere */
    return;
  p->specs[value] = spec;
  p->has_spec[value] = true;
}

static void set_spec_of(tp_partitioner *p, MlirValue value, tp_spec spec) {
  set_spec(p, tp__func_graph_number(&p->graph, value), spec);
}

static bool find_spec(const tp_partitioner *p, int value, tp_spec *spec) {
  bool has = value >= 0 && p->has_spec[value];
  if (has)
    *spec = p->specs[value];
  return has;
}

bool tp__planned_spec(const tp_partitioner *p, MlirValue value, tp_spec *spec) {
  return find_spec(p, tp__func_graph_number(&p->graph, value), spec);
}

static tp_status read_args(tp_partitioner *p) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->graph.func, 0));
  for (int i = 0; i < p->graph.n_args; i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    tp_annotation annotation = {0};
    bool present;
    p->arg_types[i] = mlirValueGetType(arg);
    if (!tp__is_tensor(p->arg_types[i]))
      continue;
    TP_TRY(tp__func_graph_arg(&p->graph, i, &annotation, &present));
    if (!present)
      return tp__error(p->graph.func, TP_INVALID_ARGUMENT,
                       "argument %d has no tp.sharding; run tp-propagate just before tp-partition, "
                       "or tp-spmd, which does both",
                       i);
    p->arg_specs[i] = annotation.spec;
    set_spec_of(p, arg, annotation.spec);
  }
  return TP_OK;
}

static void describe(const tp_partitioner *p, tp_spec spec, int rank, char *text, size_t size) {
  tp_spec_text(p->mesh, spec, rank, text, size);
}

/* Reports that the shardings of operands and results match no strategy of the op's rule, and names
 * them. */
static tp_status refuse_layouts(tp_partitioner *p, const tp_rule *rule, const tp_spec *operands,
                                const tp_spec *results) {
  char text[1024], one[256];
  size_t n = 0;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    int k = i - rule->n_operands;
    if (!tp__refuses_uneven(rule, p->mesh, k < 0 ? &rule->operands[i] : &rule->results[k],
                            k < 0 ? operands[i] : results[k], text, sizeof text))
      continue;
    return tp__error(rule->op, TP_INVALID_ARGUMENT,
                     "%s %d: %s, and this op does not support uneven shards; gather it with a "
                     "shard.shard (tp-propagate does), or use a mesh that divides it",
                     k < 0 ? "operand" : "result", k < 0 ? i : k, text);
  }
  text[0] = 0;
  for (int i = 0; i < rule->n_operands && n < sizeof text - 300; i++) {
    if (!rule->operands[i].is_tensor || rule->operands[i].is_unused)
      continue;
    describe(p, operands[i], rule->operands[i].rank, one, sizeof one);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", one);
  }
  describe(p, rule->n_results ? results[0] : tp_spec_replicated(),
           rule->n_results ? rule->results[0].rank : 0, one, sizeof one);
  return tp__error(rule->op, TP_INVALID_ARGUMENT,
                   "no strategy of this op takes operands of layout %s to result %s; change its "
                   "tp.sharding, or reshard an operand with a shard.shard (tp-propagate does both)",
                   n ? text : "(none)", one);
}

static tp_status read_operands(tp_partitioner *p, const tp_item *item, tp_spec *operands) {
  const tp_rule *rule = item->rule;
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].is_tensor && !find_spec(p, rule->operands[i].number, &operands[i]))
      return tp__error(item->op, TP_INTERNAL, "operand %d has no layout", i);
  return TP_OK;
}

/* Reads the shardings of the results and finds the strategy that matches them and the operands'
 * shardings. */
static tp_status plan_anew(tp_partitioner *p, const tp_item *item, const tp_spec *operands,
                           tp_planned_op *plan) {
  const tp_rule *rule = item->rule;
  plan->results = tp__arena_array(&p->arena, (size_t)rule->n_results + 1, sizeof *plan->results);
  tp_status status = plan->results ? TP_OK : tp__out_of_memory(item->op);
  for (int i = 0; i < rule->n_results && status == TP_OK; i++) {
    tp_annotation annotation = {0};
    bool present;
    if (!rule->results[i].is_tensor)
      continue;
    status = tp__func_graph_op(&p->graph, item->op, i, &annotation, &present);
    if (status == TP_OK && !present)
      return tp__error(item->op, TP_INVALID_ARGUMENT,
                       "result %d has no tp.sharding; run tp-propagate just before tp-partition, "
                       "or tp-spmd, which does both",
                       i);
    plan->results[i] = annotation.spec;
  }
  tp_strategy hint;
  MlirAttribute factors = tp__get(item->op, "tp.factors");
  if (status == TP_OK && !mlirAttributeIsNull(factors))
    status = tp__read_factors(rule, factors, p->mesh, &hint);
  if (status != TP_OK)
    return status;
  int n = tp__strategy_match(rule, p->mesh, operands, plan->results,
                             mlirAttributeIsNull(factors) ? NULL : &hint, &plan->strategy);
  return n == 0 ? refuse_layouts(p, rule, operands, plan->results) : TP_OK;
}

/* Returns the memo slot for the plan of an op with this rule, these operand shardings and these
 * attributes. NULL when memory runs out. */
static void **same_plan(tp_partitioner *p, const tp_item *item, const tp_spec *operands) {
  int64_t key[2 + 64];
  size_t n = 0;
  key[n++] = (int64_t)(intptr_t)item->rule->first;
  key[n++] = (int64_t)(intptr_t)tp__attributes(item->op).ptr;
  for (int i = 0; i < item->rule->n_operands; i++)
    key[n++] = (int64_t)operands[i].bits;
  return tp__memo(&p->same_ops, &p->arena, key, n);
}

static tp_status plan_op(tp_partitioner *p, const tp_item *item, const tp_planned_op **planned) {
  const tp_rule *rule = item->rule;
  tp_spec operands[64] = {0};
  tp_status status = read_operands(p, item, operands);
  if (status != TP_OK)
    return status;
  void **slot = rule->first ? same_plan(p, item, operands) : NULL;
  if (rule->first && !slot)
    return tp__out_of_memory(item->op);
  tp_planned_op *plan = slot ? *slot : NULL;
  if (!plan) {
    plan = tp__arena_alloc(&p->arena, sizeof *plan);
    status = plan ? plan_anew(p, item, operands, plan) : tp__out_of_memory(item->op);
    if (slot && status == TP_OK)
      *slot = plan;
  }
  for (int i = 0; i < rule->n_results && status == TP_OK; i++)
    if (rule->results[i].is_tensor)
      set_spec(p, rule->results[i].number, plan->results[i]);
  *planned = plan;
  return status;
}

static tp_status find_path(tp_partitioner *p, const tp_item *item, tp_spec from, tp_spec to,
                           tp_planned_layout *plan) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(item->op, 0));
  if (!tp__static_tensor(type, &plan->rank, plan->shape))
    return tp__error(item->op, TP_UNSUPPORTED,
                     "its operand is not a tensor of static shape with a layout");
  int64_t size = tp__element_size(tp__element_type(type));
  if (tp_reshard_path(p->reshards, from, to, plan->rank, plan->shape, size, &plan->path) == TP_OK)
    return TP_OK;
  char a[256], b[256];
  describe(p, from, plan->rank, a, sizeof a);
  describe(p, to, plan->rank, b, sizeof b);
  return tp__error(item->op, TP_UNSUPPORTED,
                   "no sequence of collectives takes layout %s to %s: average has no identity "
                   "element, so a partial average cannot be created",
                   a, b);
}

static tp_status plan_layout(tp_partitioner *p, const tp_item *item,
                             const tp_planned_layout **planned) {
  MlirValue source = mlirOperationGetOperand(item->op, 0);
  tp_annotation annotation = {0};
  bool present;
  tp_spec from;
  if (!tp__planned_spec(p, source, &from))
    return tp__error(item->op, TP_UNSUPPORTED,
                     "its operand is not a tensor of static shape with a layout");
  TP_TRY(tp__func_graph_op(&p->graph, item->op, 0, &annotation, &present));
  if (!present)
    return tp__error(item->op, TP_INVALID_ARGUMENT,
                     "has no tp.sharding; run tp-propagate just before tp-partition, or tp-spmd, "
                     "which does both");
  int64_t key[] = {(int64_t)from.bits, (int64_t)annotation.spec.bits,
                   (int64_t)(intptr_t)mlirValueGetType(source).ptr};
  void **slot = tp__memo(&p->same_layouts, &p->arena, key, TP_LEN(key));
  tp_planned_layout *plan = slot && *slot ? *slot : tp__arena_alloc(&p->arena, sizeof *plan);
  if (!slot || !plan)
    return tp__out_of_memory(item->op);
  if (!*slot)
    TP_TRY(find_path(p, item, from, annotation.spec, plan));
  *slot = plan;
  *planned = plan;
  set_spec_of(p, mlirOperationGetResult(item->op, 0), annotation.spec);
  return TP_OK;
}

/* Sets the sharding of each carried tensor. check_carried later checks that incoming values have
 * it, when all shardings are known. */
static tp_status plan_region(tp_partitioner *p, const tp_item *item) {
  for (int k = 0; k < item->n_carried; k++) {
    const tp_carried *c = &item->carried[k];
    tp_annotation annotation = {0};
    bool present;
    TP_TRY(tp__func_graph_carried(&p->graph, item->op, c, &annotation, &present));
    if (!present)
      return tp__error(item->op, TP_INVALID_ARGUMENT,
                       "carried value %d has no layout in tp.region_args or tp.sharding; run "
                       "tp-propagate just before tp-partition, or tp-spmd, which does "
                       "both",
                       k);
    for (int i = 0; i < c->n_values; i++)
      set_spec_of(p, c->values[i], annotation.spec);
  }
  return TP_OK;
}

static tp_status check_carried(tp_partitioner *p, const tp_item *item) {
  for (int k = 0; k < item->n_carried; k++) {
    const tp_carried *c = &item->carried[k];
    tp_spec want = tp_spec_replicated(), have = tp_spec_replicated();
    tp__planned_spec(p, c->values[0], &want);
    for (int i = 0; i < c->n_uses; i++) {
      MlirValue value = mlirOperationGetOperand(c->uses[i].op, c->uses[i].operand);
      char a[256], b[256];
      if (tp__planned_spec(p, value, &have) && tp_spec_equal(have, want))
        continue;
      describe(p, have, tp__value_rank(value), a, sizeof a);
      describe(p, want, tp__value_rank(value), b, sizeof b);
      return tp__error(c->uses[i].op, TP_INVALID_ARGUMENT,
                       "operand %d has layout %s, but the loop carries it with layout %s; put a "
                       "shard.shard in front",
                       c->uses[i].operand, a, b);
    }
  }
  return TP_OK;
}

static tp_status plan_return(tp_partitioner *p, const tp_item *item) {
  for (int i = 0; i < p->graph.n_results; i++) {
    MlirValue value = mlirOperationGetOperand(item->op, i);
    tp_annotation annotation = {0};
    bool present;
    tp_spec spec = tp_spec_replicated();
    p->result_types[i] = mlirValueGetType(value);
    if (!tp__is_tensor(p->result_types[i]))
      continue;
    TP_TRY(tp__func_graph_result(&p->graph, i, &annotation, &present));
    if (!present)
      return tp__error(p->graph.func, TP_INVALID_ARGUMENT,
                       "result %d has no tp.sharding; run tp-propagate just before tp-partition, "
                       "or tp-spmd, which does both",
                       i);
    p->result_specs[i] = annotation.spec;
    if (!tp__planned_spec(p, value, &spec) || !tp_spec_equal(spec, annotation.spec)) {
      char a[256], b[256];
      describe(p, spec, tp__value_rank(value), a, sizeof a);
      describe(p, annotation.spec, tp__value_rank(value), b, sizeof b);
      return tp__error(
          item->op, TP_INVALID_ARGUMENT,
          "returns layout %s as result %d, whose tp.sharding is %s; put a shard.shard in front", a,
          i, b);
    }
  }
  return TP_OK;
}

tp_status tp__read_plan(tp_partitioner *p) {
  TP_TRY(read_args(p));
  for (int i = 0; i < p->graph.n_items; i++) {
    const tp_item *item = &p->graph.items[i];
    tp__prefetch_items(&p->graph, i, false);
    TP_TRY(item->kind == TP_ITEM_OP       ? plan_op(p, item, &p->ops[i])
           : item->kind == TP_ITEM_LAYOUT ? plan_layout(p, item, &p->layouts[i])
           : item->kind == TP_ITEM_REGION ? plan_region(p, item)
                                          : plan_return(p, item));
  }
  for (int i = 0; i < p->graph.n_items; i++)
    TP_TRY(check_carried(p, &p->graph.items[i]));
  return TP_OK;
}
