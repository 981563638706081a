/* The strategies of ops, with the layouts they imply and their cost. */
#include "passes/propagate/model/op_cost.h"
#include "rules/border.h"

#include <stdio.h>
#include <string.h>

tp_cost tp__cost_times(tp_cost cost, double trips) {
  return cost >= TP_COST_FORBIDDEN || (double)cost * trips >= (double)TP_COST_FORBIDDEN
             ? TP_COST_FORBIDDEN
             : (tp_cost)((double)cost * trips);
}

double tp__node_trips(const tp_planner *p, const tp_node *node) {
  return node->kind == TP_NODE_OP ? p->problem.graph.items[node->index].trips : 1;
}

/* Enumeration of the strategies of one op. */
typedef struct enumeration {
  tp_planner *planner;
  const tp_rule *rule;
  uint8_t axes_of_factor[TP_MAX_FACTORS]; /* bit a: axis a may split the factor */
  /* bit a: an annotation puts axis a on a dimension linked to the factor */
  uint8_t named_axes[TP_MAX_FACTORS];
  /* bit a: axis a is a sub-axis cut for a dimension linked to the factor */
  uint8_t cut_axes[TP_MAX_FACTORS];
  uint8_t rows_axes[TP_MAX_FACTORS]; /* bit a: axis a may split the factor by rows */
  tp_strategy current;
  int n;
  tp_strategy found[TP_MAX_FOUND];
  uint64_t hashes[TP_MAX_FOUND];    /* layout hash of each kept strategy */
  uint16_t slots[2 * TP_MAX_FOUND]; /* hash table: number of a kept strategy + 1, 0: free */
} enumeration;

/* Collects, for each factor, the axes that reach it from the dimensions of all values: axes named
 * by annotations, and sub-axes cut for these dimensions. */
static void collect_flow(enumeration *e) {
  const tp_rule *rule = e->rule;
  memset(e->named_axes, 0, sizeof e->named_axes);
  memset(e->cut_axes, 0, sizeof e->cut_axes);
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    const tp_value_map *map =
        i < rule->n_operands ? &rule->operands[i] : &rule->results[i - rule->n_operands];
    for (int d = 0; map->is_tensor && d < map->rank; d++) {
      uint8_t named, cut;
      if (map->dims[d].n_factors == 0)
        continue;
      tp__flow_axes(e->planner, map->number, d, &named, &cut);
      for (int k = 0; k < map->dims[d].n_factors; k++) {
        e->named_axes[map->dims[d].factors[k]] |= named;
        e->cut_axes[map->dims[d].factors[k]] |= cut;
      }
    }
  }
}

/* Computes the axes of the factors from what collect_flow has collected. */
static void factor_axes(enumeration *e) {
  const tp_mesh *mesh = e->planner->problem.mesh;
  uint8_t split = 0; /* axes of more than one device */
  for (int a = 0; a < mesh->n_axes; a++)
    split |= (uint8_t)((mesh->axes[a].size > 1) << a);
  for (int f = 0; f < e->rule->n_factors; f++) {
    const tp_factor *factor = &e->rule->factors[f];
    uint8_t may = factor->kind == TP_FIXED ? 0 : split;
    bool by_rows = e->rule->rows->factors >> f & 1;
    e->rows_axes[f] = by_rows ? split & (e->planner->problem.follow ? e->named_axes[f] : split) : 0;
    e->named_axes[f] &= may;
    e->cut_axes[f] &= may;
    e->axes_of_factor[f] = e->planner->problem.follow ? e->named_axes[f] : may;
    if (e->rule->border >> f & 1)
      e->axes_of_factor[f] &= tp__border_axes(e->rule, f);
    for (int a = 0; a < mesh->n_axes; a++)
      if ((e->axes_of_factor[f] >> a & 1) && factor->size % mesh->axes[a].size != 0 &&
          (factor->must_divide ||
           !tp__may_be_offered(e->planner, factor->size, a, e->named_axes[f] >> a & 1)))
        e->axes_of_factor[f] &= (uint8_t)~(1u << a);
  }
}

/* True if every factor is split in a way that is offered. */
static bool is_offered(const enumeration *e) {
  const tp_mesh *mesh = e->planner->problem.mesh;
  for (int f = 0; f < e->rule->n_factors; f++) {
    unsigned axes = 0;
    bool named = true;
    for (int a = 0; a < mesh->n_axes; a++) {
      if (e->current.choices[a].kind != TP_CHOOSE_FACTOR || e->current.choices[a].index != f)
        continue;
      axes |= 1u << a;
      named &= e->named_axes[f] >> a & 1;
    }
    if (!tp__is_offered(e->planner, e->rule->factors[f].size, axes, named))
      return false;
  }
  return true;
}

/* True if the factor may take this part of the axis without the rest. */
static bool may_take_sub_axis(const enumeration *e, tp_choice c, int axis) {
  return c.kind == TP_CHOOSE_FACTOR &&
         (e->rule->factors[c.index].size % e->planner->problem.mesh->axes[axis].parent_size != 0 ||
          (e->cut_axes[c.index] >> axis & 1));
}

/* True if the parts of one axis are assigned differently without need. That is offered only where
 * the whole axis does not fit the factor, or was cut for a dimension linked to the factor. An op
 * without inputs (fill, constant) follows its user, so it is exempt. */
static bool mixes_needlessly(const enumeration *e) {
  const tp_mesh *mesh = e->planner->problem.mesh;
  if (e->planner->problem.mixes_sub_axes || e->rule->is_free)
    return false;
  for (int a = 1; a < mesh->n_axes; a++) {
    if (mesh->axes[a].parent != mesh->axes[a - 1].parent)
      continue;
    tp_choice x = e->current.choices[a - 1], y = e->current.choices[a];
    if (x.kind == y.kind && x.index == y.index)
      continue;
    if (!may_take_sub_axis(e, x, a - 1) && !may_take_sub_axis(e, y, a))
      return true;
  }
  return false;
}

static bool same_layouts(const enumeration *e, const tp_strategy *a, const tp_strategy *b) {
  const tp_rule *rule = e->rule;
  const tp_mesh *mesh = e->planner->problem.mesh;
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused &&
        !tp_spec_equal(tp__strategy_operand(rule, mesh, a, i),
                       tp__strategy_operand(rule, mesh, b, i)))
      return false;
  for (int i = 0; i < rule->n_results; i++)
    if (!tp_spec_equal(tp__strategy_result(rule, mesh, a, i),
                       tp__strategy_result(rule, mesh, b, i)))
      return false;
  return true;
}

/* True if this order of axes gives other layouts for the current choice of factors. */
static bool order_matters(const enumeration *e, const uint8_t *order) {
  int n_split = 0, last = -1;
  bool sorted = true;
  for (int o = 0; o < TP_MAX_AXES; o++) {
    bool splits = order[o] < e->planner->problem.mesh->n_axes &&
                  e->current.choices[order[o]].kind == TP_CHOOSE_FACTOR;
    n_split += splits;
    sorted &= !splits || order[o] > last;
    last = splits ? order[o] : last;
  }
  return n_split > 1 && !sorted;
}

static void add_orders(enumeration *e) {
  const tp_planner *p = e->planner;
  for (int i = 0; i < p->problem.n_orders && e->n < TP_MAX_FOUND; i++) {
    if (i > 0 && !order_matters(e, p->problem.orders[i]))
      continue;
    memcpy(e->current.order, p->problem.orders[i], sizeof e->current.order);
    if (tp__strategy_legal(e->rule, p->problem.mesh, &e->current))
      e->found[e->n++] = e->current;
  }
}

static void enumerate(enumeration *e, int axis) {
  const tp_mesh *mesh = e->planner->problem.mesh;
  if (axis == mesh->n_axes) {
    if (!mixes_needlessly(e) && is_offered(e))
      add_orders(e);
    return;
  }
  e->current.choices[axis] = (tp_choice){.kind = TP_CHOOSE_NONE};
  enumerate(e, axis + 1);
  if (mesh->axes[axis].size == 1)
    return;
  for (int f = 0; f < e->rule->n_factors; f++) {
    e->current.choices[axis] = (tp_choice){.kind = TP_CHOOSE_FACTOR, .index = (uint8_t)f};
    if (e->axes_of_factor[f] >> axis & 1) {
      enumerate(e, axis + 1);
      if (e->rule->ring.factors >> f & 1) {
        e->current.choices[axis].ring = true;
        enumerate(e, axis + 1);
        e->current.choices[axis].ring = false;
      }
    }
    int n_kinds = e->rule->rows->sends ? TP_N_ROWS_KINDS : TP_BY_PARTS;
    for (int k = TP_BY_GROUPS; k < n_kinds && (e->rows_axes[f] >> axis & 1); k++) {
      e->current.choices[axis].rows = (uint8_t)k;
      enumerate(e, axis + 1);
    }
  }
  for (int v = 0; v < e->rule->n_variants; v++) {
    e->current.choices[axis] = (tp_choice){.kind = TP_CHOOSE_VARIANT, .index = (uint8_t)v};
    enumerate(e, axis + 1);
  }
}

static uint64_t layouts_hash(const enumeration *e, const tp_strategy *strategy) {
  const tp_rule *rule = e->rule;
  uint64_t hash = 0;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    const tp_value_map *map =
        i < rule->n_operands ? &rule->operands[i] : &rule->results[i - rule->n_operands];
    if (!map->is_tensor || map->is_unused)
      continue;
    tp_spec spec =
        i < rule->n_operands
            ? tp__strategy_operand(rule, e->planner->problem.mesh, strategy, i)
            : tp__strategy_result(rule, e->planner->problem.mesh, strategy, i - rule->n_operands);
    hash = (hash ^ spec.bits) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

/* Keeps the first of all strategies that agree in every layout. */
static void drop_equal_layouts(enumeration *e) {
  size_t n_slots = 2; /* a power of two, at least twice the number of strategies */
  int kept = 0;
  while (n_slots < 2 * (size_t)e->n)
    n_slots *= 2;
  memset(e->slots, 0, n_slots * sizeof *e->slots);
  for (int i = 0; i < e->n; i++) {
    uint64_t hash = layouts_hash(e, &e->found[i]);
    size_t at = hash & (n_slots - 1);
    while (e->slots[at] && (e->hashes[e->slots[at] - 1] != hash ||
                            !same_layouts(e, &e->found[i], &e->found[e->slots[at] - 1])))
      at = (at + 1) & (n_slots - 1);
    if (e->slots[at])
      continue;
    e->found[kept] = e->found[i];
    e->hashes[kept++] = hash;
    e->slots[at] = (uint16_t)kept;
  }
  e->n = kept;
}

/* Keeps the strategies named by tp.factors. */
static tp_status keep_named(enumeration *e) {
  tp_strategy named;
  MlirAttribute factors = tp__get(e->rule->op, "tp.factors");
  if (mlirAttributeIsNull(factors))
    return TP_OK;
  tp_status status = tp__read_factors(e->rule, factors, e->planner->problem.mesh, &named);
  if (status != TP_OK)
    return status;
  int kept = 0;
  for (int s = 0; s < e->n; s++) {
    bool same = true;
    for (int a = 0; a < e->planner->problem.mesh->n_axes; a++)
      same &= e->planner->problem.mesh->axes[a].size == 1 ||
              tp__same_choice(e->found[s].choices[a], named.choices[a]);
    if (same)
      e->found[kept++] = e->found[s];
  }
  e->n = kept;
  return kept ? TP_OK
              : tp__error(e->rule->op, TP_INFEASIBLE,
                          "tp.factors names a strategy that this op does not have on this mesh");
}

/* Keeps the strategies whose results match the op's own annotation. */
static tp_status keep_pinned(enumeration *e) {
  const tp_rule *rule = e->rule;
  tp_planner *p = e->planner;
  for (int r = 0; r < rule->n_results; r++) {
    tp_annotation pin = {0};
    bool pinned;
    tp_status status = tp__func_graph_op(&p->problem.graph, rule->op, r, &pin, &pinned);
    if (status != TP_OK)
      return status;
    int kept = 0;
    for (int s = 0; s < e->n && pinned; s++) {
      tp_spec spec = tp__strategy_result(rule, p->problem.mesh, &e->found[s], r);
      for (int a = 0; a < p->problem.mesh->n_axes; a++) {
        tp_place place = tp_spec_place(spec, a);
        if (place.kind == TP_DIM && (pin.open >> place.dim & 1) &&
            tp_spec_place(pin.spec, a).kind == TP_REPLICATED)
          tp_spec_clear(&spec, a);
      }
      if (tp_spec_equal(spec, pin.spec))
        e->found[kept++] = e->found[s];
    }
    if (pinned && kept == 0) {
      char text[512];
      if (tp__refuses_uneven(rule, p->problem.mesh, &rule->results[r], pin.spec, text, sizeof text))
        return tp__error(rule->op, TP_INFEASIBLE,
                         "result %d: %s, and this op does not support uneven shards; constrain it "
                         "with a shard.shard after the op instead, or use a mesh that divides it",
                         r, text);
      tp_spec_text(p->problem.mesh, pin.spec, rule->results[r].rank, text, sizeof text);
      return tp__error(rule->op, TP_INFEASIBLE,
                       "no strategy of this op gives result %d the layout %s; constrain it with a "
                       "shard.shard after the op instead",
                       r, text);
    }
    if (pinned)
      e->n = kept;
  }
  return TP_OK;
}

/* Keeps the first strategy, which splits least, and the cheapest of the others. */
static tp_status limit(tp_planner *p, enumeration *e, tp_op_memory t, int *left_out) {
  int *kept;
  *left_out = 0;
  if (e->n <= TP_MAX_STRATEGIES)
    return TP_OK;
  tp_cost *costs = tp__arena_array(p->problem.arena, (size_t)e->n, sizeof *costs);
  for (int s = 0; costs && s < e->n; s++)
    costs[s] = tp__op_cost(p, e->rule, &e->found[s], t);
  if (!costs ||
      tp__select_cheapest(p->problem.arena, costs, e->n, TP_MAX_STRATEGIES, &kept) != TP_OK)
    return tp__plan_no_memory(p);
  for (int s = 0; s < TP_MAX_STRATEGIES; s++)
    e->found[s] = e->found[kept[s]];
  *left_out = e->n - TP_MAX_STRATEGIES;
  e->n = TP_MAX_STRATEGIES;
  return TP_OK;
}

/* Fills `node` with the enumerated strategies. */
static tp_status store(tp_planner *p, const enumeration *e, tp_op_memory t, tp_node *node) {
  const tp_rule *rule = e->rule;
  tp_status status = tp__node_allocate(p, node, e->n, rule->n_operands, rule->n_results);
  if (status != TP_OK)
    return status;
  node->strategies = tp__arena_array(p->problem.arena, (size_t)e->n + 1, sizeof *node->strategies);
  if (!node->strategies)
    return tp__plan_no_memory(p);
  memcpy(node->strategies, e->found, (size_t)e->n * sizeof *node->strategies);
  for (int s = 0; s < e->n; s++) {
    for (int i = 0; i < rule->n_operands; i++)
      node->in[s * rule->n_operands + i] =
          tp__strategy_operand(rule, p->problem.mesh, &e->found[s], i);
    for (int i = 0; i < rule->n_results; i++)
      node->out[s * rule->n_results + i] =
          tp__strategy_result(rule, p->problem.mesh, &e->found[s], i);
    node->costs[s] = tp__op_cost(p, rule, &e->found[s], t);
  }
  return TP_OK;
}

/* Values computed in blocks must stay where they are used. Keeps the strategies in which such
 * values are not partial and the op communicates nothing except keys or values in a ring. */
static void keep_blocks(enumeration *e) {
  const tp_rule *rule = e->rule;
  const tp_mesh *mesh = e->planner->problem.mesh;
  tp_pricing pricing = {.mesh = mesh, .topology = e->planner->problem.topology};
  if (!tp__op_in_blocks(rule))
    return;
  int kept = 0;
  for (int s = 0; s < e->n; s++) {
    bool stays = tp__strategy_communication(rule, &pricing, &e->found[s]) ==
                 tp__ring_cost(rule, &pricing, &e->found[s]);
    for (int i = 0; i < rule->n_operands && stays; i++)
      stays = !rule->operands[i].in_blocks ||
              !tp_spec_has_partial(tp__strategy_operand(rule, mesh, &e->found[s], i));
    for (int i = 0; i < rule->n_results && stays; i++)
      stays = !rule->results[i].in_blocks ||
              !tp_spec_has_partial(tp__strategy_result(rule, mesh, &e->found[s], i));
    if (stays)
      e->found[kept++] = e->found[s];
  }
  e->n = kept;
}

static tp_status list_strategies(tp_planner *p, enumeration *e, tp_op_memory t, tp_node *node) {
  e->n = 0;
  e->current = (tp_strategy){0};
  enumerate(e, 0);
  tp_status status = keep_named(e);
  drop_equal_layouts(e);
  if (status == TP_OK)
    status = keep_pinned(e);
  keep_blocks(e);
  if (status == TP_OK)
    status = limit(p, e, t, &node->left_out);
  return status == TP_OK ? store(p, e, t, node) : status;
}

/* Returns the slot for nodes that depend on the same things as that of the op. `t` is its traffic.
 * NULL if memory runs out, or if the rule is too long for a key: `*word` is 0 then. */
static void **same_node(tp_planner *p, const enumeration *e, tp_op_memory t, int64_t *word) {
  const tp_rule *rule = e->rule;
  tp_memo_key key;
  key.n = 0;
  *word = 1;
  if (!tp__rule_word(p, rule, word) || *word == 0)
    return NULL;
  tp__memo_key_add(&key, *word);
  tp__memo_key_add(&key, rule->barred_axes | (int64_t)rule->border << 8);
  if (rule->border)
    for (int a = 0; a < TP_MAX_AXES; a++)
      tp__memo_key_add(&key, rule->border_axes[a].is_set << 8 | rule->border_axes[a].place << 4 |
                                 rule->border_axes[a].factor);
  tp__memo_key_add(&key, (int64_t)t.fused);
  tp__memo_key_add(&key, (int64_t)t.stored);
  tp__memo_key_add(&key, (int64_t)t.made);
  tp__memo_key_add(&key, (int64_t)t.copied);
  tp__memo_key_add(&key, t.is_view);
  tp__memo_key_add(&key, (int64_t)tp__op_in_blocks(rule));
  tp__memo_key_add(&key, rule->n_again);
  tp__memo_key_add(&key,
                   (int64_t)rule->ring.factors << 16 | rule->ring.operand << 8 | rule->ring.dim);
  tp__memo_key_add(&key, (int64_t)rule->rows->factors << 16 | rule->rows->results << 1 |
                             rule->rows->sends);
  tp__memo_key_add(&key, (int64_t)rule->rows->own);
  tp__memo_key_add(&key, rule->rows->groups);
  tp__memo_key_add(&key, rule->rows->n_groups);
  tp__memo_key_add(&key, (int64_t)rule->rows->whole);
  for (int f = 0; f < rule->n_factors; f++)
    tp__memo_key_add(&key, e->rows_axes[f] << 24 | e->axes_of_factor[f] << 16 |
                               e->cut_axes[f] << 8 | e->named_axes[f]);
  return tp__memo(&p->same_ops, p->problem.arena, key.words, key.n);
}

/* Fills the node of an op that is not annotated. Ops with equal strategies share the arrays of one
 * node. */
static tp_status share_node(tp_planner *p, enumeration *e, tp_op_memory t, tp_node *node) {
  int64_t word;
  factor_axes(e);
  void **slot = same_node(p, e, t, &word);
  if (!slot)
    return word == 0 ? list_strategies(p, e, t, node) : tp__plan_no_memory(p);
  if (*slot) {
    *node = *(const tp_node *)*slot;
    return TP_OK;
  }
  TP_TRY(list_strategies(p, e, t, node));
  tp_node *first = tp__arena_alloc(p->problem.arena, sizeof *first);
  if (!first)
    return tp__plan_no_memory(p);
  *first = *node;
  *slot = first;
  return TP_OK;
}

/* The same for ops that share a rule, most of which also have equal surroundings. */
static tp_status share_node_of_rule(tp_planner *p, enumeration *e, tp_op_memory t, tp_node *node) {
  const tp_rule *rule = e->rule;
  int64_t key[7 + 2 * TP_MAX_FACTORS / sizeof(int64_t)] = {(int64_t)(intptr_t)rule->first,
                                                           (int64_t)t.fused,
                                                           (int64_t)t.stored,
                                                           (int64_t)t.made,
                                                           (int64_t)t.copied,
                                                           (int64_t)tp__op_in_blocks(rule),
                                                           (int64_t)rule->n_again << 8 |
                                                               rule->barred_axes};
  memcpy(&key[7], e->named_axes, sizeof e->named_axes);
  memcpy(&key[7 + TP_MAX_FACTORS / sizeof(int64_t)], e->cut_axes, sizeof e->cut_axes);
  void **slot = tp__memo(&p->same_surroundings, p->problem.arena, key, TP_LEN(key));
  if (!slot)
    return tp__plan_no_memory(p);
  if (*slot) {
    *node = *(const tp_node *)*slot;
    return TP_OK;
  }
  tp_node *first = *slot = tp__arena_alloc(p->problem.arena, sizeof *first);
  if (!first)
    return tp__plan_no_memory(p);
  TP_TRY(share_node(p, e, t, node));
  *first = *node;
  return TP_OK;
}

tp_status tp__node_for_op(tp_planner *p, int item, tp_node *node) {
  const tp_item *read = &p->problem.graph.items[item];
  enumeration *e = p->op_scratch;
  tp_status status;
  if (!e && !(e = p->op_scratch = tp__arena_alloc(p->problem.arena, sizeof *e)))
    return tp__plan_no_memory(p);
  e->planner = p;
  e->rule = read->rule;
  collect_flow(e);
  tp_op_memory t = tp__op_memory_of(p, e->rule);
  if (!read->is_bare && tp__is_annotated(e->rule->op)) {
    factor_axes(e);
    status = list_strategies(p, e, t, node);
  } else {
    status = e->rule->first && !e->rule->ring.factors ? share_node_of_rule(p, e, t, node)
                                                      : share_node(p, e, t, node);
  }
  node->kind = TP_NODE_OP;
  node->index = item;
  return status;
}
