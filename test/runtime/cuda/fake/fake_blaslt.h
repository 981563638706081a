/* Controls of the fake cuBLASLt for tests: injected failures and recorded calls. Looked up with
 * dlsym. */
#ifndef TPRT_TEST_CUDA_FAKE_BLASLT_H
#define TPRT_TEST_CUDA_FAKE_BLASLT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fake_blaslt_plan {
  long fail_at;       /* number of the call that fails, from 1; 0: none */
  int status;         /* the status of that failure */
  bool knows_nothing; /* it has no algorithm for any problem */
  int n_algorithms;   /* for each problem; 0: 2. The odd ones add in the opposite order */
  int fastest;        /* the algorithm whose products take 1 ms, not 2 */
  int n_unusable;     /* so many behind the first one have a state that is an error */
  int refused;        /* an algorithm that is refused when it is checked, from 1; 0: none */
  size_t version;     /* 0: 130100 */
} fake_blaslt_plan;

typedef struct fake_blaslt_report {
  long n_calls, n_choices, n_products, n_checks; /* since the plan was set */
  long n_by[8];                                  /* products of each algorithm */
  const void *workspaces[4]; /* the different ones of products, the first of them */
  int n_workspaces;
  long n_alive;                    /* handles, layouts, operations, preferences */
  int n_violations;                /* invalid arguments */
  char violation[200], failed[64]; /* the first violation; the call that failed */
} fake_blaslt_report;

/* fake_blaslt_begin, fake_blaslt_look. */
typedef void fake_blaslt_begin_fn(const fake_blaslt_plan *plan);
typedef void fake_blaslt_look_fn(fake_blaslt_report *report);

#endif
