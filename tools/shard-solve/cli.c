/* The command line of shard-solve: one table of options. */
#include "solve.h"

#include <getopt.h>
#include <string.h>

enum { OPT_TIME_LIMIT, OPT_GAP, OPT_THREADS, OPT_FORMAT, OPT_OUT, N_OPTIONS };

static const cli_option rows[N_OPTIONS] = {
    [OPT_TIME_LIMIT] = {"time-limit", "SECONDS",
                        "end the search after that time, the reading of the file included"},
    [OPT_GAP] = {"gap", "G", "end it at (cost - bound) / bound <= G, e.g. 0.001 (default: 0)"},
    [OPT_THREADS] = {"threads", "N",
                     "threads to use; the answer is the same for any number (default: 1)"},
    [OPT_FORMAT] = {"format", "text|json|contest", "what is printed (default: text)"},
    [OPT_OUT] = {"out", "FILE", "write the assignment, [x0, x1, ...], to a file"},
};

static const char *const formats[] = {
    [FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_CONTEST] = "contest"};

const cli_tool cli_program = {
    .name = "shard-solve",
    .summary = "solve problems of the IOPDDL contest",
    .usage = {"PROBLEM.json[.gz] [options]"},
    .description =
        "Chooses a strategy for every node of a problem file of the IOPDDL contest, such that the "
        "cost is least and memory stays below the limit at all times. Prints the cost, a certified "
        "lower bound, the gap between them and the time.",
    .options = rows,
    .n_options = N_OPTIONS,
    .notes =
        "--format contest prints the assignment as the last line, [] if there is none. Ctrl-C ends "
        "the search with the best assignment so far. Without --time-limit the effort is counted in "
        "work, so every run gives the same answer.",
    .exits = {{0, "an assignment was found"},
              {1, "failure"},
              {2, "wrong usage"},
              {3, "it is proven that none exists"},
              {4, "none was found"}},
    .page = "docs/reference/shard-solve.md",
};

static int apply(int which, const char *text, void *data) {
  options *o = data;
  double number = 0;
  switch (which) {
  case OPT_TIME_LIMIT:
    if (!cli_number(text, 1e-3, 1e7, &o->time_limit))
      return cli_usage("--time-limit takes seconds between 0.001 and 10000000, not '%s'", text);
    return CLI_GO_ON;
  case OPT_GAP:
    if (!cli_number(text, 0, 1, &o->gap))
      return cli_usage("--gap takes a number between 0 and 1, not '%s'", text);
    return CLI_GO_ON;
  case OPT_THREADS:
    if (!cli_number(text, 1, 256, &number) || number != (int)number)
      return cli_usage("--threads takes a whole number between 1 and 256, not '%s'", text);
    o->threads = (int)number;
    return CLI_GO_ON;
  case OPT_FORMAT:
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
      if (strcmp(text, formats[i]) == 0) {
        o->format = (report_format)i;
        return CLI_GO_ON;
      }
    return cli_usage("--format takes text, json or contest, not '%s'", text);
  default:
    o->out = text;
    return CLI_GO_ON;
  }
}

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.threads = 1};
  int code = cli_options(argc, argv, apply, o);
  if (code != CLI_GO_ON)
    return code;
  if (optind == argc)
    return cli_usage("no problem file is given");
  if (optind + 1 < argc)
    return cli_usage("more than one problem file is given: '%s' and '%s'", argv[optind],
                     argv[optind + 1]);
  o->file = argv[optind];
  return CLI_GO_ON;
}
