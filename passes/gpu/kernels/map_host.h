/* Host side of a GPU program: tp-map-kernels generates runtime calls for kernels, copies and
 * constants. */
#ifndef TP_PASSES_MAP_HOST_H
#define TP_PASSES_MAP_HOST_H

#include "passes/gpu/kernels/map.h"
#include "passes/support/lower.h"

/* A function that became a kernel. It has up to two variants: one with vectors, if possible, and
 * one without for buffers that are not aligned for vectors. */
typedef struct tp__map_kernel {
  MlirOperation func; /* the function, erased at the end */
  int n_variants;     /* 0: it has no iterations */
  int number[2];      /* of the names tp_kernelN */
  tp__map_launch launch[2];
  int64_t alignment[TP_MAP_OPERANDS]; /* of each argument, in bytes, for the first variant */
  /* number of additional arguments after those of the function: dynamic strides of its buffers */
  int n_strides;
  /* has one more argument at the end: the address where failed assertions are reported */
  bool asserts;
} tp__map_kernel;

typedef struct tp__map_kernels {
  tp__map_kernel *items;
  size_t n, capacity;
} tp__map_kernels;

/* Assertions of kernels: message i belongs to number i + 1. */
typedef struct tp__map_asserts {
  MlirAttribute *messages;
  size_t n, capacity;
} tp__map_asserts;

/* ---- map_asserts.c ---- */
bool tp__map_asserts_in(MlirOperation nest);
/* Makes the assertions of a nest inside a kernel write their number to the address `word` if they
 * fail. */
tp_status tp__map_guard(tp__map_asserts *asserts, MlirOperation nest, MlirValue word);
/* Makes the host function fail at its end, with the message of a failed assertion. */
void tp__map_check(tp__lowering *l, const tp__map_asserts *asserts);

/* ---- map_host.c ---- */
/* Returns the kernel that `call` calls, or NULL. */
const tp__map_kernel *tp__map_called(const tp__map_kernels *kernels, MlirOperation call);

/* All memory of the function is device memory. Replaces launches, copies, element accesses and
 * constants by runtime calls. Refuses other ops that access memory. */
tp_status tp__map_host(MlirOperation module, MlirOperation func, const tp__map_kernels *kernels,
                       const tp__map_asserts *asserts);

#endif
