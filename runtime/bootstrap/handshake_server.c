/* Accepts connections and performs their handshakes without blocking. */
#define _GNU_SOURCE 1
#include "bootstrap/handshake_server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS_PER_RANK = 4, CLIENTS_OF_OPEN_STORE = 64, ACCEPTS_PER_ROUND = 64 };
static const int64_t handshake_ns = 1000000000, no_descriptor_ns = 10000000;

static bool can_open(int n, int *fds) {
  int n_open = 0;
  while (n_open < n && (fds[n_open] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
    n_open++;
  int error = n_open == n || errno == EBADF ? 0 : errno;
  for (int i = 0; i < n_open; i++)
    close(fds[i]);
  errno = error;
  return !error;
}

/* Makes sure that connections of n ranks can be open at once: raises the soft limit of descriptors
 * if it is too low, up to the hard one. Otherwise ranks would be accepted only when others leave,
 * which they do not. */
static tprt_status reserve_descriptors(int n_ranks) {
  enum { OTHERS = 8 }; /* listeners, files, a client that is not admitted yet */
  struct rlimit limit;
  int n = n_ranks + OTHERS;
  int *fds = tprt__alloc((size_t)n * sizeof *fds);
  if (!fds)
    return tprt__fail_memory((size_t)n * sizeof *fds);
  bool can = can_open(n, fds);
  if (!can && getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    can = setrlimit(RLIMIT_NOFILE, &limit) == 0 && can_open(n, fds);
  }
  tprt__free(fds);
  return can ? TPRT_OK
             : tprt__fail_errno("connections of %d ranks need %d further file descriptors, and "
                                "this process may not open so many (ulimit -n)",
                                n_ranks, n);
}

tprt_status tprt__handshake_server_init(tprt__handshake_server *door, const tprt__identity *own) {
  size_t n = own->n_ranks ? CLIENTS_PER_RANK * (size_t)own->n_ranks : CLIENTS_OF_OPEN_STORE;
  *door = (tprt__handshake_server){.own = own, .listener = -1, .n_clients = (int)n};
  tprt_status status = reserve_descriptors(own->n_ranks);
  if (status)
    return status;
  door->clients = tprt__alloc(n * sizeof *door->clients);
  if (!door->clients)
    return tprt__fail_memory(n * sizeof *door->clients);
  for (size_t i = 0; i < n; i++)
    door->clients[i].fd = -1;
  return TPRT_OK;
}

static void close_client(tprt__handshake_client *guest) {
  close(guest->fd);
  tprt__wipe(guest, sizeof *guest);
  guest->fd = -1;
}

void tprt__handshake_server_clear(tprt__handshake_server *door) {
  for (int i = 0; i < door->n_clients && door->clients; i++) {
    if (door->clients[i].fd >= 0)
      close_client(&door->clients[i]);
  }
  if (door->listener >= 0)
    close(door->listener);
  tprt__free(door->clients);
  *door = (tprt__handshake_server){.listener = -1};
}

int64_t tprt__handshake_server_prepare(const tprt__handshake_server *door, struct pollfd *watched) {
  int64_t until = INT64_MAX;
  bool listening = tprt__now() >= door->accept_after;
  *watched++ = (struct pollfd){.fd = listening ? door->listener : -1, .events = POLLIN};
  if (!listening)
    until = door->accept_after;
  for (int i = 0; i < door->n_clients; i++) {
    *watched++ = (struct pollfd){.fd = door->clients[i].fd, .events = POLLIN};
    if (door->clients[i].fd >= 0)
      until = tprt__min(until, door->clients[i].deadline);
  }
  return until;
}

void tprt__handshake_client_reply(const tprt__handshake_client *guest, tprt_status status) {
  const tprt__frame frame = {
      .kind = TPRT__FRAME_REPLY, .code = (int32_t)status, .rank = guest->gate.rank};
  tprt__session session;
  unsigned char out[TPRT__MAX_FRAME];
  tprt__handshake_session(&guest->gate, &session);
  /* fits into the empty send buffer */
  (void)!send(guest->fd, out, tprt__frame_write(&session, &frame, out), MSG_NOSIGNAL);
  tprt__wipe(&session, sizeof session);
}

static void advance_handshake(tprt__handshake_client *guest, tprt__admit_fn *admit, void *user) {
  size_t wants = tprt__handshake_wants(&guest->gate);
  ssize_t got = recv(guest->fd, guest->in + guest->n_in, wants - guest->n_in, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0) {
    close_client(guest);
    return;
  }
  guest->n_in += (size_t)got;
  if (guest->n_in < wants)
    return;
  unsigned char answer[TPRT__CHALLENGE_BYTES];
  size_t n = tprt__handshake_step(&guest->gate, guest->in, answer);
  guest->n_in = 0;
  /* the send buffer is empty, so the answer fits */
  if (n && send(guest->fd, answer, n, MSG_NOSIGNAL) != (ssize_t)n) {
    close_client(guest);
    return;
  }
  if (guest->gate.state == TPRT__HANDSHAKE_DONE && admit(user, guest)) {
    tprt__wipe(guest, sizeof *guest);
    guest->fd = -1;
  } else if (guest->gate.state == TPRT__HANDSHAKE_DONE ||
             guest->gate.state == TPRT__HANDSHAKE_REFUSED) {
    close_client(guest);
  }
}

static bool is_silent(const tprt__handshake_client *guest) {
  return guest->gate.state == TPRT__HANDSHAKE_HELLO && guest->n_in == 0;
}

/* Returns a free entry. If there is none, drops the oldest silent guest, else the oldest guest. */
static tprt__handshake_client *free_entry(tprt__handshake_server *door) {
  tprt__handshake_client *oldest = &door->clients[0];
  for (int i = 0; i < door->n_clients; i++) {
    tprt__handshake_client *guest = &door->clients[i];
    if (guest->fd < 0)
      return guest;
    bool silent = is_silent(guest), kept = is_silent(oldest);
    if (silent != kept ? silent : guest->deadline < oldest->deadline)
      oldest = guest;
  }
  close_client(oldest);
  return oldest;
}

static void accept_all(tprt__handshake_server *door) {
  for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
    int fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        door->accept_after = tprt__deadline(no_descriptor_ns);
        door->accept_errno = errno;
      }
      return;
    }
    door->accept_errno = 0;
    if (door->check_user && !tprt__same_user(fd)) {
      close(fd);
      continue;
    }
    tprt__handshake_client *guest = free_entry(door);
    *guest = (tprt__handshake_client){.fd = fd, .deadline = tprt__deadline(handshake_ns)};
    tprt__handshake_start(&guest->gate, door->own);
  }
}

void tprt__handshake_server_handle(tprt__handshake_server *door, const struct pollfd *watched,
                                   tprt__admit_fn *admit, void *user) {
  for (int i = 0; i < door->n_clients; i++) {
    tprt__handshake_client *guest = &door->clients[i];
    if (guest->fd >= 0 && watched[i + 1].revents)
      advance_handshake(guest, admit, user);
    if (guest->fd >= 0 && tprt__now() >= guest->deadline)
      close_client(guest);
  }
  if (watched[0].revents)
    accept_all(door);
}

/* ---- client side ---- */

tprt__socket_result tprt__handshake_connect(int fd, const tprt__identity *own, int64_t deadline,
                                            tprt__session *session,
                                            tprt__handshake_result *welcome) {
  enum { LAST_BYTES = TPRT__HEAD_BYTES + TPRT__KEY_BYTES };
  unsigned char hello[TPRT__HELLO_BYTES], challenge[TPRT__CHALLENGE_BYTES],
      proof[TPRT__PROOF_BYTES], last[LAST_BYTES];
  *welcome = (tprt__handshake_result){.status = TPRT_OK};
  tprt__hello_write(own, hello);
  tprt__socket_result how = tprt__socket_send(fd, hello, sizeof hello, deadline);
  if (how == TPRT__SOCKET_DONE)
    how = tprt__socket_receive(fd, challenge, sizeof challenge, deadline);
  if (how != TPRT__SOCKET_DONE)
    return how;
  welcome->refusal =
      tprt__challenge_answer(own, hello, challenge, &welcome->stated, proof, session);
  if (welcome->refusal)
    return TPRT__SOCKET_DONE;
  how = tprt__socket_send(fd, proof, sizeof proof, deadline);
  tprt__wipe(proof, sizeof proof);
  if (how == TPRT__SOCKET_DONE)
    how = tprt__socket_receive(fd, last, sizeof last, deadline);
  if (how != TPRT__SOCKET_DONE)
    return how;
  tprt__frame frame = {.code = 0};
  welcome->changed = !tprt__frame_read(session, last, sizeof last, &frame);
  welcome->status = (tprt_status)frame.code;
  return TPRT__SOCKET_DONE;
}
