/* shard-opt: MLIR's opt driver with the tp-* passes and pipelines. It accepts every flag of
 * mlir-opt. */
#include "tp/passes.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Keeps freed memory in the process, because the next pass allocates it again. If it went back to
 * the kernel, every page would be cleared anew, which takes longer than most of the work on it. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
  enum { MIB = 1 << 20 };
  /* larger blocks are mapped separately and unmapped when freed */
  mallopt(M_MMAP_THRESHOLD, 64 * MIB);
  mallopt(M_TRIM_THRESHOLD, 1024 * MIB);
  mallopt(M_TOP_PAD, 16 * MIB);
#endif
}

int main(int argc, char **argv) {
  keep_freed_memory();
  return tp_opt_main(argc, argv);
}
