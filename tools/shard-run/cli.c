/* The command line: one table of options. */
#include "run.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct option_row {
  const char *name, *argument, *help;
} option_row;

enum {
  OPT_MESH,
  OPT_INPUT,
  OPT_EXPECTED,
  OPT_INPUTS_FROM,
  OPT_SAVE,
  OPT_LAUNCH,
  OPT_STRATEGY,
  OPT_REPORT,
  OPT_PLAN_REPORT,
  OPT_SEED,
  OPT_NO_VERIFY,
  OPT_FUNCTION,
  OPT_TIMEOUT,
  OPT_REPEAT,
  OPT_EMIT,
  OPT_OPT_LEVEL,
  OPT_TOPOLOGY,
  OPT_UNKNOWN_OPS,
  OPT_MEMORY_LIMIT,
  OPT_HELP,
  OPT_VERSION,
  OPT_WORKER,
  N_OPTIONS
};

static const option_row rows[N_OPTIONS] = {
    [OPT_MESH] = {"mesh", "SIZES", "devices, e.g. dp=2,tp=4; overrides the grid of the module; 1: one device"},
    [OPT_INPUT] = {"input", "@FILE.npy", "next argument of the function; may be repeated"},
    [OPT_EXPECTED] = {"expected-output", "@FILE.npy", "what the next result has to be; may be repeated"},
    [OPT_INPUTS_FROM] = {"inputs-from", "PREFIX",
                         "arguments from PREFIX.in.K.npy, expected results from PREFIX.out.K.npy, where they exist"},
    [OPT_SAVE] = {"output", "@FILE.npy", "write the next result to a file; may be repeated"},
    [OPT_LAUNCH] = {"launch", "threads|processes", "what a rank is (default: threads)"},
    [OPT_STRATEGY] = {"strategy", "plan|follow", "how shardings are chosen (default: plan)"},
    [OPT_REPORT] = {"report", "FILE.json", "write the report of the run as JSON"},
    [OPT_PLAN_REPORT] = {"plan-report", "FILE", "write the report of the plan: JSON, or text for FILE.md and FILE.txt"},
    [OPT_SEED] = {"seed", "N", "seed of the arguments that no file gives (default: 0)"},
    [OPT_NO_VERIFY] = {"no-verify", NULL, "do not run a reference for comparison"},
    [OPT_FUNCTION] = {"function", "NAME", "function to run (default: the only public one, or main)"},
    [OPT_TIMEOUT] = {"timeout", "SECONDS", "limit of every wait for another rank (default: the runtime's, 600)"},
    [OPT_REPEAT] = {"repeat", "N", "timed executions after the first (default: 1)"},
    [OPT_EMIT] = {"emit", "obj|llvm", "write the compiled program to the file of -o, and stop"},
    [OPT_OPT_LEVEL] = {"opt-level", "1|2|3", "optimization of generated code (default: 2)"},
    [OPT_TOPOLOGY] = {"topology", "NAME",
                      "cost model for the plan and the modelled times: a name or a topology file (default: cpu)"},
    [OPT_UNKNOWN_OPS] = {"unknown-ops", "refuse|replicate", "ops without a sharding rule: an error, or run on all devices"},
    [OPT_MEMORY_LIMIT] = {"memory-limit", "BYTES",
                          "what a device may hold: 512MiB, 80GB, ..., or topology (default: no limit)"},
    [OPT_HELP] = {"help", NULL, "print this"},
    [OPT_VERSION] = {"version", NULL, "print the version"},
    [OPT_WORKER] = {"worker", "...", NULL}, /* hidden: how processes are started */
};

void complain(const char *format, ...) {
  progress(NULL);
  va_list args;
  va_start(args, format);
  fputs("shard-run: error: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

void progress(const char *what) {
  static bool shown;
  if (!isatty(STDERR_FILENO))
    return;
  if (shown)
    fputs("\r\033[K", stderr);
  if (what)
    fprintf(stderr, "%s ...", what);
  fflush(stderr);
  shown = what != NULL;
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_help(FILE *file) {
  fputs("usage: shard-run MODEL.mlir [--mesh SIZES] [options]\n\n"
        "Partitions a tensor program, compiles it once, runs it on all devices of a mesh as ranks of this machine, and\n"
        "compares the results with the same program on one device (if it has communication of its own: with every value\n"
        "whole on every device) and with given ones.\n\n",
        file);
  for (int i = 0; i < N_OPTIONS; i++) {
    char left[64];
    if (!rows[i].help)
      continue;
    snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
             rows[i].argument ? rows[i].argument : "");
    fprintf(file, "  %-30s %s\n", left, rows[i].help);
  }
  fputs("  -o FILE                        file that --emit writes\n\n"
        "Exit code: 0 verified (or done, where nothing was to be verified), 1 a mismatch or failure, 2 wrong usage.\n"
        "Tolerances, relative to the largest absolute value of the reference: against one device f32 1e-5, f64 1e-12,\n"
        "bf16 and f16 2e-2; against expected results f32 and f64 1e-4, bf16 and f16 2e-2; integers and booleans are equal.\n",
        file);
}

static bool push(text_list *list, const char *text) {
  const char **items = realloc(list->items, (size_t)(list->n + 1) * sizeof *items);
  if (!items)
    return false;
  list->items = items;
  list->items[list->n++] = text;
  return true;
}

static int usage(const char *format, const char *a, const char *b) {
  fputs("shard-run: error: ", stderr);
  fprintf(stderr, format, a, b);
  fputs("; see shard-run --help\n", stderr);
  return EXIT_USAGE;
}

static bool parse_number(const char *text, double low, double high, double *value) {
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  return end != text && *end == 0 && errno == 0 && *value >= low && *value <= high;
}

static int parse_choice(const char *name, const char *text, const char *a, const char *b) {
  if (strcmp(text, a) == 0 || strcmp(text, b) == 0)
    return -1;
  char values[64];
  snprintf(values, sizeof values, "%s or %s", a, b);
  return usage("--%s takes %s", name, values);
}

static int parse_file(const char *name, const char *text, text_list *list) {
  if (text[0] != '@' || text[1] == 0)
    return usage("--%s takes @FILE.npy, not '%s'", name, text);
  return push(list, text + 1) ? -1 : EXIT_FAILED;
}

/* One option; -1 to go on. */
static int apply(int which, const char *text, options *o) {
  const char *name = rows[which].name;
  double number = 0;
  switch (which) {
  case OPT_MESH:
    o->mesh = text;
    return -1;
  case OPT_INPUT:
    return parse_file(name, text, &o->inputs);
  case OPT_EXPECTED:
    return parse_file(name, text, &o->expected);
  case OPT_SAVE:
    return parse_file(name, text, &o->save);
  case OPT_INPUTS_FROM:
    o->inputs_from = text;
    return -1;
  case OPT_LAUNCH:
    o->processes = strcmp(text, "processes") == 0;
    return parse_choice(name, text, "threads", "processes");
  case OPT_STRATEGY:
    o->strategy = text;
    return parse_choice(name, text, "plan", "follow");
  case OPT_REPORT:
    o->report = text;
    return -1;
  case OPT_PLAN_REPORT:
    o->plan_report = text;
    return -1;
  case OPT_NO_VERIFY:
    o->verify = false;
    return -1;
  case OPT_FUNCTION:
    o->function = text;
    return -1;
  case OPT_EMIT:
    o->emit = text;
    return parse_choice(name, text, "obj", "llvm");
  case OPT_TOPOLOGY:
    o->topology = text;
    return -1;
  case OPT_UNKNOWN_OPS:
    o->unknown_ops = text;
    return parse_choice(name, text, "refuse", "replicate");
  case OPT_MEMORY_LIMIT:
    o->memory_limit = text;
    return -1;
  case OPT_WORKER:
    o->worker = text;
    return -1;
  case OPT_SEED:
    if (!parse_number(text, 0, 9e15, &number))
      return usage("--%s takes a whole number >= 0, not '%s'", name, text);
    o->seed = (uint64_t)number;
    return -1;
  case OPT_TIMEOUT:
    if (!parse_number(text, 1e-3, 1e6, &o->timeout))
      return usage("--%s takes seconds between 0.001 and 1000000, not '%s'", name, text);
    return -1;
  case OPT_REPEAT:
    if (!parse_number(text, 1, 1e6, &number))
      return usage("--%s takes a whole number >= 1, not '%s'", name, text);
    o->repeat = (int)number;
    return -1;
  case OPT_OPT_LEVEL:
    if (!parse_number(text, 1, 3, &number))
      return usage("--%s takes 1, 2 or 3, not '%s'", name, text);
    o->opt_level = (int)number;
    return -1;
  case OPT_HELP:
    print_help(stdout);
    return EXIT_VERIFIED;
  default:
    printf("shard-run (tpshard) %s\n", tp_version());
    return EXIT_VERIFIED;
  }
}

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.verify = true, .repeat = 1, .strategy = "plan", .unknown_ops = "refuse"};
  struct option table[N_OPTIONS + 1] = {0};
  for (int i = 0; i < N_OPTIONS; i++)
    table[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument, NULL, 256 + i};
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, ":o:", table, NULL)) != -1;) {
    if (c == '?')
      return usage("unknown option '%s'%s", argv[optind - 1], "");
    if (c == ':')
      return usage("option '%s' needs a value%s", argv[optind - 1], "");
    int code = -1;
    if (c == 'o')
      o->output = optarg;
    else
      code = apply(c - 256, optarg, o);
    if (code >= 0)
      return code;
  }
  if (o->worker)
    return -1;
  if (optind == argc)
    return usage("no model is given%s%s", "", "");
  if (optind + 1 < argc)
    return usage("more than one model is given: '%s' and '%s'", argv[optind], argv[optind + 1]);
  o->model = argv[optind];
  if ((o->emit != NULL) != (o->output != NULL))
    return usage("--emit and -o FILE go together%s%s", "", "");
  return -1;
}
