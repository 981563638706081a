/* The parts of the JSON document about the devices: what each holds and when, and what the links
 * between them cost. */
#include "passes/propagate/report/plan_graph.h"

#include "support/compare.h"

#include <stdlib.h>

const char *const tp__buffer_kinds[] = {
    [TP_LIVE_ARGUMENT] = "argument",   [TP_LIVE_RESULT] = "result",
    [TP_LIVE_VALUE] = "value",         [TP_LIVE_RESHARD_STEPS] = "steps",
    [TP_LIVE_WORKSPACE] = "workspace", [TP_LIVE_CONSTANTS] = "constants"};

enum { MAX_HELD = 200 };

/* ---- buffers ---- */

/* The lists by buffer. */
enum { KIND, SIZE, OF, FROM, TO, N_LISTS };

static const char *const list_names[] = {
    [KIND] = "kind", [SIZE] = "size", [OF] = "of", [FROM] = "from", [TO] = "to"};

static int compare_buffers(const void *a, const void *b) {
  const tp_live_buffer *x = a, *y = b;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->of != y->of)
    return x->of < y->of ? -1 : 1;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return (x->result > y->result) - (x->result < y->result);
}

/* Sorts the sizes, and leaves each once. Returns their number. */
static size_t distinct(size_t n, int64_t *sizes) {
  size_t kept = 0;
  if (n > 0)
    qsort(sizes, n, sizeof *sizes, tp__compare_i64s);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || sizes[kept - 1] != sizes[i])
      sizes[kept++] = sizes[i];
  return kept;
}

/* Numbers are small, since there are many: the first op is the difference to that of the buffer
 * before, the last op the difference to the first. */
static void add_buffer(json_t **lists, const tp_live_buffer *held, int before, size_t size) {
  json_int_t row[N_LISTS] = {[KIND] = held->kind,
                             [SIZE] = (json_int_t)size,
                             [OF] = held->of,
                             [FROM] = held->from - before,
                             [TO] = held->to - held->from};
  for (int i = 0; i < N_LISTS; i++)
    json_array_append_new(lists[i], json_integer(row[i]));
}

static json_t *buffers_json(const tp_memory_peak *peak) {
  size_t n = peak->n_all;
  tp_live_buffer *all = tp__calloc(n + 1, sizeof *all);
  int64_t *sizes = tp__calloc(n + 1, sizeof *sizes);
  json_t *json = json_object(), *lists[N_LISTS], *bytes = json_array(), *results = json_array();
  for (int i = 0; i < N_LISTS; i++)
    json_object_set_new(json, list_names[i], lists[i] = json_array());
  json_object_set_new(json, "sizes", bytes);
  json_object_set_new(json, "results", results);
  for (size_t i = 0; all && sizes && i < n; i++) {
    all[i] = peak->held[i];
    sizes[i] = all[i].bytes;
  }
  if (all && sizes) {
    size_t n_sizes = distinct(n, sizes);
    if (n > 0)
      qsort(all, n, sizeof *all, compare_buffers);
    for (size_t i = 0; i < n_sizes; i++)
      json_array_append_new(bytes, json_integer((json_int_t)sizes[i]));
    for (size_t i = 0; i < n; i++) {
      const int64_t *own = bsearch(&all[i].bytes, sizes, n_sizes, sizeof *sizes, tp__compare_i64s);
      add_buffer(lists, &all[i], i > 0 ? all[i - 1].from : 0, (size_t)(own - sizes));
      if (all[i].result >= 0)
        json_array_append_new(results, json_integer(all[i].result));
    }
  }
  bool ok = all && sizes && json_object_size(json) == N_LISTS + 2;
  tp__free(sizes);
  tp__free(all);
  if (ok)
    return json;
  json_decref(json);
  return NULL;
}

/* ---- the peak ---- */

static int compare_held(const void *a, const void *b) {
  const tp_live_buffer *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                            : (x->result > y->result) - (x->result < y->result);
}

static json_t *held_json(tp_report *r, const tp_planner *p, const tp_live_buffer *held) {
  json_t *json = json_object();
  bool is_result = held->result >= 0;
  tp__json_put(json, "kind", json_string(tp__buffer_kinds[held->kind]));
  tp__json_put(json, "bytes", json_integer((json_int_t)held->bytes));
  bool is_value = !mlirValueIsNull(held->value);
  MlirOperation op = is_value ? tp__defining_op(held->value) : (MlirOperation){NULL};
  tp__json_put_value(r, p, json, held->value);
  if (is_result)
    tp__json_put(
        json, "name",
        tp__json_attr_text(tp__result_attr(p->problem.graph.func, held->result, "tp.name")));
  tp__json_put(json, "result", is_result ? json_integer((json_int_t)held->result) : json_null());
  const char *change = tp__report_change(r, op);
  if (is_result || *change)
    tp__json_put(json, "description",
                 tp__report_string(is_result ? tp__report_result(r, held->result) : change));
  tp__json_put(json, "change", tp__report_string(change));
  tp__json_put_op(r, json, op, mlirOperationIsNull(op) ? p->problem.graph.func : op);
  return json;
}

json_t *tp__report_memory(tp_report *r, const tp_planner *p, const tp_memory_peak *peak) {
  json_t *json = json_object(), *values = json_array(), *by_kind = json_object();
  json_t *over_time = json_array();
  int64_t listed = 0, sums[TP_LEN(tp__buffer_kinds)] = {0};
  qsort(peak->held, peak->n, sizeof *peak->held, compare_held);
  for (size_t i = 0; i < peak->n && i < MAX_HELD; i++) {
    json_array_append_new(values, held_json(r, p, &peak->held[i]));
    listed += peak->held[i].bytes;
  }
  for (size_t i = 0; i < peak->n; i++)
    sums[peak->held[i].kind] += peak->held[i].bytes;
  for (int k = 0; k < TP_LEN(tp__buffer_kinds); k++)
    tp__json_put(by_kind, tp__buffer_kinds[k], json_integer((json_int_t)sums[k]));
  tp__json_put(json, "peak_bytes", json_integer((json_int_t)peak->bytes));
  tp__json_put(json, "limit_bytes",
               p->limits.memory < 0 ? json_null() : json_integer((json_int_t)p->limits.memory));
  tp__json_put(json, "device_bytes",
               p->problem.machine->memory_bytes > 0
                   ? json_integer((json_int_t)p->problem.machine->memory_bytes)
                   : json_null());
  tp__json_put_op(r, json, peak->op, peak->op);
  tp__json_put(json, "by_kind", by_kind);
  tp__json_put(json, "values", values);
  tp__json_put(json, "other_bytes", json_integer((json_int_t)(peak->bytes - listed)));
  for (size_t i = 0; i < peak->n_ops; i++)
    json_array_append_new(over_time, json_integer((json_int_t)(peak->over_time[i] -
                                                               (i ? peak->over_time[i - 1] : 0))));
  tp__json_put(json, "over_time", over_time);
  tp__json_put(json, "buffers", buffers_json(peak));
  return json;
}

/* ---- links ---- */

json_t *tp__report_lines(const tp_link *link) {
  json_t *list = json_array();
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++)
    json_array_append_new(
        list, json_pack("{s:s, s:f, s:f}", "kind", tp_collective_name((tp_collective)kind),
                        "latency_seconds", link->lines[kind].alpha_us * 1e-6, "bytes_per_second",
                        link->lines[kind].gbytes_per_s * 1e9));
  return list;
}
