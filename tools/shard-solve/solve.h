/* shard-solve. Modules: cli (options); stream, rows and read (problem files); report (printed and
 * written results). */
#ifndef SHARD_SOLVE_SOLVE_H
#define SHARD_SOLVE_SOLVE_H

#include "tools/cli/cli.h"
#include "tp/solver.h"

#include <stdio.h>

enum {
  EXIT_SOLVED = 0,
  EXIT_FAILED = 1,
  /* 2: CLI_USAGE */ EXIT_INFEASIBLE = 3,
  EXIT_NOT_FOUND = 4
};

/* The number that files use for infinity. */
#define CONTEST_INFINITY ((tp_cost)1000000000000000000)

typedef enum report_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CONTEST } report_format;

typedef struct options {
  const char *file, *out;
  report_format format;
  double time_limit, gap; /* 0: not given */
  int threads;
} options;

/* Returns CLI_GO_ON or the exit code. */
int cli_parse(int argc, char **argv, options *o);

typedef struct problem_file {
  tp_problem *problem;
  int n_nodes, n_edges; /* those of the file; the problem may have more nodes, which follow them */
  int64_t limit;        /* -1: none */
} problem_file;

/* Reads a problem file. False, with a message, if the file cannot be read or is not a problem. */
bool problem_read(const char *path, problem_file *out);

/* Prints the result and writes the file of --out. Returns the exit code. */
int report(const options *o, const problem_file *file, const tp_solution *solution,
           double read_seconds);

#endif
