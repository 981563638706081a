/* Messages over TCP: one connection between each two ranks of a world, on one or several hosts.
 *
 * A message consists of a header with its tag and length, and its bytes as they are in memory: all
 * ranks run the same architecture. If a matching receive is pending, the bytes go directly into the
 * receiver's memory; otherwise the message is stored. There are no threads: transfers progress when
 * the wire layer tests a request.
 *
 * Trust: the rank that connects proves that it knows the ticket of the world. The ticket is 32
 * random bytes that rank 0 puts into the store, mixed with the job's secret if there is one. The
 * accepting rank proves this first, in the handshake of bootstrap/frames.h. After the handshake
 * messages are neither signed nor encrypted, like those of MPI and NCCL. */
#ifndef TPRT_RUNTIME_TCP_H
#define TPRT_RUNTIME_TCP_H

#include "backends/message/message.h"
#include "bootstrap/rendezvous.h"

typedef struct tcp_head {
  uint32_t tag, bytes;
} tcp_head;

/* A send or receive requested by the wire layer. The requests of a peer form one list per
 * direction, oldest first. */
typedef struct tcp_request {
  struct tcp_request *next;
  bool sends, over;
  /* Canceled after a part was sent. The data is then a copy, and freed with the request. */
  bool abandoned;
  int peer;
  tcp_head head;
  char *data;
  size_t done; /* bytes sent, including the header */
  tprt_status status;
} tcp_request;

/* A message that arrived before it was requested. */
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
  /* The message that is arriving. */
  tcp_head head;
  size_t n_head, n_data;
  bool placed;          /* the next two are valid */
  tcp_request *into;    /* the receive whose memory it goes to */
  tcp_message *keeping; /* or the stored message; both NULL: it is dropped */
} tcp_peer;

typedef struct tcp_endpoint {
  int n_ranks, rank;
  /* epoll of all connections, for events of readability and writability; -1: none */
  int changes;
  tprt__host_rank local;
  tcp_peer peers[];
} tcp_endpoint;

/* ---- tcp_mesh.c ---- */
/* Connects the ranks of a meeting with each other. */
tprt_status tprt__tcp_connect_mesh(const tprt__rendezvous *meeting, tcp_endpoint *end);

#endif
