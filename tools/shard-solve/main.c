/* shard-solve: solves strategy-selection problems from files. */
#include "solve.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stop_asked;

/* Signal handler: asks the solver to stop; a second Ctrl-C ends the program at once. */
static void ask_to_stop(int signal_number) {
  stop_asked = 1;
  signal(signal_number, SIG_DFL);
}

typedef struct watch {
  /* before: seconds spent reading; shown: when the progress line was last written */
  double before, shown;
  bool on_terminal;
} watch;

static bool interrupted(const tp_solver_progress *p, void *data) {
  watch *w = data;
  if (!w->on_terminal || p->seconds - w->shown < 0.2)
    return stop_asked;
  char cost[40] = "none", bound[40];
  if (p->found)
    tp_exact_cost_print(p->cost, cost);
  tp_exact_cost_print(p->lower_bound, bound);
  double low = tp_exact_cost_value(p->lower_bound), high = tp_exact_cost_value(p->cost);
  char line[160], gap[32] = "";
  if (p->found && low > 0)
    snprintf(gap, sizeof gap, "  gap %.4f %%", 100 * (high - low) / low);
  snprintf(line, sizeof line, "%.1f s  best %s  bound %s%s", w->before + p->seconds, cost, bound,
           gap);
  cli_show(line);
  w->shown = p->seconds;
  return stop_asked;
}

int main(int argc, char **argv) {
  options o;
  int code = cli_parse(argc, argv, &o);
  if (code >= 0)
    return cli_end(code);
  signal(SIGINT, ask_to_stop);
  signal(SIGTERM, ask_to_stop);
  double start = cli_seconds();
  problem_file file;
  if (!problem_read(o.file, &file))
    return EXIT_FAILED;
  watch w = {.before = cli_seconds() - start, .on_terminal = isatty(STDERR_FILENO)};
  tp_solver_options solver = {.size = sizeof solver,
                              .gap = o.gap,
                              .threads = o.threads,
                              .interrupted = interrupted,
                              .data = &w};
  /* subtracts the time for reading, but keeps a moment to find a feasible assignment */
  if (o.time_limit > 0)
    solver.time_limit = o.time_limit - w.before > 1e-3 ? o.time_limit - w.before : 1e-3;
  tp_solution solution = {0};
  tp_status status = tp_solve(file.problem, &solver, &solution);
  cli_show(NULL);
  if (status == TP_OK || status == TP_INFEASIBLE) {
    code = report(&o, &file, &solution, w.before);
  } else {
    complain("%s: out of memory: %d nodes, %d edges", o.file, file.n_nodes, file.n_edges);
    code = EXIT_FAILED;
  }
  tp_solution_clear(&solution);
  tp_problem_destroy(file.problem);
  return cli_end(code);
}
