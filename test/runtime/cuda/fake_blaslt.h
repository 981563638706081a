/* What tests ask of the cuBLASLt that is none: to fail, and what it has seen. Found with dlsym. */
#ifndef TPRT_TEST_CUDA_FAKE_BLASLT_H
#define TPRT_TEST_CUDA_FAKE_BLASLT_H

#include <stdbool.h>

typedef struct fake_blaslt_plan {
  long fail_at;       /* the call that fails, from 1; 0: none does */
  int status;         /* with what */
  bool knows_nothing; /* no algorithm for anything */
} fake_blaslt_plan;

typedef struct fake_blaslt_report {
  long n_calls, n_choices, n_products; /* since the plan */
  long n_alive;                        /* handles, layouts, operations, preferences */
  int n_violations;                    /* arguments that are wrong */
  char violation[200], failed[64];     /* the first one; the call that failed */
} fake_blaslt_report;

/* fake_blaslt_begin, fake_blaslt_look. */
typedef void fake_blaslt_begin_fn(const fake_blaslt_plan *plan);
typedef void fake_blaslt_look_fn(fake_blaslt_report *report);

#endif
