/* Messages over TCP: one connection between each two ranks of a world, on one or several hosts.
 * Two ranks of one host exchange messages through shared memory instead: a ring of bytes in each
 * direction (tcp_memory.c). Their connection then carries a byte whenever a rank that sleeps has to
 * look at its rings, and its end shows that a rank has ended.
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
#include "bootstrap/store.h"

#include <stdatomic.h>

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

/* One direction between two ranks of a host. Positions count the bytes of the stream. The writer
 * owns `written`, the reader owns `read`. */
enum { TCP_RING_BYTES = 256 << 10 };
typedef struct tcp_ring {
  _Alignas(64) _Atomic uint64_t read;
  _Alignas(64) _Atomic uint64_t written;
  _Alignas(4096) unsigned char stream[TCP_RING_BYTES];
} tcp_ring;

/* A rank of this host, in the shared memory. */
typedef struct tcp_neighbor {
  _Alignas(64) _Atomic uint32_t sleeps; /* wants a byte when something changes in its rings */
} tcp_neighbor;

typedef struct tcp_peer {
  int fd; /* -1: this rank itself */
  bool ended;
  /* the rings from and to a rank of this host, and its entry in the memory; NULL: messages go over
   * the connection */
  tcp_ring *in, *out;
  tcp_neighbor *neighbor;
  _Atomic bool has_event; /* the connection may have bytes, or may have ended */
  _Atomic bool is_full;   /* a send waits for room in `out` */
  bool hung_up;           /* the connection has ended; `in` may still have bytes */
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
  int *first; /* for each rank, the lowest rank on its host */
  tprt__host_rank local;
  void *memory; /* shared with the ranks of this host; NULL: none */
  size_t memory_bytes;
  tcp_neighbor *neighbor; /* this rank's own */
  int64_t next_look;      /* time at which a rank that polls looks for events of connections */
  tcp_peer peers[];
} tcp_endpoint;

/* ---- tcp.c: also the base of backend fabric ---- */
extern const tprt_messenger tprt__tcp_messenger;
/* Opens the endpoint of one rank of a world of this backend, which rendezvous in the store. The
 * caller owns it; the messenger closes it. */
tprt_status tprt__tcp_open(const char *backend, int n_ranks, int rank,
                           const tprt__settings *settings, tcp_endpoint **end);
/* Looks for events now and then: a rank that never sleeps has to notice the end of its peers. */
void tprt__tcp_look(tcp_endpoint *end);

/* ---- tcp_mesh.c ---- */
/* Writes the address at which ranks of other hosts reach this one: 127.0.0.1 if all ranks are on
 * this host. */
tprt_status tprt__tcp_own_host(const tprt__rendezvous *meeting, const tprt__host_rank *local,
                               char host[TPRT__HOST_BYTES]);
/* Connects the ranks of a meeting with each other. */
tprt_status tprt__tcp_connect_mesh(const tprt__rendezvous *meeting, tcp_endpoint *end);

/* ---- tcp_memory.c ---- */
/* Maps the memory that the ranks of this host share, and sets the rings of the peers in it. */
tprt_status tprt__tcp_memory_open(const tprt__rendezvous *meeting, tcp_endpoint *end);
void tprt__tcp_memory_close(tcp_endpoint *end);
/* Moves as many bytes to, or from, a peer's ring as it has room for, or has. Returns false if that
 * is none, or if the peer wrote an impossible position, which ends it. */
bool tprt__tcp_memory_write(tcp_peer *peer, const void *from, size_t bytes, size_t *n);
bool tprt__tcp_memory_read(tcp_peer *peer, void *to, size_t bytes, size_t *n);
/* Takes the bytes that woke this rank from a connection, and notices its end. */
void tprt__tcp_memory_attend(tcp_peer *peer);
/* True if a ring of this rank needs it. Callable from any thread. */
bool tprt__tcp_memory_is_waiting(const tcp_endpoint *end);

#endif
