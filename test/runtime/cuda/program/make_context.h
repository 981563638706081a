/* Creates contexts for the tests of sites in GPU programs. */
#ifndef TPRT_TEST_CUDA_MAKE_CONTEXT_H
#define TPRT_TEST_CUDA_MAKE_CONTEXT_H

#include "tprt/abi.h"
#include "tprt/tprt.h"

/* NULL after a message on stderr. */
tprt_context *make_context(tprt_comm *world);

#endif
