/* Reads problem files in the format of the IOPDDL contest (see docs/reference/shard-solve.md):
 *
 *   {"problem": {"name": ..., "nodes": {"intervals", "costs", "usages"}, "edges": {"nodes",
 *     "costs"}, "usage_limit"}}
 *
 * Keys come in any order, so tables are read before their required shapes are known. */
#include "rows.h"
#include "solve.h"

#include <stdio.h>
#include <string.h>

enum { INTERVALS, COSTS, USAGES, ENDS, TABLES, N_PARTS, MAX_STRATEGIES = 65535 };

typedef struct file {
  pull j;
  rows parts[N_PARTS];
  bool has[N_PARTS];
  int64_t limit;
  bool has_nodes, has_edges, has_limit, has_name, has_problem;
  pull_position limit_at;
} file;

static const struct {
  const char *key, *what;
} parts[N_PARTS] = {
    [INTERVALS] = {"intervals", "an array of intervals [start, end]"},
    [COSTS] = {"costs", "an array of the costs of a node's strategies"},
    [USAGES] = {"usages", "an array of the usages of a node's strategies"},
    [ENDS] = {"nodes", "an array of pairs of nodes [a, b]"},
    [TABLES] = {"costs", "an array of tables of costs"},
};

/* Reads the next key of an object and its ':'; false at the end of the object and on errors. */
static bool next_key(pull *j, bool *first, char key[32], pull_position *where) {
  if (!pull_more(j, '}', first))
    return false;
  pull_peek(j);
  *where = pull_here(j);
  return pull_string(j, key, 32) && pull_take(j, ':', "':' after a key");
}

static bool once(pull *j, bool *seen, const char *key, pull_position where) {
  if (*seen)
    return pull_fail(j, where, "duplicate key \"%s\"", key);
  *seen = true;
  return true;
}

/* Reads the object "nodes" or "edges": the parts [from, to). */
static bool read_parts(file *f, const char *name, int from, int to) {
  char key[32];
  pull_position where;
  if (!pull_take(&f->j, '{', name))
    return false;
  for (bool first = true; next_key(&f->j, &first, key, &where);) {
    int part = from;
    while (part < to && strcmp(key, parts[part].key) != 0)
      part++;
    if (part == to)
      return pull_fail(&f->j, where, "unknown key \"%s\" in %s", key, name);
    if (!once(&f->j, &f->has[part], key, where) ||
        !rows_read(&f->parts[part], &f->j, parts[part].what))
      return false;
  }
  return !f->j.failed;
}

static bool read_problem(file *f) {
  pull *j = &f->j;
  char key[32], name[8];
  pull_position where;
  if (!pull_take(j, '{', "the object of the problem"))
    return false;
  for (bool first = true; next_key(j, &first, key, &where);) {
    bool ok;
    if (strcmp(key, "nodes") == 0)
      ok = once(j, &f->has_nodes, key, where) &&
           read_parts(f, "the object of the nodes", INTERVALS, USAGES + 1);
    else if (strcmp(key, "edges") == 0)
      ok = once(j, &f->has_edges, key, where) &&
           read_parts(f, "the object of the edges", ENDS, TABLES + 1);
    else if (strcmp(key, "name") == 0)
      ok = once(j, &f->has_name, key, where) && pull_string(j, name, sizeof name);
    else if (strcmp(key, "usage_limit") == 0) {
      f->limit_at = where;
      ok = once(j, &f->has_limit, key, where) && pull_whole(j, &f->limit);
    } else
      ok = pull_fail(j, where,
                     "unknown key \"%s\"; a problem has name, nodes, edges and usage_limit", key);
    if (!ok)
      return false;
  }
  return !j->failed;
}

static bool read_file(file *f) {
  pull *j = &f->j;
  char key[32];
  pull_position where;
  if (!pull_take(j, '{', "an object"))
    return false;
  for (bool first = true; next_key(j, &first, key, &where);) {
    if (strcmp(key, "problem") != 0)
      return pull_fail(j, where, "unknown key \"%s\"; the file is {\"problem\": {...}}", key);
    if (!once(j, &f->has_problem, key, where) || !read_problem(f))
      return false;
  }
  if (!pull_finish(j))
    return false;
  if (!f->has_problem)
    return pull_fail_file(j, "the key \"problem\" is missing");
  for (int part = 0; part < N_PARTS; part++)
    if (!f->has[part] && (part < ENDS || f->has_edges))
      return pull_fail_file(j, "the %s have no \"%s\"", part < ENDS ? "nodes" : "edges",
                            parts[part].key);
  return true;
}

static bool same_count(file *f, int a, int b) {
  if (f->parts[a].n == f->parts[b].n)
    return true;
  return pull_fail_file(&f->j, "%d \"%s\" but %d \"%s\" of %s; their numbers must be equal",
                        f->parts[a].n, parts[a].key, f->parts[b].n, parts[b].key,
                        a < ENDS ? "nodes" : "edges");
}

static bool add_node(file *f, tp_problem *problem, int v) {
  const row *costs = &f->parts[COSTS].items[v], *usages = &f->parts[USAGES].items[v],
            *life = &f->parts[INTERVALS].items[v];
  if (costs->n < 1 || costs->n > MAX_STRATEGIES)
    return pull_fail(&f->j, costs->where, "node %d has %lld strategies; 1 to %d are supported", v,
                     (long long)costs->n, MAX_STRATEGIES);
  if (usages->n != costs->n)
    return pull_fail(&f->j, usages->where, "node %d has %lld usages but %lld costs", v,
                     (long long)usages->n, (long long)costs->n);
  if (life->n != 2)
    return pull_fail(&f->j, life->where,
                     "the interval of node %d has %lld numbers; it must be [start, end]", v,
                     (long long)life->n);
  if (life->values[0] > life->values[1])
    return pull_fail(&f->j, life->where, "node %d ends at %lld, before it starts at %lld", v,
                     (long long)life->values[1], (long long)life->values[0]);
  if (tp_problem_add_node(problem, (int)costs->n, costs->values) < 0 ||
      tp_problem_set_usage(problem, v, life->values[0], life->values[1], usages->values) != TP_OK)
    return pull_fail_file(&f->j, "out of memory at node %d", v);
  return true;
}

static bool add_edge(file *f, tp_problem *problem, int e) {
  pull *j = &f->j;
  const row *ends = &f->parts[ENDS].items[e], *table = &f->parts[TABLES].items[e];
  const rows *costs = &f->parts[COSTS];
  if (ends->n != 2)
    return pull_fail(j, ends->where, "edge %d joins %lld nodes; only edges of 2 are supported", e,
                     (long long)ends->n);
  for (int i = 0; i < 2; i++)
    if (ends->values[i] >= costs->n)
      return pull_fail(j, ends->where, "edge %d joins node %lld, but the nodes are 0 to %d", e,
                       (long long)ends->values[i], costs->n - 1);
  int a = (int)ends->values[0], b = (int)ends->values[1];
  int64_t entries = costs->items[a].n * costs->items[b].n;
  if (table->n != entries)
    return pull_fail(
        j, table->where,
        "the table of edge %d has %lld entries, but its nodes have %lld x %lld strategies", e,
        (long long)table->n, (long long)costs->items[a].n, (long long)costs->items[b].n);
  tp_status status;
  if (a == b) {
    /* An edge from a node to itself is a cost of its strategies. It becomes an edge to an extra
     * node with one strategy. */
    static int64_t diagonal[MAX_STRATEGIES];
    int64_t zero = 0;
    for (int64_t x = 0; x < costs->items[a].n; x++)
      diagonal[x] = table->values[x * costs->items[a].n + x];
    b = tp_problem_add_node(problem, 1, &zero);
    status = b < 0 ? TP_NO_MEMORY : tp_problem_add_edge(problem, a, b, diagonal);
  } else {
    status = TP_INVALID_ARGUMENT;
    if (table->same_as != e) /* shares a table if the shapes are equal too */
      status = tp_problem_repeat_edge(problem, a, b, table->same_as);
    if (status == TP_INVALID_ARGUMENT)
      status = tp_problem_add_edge(problem, a, b, table->values);
  }
  return status == TP_OK || pull_fail_file(j, "out of memory at edge %d", e);
}

static bool build(file *f, problem_file *out) {
  if (!same_count(f, COSTS, USAGES) || !same_count(f, COSTS, INTERVALS) ||
      !same_count(f, ENDS, TABLES))
    return false;
  if (f->has_limit && f->limit == INT64_MAX)
    return pull_fail(&f->j, f->limit_at, "the limit must be below 9223372036854775807");
  out->n_nodes = f->parts[COSTS].n;
  out->problem = tp_problem_create();
  if (!out->problem)
    return pull_fail_file(&f->j, "out of memory");
  tp_problem_set_big(out->problem, CONTEST_INFINITY);
  if (f->has_limit)
    tp_problem_set_limit(out->problem, f->limit);
  out->limit = f->has_limit ? f->limit : -1;
  for (int v = 0; v < out->n_nodes; v++)
    if (!add_node(f, out->problem, v))
      return false;
  for (int e = 0; e < f->parts[ENDS].n; e++)
    if (!add_edge(f, out->problem, e))
      return false;
  out->n_edges = f->parts[ENDS].n;
  return true;
}

bool problem_read(const char *path, problem_file *out) {
  static file f; /* static, because it is large for a stack */
  f = (file){0};
  *out = (problem_file){0};
  bool ok = pull_open(&f.j, path) && read_file(&f) && build(&f, out);
  if (!ok) {
    complain("%s", f.j.message);
    tp_problem_destroy(out->problem);
    out->problem = NULL;
  }
  for (int part = 0; part < N_PARTS; part++)
    rows_clear(&f.parts[part]);
  pull_close(&f.j);
  return ok;
}
