/* Backend "tcp": the messenger and the backend table. */
#define _GNU_SOURCE 1
#include "backends/tcp/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- lists ---- */

static void append(tcp_request ***last, tcp_request *request) {
  **last = request;
  *last = &request->next;
}

/* Removes a request from its list. */
static void take_out(tcp_request **first, tcp_request ***last, tcp_request *request) {
  tcp_request **at = first;
  while (*at && *at != request)
    at = &(*at)->next;
  if (!*at)
    return;
  *at = request->next;
  if (*last == &request->next)
    *last = at;
}

static void end_request(tcp_request *request) {
  if (request->abandoned) {
    tprt__free(request->data);
    tprt__free(request);
  } else {
    request->over = true;
  }
}

/* Marks a peer as ended. Its pending sends count as done, because nothing can reach it any more. */
static void end_peer(tcp_peer *peer) {
  peer->ended = true;
  while (peer->sends) {
    tcp_request *request = peer->sends;
    take_out(&peer->sends, &peer->last_send, request);
    end_request(request);
  }
}

/* ---- sending ---- */

/* Sends the rest of a message: of its header, of which `head` bytes are left, and of its data.
 * Returns false if nothing can be sent now. */
static bool send_some(tcp_peer *peer, tcp_request *request) {
  size_t head = request->done < sizeof request->head ? sizeof request->head - request->done : 0;
  size_t sent = head ? 0 : request->done - sizeof request->head;
  char *from_head = (char *)&request->head + sizeof request->head - head;
  if (peer->neighbor)
    return head ? tprt__tcp_memory_write(peer, from_head, head, &request->done)
                : tprt__tcp_memory_write(peer, request->data + sent, request->head.bytes - sent,
                                         &request->done);
  struct iovec parts[] = {{from_head, head}, {request->data + sent, request->head.bytes - sent}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  ssize_t n = sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR)
    peer->ended = true;
  if (n > 0)
    request->done += (size_t)n;
  return n > 0;
}

static void push(tcp_peer *peer) {
  if (peer->neighbor)
    tprt__tcp_memory_attend(peer);
  while (peer->sends && !peer->ended) {
    tcp_request *request = peer->sends;
    /* Nobody reads any more. What the peer has sent is still to be read, so it has not ended. */
    if (!peer->hung_up && !send_some(peer, request)) {
      if (peer->ended)
        end_peer(peer);
      return;
    }
    if (!peer->hung_up && request->done < sizeof request->head + request->head.bytes)
      continue;
    take_out(&peer->sends, &peer->last_send, request);
    end_request(request);
  }
}

/* ---- receiving ---- */

/* Returns the oldest pending receive with this tag. */
static tcp_request *find_receive(const tcp_peer *peer, uint32_t tag) {
  tcp_request *found = peer->receives;
  while (found && found->head.tag != tag)
    found = found->next;
  return found;
}

static void end_receive(tcp_peer *peer, tcp_request *request, uint32_t came) {
  take_out(&peer->receives, &peer->last_receive, request);
  request->over = true;
  if (came != request->head.bytes)
    request->status =
        tprt__fail(TPRT_INTERNAL, "backend tcp: rank %d sent %u bytes where %u were expected",
                   request->peer, came, request->head.bytes);
}

/* Determines where the message goes whose header has arrived. */
static tprt_status place(tcp_peer *peer) {
  tcp_request *wanted = find_receive(peer, peer->head.tag);
  if (peer->head.bytes > WIRE_MAX_BYTES) {
    end_peer(peer);
    return tprt__fail(TPRT_INTERNAL, "backend tcp: received a message of invalid size: %u bytes",
                      peer->head.bytes);
  }
  peer->n_data = 0;
  if (wanted && wanted->head.bytes == peer->head.bytes) {
    peer->into = wanted;
    return TPRT_OK;
  }
  if (wanted) { /* the message is dropped */
    end_receive(peer, wanted, peer->head.bytes);
    return TPRT_OK;
  }
  peer->keeping = tprt__alloc(sizeof *peer->keeping + peer->head.bytes);
  if (!peer->keeping)
    return tprt__fail_memory(peer->head.bytes);
  peer->keeping->head = peer->head;
  return TPRT_OK;
}

/* Gives a stored message to a receive that was posted meanwhile. Returns false if there is none. */
static bool hand_over(tcp_peer *peer, const tcp_message *message) {
  tcp_request *wanted = find_receive(peer, message->head.tag);
  if (!wanted)
    return false;
  if (wanted->head.bytes == message->head.bytes && message->head.bytes)
    memcpy(wanted->data, message->data, message->head.bytes);
  end_receive(peer, wanted, message->head.bytes);
  return true;
}

static void end_message(tcp_peer *peer) {
  if (peer->into)
    end_receive(peer, peer->into, peer->head.bytes);
  if (peer->keeping && hand_over(peer, peer->keeping)) {
    tprt__free(peer->keeping);
  } else if (peer->keeping) {
    *peer->last_kept = peer->keeping;
    peer->last_kept = &peer->keeping->next;
  }
  peer->into = NULL;
  peer->keeping = NULL;
  peer->n_head = 0;
  peer->placed = false;
}

/* Reads available bytes. Returns false if there are none. */
static bool read_some(tcp_peer *peer, void *to, size_t bytes, size_t *n) {
  if (peer->neighbor) {
    bool hung_up = peer->hung_up, found = tprt__tcp_memory_read(peer, to, bytes, n);
    if (peer->ended || (hung_up && !found))
      end_peer(peer);
    return found;
  }
  ssize_t got = recv(peer->fd, to, bytes, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
    end_peer(peer);
  if (got > 0)
    *n += (size_t)got;
  return got > 0;
}

static bool read_data(tcp_peer *peer) {
  char dropped[4096];
  size_t left = peer->head.bytes - peer->n_data;
  if (peer->into)
    return read_some(peer, peer->into->data + peer->n_data, left, &peer->n_data);
  if (peer->keeping)
    return read_some(peer, peer->keeping->data + peer->n_data, left, &peer->n_data);
  return read_some(peer, dropped, left < sizeof dropped ? left : sizeof dropped, &peer->n_data);
}

/* Reads from a peer until the request is over or nothing more has arrived. */
static tprt_status pull(tcp_peer *peer, const tcp_request *request) {
  while (!request->over && !peer->ended) {
    if (peer->n_head < sizeof peer->head) {
      if (!read_some(peer, (char *)&peer->head + peer->n_head, sizeof peer->head - peer->n_head,
                     &peer->n_head))
        return TPRT_OK;
      continue;
    }
    /* if memory is exhausted, the next call tries again */
    tprt_status status = peer->placed ? TPRT_OK : place(peer);
    if (status)
      return status;
    peer->placed = true;
    if (peer->n_data < peer->head.bytes && !read_data(peer))
      return TPRT_OK;
    if (peer->n_data == peer->head.bytes)
      end_message(peer);
  }
  return TPRT_OK;
}

/* ---- messenger ---- */

/* Waits for events of connections, and marks the peers that have any. */
static void await_events(tcp_endpoint *end, int timeout_ms) {
  enum { MOST = 16 };
  struct epoll_event events[MOST];
  int n = epoll_wait(end->changes, events, MOST, timeout_ms);
  for (int i = 0; i < n; i++) {
    if (events[i].data.u32 < (uint32_t)end->n_ranks) /* else it only wakes this rank */
      atomic_store(&end->peers[events[i].data.u32].has_event, true);
  }
}

static void tcp_wait(void *at, int64_t timeout_ns) {
  tcp_endpoint *end = at;
  int timeout_ms = (int)((timeout_ns + 999999) / 1000000);
  if (!end->memory) {
    await_events(end, timeout_ms);
    return;
  }
  atomic_store(&end->neighbor->sleeps, 1);
  if (!tprt__tcp_memory_is_waiting(end))
    await_events(end, timeout_ms);
  atomic_store(&end->neighbor->sleeps, 0);
}

void tprt__tcp_look(tcp_endpoint *end) {
  enum { LOOK_NS = 1000000 };
  int64_t now = tprt__now();
  if (now < end->next_look)
    return;
  end->next_look = now + LOOK_NS;
  await_events(end, 0);
}

static tcp_request *make_request(int rank, uint32_t tag, void *data, size_t bytes, bool sends) {
  tcp_request *made = tprt__alloc(sizeof *made);
  if (made)
    *made = (tcp_request){
        .sends = sends, .peer = rank, .head = {.tag = tag, .bytes = (uint32_t)bytes}, .data = data};
  return made;
}

static tprt_status tcp_send(void *at, int rank, uint32_t tag, const void *data, size_t bytes,
                            void **result) {
  tcp_endpoint *end = at;
  tcp_peer *peer = &end->peers[rank];
  tcp_request *made = make_request(rank, tag, (void *)(uintptr_t)data, bytes, true);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  if (peer->ended) {
    made->over = true;
  } else {
    append(&peer->last_send, made);
    push(peer);
  }
  *result = made;
  return TPRT_OK;
}

static tprt_status tcp_receive(void *at, int rank, uint32_t tag, void *data, size_t bytes,
                               void **result) {
  tcp_endpoint *end = at;
  tcp_peer *peer = &end->peers[rank];
  tcp_request *made = make_request(rank, tag, data, bytes, false);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  append(&peer->last_receive, made);
  for (tcp_message **kept = &peer->kept; *kept; kept = &(*kept)->next) {
    tcp_message *message = *kept;
    if (message->head.tag != tag || !hand_over(peer, message))
      continue;
    *kept = message->next;
    if (peer->last_kept == &message->next)
      peer->last_kept = kept;
    tprt__free(message);
    break;
  }
  *result = made;
  return TPRT_OK;
}

static tprt_status tcp_test(void *at, void *asked) {
  tcp_endpoint *end = at;
  tcp_request *request = asked;
  tcp_peer *peer = &end->peers[request->peer];
  tprt_status status = TPRT_OK;
  push(peer);
  if (!request->sends && !request->over)
    status = pull(peer, request);
  if (!status && !request->over) {
    if (peer->neighbor)
      tprt__tcp_look(end);
    return TPRT_IN_PROGRESS;
  }
  if (!status)
    status = request->status;
  else if (!request->over)
    take_out(&peer->receives, &peer->last_receive, request);
  tprt__free(request);
  return status;
}

static bool cancel_send(tcp_peer *peer, tcp_request *request) {
  size_t head = sizeof request->head;
  if (!request->done) {
    take_out(&peer->sends, &peer->last_send, request);
    tprt__free(request);
    return true;
  }
  char *copy = tprt__alloc(request->head.bytes ? request->head.bytes : 1);
  if (copy) { /* only the rest of the message will be sent */
    size_t sent = request->done > head ? request->done - head : 0;
    memcpy(copy + sent, request->data + sent, request->head.bytes - sent);
    request->data = copy;
    request->abandoned = true;
  } else {
    end_peer(peer);
    tprt__free(request);
  }
  return true;
}

static bool tcp_cancel(void *at, void *asked) {
  tcp_endpoint *end = at;
  tcp_request *request = asked;
  tcp_peer *peer = &end->peers[request->peer];
  if (request->sends && !request->over)
    return cancel_send(peer, request);
  if (peer->into == request)
    peer->into = NULL; /* the rest is dropped */
  take_out(&peer->receives, &peer->last_receive, request);
  tprt__free(request);
  return true;
}

static bool tcp_ended(void *at, int rank) { return ((const tcp_endpoint *)at)->peers[rank].ended; }

/* ---- closing ---- */

/* True if all sent data has reached the peer's host, or its memory. If this end closed while data
 * arrives, the system would discard the unsent rest. */
static bool is_delivered(const tcp_peer *peer) {
  int n = 0;
  return peer->fd < 0 || peer->ended ||
         (!peer->sends && (peer->neighbor || (ioctl(peer->fd, SIOCOUTQ, &n) == 0 && n == 0)));
}

static void deliver(tcp_endpoint *end) {
  enum { DELIVERY_NS = 1000000000, NAP_NS = 50000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  int64_t deadline = tprt__deadline(DELIVERY_NS);
  for (int i = 0; i < end->n_ranks && tprt__now() < deadline;) {
    if (end->peers[i].fd >= 0)
      push(&end->peers[i]);
    if (is_delivered(&end->peers[i]))
      i++;
    else
      nanosleep(&nap, NULL);
  }
}

static void tcp_close(void *at) {
  tcp_endpoint *end = at;
  deliver(end);
  for (int i = 0; i < end->n_ranks; i++) {
    tcp_peer *peer = &end->peers[i];
    end_peer(peer);
    tprt__free(peer->keeping);
    while (peer->kept) {
      tcp_message *next = peer->kept->next;
      tprt__free(peer->kept);
      peer->kept = next;
    }
    if (peer->fd >= 0)
      close(peer->fd);
  }
  if (end->changes >= 0)
    close(end->changes);
  tprt__tcp_memory_close(end);
  tprt__free(end->first);
  tprt__free(end);
}

const tprt_messenger tprt__tcp_messenger = {
    .size = sizeof tprt__tcp_messenger,
    .abi = TPRT_MESSENGER_ABI,
    .name = "tcp",
    .summary = "processes on any number of hosts, through TCP",
    .send = tcp_send,
    .receive = tcp_receive,
    .test = tcp_test,
    .cancel = tcp_cancel,
    .ended = tcp_ended,
    .close = tcp_close,
    .wait = tcp_wait,
};

/* ---- backend ---- */

static tprt_status watch(tcp_endpoint *end) {
  end->changes = epoll_create1(EPOLL_CLOEXEC);
  bool ok = end->changes >= 0;
  for (int i = 0; i < end->n_ranks && ok; i++) {
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = (uint32_t)i};
    ok = end->peers[i].fd < 0 ||
         epoll_ctl(end->changes, EPOLL_CTL_ADD, end->peers[i].fd, &wanted) == 0;
  }
  return ok ? TPRT_OK : tprt__fail_errno("backend tcp: epoll");
}

/* Marks the packets of all connections. A socket of IPv6 has both options, because it may carry
 * packets of IPv4. */
static tprt_status set_traffic_class(const tcp_endpoint *end, int traffic_class) {
  for (int i = 0; i < end->n_ranks; i++) {
    int fd = end->peers[i].fd;
    if (fd < 0)
      continue;
    int v4 = setsockopt(fd, IPPROTO_IP, IP_TOS, &traffic_class, sizeof traffic_class);
    int v6 = setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &traffic_class, sizeof traffic_class);
    if (v4 != 0 && v6 != 0)
      return tprt__fail_errno("backend tcp: hint traffic_class %d", traffic_class);
  }
  return TPRT_OK;
}

static tcp_endpoint *make_endpoint(int n_ranks, int rank) {
  tcp_endpoint *end = tprt__alloc(sizeof *end + (size_t)n_ranks * sizeof *end->peers);
  int *first = tprt__alloc((size_t)n_ranks * sizeof *first);
  if (!end || !first) {
    tprt__free(first);
    tprt__free(end);
    return NULL;
  }
  end->first = first;
  end->n_ranks = n_ranks;
  end->rank = rank;
  end->changes = -1;
  end->local.n_ranks = 1;
  for (int i = 0; i < n_ranks; i++) {
    tcp_peer *peer = &end->peers[i];
    *peer = (tcp_peer){.fd = -1};
    peer->last_send = &peer->sends;
    peer->last_receive = &peer->receives;
    peer->last_kept = &peer->kept;
  }
  return end;
}

tprt_status tprt__tcp_open(const char *backend, int n_ranks, int rank,
                           const tprt__settings *settings, tcp_endpoint **result) {
  if (n_ranks > 1 && !settings->store)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "backend %s: %d ranks need a store for the rendezvous: set one in "
                      "tprt_config, or let a launcher provide its address",
                      backend, n_ranks);
  tcp_endpoint *end = make_endpoint(n_ranks, rank);
  tprt_status status = end ? TPRT_OK : tprt__fail_memory(sizeof *end);
  if (!status && n_ranks > 1) {
    const tprt__rendezvous meeting = tprt__rendezvous_begin(settings->store, backend, n_ranks, rank,
                                                            tprt__deadline(settings->timeout_ns));
    status = tprt__tcp_connect_mesh(&meeting, end);
    if (!status && settings->comm.hints[TPRT__HINT_TRAFFIC_CLASS] != TPRT__UNSET)
      status = set_traffic_class(end, (int)settings->comm.hints[TPRT__HINT_TRAFFIC_CLASS]);
    if (!status)
      status = watch(end);
  }
  if (status && end)
    tcp_close(end);
  else if (!status)
    *result = end;
  return status;
}

static tprt_status backend_probe(void) { return TPRT_OK; }

static tprt_status backend_create(int n_ranks, int rank, const tprt__settings *settings,
                                  tprt__transport **transport) {
  tcp_endpoint *end;
  tprt_status status = tprt__tcp_open("tcp", n_ranks, rank, settings, &end);
  return status ? status
                : tprt__wire_open_endpoint(&tprt__tcp_messenger, &tprt__backend_tcp, end,
                                           UINT32_MAX, n_ranks, rank, end->local.n_ranks,
                                           n_ranks > 1 ? end->first : NULL, transport);
}

const tprt__backend tprt__backend_tcp = {
    .capabilities = WIRE_CAPABILITIES | TPRT_CAP_PROCESSES | TPRT_CAP_ELASTIC,
    .hints = 1 << TPRT__HINT_TRAFFIC_CLASS,
    .needs_store = true,
    .name = "tcp",
    .summary = "processes on any number of hosts, through TCP",
    .lacks = {TPRT__LACK(TPRT_CAP_THREADS) = "the ranks are processes", WIRE_LACKS},
    .probe = backend_probe,
    .create = backend_create,
    WIRE_ROWS,
};
