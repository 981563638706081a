/* Strategies: one choice per mesh axis, and the shardings that follow from them. */
#include "ir/work.h"
#include "rules/border.h"
#include "rules/regroup.h"
#include "rules/rows.h"
#include "rules/window.h"
#include "sharding/sharding.h"

#include <stdio.h>
#include <string.h>

static bool chooses(const tp_strategy *s, int axis, tp_choice_kind kind, int index) {
  return s->choices[axis].kind == kind && s->choices[axis].index == index;
}

int64_t tp__strategy_shards(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int f) {
  (void)rule;
  int64_t shards = 1;
  for (int a = 0; a < mesh->n_axes; a++)
    if (chooses(s, a, TP_CHOOSE_FACTOR, f))
      shards *= mesh->axes[a].size;
  return shards;
}

bool tp__same_choice(tp_choice a, tp_choice b) {
  return a.kind == b.kind && a.index == b.index && a.ring == b.ring && a.rows == b.rows;
}

bool tp__strategy_by_rows(const tp_mesh *mesh, const tp_strategy *s, int f) {
  for (int a = 0; a < mesh->n_axes; a++)
    if (chooses(s, a, TP_CHOOSE_FACTOR, f) && s->choices[a].rows)
      return true;
  return false;
}

int tp__strategy_ring(const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  int n = 0;
  for (int o = 0; o < mesh->n_axes; o++)
    if (s->choices[s->order[o]].ring)
      axes[n++] = s->order[o];
  return n;
}

int64_t tp__ring_parts(const tp_mesh *mesh, const tp_strategy *s) {
  int64_t parts = 1;
  for (int a = 0; a < mesh->n_axes; a++)
    if (s->choices[a].ring)
      parts *= mesh->axes[a].size;
  return parts;
}

int tp__strategy_axes(const tp_mesh *mesh, const tp_strategy *s, int f, int *axes) {
  int n = 0;
  for (int o = 0; o < mesh->n_axes; o++)
    if (chooses(s, s->order[o], TP_CHOOSE_FACTOR, f))
      axes[n++] = s->order[o];
  return n;
}

static void axes_text(const tp_mesh *mesh, int n, const int *axes, char *text, size_t size) {
  size_t used = 0;
  for (int i = 0; i < n && used < size;) {
    char axis[2 * TP_MAX_AXIS_NAME];
    int run = tp__ordered_axes(mesh, n - i, axes + i);
    tp_mesh_axis_text(mesh, axes[i], run, axis, sizeof axis);
    used += (size_t)snprintf(text + used, size - used, "%s\"%s\"", i ? " and " : "", axis);
    i += run;
  }
}

/* Returns the size of the factor of a dimension that the axes would split unevenly although that is
 * forbidden; 0: none. Axes fill the factors major to minor, and stay on the first factor that they
 * do not divide. */
static int64_t refused_part(const tp_rule *rule, const tp_mesh *mesh, tp_dim dim, int n,
                            const int *axes) {
  int next = 0;
  for (int k = 0; k < dim.n_factors && next < n; k++) {
    const tp_factor *factor = &rule->factors[dim.factors[k]];
    int64_t shards = 1;
    int first = next;
    while (next < n && (dim.n_factors == 1 || shards < factor->size))
      shards *= mesh->axes[axes[next++]].size;
    if (factor->size % shards == 0)
      continue;
    int64_t unit = 1;
    for (int m = k + 1; m < dim.n_factors; m++)
      unit *= rule->factors[dim.factors[m]].size;
    bool regroups =
        dim.n_factors == 1 || tp__can_regroup(mesh, n - first, axes + first, factor->size, unit);
    return factor->must_divide || !regroups ? factor->size : 0;
  }
  return 0;
}

bool tp__refuses_uneven(const tp_rule *rule, const tp_mesh *mesh, const tp_value_map *map,
                        tp_spec spec, char *text, size_t size) {
  for (int d = 0; map->is_tensor && d < map->rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(mesh, spec, d, axes);
    int64_t shards = tp_spec_dim_shards(mesh, spec, d),
            part = refused_part(rule, mesh, map->dims[d], n, axes);
    char names[8 * TP_MAX_AXIS_NAME] = "", of[64] = "";
    if (part == 0)
      continue;
    axes_text(mesh, n, axes, names, sizeof names);
    if (part != map->shape[d])
      snprintf(of, sizeof of, "the part of size %lld of ", (long long)part);
    snprintf(text, size, "axis %s (%lld) does not divide %sdimension %d (size %lld)", names,
             (long long)shards, of, d, (long long)map->shape[d]);
    return true;
  }
  return false;
}

int64_t tp__strategy_local(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int f) {
  int64_t size = rule->factors[f].size;
  for (int o = 0; o < mesh->n_axes; o++)
    if (chooses(s, s->order[o], TP_CHOOSE_FACTOR, f)) {
      int64_t parts = mesh->axes[s->order[o]].size;
      size = size / parts + (size % parts != 0);
    }
  return size;
}

static bool has_factor(const tp_value_map *map, int f) {
  for (int d = 0; d < map->rank; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++)
      if (map->dims[d].factors[k] == f)
        return true;
  return false;
}

/* True if the value is partial along an axis that splits this factor. Among several results, some
 * may have the factor and others not. */
static bool is_reduced(const tp_rule *rule, int f, const tp_value_map *map, bool is_result) {
  return rule->factors[f].kind == TP_REDUCTION && map->has_combiner &&
         (is_result || map->is_init) && !has_factor(map, f);
}

static bool is_ring_operand(const tp_rule *rule, const tp_value_map *map) {
  return rule->ring.factors && map == &rule->operands[rule->ring.operand];
}

/* How rows are partial along an axis that splits a factor by rows. */
static tp_combiner rows_combiner(tp_choice c) {
  return c.rows == TP_BY_PARTS ? TP_ROW_PARTS : TP_ROWS;
}

/* True if the value is partial by rows along an axis with this choice. `bit` is that of an
 * operand. */
static bool is_own_rows(const tp_rule *rule, tp_choice c, const tp_value_map *map, uint64_t bit,
                        bool is_result) {
  if (!c.rows)
    return false;
  return is_result ? rule->rows->results
                   : (rule->rows->own & bit) || (rule->rows->results && map->is_init);
}

/* True if the choice splits the dimensions of the value that have the factor. */
static bool splits_value(const tp_rule *rule, tp_choice c, const tp_value_map *map, uint64_t bit,
                         bool is_result) {
  bool is_whole = c.rows && !is_result && (rule->rows->whole & bit);
  return !is_whole && !is_own_rows(rule, c, map, bit, is_result);
}

static tp_combiner variant_combiner(const tp_rule *rule, tp_choice c, const tp_value_map *map,
                                    bool is_result) {
  const tp_variant *variant = &rule->variants[c.index];
  return is_result || map->is_init ? variant->result : variant->combiner;
}

/* Appends the axes of each factor of each dimension and those of a ring, then sets the partial
 * axes. */
static tp_spec value_spec(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                          const tp_value_map *map, uint64_t bit, bool is_result) {
  tp_spec spec = tp_spec_replicated();
  if (!map->is_tensor)
    return spec;
  for (int d = 0; d < map->rank; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++)
      for (int o = 0; o < mesh->n_axes; o++)
        if (chooses(s, s->order[o], TP_CHOOSE_FACTOR, map->dims[d].factors[k]) &&
            splits_value(rule, s->choices[s->order[o]], map, bit, is_result))
          tp_spec_append(&spec, s->order[o], d);
  int ring[TP_MAX_AXES], n_ring = is_ring_operand(rule, map) ? tp__strategy_ring(mesh, s, ring) : 0;
  for (int i = 0; i < n_ring; i++)
    tp_spec_append(&spec, ring[i], rule->ring.dim);
  for (int a = 0; a < mesh->n_axes; a++) {
    tp_choice c = s->choices[a];
    if (is_own_rows(rule, c, map, bit, is_result))
      tp_spec_set_partial(&spec, a, rows_combiner(c));
    else if (c.kind == TP_CHOOSE_FACTOR && !c.rows && is_reduced(rule, c.index, map, is_result))
      tp_spec_set_partial(&spec, a, map->combiner);
    if (c.kind == TP_CHOOSE_VARIANT && (is_result || (rule->variants[c.index].operands & bit)))
      tp_spec_set_partial(&spec, a, variant_combiner(rule, c, map, is_result));
  }
  return spec;
}

tp_spec tp__strategy_operand(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                             int i) {
  return value_spec(rule, mesh, s, &rule->operands[i], UINT64_C(1) << i, false);
}

tp_spec tp__strategy_result(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i) {
  return value_spec(rule, mesh, s, &rule->results[i], 0, true);
}

static bool dims_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                       const tp_value_map *map) {
  if (!map->is_tensor)
    return true;
  for (int d = 0; d < map->rank; d++) {
    bool major_complete = true;
    for (int k = 0; k < map->dims[d].n_factors; k++) {
      int f = map->dims[d].factors[k];
      int64_t shards = tp__strategy_shards(rule, mesh, s, f);
      if (shards > 1 && !major_complete)
        return false;
      major_complete &= shards == rule->factors[f].size;
    }
  }
  return true;
}

/* True if the traveling parts are equal in size and no other axis splits them. */
static bool ring_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  int64_t parts = tp__ring_parts(mesh, s);
  if (parts == 1)
    return true;
  const tp_value_map *map = &rule->operands[rule->ring.operand];
  for (int a = 0; a < mesh->n_axes; a++)
    if (s->choices[a].ring && !(rule->ring.factors >> s->choices[a].index & 1))
      return false;
  return tp__strategy_shards(rule, mesh, s, map->dims[rule->ring.dim].factors[0]) == 1 &&
         map->shape[rule->ring.dim] % parts == 0;
}

/* True if all axes of a factor that is split by rows do so, in the order of the mesh, so that
 * every op assigns the same rows to a device. Shards of unequal size are those of one axis. */
static bool rows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int f) {
  int axes[TP_MAX_AXES], n = tp__strategy_axes(mesh, s, f, axes);
  int64_t holders = 1;
  for (int i = 0; i < n; i++) {
    if (!s->choices[axes[i]].rows || (i > 0 && axes[i] < axes[i - 1]))
      return false;
    holders *= s->choices[axes[i]].rows == TP_BY_GROUPS ? mesh->axes[axes[i]].size : 1;
  }
  bool fits = (!rule->rows->even && n == 1) ||
              rule->factors[f].size % tp__strategy_shards(rule, mesh, s, f) == 0;
  return fits && rule->rows->n_groups % holders == 0;
}

/* True if an axis divides rows of groups, but none divides the groups: then, whole rows are split
 * into blocks instead. */
static bool has_parts_alone(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  bool has_parts = false, has_groups = false;
  for (int a = 0; a < mesh->n_axes; a++) {
    tp_choice c = s->choices[a];
    bool is_variant = c.kind == TP_CHOOSE_VARIANT;
    tp_combiner combiner = is_variant ? rule->variants[c.index].combiner : TP_SUM;
    has_parts |= c.rows == TP_BY_PARTS || combiner == TP_ROW_PARTS;
    has_groups |= c.rows == TP_BY_GROUPS || combiner == TP_ROWS ||
                  (c.kind == TP_CHOOSE_FACTOR && (rule->rows->groups >> c.index & 1));
  }
  return has_parts && !has_groups;
}

/* True if the value is partial by rows, and its rows are also split into blocks. */
static bool cuts_rows(const tp_mesh *mesh, tp_spec spec, int row_dim) {
  bool has_rows = false, is_split = false;
  for (int a = 0; a < mesh->n_axes; a++) {
    tp_place place = tp_spec_place(spec, a);
    has_rows |= tp_place_is_rows(place);
    is_split |= place.kind == TP_DIM && place.dim == row_dim;
  }
  return has_rows && is_split;
}

static bool spec_legal(const tp_mesh *mesh, tp_spec spec, int row_dim) {
  return !tp__spec_mixes_combiners(spec) && !cuts_rows(mesh, spec, row_dim);
}

/* True if no value is partial with two combiners. A linear variant passes partial values through,
 * and a combination of shards (such as an `or` of masks) may produce others. */
static bool combiners_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  int n_chosen = 0, n_variants = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    n_chosen += s->choices[a].kind != TP_CHOOSE_NONE;
    n_variants += s->choices[a].kind == TP_CHOOSE_VARIANT || s->choices[a].rows;
  }
  if (n_variants == 0 || n_chosen == 1) /* the reductions of a value have one combiner */
    return true;
  for (int i = 0; i < rule->n_operands; i++)
    if (!spec_legal(mesh, tp__strategy_operand(rule, mesh, s, i), rule->rows->masks >> i & 1))
      return false;
  for (int i = 0; i < rule->n_results; i++)
    if (!spec_legal(mesh, tp__strategy_result(rule, mesh, s, i), rule->rows->makes_mask))
      return false;
  return true;
}

bool tp__strategy_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  if (!ring_legal(rule, mesh, s) || has_parts_alone(rule, mesh, s))
    return false;
  for (int a = 0; a < mesh->n_axes; a++)
    if ((rule->barred_axes >> a & 1) && s->choices[a].kind != TP_CHOOSE_NONE)
      return false;
  if (rule->border && !tp__border_legal(rule, mesh, s))
    return false;
  for (int f = 0; f < rule->n_factors; f++) {
    int64_t shards = tp__strategy_shards(rule, mesh, s, f);
    bool uneven = rule->factors[f].size % shards != 0;
    if (shards > 1 && tp__strategy_by_rows(mesh, s, f)) {
      if (!rows_legal(rule, mesh, s, f))
        return false;
      continue;
    }
    if (shards > 1 &&
        (rule->factors[f].kind == TP_FIXED || (uneven && rule->factors[f].must_divide)))
      return false;
  }
  for (int i = 0; i < rule->n_operands; i++)
    if (!dims_legal(rule, mesh, s, &rule->operands[i]))
      return false;
  for (int i = 0; i < rule->n_results; i++)
    if (!dims_legal(rule, mesh, s, &rule->results[i]))
      return false;
  return combiners_legal(rule, mesh, s) && tp__windows_legal(rule, mesh, s) &&
         tp__regroups_legal(rule, mesh, s);
}

double tp__strategy_share(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  double share = 1;
  for (int f = 0; f < rule->n_factors; f++)
    if (tp__rows_of_one_group(rule, mesh, s, f))
      share /= (double)rule->factors[f].size;
    else if (rule->factors[f].size > 1 &&
             (!rule->factors[f].repeats_work || tp__strategy_by_rows(mesh, s, f)))
      share *= (double)tp__strategy_local(rule, mesh, s, f) / (double)rule->factors[f].size;
  return share * tp__rows_share(rule, mesh, s);
}

static uint32_t factors_of(const tp_value_map *map) {
  uint32_t bits = 0;
  for (int d = 0; d < map->rank; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++)
      bits |= UINT32_C(1) << map->dims[d].factors[k];
  return bits;
}

int64_t tp__strategy_gemm_dim(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  int64_t sizes[TP_MAX_FACTORS];
  if (rule->contraction_flops <= 0 || rule->n_operands < 2 || rule->n_results < 1)
    return 0;
  for (int f = 0; f < rule->n_factors; f++)
    sizes[f] = tp__strategy_local(rule, mesh, s, f);
  return tp__gemm_dim(rule->n_factors, sizes, factors_of(&rule->operands[0]),
                      factors_of(&rule->operands[1]), factors_of(&rule->results[0]));
}

tp_cost tp__price(const tp_pricing *pricing, tp_collective kind, int n_axes, const int *axes,
                  int64_t elements, int64_t element_size) {
  if (pricing->seen)
    pricing->seen(kind, n_axes, axes, elements, element_size, pricing->data);
  return tp_cost_collective(pricing->topology, pricing->mesh, kind, n_axes, axes, elements,
                            element_size);
}

tp_cost tp__ring_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  int axes[TP_MAX_AXES], n_axes = tp__strategy_ring(pricing->mesh, s, axes);
  tp_cost cost = 0;
  if (n_axes == 0)
    return 0;
  const tp_value_map *map = &rule->operands[rule->ring.operand];
  tp_spec part = tp__strategy_operand(rule, pricing->mesh, s, rule->ring.operand);
  int64_t elements = tp_spec_local_elements(pricing->mesh, part, map->rank, map->shape);
  for (int64_t step = 1; step < tp__ring_parts(pricing->mesh, s); step++)
    cost = tp_cost_add(cost,
                       tp__price(pricing, TP_PERMUTE, n_axes, axes, elements, map->element_size));
  return cost;
}

tp_cost tp__strategy_communication(const tp_rule *rule, const tp_pricing *pricing,
                                   const tp_strategy *s) {
  tp_cost cost = tp_cost_add(tp__window_cost(rule, pricing, s), tp__regroup_cost(rule, pricing, s));
  cost = tp_cost_add(cost, tp__ring_cost(rule, pricing, s));
  cost = tp_cost_add(cost, tp__rows_cost(rule, pricing, s));
  if (rule->family && rule->family->joining)
    cost = tp_cost_add(cost, rule->family->joining(rule, pricing, s));
  return cost;
}

/* ---- matching ---- */

/* True if the axis has the place in the value that the choice implies, regardless of order. */
static bool place_agrees(const tp_rule *rule, tp_choice c, const tp_value_map *map, uint64_t bit,
                         bool is_result, tp_place place) {
  if (!map->is_tensor || map->is_unused)
    return true;
  tp_place want = {.kind = TP_REPLICATED};
  if (c.kind == TP_CHOOSE_FACTOR) {
    for (int d = 0; d < map->rank; d++)
      for (int k = 0; k < map->dims[d].n_factors; k++)
        if (map->dims[d].factors[k] == c.index && splits_value(rule, c, map, bit, is_result))
          want = (tp_place){.kind = TP_DIM, .dim = d};
    if (is_own_rows(rule, c, map, bit, is_result))
      want = (tp_place){.kind = TP_PARTIAL, .combiner = rows_combiner(c)};
    else if (!c.rows && is_reduced(rule, c.index, map, is_result))
      want = (tp_place){.kind = TP_PARTIAL, .combiner = map->combiner};
    if (c.ring && is_ring_operand(rule, map))
      want = (tp_place){.kind = TP_DIM, .dim = rule->ring.dim};
  } else if (c.kind == TP_CHOOSE_VARIANT &&
             (is_result || (rule->variants[c.index].operands & bit))) {
    want = (tp_place){.kind = TP_PARTIAL, .combiner = variant_combiner(rule, c, map, is_result)};
  }
  return want.kind == place.kind && (want.kind != TP_DIM || want.dim == place.dim) &&
         (want.kind != TP_PARTIAL || want.combiner == place.combiner);
}

/* The kth of the choices that an axis may have: none, factors, variants, factors with a ring,
 * factors by groups of rows and by parts of them. False if there are fewer. */
static bool nth_choice(const tp_rule *rule, int k, tp_choice *c) {
  int n_plain = 1 + rule->n_factors + rule->n_variants, special = k - n_plain;
  if (k == 0)
    *c = (tp_choice){.kind = TP_CHOOSE_NONE};
  else if (k <= rule->n_factors)
    *c = (tp_choice){.kind = TP_CHOOSE_FACTOR, .index = (uint8_t)(k - 1)};
  else if (k < n_plain)
    *c = (tp_choice){.kind = TP_CHOOSE_VARIANT, .index = (uint8_t)(k - 1 - rule->n_factors)};
  else if (rule->n_factors > 0)
    *c = (tp_choice){.kind = TP_CHOOSE_FACTOR,
                     .index = (uint8_t)(special % rule->n_factors),
                     .ring = special < rule->n_factors,
                     .rows = (uint8_t)(special / rule->n_factors)};
  return special < TP_N_ROWS_KINDS * rule->n_factors;
}

static bool choice_allowed(const tp_rule *rule, tp_choice c) {
  if (c.kind != TP_CHOOSE_FACTOR)
    return true;
  if (c.rows == TP_BY_PARTS && !rule->rows->sends)
    return false;
  if (c.ring || c.rows)
    return (c.ring ? rule->ring.factors : rule->rows->factors) >> c.index & 1;
  return rule->factors[c.index].kind != TP_FIXED;
}

static bool choice_agrees(const tp_rule *rule, int axis, tp_choice c, const tp_spec *operands,
                          const tp_spec *results) {
  for (int i = 0; i < rule->n_operands; i++)
    if (!place_agrees(rule, c, &rule->operands[i], UINT64_C(1) << i, false,
                      tp_spec_place(operands[i], axis)))
      return false;
  for (int i = 0; i < rule->n_results; i++)
    if (!place_agrees(rule, c, &rule->results[i], 0, true, tp_spec_place(results[i], axis)))
      return false;
  return true;
}

static bool specs_agree(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                        const tp_spec *operands, const tp_spec *results) {
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused &&
        !tp_spec_equal(tp__strategy_operand(rule, mesh, s, i), operands[i]))
      return false;
  for (int i = 0; i < rule->n_results; i++)
    if (rule->results[i].is_tensor &&
        !tp_spec_equal(tp__strategy_result(rule, mesh, s, i), results[i]))
      return false;
  return true;
}

void tp__identity_order(tp_strategy *s) {
  for (int a = 0; a < TP_MAX_AXES; a++)
    s->order[a] = (uint8_t)a;
}

/* Orders the axes as `spec` lists them, followed by all others. */
static void order_of_spec(const tp_mesh *mesh, tp_spec spec, int rank, tp_strategy *s) {
  bool seen[TP_MAX_AXES] = {false};
  int n = 0, axes[TP_MAX_AXES];
  for (int d = 0; d < rank; d++) {
    int count = tp_spec_dim_axes(mesh, spec, d, axes);
    for (int i = 0; i < count; i++) {
      s->order[n++] = (uint8_t)axes[i];
      seen[axes[i]] = true;
    }
  }
  for (int a = 0; a < TP_MAX_AXES; a++)
    if (!seen[a])
      s->order[n++] = (uint8_t)a;
}

/* Tries mesh order, then the order of each value. */
static bool find_order(const tp_rule *rule, const tp_mesh *mesh, const tp_spec *operands,
                       const tp_spec *results, tp_strategy *s) {
  tp__identity_order(s);
  if (specs_agree(rule, mesh, s, operands, results))
    return true;
  for (int i = 0; i < rule->n_results + rule->n_operands; i++) {
    bool is_result = i < rule->n_results;
    const tp_value_map *map = is_result ? &rule->results[i] : &rule->operands[i - rule->n_results];
    if (!map->is_tensor || map->is_unused)
      continue;
    order_of_spec(mesh, is_result ? results[i] : operands[i - rule->n_results], map->rank, s);
    if (specs_agree(rule, mesh, s, operands, results))
      return true;
  }
  return false;
}

int tp__strategy_match(const tp_rule *rule, const tp_mesh *mesh, const tp_spec *operands,
                       const tp_spec *results, const tp_strategy *hint, tp_strategy *strategy) {
  tp_strategy found = {0};
  bool several = false;
  for (int a = 0; a < mesh->n_axes; a++) {
    int n = 0;
    if (hint && choice_agrees(rule, a, hint->choices[a], operands, results)) {
      found.choices[a] = hint->choices[a];
      continue;
    }
    tp_choice c;
    for (int k = 0; nth_choice(rule, k, &c); k++) {
      if (!choice_allowed(rule, c) || !choice_agrees(rule, a, c, operands, results))
        continue;
      if (n++ == 0)
        found.choices[a] = c;
    }
    if (n == 0)
      return 0;
    several |= n > 1;
  }
  if (!find_order(rule, mesh, operands, results, &found) || !tp__strategy_legal(rule, mesh, &found))
    return 0;
  *strategy = found;
  return several ? 2 : 1;
}
