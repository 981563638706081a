/* Reads problem files in the format of the IOPDDL contest (see docs/reference/shard-solve.md):
 *
 *   {"problem": {"name": ..., "nodes": {"intervals", "costs", "usages"}, "edges": {"nodes",
 *     "costs"}, "usage_limit"}}
 *
 * Keys come in any order, so tables are read before their required shapes are known. */
#include "rows.h"
#include "solve.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { INTERVALS, COSTS, USAGES, ENDS, TABLES, N_PARTS, MAX_STRATEGIES = 65535 };

/* ---- the keys of a file ---- */

/* The JSON objects of a problem file, and what the parser expects next. */
typedef enum object { OUTSIDE, FILE_OBJECT, PROBLEM, NODES, EDGES, N_OBJECTS } object;
typedef enum want {
  WANT_OBJECT,
  WANT_KEY,
  WANT_TEXT,
  WANT_LIMIT,
  WANT_ROWS,
  WANT_ROW,
  WANT_NUMBER,
  WANT_END
} want;

static const struct {
  object parent;
  const char *what, *keys;
} objects[N_OBJECTS] = {
    [OUTSIDE] = {OUTSIDE, "", ""},
    [FILE_OBJECT] = {OUTSIDE, "an object", "the file is {\"problem\": {...}}"},
    [PROBLEM] = {FILE_OBJECT, "the object of the problem",
                 "a problem has name, nodes, edges and usage_limit"},
    [NODES] = {PROBLEM, "the object of the nodes", "the nodes have intervals, costs and usages"},
    [EDGES] = {PROBLEM, "the object of the edges", "the edges have nodes and costs"},
};

enum {
  KEY_PROBLEM,
  KEY_NAME,
  KEY_LIMIT,
  KEY_NODES,
  KEY_EDGES,
  KEY_FIRST_PART,
  N_KEYS = KEY_FIRST_PART + N_PARTS
};

/* The path of a key ends with the key. */
static const struct {
  object in;
  const char *path, *what;
  want value;
  object inner; /* of WANT_OBJECT */
  bool optional;
} keys[N_KEYS] = {
    [KEY_PROBLEM] = {FILE_OBJECT, "problem", "the object of the problem", WANT_OBJECT, PROBLEM,
                     false},
    [KEY_NAME] = {PROBLEM, "problem.name", "a string", WANT_TEXT, OUTSIDE, true},
    [KEY_LIMIT] = {PROBLEM, "problem.usage_limit", "a whole number", WANT_LIMIT, OUTSIDE, true},
    [KEY_NODES] = {PROBLEM, "problem.nodes", "the object of the nodes", WANT_OBJECT, NODES, false},
    [KEY_EDGES] = {PROBLEM, "problem.edges", "the object of the edges", WANT_OBJECT, EDGES, false},
    [KEY_FIRST_PART + INTERVALS] = {NODES, "problem.nodes.intervals",
                                    "an array of intervals [start, end]", WANT_ROWS, OUTSIDE,
                                    false},
    [KEY_FIRST_PART + COSTS] = {NODES, "problem.nodes.costs",
                                "an array of the costs of a node's strategies", WANT_ROWS, OUTSIDE,
                                false},
    [KEY_FIRST_PART + USAGES] = {NODES, "problem.nodes.usages",
                                 "an array of the usages of a node's strategies", WANT_ROWS,
                                 OUTSIDE, false},
    [KEY_FIRST_PART + ENDS] = {EDGES, "problem.edges.nodes", "an array of pairs of nodes [a, b]",
                               WANT_ROWS, OUTSIDE, false},
    [KEY_FIRST_PART + TABLES] = {EDGES, "problem.edges.costs", "an array of tables of costs",
                                 WANT_ROWS, OUTSIDE, false},
};

static const char *name_of(int key) {
  const char *dot = strrchr(keys[key].path, '.');
  return dot ? dot + 1 : keys[key].path;
}

typedef struct file {
  stream s;
  rows parts[N_PARTS];
  bool has[N_KEYS];
  int64_t limit;
  position limit_at;
  object in; /* the innermost object */
  want next;
  int key; /* the current key of `in`; -1: none yet */
  position row_at;
} file;

/* ---- messages ---- */

static void path_of_part(int part, int64_t index, char *text, size_t size) {
  snprintf(text, size, "%s[%lld]", keys[KEY_FIRST_PART + part].path, (long long)index);
}

/* A stream_path: the value that is being read. */
static void current_path(const void *context, char *text, size_t size) {
  const file *f = context;
  const rows *r = f->key >= KEY_FIRST_PART ? &f->parts[f->key - KEY_FIRST_PART] : NULL;
  int n = snprintf(text, size, "%s", f->key >= 0 ? keys[f->key].path : "");
  if (f->next == WANT_ROW)
    snprintf(text + n, size - (size_t)n, "[%d]", r->n);
  if (f->next == WANT_NUMBER)
    snprintf(text + n, size - (size_t)n, "[%d][%lld]", r->n, (long long)r->n_scratch);
}

/* Records an error at the current token, of `length` bytes. */
#define WRONG(f, length, ...) wrong_at(f, stream_here(&(f)->s, length), __VA_ARGS__)
__attribute__((format(printf, 3, 4))) static bool wrong_at(file *f, position where,
                                                           const char *format, ...) {
  char path[96], text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  current_path(f, path, sizeof path);
  return stream_fail(&f->s, where, path, "%s", text);
}

static bool unexpected(file *f, size_t length, const char *found) {
  const char *what = f->next == WANT_NUMBER ? "a whole number"
                     : f->in == OUTSIDE     ? objects[FILE_OBJECT].what
                                            : keys[f->key].what;
  return WRONG(f, length, "%s was expected, not %s", what, found);
}

/* Records an error of a row after it was read. */
__attribute__((format(printf, 4, 5))) static bool wrong_row(file *f, int part, int index,
                                                            const char *format, ...) {
  char path[96], text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  path_of_part(part, index, path, sizeof path);
  return stream_fail(&f->s, f->parts[part].items[index].where, path, "%s", text);
}

/* ---- events of the parser; 0 ends it ---- */

static int on_null(void *context) { return unexpected(context, 4, "null"); }

static int on_boolean(void *context, int value) {
  return unexpected(context, value ? 4 : 5, value ? "true" : "false");
}

/* Reads a whole number of at most INT64_MAX. False if it is larger, or has other characters. */
static bool read_whole(const char *text, size_t length, int64_t *value) {
  enum { SAFE_DIGITS = 18 }; /* these never overflow */
  uint64_t sum = 0;
  for (size_t i = 0; i < length; i++) {
    unsigned digit = (unsigned)text[i] - '0';
    if (digit > 9 || (i >= SAFE_DIGITS && sum > ((uint64_t)INT64_MAX - digit) / 10))
      return false;
    sum = sum * 10 + digit;
  }
  *value = (int64_t)sum;
  return true;
}

static bool wrong_number(file *f, const char *text, size_t length) {
  if (text[0] == '-')
    return WRONG(f, length, "a negative number; costs, usages, times and node numbers are >= 0");
  bool is_whole = true;
  for (size_t i = 0; i < length; i++)
    is_whole &= text[i] >= '0' && text[i] <= '9';
  if (!is_whole)
    return WRONG(f, length, "a number with a fraction or an exponent; write whole numbers in full");
  return WRONG(f, length, "a number above 9223372036854775807");
}

static int on_number(void *context, const char *text, size_t length) {
  file *f = context;
  int64_t value;
  if (f->next != WANT_NUMBER && f->next != WANT_LIMIT)
    return unexpected(f, length, "a number");
  if (!read_whole(text, length, &value))
    return wrong_number(f, text, length);
  if (f->next == WANT_LIMIT) {
    f->limit = value;
    f->limit_at = stream_here(&f->s, length);
    f->next = WANT_KEY;
    return 1;
  }
  rows *r = &f->parts[f->key - KEY_FIRST_PART];
  return rows_add(r, value) || WRONG(f, length, "out of memory: a row of more than %lld numbers",
                                     (long long)r->n_scratch);
}

static int on_string(void *context, const unsigned char *text, size_t length) {
  (void)text;
  file *f = context;
  if (f->next != WANT_TEXT)
    return unexpected(f, length + 2, "a string");
  f->next = WANT_KEY;
  return 1;
}

static int on_start_map(void *context) {
  file *f = context;
  if (f->next != WANT_OBJECT)
    return unexpected(f, 1, "an object");
  f->in = f->in == OUTSIDE ? FILE_OBJECT : keys[f->key].inner;
  f->next = WANT_KEY;
  return 1;
}

static int on_key(void *context, const unsigned char *text, size_t length) {
  file *f = context;
  for (int k = 0; k < N_KEYS; k++) {
    const char *name = name_of(k);
    if (keys[k].in != f->in || strlen(name) != length || memcmp(name, text, length) != 0)
      continue;
    if (f->has[k])
      return WRONG(f, length + 2, "duplicate key \"%s\"", name);
    f->has[k] = true;
    f->key = k;
    f->next = keys[k].value;
    return 1;
  }
  return WRONG(f, length + 2, "unknown key \"%.*s\"; %s", length > 32 ? 32 : (int)length,
               (const char *)text, objects[f->in].keys);
}

/* The key of the problem that has the object as its value; -1 for the file. */
static int key_of(object inner) {
  for (int k = 0; k < N_KEYS; k++)
    if (keys[k].value == WANT_OBJECT && keys[k].inner == inner)
      return k;
  return -1;
}

static int on_end_map(void *context) {
  file *f = context;
  for (int k = 0; k < N_KEYS; k++)
    if (keys[k].in == f->in && !keys[k].optional && !f->has[k]) {
      f->key = key_of(f->in);
      return WRONG(f, 1, "the key \"%s\" is missing; %s", name_of(k), objects[f->in].keys);
    }
  f->key = key_of(f->in);
  f->in = objects[f->in].parent;
  f->next = f->in == OUTSIDE ? WANT_END : WANT_KEY;
  return 1;
}

static int on_start_array(void *context) {
  file *f = context;
  if (f->next == WANT_ROW) {
    f->row_at = stream_here(&f->s, 1);
    f->next = WANT_NUMBER;
    return f->parts[f->key - KEY_FIRST_PART].n < MAX_ROWS ||
           WRONG(f, 1, "more than %d rows", MAX_ROWS);
  }
  if (f->next != WANT_ROWS)
    return unexpected(f, 1, "an array");
  f->next = WANT_ROW;
  return 1;
}

static int on_end_array(void *context) {
  file *f = context;
  rows *r = &f->parts[f->key - KEY_FIRST_PART];
  bool ends_row = f->next == WANT_NUMBER;
  f->next = ends_row ? WANT_ROW : WANT_KEY;
  return !ends_row || rows_end(r, f->row_at) || WRONG(f, 1, "out of memory after %d rows", r->n);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* ---- the problem ---- */

static bool same_count(file *f, int a, int b) {
  if (f->parts[a].n == f->parts[b].n)
    return true;
  return stream_fail_file(&f->s, "%d %s but %d %s; their numbers must be equal", f->parts[a].n,
                          keys[KEY_FIRST_PART + a].path, f->parts[b].n,
                          keys[KEY_FIRST_PART + b].path);
}

static bool add_node(file *f, tp_problem *problem, int v) {
  const row *costs = &f->parts[COSTS].items[v], *usages = &f->parts[USAGES].items[v],
            *life = &f->parts[INTERVALS].items[v];
  if (costs->n < 1 || costs->n > MAX_STRATEGIES)
    return wrong_row(f, COSTS, v, "node %d has %lld strategies; 1 to %d are supported", v,
                     (long long)costs->n, MAX_STRATEGIES);
  if (usages->n != costs->n)
    return wrong_row(f, USAGES, v, "node %d has %lld usages but %lld costs", v,
                     (long long)usages->n, (long long)costs->n);
  if (life->n != 2)
    return wrong_row(f, INTERVALS, v,
                     "the interval of node %d has %lld numbers; it must be [start, end]", v,
                     (long long)life->n);
  if (life->values[0] > life->values[1])
    return wrong_row(f, INTERVALS, v, "node %d ends at %lld, before it starts at %lld", v,
                     (long long)life->values[1], (long long)life->values[0]);
  if (tp_problem_add_node(problem, (int)costs->n, costs->values) < 0 ||
      tp_problem_set_usage(problem, v, life->values[0], life->values[1], usages->values) != TP_OK)
    return stream_fail_file(&f->s, "out of memory at node %d", v);
  return true;
}

static bool add_edge(file *f, tp_problem *problem, int e) {
  const row *ends = &f->parts[ENDS].items[e], *table = &f->parts[TABLES].items[e];
  const rows *costs = &f->parts[COSTS];
  if (ends->n != 2)
    return wrong_row(f, ENDS, e, "edge %d joins %lld nodes; only edges of 2 are supported", e,
                     (long long)ends->n);
  for (int i = 0; i < 2; i++)
    if (ends->values[i] >= costs->n)
      return wrong_row(f, ENDS, e, "edge %d joins node %lld, but the nodes are 0 to %d", e,
                       (long long)ends->values[i], costs->n - 1);
  int a = (int)ends->values[0], b = (int)ends->values[1];
  int64_t entries = costs->items[a].n * costs->items[b].n;
  if (table->n != entries)
    return wrong_row(
        f, TABLES, e,
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
  return status == TP_OK || stream_fail_file(&f->s, "out of memory at edge %d", e);
}

static bool build(file *f, problem_file *out) {
  if (!same_count(f, COSTS, USAGES) || !same_count(f, COSTS, INTERVALS) ||
      !same_count(f, ENDS, TABLES))
    return false;
  bool has_limit = f->has[KEY_LIMIT];
  if (has_limit && f->limit == INT64_MAX)
    return stream_fail(&f->s, f->limit_at, keys[KEY_LIMIT].path,
                       "the limit must be below 9223372036854775807");
  out->n_nodes = f->parts[COSTS].n;
  out->problem = tp_problem_create();
  if (!out->problem)
    return stream_fail_file(&f->s, "out of memory");
  tp_problem_set_big(out->problem, CONTEST_INFINITY);
  if (has_limit)
    tp_problem_set_limit(out->problem, f->limit);
  out->limit = has_limit ? f->limit : -1;
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
  f = (file){.key = -1};
  *out = (problem_file){0};
  bool ok = stream_parse(&f.s, path, &callbacks, &f, current_path) && build(&f, out);
  if (!ok) {
    complain("%s", f.s.message);
    tp_problem_destroy(out->problem);
    out->problem = NULL;
  }
  for (int part = 0; part < N_PARTS; part++)
    rows_clear(&f.parts[part]);
  stream_close(&f.s);
  return ok;
}
