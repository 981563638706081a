/* The parts of the JSON document about the devices: what each holds and when, and what the links
 * between them cost. */
#include "passes/propagate/report/plan_graph.h"

#include "support/compare.h"

#include <stdlib.h>

const char *const tp__buffer_kinds[] = {
    [TP_LIVE_ARGUMENT] = "argument",   [TP_LIVE_RESULT] = "result",
    [TP_LIVE_VALUE] = "value",         [TP_LIVE_RESHARD_STEPS] = "steps",
    [TP_LIVE_WORKSPACE] = "workspace", [TP_LIVE_CONSTANTS] = "constants"};

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
  return (x->to > y->to) - (x->to < y->to);
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

json_t *tp__report_buffers(const tp_memory_peak *peak) {
  size_t n = peak->n_all;
  tp_live_buffer *all = tp__calloc(n + 1, sizeof *all);
  int64_t *sizes = tp__calloc(n + 1, sizeof *sizes);
  json_t *json = json_object(), *lists[N_LISTS], *bytes = json_array();
  for (int i = 0; i < N_LISTS; i++)
    json_object_set_new(json, list_names[i], lists[i] = json_array());
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
    }
  }
  bool ok = all && sizes && json_object_set_new(json, "sizes", bytes) == 0;
  tp__free(sizes);
  tp__free(all);
  if (ok)
    return json;
  json_decref(json);
  return NULL;
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
