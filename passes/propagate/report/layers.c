/* Finds repeated layers: runs of equal sections that follow each other in the list of ops. Ops that
 * only make something to write into are left out, since they stand where they are first needed. */
#include "passes/propagate/report/plan_graph.h"

#include <stdlib.h>

enum { WINDOW = 6, MAX_CANDIDATES = 40, SHORTEST = 4 };

typedef struct finder {
  int n;
  const int64_t *tokens; /* by op: equal for ops that differ only in names and places */
  int *next;             /* by op: the next one at which the same WINDOW tokens stand; -1: none */
} finder;

typedef struct run {
  int from, period, count;
} run;

static bool find_next(finder *f, tp__arena *arena) {
  tp_memo last = {0};
  bool ok = true;
  for (int i = 0; i < f->n; i++)
    f->next[i] = -1;
  for (int i = f->n - WINDOW; i >= 0 && ok; i--) {
    void **slot = tp__memo(&last, arena, f->tokens + i, WINDOW);
    ok = slot != NULL;
    if (!ok)
      break;
    f->next[i] = (int)(intptr_t)*slot - 1;
    *slot = (void *)(intptr_t)(i + 1);
  }
  tp__memo_destroy(&last);
  return ok;
}

/* The longest run of equal sections that starts at `from`; its count is 0 if there is none. */
static run run_at(const finder *f, int from) {
  run best = {from, 0, 0};
  int at = from;
  for (int tries = 0; tries < MAX_CANDIDATES && (at = f->next[at]) >= 0; tries++) {
    int period = at - from, equal = 0;
    if (period < SHORTEST)
      continue;
    while (from + period + equal < f->n &&
           f->tokens[from + equal] == f->tokens[from + period + equal])
      equal++;
    int count = equal / period + 1;
    if (count > 1 && count * period > best.count * best.period)
      best = (run){from, period, count};
  }
  return best;
}

/* The first op of each section, and the last op of the run. */
static json_t *run_json(const int *ops, run r) {
  json_t *first = json_array();
  for (int i = 0; i < r.count; i++)
    json_array_append_new(first, json_integer(ops[r.from + i * r.period]));
  return json_pack("{s:o, s:i}", "first", first, "last", ops[r.from + r.count * r.period - 1]);
}

json_t *tp__layers_json(tp__arena *arena, int n, const int *ops, const int64_t *tokens) {
  finder f = {n, tokens, tp__arena_array(arena, (size_t)n + 1, sizeof *f.next)};
  json_t *list = json_array();
  if (!f.next || !find_next(&f, arena)) {
    json_decref(list);
    return NULL;
  }
  for (int i = 0; i < n;) {
    run r = run_at(&f, i);
    if (r.count > 0)
      json_array_append_new(list, run_json(ops, r));
    i += r.count > 0 ? r.period * r.count : 1;
  }
  return list;
}
