/* shard-solve: solves strategy-selection problems from files. */
#include "solve.h"

#include <signal.h>

typedef struct watch {
  double shown; /* when the progress line was last written */
  bool on_terminal;
  double time_limit; /* 0: none */
} watch;

static bool interrupted(const tp_solver_progress *p, void *data) {
  watch *w = data;
  if (!w->on_terminal || p->seconds - w->shown < 0.2)
    return cli_interrupt_asked();
  char cost[40] = "none", bound[40];
  if (p->found)
    tp_exact_cost_print(p->cost, cost);
  tp_exact_cost_print(p->lower_bound, bound);
  double low = tp_exact_cost_value(p->lower_bound), high = tp_exact_cost_value(p->cost);
  char line[160], gap[32] = "";
  double left = -1;
  if (p->found && low > 0)
    snprintf(gap, sizeof gap, ", gap %.4f %%", 100 * (high - low) / low);
  if (w->time_limit > 0)
    left = w->time_limit - p->seconds;
  else if (p->work > 0 && p->work_limit > p->work)
    left = p->seconds * (double)(p->work_limit - p->work) / (double)p->work;
  snprintf(line, sizeof line, "best %s, bound %s%s", cost, bound, gap);
  progress_detail(line, left, true);
  w->shown = p->seconds;
  return cli_interrupt_asked();
}

int main(int argc, char **argv) {
  options o;
  int code = cli_parse(argc, argv, &o);
  if (code >= 0)
    return cli_end(code);
  cli_interrupt_catch(SIGINT, NULL);
  cli_interrupt_catch(SIGTERM, NULL);
  double start = cli_seconds();
  progress("reading");
  problem_file file;
  if (!problem_read(o.file, &file))
    return EXIT_FAILED;
  double before = cli_seconds() - start;
  watch w = {.on_terminal = cli_shows_progress()};
  tp_solver_options solver = {.size = sizeof solver,
                              .gap = o.gap,
                              .threads = o.threads,
                              .interrupted = interrupted,
                              .data = &w};
  /* subtracts the time for reading, but keeps a moment to find a feasible assignment */
  if (o.time_limit > 0)
    w.time_limit = solver.time_limit = o.time_limit - before > 1e-3 ? o.time_limit - before : 1e-3;
  tp_solution solution = {0};
  cli_interrupt_soft(true);
  progress("solving");
  tp_status status = tp_solve(file.problem, &solver, &solution);
  progress(NULL);
  cli_interrupt_soft(false);
  if (status == TP_OK || status == TP_INFEASIBLE) {
    code = report(&o, &file, &solution, before);
  } else {
    complain("%s: out of memory: %d nodes, %d edges", o.file, file.n_nodes, file.n_edges);
    code = EXIT_FAILED;
  }
  tp_solution_clear(&solution);
  tp_problem_destroy(file.problem);
  return cli_end(code);
}
