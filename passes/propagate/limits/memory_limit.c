/* Solver work within a memory limit, and the messages about a limit that no plan keeps. */
#include "passes/propagate/limits/routes.h"

#include "ir/source_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the effort ---- */

/* Solver work for effort=1, about five seconds. */
#define WORK 2.5e9

int64_t tp__limited_work(double effort) { return (int64_t)(WORK * effort) + 1; }

/* ---- a gap is left ---- */

void tp__limit_remark(const tp_planner *p) {
  double gap = p->result.bound > 0
                   ? (double)(p->result.cost - p->result.bound) / (double)p->result.bound
                   : 0;
  if (p->limits.memory >= 0 && gap > p->limits.gap)
    tp__remark(p->problem.graph.func,
               "memory-limit: this plan is proven to cost at most %.3g %% more than the cheapest "
               "plan within the limit; increase effort to plan longer, or gap to stop earlier",
               100 * gap);
}

/* ---- the limit is exceeded ---- */

enum { NAMED = 3, LEAST_LIKELY = 1024 /* bytes of a limit that is meant */ };

typedef struct holder {
  int node;
  int64_t bytes; /* lower bound */
} holder;

static int by_bytes(const void *a, const void *b) {
  const holder *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->node - y->node;
}

static int64_t min_bytes(const tp_planner *p, int node, int64_t time) {
  const tp_usage *u = tp__usage(p->routes, node);
  int64_t bytes = tp__usage_at(u, time, 0);
  for (int s = 1; s < p->problem.nodes[node].n; s++) {
    int64_t with = tp__usage_at(u, time, s);
    bytes = with < bytes ? with : bytes;
  }
  return bytes;
}

/* Bytes of arguments, results and constants that a device holds in every plan, all the time. This
 * is exact, while those of other values may be overestimates. */
static int64_t min_boundary(const tp_planner *p) {
  int64_t bytes = tp__routes_fixed_bytes(p->routes);
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    if (p->problem.nodes[i].kind == TP_NODE_ARG || p->problem.nodes[i].kind == TP_NODE_RESULT)
      bytes += min_bytes(p, (int)i, 0);
  return bytes;
}

bool tp__limit_is_impossible(const tp_planner *p) { return min_boundary(p) > p->limits.memory; }

/* Lists the nodes that hold memory at `time`, largest first. */
static int find_holders(const tp_planner *p, int64_t time, holder *list) {
  int n = 0;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    int64_t bytes = min_bytes(p, (int)i, time);
    if (bytes > 0)
      list[n++] = (holder){(int)i, bytes};
  }
  qsort(list, (size_t)n, sizeof *list, by_bytes);
  return n;
}

static int print_holder(const tp_planner *p, const holder *h, size_t size, char *text) {
  const tp_node *node = &p->problem.nodes[h->node];
  char what[TP_BOUNDARY_TEXT];
  if (node->kind == TP_NODE_ARG || node->kind == TP_NODE_RESULT) {
    tp_source source = {0};
    tp__boundary_text(&source, p->problem.graph.func, node->kind == TP_NODE_ARG, node->index, what);
    tp__source_close(&source);
  } else {
    bool of_value =
        node->kind == TP_NODE_CHANGE || node->kind == TP_NODE_HELD || node->kind == TP_NODE_SPACE;
    MlirOperation op = of_value ? tp__defining_op(p->problem.values[node->index].value)
                                : p->problem.graph.items[node->index].op;
    MlirStringRef name = mlirOperationIsNull(op) ? tp__ref("a value of a loop") : tp__op_name(op);
    snprintf(what, sizeof what, "%s'%.*s'",
             node->kind == TP_NODE_CARRIED ? "carried by " : "the result of ", (int)name.length,
             name.data);
  }
  int n = snprintf(text, size, "%s %" PRId64, what, h->bytes);
  return n < (int)size ? n : (int)size - 1;
}

tp_status tp__limit_exceeded(tp_planner *p, const tp_solution *solution) {
  holder *list = tp__calloc(p->problem.n_nodes + 1, sizeof *list);
  if (!list)
    return tp__out_of_memory(p->problem.graph.func);
  char values[512] = "", found[160] = "no plan was found within the limit";
  int n = find_holders(p, solution->least_peak_time, list), length = 0;
  int64_t rest = 0;
  uint64_t fixed = (uint64_t)tp__routes_fixed_bytes(p->routes),
           counted = solution->least_peak.low + fixed;
  for (int i = 0; i < n; i++)
    if (i < NAMED) {
      length += snprintf(values + length, sizeof values - (size_t)length, "%s", i ? ", " : "");
      length += print_holder(p, &list[i], sizeof values - (size_t)length, values + length);
    } else {
      rest += list[i].bytes;
    }
  if (n > NAMED)
    snprintf(values + length, sizeof values - (size_t)length, ", %d others %" PRId64, n - NAMED,
             rest);
  if (solution->peak.high == 0 && solution->peak.low > 0)
    snprintf(found, sizeof found, "the smallest peak that was found is %" PRIu64,
             solution->peak.low + fixed);
  MlirOperation op = tp__routes_op(p->routes, solution->least_peak_time);
  tp__free(list);
  int64_t boundary = min_boundary(p);
  char known[128] = "no plan was found that fits";
  if (boundary > p->limits.memory)
    snprintf(known, sizeof known,
             "no plan fits: arguments, results and constants alone hold at least %" PRId64,
             boundary);
  else if (solution->optimal)
    snprintf(known, sizeof known,
             "no plan was found that fits (none exists by the planner's memory estimate, which may "
             "be too high)");
  char hint[80] = "";
  if (p->limits.memory < LEAST_LIKELY)
    snprintf(hint, sizeof hint, " (other units are written %" PRId64 "MB, %" PRId64 "GB)",
             p->limits.memory, p->limits.memory);
  int64_t constants;
  TP_TRY(tp__constant_bytes(p->problem.graph.func, &constants));
  char split[128] = "";
  if (constants > p->limits.memory / 8)
    snprintf(split, sizeof split,
             ", or split constants that are smaller, with a smaller shard-constants: %" PRId64
             " bytes are whole on every device",
             constants);
  bool exceeds = solution->least_peak.high > 0 || counted > (uint64_t)p->limits.memory;
  return tp__error(
      op, TP_INFEASIBLE,
      "memory-limit: a device may hold %" PRId64
      " byte%s%s, and %s; every plan counts at least %" PRIu64
      " here (%s)%s; %s; raise the limit, use more devices, or annotate fewer layouts%s",
      p->limits.memory, p->limits.memory == 1 ? "" : "s", hint, known, counted, values,
      exceeds ? "" : "; layouts small enough are mutually incompatible", found, split);
}
