/* Explains a collective by a chain of facts of the plan, from an annotation to the use that expects
 * another layout.
 *
 * Along one mesh axis an op does one thing: it splits a factor, passes a partial value through, or
 * does not use the axis. Two nodes that share a value which both split by the axis are neighbors.
 * The shortest path over neighbors to a pinned node tells where the axis comes from. One search per
 * axis, which starts at all pinned nodes, finds these paths for all nodes. */
#include "passes/propagate/report/plan_report.h"

#include <string.h>

/* Values at nodes: those of node n are at[first[n]] .. at[first[n + 1] - 1]. */
typedef struct incidence {
  int value, use; /* use < 0: the node produces the value */
} incidence;

/* The nearest pinned node that splits by an axis. */
typedef struct origin {
  int pinned;  /* -1: none can be reached */
  int between; /* number of nodes on the path to it */
} origin;

typedef struct causes {
  tp_report *r;
  const tp_planner *p;
  int *first;
  incidence *at;
  origin *origins[TP_MAX_AXES]; /* by axis and node; NULL: the axis was not searched */
  int *queue;                   /* of a search */
  unsigned *looked;             /* of a search, by value: dimensions whose neighbors were visited */
  int n, n_pins;
  const char *texts[TP_MAX_CAUSES];
  int pins[TP_MAX_CAUSES];
} causes;

static void append_cause(causes *c, const char *text) {
  if (c->n < TP_MAX_CAUSES)
    c->texts[c->n++] = text;
}

/* ---- nodes and their values ---- */

static tp_status list_incidences(causes *c) {
  const tp_planner *p = c->p;
  size_t n = 0;
  for (size_t k = 0; k < p->problem.n_values; k++)
    n += 1 + (size_t)p->problem.values[k].n_uses;
  c->first = tp__arena_array(p->problem.arena, p->problem.n_nodes + 2, sizeof *c->first);
  c->at = tp__arena_array(p->problem.arena, n + 1, sizeof *c->at);
  c->queue = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *c->queue);
  c->looked = tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *c->looked);
  if (!c->first || !c->at || !c->queue || !c->looked)
    return tp__out_of_memory(p->problem.graph.func);
  for (size_t k = 0; k < p->problem.n_values; k++)
    for (int u = -1; u < p->problem.values[k].n_uses; u++)
      c->first[2 + (u < 0 ? p->problem.values[k].node : p->problem.values[k].uses[u].node)]++;
  for (size_t i = 2; i < p->problem.n_nodes + 2; i++)
    c->first[i] += c->first[i - 1];
  for (size_t k = 0; k < p->problem.n_values; k++)
    for (int u = -1; u < p->problem.values[k].n_uses; u++)
      c->at[c->first[1 + (u < 0 ? p->problem.values[k].node
                                : p->problem.values[k].uses[u].node)]++] = (incidence){(int)k, u};
  return TP_OK;
}

static tp_place place_at(const causes *c, incidence i, int axis) {
  const tp_planned_value *v = &c->p->problem.values[i.value];
  return tp_spec_place(
      i.use < 0 ? tp__plan_produced(c->p, v) : tp__plan_wanted(c->p, &v->uses[i.use]), axis);
}

static bool same_place(tp_place a, tp_place b) {
  return a.kind == b.kind && (a.kind != TP_DIM || a.dim == b.dim) &&
         (a.kind != TP_PARTIAL || a.combiner == b.combiner);
}

static bool splits(const causes *c, int node, int axis) {
  for (int i = c->first[node]; i < c->first[node + 1]; i++)
    if (place_at(c, c->at[i], axis).kind == TP_DIM)
      return true;
  return false;
}

static tp_choice choice_of(const causes *c, int node, int axis) {
  const tp_node *n = &c->p->problem.nodes[node];
  return n->kind == TP_NODE_OP ? n->strategies[n->chosen].choices[axis]
                               : (tp_choice){.kind = TP_CHOOSE_NONE};
}

/* ---- texts ---- */

static const char *axis_text(const causes *c, int axis) {
  char name[2 * TP_MAX_AXIS_NAME];
  tp_mesh_axis_text(c->r->mesh, axis, 1, name, sizeof name);
  return tp__report_text(c->r, "%s", name);
}

static const char *node_text(const causes *c, int node) {
  const tp_node *n = &c->p->problem.nodes[node];
  const tp_func_graph *graph = &c->p->problem.graph;
  if (n->kind == TP_NODE_ARG)
    return tp__report_label(
        c->r, mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(graph->func, 0)),
                                   n->index));
  if (n->kind == TP_NODE_RESULT)
    return tp__report_text(c->r, "result %d", n->index);
  if (n->kind == TP_NODE_CARRIED)
    return tp__report_text(c->r, "value %d that %s carries", n->slot,
                           tp__report_op(c->r, graph->items[n->index].op));
  return tp__report_op(c->r, graph->items[n->index].op);
}

static void append_pin(causes *c, int node) {
  int pin = c->r->function.pin_of_node[node];
  append_cause(c, tp__report_text(c->r, "%s is pinned to %s", node_text(c, node),
                                  tp__report_attr(c->r, c->r->function.pins[pin].sharding)));
  if (c->n_pins < TP_MAX_CAUSES)
    c->pins[c->n_pins++] = pin;
}

/* ---- the origin of an axis ---- */

/* Queues the neighbors that have no origin yet. Those of one dimension of a value are each other's
 * neighbors, so they are visited once. */
static void visit_neighbors(causes *c, int node, int axis, int *n_queued) {
  origin *origins = c->origins[axis], through = origins[node];
  through.between += through.pinned != node;
  for (int i = c->first[node]; i < c->first[node + 1]; i++) {
    incidence here = c->at[i];
    const tp_planned_value *v = &c->p->problem.values[here.value];
    tp_place place = place_at(c, here, axis);
    if (place.kind != TP_DIM || c->looked[here.value] >> place.dim & 1)
      continue;
    c->looked[here.value] |= 1u << place.dim;
    for (int u = -1; u < v->n_uses; u++) {
      int other = u < 0 ? v->node : v->uses[u].node;
      if (origins[other].pinned >= 0 ||
          !same_place(place, place_at(c, (incidence){here.value, u}, axis)))
        continue;
      origins[other] = through;
      c->queue[(*n_queued)++] = other;
    }
  }
}

/* Finds the origins of an axis. */
static tp_status search_axis(causes *c, int axis) {
  size_t n_nodes = c->p->problem.n_nodes;
  origin *origins = tp__arena_array(c->p->problem.arena, n_nodes + 1, sizeof *origins);
  int n = 0;
  if (!origins)
    return tp__out_of_memory(c->p->problem.graph.func);
  c->origins[axis] = origins;
  memset(c->looked, 0, c->p->problem.n_values * sizeof *c->looked);
  for (int i = 0; i < (int)n_nodes; i++) {
    bool is_pinned = c->r->function.pin_of_node[i] >= 0 && splits(c, i, axis);
    origins[i] = (origin){is_pinned ? i : -1, 0};
    if (is_pinned)
      c->queue[n++] = i;
  }
  for (int k = 0; k < n; k++)
    visit_neighbors(c, c->queue[k], axis, &n);
  return TP_OK;
}

/* Appends the texts from the annotation to the node that has the axis because of it. */
static void append_origin(causes *c, int node, int axis) {
  origin from = c->origins[axis][node];
  if (from.pinned < 0) {
    append_cause(c, tp__report_text(
                        c->r,
                        "%s is split over %s by choice of the planner, no annotation requires it",
                        node_text(c, node), axis_text(c, axis)));
    return;
  }
  append_pin(c, from.pinned);
  if (from.between > 0)
    append_cause(c, tp__report_text(c->r, "%d %s %s where it is", from.between,
                                    from.between == 1 ? "op between keeps" : "ops between keep",
                                    axis_text(c, axis)));
}

/* ---- producer and consumer ---- */

/* The op that made the value partial, found from `node` back through ops that pass it on. */
static int source_of_partial(const causes *c, int node, int axis) {
  for (size_t steps = 0;
       steps < c->p->problem.n_nodes && choice_of(c, node, axis).kind == TP_CHOOSE_VARIANT;
       steps++) {
    int next = -1;
    for (int i = c->first[node]; i < c->first[node + 1] && next < 0; i++)
      if (c->at[i].use >= 0 && place_at(c, c->at[i], axis).kind == TP_PARTIAL)
        next = c->p->problem.values[c->at[i].value].node;
    if (next < 0)
      break;
    node = next;
  }
  return node;
}

static const char *partial_text(const causes *c, const char *value, tp_combiner combiner,
                                const char *axis) {
  if (combiner == TP_ROWS)
    return tp__report_text(c->r, "%s has on each device over %s the rows of its groups", value,
                           axis);
  if (combiner == TP_ROW_PARTS)
    return tp__report_text(c->r, "%s has on each device over %s a part of the rows of its groups",
                           value, axis);
  return tp__report_text(c->r, "%s is a partial %s over %s", value, tp_combiner_name(combiner),
                         axis);
}

/* Appends the reason why the value has its layout along `axis`. */
static void append_placement(causes *c, const tp_planned_value *v, tp_spec spec, int axis) {
  tp_place place = tp_spec_place(spec, axis);
  int node = v->node;
  const char *value = tp__report_label(c->r, v->value), *name = axis_text(c, axis);
  if (place.kind == TP_PARTIAL) {
    int source = source_of_partial(c, node, axis);
    tp_choice choice = choice_of(c, source, axis);
    if (choice.kind == TP_CHOOSE_FACTOR) {
      append_origin(c, source, axis);
      append_cause(c, tp__report_text(c->r,
                                      choice.rows ? "%s makes rows of groups, which %s divides"
                                                  : "%s splits over %s a dimension that it reduces",
                                      node_text(c, source), name));
    }
    append_cause(c, partial_text(c, value, place.combiner, name));
    return;
  }
  if (place.kind == TP_DIM) {
    bool pinned_itself = c->r->function.pin_of_node[node] >= 0;
    append_origin(c, node, axis);
    if (pinned_itself && c->p->problem.nodes[node].kind != TP_NODE_OP)
      return;
  }
  append_cause(
      c, tp__report_text(c->r, "%s has layout %s", value, tp__report_spec(c->r, spec, v->rank)));
}

/* True if some strategy of the consumer takes the operand as it is along this axis. */
static bool accepts_layout(const causes *c, const tp_use *use, tp_place place, int axis) {
  const tp_node *node = &c->p->problem.nodes[use->node];
  for (int s = 0; s < node->n; s++)
    if (same_place(place, tp_spec_place(node->in[s * node->n_in + use->input], axis)))
      return true;
  return false;
}

static void append_consumer(causes *c, const tp_report_communication *change, int axis) {
  const tp_planned_value *v = change->value;
  const tp_use *use = &v->uses[change->use < 0 ? 0 : change->use];
  const tp_node *node = &c->p->problem.nodes[use->node];
  const char *layout = tp__report_spec(c->r, change->to, v->rank), *who = node_text(c, use->node);
  if (change->use < 0)
    append_cause(c, tp__report_text(c->r, "one copy in layout %s serves %d uses", layout,
                                    change->n_consumers));
  else if (c->r->function.pin_of_node[use->node] >= 0 && node->kind != TP_NODE_OP)
    append_pin(c, use->node);
  else if (node->kind != TP_NODE_OP)
    append_cause(c, tp__report_text(c->r, "%s has layout %s", who, layout));
  else if (!accepts_layout(c, use, tp_spec_place(change->from, axis), axis))
    append_cause(
        c, tp__report_text(c->r,
                           "%s has no strategy that takes operand %d in this layout; it takes %s",
                           who, use->input, layout));
  else {
    if (choice_of(c, use->node, axis).kind == TP_CHOOSE_FACTOR && splits(c, use->node, axis))
      append_origin(c, use->node, axis);
    append_cause(
        c, tp__report_text(c->r, "%s takes operand %d in layout %s", who, use->input, layout));
  }
}

static void append_inside(causes *c, const tp_report_communication *change, int axis) {
  append_origin(c, change->node, axis);
  append_cause(c, tp__report_text(c->r, "%s needs data of other devices along %s",
                                  node_text(c, change->node), axis_text(c, axis)));
}

/* The axis that the collective serves: one whose place differs between source and target layout. */
static int axis_of(const tp_report_communication *change) {
  const tp_report_collective *o = &change->collectives[0];
  for (int i = 0; i < o->n_axes && change->node < 0; i++)
    if (!same_place(tp_spec_place(change->from, o->axes[i]), tp_spec_place(change->to, o->axes[i])))
      return o->axes[i];
  return o->axes[0];
}

tp_status tp__report_causes(tp_report *r, const tp_planner *p) {
  causes *c = tp__arena_alloc(p->problem.arena, sizeof *c);
  if (!c)
    return tp__out_of_memory(p->problem.graph.func);
  *c = (causes){.r = r, .p = p};
  tp_status status = list_incidences(c);
  for (int axis = 0; axis < p->problem.mesh->n_axes && status == TP_OK; axis++)
    status = search_axis(c, axis);
  for (size_t i = 0; i < r->function.n_changes && status == TP_OK; i++) {
    tp_report_communication *change = &r->function.changes[i];
    if (change->n_collectives == 0)
      continue;
    int axis = axis_of(change);
    c->n = c->n_pins = 0;
    if (change->node >= 0) {
      append_inside(c, change, axis);
    } else {
      append_placement(c, change->value, change->from, axis);
      append_consumer(c, change, axis);
    }
    change->n_causes = c->n;
    memcpy(change->causes, c->texts, (size_t)c->n * sizeof *c->texts);
    change->n_pins = c->n_pins;
    memcpy(change->pins, c->pins, (size_t)c->n_pins * sizeof *c->pins);
  }
  r->function.causes = c;
  return status;
}

int tp__report_why(tp_report *r, const tp_planned_value *v, int axis, const char **texts) {
  causes *c = r->function.causes;
  c->n = 0;
  append_placement(c, v, tp__plan_produced(c->p, v), axis);
  memcpy(texts, c->texts, (size_t)c->n * sizeof *texts);
  return c->n;
}
