/* shard-solve, its parts: cli (options), pull, rows and read (problem files), report (what is
 * printed and written). */
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

/* Files write infinity as this number. */
#define CONTEST_INFINITY ((tp_cost)1000000000000000000)

typedef enum report_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CONTEST } report_format;

typedef struct options {
  const char *file, *out;
  report_format format;
  double time_limit, gap; /* 0: none given */
  int threads;
} options;

/* Returns CLI_GO_ON, or the exit code. */
int cli_parse(int argc, char **argv, options *o);

typedef struct problem_file {
  tp_problem *problem;
  int n_nodes, n_edges; /* of the file; the problem may have more nodes, after these */
  int64_t limit;        /* -1: none */
} problem_file;

/* False if the file cannot be read or is not a problem; says why. */
bool problem_read(const char *path, problem_file *out);

/* Prints the result and writes the file of --out. Returns the exit code. */
int report(const options *o, const problem_file *file, const tp_solution *solution,
           double read_seconds);

#endif
