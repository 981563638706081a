/* The command line of shard-solve: one table of options. */
#include "solve.h"

#include <getopt.h>

static const cli_option rows[] = {
    {"time-limit", "SECONDS", "end the search after this time, which includes reading the file",
     CLI_NUMBER(options, time_limit, 1e-3, 1e7)},
    {"gap", "G", "end the search at (cost - bound) / bound <= G, e.g. 0.001 (default: 0)",
     CLI_NUMBER(options, gap, 0, 1)},
    {"threads", "N", "threads to use; the answer is the same for any number (default: 1)",
     CLI_INT(options, threads, 1, 256)},
    {"format", "text|json|contest", "output format (default: text)",
     CLI_CHOICE(options, format, FORMAT_TEXT)},
    {"out", "FILE", "write the assignment, [x0, x1, ...], to a file", CLI_TEXT(options, out)},
};

const cli_tool cli_program = {
    .name = "shard-solve",
    .summary = "solve problems of the IOPDDL contest",
    .usage = {"PROBLEM.json[.gz] [options]"},
    .description = "Chooses a strategy for every node of a problem file of the IOPDDL contest, "
                   "such that the cost is minimal and memory stays within the limit at all times. "
                   "Prints the cost, a certified lower bound, the gap between them and the time.",
    .options = rows,
    .n_options = sizeof rows / sizeof *rows,
    .notes = "--format contest prints the assignment as the last line, [] if there is none. Ctrl-C "
             "ends the search with the best assignment so far. Without --time-limit, a "
             "deterministic count of work limits the effort, so every run gives the same answer.",
    .exits = {{0, "an assignment was found"},
              {1, "failure"},
              {2, "wrong usage"},
              {3, "it is proven that none exists"},
              {4, "none was found"},
              {130, "interrupted twice, or before the search"}},
    .page = "docs/reference/shard-solve.md",
};

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.threads = 1};
  int code = cli_options(argc, argv, o);
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
