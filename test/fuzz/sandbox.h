/* Runs work in a forked child with a time limit. The report is in shared memory, so it survives a
 * crash of the child. */
#ifndef FUZZ_SANDBOX_H
#define FUZZ_SANDBOX_H

#include "generate/base.h"

typedef enum verdict {
  VERIFIED,
  REFUSED,   /* with exactly one error, from the planner or partitioner */
  UNLOWERED, /* with exactly one error, after partitioning or on one device */
  /* not a module, or one that crashes MLIR's parser: a bug of the generator; ignored for
   * mutations */
  INVALID,
  WRONG, /* the one-device result is not what the program specifies */
  MISMATCH,
  RUN_FAILED, /* compiled, but a rank returned an error */
  SILENT,     /* refused with no error, or with several */
  BROKEN_IR,  /* the error comes from MLIR's verifier: a pass created invalid IR */
  CRASH,
  HANG,
  EXCEEDED, /* a plan violates a requirement of its memory limit */
  LOST,     /* the planner claims that no plan satisfies a memory limit, but one is known */
  N_OUTCOMES
} verdict;

extern const char *const outcome_names[N_OUTCOMES];
static inline bool is_defect(verdict o) { return o == INVALID || o >= WRONG; }

enum { N_FAMILIES_SEEN = 20, N_KINDS = 5 };

typedef struct report {
  verdict outcome;
  int n_errors, n_collectives, n_fused; /* n_fused: fused collectives */
  /* with a memory limit: the peak of the unlimited plan, and the limit */
  int64_t free_peak, limit;
  /* a limit that a known plan satisfies was refused, or planned at a higher cost: the planner
   * overestimates memory */
  bool counted_more;
  char message[700];        /* the first error, or the difference */
  char open[200];           /* why the results are undetermined; "" */
  bool lacks;               /* the evaluator does not support the program */
  long n_numbers, n_judged; /* numbers in results: all, and those that do not depend on rounding */
  /* bit f: a family of rules was sharded in this way; [1]: unevenly */
  uint64_t coverage[N_KINDS][2];
  int progress; /* of a child with many work items */
  bool parsing; /* in MLIR's parser: a crash there is not counted */
  bool running; /* in the compiled program, which may divide an integer by 0 */
} report;

/* Allocates zeroed memory that is shared with children. */
void *sandbox_memory(size_t size);

typedef void (*sandboxed)(void *data, report *r);
/* Runs `work` in a child; CRASH or HANG if it does not end normally. Its output is appended to
 * `captured` (may be NULL). */
void sandbox_run(sandboxed work, void *data, int seconds, report *r, text *captured);

#endif
