/* What NCCL has, written apart from the backend's own tables. */
#ifndef TPRT_TEST_NCCL_MATRIX_H
#define TPRT_TEST_NCCL_MATRIX_H

#include "scenario.h"

/* '+': done; '~': with TPRT_NCCL_RELAXED only; '-': refused; ' ': not defined for the type. */
char matrix_entry(tprt_dtype dtype, tprt_reduction reduction);

/* What is refused without TPRT_NCCL_RELAXED. */
bool matrix_refuses(const scenario *s);

#endif
