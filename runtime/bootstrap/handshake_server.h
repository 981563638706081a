/* Handshakes over sockets: accepts connections and authenticates the clients.
 *
 * A client that has not proven anything uses few resources: one of 4 entries per rank, for at most
 * one second, with a buffer for one handshake message. If all entries are in use, the oldest client
 * that has sent nothing is dropped, so that silent clients delay nobody. */
#ifndef TPRT_BOOTSTRAP_DOOR_H
#define TPRT_BOOTSTRAP_DOOR_H

#include "bootstrap/store.h"

#include <poll.h>

/* A connection during its handshake. */
typedef struct tprt__handshake_client {
  int fd; /* -1: the entry is free */
  int64_t deadline;
  tprt__handshake gate;
  size_t n_in;
  unsigned char in[TPRT__HELLO_BYTES];
} tprt__handshake_client;

typedef struct tprt__handshake_server {
  const tprt__identity *own;
  int listener;         /* no listener; -1: closed */
  bool check_user;      /* for a UNIX socket: accept only processes of the same user */
  int64_t accept_after; /* set when no file descriptor was left */
  int accept_errno;     /* why the last connection was not accepted; 0: it was */
  tprt__handshake_client *clients;
  int n_clients;
} tprt__handshake_server;

/* Creates a door without a listener; the caller may set one, which the door then owns and closes.
 * `own` must live as long as the door. */
tprt_status tprt__handshake_server_init(tprt__handshake_server *door, const tprt__identity *own);
void tprt__handshake_server_clear(tprt__handshake_server *door);

/* The number of descriptors to poll. tprt__handshake_server_prepare fills them in, and returns
 * until when to wait. */
static inline size_t tprt__handshake_server_n_fds(const tprt__handshake_server *door) {
  return 1 + (size_t)door->n_clients;
}
int64_t tprt__handshake_server_prepare(const tprt__handshake_server *door, struct pollfd *watched);
/* Called for a guest that has proven which rank it is (gate.rank). Returns true if it takes
 * ownership of the descriptor; otherwise the descriptor is closed. */
typedef bool tprt__admit_fn(void *user, const tprt__handshake_client *guest);
/* Handles the events that poll has reported. */
void tprt__handshake_server_handle(tprt__handshake_server *door, const struct pollfd *watched,
                                   tprt__admit_fn *admit, void *user);
/* Sends the last message of the handshake: a status, which is TPRT_OK if the guest is admitted. */
void tprt__handshake_client_reply(const tprt__handshake_client *guest, tprt_status status);

/* ---- client side ---- */

/* Result of a handshake for the client. */
typedef struct tprt__handshake_result {
  tprt__refusal refusal;
  tprt__challenge stated;
  bool changed;       /* the last message was modified in transit */
  tprt_status status; /* the status sent by tprt__handshake_client_reply */
} tprt__handshake_result;

/* Performs the handshake as a client. LATE and BROKEN mean that the server had no time, or gave the
 * entry to another client; try again. */
tprt__socket_result tprt__handshake_connect(int fd, const tprt__identity *own, int64_t deadline,
                                            tprt__session *session,
                                            tprt__handshake_result *welcome);

#endif
