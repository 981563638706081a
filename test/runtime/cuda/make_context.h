/* A context for programs of GPUs, as the tests of their sites make it. */
#ifndef TPRT_TEST_CUDA_MAKE_CONTEXT_H
#define TPRT_TEST_CUDA_MAKE_CONTEXT_H

#include "tprt/abi.h"
#include "tprt/tprt.h"

/* NULL with a word on stderr. */
tprt_context *make_context(tprt_comm *world);

#endif
