/* Creates contexts for the tests of GPU programs. */
#include "make_context.h"

#include <stdio.h>

tprt_context *make_context(tprt_comm *world) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  if (tprt_context_create(world, &config, &context) != TPRT_OK)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return context;
}
