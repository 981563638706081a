/* The types and reductions that NCCL supports, independent of the backend's own tables. */
#ifndef TPRT_TEST_NCCL_MATRIX_H
#define TPRT_TEST_NCCL_MATRIX_H

#include "test/runtime/harness/scenario.h"

/* '+': supported; '~': only with TPRT_NCCL_RELAXED; '-': rejected; ' ': not defined for the
 * type. */
char matrix_entry(tprt_dtype dtype, tprt_reduction reduction);

/* Returns true for cases that are rejected without TPRT_NCCL_RELAXED. */
bool matrix_refuses(const scenario *s);

#endif
