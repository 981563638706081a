/* Work in a forked child with a time limit; what it finds comes back in shared memory, also when it
 * dies. */
#ifndef FUZZ_SANDBOX_H
#define FUZZ_SANDBOX_H

#include "base.h"

typedef enum verdict {
  VERIFIED,
  REFUSED,   /* with exactly one error, of the planner or partitioner */
  UNLOWERED, /* with exactly one error, after partitioning or on one device */
  /* not a module, or one that ends MLIR's parser: a defect of the generator; for a mutation, no
   * case */
  INVALID,
  WRONG, /* one device computes something else than the program says */
  MISMATCH,
  RUN_FAILED, /* compiled, but a rank returned an error */
  SILENT,     /* refused with no error, or with several */
  BROKEN_IR,  /* the error is one of MLIR's verifier: a pass made invalid IR */
  CRASH,
  HANG,
  EXCEEDED, /* a plan is not what it was asked to be within its memory limit */
  LOST,     /* a memory limit is said to be kept by no plan at all, and one is known that does */
  N_OUTCOMES
} verdict;

extern const char *const outcome_names[N_OUTCOMES];
static inline bool is_defect(verdict o) { return o == INVALID || o >= WRONG; }

enum { N_FAMILIES_SEEN = 20, N_KINDS = 5 };

typedef struct report {
  verdict outcome;
  int n_errors, n_collectives, n_fused; /* fused: sums over devices with what stands behind them */
  /* with a memory limit: what the plan without it holds, and the limit */
  int64_t free_peak, limit;
  /* a limit that a known plan keeps was refused, or planned dearer: planning counts more than is
   * held */
  bool counted_more;
  char message[700];        /* of the first error, or what differs */
  char open[200];           /* why nothing says what comes out; "" */
  bool lacks;               /* the evaluator cannot do what the program does */
  long n_numbers, n_judged; /* of results: all, and those that are not open to rounding */
  /* bit f: a family of rules was sharded in this way; [1]: unevenly */
  uint64_t coverage[N_KINDS][2];
  int progress; /* of a child that does many things */
  bool parsing; /* in MLIR's parser: what ends it there is not ours */
} report;

/* Zeroed memory that children share with this process. */
void *sandbox_memory(size_t size);

typedef void (*sandboxed)(void *data, report *r);
/* Runs `work` in a child; CRASH or HANG when it does not end by itself. Its output is kept for
 * `captured` (may be NULL). */
void sandbox_run(sandboxed work, void *data, int seconds, report *r, text *captured);

#endif
