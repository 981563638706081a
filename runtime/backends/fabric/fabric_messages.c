/* The messenger of backend fabric. */
#define _GNU_SOURCE 1
#include "backends/fabric/fabric_endpoint.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* ---- lists ---- */

/* Moves a request to a list; NULL: to none. */
static void move(fabric_endpoint *end, fabric_request *request, fabric_list *to) {
  fabric_list *from = request->list;
  int *n_waiting = &end->peers[request->base.peer].n_waiting[request->base.sends];
  if (from) {
    *(request->previous ? &request->previous->next : &from->first) = request->next;
    *(request->next ? &request->next->previous : &from->last) = request->previous;
  }
  if (to) {
    request->next = NULL;
    request->previous = to->last;
    *(to->last ? &to->last->next : &to->first) = request;
    to->last = request;
  }
  *n_waiting += (to == &end->waiting) - (from == &end->waiting);
  request->list = to;
}

static bool is_taken(const fabric_endpoint *end, const fabric_request *request) {
  return request->list == &end->taken;
}

static void free_all(fabric_list *list) {
  for (fabric_request *request = list->first, *next; request; request = next) {
    next = request->next;
    tprt__free(request);
  }
}

/* Takes a request that has ended out of its list. Returns false if nobody asks for it: then it is
 * freed. */
static bool take_out(fabric_endpoint *end, fabric_request *request) {
  bool abandoned = request->abandoned;
  move(end, request, NULL);
  if (abandoned)
    tprt__free(request);
  return !abandoned;
}

/* ---- starting ---- */

/* Gives a request to the library. Returns false if it cannot take it now. */
static bool start(fabric_endpoint *end, fabric_request *request) {
  const tcp_request *base = &request->base;
  fi_addr_t address = end->peers[base->peer].address;
  uint64_t tag = end->secret | base->head.tag;
  ssize_t code = base->sends ? fi_tsend(end->endpoint, base->data, base->head.bytes, NULL, address,
                                        tag, &request->context)
                             : fi_trecv(end->endpoint, base->data, base->head.bytes, NULL, address,
                                        tag, 0, &request->context);
  if (code == -FI_EAGAIN)
    return false;
  if (!code) {
    move(end, request, &end->taken);
  } else if (take_out(end, request)) {
    request->error = (int)-code;
    request->error_time = tprt__now();
  }
  return true;
}

/* Starts what waits for the library. Requests of one peer and direction start in order. */
static void start_waiting(fabric_endpoint *end) {
  end->pass++;
  for (fabric_request *request = end->waiting.first, *next; request; request = next) {
    fabric_peer *peer = &end->peers[request->base.peer];
    uint64_t *blocked = &peer->blocked[request->base.sends];
    next = request->next;
    if (*blocked != end->pass && !peer->ended && !start(end, request))
      *blocked = end->pass;
  }
}

static fabric_request *make_request(int rank, uint32_t tag, void *data, size_t bytes, bool sends) {
  fabric_request *made = tprt__alloc(sizeof *made);
  if (made)
    made->base = (tcp_request){
        .sends = sends, .peer = rank, .head = {.tag = tag, .bytes = (uint32_t)bytes}, .data = data};
  return made;
}

static tprt_status submit(fabric_endpoint *end, int rank, uint32_t tag, void *data, size_t bytes,
                          bool sends, void **result) {
  const fabric_peer *peer = &end->peers[rank];
  fabric_request *made = make_request(rank, tag, data, bytes, sends);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  if (peer->ended && sends)
    made->base.over = true;
  else if (peer->n_waiting[sends] || !start(end, made))
    move(end, made, &end->waiting);
  *result = made;
  return TPRT_OK;
}

/* ---- progress ---- */

/* Handles the end of a request that the library has had. */
static void complete(fabric_endpoint *end, fabric_request *request, size_t bytes, int error) {
  if (!take_out(end, request))
    return;
  request->base.over = error == 0;
  request->error = error;
  request->error_time = tprt__now();
  bool is_other_size =
      error == FI_ETRUNC || (!error && !request->base.sends && bytes != request->base.head.bytes);
  if (!is_other_size)
    return;
  request->base.over = true;
  request->base.status = TPRT_INTERNAL;
}

static fabric_request *request_of(void *context) {
  return (fabric_request *)(void *)((char *)context - offsetof(fabric_request, context));
}

/* Handles one error of the library. */
static void read_error(fabric_endpoint *end) {
  struct fi_cq_err_entry entry = {.err = 0};
  if (fi_cq_readerr(end->completions, &entry, 0) == 1 && entry.op_context)
    complete(end, request_of(entry.op_context), entry.len, entry.err);
}

static void read_completions(fabric_endpoint *end) {
  enum { MOST = 16 };
  struct fi_cq_msg_entry entries[MOST];
  for (;;) {
    ssize_t n = fi_cq_read(end->completions, entries, MOST);
    if (n == -FI_EAVAIL)
      read_error(end);
    for (ssize_t i = 0; i < n; i++)
      complete(end, request_of(entries[i].op_context), entries[i].len, 0);
    if (n != MOST && n != -FI_EAVAIL)
      return;
  }
}

/* Marks a peer as ended. Sends that wait count as done, because nothing can reach it any more. */
static void end_peer(fabric_endpoint *end, fabric_peer *peer) {
  peer->ended = true;
  for (fabric_request *request = end->waiting.first, *next; request; request = next) {
    next = request->next;
    if (!request->base.sends || &end->peers[request->base.peer] != peer)
      continue;
    if (take_out(end, request))
      request->base.over = true;
  }
}

/* Reads what the peer wrote to its TCP connection. The only thing that is written there is the
 * answer to a farewell. */
static void read_connection(tcp_peer *connection, fabric_peer *peer) {
  char bytes[16];
  ssize_t got;
  if (!atomic_exchange(&connection->has_event, false) || peer->end_time)
    return;
  while ((got = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
    peer->answered = true;
  if (got == 0 || (errno != EAGAIN && errno != EINTR))
    peer->end_time = tprt__now();
}

/* Notices farewells, and connections that have ended. */
static void watch_peers(fabric_endpoint *end) {
  enum { LATE_NS = 20000000 }; /* what a rank sent before it died arrives within this time */
  for (int i = 0; i < end->near->n_ranks; i++) {
    fabric_peer *peer = &end->peers[i];
    if (!peer->is_far)
      continue;
    read_connection(&end->near->peers[i], peer);
    if (peer->farewell && peer->farewell->base.over && !peer->departed) {
      peer->departed = true;
      (void)!send(end->near->peers[i].fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (!peer->ended &&
        (peer->departed || (peer->end_time && tprt__now() - peer->end_time > LATE_NS)))
      end_peer(end, peer);
  }
}

static void progress(fabric_endpoint *end) {
  enum { LOOK_NS = 1000000 };
  read_completions(end);
  if (end->waiting.first)
    start_waiting(end);
  int64_t now = tprt__now();
  if (now < end->next_look)
    return;
  end->next_look = now + LOOK_NS;
  tprt__tcp_look(end->near);
  watch_peers(end);
}

/* ---- messenger ---- */

static bool is_far(const fabric_endpoint *end, const void *request) {
  return end->peers[((const tcp_request *)request)->peer].is_far;
}

static tprt_status fabric_send(void *at, int rank, uint32_t tag, const void *data, size_t bytes,
                               void **result) {
  fabric_endpoint *end = at;
  return end->peers[rank].is_far
             ? submit(end, rank, tag, (void *)(uintptr_t)data, bytes, true, result)
             : tprt__tcp_messenger.send(end->near, rank, tag, data, bytes, result);
}

static tprt_status fabric_receive(void *at, int rank, uint32_t tag, void *data, size_t bytes,
                                  void **result) {
  fabric_endpoint *end = at;
  return end->peers[rank].is_far
             ? submit(end, rank, tag, data, bytes, false, result)
             : tprt__tcp_messenger.receive(end->near, rank, tag, data, bytes, result);
}

/* The result of a request that failed. The library may notice the end of a peer before its
 * connection does, so a failure counts only if the connection remains. A send to a rank that has
 * ended is done, and a receive from it remains. */
static tprt_status judge(const fabric_endpoint *end, fabric_request *request) {
  enum { NOTICE_NS = 200000000 };
  const fabric_peer *peer = &end->peers[request->base.peer];
  if (peer->ended)
    return request->base.sends ? TPRT_OK : TPRT_IN_PROGRESS;
  if (peer->end_time || tprt__now() - request->error_time < NOTICE_NS)
    return TPRT_IN_PROGRESS;
  return tprt__fail(TPRT_SYSTEM, "backend fabric: a message %s rank %d failed: %s",
                    request->base.sends ? "to" : "from", request->base.peer,
                    end->library->error_text(request->error));
}

static tprt_status fabric_test(void *at, void *asked) {
  fabric_endpoint *end = at;
  fabric_request *request = asked;
  if (!is_far(end, asked))
    return tprt__tcp_messenger.test(end->near, asked);
  if (!request->base.over)
    progress(end);
  tprt_status status = request->base.over ? request->base.status
                       : request->error   ? judge(end, request)
                                          : TPRT_IN_PROGRESS;
  if (status == TPRT_IN_PROGRESS)
    return status;
  if (request->base.status)
    tprt__fail(status,
               "backend fabric: rank %d sent another number of bytes than the %u that were "
               "expected",
               request->base.peer, request->base.head.bytes);
  tprt__free(request);
  return status;
}

/* The library cannot cancel a send, nor a receive whose data arrives. Both end soon, unless the
 * peer does not take the data. */
static bool fabric_cancel(void *at, void *asked) {
  enum { PATIENCE_NS = 5000000 };
  fabric_endpoint *end = at;
  fabric_request *request = asked;
  if (!is_far(end, asked))
    return tprt__tcp_messenger.cancel(end->near, asked);
  if (is_taken(end, request) && !request->base.sends)
    (void)fi_cancel(&end->endpoint->fid, &request->context);
  for (int64_t until = tprt__now() + PATIENCE_NS; is_taken(end, request) && tprt__now() < until;)
    progress(end);
  request->abandoned = is_taken(end, request);
  if (request->abandoned)
    return false;
  move(end, request, NULL);
  tprt__free(request);
  return true;
}

static bool fabric_ended(void *at, int rank) {
  const fabric_endpoint *end = at;
  return end->peers[rank].is_far ? end->peers[rank].ended
                                 : tprt__tcp_messenger.ended(end->near, rank);
}

static void fabric_wait(void *at, int64_t timeout_ns) {
  enum { NAP_NS = 50000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  fabric_endpoint *end = at;
  struct fid *waited = end->wakes ? &end->completions->fid : NULL;
  if (end->completions && !end->wakes)
    nanosleep(&nap, NULL);
  else if (!waited || fi_trywait(end->fabric, &waited, 1) == FI_SUCCESS) /* nothing to do yet */
    tprt__tcp_messenger.wait(end->near, timeout_ns);
}

/* ---- beginning and closing ---- */

tprt_status tprt__fabric_begin(fabric_endpoint *end) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < end->near->n_ranks && !status; i++) {
    void *request = NULL;
    if (end->peers[i].is_far)
      status = submit(end, i, FABRIC_FAREWELL_TAG, NULL, 0, false, &request);
    end->peers[i].farewell = request;
  }
  return status;
}

/* Says farewell to a far rank. */
static void take_leave(fabric_endpoint *end, int rank) {
  void *made = NULL;
  if (end->peers[rank].ended || submit(end, rank, FABRIC_FAREWELL_TAG, NULL, 0, true, &made))
    return;
  fabric_request *request = made;
  if (request && request->list)
    request->abandoned = true; /* nobody asks for its result */
  else
    tprt__free(request);
}

/* Returns true if a rank on another host has not yet answered the farewell of this one. It may
 * still have messages of this rank to receive. */
static bool is_awaited(const fabric_endpoint *end) {
  for (int i = 0; i < end->near->n_ranks; i++) {
    if (end->peers[i].farewell && !end->peers[i].answered && !end->peers[i].end_time)
      return true;
  }
  return false;
}

static void take_leave_of_all(fabric_endpoint *end) {
  enum { FAREWELL_NS = 1000000000, NAP_NS = 50000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  for (int i = 0; i < end->near->n_ranks; i++) {
    if (end->peers[i].farewell)
      take_leave(end, i);
  }
  for (int64_t until = tprt__deadline(FAREWELL_NS); is_awaited(end) && tprt__now() < until;) {
    end->next_look = 0;
    progress(end);
    nanosleep(&nap, NULL);
  }
}

/* True if the library still has a message of data that was given up: with `receives_only`, one that
 * was arriving. Its memory may be used for something else by now. */
static bool has_abandoned(const fabric_endpoint *end, bool receives_only) {
  for (const fabric_request *request = end->taken.first; request; request = request->next)
    if (request->abandoned && request->base.head.bytes > 0 &&
        !(receives_only && request->base.sends))
      return true;
  return false;
}

/* After a failure the library may still have messages that were given up. Then no more messages are
 * moved, since that would use their memory; and the end of the connections is the farewell. While
 * data arrives for one of them, the objects of the library remain open: closing its connection
 * crashes libfabric 1.17 (provider tcp), which frees such a message twice. */
static void fabric_close(void *at) {
  fabric_endpoint *end = at;
  if (!has_abandoned(end, false))
    take_leave_of_all(end);
  for (int i = 0; i < end->near->n_ranks; i++) {
    fabric_request *farewell = end->peers[i].farewell;
    if (farewell && !farewell->list)
      tprt__free(farewell);
  }
  if (!has_abandoned(end, true)) {
    tprt__fabric_close_objects(end);
    free_all(&end->taken);
  }
  if (end->info)
    end->library->free_info(end->info);
  free_all(&end->waiting);
  tprt__tcp_messenger.close(end->near);
  tprt__free(end);
}

const tprt_messenger tprt__fabric_messenger = {
    .size = sizeof tprt__fabric_messenger,
    .abi = TPRT_MESSENGER_ABI,
    .name = "fabric",
    .summary = "processes on any number of hosts, through libfabric",
    .send = fabric_send,
    .receive = fabric_receive,
    .test = fabric_test,
    .cancel = fabric_cancel,
    .ended = fabric_ended,
    .close = fabric_close,
    .wait = fabric_wait,
};
