/* Prices an op under a strategy: work, memory traffic, and the op's own communication. */
#include "passes/propagate/model/op_cost.h"

#include "rules/rows.h"

/* ---- which values pass through memory ---- */

static double local_bytes(const tp_planner *p, const tp_value_map *map, tp_spec spec) {
  return (double)(tp_spec_local_elements(p->problem.mesh, spec, map->rank, map->shape) *
                  map->element_size);
}

/* True if an elementwise op produces the value, so that another elementwise op reads it from
 * registers. If the value must be `stored`, this holds only for values made from no input, since
 * each user recomputes them. Constraints in between are skipped: their reshard is priced
 * separately, so a constraint that changes nothing costs nothing, and a plan costs the same when it
 * is planned again. */
static bool produced_elementwise(const tp_planner *p, const tp_value_map *map, bool stored) {
  const tp_planned_value *v = map->number < 0 ? NULL : &p->problem.values[map->number];
  while (v && p->problem.nodes[v->node].kind == TP_NODE_LAYOUT)
    v = tp__planned_value(
        p, mlirOperationGetOperand(p->problem.graph.items[p->problem.nodes[v->node].index].op, 0));
  if (!v || p->problem.nodes[v->node].kind != TP_NODE_OP)
    return false;
  const tp_rule *rule = p->problem.graph.items[p->problem.nodes[v->node].index].rule;
  return rule->is_elementwise && (!stored || rule->is_free);
}

uint64_t tp__op_in_blocks(const tp_rule *rule) {
  uint64_t set = 0;
  for (int i = 0; i < rule->n_operands + rule->n_results && i < 64; i++)
    if (i < rule->n_operands ? rule->operands[i].in_blocks
                             : rule->results[i - rule->n_operands].in_blocks)
      set |= UINT64_C(1) << i;
  return set;
}

/* Operands that do not travel through memory, as bits: between fused elementwise ops values stay in
 * registers. An operand that a blockwise op reads is stored unless it is itself computed in blocks,
 * such as a mask that several attentions share. */
static uint64_t fused_operands(const tp_planner *p, const tp_rule *rule) {
  uint64_t fused = 0;
  bool reads_blocks = tp__op_in_blocks(rule) != 0;
  for (int i = 0; i < rule->n_operands && rule->is_elementwise; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused &&
        !rule->operands[i].is_updated && rule->operands[i].n_reads == 0 &&
        mlirOperationIsNull(rule->operands[i].in_place) &&
        produced_elementwise(p, &rule->operands[i], reads_blocks && !rule->operands[i].in_blocks))
      fused |= UINT64_C(1) << i;
  return fused;
}

/* Results that are stored, as bits: those of contractions, and of the other ops those that a
 * contraction, another device or the caller reads. */
static uint64_t stored_results(const tp_planner *p, const tp_rule *rule) {
  uint64_t stored = 0;
  for (int i = 0; i < rule->n_results && i < 64 && p->problem.machine->store_gbytes_per_s > 0; i++)
    if (rule->results[i].is_tensor && !rule->results[i].in_blocks && rule->results[i].number >= 0 &&
        (!rule->is_elementwise || p->problem.stored[rule->results[i].number]))
      stored |= UINT64_C(1) << i;
  return stored;
}

/* Adds how the updated operands get their memory. */
static void read_updates(const tp_rule *rule, tp_op_memory *memory) {
  for (int i = 0; i < rule->n_operands && i < 64 && rule->traffic.updated >> i; i++) {
    tp_update update =
        rule->operands[i].is_updated ? tp__update_of(rule->op, i) : TP_UPDATE_IN_PLACE;
    memory->made |= (uint64_t)(update == TP_UPDATE_NEW) << i;
    memory->copied |= (uint64_t)(update == TP_UPDATE_COPY) << i;
  }
}

tp_op_memory tp__op_memory_of(const tp_planner *p, const tp_rule *rule) {
  tp_op_memory memory = {.fused = fused_operands(p, rule), .stored = stored_results(p, rule)};
  read_updates(rule, &memory);
  memory.is_view = rule->traffic.read & 1 && tp__slices_lasting(rule->op);
  return memory;
}

/* ---- costs ---- */

/* A strategy with the share of the op that a device computes. */
typedef struct local_op {
  const tp_planner *planner;
  const tp_rule *rule;
  const tp_strategy *strategy;
  tp_op_memory memory;
  double points; /* tp_rule.points on a device */
} local_op;

static double operand_bytes(const local_op *o, int i) {
  const tp_mesh *mesh = o->planner->problem.mesh;
  const tp_value_map *map = &o->rule->operands[i];
  return map->is_tensor && !map->is_unused
             ? local_bytes(o->planner, map, tp__strategy_operand(o->rule, mesh, o->strategy, i)) *
                   tp__rows_held(o->rule, mesh, o->strategy, i)
             : 0;
}

static double result_bytes(const local_op *o, int i) {
  const tp_mesh *mesh = o->planner->problem.mesh;
  return local_bytes(o->planner, &o->rule->results[i],
                     tp__strategy_result(o->rule, mesh, o->strategy, i)) *
         tp__rows_held(o->rule, mesh, o->strategy, -1);
}

static bool is_split(const local_op *o, int f) {
  return tp__strategy_shards(o->rule, o->planner->problem.mesh, o->strategy, f) > 1;
}

/* True if the strategy splits a dimension that the op cuts a slice from. */
static bool splits_cut(const local_op *o) {
  const tp_value_map *large = &o->rule->operands[0];
  for (int d = 0; d < large->rank; d++)
    if (large->dims[d].n_factors == 1 &&
        (large->dims[d].window || o->rule->factors[large->dims[d].factors[0]].repeats_work) &&
        is_split(o, large->dims[d].factors[0]))
      return true;
  return false;
}

/* True if the strategy splits an inserted tensor along a dimension of the slice. A device then
 * computes its whole shard. */
static bool splits_window(const local_op *o) {
  const tp_value_map *small = &o->rule->operands[0];
  for (int d = 0; small->is_tensor && d < small->rank; d++)
    if (small->dims[d].window && is_split(o, small->dims[d].factors[0]))
      return true;
  return false;
}

static tp_update update_of(const local_op *o, int i) {
  if (!o->rule->operands[i].is_updated)
    return TP_UPDATE_IN_PLACE;
  if (o->memory.copied >> i & 1 || splits_window(o))
    return TP_UPDATE_COPY;
  return o->memory.made >> i & 1 ? TP_UPDATE_NEW : TP_UPDATE_IN_PLACE;
}

static double read_bytes(const local_op *o) {
  double sum = 0;
  for (int i = 0; i < o->rule->n_operands; i++) {
    const tp_value_map *map = &o->rule->operands[i];
    double bytes = operand_bytes(o, i);
    if (!(o->memory.fused >> i & 1) && !map->in_blocks)
      sum += tp__operand_traffic(o->rule, i, update_of(o, i), bytes, o->points);
    /* the padded copy is written and read once more */
    if (!mlirOperationIsNull(map->in_place) && tp__op_is(map->in_place, "tensor.pad"))
      sum += 2 * bytes;
  }
  return sum;
}

/* The results of updates are among their operands. */
static double written_bytes(const local_op *o, int64_t parts) {
  double sum = 0;
  for (int i = 0; i < o->rule->n_results && !o->rule->is_elementwise && !o->rule->traffic.updated;
       i++)
    if (o->rule->results[i].is_tensor && !o->rule->results[i].in_blocks)
      sum += (parts > 1 ? 2 : 1) * result_bytes(o, i);
  return sum;
}

/* Of an update in place, what changes is stored. */
static double stored_bytes(const local_op *o) {
  double sum = 0;
  bool in_place = o->rule->traffic.updated && !o->memory.made && !o->memory.copied;
  for (int i = 0; i < o->rule->n_results && o->memory.stored >> i; i++) {
    double whole = o->memory.stored >> i & 1 ? result_bytes(o, i) : 0,
           points = o->points * (double)o->rule->results[i].element_size;
    sum += in_place && points < whole ? points : whole;
  }
  return sum;
}

/* Cost of local work on a topology. Of a cluster of fused ops the inputs are charged, and what is
 * stored. In a ring the op runs once for each part and accumulates into its result. */
static tp_cost compute_cost(const tp_planner *p, const tp_topology *topology, const tp_rule *rule,
                            const tp_strategy *s, tp_op_memory memory) {
  int64_t parts = tp__ring_parts(p->problem.mesh, s);
  double share = tp__strategy_share(rule, p->problem.mesh, s) / (double)parts;
  local_op o = {p, rule, s, memory, rule->points * share};
  tp_work work = {.peak = rule->peak,
                  .contraction_flops = rule->contraction_flops * (1 + rule->n_again) * share,
                  .gemm_dim = tp__strategy_gemm_dim(rule, p->problem.mesh, s),
                  .scalar_ops = rule->scalar_ops * share,
                  .launch = !rule->is_elementwise};
  if (rule->is_free || (memory.is_view && !splits_cut(&o)))
    return 0;
  work.memory_bytes = read_bytes(&o) + written_bytes(&o, parts);
  work.store_bytes = stored_bytes(&o) / (double)parts;
  return tp__cost_times(tp_cost_compute(topology, &work), (double)parts);
}

tp_cost tp__op_cost(const tp_planner *p, const tp_rule *rule, const tp_strategy *s,
                    tp_op_memory t) {
  tp_pricing pricing = {.mesh = p->problem.mesh, .topology = p->problem.topology};
  return tp_cost_add(compute_cost(p, p->problem.topology, rule, s, t),
                     tp__strategy_communication(rule, &pricing, s));
}

tp_cost tp__node_compute(const tp_planner *p, const tp_node *node) {
  const tp_rule *rule = p->problem.graph.items[node->index].rule;
  return compute_cost(p, p->problem.machine, rule, &node->strategies[node->chosen],
                      tp__op_memory_of(p, rule));
}

tp_cost tp__ring_hidden(const tp_planner *p, const tp_node *node, int s) {
  const tp_strategy *strategy = node->kind == TP_NODE_OP ? &node->strategies[s] : NULL;
  int64_t parts = strategy ? tp__ring_parts(p->problem.mesh, strategy) : 1;
  if (parts == 1)
    return 0;
  const tp_rule *rule = p->problem.graph.items[node->index].rule;
  tp_pricing pricing = {.mesh = p->problem.mesh, .topology = p->problem.topology};
  tp_cost compute =
      compute_cost(p, p->problem.topology, rule, strategy, tp__op_memory_of(p, rule)) / parts;
  tp_cost send = tp__ring_cost(rule, &pricing, strategy) / (parts - 1);
  return (parts - 1) * (compute < send ? compute : send);
}
