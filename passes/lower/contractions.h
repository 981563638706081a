/* Shared by the files that lower contractions on buffers. */
#ifndef TP_PASSES_LOWER_CONTRACTIONS_H
#define TP_PASSES_LOWER_CONTRACTIONS_H

#include "passes/support/contraction.h"
#include "passes/support/lower.h"

/* Most elements of a result that runs beside others. cuBLASLt computes tiles of up to 128 x 128, so
 * this is 512 tiles, about four for each multiprocessor of a large GPU. A product of more tiles
 * leaves little of the GPU idle. */
static const int64_t tp__most_elements = INT64_C(512) * 128 * 128;

/* A contraction as a site of the runtime. */
typedef struct tp__product {
  MlirOperation op;
  tp__contraction contraction;
  tprt_abi_site site;
  tprt_abi_loop loops[TP_MAX_LOOPS];
  /* The fill of C with zeros, if nothing accesses memory between it and the contraction: then the
   * call overwrites C instead. Null: there is none. */
  MlirOperation fill;
} tp__product;

/* Describes the contraction `op`. False if its strides are dynamic or negative, or its operands are
 * not of one element type; with `mixed`, they may be those that GPUs multiply. */
bool tp__read_product(MlirOperation op, bool mixed, tp__product *product);

/* True for ops that neither read nor write the contents of a buffer. */
bool tp__leaves_memory(MlirOperation op);

/* Products that may run at the same time, in program order. */
typedef struct tp__product_group {
  int n;
  size_t members[TPRT_MAX_MATMULS]; /* indices in the list of products */
} tp__product_group;

/* Groups products of one function, each of which is in one group; the members of a group can move
 * to its first member. *groups is freed with tp__free; *n is their number. */
tp_status tp__group_products(MlirOperation func, size_t n_products, const tp__product *products,
                             tp__product_group **groups, size_t *n);
/* Moves what makes the operands of a member in front of `first`, the first member. */
void tp__move_factors(const tp__product *member, MlirOperation first);

#endif
