/* Exchanges of rows between ranks (TPRT_SITE_ROUTE), on host memory. */
#ifndef TPRT_RUNTIME_PROGRAM_ROUTE_H
#define TPRT_RUNTIME_PROGRAM_ROUTE_H

#include "program/context.h"

/* Memory that routes share; it grows on demand. A zeroed struct is empty. */
typedef struct tprt__route_memory {
  void *memory;
  size_t bytes;
} tprt__route_memory;

void tprt__route_memory_free(tprt__route_memory *scratch);

/* The tensors of a route. `init` is NULL for gathers. */
typedef struct tprt__route_tensors {
  const void *rows, *positions, *starts, *ends, *init;
  void *out;
} tprt__route_tensors;

/* Runs a route. *traffic: the bytes of the rows that this rank sends to others. TPRT_INVALID_STATE
 * if groups overlap or are out of order. */
tprt_status tprt__route_run(tprt_comm *comm, const tprt__site *site,
                            const tprt__route_tensors *tensors, tprt__route_memory *scratch,
                            int64_t *traffic);

#endif
