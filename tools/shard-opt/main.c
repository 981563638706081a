/* shard-opt: MLIR's own opt driver with the tp-* passes and pipelines. Every flag of mlir-opt
 * works. */
#include "tp/passes.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* What one pass frees the next one takes. Given back in between, every page of it would be cleared
 * by the kernel again, which takes longer than most of what is done with it. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
  enum { MIB = 1 << 20 };
  mallopt(M_MMAP_THRESHOLD, 64 * MIB); /* larger blocks are apart, and are given back */
  mallopt(M_TRIM_THRESHOLD, 1024 * MIB);
  mallopt(M_TOP_PAD, 16 * MIB);
#endif
}

int main(int argc, char **argv) {
  keep_freed_memory();
  return tp_opt_main(argc, argv);
}
