/* Prints and writes the result of a solve. */
#include "solve.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static bool is_less(tp_exact_cost a, tp_exact_cost b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static const char *status_of(const tp_solution *s) {
  if (s->choices)
    return s->optimal ? "optimal" : "feasible";
  return s->optimal ? "infeasible" : "not found";
}

/* Returns (cost - bound) / bound; negative if it is undefined. */
static double gap_of(const tp_solution *s) {
  double cost = tp_exact_cost_value(s->exact_cost), bound = tp_exact_cost_value(s->exact_bound);
  if (!s->choices)
    return -1;
  if (!is_less(s->exact_bound, s->exact_cost))
    return 0;
  return bound > 0 ? (cost - bound) / bound : -1;
}

static void print_assignment(FILE *file, const problem_file *problem, const tp_solution *s) {
  fputc('[', file);
  for (int v = 0; s->choices && v < problem->n_nodes; v++)
    fprintf(file, v ? ", %d" : "%d", s->choices[v]);
  fputs("]\n", file);
}

/* Explains why no assignment was found: a time at which even the least usage exceeds the limit, or
 * how close the best attempt came. */
static void print_excess(const problem_file *problem, const tp_solution *s) {
  char least[40], peak[40];
  tp_exact_cost limit = {0, (uint64_t)problem->limit};
  if (problem->limit < 0)
    return;
  tp_exact_cost_print(s->least_peak, least);
  tp_exact_cost_print(s->peak, peak);
  if (is_less(limit, s->least_peak))
    printf("memory     at time %lld every assignment uses %s or more; the limit is %lld\n",
           (long long)s->least_peak_time, least, (long long)problem->limit);
  else if (is_less((tp_exact_cost){0, 0}, s->peak))
    printf("memory     the smallest usage found is %s, at time %lld; the limit is %lld, and no "
           "assignment uses less than %s\n",
           peak, (long long)s->peak_time, (long long)problem->limit, least);
}

static void print_text(const options *o, const problem_file *problem, const tp_solution *s,
                       double read_seconds) {
  char cost[40], bound[40], peak[40];
  tp_exact_cost_print(s->exact_cost, cost);
  tp_exact_cost_print(s->exact_bound, bound);
  printf("problem    %s: %d nodes, %d edges", o->file, problem->n_nodes, problem->n_edges);
  if (problem->limit >= 0)
    printf(", memory limit %lld", (long long)problem->limit);
  printf("\nstatus     %s\n", status_of(s));
  if (s->choices)
    printf("cost       %s\n", cost);
  if (s->choices || !s->optimal)
    printf("bound      %s\n", bound);
  if (gap_of(s) >= 0)
    printf("gap        %.6f %%\n", 100 * gap_of(s));
  if (s->choices && problem->limit >= 0) {
    tp_exact_cost_print(s->peak, peak);
    printf("memory     %s at time %lld\n", peak, (long long)s->peak_time);
  }
  if (!s->choices)
    print_excess(problem, s);
  printf("seconds    %.2f, of which %.2f reading\n", s->seconds + read_seconds, read_seconds);
  printf("method     %s%s\n", s->method, s->stopped ? "; stopped early" : "");
  if (o->time_limit > 0)
    printf("time limit %g s\n", o->time_limit);
}

static void set_exact(json_t *object, const char *key, tp_exact_cost value) {
  char text[40];
  tp_exact_cost_print(value, text);
  json_object_set_new(object, key, json_string(text));
}

/* Prints costs as strings, because they may exceed the numbers that all JSON readers support. */
static bool print_json(const options *o, const problem_file *problem, const tp_solution *s,
                       double read_seconds) {
  json_t *root = json_object(), *assignment = s->choices ? json_array() : json_null();
  json_object_set_new(root, "file", json_string(o->file));
  json_object_set_new(root, "nodes", json_integer(problem->n_nodes));
  json_object_set_new(root, "edges", json_integer(problem->n_edges));
  json_object_set_new(root, "usage_limit",
                      problem->limit >= 0 ? json_integer(problem->limit) : json_null());
  json_object_set_new(root, "status", json_string(status_of(s)));
  if (s->choices)
    set_exact(root, "cost", s->exact_cost);
  else
    json_object_set_new(root, "cost", json_null());
  if (s->choices || !s->optimal)
    set_exact(root, "lower_bound", s->exact_bound);
  else
    json_object_set_new(root, "lower_bound", json_null());
  json_object_set_new(root, "gap", gap_of(s) >= 0 ? json_real(gap_of(s)) : json_null());
  set_exact(root, "peak", s->peak);
  json_object_set_new(root, "peak_time", json_integer(s->peak_time));
  set_exact(root, "least_peak", s->least_peak);
  json_object_set_new(root, "least_peak_time", json_integer(s->least_peak_time));
  json_object_set_new(root, "seconds", json_real(s->seconds + read_seconds));
  json_object_set_new(root, "read_seconds", json_real(read_seconds));
  json_object_set_new(root, "time_limit",
                      o->time_limit > 0 ? json_real(o->time_limit) : json_null());
  json_object_set_new(root, "stopped", json_boolean(s->stopped));
  json_object_set_new(root, "method", json_string(s->method));
  json_object_set_new(root, "work", json_integer(s->work));
  for (int v = 0; s->choices && v < problem->n_nodes; v++)
    json_array_append_new(assignment, json_integer(s->choices[v]));
  json_object_set_new(root, "assignment", assignment);
  bool ok =
      json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 && putchar('\n') != EOF;
  json_decref(root);
  return ok;
}

static bool write_assignment(const char *path, const problem_file *problem, const tp_solution *s) {
  cli_file file;
  bool ok = cli_file_open(&file, path);
  if (ok) {
    print_assignment(file.stream, problem, s);
    ok = cli_file_close(&file, true);
  }
  if (!ok)
    complain("%s: cannot be written: %s", path, strerror(errno));
  return ok;
}

int report(const options *o, const problem_file *problem, const tp_solution *s,
           double read_seconds) {
  bool ok = !o->out || write_assignment(o->out, problem, s);
  switch (o->format) {
  case FORMAT_JSON:
    ok = print_json(o, problem, s, read_seconds) && ok;
    break;
  case FORMAT_CONTEST:
    print_assignment(stdout, problem, s);
    break;
  default:
    print_text(o, problem, s, read_seconds);
  }
  if (!ok)
    return EXIT_FAILED;
  return s->choices ? EXIT_SOLVED : s->optimal ? EXIT_INFEASIBLE : EXIT_NOT_FOUND;
}
