/* Shared parts of the nccl programs: memory of a rank's device, and its streams. All run in the
 * rank's thread. */
#ifndef TPRT_TEST_NCCL_STREAMS_H
#define TPRT_TEST_NCCL_STREAMS_H

#include "test/runtime/harness/device.h"
#include "test/runtime/harness/ranks.h"

/* Makes the context of device `ordinal` current in this thread. */
void nccl_enter(int ordinal);
void *nccl_take(tprt_comm *comm, size_t bytes);
void nccl_give(tprt_comm *comm, void *block);
void nccl_write(tprt_comm *comm, void *to, const void *from, size_t bytes);
void nccl_read(tprt_comm *comm, void *to, const void *from, size_t bytes);

/* Create a stream of the rank's device, and work in a stream that takes this time. */
void *nccl_stream(tprt_comm *comm);
void nccl_stream_destroy(tprt_comm *comm, void *stream);
void nccl_delay(void *stream, int ms);

/* Tests of streams, works and events; and of graphs, whose argument is the number of replays
 * (int). */
rank_fn nccl_streams, nccl_graph;

#endif
