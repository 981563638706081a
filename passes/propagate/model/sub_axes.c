/* Cuts axes of the mesh into sub-axes before planning, where a dimension can take a part of an axis
 * but not all of it.
 *
 * Reshapes: a dimension whose major part is smaller than an axis can still be split by parts of the
 * axis; 2 key/value heads on 4 devices split the axis 2x2. Sizes: if an axis does not divide a
 * dimension, a part of it may; 8 heads on 16 devices split the axis 8x2, 6 experts on 4 split it
 * 2x2. The remaining part splits another dimension or replicates.
 *
 * Every cut multiplies the number of strategies. So cuts for reshapes are made only along axes that
 * annotations bring there. Cuts for sizes are made only if the ops concerned take a good share of
 * the time and cannot use the whole axis: 8 key/value heads with 4 queries each need no cut at
 * 8. */
#include "passes/propagate/model/planner.h"

#include <stdlib.h>
#include <string.h>

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int64_t tp__size_cut(const tp_factor *factor, int64_t parts) {
  enum { MAX_WASTE = 8 }; /* padding of up to 1/8 is accepted */
  int64_t common = gcd(factor->size, parts);
  if (factor->kind == TP_FIXED || common == 1 || common == parts)
    return 0;
  int64_t padding = parts - factor->size % parts;
  bool bearable =
      !factor->must_divide && factor->size > parts && padding <= factor->size / MAX_WASTE;
  return bearable ? 0 : common;
}

/* The rule of the first of the ops that share it. It has the same factors, shapes and work, and
 * stays in the cache, so that of all others only this pointer is read. */
static const tp_rule *shared_rule(const tp_rule *rule) { return rule->first ? rule->first : rule; }

/* ---- reshapes ---- */

/* Cuts the axis at the boundary of the major part of the dimension, if the rest of the axis fits
 * into the minor part. */
static void cut_for_reshape(tp_mesh *mesh, const char *name, int64_t major, int64_t minor) {
  for (int a = 0; a < mesh->n_axes && mesh->n_axes < TP_MAX_AXES; a++) {
    tp_axis axis = mesh->axes[a];
    bool inside = axis.pre < major && major < axis.pre * axis.size && major % axis.pre == 0 &&
                  axis.size % (major / axis.pre) == 0;
    if (!inside || strcmp(axis.name, name) != 0 || minor % (axis.parent_size / major) != 0)
      continue;
    tp_mesh_refine(mesh, name, axis.pre, major / axis.pre);
    return;
  }
}

/* Considers only axes that annotations put on the dimension or on one that factors link with it. */
static void cut_for_dim(const tp_planner *flows, const tp_rule *rule, const tp_value_map *map,
                        int dim, tp_mesh *refined) {
  const tp_dim *d = &map->dims[dim];
  int64_t major = 1, whole = map->shape[dim];
  for (int k = 0; k + 1 < d->n_factors; k++) {
    major *= rule->factors[d->factors[k]].size;
    for (int a = 0; a < flows->problem.mesh->n_axes; a++)
      if (major > 1 && tp__flow_allows(flows, map->number, dim, a))
        cut_for_reshape(refined, flows->problem.mesh->axes[a].name, major, whole / major);
  }
}

/* True if a dimension of one of the values has several factors. */
static bool joins_factors(int n, const tp_value_map *maps) {
  for (int v = 0; v < n; v++)
    for (int d = 0; maps[v].is_tensor && d < maps[v].rank; d++)
      if (maps[v].dims[d].n_factors > 1)
        return true;
  return false;
}

static bool is_reshape(const tp_rule *rule) {
  return joins_factors(rule->n_operands, rule->operands) ||
         joins_factors(rule->n_results, rule->results);
}

/* Cuts axes for all reshapes of a program. Also adds the axes that annotations use for uneven
 * shards to `uneven`, as bits. */
static tp_status refine_for_reshapes(const tp_planner *common, const tp_func_graph *graph,
                                     tp_found_flow *found, tp_mesh *refined, unsigned *uneven) {
  tp_planner flows = *common;
  flows.problem.graph = *graph;
  flows.problem.follow = true;
  tp_status status = tp__flow_build(&flows);
  for (int i = 0; i < graph->n_items && status == TP_OK; i++) {
    const tp_rule *rule = graph->items[i].rule;
    if (graph->items[i].kind != TP_ITEM_OP || !is_reshape(shared_rule(rule)))
      continue;
    for (int v = 0; v < rule->n_operands + rule->n_results; v++) {
      const tp_value_map *map =
          v < rule->n_operands ? &rule->operands[v] : &rule->results[v - rule->n_operands];
      for (int d = 0; map->is_tensor && d < map->rank; d++)
        cut_for_dim(&flows, rule, map, d, refined);
    }
  }
  for (int a = 0; a < common->problem.mesh->n_axes && status == TP_OK; a++)
    *uneven |= (unsigned)tp__flow_is_uneven(&flows, a) << a;
  *found = (tp_found_flow){.flow = flows.problem.flow, .n_orders = flows.problem.n_orders};
  memcpy(found->orders, flows.problem.orders, sizeof found->orders);
  return status;
}

/* ---- sizes ---- */

typedef struct cut {
  int axis;
  int64_t at;   /* size of the leading part */
  tp_cost time; /* on one device, of the ops that would benefit from the cut */
} cut;

typedef struct cuts {
  int n;
  cut items[64];
  tp_cost time; /* of all ops */
} cuts;

static void add_cut(cuts *c, int axis, int64_t at, tp_cost time) {
  int i = 0;
  while (i < c->n && !(c->items[i].axis == axis && c->items[i].at == at))
    i++;
  if (i == TP_LEN(c->items))
    return;
  if (i == c->n)
    c->items[c->n++] = (cut){axis, at, 0};
  c->items[i].time = tp_cost_add(c->items[i].time, time);
}

static double tensor_bytes(const tp_value_map *map) {
  return map->is_tensor && !map->is_unused
             ? (double)tp__shape_elements(map->rank, map->shape) * (double)map->element_size
             : 0;
}

/* Time of the op on one device, without launch overhead. */
static tp_cost op_time(const tp_planner *p, const tp_item *item) {
  /* how an update is made depends on the neighbors of the op, too */
  const tp_rule *rule =
      shared_rule(item->rule)->traffic.updated ? item->rule : shared_rule(item->rule);
  tp_work work = {.peak = rule->peak,
                  .contraction_flops = rule->contraction_flops,
                  .scalar_ops = rule->scalar_ops};
  if (rule->is_free)
    return 0;
  for (int i = 0; i < rule->n_operands; i++)
    work.memory_bytes += tp__operand_traffic(
        rule, i, rule->operands[i].is_updated ? tp__update_of(rule->op, i) : TP_UPDATE_IN_PLACE,
        tensor_bytes(&rule->operands[i]), rule->points);
  for (int i = 0; i < rule->n_results && !rule->traffic.updated; i++)
    work.memory_bytes += tensor_bytes(&rule->results[i]);
  return tp__cost_times(tp_cost_compute(p->problem.topology, &work), item->trips);
}

static bool is_cut_at(const tp_mesh *mesh, int parent, int64_t at) {
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].parent == parent && mesh->axes[a].pre == at)
      return true;
  return false;
}

static bool has_factor(const tp_value_map *map, int f) {
  for (int d = 0; map->is_tensor && d < map->rank; d++)
    for (int k = 0; k < map->dims[d].n_factors; k++)
      if (map->dims[d].factors[k] == f)
        return true;
  return false;
}

/* True if every tensor that the op reads has the factor. Results always have every parallel
 * factor. */
static bool is_everywhere(const tp_rule *rule, int f) {
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused &&
        !has_factor(&rule->operands[i], f))
      return false;
  return true;
}

/* True if the op can take the whole axis along a factor that all its tensors have. Then nothing is
 * replicated, and no part of the axis does better. */
static bool is_taken_whole(const tp_rule *rule, int64_t parts) {
  for (int f = 0; f < rule->n_factors; f++)
    if (rule->factors[f].kind == TP_PARALLEL && rule->factors[f].size % parts == 0 &&
        is_everywhere(rule, f))
      return true;
  return false;
}

/* Adds the cuts of one axis that would help an op, each counted once even if several factors need
 * it. Adds none if the op can already use an existing cut or the whole axis. */
static void find_cuts_of_op(const tp_rule *rule, const tp_mesh *refined, const tp_axis *axis,
                            tp_cost time, cuts *c) {
  int64_t wanted[TP_MAX_FACTORS];
  int n = 0;
  if (is_taken_whole(rule, axis->size))
    return;
  for (int f = 0; f < rule->n_factors; f++) {
    int64_t at = tp__size_cut(&rule->factors[f], axis->size);
    bool seen = at == 0;
    if (at > 0 && is_cut_at(refined, axis->parent, at))
      return;
    for (int i = 0; i < n; i++)
      seen |= wanted[i] == at;
    if (!seen)
      wanted[n++] = at;
  }
  for (int i = 0; i < n; i++)
    add_cut(c, axis->parent, wanted[i], time);
}

static void find_cuts(const tp_planner *p, const tp_func_graph *graph, const tp_mesh *refined,
                      cuts *c) {
  for (int i = 0; i < graph->n_items; i++) {
    const tp_item *item = &graph->items[i];
    if (item->kind != TP_ITEM_OP)
      continue;
    tp_cost time = op_time(p, item);
    c->time = tp_cost_add(c->time, time);
    for (int a = 0; a < p->problem.mesh->n_axes; a++)
      find_cuts_of_op(shared_rule(item->rule), refined, &p->problem.mesh->axes[a], time, c);
  }
}

/* Sorts by time, descending; of equal times the cut with the larger leading part comes first. */
static int by_time(const void *x, const void *y) {
  const cut *a = x, *b = y;
  if (a->time != b->time)
    return a->time < b->time ? 1 : -1;
  if (a->at != b->at)
    return a->at < b->at ? 1 : -1;
  return a->axis < b->axis ? -1 : 1;
}

/* Makes the cut on which the most compute time depends; false if no cut is worth it. Skips cuts
 * that are not compatible with earlier ones. Skips `uneven` axes too: their annotations mean the
 * whole axis, and where it is cut decides which rows a device has (of 7 rows on an axis of 4). */
static bool cut_for_sizes(const tp_planner *p, size_t n, const tp_func_graph *graphs,
                          unsigned uneven, tp_mesh *refined) {
  enum { MIN_SHARE = 16 };
  cuts c = {0};
  for (size_t i = 0; i < n; i++)
    find_cuts(p, &graphs[i], refined, &c);
  qsort(c.items, (size_t)c.n, sizeof *c.items, by_time);
  for (int i = 0; i < c.n && c.items[i].time > c.time / MIN_SHARE; i++)
    if (!(uneven >> c.items[i].axis & 1) &&
        tp_mesh_refine(refined, p->problem.mesh->axes[c.items[i].axis].name, 1, c.items[i].at) ==
            TP_OK)
      return true;
  return false;
}

static int n_used_axes(const tp_mesh *mesh) {
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    n += mesh->axes[a].size > 1;
  return n;
}

tp_status tp__refine_mesh(const tp_planner *common, size_t n, const tp_func_graph *graphs,
                          tp_found_flow *flows, tp_mesh *refined) {
  /* for sizes: at most MAX_CUTS cuts, and none once there are MAX_CUT_AXES axes */
  enum { MAX_CUTS = 2, MAX_CUT_AXES = 4 };
  tp_status status = TP_OK;
  tp_mesh made = *common->problem.mesh;
  unsigned uneven = 0;
  for (size_t i = 0; i < n && status == TP_OK; i++)
    status = refine_for_reshapes(common, &graphs[i], &flows[i], &made, &uneven);
  bool cuts_more = status == TP_OK && !common->problem.follow && !common->problem.mixes_sub_axes;
  for (int i = 0; i < MAX_CUTS && cuts_more && n_used_axes(&made) < MAX_CUT_AXES; i++)
    cuts_more = cut_for_sizes(common, n, graphs, uneven, &made);
  *refined = made;
  return status;
}
