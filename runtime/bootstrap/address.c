/* Addresses of stores, and their sockets. */
#define _GNU_SOURCE 1
#include "bootstrap/store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- parsing ---- */

/* Copies the text before `end` to `out`. Returns false if it is empty or too long. */
static bool copy_part(const char *begin, const char *end, char *out, size_t room) {
  size_t n = (size_t)(end - begin);
  if (n == 0 || n >= room)
    return false;
  memcpy(out, begin, n);
  out[n] = 0;
  return true;
}

static bool parse_tcp(const char *text, tprt__address *address) {
  const char *colon = strrchr(text, ':');
  if (!colon || strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5)
    return false;
  long port = strtol(colon + 1, NULL, 10);
  if (port < 1 || port > 65535)
    return false;
  snprintf(address->port, sizeof address->port, "%ld", port);
  bool bracketed = *text == '[' && colon > text && colon[-1] == ']';
  if (!bracketed && memchr(text, ':', (size_t)(colon - text)))
    return false; /* an IPv6 address without brackets: the position of the port is ambiguous */
  return copy_part(text + bracketed, colon - bracketed, address->host, sizeof address->host);
}

tprt_status tprt__address_parse(const char *text, tprt__address *address) {
  bool ok = strlen(text) < sizeof address->text;
  *address = (tprt__address){.is_unix = strncmp(text, "unix:", 5) == 0};
  if (ok && address->is_unix)
    ok = copy_part(text + 5, text + strlen(text), address->name, sizeof address->name);
  else if (ok && strncmp(text, "tcp://", 6) == 0)
    ok = parse_tcp(text + 6, address);
  else
    ok = false;
  if (!ok) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "\"%.120s\" is not the address of a store; it must be tcp://HOST:PORT with a "
                      "port from 1 to 65535, unix:NAME, file:PATH or fd:NUMBER",
                      text);
  }
  snprintf(address->text, sizeof address->text, "%s", text);
  return TPRT_OK;
}

/* ---- resolving ---- */

typedef union any_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un local;
  struct sockaddr_storage room;
} any_address;

/* True if the address cannot belong to another machine. */
static bool is_local(const struct sockaddr *at, socklen_t bytes) {
  any_address address = {.any = {.sa_family = AF_UNSPEC}};
  memcpy(&address, at, bytes < sizeof address ? bytes : sizeof address);
  if (address.any.sa_family == AF_INET)
    return ntohl(address.v4.sin_addr.s_addr) >> 24 == 127;
  return address.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
}

static tprt_status refuse_open(const tprt__address *address) {
  return tprt__fail(TPRT_AUTH,
                    "%s can be reached from other machines, and the job has no secret: set "
                    "TPRT_SECRET_FILE to a file of mode 0600 with 32 random bytes, the same on all "
                    "hosts, or TPRT_INSECURE=1 to run without a secret",
                    address->text);
}

typedef tprt_status use_fn(const struct sockaddr *at, socklen_t bytes, void *data);

/* Calls `use` for each address of the name until one succeeds. Without `open`, refuses addresses of
 * other machines. */
static tprt_status each_address(const tprt__address *address, bool open, use_fn *use, void *data) {
  if (address->is_unix) {
    /* the name begins with a 0 byte: abstract namespace, no file */
    any_address local = {.local = {.sun_family = AF_UNIX}};
    size_t n = strlen(address->name);
    memcpy(local.local.sun_path + 1, address->name, n);
    return use(&local.any, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n), data);
  }
  struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                            .ai_socktype = SOCK_STREAM,
                            .ai_flags = AI_NUMERICSERV},
                  *list;
  int code = getaddrinfo(address->host, address->port, &wanted, &list);
  if (code)
    return tprt__fail(TPRT_SYSTEM, "%s: %s", address->text, gai_strerror(code));
  tprt_status status = TPRT_INTERNAL;
  for (const struct addrinfo *at = list; at && status; at = at->ai_next)
    status = open || is_local(at->ai_addr, at->ai_addrlen) ? use(at->ai_addr, at->ai_addrlen, data)
                                                           : refuse_open(address);
  freeaddrinfo(list);
  return status;
}

/* ---- sockets ---- */

typedef struct attempt {
  const tprt__address *address;
  int fd;
} attempt;

static int make_socket(const struct sockaddr *at) {
  int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
  if (fd >= 0 && at->sa_family != AF_UNIX)
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

static tprt_status listen_at(const struct sockaddr *at, socklen_t bytes, void *data) {
  attempt *a = data;
  int fd = make_socket(at), on = 1;
  if (fd < 0)
    return tprt__fail_errno("%s: a socket", a->address->text);
  if (at->sa_family != AF_UNIX) /* connections of an earlier job may linger */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, at, bytes) != 0 || listen(fd, SOMAXCONN) != 0) {
    tprt_status status =
        errno == EADDRNOTAVAIL
            ? tprt__fail(TPRT_SYSTEM, "%s is not an address of this host, where rank 0 runs",
                         a->address->text)
            : tprt__fail_errno("rank 0 cannot serve %s", a->address->text);
    close(fd);
    return status;
  }
  a->fd = fd;
  return TPRT_OK;
}

tprt_status tprt__address_listen(const tprt__address *address, bool open, int *fd) {
  attempt a = {.address = address};
  tprt_status status = each_address(address, open, listen_at, &a);
  if (!status)
    *fd = a.fd;
  return status;
}

bool tprt__socket_wait(int fd, short events, int64_t deadline) {
  for (;;) {
    int64_t left = deadline - tprt__now();
    struct timespec time = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                            .tv_nsec = left > 0 ? left % 1000000000 : 0};
    struct pollfd watched = {.fd = fd, .events = events};
    int n = ppoll(&watched, 1, &time, NULL);
    if (n > 0)
      return true; /* also for an error, which the next call reports */
    if (n == 0 || errno != EINTR)
      return false;
  }
}

void tprt__sockets_wait(struct pollfd *watched, size_t n, int64_t until) {
  enum { TRY_NS = 10000000 };
  int64_t left = tprt__max(until - tprt__now(), 0);
  struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
  if (ppoll(watched, n, &time, NULL) >= 0)
    return;
  bool interrupted = errno == EINTR;
  if (!interrupted) { /* the limit of open files, which may change at any time, is below n */
    time = (struct timespec){.tv_nsec = tprt__min(left, TRY_NS)};
    nanosleep(&time, NULL);
  }
  for (size_t i = 0; i < n; i++)
    watched[i].revents = interrupted || watched[i].fd < 0 ? 0 : watched[i].events;
}

typedef struct connecting {
  attempt base;
  int64_t deadline;
  bool is_resolved; /* the host's name has an address */
} connecting;

static tprt_status connect_at(const struct sockaddr *at, socklen_t bytes, void *data) {
  connecting *c = data;
  c->is_resolved = true;
  int fd = make_socket(at), error = 0;
  socklen_t size = sizeof error;
  if (fd < 0)
    return tprt__fail_errno("%s: a socket", c->base.address->text);
  if (connect(fd, at, bytes) != 0)
    error = errno;
  if (error == EINPROGRESS) {
    error = ETIMEDOUT;
    if (tprt__socket_wait(fd, POLLOUT, c->deadline) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = errno;
  }
  if (error) {
    errno = error;
    close(fd);
    errno = error;
    return tprt__fail_errno("%s", c->base.address->text);
  }
  c->base.fd = fd;
  return TPRT_OK;
}

static tprt_status connect_once(const tprt__address *address, bool open, int64_t deadline, int *fd,
                                bool *is_resolved) {
  enum { TRY_NS = 1000000000 };
  connecting c = {.base = {.address = address},
                  .deadline = tprt__min(deadline, tprt__deadline(TRY_NS))};
  tprt_status status = each_address(address, open, connect_at, &c);
  if (!status)
    *fd = c.base.fd;
  *is_resolved = c.is_resolved;
  return status;
}

tprt_status tprt__address_connect_once(const tprt__address *address, bool open, int64_t deadline,
                                       int *fd) {
  bool is_resolved;
  return connect_once(address, open, deadline, fd, &is_resolved);
}

tprt_status tprt__address_connect(const tprt__address *address, bool open, int64_t deadline,
                                  int *fd) {
  enum { FIRST_PAUSE_NS = 2000000, LAST_PAUSE_NS = 50000000 };
  for (int64_t pause = FIRST_PAUSE_NS;; pause = tprt__min(2 * pause, LAST_PAUSE_NS)) {
    bool is_resolved;
    tprt_status status = connect_once(address, open, deadline, fd, &is_resolved);
    int64_t left = deadline - tprt__now();
    if (status != TPRT_SYSTEM) /* connected, or waiting does not help */
      return status;
    if (left <= 0) {
      char why[256];
      snprintf(why, sizeof why, "%s", tprt_last_error());
      return tprt__fail(TPRT_TIMEOUT,
                        is_resolved
                            ? "%s; there was no answer in time: is the address right, and the rank "
                              "that listens there started (rank 0 of a store)?"
                            : "%s; no host of this name was found in time: is the name right, and "
                              "known on this host?",
                        why);
    }
    left = tprt__min(left, pause);
    nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
  }
}

tprt__socket_result tprt__socket_send(int fd, const unsigned char *bytes, size_t n,
                                      int64_t deadline) {
  while (n > 0) {
    ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN && !tprt__socket_wait(fd, POLLOUT, deadline))
      return TPRT__SOCKET_TIMED_OUT;
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return TPRT__SOCKET_BROKEN;
    if (sent > 0) {
      bytes += sent;
      n -= (size_t)sent;
    }
  }
  return TPRT__SOCKET_DONE;
}

tprt__socket_result tprt__socket_receive(int fd, unsigned char *bytes, size_t n, int64_t deadline) {
  while (n > 0) {
    ssize_t got = recv(fd, bytes, n, 0);
    if (got < 0 && errno == EAGAIN && !tprt__socket_wait(fd, POLLIN, deadline))
      return TPRT__SOCKET_TIMED_OUT;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return TPRT__SOCKET_BROKEN;
    if (got > 0) {
      bytes += got;
      n -= (size_t)got;
    }
  }
  return TPRT__SOCKET_DONE;
}

int tprt__socket_here(int fd, char host[TPRT__HOST_BYTES]) {
  any_address at = {.any = {.sa_family = AF_UNSPEC}};
  socklen_t size = sizeof at;
  char port[8] = "0";
  if (getsockname(fd, &at.any, &size) != 0 ||
      getnameinfo(&at.any, size, host, TPRT__HOST_BYTES, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    host[0] = 0;
  return atoi(port);
}

bool tprt__same_user(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}
