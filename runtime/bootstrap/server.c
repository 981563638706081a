/* The store served by a rank: one thread with non-blocking sockets. Only admitted clients have
 * buffers, each with the capacity of the largest frame. */
#define _GNU_SOURCE 1
#include "bootstrap/handshake_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* An admitted rank. */
typedef struct member {
  int fd;     /* -1: gone */
  bool waits; /* for a key, until the deadline */
  int64_t deadline;
  char key[TPRT_STORE_KEY_BYTES];
  tprt__session session;
  size_t n_in, n_out, sent;
  unsigned char in[TPRT__MAX_FRAME], out[TPRT__MAX_FRAME];
} member;

typedef struct server {
  tprt_store base;
  tprt__identity identity;
  tprt__handshake_server door;
  int bell;
  pthread_t thread;
  struct pollfd *watched; /* bell, door, ranks */

  pthread_mutex_t lock; /* guards the fields below; not held while the thread waits */
  pthread_cond_t changed;
  tprt__values values;
  /* by rank, NULL: has not joined; in an open store, in the order of joining, and used again */
  member **members;
  int n_members;
  int lost; /* a rank that ended without BYE; -1: none */
  bool stopping;
  int64_t stop_deadline;
} server;

/* ---- members ---- */

static void reply(member *m, tprt_status status, int rank, int64_t number,
                  const tprt__value *value) {
  tprt__frame frame = {
      .kind = TPRT__FRAME_REPLY, .code = (int32_t)status, .rank = rank, .number = number};
  if (value) {
    frame.n_value = value->bytes;
    frame.value = value->data;
  }
  m->n_out = tprt__frame_write(&m->session, &frame, m->out);
  m->sent = 0;
  m->waits = false;
}

static bool is_open(const server *s) { return s->identity.n_ranks == 0; }

/* Closes a rank's connection. A rank that did not announce it is lost, so that other ranks do not
 * wait for its values. Processes may leave an open store at any time. */
static void close_connection(server *s, int rank, bool on_purpose) {
  member *m = s->members[rank];
  close(m->fd);
  m->fd = -1;
  m->waits = false;
  tprt__wipe(&m->session, sizeof m->session);
  if (on_purpose || s->stopping || is_open(s))
    return;
  s->lost = s->lost < 0 ? rank : s->lost;
  pthread_cond_broadcast(&s->changed);
}

static void serve_wait(const server *s, member *m) {
  const tprt__value *value = tprt__values_find(&s->values, m->key);
  if (value)
    reply(m, TPRT_OK, -1, 0, value);
  else if (s->lost >= 0)
    reply(m, TPRT_PEER_DEAD, s->lost, 0, NULL);
  else if (tprt__now() >= m->deadline)
    reply(m, TPRT_TIMEOUT, -1, 0, NULL);
}

static void serve(server *s, int rank, const tprt__frame *frame) {
  member *m = s->members[rank];
  int64_t sum = 0;
  switch (frame->kind) {
  case TPRT__FRAME_SET:
    reply(m, tprt__values_set(&s->values, frame->key, frame->value, frame->n_value), -1, 0, NULL);
    pthread_cond_broadcast(&s->changed);
    return;
  case TPRT__FRAME_ADD: {
    tprt_status status = tprt__values_add(&s->values, frame->key, frame->number, &sum);
    reply(m, status, -1, sum, NULL);
    pthread_cond_broadcast(&s->changed);
    return;
  }
  case TPRT__FRAME_REMOVE:
    tprt__values_remove(&s->values, frame->key);
    reply(m, TPRT_OK, -1, 0, NULL);
    return;
  case TPRT__FRAME_GET:
    memcpy(m->key, frame->key, sizeof m->key);
    m->deadline = tprt__deadline(frame->number > 0 ? frame->number : 0);
    m->waits = true;
    return;
  default: /* BYE, or a frame that only a server sends */
    close_connection(s, rank, frame->kind == TPRT__FRAME_BYE);
  }
}

/* Reads the available part of the next frame, whose head determines its length. */
static void receive(server *s, int rank) {
  member *m = s->members[rank];
  for (;;) {
    size_t wants = m->n_in < TPRT__HEAD_BYTES ? TPRT__HEAD_BYTES : tprt__frame_bytes(m->in);
    if (wants == 0)
      break;
    if (m->n_in == wants) {
      tprt__frame frame;
      m->n_in = 0;
      if (!tprt__frame_read(&m->session, m->in, wants, &frame))
        break;
      serve(s, rank, &frame);
      return;
    }
    ssize_t got = recv(m->fd, m->in + m->n_in, wants - m->n_in, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (got <= 0)
      break;
    m->n_in += (size_t)got;
  }
  close_connection(s, rank, false);
}

static void send_out(server *s, int rank) {
  member *m = s->members[rank];
  ssize_t n = send(m->fd, m->out + m->sent, m->n_out - m->sent, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR)
    close_connection(s, rank, false);
  else if (n > 0 && (m->sent += (size_t)n) == m->n_out)
    m->n_out = m->sent = 0;
}

/* Handles one request at a time: the next one is read after the reply to the last is sent. A client
 * that waits for a reply sends nothing, so an event then means that its connection has ended. */
static void handle_request(server *s, int rank, short events) {
  member *m = s->members[rank];
  if (events && m->waits)
    close_connection(s, rank, false);
  else if (events && m->n_out == 0)
    receive(s, rank);
  if (m->fd >= 0 && m->waits)
    serve_wait(s, m);
  if (m->fd >= 0 && m->n_out > 0)
    send_out(s, rank);
}

/* ---- handshakes ---- */

/* Returns the place of a new member; -1, with the reason in *status, if there is none. */
static int find_place(const server *s, int rank, tprt_status *status) {
  if (!is_open(s)) {
    *status = TPRT_INVALID_STATE;
    return rank != s->identity.rank && !s->members[rank] ? rank : -1;
  }
  *status = TPRT_NO_MEMORY;
  int place = 0;
  while (place < s->n_members && s->members[place] && s->members[place]->fd >= 0)
    place++;
  return place < s->n_members ? place : -1;
}

/* Turns a guest into a member, and sends it the status in the first frame. */
static bool admit(void *user, const tprt__handshake_client *guest) {
  server *s = user;
  tprt_status refusal;
  int rank = find_place(s, guest->gate.rank, &refusal);
  if (rank < 0) {
    tprt__handshake_client_reply(guest, refusal);
    return false;
  }
  member *m = s->members[rank] ? s->members[rank] : tprt__alloc(sizeof *m);
  tprt__handshake_client_reply(guest, m ? TPRT_OK : TPRT_NO_MEMORY);
  if (!m)
    return false;
  *m = (member){.fd = guest->fd};
  tprt__handshake_session(&guest->gate, &m->session);
  m->session.n_sent = 1; /* the status frame */
  s->members[rank] = m;
  return true;
}

/* ---- thread ---- */

static size_t n_watched(const server *s) {
  return 1 + tprt__handshake_server_n_fds(&s->door) + (size_t)s->n_members;
}

/* Fills in the descriptors to poll. Returns until when to wait. */
static int64_t prepare(server *s) {
  int64_t until = s->stopping ? s->stop_deadline : INT64_MAX;
  struct pollfd *at = s->watched;
  *at++ = (struct pollfd){.fd = s->bell, .events = POLLIN};
  until = tprt__min(until, tprt__handshake_server_prepare(&s->door, at));
  at += tprt__handshake_server_n_fds(&s->door);
  for (int rank = 0; rank < s->n_members; rank++) {
    const member *m = s->members[rank];
    *at++ = (struct pollfd){.fd = m ? m->fd : -1, .events = m && m->n_out ? POLLOUT : POLLIN};
    if (m && m->waits)
      until = tprt__min(until, m->deadline);
  }
  return until;
}

static void handle(server *s) {
  const struct pollfd *at = s->watched;
  uint64_t rung;
  if (at++->revents)
    (void)!read(s->bell, &rung, sizeof rung);
  tprt__handshake_server_handle(&s->door, at, admit, s);
  at += tprt__handshake_server_n_fds(&s->door);
  for (int rank = 0; rank < s->n_members; rank++, at++) {
    if (s->members[rank] && s->members[rank]->fd >= 0)
      handle_request(s, rank, at->fd == s->members[rank]->fd ? at->revents : 0);
  }
  /* values set by one rank may complete the waits of others */
  for (int rank = 0; rank < s->n_members; rank++) {
    if (s->members[rank] && s->members[rank]->fd >= 0 && s->members[rank]->waits)
      handle_request(s, rank, 0);
  }
}

static bool is_done(const server *s) {
  bool alone = true;
  for (int rank = 0; rank < s->n_members; rank++)
    alone &= !s->members[rank] || s->members[rank]->fd < 0;
  return s->stopping && (alone || tprt__now() >= s->stop_deadline);
}

static void *run(void *data) {
  server *s = data;
  pthread_mutex_lock(&s->lock);
  while (!is_done(s)) {
    int64_t until = prepare(s);
    pthread_mutex_unlock(&s->lock);
    tprt__sockets_wait(s->watched, n_watched(s), until);
    pthread_mutex_lock(&s->lock);
    handle(s);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

/* ---- calls of the rank that serves ---- */

static void announce(server *s) {
  const uint64_t one = 1;
  pthread_cond_broadcast(&s->changed);
  (void)!write(s->bell, &one, sizeof one);
}

static tprt_status server_set(tprt_store *store, const char *key, const void *value, size_t bytes,
                              int64_t deadline) {
  server *s = (server *)store;
  (void)deadline;
  pthread_mutex_lock(&s->lock);
  tprt_status status = tprt__values_set(&s->values, key, value, bytes);
  announce(s);
  pthread_mutex_unlock(&s->lock);
  return status;
}

static tprt_status server_add(tprt_store *store, const char *key, int64_t delta, int64_t *sum,
                              int64_t deadline) {
  server *s = (server *)store;
  (void)deadline;
  pthread_mutex_lock(&s->lock);
  tprt_status status = tprt__values_add(&s->values, key, delta, sum);
  announce(s);
  pthread_mutex_unlock(&s->lock);
  return status;
}

static tprt_status server_remove(tprt_store *store, const char *key, int64_t deadline) {
  server *s = (server *)store;
  (void)deadline;
  pthread_mutex_lock(&s->lock);
  tprt__values_remove(&s->values, key);
  pthread_mutex_unlock(&s->lock);
  return TPRT_OK;
}

static tprt_status server_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                              int64_t deadline) {
  server *s = (server *)store;
  const struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  const tprt__value *found;
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&s->lock);
  while (!(found = tprt__values_find(&s->values, key)) && !status) {
    if (s->lost >= 0)
      status = tprt__fail(TPRT_PEER_DEAD, "rank %d ended before \"%s\" was set", s->lost, key);
    else if (tprt__now() >= deadline)
      status = tprt__fail(TPRT_TIMEOUT, TPRT__NOT_SET " \"%s\" in time", key);
    else
      pthread_cond_timedwait(&s->changed, &s->lock, &until);
  }
  if (found)
    status = tprt__value_read(found, value, bytes);
  pthread_mutex_unlock(&s->lock);
  return status;
}

/* ---- creation and destruction ---- */

static void release(server *s) {
  for (int rank = 0; rank < s->n_members && s->members; rank++) {
    if (s->members[rank] && s->members[rank]->fd >= 0)
      close(s->members[rank]->fd);
    tprt__free(s->members[rank]);
  }
  if (s->bell >= 0)
    close(s->bell);
  tprt__handshake_server_clear(&s->door);
  tprt__values_clear(&s->values);
  tprt__free(s->members);
  tprt__free(s->watched);
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
  tprt__wipe(&s->identity, sizeof s->identity);
  tprt__free(s);
}

static void server_close(tprt_store *store) {
  server *s = (server *)store;
  pthread_mutex_lock(&s->lock);
  s->stopping = true;
  s->stop_deadline = is_open(s) ? 0 : tprt__deadline(s->base.timeout_ns);
  announce(s);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  release(s);
}

static tprt_status make_server(const tprt__store_setup *setup, server **made) {
  static const tprt__store_kind kind = {server_set, server_get, server_add, server_remove,
                                        server_close};
  int n = tprt__store_processes(setup->identity.n_ranks);
  server *s = tprt__alloc(sizeof *s);
  pthread_condattr_t monotonic;
  if (!s)
    return tprt__fail_memory(sizeof *s);
  s->base = (tprt_store){.kind = &kind, .timeout_ns = setup->timeout_ns};
  s->identity = setup->identity;
  s->n_members = n;
  s->bell = s->lost = -1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&s->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  tprt__values_start(&s->values, setup->identity.n_ranks);
  tprt_status status = tprt__handshake_server_init(&s->door, &s->identity);
  s->members = tprt__alloc((size_t)n * sizeof *s->members);
  s->watched = tprt__alloc(n_watched(s) * sizeof *s->watched);
  if (!status && (!s->members || !s->watched))
    status = tprt__fail_memory((size_t)n * sizeof *s->members);
  if (status)
    release(s);
  else
    *made = s;
  return status;
}

tprt_status tprt__store_serve(const tprt__address *address, const tprt__store_setup *setup,
                              int *port, tprt_store **store) {
  server *s = NULL;
  tprt_status status = make_server(setup, &s);
  if (status)
    return status;
  s->door.check_user = address->is_unix;
  /* the address by which the other ranks connect */
  memcpy(s->base.host, address->host, sizeof s->base.host);
  status = tprt__address_listen(address, setup->open, &s->door.listener);
  if (!status) {
    s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->bell < 0)
      status = tprt__fail_errno("eventfd");
  }
  if (!status && port) {
    char host[TPRT__HOST_BYTES];
    *port = tprt__socket_here(s->door.listener, host);
  }
  errno = status ? 0 : pthread_create(&s->thread, NULL, run, s);
  if (errno)
    status = tprt__fail_errno("the thread of the store");
  if (status) {
    release(s);
    return status;
  }
  *store = &s->base;
  return TPRT_OK;
}
