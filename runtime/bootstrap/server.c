/* The store that rank 0 serves: one thread with non-blocking sockets.
 *
 * Who has not proven anything takes little: a slot out of 4 per rank, for a second at most, with room for one message of
 * the handshake. When all slots are taken, the oldest that has said nothing goes, so silent clients delay nobody. Only a
 * client that was admitted gets buffers, which have room for the largest frame. */
#define _GNU_SOURCE 1
#include "store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HALF_OPEN_PER_RANK = 4, ACCEPTS_PER_ROUND = 64 };
static const int64_t handshake_ns = 1000000000, no_descriptor_ns = 10000000;

/* A connection in its handshake. */
typedef struct guest {
  int fd; /* -1: free */
  int64_t deadline;
  tprt__gate gate;
  size_t n_in;
  unsigned char in[TPRT__HELLO_BYTES];
} guest;

/* A rank that was admitted. */
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
  bool check_user; /* unix */
  int listener, bell;
  pthread_t thread;
  int64_t accept_after; /* there were no descriptors left */
  guest *guests;
  int n_guests;
  struct pollfd *watched; /* bell, listener, guests, ranks */

  pthread_mutex_t lock; /* of what follows; never held while the thread waits */
  pthread_cond_t changed;
  tprt__values values;
  member **members; /* by rank; NULL: has not come */
  int lost;         /* a rank that went without a word; -1: none */
  bool stopping;
  int64_t stop_deadline;
} server;

/* ---- Members ---- */

static void reply(member *m, tprt_status status, int rank, int64_t number, const tprt__value *value) {
  tprt__frame frame = {.kind = TPRT__FRAME_REPLY, .code = (int32_t)status, .rank = rank, .number = number};
  if (value) {
    frame.n_value = value->bytes;
    frame.value = value->data;
  }
  m->n_out = tprt__frame_write(&m->session, &frame, m->out);
  m->sent = 0;
  m->waits = false;
}

/* The rank's connection ends. One that did not say so is lost: nobody should wait for what it will not bring. */
static void part(server *s, int rank, bool on_purpose) {
  member *m = s->members[rank];
  close(m->fd);
  m->fd = -1;
  m->waits = false;
  tprt__wipe(&m->session, sizeof m->session);
  if (on_purpose || s->stopping)
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
  case TPRT__FRAME_GET:
    memcpy(m->key, frame->key, sizeof m->key);
    m->deadline = tprt__deadline(frame->number > 0 ? frame->number : 0);
    m->waits = true;
    return;
  default: /* bye, or what only a server says */
    part(s, rank, frame->kind == TPRT__FRAME_BYE);
  }
}

/* Reads as much of the next frame as there is; the head decides how long it is. */
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
  part(s, rank, false);
}

static void send_out(server *s, int rank) {
  member *m = s->members[rank];
  ssize_t n = send(m->fd, m->out + m->sent, m->n_out - m->sent, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR)
    part(s, rank, false);
  else if (n > 0 && (m->sent += (size_t)n) == m->n_out)
    m->n_out = m->sent = 0;
}

/* One request at a time: the next is read when the answer to the last has gone. Somebody who waits for an answer says
 * nothing, so whatever comes from him then is his end. */
static void attend(server *s, int rank, short events) {
  member *m = s->members[rank];
  if (events && m->waits)
    part(s, rank, false);
  else if (events && m->n_out == 0)
    receive(s, rank);
  if (m->fd >= 0 && m->waits)
    serve_wait(s, m);
  if (m->fd >= 0 && m->n_out > 0)
    send_out(s, rank);
}

/* ---- Handshakes ---- */

static void shut(guest *g) {
  close(g->fd);
  tprt__wipe(g, sizeof *g);
  g->fd = -1;
}

/* The gate is open: the guest becomes a member, and is told so in the first frame. */
static void admit(server *s, guest *g) {
  int rank = g->gate.rank;
  member *m = rank != 0 && !s->members[rank] ? tprt__alloc(sizeof *m) : NULL;
  if (!m) {
    tprt__session session;
    unsigned char out[TPRT__MAX_FRAME];
    tprt__frame frame = {.kind = TPRT__FRAME_REPLY, .code = TPRT_INVALID_STATE, .rank = rank};
    tprt__gate_session(&g->gate, &session);
    if (rank != 0 && !s->members[rank])
      frame.code = TPRT_NO_MEMORY;
    ssize_t unused = send(g->fd, out, tprt__frame_write(&session, &frame, out), MSG_NOSIGNAL); /* fits an empty buffer */
    (void)unused;
    shut(g);
    return;
  }
  m->fd = g->fd;
  tprt__gate_session(&g->gate, &m->session);
  s->members[rank] = m;
  tprt__wipe(g, sizeof *g);
  g->fd = -1;
  reply(m, TPRT_OK, -1, 0, NULL);
  send_out(s, rank);
}

static void shake(server *s, guest *g) {
  size_t wants = tprt__gate_wants(&g->gate);
  ssize_t got = recv(g->fd, g->in + g->n_in, wants - g->n_in, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0) {
    shut(g);
    return;
  }
  g->n_in += (size_t)got;
  if (g->n_in < wants)
    return;
  unsigned char answer[TPRT__CHALLENGE_BYTES];
  size_t n = tprt__gate_step(&g->gate, g->in, answer);
  g->n_in = 0;
  if (n && send(g->fd, answer, n, MSG_NOSIGNAL) != (ssize_t)n) { /* an empty buffer has room */
    shut(g);
    return;
  }
  if (g->gate.state == TPRT__GATE_OPEN)
    admit(s, g);
  else if (g->gate.state == TPRT__GATE_SHUT)
    shut(g);
}

static bool is_silent(const guest *g) { return g->gate.state == TPRT__GATE_HELLO && g->n_in == 0; }

/* A free slot; when there is none, that of the oldest silent client, or else of the oldest. */
static guest *free_slot(server *s) {
  guest *oldest = &s->guests[0];
  for (int i = 0; i < s->n_guests; i++) {
    guest *g = &s->guests[i];
    if (g->fd < 0)
      return g;
    bool silent = is_silent(g), kept = is_silent(oldest);
    if (silent != kept ? silent : g->deadline < oldest->deadline)
      oldest = g;
  }
  shut(oldest);
  return oldest;
}

static void accept_all(server *s) {
  for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        s->accept_after = tprt__deadline(no_descriptor_ns);
      return;
    }
    if (s->check_user && !tprt__same_user(fd)) {
      close(fd);
      continue;
    }
    guest *g = free_slot(s);
    *g = (guest){.fd = fd, .deadline = tprt__deadline(handshake_ns)};
    tprt__gate_start(&g->gate, &s->identity);
  }
}

/* ---- The thread ---- */

static size_t n_watched(const server *s) { return 2 + (size_t)s->n_guests + (size_t)s->identity.n_ranks; }

/* Fills in whom to listen to; returns until when. */
static int64_t prepare(server *s) {
  int64_t until = s->stopping ? s->stop_deadline : INT64_MAX;
  struct pollfd *at = s->watched;
  *at++ = (struct pollfd){.fd = s->bell, .events = POLLIN};
  bool listening = tprt__now() >= s->accept_after;
  *at++ = (struct pollfd){.fd = listening ? s->listener : -1, .events = POLLIN};
  if (!listening)
    until = tprt__min(until, s->accept_after);
  for (int i = 0; i < s->n_guests; i++) {
    *at++ = (struct pollfd){.fd = s->guests[i].fd, .events = POLLIN};
    if (s->guests[i].fd >= 0)
      until = tprt__min(until, s->guests[i].deadline);
  }
  for (int rank = 0; rank < s->identity.n_ranks; rank++) {
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
  bool incoming = at++->revents != 0;
  for (int i = 0; i < s->n_guests; i++, at++) {
    guest *g = &s->guests[i];
    if (g->fd >= 0 && at->revents)
      shake(s, g);
    if (g->fd >= 0 && tprt__now() >= g->deadline)
      shut(g);
  }
  for (int rank = 0; rank < s->identity.n_ranks; rank++, at++) {
    if (s->members[rank] && s->members[rank]->fd >= 0)
      attend(s, rank, at->fd == s->members[rank]->fd ? at->revents : 0);
  }
  /* What one rank brought is what another waits for. */
  for (int rank = 0; rank < s->identity.n_ranks; rank++) {
    if (s->members[rank] && s->members[rank]->fd >= 0 && s->members[rank]->waits)
      attend(s, rank, 0);
  }
  if (incoming)
    accept_all(s);
}

static bool is_done(const server *s) {
  bool alone = true;
  for (int rank = 0; rank < s->identity.n_ranks; rank++)
    alone &= !s->members[rank] || s->members[rank]->fd < 0;
  return s->stopping && (alone || tprt__now() >= s->stop_deadline);
}

static void *run(void *data) {
  server *s = data;
  pthread_mutex_lock(&s->lock);
  while (!is_done(s)) {
    int64_t until = prepare(s), left = until - tprt__now();
    struct timespec time = {.tv_sec = left > 0 ? left / 1000000000 : 0, .tv_nsec = left > 0 ? left % 1000000000 : 0};
    pthread_mutex_unlock(&s->lock);
    int n = ppoll(s->watched, n_watched(s), &time, NULL);
    pthread_mutex_lock(&s->lock);
    if (n < 0) /* interrupted: nothing is known of the descriptors */
      memset(s->watched, 0, n_watched(s) * sizeof *s->watched);
    handle(s);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

/* ---- Rank 0's own calls ---- */

static void announce(server *s) {
  const uint64_t one = 1;
  pthread_cond_broadcast(&s->changed);
  (void)!write(s->bell, &one, sizeof one);
}

static tprt_status server_set(tprt_store *store, const char *key, const void *value, size_t bytes, int64_t deadline) {
  server *s = (server *)store;
  (void)deadline;
  pthread_mutex_lock(&s->lock);
  tprt_status status = tprt__values_set(&s->values, key, value, bytes);
  announce(s);
  pthread_mutex_unlock(&s->lock);
  return status;
}

static tprt_status server_add(tprt_store *store, const char *key, int64_t delta, int64_t *sum, int64_t deadline) {
  server *s = (server *)store;
  (void)deadline;
  pthread_mutex_lock(&s->lock);
  tprt_status status = tprt__values_add(&s->values, key, delta, sum);
  announce(s);
  pthread_mutex_unlock(&s->lock);
  return status;
}

static tprt_status server_get(tprt_store *store, const char *key, void *value, size_t *bytes, int64_t deadline) {
  server *s = (server *)store;
  const struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  const tprt__value *found;
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&s->lock);
  while (!(found = tprt__values_find(&s->values, key)) && !status) {
    if (s->lost >= 0)
      status = tprt__fail(TPRT_PEER_DEAD, "rank %d ended before \"%s\" was set", s->lost, key);
    else if (tprt__now() >= deadline)
      status = tprt__fail(TPRT_TIMEOUT, "nobody set \"%s\" in time", key);
    else
      pthread_cond_timedwait(&s->changed, &s->lock, &until);
  }
  if (found)
    status = tprt__value_read(found, value, bytes);
  pthread_mutex_unlock(&s->lock);
  return status;
}

/* ---- Beginning and end ---- */

static void release(server *s) {
  for (int i = 0; i < s->n_guests && s->guests; i++) {
    if (s->guests[i].fd >= 0)
      close(s->guests[i].fd);
  }
  for (int rank = 0; rank < s->identity.n_ranks && s->members; rank++) {
    if (s->members[rank] && s->members[rank]->fd >= 0)
      close(s->members[rank]->fd);
    tprt__free(s->members[rank]);
  }
  if (s->bell >= 0)
    close(s->bell);
  if (s->listener >= 0)
    close(s->listener);
  tprt__values_clear(&s->values);
  tprt__free(s->members);
  tprt__free(s->guests);
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
  s->stop_deadline = tprt__deadline(s->base.timeout_ns);
  announce(s);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  release(s);
}

static server *make_server(const tprt__store_setup *setup) {
  static const tprt__store_kind kind = {server_set, server_get, server_add, server_close};
  size_t n = (size_t)setup->identity.n_ranks, n_guests = HALF_OPEN_PER_RANK * n;
  server *s = tprt__alloc(sizeof *s);
  pthread_condattr_t monotonic;
  if (!s)
    return NULL;
  s->base = (tprt_store){.kind = &kind, .timeout_ns = setup->timeout_ns};
  s->identity = setup->identity;
  s->bell = s->listener = s->lost = -1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&s->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  tprt__values_start(&s->values, setup->identity.n_ranks);
  s->guests = tprt__alloc(n_guests * sizeof *s->guests);
  s->members = tprt__alloc(n * sizeof *s->members);
  s->watched = tprt__alloc((2 + n_guests + n) * sizeof *s->watched);
  if (!s->guests || !s->members || !s->watched) {
    release(s);
    return NULL;
  }
  s->n_guests = (int)n_guests;
  for (size_t i = 0; i < n_guests; i++)
    s->guests[i].fd = -1;
  return s;
}

tprt_status tprt__store_serve(const tprt__address *address, const tprt__store_setup *setup, tprt_store **store) {
  server *s = make_server(setup);
  if (!s)
    return tprt__fail_memory(sizeof *s);
  s->check_user = address->is_unix;
  tprt_status status = tprt__address_listen(address, setup->open, &s->listener);
  if (!status) {
    s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->bell < 0)
      status = tprt__fail_errno("eventfd");
  }
  if (!status && pthread_create(&s->thread, NULL, run, s) != 0)
    status = tprt__fail(TPRT_SYSTEM, "no thread for the store");
  if (status) {
    release(s);
    return status;
  }
  *store = &s->base;
  return TPRT_OK;
}
