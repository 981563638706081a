/* Passes a file descriptor from the first member of a group to the others. Every other member opens
 * a UNIX socket, whose name the kernel chooses, and listens there. It puts its host, the name and a
 * random ticket into the store. The first member connects, checks that the peer belongs to the same
 * user, and sends the ticket with the descriptor. The receiving rank makes the same check and
 * compares the ticket. The first member then stores the outcome, so that no rank waits at its
 * socket for a rank that has ended. No file is created. */
#define _GNU_SOURCE 1
#include "bootstrap/rendezvous.h"
#include "bootstrap/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { TICKET_BYTES = 32, NAME_BYTES = 32, TEXT_BYTES = 400 };

/* The ranks that get the descriptor. `members` NULL: 0, 1, ... */
typedef struct group {
  int n;
  const int *members;
} group;

static int member(const group *of, int i) { return of->members ? of->members[i] : i; }

/* The value that a rank puts into the store. */
typedef struct handoff_address {
  tprt__host host;
  unsigned char ticket[TICKET_BYTES];
  uint32_t n_name;
  char name[NAME_BYTES]; /* name of the socket */
} handoff_address;

/* Outcome that the first member puts into the store. */
typedef struct verdict {
  int32_t status;
  char text[TEXT_BYTES];
} verdict;

/* Listens at a socket whose name the kernel chooses. */
static tprt_status listen_somewhere(handoff_address *own, int *listener) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  socklen_t size = sizeof address.sun_family;
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return tprt__fail_errno("a UNIX socket");
  bool ok = bind(fd, (const struct sockaddr *)&address, size) == 0 && listen(fd, SOMAXCONN) == 0;
  size = sizeof address;
  ok = ok && getsockname(fd, (struct sockaddr *)&address, &size) == 0;
  size_t n = ok ? size - offsetof(struct sockaddr_un, sun_path) : 0;
  if (!ok || n == 0 || n > sizeof own->name) {
    tprt_status status = tprt__fail_errno("a UNIX socket");
    close(fd);
    return status;
  }
  memcpy(own->name, address.sun_path, n);
  own->n_name = (uint32_t)n;
  *listener = fd;
  return TPRT_OK;
}

/* ---- the first member ---- */

/* Sends a packet with the ticket and the descriptor. */
static tprt_status send_descriptor(const tprt__rendezvous *m, const handoff_address *to, int rank,
                                   int segment) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {.bytes = {0}};
  struct iovec data = {.iov_base = (void *)(uintptr_t)to->ticket, .iov_len = sizeof to->ticket};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  tprt_status status = TPRT_OK;
  if (to->n_name == 0 || to->n_name > sizeof to->name)
    return tprt__fail(TPRT_MISMATCH,
                      "rank %d has no socket: the ranks run different library versions", rank);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return tprt__fail_errno("a UNIX socket");
  memcpy(address.sun_path, to->name, to->n_name);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + to->n_name);
  while (connect(fd, (const struct sockaddr *)&address, size) != 0 && !status) {
    if (errno != EAGAIN || tprt__now() >= m->deadline)
      status = tprt__fail_errno("rank %d cannot reach the socket of rank %d", m->rank, rank);
    else
      usleep(1000); /* the queue of the socket is full */
  }
  if (!status && !tprt__same_user(fd))
    status = tprt__fail(TPRT_AUTH, "rank %d is a process of another user", rank);
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  *head = (struct cmsghdr){
      .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof segment)};
  memcpy(CMSG_DATA(head), &segment, sizeof segment);
  if (!status && sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)sizeof to->ticket)
    status = tprt__fail_errno("rank %d cannot give rank %d the segment", m->rank, rank);
  close(fd);
  return status;
}

/* A rank that learns of the death of another rank closes its socket. In that case reports the death
 * as the reason. */
static tprt_status find_reason(const tprt__rendezvous *m, tprt_status status, int rank) {
  enum { REASON_NS = 100000000 };
  char key[TPRT_STORE_KEY_BYTES], text[TEXT_BYTES];
  snprintf(text, sizeof text, "%s", tprt_last_error());
  tprt__rendezvous_key(key, m, "never", rank);
  if (tprt_store_wait(m->store, key, tprt__min(tprt__rendezvous_time_left(m), REASON_NS)) ==
      TPRT_PEER_DEAD)
    return TPRT_PEER_DEAD;
  return tprt__fail(status, "%s", text);
}

static tprt_status send_to_all(const tprt__rendezvous *m, const group *to,
                               const handoff_address *own, int segment) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt_status status = TPRT_OK;
  handoff_address other;
  for (int i = 1; i < to->n && !status; i++) {
    int rank = member(to, i);
    tprt__rendezvous_key(key, m, "here", rank);
    status = tprt__rendezvous_fetch(m, key, rank, &other, sizeof other);
    if (status)
      break;
    other.host.name[sizeof other.host.name - 1] = 0;
    if (!tprt__host_is(&other.host, &own->host)) {
      return tprt__fail(TPRT_UNSUPPORTED,
                        "backend %s joins only ranks of one host: rank %d is on \"%s\", rank %d on "
                        "\"%s\"%s; use a backend for several hosts, such as tcp or mpi",
                        m->backend, m->rank, own->host.name, rank, other.host.name,
                        strcmp(own->host.name, other.host.name)
                            ? ""
                            : " in other namespaces, which share no memory");
    }
    status = send_descriptor(m, &other, rank, segment);
    if (status == TPRT_SYSTEM)
      status = find_reason(m, status, rank);
  }
  return status;
}

static tprt_status lead(const tprt__rendezvous *m, const group *to, const handoff_address *own,
                        int segment) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt_status status = send_to_all(m, to, own, segment);
  verdict said = {.status = (int32_t)status};
  if (status)
    snprintf(said.text, sizeof said.text, "%s", tprt_last_error());
  for (int i = 1; i < to->n; i++) {
    tprt__rendezvous_key(key, m, "verdict", member(to, i));
    tprt_status told = tprt_store_set(m->store, key, &said, sizeof said);
    status = status ? status : told;
  }
  return status ? tprt__fail(status, "%s", said.status ? said.text : tprt_last_error()) : TPRT_OK;
}

/* ---- the other members ---- */

/* Receives the packet of an accepted connection. Returns the descriptor if the packet is the
 * expected one; NONE_LEFT if it is, but this process may open no more descriptors; else -1. */
enum { NONE_LEFT = -2 };
static int receive_descriptor(int fd, const handoff_address *own, int64_t deadline) {
  unsigned char ticket[TICKET_BYTES];
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec data = {.iov_base = ticket, .iov_len = sizeof ticket};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  if (!tprt__same_user(fd) || !tprt__socket_wait(fd, POLLIN, deadline))
    return -1;
  ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  int got = -1;
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof got))
    memcpy(&got, CMSG_DATA(head), sizeof got);
  if (n == (ssize_t)sizeof ticket && sodium_memcmp(ticket, own->ticket, sizeof ticket) == 0) {
    if (got >= 0)
      return got;
    return message.msg_flags & MSG_CTRUNC ? NONE_LEFT : -1;
  }
  if (got >= 0)
    close(got);
  return -1;
}

/* The packet of the first member is already queued, possibly after connections of other
 * processes. */
static tprt_status accept_segment(int listener, int leader, const handoff_address *own,
                                  int *received) {
  enum { TRY_NS = 1000000000, PEER_NS = 100000000 };
  int64_t deadline = tprt__deadline(TRY_NS);
  while (tprt__socket_wait(listener, POLLIN, deadline)) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int got =
        fd < 0 ? -1 : receive_descriptor(fd, own, tprt__min(deadline, tprt__deadline(PEER_NS)));
    if (fd >= 0)
      close(fd);
    if (got >= 0) {
      *received = got;
      return TPRT_OK;
    }
    if (got == NONE_LEFT)
      return tprt__fail(TPRT_SYSTEM, "receiving the segment of rank %d: %s", leader,
                        strerror(EMFILE));
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      return tprt__fail_errno("accepting the segment of rank %d", leader);
  }
  return tprt__fail(TPRT_TIMEOUT, "the segment of rank %d did not arrive", leader);
}

static tprt_status follow(const tprt__rendezvous *m, int leader, handoff_address *own,
                          int *received) {
  char key[TPRT_STORE_KEY_BYTES];
  enum { VERDICT_NS = 1000000000 };
  verdict said;
  int listener = -1;
  /* the leader says who is missing when its own time is over */
  tprt__rendezvous patient = *m;
  patient.deadline += VERDICT_NS;
  tprt_status status = listen_somewhere(own, &listener);
  if (status)
    return status;
  tprt__rendezvous_key(key, m, "here", m->rank);
  status = tprt_store_set(m->store, key, own, sizeof *own);
  tprt__rendezvous_key(key, m, "verdict", m->rank);
  if (!status)
    status = tprt__rendezvous_fetch(&patient, key, leader, &said, sizeof said);
  if (!status && said.status) {
    said.text[sizeof said.text - 1] = 0;
    status = tprt__fail((tprt_status)said.status, "%s", said.text);
  }
  if (!status)
    status = accept_segment(listener, leader, own, received);
  close(listener);
  return status;
}

tprt_status tprt__rendezvous_share_fd(const tprt__rendezvous *m, int n_members, const int *members,
                                      int segment, int *received) {
  const group to = {n_members, members};
  handoff_address own = {.n_name = 0};
  if (sodium_init() < 0)
    return tprt__fail(TPRT_SYSTEM, "libsodium cannot be initialized");
  tprt_status status = tprt__host_describe(&own.host);
  if (status)
    return status;
  randombytes_buf(own.ticket, sizeof own.ticket);
  return m->rank == member(&to, 0) ? lead(m, &to, &own, segment)
                                   : follow(m, member(&to, 0), &own, received);
}
