/* The part of the JSON document that is as long as the program: all ops, what they read, their
 * layouts and bytes. It is in lists by op, and what many ops have in common is written once. */
#include "passes/propagate/report/plan_graph.h"
#include "passes/propagate/report/plan_text.h"

#include <string.h>

/* The lists by op. */
enum { KIND, VALUE, DESCRIPTION, AT, OPERANDS, N_LISTS };

/* Bits of the parts of a token: see add_token. */
enum { KIND_SHIFT = 32, OPERANDS_SHIFT = 12 };

static const char *const list_names[] = {[KIND] = "kind",
                                         [VALUE] = "value",
                                         [DESCRIPTION] = "description",
                                         [AT] = "at",
                                         [OPERANDS] = "operands"};

/* Different entries of a list. */
typedef struct table {
  json_t *entries;
  json_t *numbers; /* by entry as text: its index */
} table;

typedef struct builder {
  tp_report *report;
  const tp_planner *planner;
  tp_timeline timeline;
  table texts, kinds;
  json_t *lists[N_LISTS], *nested;
  tp_line_printer printer;
  int *change_of;   /* by op: the reshard of the report that it is; -1: none */
  tp_cost *seconds; /* by op: of all its executions, without collectives */
  int *depths;      /* by op: how many ops it is nested in */
  size_t operand_capacity;
  MlirValue *operands; /* of the op that is written */
  int n_tokens;        /* of ops among which layers are sought */
  int *token_ops;
  int64_t *tokens;
} builder;

static json_t *integer(int64_t value) { return json_integer((json_int_t)value); }

/* The index of an entry, which is added if there is no equal one. Takes ownership of the entry.
 * NULL when memory runs out. */
static json_t *number_in(table *t, json_t *entry) {
  tp__string text = {0};
  bool ok = entry && json_dump_callback(entry, tp__report_append, &text,
                                        JSON_COMPACT | JSON_ENCODE_ANY) == 0;
  const char *key = tp__string_text(&text);
  json_t *number = ok ? json_incref(json_object_get(t->numbers, key)) : NULL;
  if (ok && !number) {
    number = integer((int64_t)json_array_size(t->entries));
    ok = json_array_append(t->entries, entry) == 0 && json_object_set(t->numbers, key, number) == 0;
  }
  json_decref(entry);
  tp__string_destroy(&text);
  if (ok)
    return number;
  json_decref(number);
  return NULL;
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
 * function. Arguments of blocks of loops are left out. The values themselves are b->operands. NULL
 * when memory runs out. */
static json_t *operands_json(builder *b, int k) {
  const tp_timeline *t = &b->timeline;
  const tp_timeline_op *m = &t->moments[k];
  size_t end = k + 1 < (int)t->n ? (size_t)m[1].first_use : t->n_uses;
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(b->planner->problem.graph.func, 0));
  if (tp__grow((void **)&b->operands, &b->operand_capacity, end - (size_t)m->first_use + 1,
               sizeof *b->operands) != TP_OK)
    return NULL;
  json_t *list = json_array();
  for (size_t i = (size_t)m->first_use; i < end; i++) {
    int number = t->uses[i].value;
    if (number < 0)
      continue;
    MlirValue value = tp__timeline_value(t, number);
    bool is_argument =
        mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), entry);
    if (t->values[number].maker < 0 && !is_argument)
      continue;
    b->operands[json_array_size(list)] = value;
    json_array_append_new(list, integer(is_argument ? -1 - mlirBlockArgumentGetArgNumber(value)
                                                    : t->values[number].maker));
  }
  return list;
}

/* True for ops that only state a constant, an empty tensor or a layout. The page can hide them,
 * because programs often have one for each use. */
static bool is_filler(const builder *b, int k) {
  static const char *const names[] = {"arith.constant", "shard.sharding", "tensor.empty",
                                      "linalg.fill"};
  MlirOperation op = b->timeline.moments[k].op;
  bool found = false;
  for (int i = 0; i < TP_LEN(names); i++)
    found |= tp__op_is(op, names[i]);
  return found;
}

/* What an op has in common with many others. */
static json_t *kind_json(builder *b, int k, int n_operands) {
  tp_report *r = b->report;
  MlirOperation op = b->timeline.moments[k].op;
  MlirStringRef name = tp__op_name(op);
  char type[512] = "";
  if (mlirOperationGetNumResults(op) > 0)
    tp__type_text(mlirValueGetType(mlirOperationGetResult(op, 0)), sizeof type, type);
  made result = made_by(b, k);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:b, s:o}", "op",
                   tp__report_string(tp__report_text(r, "%.*s", (int)name.length, name.data)),
                   "body", tp__report_string(tp__report_body(r, op)), "type",
                   tp__report_string(type), "layout", tp__report_string(result.layout),
                   "bytes_per_device", integer(result.bytes), "modelled_seconds",
                   tp_cost_seconds(b->seconds[k]), "filler", is_filler(b, k), "line",
                   tp__line_json(&b->printer, op, n_operands, b->operands));
}

/* Ops of one kind that read as many values at the same depth are alike. */
static void add_token(builder *b, int k, json_int_t kind, size_t n_operands) {
  if (is_filler(b, k))
    return;
  b->token_ops[b->n_tokens] = k;
  b->tokens[b->n_tokens++] =
      ((int64_t)kind << KIND_SHIFT) + ((int64_t)n_operands << OPERANDS_SHIFT) + b->depths[k];
}

static const char *description_of(const builder *b, int k, MlirValue value) {
  return b->change_of[k] < 0
             ? tp__report_description(b->report, value)
             : tp__report_change_text(b->report, &b->report->function.changes[b->change_of[k]]);
}

static bool add_op(builder *b, int k) {
  tp_report *r = b->report;
  const tp_timeline_op *m = &b->timeline.moments[k];
  bool has_result = mlirOperationGetNumResults(m->op) > 0;
  MlirValue value = has_result ? mlirOperationGetResult(m->op, 0) : (MlirValue){NULL};
  json_t *operands = operands_json(b, k);
  json_t *row[N_LISTS] = {
      [KIND] = number_in(&b->kinds, kind_json(b, k, (int)json_array_size(operands))),
      [VALUE] = number_in(&b->texts, tp__report_string(tp__report_name(r, value))),
      [DESCRIPTION] = number_in(&b->texts, tp__report_string(description_of(b, k, value))),
      [AT] = number_in(&b->texts, tp__report_string(tp__report_at(r, m->op))),
      [OPERANDS] = operands,
  };
  b->depths[k] = m->parent < 0 ? 0 : b->depths[m->parent] + 1;
  add_token(b, k, json_integer_value(row[KIND]), json_array_size(operands));
  bool ok =
      m->parent < 0 || json_array_append_new(b->nested, json_pack("[i, i]", k, m->parent)) == 0;
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

/* Sets which ops are reshards of the report, and what ops take without collectives. */
static bool find_changes(builder *b) {
  const tp_function_report *f = &b->report->function;
  const tp_plan_problem *problem = &b->planner->problem;
  tp__arena *arena = problem->arena;
  size_t n = b->timeline.n + 1;
  b->change_of = tp__arena_array(arena, n, sizeof *b->change_of);
  b->seconds = tp__arena_array(arena, n, sizeof *b->seconds);
  b->depths = tp__arena_array(arena, n, sizeof *b->depths);
  b->token_ops = tp__arena_array(arena, n, sizeof *b->token_ops);
  b->tokens = tp__arena_array(arena, n, sizeof *b->tokens);
  if (!b->change_of || !b->seconds || !b->depths || !b->token_ops || !b->tokens)
    return false;
  memset(b->change_of, -1, n * sizeof *b->change_of);
  memset(b->seconds, 0, n * sizeof *b->seconds);
  for (size_t i = 0; i < f->n_changes; i++) {
    int k = tp__timeline_number(&b->timeline, f->changes[i].op);
    if (f->changes[i].node < 0)
      b->change_of[k] = (int)i;
    b->seconds[k] += f->changes[i].local;
  }
  for (size_t i = 0; i < problem->n_nodes; i++) {
    const tp_node *node = &problem->nodes[i];
    if (node->kind != TP_NODE_OP)
      continue;
    const tp_item *item = &problem->graph.items[node->index];
    b->seconds[tp__timeline_number(&b->timeline, item->op)] +=
        tp__cost_times(tp__node_compute(b->planner, node), item->trips);
  }
  return true;
}

static bool put_list(json_t *json, const char *key, json_t **list) {
  return json_object_set_new(json, key, *list = json_array()) == 0;
}

static bool put_table(json_t *json, const char *key, table *t) {
  t->numbers = json_object();
  return put_list(json, key, &t->entries) && t->numbers;
}

static bool fill(builder *b, json_t *json) {
  bool ok = put_table(json, "texts", &b->texts) && put_table(json, "kinds", &b->kinds);
  for (int i = 0; i < N_LISTS; i++)
    ok = put_list(json, list_names[i], &b->lists[i]) && ok;
  ok = put_list(json, "nested", &b->nested) && ok && find_changes(b);
  for (size_t k = 0; ok && k < b->timeline.n; k++)
    ok = add_op(b, (int)k);
  return ok && json_object_set_new(json, "collectives", collectives_json(b)) == 0 &&
         json_object_set_new(
             json, "layers",
             tp__layers_json(b->planner->problem.arena, b->n_tokens, b->token_ops, b->tokens)) == 0;
}

json_t *tp__report_graph(tp_report *r, const tp_planner *p) {
  builder b = {
      .report = r, .planner = p, .printer = tp__line_printer_create(p->problem.graph.func)};
  json_t *json = json_object();
  if (!json || tp__timeline_build(p, &b.timeline) != TP_OK || !fill(&b, json)) {
    json_decref(json);
    json = NULL;
  }
  json_decref(b.texts.numbers);
  json_decref(b.kinds.numbers);
  tp__line_printer_destroy(&b.printer);
  tp__free(b.operands);
  tp__timeline_destroy(&b.timeline);
  return json;
}
