/* Enumerates the shardings of a value and the choices of an op from the sharding rules. */
#include "space_choices.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CHOICES = 1 << 16, MAX_LAYOUTS = 4096, MAX_ORDERED = 4 };

/* ---- Splits that the planner offers ---- */

/* Returns true for splits that divide, and for uneven ones by whole axes where every shard can be
 * non-empty. */
static bool split_is_offered(const tp_mesh *mesh, int64_t size, unsigned axes) {
  int64_t shards = 1;
  bool whole = true;
  for (int a = 0; a < mesh->n_axes; a++) {
    if (!(axes >> a & 1))
      continue;
    shards *= mesh->axes[a].size;
    for (int b = 0; b < mesh->n_axes; b++)
      whole &= (axes >> b & 1) || mesh->axes[b].parent != mesh->axes[a].parent;
  }
  return size % shards == 0 || (whole && size > shards);
}

/* Returns true if the whole axis would fit where this choice puts a part of it. */
static bool takes_whole(const tp_rule *rule, const tp_mesh *mesh, tp_choice c, int axis) {
  return c.kind != TP_CHOOSE_FACTOR ||
         rule->factors[c.index].size % mesh->axes[axis].parent_size == 0;
}

static unsigned choice_beyond(const space *s, const tp_rule *rule, const tp_strategy *t) {
  const tp_mesh *mesh = s->mesh;
  unsigned beyond = 0;
  for (int f = 0; f < rule->n_factors; f++) {
    unsigned axes = 0;
    for (int a = 0; a < mesh->n_axes; a++)
      if (t->choices[a].kind == TP_CHOOSE_FACTOR && t->choices[a].index == f)
        axes |= 1u << a;
    if (!split_is_offered(mesh, rule->factors[f].size, axes))
      beyond |= BEYOND_SPLIT;
  }
  for (int a = 0; a < mesh->n_axes; a++)
    if (t->order[a] != a)
      beyond |= BEYOND_ORDER;
  for (int a = 1; a < mesh->n_axes && !s->mixes_sub_axes; a++) {
    tp_choice x = t->choices[a - 1], y = t->choices[a];
    bool parted = mesh->axes[a].parent == mesh->axes[a - 1].parent &&
                  (x.kind != y.kind || x.index != y.index);
    if (parted && takes_whole(rule, mesh, x, a) && takes_whole(rule, mesh, y, a))
      beyond |= BEYOND_PARTS;
  }
  return beyond;
}

static unsigned layout_beyond(const space *s, const value *v, tp_spec spec) {
  unsigned beyond = 0;
  for (int d = 0; d < v->rank; d++) {
    unsigned set = 0;
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(s->mesh, spec, d, axes);
    for (int i = 0; i < n; i++) {
      set |= 1u << axes[i];
      if (i > 0 && axes[i] < axes[i - 1])
        beyond |= BEYOND_ORDER;
    }
    if (!split_is_offered(s->mesh, v->shape[d], set))
      beyond |= BEYOND_SPLIT;
  }
  return beyond;
}

/* ---- Shardings of values ---- */

typedef struct listing {
  const space *s;
  const value *v;
  uint32_t open, combiners;
  int n;
  tp_spec specs[MAX_LAYOUTS];
} listing;

static void add_layout(listing *l, tp_spec spec) {
  for (int i = 0; i < l->n; i++)
    if (tp_spec_equal(l->specs[i], spec))
      return;
  if (l->n < MAX_LAYOUTS)
    l->specs[l->n++] = spec;
}

/* `left`: the axes that are not placed yet. Any of them may come next, so every order occurs. */
static void place_axes(listing *l, tp_spec spec, unsigned left) {
  add_layout(l, spec);
  for (int a = 0; a < l->s->mesh->n_axes; a++) {
    if (!(left >> a & 1))
      continue;
    unsigned rest = left & ~(1u << a);
    for (int d = 0; d < l->v->rank; d++) {
      tp_spec next = spec;
      if ((l->open >> d & 1) && tp_spec_append(&next, a, d) == TP_OK)
        place_axes(l, next, rest);
    }
    for (int c = 0; c < TP_N_COMBINERS; c++) {
      tp_spec next = spec;
      if ((l->combiners >> c & 1) && tp_spec_set_partial(&next, a, (tp_combiner)c) == TP_OK)
        place_axes(l, next, rest);
    }
  }
}

layouts list_layouts(const space *s, const value *v, tp_spec start, uint32_t open,
                     uint32_t combiners) {
  static listing l;
  l = (listing){.s = s, .v = v, .open = open, .combiners = combiners};
  unsigned left = 0;
  for (int a = 0; a < s->mesh->n_axes; a++)
    if (s->mesh->axes[a].size > 1 && tp_spec_place(start, a).kind == TP_REPLICATED)
      left |= 1u << a;
  place_axes(&l, start, left);
  layouts found = {.n = l.n,
                   .specs = tp__arena_array(s->arena, (size_t)l.n + 1, sizeof *found.specs),
                   .beyond = tp__arena_array(s->arena, (size_t)l.n + 1, sizeof *found.beyond)};
  for (int i = 0; i < l.n; i++) {
    found.specs[i] = l.specs[i];
    found.beyond[i] = tp_spec_equal(l.specs[i], start) ? 0 : layout_beyond(s, v, l.specs[i]);
  }
  return found;
}

/* ---- Choices of ops ---- */

static bool map_has(const tp_value_map *map, int f) {
  for (int d = 0; d < map->rank; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++)
      if (map->dims[d].factors[k] == f)
        return true;
  return false;
}

/* Returns the sharding of a value of the op: every axis is where its factor is, and partial if the
 * factor was reduced. */
static tp_spec spec_of(const space *s, const tp_rule *rule, const tp_strategy *t, int i,
                       bool is_result) {
  const tp_value_map *map = is_result ? &rule->results[i] : &rule->operands[i];
  tp_spec spec = tp_spec_replicated();
  for (int o = 0; o < s->mesh->n_axes && map->is_tensor; o++) {
    int a = t->order[o];
    tp_choice c = t->choices[a];
    const tp_variant *variant = &rule->variants[c.index];
    if (c.kind == TP_CHOOSE_VARIANT && (is_result || (variant->operands >> i & 1)))
      tp_spec_set_partial(&spec, a,
                          is_result || map->is_init ? variant->result : variant->combiner);
    if (c.kind == TP_CHOOSE_FACTOR && rule->factors[c.index].kind == TP_REDUCTION &&
        map->has_combiner && (is_result || map->is_init) && !map_has(map, c.index))
      tp_spec_set_partial(&spec, a, map->combiner);
  }
  for (int d = 0; d < map->rank && map->is_tensor; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++)
      for (int o = 0; o < s->mesh->n_axes; o++) {
        tp_choice c = t->choices[t->order[o]];
        if (c.kind == TP_CHOOSE_FACTOR && c.index == map->dims[d].factors[k])
          tp_spec_append(&spec, t->order[o], d);
      }
  for (int o = 0;
       o < s->mesh->n_axes && !is_result && rule->ring.factors && i == rule->ring.operand; o++)
    if (t->choices[t->order[o]].ring)
      tp_spec_append(&spec, t->order[o], rule->ring.dim);
  return spec;
}

static double bytes_of(const space *s, const tp_value_map *map, tp_spec spec) {
  return (double)(tp_spec_local_elements(s->mesh, spec, map->rank, map->shape) * map->element_size);
}

static bool splits(const space *s, const tp_strategy *t, int f) {
  bool found = false;
  for (int a = 0; a < s->mesh->n_axes; a++)
    found |= s->mesh->axes[a].size > 1 && t->choices[a].kind == TP_CHOOSE_FACTOR &&
             t->choices[a].index == f;
  return found;
}

/* Returns true if a dimension is split in which a slice (operand 0) covers a part of the tensor. */
static bool splits_slice(const space *s, const tp_rule *rule, const tp_strategy *t) {
  const tp_value_map *map = &rule->operands[0];
  bool found = false;
  for (int d = 0; d < map->rank; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++) {
      int f = map->dims[d].factors[k];
      found |= splits(s, t, f) && (map->dims[d].window || rule->factors[f].repeats_work);
    }
  return found;
}

/* Returns the memory traffic of operand i: all of its bytes, or those of the elements that the op
 * touches. */
static double moved(const space *s, const tp_rule *rule, const tp_strategy *t, int i) {
  const tp_value_map *map = &rule->operands[i];
  double whole = bytes_of(s, map, spec_of(s, rule, t, i, false)),
         touched = rule->points * tp__strategy_share(rule, s->mesh, t) * (double)map->element_size;
  if (!map->is_updated)
    return map->n_reads && map->n_reads * touched < whole ? map->n_reads * touched : whole;
  tp_update update = tp__update_of(rule->op, i);
  bool windows = rule->operands[0].is_tensor && splits_slice(s, rule, t);
  touched = (touched < whole ? touched : whole) * rule->traffic.n_moves;
  return update == TP_UPDATE_COPY || windows ? touched + 2 * whole
         : update == TP_UPDATE_NEW           ? touched + whole
                                             : touched;
}

tp_cost op_cost(const space *s, const tp_rule *rule, const tp_strategy *t, uint64_t fused) {
  int parts = 1; /* parts that travel in a ring: the op runs once for each */
  for (int a = 0; a < s->mesh->n_axes; a++)
    parts *= t->choices[a].ring ? (int)s->mesh->axes[a].size : 1;
  double share = tp__strategy_share(rule, s->mesh, t) / parts;
  tp_cost sent =
      tp__strategy_communication(rule, &(tp_pricing){.mesh = s->mesh, .topology = s->topology}, t);
  tp_work work = {.peak = rule->peak,
                  .contraction_flops = rule->contraction_flops * (1 + rule->n_again) * share,
                  .gemm_dim = tp__strategy_gemm_dim(rule, s->mesh, t),
                  .scalar_ops = rule->scalar_ops * share,
                  .launch = !rule->is_elementwise};
  bool is_view = rule->traffic.read & 1 && tp__slices_lasting(rule->op);
  if (rule->is_free || (is_view && !splits_slice(s, rule, t)))
    return sent;
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused &&
        !rule->operands[i].in_blocks && !(fused >> i & 1)) {
      /* read, written with padding, and read again */
      MlirOperation in_place = rule->operands[i].in_place;
      bool padded = !mlirOperationIsNull(in_place) && tp__op_is(in_place, "tensor.pad");
      work.memory_bytes += moved(s, rule, t, i);
      if (padded)
        work.memory_bytes += 2 * bytes_of(s, &rule->operands[i], spec_of(s, rule, t, i, false));
    }
  for (int i = 0; i < rule->n_results && !rule->is_elementwise && !rule->traffic.updated; i++)
    if (rule->results[i].is_tensor && !rule->results[i].in_blocks)
      work.memory_bytes +=
          (parts > 1 ? 2 : 1) * bytes_of(s, &rule->results[i], spec_of(s, rule, t, i, true));
  return tp_cost_add((tp_cost)parts * tp_cost_compute(s->topology, &work), sent);
}

typedef struct choosing {
  space *s;
  const tp_rule *rule;
  uint64_t fused;
  int n_pins;
  const bool *pinned;
  const tp_annotation *pins;
  tp_strategy now;
  int n;
  choice *found;
} choosing;

/* Returns true if the sharding of a result agrees with the op's annotation. Open dimensions may
 * have more axes. */
static bool agrees(const space *s, tp_spec spec, tp_annotation pin) {
  for (int a = 0; a < s->mesh->n_axes; a++) {
    tp_place place = tp_spec_place(spec, a);
    if (place.kind == TP_DIM && (pin.open >> place.dim & 1) &&
        tp_spec_place(pin.spec, a).kind == TP_REPLICATED)
      tp_spec_clear(&spec, a);
  }
  return tp_spec_equal(spec, pin.spec);
}

/* Returns true if a choice breaks blockwise attention: its scores are never partial sums and are
 * not communicated; keys and values are, in a ring. */
static bool breaks_blocks(const choosing *c, const choice *made) {
  const tp_rule *rule = c->rule;
  bool any = false, partial = false;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    bool is_operand = i < rule->n_operands;
    int k = is_operand ? i : i - rule->n_operands;
    if (!(is_operand ? rule->operands[k].in_blocks : rule->results[k].in_blocks))
      continue;
    any = true;
    partial |= tp_spec_has_partial(is_operand ? made->in[k] : made->out[k]);
  }
  tp_pricing pricing = {.mesh = c->s->mesh, .topology = c->s->topology};
  bool moves =
      tp__strategy_communication(rule, &pricing, &c->now) > tp__ring_cost(rule, &pricing, &c->now);
  return partial || (any && moves);
}

static void keep_choice(choosing *c) {
  const tp_rule *rule = c->rule;
  choice made = {.beyond = choice_beyond(c->s, rule, &c->now),
                 .in = tp__arena_array(c->s->arena, (size_t)rule->n_operands + 1, sizeof *made.in),
                 .out =
                     tp__arena_array(c->s->arena, (size_t)rule->n_results + 1, sizeof *made.out)};
  for (int i = 0; i < rule->n_operands; i++)
    made.in[i] = spec_of(c->s, rule, &c->now, i, false);
  for (int i = 0; i < rule->n_results; i++) {
    made.out[i] = spec_of(c->s, rule, &c->now, i, true);
    if (c->pinned[i] && !agrees(c->s, made.out[i], c->pins[i]))
      return;
  }
  if (breaks_blocks(c, &made))
    return;
  made.cost = op_cost(c->s, rule, &c->now, c->fused);
  if (c->n < MAX_CHOICES)
    c->found[c->n++] = made;
}

/* Enumerates every order of the axes; the first `done` are fixed. */
static void order_axes(choosing *c, int done) {
  int n = c->s->mesh->n_axes;
  if (done >= n || n > MAX_ORDERED) {
    if (tp__strategy_legal(c->rule, c->s->mesh, &c->now))
      keep_choice(c);
    return;
  }
  for (int i = done; i < n; i++) {
    uint8_t first = c->now.order[done];
    c->now.order[done] = c->now.order[i];
    c->now.order[i] = first;
    order_axes(c, done + 1);
    c->now.order[i] = c->now.order[done];
    c->now.order[done] = first;
  }
}

/* Returns true if the order matters: two axes are in one dimension of a value. */
static bool shares_dim(const choosing *c) {
  int n = 0;
  for (int a = 0; a < c->s->mesh->n_axes; a++)
    n += c->now.choices[a].kind == TP_CHOOSE_FACTOR;
  return n > 1;
}

static void choose_axes(choosing *c, int axis) {
  const tp_mesh *mesh = c->s->mesh;
  if (axis == mesh->n_axes) {
    order_axes(c, shares_dim(c) ? 0 : mesh->n_axes);
    return;
  }
  c->now.choices[axis] = (tp_choice){.kind = TP_CHOOSE_NONE};
  choose_axes(c, axis + 1);
  for (int f = 0; f < c->rule->n_factors && mesh->axes[axis].size > 1; f++) {
    c->now.choices[axis] = (tp_choice){.kind = TP_CHOOSE_FACTOR, .index = (uint8_t)f};
    if (c->rule->factors[f].kind != TP_FIXED)
      choose_axes(c, axis + 1);
    c->now.choices[axis].ring = true;
    if (c->rule->ring.factors >> f & 1)
      choose_axes(c, axis + 1);
    c->now.choices[axis].ring = false;
    c->now.choices[axis].rows = TP_BY_GROUPS;
    if (c->rule->rows->factors >> f & 1)
      choose_axes(c, axis + 1);
    c->now.choices[axis].rows = TP_BY_PARTS;
    if (c->rule->rows->sends && (c->rule->rows->factors >> f & 1))
      choose_axes(c, axis + 1);
  }
  for (int v = 0; v < c->rule->n_variants && mesh->axes[axis].size > 1; v++) {
    c->now.choices[axis] = (tp_choice){.kind = TP_CHOOSE_VARIANT, .index = (uint8_t)v};
    choose_axes(c, axis + 1);
  }
}

static int by_cost(const void *a, const void *b) {
  tp_cost x = ((const choice *)a)->cost, y = ((const choice *)b)->cost;
  return x < y ? -1 : x > y;
}

/* Of choices with equal shardings, keeps the cheapest, and more expensive ones with fewer `beyond`
 * reasons. */
static void drop_repeated(const tp_rule *rule, decision *d) {
  int kept = 0;
  for (int i = 0; i < d->n; i++) {
    bool seen = false;
    for (int k = 0; k < kept && !seen; k++) {
      choice *a = &d->choices[i], *b = &d->choices[k];
      seen = (b->beyond & ~a->beyond) == 0 &&
             memcmp(a->out, b->out, (size_t)d->n_out * sizeof *a->out) == 0;
      for (int o = 0; o < d->n_in && seen; o++)
        seen = rule->operands[o].is_unused || tp_spec_equal(a->in[o], b->in[o]);
    }
    if (!seen)
      d->choices[kept++] = d->choices[i];
  }
  d->n = kept;
}

MlirValue unchanged(MlirValue at) {
  MlirOperation op = tp__defining_op(at);
  while (!mlirOperationIsNull(op) && tp__op_is(op, "shard.shard")) {
    at = mlirOperationGetOperand(op, 0);
    op = tp__defining_op(at);
  }
  return at;
}

bool reads_stored(const tp_rule *rule, int i) {
  bool in_blocks = false;
  for (int k = 0; k < rule->n_operands + rule->n_results; k++)
    in_blocks |= k < rule->n_operands ? rule->operands[k].in_blocks
                                      : rule->results[k - rule->n_operands].in_blocks;
  return in_blocks && !rule->operands[i].in_blocks;
}

static uint64_t fused_operands(const space *s, const tp_rule *rule) {
  uint64_t fused = 0;
  for (int i = 0; i < rule->n_operands && rule->is_elementwise; i++) {
    int v = tp__table_get(&s->table, unchanged(rule->operands[i].value).ptr);
    if (v < 0 || s->values[v].decision < 0 || !mlirOperationIsNull(rule->operands[i].in_place) ||
        rule->operands[i].is_updated || rule->operands[i].n_reads > 0)
      continue;
    const tp_rule *producer = s->decisions[s->values[v].decision].rule;
    if (producer && producer->is_elementwise && (producer->is_free || !reads_stored(rule, i)))
      fused |= UINT64_C(1) << i;
  }
  return fused;
}

bool space_decide_op(space *s, const tp_rule *rule, decision *d) {
  static choice found[MAX_CHOICES];
  bool pinned[MAX_PINS] = {false};
  tp_annotation pins[MAX_PINS] = {0};
  *d = (decision){.at = AT_OP,
                  .op = rule->op,
                  .rule = rule,
                  .is_free = rule->is_free,
                  .n_in = rule->n_operands,
                  .n_out = rule->n_results};
  if (rule->n_results > TP_LEN(pins))
    return false;
  for (int i = 0; i < rule->n_results; i++)
    if (tp__func_graph_op(&s->graph, rule->op, i, &pins[i], &pinned[i]) != TP_OK)
      return false;
  choosing c = {.s = s,
                .rule = rule,
                .fused = fused_operands(s, rule),
                .pinned = pinned,
                .pins = pins,
                .n = 0,
                .found = found};
  for (int a = 0; a < TP_MAX_AXES; a++)
    c.now.order[a] = (uint8_t)a;
  choose_axes(&c, 0);
  d->choices = tp__arena_array(s->arena, (size_t)c.n + 1, sizeof *d->choices);
  memcpy(d->choices, found, (size_t)c.n * sizeof *found);
  d->n = c.n;
  qsort(d->choices, (size_t)d->n, sizeof *d->choices, by_cost);
  drop_repeated(rule, d);
  return c.n < MAX_CHOICES;
}

void space_decide_layout(space *s, const value *v, tp_spec start, uint32_t open, site at,
                         decision *d) {
  layouts all = list_layouts(s, v, start, open, 0);
  *d = (decision){.at = at, .n_in = 1, .n_out = 1, .n = all.n};
  d->choices = tp__arena_array(s->arena, (size_t)all.n + 1, sizeof *d->choices);
  for (int i = 0; i < all.n; i++)
    d->choices[i] = (choice){.beyond = all.beyond[i], .in = &all.specs[i], .out = &all.specs[i]};
}
