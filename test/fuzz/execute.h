/* A module through the whole: parsed, planned, compiled, run on all ranks and on one, compared.
 * In-process; call it in a sandbox. */
#ifndef FUZZ_EXECUTE_H
#define FUZZ_EXECUTE_H

#include "sandbox.h"

enum { MAX_ARRAYS = 96 };

typedef struct job {
  const char *source;
  bool follow, processes;
  bool on_gpu, fused; /* see program.h */
  bool limited;       /* within a memory limit that is drawn, see limits.h */
  bool is_identity;   /* the results are the arguments: no reference is run */
  /* not generated: only the evaluator says what comes out, and nothing is run where it does not */
  bool is_text;
  uint64_t seed;
  int n_arguments;
  struct {
    double low, high; /* whole numbers that are drawn */
  } arguments[MAX_ARRAYS];
  struct {
    bool exact;
    double scale;
  } results[MAX_ARRAYS];
} job;

void execute(void *job, report *r); /* a `sandboxed` */

/* Counts errors into `r`, keeps the first; attached to a context. */
struct MlirContext;
void watch_errors(report *r, void *context);
/* The verdict on a refusal: exactly one error, and of ours. */
verdict judge_refusal(const report *r, verdict proper);

#endif
