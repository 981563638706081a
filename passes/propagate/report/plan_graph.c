/* The part of the JSON document that is as long as the program: all ops, what they read, their
 * layouts and bytes. It is in lists, one for each property, whose texts are written once. */
#include "passes/propagate/report/plan_graph.h"

#include <string.h>

/* The lists, in the order in which add_op fills them. */
enum { OP, BODY, AT, VALUE, TYPE, LAYOUT, BYTES, OPERANDS, PARENT, N_LISTS };

static const char *const list_names[] = {
    [OP] = "op",       [BODY] = "body",         [AT] = "at",
    [VALUE] = "value", [TYPE] = "type",         [LAYOUT] = "layout",
    [BYTES] = "bytes", [OPERANDS] = "operands", [PARENT] = "parent",
};

typedef struct builder {
  tp_report *report;
  const tp_planner *planner;
  tp_timeline timeline;
  json_t *texts, *numbers; /* a list of texts, and their indices by text */
  json_t *lists[N_LISTS];
  int *change_of; /* by op: the reshard of the report that it is; -1: none */
} builder;

static json_t *integer(int64_t value) { return json_integer((json_int_t)value); }

/* The index of a text; NULL when memory runs out. */
static json_t *text_number(builder *b, const char *text) {
  json_t *number = json_object_get(b->numbers, text);
  if (number)
    return json_incref(number);
  json_t *json = tp__report_string(text);
  number = integer((int64_t)json_array_size(b->texts));
  if (json_array_append_new(b->texts, json) != 0 ||
      json_object_set(b->numbers, text, number) != 0) {
    json_decref(number);
    return NULL;
  }
  return number;
}

/* Jansson takes only UTF-8 as keys, so the text is made that first. */
static json_t *text_json(builder *b, const char *text) {
  json_t *json = tp__report_string(text);
  json_t *number = json ? text_number(b, json_string_value(json)) : NULL;
  json_decref(json);
  return number;
}

/* ---- layouts ---- */

typedef struct made {
  const char *layout; /* "" if the op makes no tensor, or its layout is not planned */
  int64_t bytes;
} made;

static made made_by(builder *b, int k) {
  const tp_timeline_op *m = &b->timeline.moments[k];
  if (m->result < 0)
    return (made){"", 0};
  const tp_planned_value *v =
      tp__planned_value(b->planner, tp__timeline_value(&b->timeline, m->result));
  tp_spec spec = v ? tp__plan_produced(b->planner, v) : tp_spec_replicated();
  if (!v && b->change_of[k] >= 0) {
    const tp_report_communication *c = &b->report->function.changes[b->change_of[k]];
    v = c->value;
    spec = c->to;
  }
  return v ? (made){tp__report_spec(b->report, spec, v->rank), tp__value_bytes(b->planner, v, spec)}
           : (made){"", 0};
}

/* ---- ops ---- */

/* What an op reads: the numbers of the ops that make it, or -1 - i for argument i of the
 * function. Arguments of blocks of loops are left out. */
static json_t *operands_json(builder *b, int k) {
  const tp_timeline *t = &b->timeline;
  const tp_timeline_op *m = &t->moments[k];
  size_t end = k + 1 < (int)t->n ? (size_t)m[1].first_use : t->n_uses;
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(b->planner->problem.graph.func, 0));
  json_t *list = json_array();
  for (size_t i = (size_t)m->first_use; i < end; i++) {
    int number = t->uses[i].value;
    if (number < 0)
      continue;
    MlirValue value = tp__timeline_value(t, number);
    if (t->values[number].maker >= 0)
      json_array_append_new(list, integer(t->values[number].maker));
    else if (mlirValueIsABlockArgument(value) &&
             mlirBlockEqual(mlirBlockArgumentGetOwner(value), entry))
      json_array_append_new(list, integer(-1 - mlirBlockArgumentGetArgNumber(value)));
  }
  return list;
}

static bool add_op(builder *b, int k) {
  tp_report *r = b->report;
  const tp_timeline_op *m = &b->timeline.moments[k];
  MlirStringRef name = tp__op_name(m->op);
  bool has_result = mlirOperationGetNumResults(m->op) > 0;
  MlirValue value = has_result ? mlirOperationGetResult(m->op, 0) : (MlirValue){NULL};
  char type[512] = "";
  if (has_result)
    tp__type_text(mlirValueGetType(value), sizeof type, type);
  made result = made_by(b, k);
  json_t *row[N_LISTS] = {
      [OP] = text_json(b, tp__report_text(r, "%.*s", (int)name.length, name.data)),
      [BODY] = text_json(b, tp__report_body(r, m->op)),
      [AT] = text_json(b, tp__report_at(r, m->op)),
      [VALUE] = text_json(b, tp__report_name(r, value)),
      [TYPE] = text_json(b, type),
      [LAYOUT] = text_json(b, result.layout),
      [BYTES] = integer(result.bytes),
      [OPERANDS] = operands_json(b, k),
      [PARENT] = integer(m->parent),
  };
  bool ok = true;
  for (int i = 0; i < N_LISTS; i++)
    ok = json_array_append_new(b->lists[i], row[i]) == 0 && ok;
  return ok;
}

/* The op of each entry of `collectives`, in its order. */
static json_t *collectives_json(const builder *b) {
  const tp_function_report *f = &b->report->function;
  json_t *list = json_array();
  for (size_t i = 0; i < f->n_changes; i++)
    for (size_t k = 0; k < f->changes[i].n_collectives; k++)
      json_array_append_new(list, integer(tp__timeline_number(&b->timeline, f->changes[i].op)));
  return list;
}

static bool find_changes(builder *b) {
  const tp_function_report *f = &b->report->function;
  b->change_of = tp__calloc(b->timeline.n + 1, sizeof *b->change_of);
  if (!b->change_of)
    return false;
  memset(b->change_of, -1, (b->timeline.n + 1) * sizeof *b->change_of);
  for (size_t i = 0; i < f->n_changes; i++)
    if (f->changes[i].node < 0)
      b->change_of[tp__timeline_number(&b->timeline, f->changes[i].op)] = (int)i;
  return true;
}

static bool fill(builder *b, json_t *json) {
  bool ok = json_object_set_new(json, "texts", b->texts = json_array()) == 0;
  for (int i = 0; i < N_LISTS; i++)
    ok = json_object_set_new(json, list_names[i], b->lists[i] = json_array()) == 0 && ok;
  ok = (b->numbers = json_object()) && ok && find_changes(b);
  for (size_t k = 0; ok && k < b->timeline.n; k++)
    ok = add_op(b, (int)k);
  return ok && json_object_set_new(json, "collectives", collectives_json(b)) == 0;
}

json_t *tp__report_graph(tp_report *r, const tp_planner *p) {
  builder b = {.report = r, .planner = p};
  json_t *json = json_object();
  if (!json || tp__timeline_build(p, &b.timeline) != TP_OK || !fill(&b, json)) {
    json_decref(json);
    json = NULL;
  }
  json_decref(b.numbers);
  tp__free(b.change_of);
  tp__timeline_destroy(&b.timeline);
  return json;
}
