/* Prints the outcome as human-readable text. */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *bytes_text(double bytes, char *text, size_t size) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

static const char *seconds_text(double seconds, char *text, size_t size) {
  snprintf(text, size,
           seconds < 1e-3 ? "%.1f us"
           : seconds < 1  ? "%.2f ms"
                          : "%.2f s",
           seconds < 1e-3 ? seconds * 1e6
           : seconds < 1  ? seconds * 1e3
                          : seconds);
  return text;
}

/* Widths of the columns of collectives: of both names, and of a figure. */
typedef struct column_widths {
  int kind, axes, figure;
} column_widths;

static int longest(int a, const char *text) {
  return (int)strlen(text) > a ? (int)strlen(text) : a;
}

/* On a narrow terminal, names become shorter and figures stand closer. */
static column_widths widths_of(const tp_plan *plan, int columns) {
  enum { USUAL = 16, WIDE = 12, NARROW = 10, COUNT = 6, LEAST = 8 };
  column_widths w = {USUAL, USUAL, WIDE};
  int kind = LEAST, axes = LEAST;
  for (int i = 0; i < plan->n_collectives; i++) {
    kind = longest(kind, tp_collective_name(plan->collectives[i].kind));
    axes = longest(axes, plan->collectives[i].axes_text);
  }
  w.axes = axes > w.axes ? axes : w.axes;
  int rest = 2 + 1 + 1 + COUNT;
  if (columns == 0 || rest + w.kind + w.axes + 3 * (1 + w.figure) <= columns)
    return w;
  w.figure = NARROW;
  rest += 3 * (1 + w.figure);
  w.kind = kind;
  w.axes = columns - rest - w.kind < axes ? columns - rest - w.kind : axes;
  if (w.axes < LEAST) { /* both names share what is left */
    w.axes = LEAST;
    w.kind = columns - rest - w.axes > LEAST ? columns - rest - w.axes : LEAST;
  }
  return w;
}

/* Prints one line per kind and axes. */
static void print_collectives(const tp_plan *plan, const launch *run, FILE *file) {
  const column_widths w = widths_of(plan, cli_columns(STDOUT_FILENO, 0));
  if (plan->n_collectives == 0) {
    fprintf(file, "  no communication\n");
    return;
  }
  char kind[64], axes[256];
  fprintf(file, "  %s%-*s %-*s %6s %*s %*s %*s%s\n", cli_color(STDOUT_FILENO, CLI_BOLD), w.kind,
          cli_fit("collective", w.kind, kind, sizeof kind), w.axes, "axes", "count", w.figure,
          "bytes/dev", w.figure, "modelled", w.figure, "measured",
          cli_color(STDOUT_FILENO, CLI_PLAIN));
  for (int i = 0; i < plan->n_collectives; i++) {
    const tp_plan_collective *c = plan->collectives + i;
    bool seen = false;
    int64_t count = 0;
    double bytes = 0, modelled = 0, seconds = 0;
    for (int k = 0; k < plan->n_collectives; k++) {
      const tp_plan_collective *d = plan->collectives + k;
      if (d->kind != c->kind || strcmp(d->axes_text, c->axes_text) != 0)
        continue;
      seen |= k < i;
      int64_t calls = 0;
      double slowest = 0;
      for (int r = 0; r < run->n_ranks; r++) {
        calls = run->ranks[r].sites[k].calls;
        slowest = fmax(slowest, run->ranks[r].sites[k].seconds);
      }
      count += calls;
      bytes += (double)calls * (double)d->bytes;
      modelled += (double)calls * tp_cost_seconds(d->cost);
      seconds += slowest;
    }
    char a[32], b[32], m[32];
    if (!seen)
      fprintf(file, "  %-*s %-*s %6lld %*s %*s %*s\n", w.kind,
              cli_fit(tp_collective_name(c->kind), w.kind, kind, sizeof kind), w.axes,
              cli_fit(c->axes_text, w.axes, axes, sizeof axes), (long long)count, w.figure,
              bytes_text(bytes, a, sizeof a), w.figure, seconds_text(modelled, b, sizeof b),
              w.figure, seconds_text(seconds, m, sizeof m));
  }
}

static void print_comparison(const char *against, const comparison *c, FILE *file) {
  if (!c->done)
    return;
  char verdict[32];
  snprintf(verdict, sizeof verdict, "%s%s%s", c->ok ? "" : cli_color(STDOUT_FILENO, CLI_RED),
           c->ok ? "ok" : "MISMATCH", c->ok ? "" : cli_color(STDOUT_FILENO, CLI_PLAIN));
  if (c->is_ill_conditioned && c->error_of_rounding >= 0)
    fprintf(file,
            "    %-20s ILL-CONDITIONED: error %.2g, and rounding changes the result by %.2g; this "
            "data verifies nothing\n",
            against, c->error, c->error_of_rounding);
  else if (c->is_ill_conditioned)
    fprintf(file, "    %-20s ILL-CONDITIONED: %s, and most elements depend on rounding\n", against,
            c->what);
  else if (c->is_decided_elsewhere && c->what[0])
    fprintf(file, "    %-20s differs: %s; the evaluator decides\n", against, c->what);
  else if (c->is_decided_elsewhere)
    fprintf(file, "    %-20s differs: error %.2g (above %.0e); the evaluator decides\n", against,
            c->error, c->tolerance);
  else if (c->what[0])
    fprintf(file, "    %-20s %s: %s\n", against, verdict, c->what);
  else
    fprintf(file, "    %-20s %s: error %.2g (at most %.0e)\n", against, verdict, c->error,
            c->tolerance);
}

/* `where` is what the run with error_of_one is, such as "on one device". */
static void print_evaluator(const char *where, const comparison *c, FILE *file) {
  static const char against[] = "against the evaluator";
  if (c->done && c->is_ill_conditioned)
    fprintf(file,
            "    %-20s ILL-CONDITIONED: error %.2g, but %s it is also %.2g; this data verifies "
            "nothing\n",
            against, c->error, where, c->error_of_one);
  else if (c->done && c->error_of_rounding >= 0)
    fprintf(file, "    %-20s MISMATCH: error %.2g, and %s %.2g too; rounding explains about %.1g\n",
            against, c->error, where, c->error_of_one, c->error_of_rounding);
  else if (c->done && !c->what[0] && c->error_of_one >= 0)
    fprintf(file, "    %-20s %s: error %.2g, %s %.2g (at most %.1e)\n", against,
            c->ok ? "ok" : "MISMATCH", c->error, where, c->error_of_one, c->tolerance);
  else
    print_comparison(against, c, file);
}

static void print_graph(const launch *run, FILE *file) {
  if (run->graph && run->ranks[0].no_graph[0])
    fprintf(file, "  graph: none, %s\n", run->ranks[0].no_graph);
  else if (run->graph)
    fprintf(file, "  graph: each call is one graph launch; collectives were measured in a call "
                  "without it\n");
}

/* Ranks of which the launcher has started another process meanwhile. */
static void print_replaced(const launch *run, FILE *file) {
  for (int r = 0; r < run->n_ranks; r++)
    if (run->ranks[r].joined > 0)
      fprintf(file, "  rank %d: a spare took its place (epoch %d), and the program ran again\n", r,
              run->ranks[r].joined);
}

static void print_results(const outcome *out, FILE *file) {
  const tp_plan *shape = out->program->shape;
  for (int k = 0; k < shape->n_results; k++) {
    fprintf(file, "  result %d: ", k);
    for (int d = 0; d < shape->results[k].rank; d++)
      fprintf(file, "%lldx", (long long)shape->results[k].shape[d]);
    fprintf(file, "%s, %s\n", shape->results[k].element, shape->results[k].sharding);
    print_comparison(out->against, out->against_one + k, file);
    print_evaluator(out->where, out->against_evaluator + k, file);
    print_comparison("against expected", out->against_expected + k, file);
  }
}

static void print_constants(const tp_plan *shape, FILE *file) {
  char bytes[32];
  if (shape->constant_bytes > 0)
    fprintf(file, ", constants %s", bytes_text((double)shape->constant_bytes, bytes, sizeof bytes));
}

/* What a device holds. */
static void print_held(const tp_plan *shape, const launch *run, FILE *file) {
  char a[32], b[32], c[32], d[32];
  fprintf(file, "arguments %s (params %s), results %s, buffers %s",
          bytes_text((double)shape->argument_bytes, a, sizeof a),
          bytes_text((double)shape->param_bytes, b, sizeof b),
          bytes_text((double)report_result_bytes(shape), c, sizeof c),
          bytes_text((double)(run->private_bytes + run->registered_bytes), d, sizeof d));
  print_constants(shape, file);
}

static void print_memory(const outcome *out, FILE *file) {
  const tp_plan *shape = out->program->shape;
  fprintf(file, "  memory per device: ");
  print_held(shape, out->run, file);
  if (out->reference) {
    fprintf(file, "; %s: ", out->where);
    print_held(out->reference->shape, out->reference_run, file);
  }
  fprintf(file, "\n  arithmetic per device: %.4g flop", shape->flops);
  if (out->reference && out->reference->shape->flops > 0)
    fprintf(file, ", %.3g of the whole (%.3g would be even)",
            shape->flops / out->reference->shape->flops, 1.0 / (double)shape->n_devices);
  fprintf(file, "\n");
}

const char *outcome_reference(const outcome *out) {
  bool evaluator = false, expected = false, one = false;
  for (int k = 0; k < out->program->plan->n_results; k++) {
    evaluator |= out->against_evaluator[k].done;
    expected |= out->against_expected[k].done;
    one |= out->against_one[k].done;
  }
  if (out->is_independent && (evaluator || expected))
    return evaluator ? "evaluator" : "expected results";
  return one ? out->against + strlen("against ") : expected ? "expected results" : NULL;
}

/* Ends the line of the modelled time with the reasons why the measured one may be far off. */
static void print_doubts(const outcome *out, FILE *file) {
  const char *topology = out->options->topology, *folders = getenv("TP_TOPOLOGY_PATH");
  int64_t n_ranks = out->program->plan->n_devices;
  int n_processors = cli_processors();
  if (out->options->target == TARGET_CPU && (!topology || strcmp(topology, "cpu") == 0) &&
      !(folders && *folders))
    fprintf(file, " by default figures (--topology=host measures this host)");
  if (out->options->target == TARGET_CPU && n_ranks > n_processors)
    fprintf(file, " (%lld ranks share %d processor%s)", (long long)n_ranks, n_processors,
            n_processors == 1 ? "" : "s");
  fprintf(file, "\n");
}

static void print_all(const outcome *out, FILE *file) {
  const tp_plan *plan = out->program->plan;
  double sharded = 0, one = 0;
  char a[32], b[32], c[32];
  for (int r = 0; r < out->run->n_ranks; r++)
    sharded = fmax(sharded, out->run->ranks[r].seconds);
  fprintf(file, "@%s on %lld device%s", plan->function, (long long)plan->n_devices,
          plan->n_devices == 1 ? "" : "s");
  tp_mesh whole = tp_mesh_parent(&plan->mesh); /* without the parts that the plan cuts axes into */
  for (int i = 0; i < whole.n_axes && plan->n_devices > 1; i++)
    fprintf(file, "%s%s=%lld", i ? "," : ": ", whole.axes[i].name, (long long)whole.axes[i].size);
  fprintf(file, "\n");
  print_collectives(plan, out->run, file);
  print_memory(out, file);
  print_graph(out->run, file);
  print_replaced(out->run, file);
  fprintf(file, "  time: %s", seconds_text(sharded, a, sizeof a));
  if (out->reference) {
    for (int r = 0; r < out->reference_run->n_ranks; r++)
      one = fmax(one, out->reference_run->ranks[r].seconds);
    fprintf(file, ", %s %s", out->where, seconds_text(one, b, sizeof b));
  }
  fprintf(file, "; modelled %s", seconds_text(tp_cost_seconds(plan->step), c, sizeof c));
  print_doubts(out, file);
  print_results(out, file);
  if (out->not_evaluated)
    fprintf(file, "  not evaluated: %s\n", out->not_evaluated);
  const char *reference = outcome_reference(out);
  const char *plain = cli_color(STDOUT_FILENO, CLI_PLAIN);
  if (!out->verified)
    fprintf(file, "%sNOT VERIFIED%s\n", cli_color(STDOUT_FILENO, CLI_RED), plain);
  else if (!reference)
    fprintf(file, "done, nothing to compare with\n");
  else if (out->is_independent)
    fprintf(file, "%sverified%s\n", cli_color(STDOUT_FILENO, CLI_GREEN), plain);
  else
    fprintf(file, "consistent with %s\n", reference);
}

void table_print(const outcome *out, FILE *file) {
  char *text = NULL;
  size_t n;
  FILE *stream = open_memstream(&text, &n);
  if (!stream) {
    print_all(out, file);
    return;
  }
  print_all(out, stream);
  if (fclose(stream) == 0)
    cli_print_wrapped(file, text, cli_columns(STDOUT_FILENO, 0));
  free(text);
}
