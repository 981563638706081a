/* Runs a module through the whole pipeline: parse, plan, compile, run on all ranks and on one
 * device, compare. Runs in this process, so call it in a sandbox. */
#ifndef FUZZ_EXECUTE_H
#define FUZZ_EXECUTE_H

#include "sandbox.h"

enum { MAX_ARRAYS = 96 };

typedef struct job {
  const char *source;
  bool follow, processes;
  bool on_gpu, fused; /* see program.h */
  bool limited;       /* with a random memory limit, see limits.h */
  bool is_identity;   /* the results are the arguments: no reference run */
  /* not generated: only the evaluator knows the results, and programs it does not support are not
   * run */
  bool is_text;
  uint64_t seed;
  int n_arguments;
  struct {
    double low, high; /* range of random integers */
  } arguments[MAX_ARRAYS];
  struct {
    bool exact;
    double scale;
  } results[MAX_ARRAYS];
} job;

void execute(void *job, report *r); /* data: a job */

#endif
