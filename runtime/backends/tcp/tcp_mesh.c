/* Establishes the connections of a world. All ranks listen, at 127.0.0.1 if all are on one host,
 * and publish their addresses in the store. Each rank connects to the ranks before it and accepts
 * connections from the ranks after it. */
#define _GNU_SOURCE 1
#include "backends/tcp/tcp.h"

#include "base/env.h"
#include "bootstrap/handshake_server.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TICKET_BYTES = 32, WHERE_BYTES = TPRT__HOST_BYTES + 16 };

/* ---- authentication ---- */

/* Creates the identity of the world, which only its ranks know. */
static tprt_status make_identity(const tprt__rendezvous *m, tprt__identity *own) {
  unsigned char ticket[TICKET_BYTES];
  char key[TPRT_STORE_KEY_BYTES];
  tprt__rendezvous_key(key, m, "ticket", 0);
  if (sodium_init() < 0)
    return tprt__fail(TPRT_SYSTEM, "libsodium cannot be initialized");
  randombytes_buf(ticket, sizeof ticket);
  tprt_status status = m->rank == 0 ? tprt_store_set(m->store, key, ticket, sizeof ticket)
                                    : tprt__rendezvous_fetch(m, key, 0, ticket, sizeof ticket);
  *own = (tprt__identity){.n_ranks = m->n_ranks, .rank = m->rank, .has_secret = true};
  crypto_generichash(own->secret, sizeof own->secret, ticket, sizeof ticket,
                     m->store->has_secret ? m->store->secret : NULL,
                     m->store->has_secret ? sizeof m->store->secret : 0);
  tprt__wipe(ticket, sizeof ticket);
  return status;
}

/* ---- addresses ---- */

tprt_status tprt__tcp_own_host(const tprt__rendezvous *m, const tprt__host_rank *local,
                               char host[TPRT__HOST_BYTES]) {
  const char *given = tprt__env_text(TPRT__ENV_ADDRESS);
  const char *found = local->n_ranks == m->n_ranks ? "127.0.0.1" : given ? given : m->store->host;
  if (!*found)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the store has no address at which ranks of other hosts can reach rank %d: "
                      "set TPRT_ADDRESS to an address of this host",
                      m->rank);
  if (strlen(found) >= TPRT__HOST_BYTES)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "TPRT_ADDRESS has %zu bytes; at most %d are allowed",
                      strlen(found), TPRT__HOST_BYTES - 1);
  snprintf(host, TPRT__HOST_BYTES, "%s", found);
  return TPRT_OK;
}

static tprt_status listen_here(const tprt__rendezvous *m, const tprt__host_rank *local,
                               char where[WHERE_BYTES], int *listener) {
  char found[TPRT__HOST_BYTES];
  tprt__address address = {.port = "0"};
  tprt_status status = tprt__tcp_own_host(m, local, address.host);
  if (status)
    return status;
  snprintf(address.text, sizeof address.text, "the address %.255s", address.host);
  status = tprt__address_listen(&address, m->store->open, listener);
  if (status)
    return status;
  int port = tprt__socket_here(*listener, found);
  snprintf(where, WHERE_BYTES, strchr(address.host, ':') ? "tcp://[%s]:%d" : "tcp://%s:%d",
           address.host, port);
  return TPRT_OK;
}

/* ---- connecting to the ranks before this one ---- */

/* Performs one handshake. Try again after LATE and BROKEN. */
static tprt__socket_result greet(int fd, int rank, const tprt__identity *own, int64_t deadline,
                                 tprt_status *status) {
  tprt__session session; /* not used: messages are not signed */
  tprt__handshake_result welcome;
  tprt__socket_result how = tprt__handshake_connect(fd, own, deadline, &session, &welcome);
  tprt__wipe(&session, sizeof session);
  if (how == TPRT__SOCKET_DONE && (welcome.refusal || welcome.changed || welcome.status))
    *status = tprt__fail(TPRT_AUTH,
                         "the process at the address of rank %d is not a rank of this world", rank);
  return how;
}

/* Tries until the other rank has time, unless one has died. If too many clients connect, it drops
 * the oldest that has not proven anything. */
static tprt_status join(const tprt__rendezvous *m, int rank, const tprt__address *address,
                        const tprt__identity *own, int *fd) {
  enum { TRY_NS = 1000000000, PAUSE_NS = 2000000 };
  for (;;) {
    int64_t until = tprt__min(m->deadline, tprt__deadline(TRY_NS));
    tprt_status status = tprt__address_connect(address, m->store->open, until, fd);
    if (status == TPRT_TIMEOUT && tprt__now() < m->deadline) {
      status = tprt__rendezvous_check(m);
      if (!status)
        continue;
    }
    if (status)
      return status;
    if (greet(*fd, rank, own, tprt__min(m->deadline, tprt__deadline(TRY_NS)), &status) ==
        TPRT__SOCKET_DONE)
      return status;
    close(*fd);
    *fd = -1;
    status = tprt__rendezvous_check(m);
    if (status)
      return status;
    if (tprt__now() >= m->deadline)
      return tprt__fail(TPRT_TIMEOUT, "rank %d did not accept a connection in time", rank);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
}

static tprt_status connect_to(const tprt__rendezvous *m, int rank, const tprt__identity *own,
                              int *fd) {
  char key[TPRT_STORE_KEY_BYTES], where[WHERE_BYTES];
  tprt__address address;
  tprt__rendezvous_key(key, m, "where", rank);
  tprt_status status = tprt__rendezvous_fetch(m, key, rank, where, sizeof where);
  where[sizeof where - 1] = 0;
  if (!status)
    status = tprt__address_parse(where, &address);
  return status ? status : join(m, rank, &address, own, fd);
}

/* ---- accepting the ranks after this one ---- */

/* Admits each rank after this one once. */
static bool admit(void *user, const tprt__handshake_client *guest) {
  tcp_endpoint *end = user;
  int rank = guest->gate.rank;
  bool is_new = rank > end->rank && end->peers[rank].fd < 0;
  tprt__handshake_client_reply(guest, is_new ? TPRT_OK : TPRT_INVALID_STATE);
  if (is_new)
    end->peers[rank].fd = guest->fd;
  return is_new;
}

/* Returns the first rank after this one that has not connected; n_ranks if all have. */
static int find_missing(const tcp_endpoint *end) {
  int rank = end->rank + 1;
  while (rank < end->n_ranks && end->peers[rank].fd >= 0)
    rank++;
  return rank;
}

static tprt_status fail_missing(const tprt__handshake_server *door, int rank) {
  return door->accept_errno ? tprt__fail(TPRT_SYSTEM, "rank %d cannot be accepted: %s", rank,
                                         strerror(door->accept_errno))
                            : tprt__fail(TPRT_TIMEOUT, "rank %d did not connect in time", rank);
}

static tprt_status accept_all(const tprt__rendezvous *m, tprt__handshake_server *door,
                              tcp_endpoint *end) {
  enum { CHECK_NS = 100000000 };
  size_t n = tprt__handshake_server_n_fds(door);
  struct pollfd *watched = tprt__alloc(n * sizeof *watched);
  tprt_status status = watched ? TPRT_OK : tprt__fail_memory(n * sizeof *watched);
  while (!status && find_missing(end) < m->n_ranks) {
    /* ranks that have died do not connect */
    int64_t check = tprt__min(m->deadline, tprt__deadline(CHECK_NS));
    int64_t until = tprt__min(check, tprt__handshake_server_prepare(door, watched));
    tprt__sockets_wait(watched, n, until);
    tprt__handshake_server_handle(door, watched, admit, end);
    if (find_missing(end) < m->n_ranks && tprt__now() >= check)
      status = tprt__rendezvous_check(m);
    if (!status && find_missing(end) < m->n_ranks && tprt__now() >= m->deadline)
      status = fail_missing(door, find_missing(end));
  }
  tprt__free(watched);
  return status;
}

/* ---- hosts ---- */

/* Determines which ranks are on which host, and whether those of this one share memory: they do if
 * they belong to one user, and none of them forbids it. */
static tprt_status find_hosts(const tprt__rendezvous *m, tcp_endpoint *end, bool *shares) {
  int64_t allowed;
  bool is_common;
  tprt_status status = tprt__env_number(TPRT__ENV_TCP_MEMORY, 1, &allowed);
  uint64_t trait = allowed ? 1 + (uint64_t)geteuid() : 0;
  if (!status)
    status = tprt__rendezvous_hosts(m, trait, end->first, &is_common);
  if (status)
    return status;
  end->local = tprt__host_rank_of(m->n_ranks, end->first, m->rank);
  *shares = trait && is_common && end->local.n_ranks > 1;
  return TPRT_OK;
}

/* ---- entry point ---- */

tprt_status tprt__tcp_connect_mesh(const tprt__rendezvous *m, tcp_endpoint *end) {
  tprt__identity own;
  char key[TPRT_STORE_KEY_BYTES], where[WHERE_BYTES] = "";
  tprt__handshake_server door;
  bool shares = false;
  tprt_status status = find_hosts(m, end, &shares);
  if (!status)
    status = make_identity(m, &own);
  if (!status)
    status = tprt__handshake_server_init(&door, &own);
  if (status)
    return status;
  if (shares)
    status = tprt__tcp_memory_open(m, end);
  if (!status)
    status = listen_here(m, &end->local, where, &door.listener);
  tprt__rendezvous_key(key, m, "where", m->rank);
  if (!status)
    status = tprt_store_set(m->store, key, where, sizeof where);
  for (int rank = 0; rank < m->rank && !status; rank++)
    status = connect_to(m, rank, &own, &end->peers[rank].fd);
  if (!status)
    status = accept_all(m, &door, end);
  tprt__handshake_server_clear(&door);
  tprt__wipe(&own, sizeof own);
  return status ? status : tprt__rendezvous_end(m);
}
