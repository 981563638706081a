/* A store served by another rank: one request at a time over one connection. */
#define _GNU_SOURCE 1
#include "bootstrap/handshake_server.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct client {
  tprt_store base;
  int fd;     /* -1: the connection is broken */
  int server; /* the rank that serves the store */
  tprt__session session;
  char address[320];
  unsigned char buffer[TPRT__MAX_FRAME];
} client;

/* ---- requests ---- */

static tprt_status fail_ended(const client *c) {
  return tprt__fail(TPRT_PEER_DEAD, "rank %d, which serves %s, ended or closed the store",
                    c->server, c->address);
}

/* Closes the connection: a later message on it would answer an earlier request. */
static tprt_status give_up(client *c, tprt__socket_result how) {
  close(c->fd);
  c->fd = -1;
  if (how == TPRT__SOCKET_TIMED_OUT)
    return tprt__fail(TPRT_TIMEOUT, "rank %d, which serves %s, did not answer in time", c->server,
                      c->address);
  return fail_ended(c);
}

static tprt_status receive_reply(client *c, int64_t deadline, tprt__frame *frame) {
  tprt__socket_result how = tprt__socket_receive(c->fd, c->buffer, TPRT__HEAD_BYTES, deadline);
  size_t n = how == TPRT__SOCKET_DONE ? tprt__frame_bytes(c->buffer) : 0;
  if (how == TPRT__SOCKET_DONE && n)
    how = tprt__socket_receive(c->fd, c->buffer + TPRT__HEAD_BYTES, n - TPRT__HEAD_BYTES, deadline);
  if (how != TPRT__SOCKET_DONE)
    return give_up(c, how);
  if (n && tprt__frame_read(&c->session, c->buffer, n, frame) && frame->kind == TPRT__FRAME_REPLY)
    return TPRT_OK;
  close(c->fd);
  c->fd = -1;
  return tprt__fail(TPRT_AUTH, "a reply from %s was altered in transit", c->address);
}

/* Sends a request and waits for the reply. The server replies by the deadline, so the reply gets
 * some extra time. */
static tprt_status request(client *c, tprt__frame *frame, int64_t deadline) {
  enum { GRACE_NS = 1000000000 };
  if (c->fd < 0)
    return tprt__fail(TPRT_INVALID_STATE, "the connection to %s was already closed", c->address);
  size_t n = tprt__frame_write(&c->session, frame, c->buffer);
  tprt__socket_result how = tprt__socket_send(c->fd, c->buffer, n, deadline);
  if (how != TPRT__SOCKET_DONE)
    return give_up(c, how);
  char key[TPRT_STORE_KEY_BYTES];
  memcpy(key, frame->key, sizeof key);
  tprt_status status =
      receive_reply(c, deadline > INT64_MAX - GRACE_NS ? deadline : deadline + GRACE_NS, frame);
  if (status || !frame->code)
    return status;
  static const char *const why[] = {[TPRT_TIMEOUT] = "no rank set it in time",
                                    [TPRT_NO_MEMORY] = "the store accepts no more keys",
                                    [TPRT_INVALID_ARGUMENT] =
                                        "its value is not a number, or the sum overflows"};
  status = frame->code > TPRT_IN_PROGRESS && frame->code <= TPRT_PROGRAM ? (tprt_status)frame->code
                                                                         : TPRT_INTERNAL;
  if (status == TPRT_PEER_DEAD)
    return tprt__fail(status, "rank %d ended before \"%s\" was set", frame->rank, key);
  size_t i = (size_t)status;
  const char *text = i < sizeof why / sizeof *why && why[i] ? why[i] : tprt_status_name(status);
  return tprt__fail(status, "\"%s\": %s", key, text);
}

static tprt__frame make_frame(tprt__frame_kind kind, const char *key) {
  tprt__frame frame = {.kind = kind};
  memcpy(frame.key, key, strlen(key) + 1);
  return frame;
}

static tprt_status client_set(tprt_store *store, const char *key, const void *value, size_t bytes,
                              int64_t deadline) {
  tprt__frame frame = make_frame(TPRT__FRAME_SET, key);
  frame.value = value;
  frame.n_value = bytes;
  return request((client *)store, &frame, deadline);
}

static tprt_status client_add(tprt_store *store, const char *key, int64_t delta, int64_t *sum,
                              int64_t deadline) {
  tprt__frame frame = make_frame(TPRT__FRAME_ADD, key);
  frame.number = delta;
  tprt_status status = request((client *)store, &frame, deadline);
  if (!status)
    *sum = frame.number;
  return status;
}

static tprt_status client_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                              int64_t deadline) {
  tprt__frame frame = make_frame(TPRT__FRAME_GET, key);
  int64_t left = deadline - tprt__now();
  frame.number = left > 0 ? left : 0;
  tprt_status status = request((client *)store, &frame, deadline);
  if (status)
    return status;
  if (frame.n_value > *bytes) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the value of \"%s\" has %zu bytes; the buffer has %zu", key, frame.n_value,
                      *bytes);
  }
  if (frame.n_value)
    memcpy(value, frame.value, frame.n_value);
  *bytes = frame.n_value;
  return TPRT_OK;
}

static tprt_status client_remove(tprt_store *store, const char *key, int64_t deadline) {
  tprt__frame frame = make_frame(TPRT__FRAME_REMOVE, key);
  return request((client *)store, &frame, deadline);
}

static void client_close(tprt_store *store) {
  client *c = (client *)store;
  tprt__frame bye = {.kind = TPRT__FRAME_BYE};
  if (c->fd >= 0) {
    size_t n = tprt__frame_write(&c->session, &bye, c->buffer);
    /* a failure cannot be reported */
    (void)tprt__socket_send(c->fd, c->buffer, n, tprt__deadline(c->base.timeout_ns));
    close(c->fd);
  }
  tprt__wipe(&c->session, sizeof c->session);
  tprt__free(c);
}

/* ---- handshake ---- */

static tprt_status refuse(const client *c, const tprt__identity *own, tprt__refusal refusal,
                          const tprt__challenge *stated) {
  switch (refusal) {
  case TPRT__OTHER_VERSION:
    return tprt__fail(TPRT_MISMATCH,
                      "rank %d speaks version %u of the store's protocol, rank %d version %d",
                      c->server, stated->version, own->rank, TPRT__WIRE_VERSION);
  case TPRT__OTHER_JOB:
    if (stated->n_ranks != own->n_ranks)
      return tprt__fail(TPRT_MISMATCH, "rank %d was started with %d ranks, rank %d with %d",
                        c->server, stated->n_ranks, own->rank, own->n_ranks);
    if (stated->epoch != own->epoch)
      return tprt__fail(TPRT_MISMATCH, "rank %d is in epoch %d of the job, rank %d in epoch %d",
                        c->server, stated->epoch, own->rank, own->epoch);
    return tprt__fail(TPRT_MISMATCH, "%s belongs to another job", c->address);
  case TPRT__OTHER_SECRET:
    return tprt__fail(TPRT_AUTH, "%s %s the secret of rank %d", c->address,
                      own->has_secret ? "could not prove that it knows"
                                      : "requires a proof of the job's secret; set",
                      own->rank);
  default:
    return tprt__fail(TPRT_MISMATCH, "the server at %s is not a store", c->address);
  }
}

/* Performs the handshake. LATE and BROKEN mean that the server was busy; try again. */
static tprt__socket_result shake_hands(client *c, const tprt__identity *own, int64_t deadline,
                                       tprt_status *status) {
  tprt__handshake_result welcome;
  tprt__socket_result how = tprt__handshake_connect(c->fd, own, deadline, &c->session, &welcome);
  if (how != TPRT__SOCKET_DONE)
    return how;
  if (welcome.refusal)
    *status = refuse(c, own, welcome.refusal, &welcome.stated);
  else if (welcome.changed)
    *status = tprt__fail(TPRT_AUTH, "a reply from %s was altered in transit", c->address);
  else if (welcome.status == TPRT_INVALID_STATE)
    *status =
        tprt__fail(TPRT_INVALID_STATE, "rank %d has already joined %s", own->rank, c->address);
  else if (welcome.status)
    *status = tprt__fail(TPRT_NO_MEMORY, "%s has no memory for another process", c->address);
  return TPRT__SOCKET_DONE;
}

static tprt_status connect_to(client *c, const tprt__address *address,
                              const tprt__store_setup *setup, int64_t deadline) {
  if (!setup->is_up)
    return tprt__address_connect(address, setup->open, deadline, &c->fd);
  tprt_status status = tprt__address_connect_once(address, setup->open, deadline, &c->fd);
  return status == TPRT_SYSTEM ? fail_ended(c) : status;
}

/* Tries until the server has time for this rank. If too many clients connect, it drops the oldest
 * that has not proven anything. */
static tprt_status join(client *c, const tprt__address *address, const tprt__store_setup *setup) {
  enum { TRY_NS = 1000000000, PAUSE_NS = 2000000 };
  int64_t deadline = tprt__deadline(setup->timeout_ns);
  for (;;) {
    tprt_status status = connect_to(c, address, setup, deadline);
    if (status)
      return status;
    if (address->is_unix && !tprt__same_user(c->fd))
      return tprt__fail(TPRT_AUTH, "%s is served by another user", address->text);
    if (shake_hands(c, &setup->identity, tprt__min(deadline, tprt__deadline(TRY_NS)), &status) ==
        TPRT__SOCKET_DONE)
      return status;
    close(c->fd);
    c->fd = -1;
    if (tprt__now() >= deadline)
      return tprt__fail(TPRT_TIMEOUT, "%s did not answer in time", address->text);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
}

tprt_status tprt__store_connect(const tprt__address *address, const tprt__store_setup *setup,
                                tprt_store **store) {
  static const tprt__store_kind kind = {client_set, client_get, client_add, client_remove,
                                        client_close};
  client *c = tprt__alloc(sizeof *c);
  if (!c)
    return tprt__fail_memory(sizeof *c);
  c->base = (tprt_store){.kind = &kind, .timeout_ns = setup->timeout_ns};
  c->fd = -1;
  c->server = setup->server;
  memcpy(c->address, address->text, sizeof c->address);
  tprt_status status = join(c, address, setup);
  if (status) {
    if (c->fd >= 0)
      close(c->fd);
    tprt__free(c);
    return status;
  }
  if (!address->is_unix)
    tprt__socket_here(c->fd, c->base.host);
  *store = &c->base;
  return TPRT_OK;
}
