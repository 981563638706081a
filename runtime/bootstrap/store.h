/* The internals of stores, and the list of values that a store of this library keeps. */
#ifndef TPRT_BOOTSTRAP_STORE_H
#define TPRT_BOOTSTRAP_STORE_H

#include "base/base.h"
#include "bootstrap/frames.h"
#include "tprt/bootstrap.h"

#include <poll.h>
#include <pthread.h>

/* In the message of a store whose value nobody has set in time. */
#define TPRT__NOT_SET "no rank set"

/* Implementation of a store. The arguments are valid: keys and values are within their limits.
 * `deadline` is a time of tprt__now. */
typedef struct tprt__store_kind {
  tprt_status (*set)(tprt_store *store, const char *key, const void *value, size_t bytes,
                     int64_t deadline);
  tprt_status (*get)(tprt_store *store, const char *key, void *value, size_t *bytes,
                     int64_t deadline);
  tprt_status (*add)(tprt_store *store, const char *key, int64_t delta, int64_t *sum,
                     int64_t deadline);
  tprt_status (*remove)(tprt_store *store, const char *key, int64_t deadline);
  void (*close)(tprt_store *store);
} tprt__store_kind;

enum { TPRT__HOST_BYTES = 256 };

/* Implementations embed it as their first member. */
struct tprt_store {
  const tprt__store_kind *kind;
  int64_t timeout_ns;
  unsigned n_rendezvous; /* number of worlds created through it, which makes their keys distinct */
  /* The next fields serve connections that ranks establish after they have met here. */
  /* address at which other hosts reach this one, as far as the store knows; "": unknown */
  char host[TPRT__HOST_BYTES];
  bool open; /* connections to other machines are allowed */
  bool has_secret;
  unsigned char secret[TPRT_SECRET_BYTES]; /* of the job; zeros if there is none */
};

/* ---- values.c ---- */

/* A value always has the capacity of the largest value, so that no peer determines how much memory
 * is used. */
typedef struct tprt__value {
  struct tprt__value *next;
  size_t bytes;
  char key[TPRT_STORE_KEY_BYTES];
  unsigned char data[TPRT_STORE_VALUE_BYTES];
} tprt__value;

typedef struct tprt__values {
  tprt__value *first;
  size_t n, limit;
} tprt__values;

void tprt__values_start(tprt__values *values, int n_ranks);
void tprt__values_clear(tprt__values *values);
const tprt__value *tprt__values_find(const tprt__values *values, const char *key);
tprt_status tprt__values_set(tprt__values *values, const char *key, const void *data, size_t bytes);
/* Removes a value, if it exists. */
void tprt__values_remove(tprt__values *values, const char *key);
tprt_status tprt__values_add(tprt__values *values, const char *key, int64_t delta, int64_t *sum);
/* Copies a value out. *bytes is the capacity before the call and the length after it. */
tprt_status tprt__value_read(const tprt__value *value, void *data, size_t *bytes);

/* ---- address.c ---- */

typedef struct tprt__address {
  char text[320];
  bool is_unix;
  char host[TPRT__HOST_BYTES], port[8]; /* tcp */
  char name[96];                        /* unix */
} tprt__address;

/* Parses "tcp://HOST:PORT" or "unix:NAME". */
tprt_status tprt__address_parse(const char *text, tprt__address *address);
/* Opens a listening socket, close-on-exec and non-blocking. `open`: addresses of other machines are
 * allowed. */
tprt_status tprt__address_listen(const tprt__address *address, bool open, int *fd);
/* Opens a connected, non-blocking socket. TPRT_SYSTEM if nobody listens. */
tprt_status tprt__address_connect_once(const tprt__address *address, bool open, int64_t deadline,
                                       int *fd);
/* The same. Tries at least once, and until the deadline; then
 * TPRT_TIMEOUT. */
tprt_status tprt__address_connect(const tprt__address *address, bool open, int64_t deadline,
                                  int *fd);
/* True if the peer process of a UNIX socket belongs to this user. */
bool tprt__same_user(int fd);
/* Waits until a socket is readable (POLLIN) or writable (POLLOUT). Returns false at the
 * deadline. */
bool tprt__socket_wait(int fd, short events, int64_t deadline);
/* Waits until one of n descriptors is ready, at the latest until `until`, and fills in `revents`.
 * May return earlier with none ready. All must be non-blocking: where the process may not poll so
 * many, all seem ready every 10 ms. */
void tprt__sockets_wait(struct pollfd *watched, size_t n, int64_t until);

typedef enum tprt__socket_result {
  TPRT__SOCKET_DONE,
  TPRT__SOCKET_TIMED_OUT,
  TPRT__SOCKET_BROKEN
} tprt__socket_result;
/* Sends or receives exactly n bytes through a non-blocking socket. */
tprt__socket_result tprt__socket_send(int fd, const unsigned char *bytes, size_t n,
                                      int64_t deadline);
tprt__socket_result tprt__socket_receive(int fd, unsigned char *bytes, size_t n, int64_t deadline);
/* Returns this side's port and numeric address; 0 and "" for a socket without one. */
int tprt__socket_here(int fd, char host[TPRT__HOST_BYTES]);

/* ---- secret.c ---- */

/* Returns the secret from the configuration, TPRT_SECRET_FD or TPRT_SECRET_FILE. *has tells whether
 * there is one. */
tprt_status tprt__secret_find(const void *given, unsigned char secret[TPRT_SECRET_BYTES],
                              bool *has);

/* ---- implementations ---- */

/* Limits of an open store, which has no number of ranks. */
static inline int tprt__store_processes(int n_ranks) {
  return n_ranks ? n_ranks : TPRT_STORE_OPEN_PROCESSES;
}

typedef struct tprt__store_setup {
  tprt__identity identity;
  int server; /* the rank that serves the store, for error messages */
  bool is_up; /* it serves the store already; if nobody listens, it has ended */
  int64_t timeout_ns;
  bool open; /* connections to and from other machines are allowed */
} tprt__store_setup;

/* `port`, which may be NULL, receives the port of the socket, which the system chooses if that of
 * the address is "0". */
tprt_status tprt__store_serve(const tprt__address *address, const tprt__store_setup *setup,
                              int *port, tprt_store **store);
/* Tries until the timeout of the setup. */
tprt_status tprt__store_connect(const tprt__address *address, const tprt__store_setup *setup,
                                tprt_store **store);
/* `path`, or a descriptor if `path` is NULL. */
tprt_status tprt__store_file(const char *path, int fd, const tprt__store_setup *setup,
                             tprt_store **store);

#endif
