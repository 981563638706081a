/* Several small collectives of a batch as one. */
#ifndef TPRT_RUNTIME_COALESCE_H
#define TPRT_RUNTIME_COALESCE_H

#include "comm/op.h"

/* One collective in place of n. */
typedef struct tprt__coalesced {
  const tprt__plan *plans;
  size_t n;
  tprt__plan whole; /* on packed copies of the tensors */
} tprt__coalesced;

/* Of the memory for packed copies: those of a meeting have at most half of it for each side. */
enum { TPRT__PACKED_BYTES = 128 * 1024 };

/* Returns how many of the n plans, beginning with the first, run as one; at least 1. All ranks get
 * the same number, since it depends on kinds, types, sizes and hints only. */
size_t tprt__coalescible(const tprt__plan *plans, size_t n);
/* Makes the collective that stands for n plans, with the data of their send tensors, in `memory`
 * of TPRT__PACKED_BYTES, which must live as long. Release it with tprt__coalesced_clear.
 * TPRT_NO_MEMORY. */
tprt_status tprt__coalesce(const tprt__plan *plans, size_t n, void *memory, tprt__coalesced *made);
/* Copies the results into the recv tensors of the plans. */
void tprt__coalesced_deliver(const tprt__coalesced *made);
void tprt__coalesced_clear(tprt__coalesced *made);

/* Refuses plans with the hint independent of which one reads or writes what another writes. */
tprt_status tprt__check_independent(const tprt__plan *plans, size_t n);

#endif
