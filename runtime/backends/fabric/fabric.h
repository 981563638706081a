/* Messages over libfabric, for networks with a transport of their own, such as InfiniBand,
 * Slingshot or EFA. Backend tcp is the base: its connections, which prove that both sides belong to
 * the world, tell when a rank has ended, and ranks of one host exchange messages through its shared
 * memory. To ranks on other hosts, called far ranks, messages are libfabric's tagged messages on an
 * endpoint of reliable datagrams. Data go from the memory of one caller to that of the other,
 * without a copy.
 *
 * Tags of libfabric have 64 bits. The low bits are the tag of the message, the others are random,
 * the same on all ranks, and only known to them: so a stranger who reaches the endpoint matches no
 * receive. Messages are neither signed nor encrypted.
 *
 * The end of a rank: an endpoint that closes sends a farewell to each far rank, behind all
 * messages, and waits until each has answered with a byte on its connection. A rank whose
 * connection ends without a farewell has died; what it sent before may still arrive for a while.
 *
 * This header does not need libfabric's. Without those, fabric_missing.c replaces the files that
 * include fabric_endpoint.h. */
#ifndef TPRT_RUNTIME_FABRIC_H
#define TPRT_RUNTIME_FABRIC_H

#include "backends/tcp/tcp.h"

/* Loads libfabric. */
tprt_status tprt__fabric_load(void);
/* Opens the messages of a rank to the far ranks. Takes ownership of `near`, the endpoint of the
 * connections, also on failure. *max_tag is the largest tag. */
tprt_status tprt__fabric_open(tcp_endpoint *near, const tprt__settings *settings, void **end,
                              uint32_t *max_tag);
/* Without open and open_threads. */
extern const tprt_messenger tprt__fabric_messenger;

#endif
