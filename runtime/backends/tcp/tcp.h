/* Messages over TCP: a connection between any two ranks of a world, on one host or several.
 *
 * A message is a head, which states tag and length, and its bytes, as they are in memory: ranks run
 * the same architecture. It goes straight from the sender's memory into the receiver's where a
 * receive waits for it; else it is kept. Nothing has a thread: what is under way moves when the
 * wire asks how far it is.
 *
 * Trust. Whoever connects proves that it knows the ticket of the world, 32 random bytes that rank 0
 * puts into the store, mixed with the job's secret where there is one; the rank that accepts proves
 * it first, in the handshake of bootstrap/frames.h. Messages are neither signed nor encrypted after
 * that, as those of MPI and NCCL. */
#ifndef TPRT_RUNTIME_TCP_H
#define TPRT_RUNTIME_TCP_H

#include "backends/message/message.h"
#include "bootstrap/rendezvous.h"

typedef struct tcp_head {
  uint32_t tag, bytes;
} tcp_head;

/* A send or receive of the wire's. Requests of a peer and direction are a list, oldest first. */
typedef struct tcp_request {
  struct tcp_request *next;
  bool sends, over;
  /* canceled when a part was sent already: the rest is a copy, and ends with the request */
  bool abandoned;
  int peer;
  tcp_head head;
  char *data;
  size_t done; /* of a send, head included */
  tprt_status status;
} tcp_request;

/* A message that came before anybody asked for it. */
typedef struct tcp_message {
  struct tcp_message *next;
  tcp_head head;
  char data[];
} tcp_message;

typedef struct tcp_peer {
  int fd; /* -1: this rank itself */
  bool ended;
  tcp_request *sends, **last_send, *receives, **last_receive;
  tcp_message *kept, **last_kept;
  /* The message that is coming. */
  tcp_head head;
  size_t n_head, n_data;
  bool placed;          /* the next two are as they should be */
  tcp_request *into;    /* whose memory it goes to */
  tcp_message *keeping; /* or where it is kept; neither: it is dropped */
} tcp_peer;

typedef struct tcp_end {
  int n_ranks, rank;
  /* an epoll of all connections, which says when one can be read or written again; -1: none */
  int changes;
  tprt__local local;
  tcp_peer peers[];
} tcp_end;

/* ---- tcp_mesh.c ---- */
/* Connects all ranks of a meeting with each other. */
tprt_status tprt__tcp_meet(const tprt__meeting *meeting, tcp_end *end);

#endif
