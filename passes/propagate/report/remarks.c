/* Emits remarks about large tensors: those that every device holds whole, and weights that are
 * gathered. */
#include "passes/propagate/model/memory_model.h"

#include "ir/location.h"
#include "ir/source_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REMARKS = 32 }; /* per function; further remarks are only counted */

/* A remark about one tensor, and the number of other tensors to which it applies. */
typedef struct remark {
  MlirOperation op;
  const char *before, *label, *after; /* "a weight, ", "argument 3 (w1)", ", is gathered ..." */
  int others;
  const char *next; /* location of the first of them */
} remark;

typedef struct remarks {
  const tp_planner *p;
  int64_t bytes; /* size from which on a tensor is large */
  size_t n, capacity;
  remark *items;
  tp_source source;
  bool failed; /* memory ran out */
} remarks;

/* ---- texts ---- */

static MlirOperation op_of(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return mlirOperationIsNull(op) ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
                                 : op;
}

/* "argument 3 (w1)", "result 0", "a carried value". */
static const char *value_text(tp_source *source, const tp_planner *p, const tp_planned_value *v,
                              char text[TP_BOUNDARY_TEXT]) {
  const tp_node *node = &p->problem.nodes[v->node];
  if (node->kind == TP_NODE_ARG)
    tp__boundary_text(source, p->problem.graph.func, true, node->index, text);
  else if (mlirValueIsABlockArgument(v->value))
    snprintf(text, TP_BOUNDARY_TEXT, "carried value %d", node->slot);
  else
    snprintf(text, TP_BOUNDARY_TEXT, "result %d", (int)mlirOpResultGetResultNumber(v->value));
  return text;
}

/* ---- merging equal remarks ---- */

static bool are_alike(const remark *a, const remark *b) {
  MlirStringRef x = tp__op_name(a->op), y = tp__op_name(b->op);
  return mlirStringRefEqual(x, y) && strcmp(a->before, b->before) == 0 &&
         strcmp(a->after, b->after) == 0;
}

/* Names the tensor: arguments by name, others by location. */
static const char *place_of(const remarks *r, const remark *one) {
  const char *at = tp__location_short(r->p->problem.arena, mlirOperationGetLocation(one->op));
  const char *text = strncmp(one->label, "argument", 8) == 0 || !*at
                         ? one->label
                         : tp__arena_printf(r->p->problem.arena, "at %s", at);
  return text ? text : "";
}

static void emit_remark(remarks *r, MlirOperation op, const char *before, const char *label,
                        const char *after) {
  remark one = {op, before, tp__arena_strdup(r->p->problem.arena, label), after, 0, ""};
  if (!one.label || !after) {
    r->failed = true;
    return;
  }
  for (size_t i = 0; i < r->n; i++)
    if (are_alike(&r->items[i], &one)) {
      if (r->items[i].others++ == 0)
        r->items[i].next = place_of(r, &one);
      return;
    }
  if (tp__grow((void **)&r->items, &r->capacity, r->n + 1, sizeof *r->items) == TP_OK)
    r->items[r->n++] = one;
  else
    r->failed = true;
}

static void emit(const remarks *r) {
  int left = 0;
  for (size_t i = 0; i < r->n; i++) {
    const remark *one = &r->items[i];
    if (i >= MAX_REMARKS)
      left += 1 + one->others;
    else if (one->others > 0)
      tp__remark(one->op, "%s%s%s; the same holds for %d more, the next is %s", one->before,
                 one->label, one->after, one->others, one->next);
    else
      tp__remark(one->op, "%s%s%s", one->before, one->label, one->after);
  }
  if (left > 0)
    tp__remark(r->p->problem.graph.func,
               "%d more remarks about large tensors; increase remark-bytes to leave out the "
               "smaller tensors",
               left);
}

/* ---- replicated tensors ---- */

static bool is_free(const tp_planner *p, const tp_node *node) {
  return node->kind == TP_NODE_OP && p->problem.graph.items[node->index].rule->is_free;
}

static bool is_asked_for(const tp_planner *p, const tp_planned_value *v) {
  const tp_node *node = &p->problem.nodes[v->node];
  MlirOperation op = tp__defining_op(v->value);
  if (node->kind == TP_NODE_ARG)
    return !mlirAttributeIsNull(tp__arg_attr(p->problem.graph.func, node->index, "tp.sharding"));
  return !mlirOperationIsNull(op) && !mlirAttributeIsNull(tp__get(op, "tp.sharding"));
}

static bool could_be_split(const tp_planner *p, const tp_planned_value *v) {
  const tp_node *node = &p->problem.nodes[v->node];
  for (int s = 0; s < node->n; s++)
    for (int d = 0; d < v->rank; d++)
      if (tp_spec_dim_shards(p->problem.mesh, node->out[s * node->n_out + v->output], d) > 1)
        return true;
  return false;
}

static void check_whole(remarks *r, const tp_planned_value *v) {
  const tp_planner *p = r->p;
  char what[TP_BOUNDARY_TEXT];
  int64_t bytes = tp__value_bytes(p, v, tp_spec_replicated());
  if (!tp_spec_equal(tp__plan_produced(p, v), tp_spec_replicated()) || bytes < r->bytes ||
      is_free(p, &p->problem.nodes[v->node]) || is_asked_for(p, v))
    return;
  emit_remark(
      r, op_of(v->value), "", value_text(&r->source, p, v, what),
      tp__arena_printf(p->problem.arena, " is replicated on all %lld devices, %s on each: %s",
                       (long long)tp_mesh_size(p->problem.mesh), tp__bytes_text(bytes).chars,
                       could_be_split(p, v) ? "no cheaper plan was found that splits it"
                                            : "its producer cannot split it"));
}

/* ---- gathered weights ---- */

static bool is_weight(const tp_planner *p, const tp_planned_value *v) {
  const tp_node *node = &p->problem.nodes[v->node];
  MlirAttribute role = node->kind == TP_NODE_ARG
                           ? tp__arg_attr(p->problem.graph.func, node->index, "tp.role")
                           : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(role) && mlirAttributeIsAString(role) &&
         tp__ref_is(mlirStringAttrGetValue(role), "param");
}

static void remark_gather(remarks *r, const tp_planned_value *v, const tp_use *use,
                          const tp_mesh *mesh, const tp_step *step, tp_spec from, tp_spec to) {
  const tp_planner *p = r->p;
  char what[TP_BOUNDARY_TEXT], axes[256] = "", a[256], b[256];
  size_t n = 0;
  for (int i = 0; i < step->n_axes;) {
    char name[2 * TP_MAX_AXIS_NAME];
    int run = tp__ordered_axes(mesh, step->n_axes - i, step->axes + i);
    tp_mesh_axis_text(mesh, step->axes[i], run, name, sizeof name);
    n += (size_t)snprintf(axes + n, sizeof axes - n, "%s%s", i ? "," : "", name);
    i += run;
  }
  tp_spec_text(p->problem.mesh, from, v->rank, a, sizeof a);
  tp_spec_text(p->problem.mesh, to, v->rank, b, sizeof b);
  emit_remark(r, use->op, "a weight, ", value_text(&r->source, p, v, what),
              tp__arena_printf(p->problem.arena,
                               ", is gathered over %s for operand %d: %s are sent per device to "
                               "reshard it from %s to %s",
                               axes, use->operand, tp__bytes_text(step->bytes).chars, a, b));
}

static tp_status check_gathers(remarks *r, const tp_planned_value *v) {
  const tp_planner *p = r->p;
  tp_spec from = tp__plan_produced(p, v);
  for (int u = 0; u < v->n_uses && is_weight(p, v); u++) {
    tp_spec to = tp__plan_wanted(p, &v->uses[u]);
    bool seen = tp_spec_equal(from, to) || tp__value_bytes(p, v, to) < r->bytes;
    for (int k = 0; k < u && !seen; k++)
      seen = tp_spec_equal(to, tp__plan_wanted(p, &v->uses[k]));
    tp_reshard path = {0};
    tp_status status = seen ? TP_OK
                            : tp_reshard_path(p->problem.reshards, from, to, v->rank, v->shape,
                                              v->element_size, &path);
    if (status != TP_OK)
      return tp__error(v->uses[u].op, status, "a reshard of the plan has no path");
    for (int i = 0; i < path.n_steps; i++)
      if (path.steps[i].kind == TP_STEP_ALL_GATHER)
        remark_gather(r, v, &v->uses[u], &path.mesh, &path.steps[i], from, to);
  }
  return TP_OK;
}

/* ---- entry point ---- */

tp_status tp__plan_remarks(const tp_planner *p) {
  remarks r = {.p = p, .bytes = p->problem.options->remark_bytes};
  tp_status status = TP_OK;
  if (tp_mesh_size(p->problem.mesh) == 1)
    return status;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++) {
    check_whole(&r, &p->problem.values[k]);
    status = check_gathers(&r, &p->problem.values[k]);
  }
  if (status == TP_OK && r.failed)
    status = tp__out_of_memory(p->problem.graph.func);
  if (status == TP_OK)
    emit(&r);
  tp__source_close(&r.source);
  tp__free(r.items);
  return status;
}
