/* The host's side of a program for a GPU: what tp-map-kernels puts in the place of kernels, copies
 * and constants. */
#ifndef TP_PASSES_MAP_HOST_H
#define TP_PASSES_MAP_HOST_H

#include "passes/gpu/kernels/map.h"
#include "passes/support/lower.h"

/* A function that became a kernel: one with vectors, where it can have them, and one without for
 * buffers that do not lie where vectors have to. */
typedef struct tp__map_kernel {
  MlirOperation func; /* the function, which goes away at the end */
  int n_variants;     /* 0: has no iterations */
  int number[2];      /* tp_kernelN */
  tp__map_launch launch[2];
  int64_t alignment[TP_MAP_OPERANDS]; /* of each argument, for the first variant */
  /* more arguments, behind those of the function: strides of its buffers that are not in their
   * types */
  int n_strides;
  bool asserts; /* has one more argument, the last: where assertions that fail are reported */
} tp__map_kernel;

typedef struct tp__map_kernels {
  tp__map_kernel *items;
  size_t n, capacity;
} tp__map_kernels;

/* What kernels assert: message i is that of number i + 1. */
typedef struct tp__map_asserts {
  MlirAttribute *messages;
  size_t n, capacity;
} tp__map_asserts;

/* ---- map_asserts.c ---- */
bool tp__map_asserts_in(MlirOperation nest);
/* The assertions of the nest, which stands in a kernel, write their number to `word`, an address,
 * if they fail. */
tp_status tp__map_guard(tp__map_asserts *asserts, MlirOperation nest, MlirValue word);
/* When the function of the host ends it fails with the message of an assertion that failed. */
void tp__map_check(tp__lowering *l, const tp__map_asserts *asserts);

/* ---- map_host.c ---- */
/* The kernel that `call` calls, or NULL. */
const tp__map_kernel *tp__map_called(const tp__map_kernels *kernels, MlirOperation call);

/* Memory is that of the device in the whole function: launches, copies, reads and writes of
 * elements, and constants become calls of the runtime. Refuses what is left that touches memory. */
tp_status tp__map_host(MlirOperation module, MlirOperation func, const tp__map_kernels *kernels,
                       const tp__map_asserts *asserts);

#endif
