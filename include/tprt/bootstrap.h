/* Bootstrap of processes that start separately: stores, the job secret, launcher detection.
 *
 * Most programs need a single call: `tprt_world_create(0, 0, NULL, &comm)` reads the variables that
 * mpirun, torchrun, srun or shard-run set in the environment, opens the store named there, and
 * joins the world.
 *
 * Trust. A store that other machines can reach admits only processes that know the job secret: 32
 * random bytes from TPRT_SECRET_FD or TPRT_SECRET_FILE. The store proves in turn that it knows the
 * secret. Both sides send an HMAC-SHA-256 over the nonces of both and {job, rank, number of ranks,
 * epoch, version}. Every later message is authenticated with a key of that connection. Contents are
 * not encrypted. Without a secret, only addresses of this machine are used, unless TPRT_INSECURE=1
 * is set. */
#ifndef TPRT_BOOTSTRAP_H
#define TPRT_BOOTSTRAP_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stores ---- */

/* A key-value store that the ranks of one job share during startup. Values are small. A store must
 * be used by one thread at a time. Every wait ends after its timeout (0: the timeout of the
 * store). */
typedef struct tprt_store tprt_store;

enum {
  /* including the final 0; the prefix "tprt/" is reserved for the library */
  TPRT_STORE_KEY_BYTES = 128,
  TPRT_STORE_VALUE_BYTES = 4096, /* maximum */
  TPRT_SECRET_BYTES = 32,
  TPRT_STORE_OPEN_PROCESSES = 1024,
};

/* Start with `tprt_store_config config = {.size = sizeof config, .n_ranks = n, .rank = r};`. All
 * ranks pass the same number of ranks, job and epoch. A rank that differs is refused with
 * TPRT_MISMATCH.
 *
 * With n_ranks 0 the store is open: it serves a job whose processes come and go, up to
 * TPRT_STORE_OPEN_PROCESSES at a time; see tprt_comm_reconfigure. The process that opens it as rank
 * 0 serves it and should outlive the others, such as a launcher. All others open it as rank 1; they
 * are not told apart, and the end of one fails no other. */
typedef struct tprt_store_config {
  size_t size;
  int32_t n_ranks, rank;
  const char *job;    /* name of the job, at most 127 bytes; NULL: "" */
  int32_t epoch;      /* counts restarts of a job */
  int64_t timeout_ns; /* 0: from TPRT_TIMEOUT */
  /* TPRT_SECRET_BYTES bytes, copied. NULL: read from TPRT_SECRET_FD or TPRT_SECRET_FILE, if set */
  const void *secret;
} tprt_store_config;

/* Opens the store at an address. For tcp and unix, a thread of rank 0's process serves the store;
 * the other ranks retry until the server is up.
 *   tcp://HOST:PORT   rank 0 runs on HOST; an IPv6 address stands in brackets
 *   unix:NAME         for ranks of one host and user: a socket in the abstract namespace, without a
 *                     file
 *   file:PATH         a file that all ranks can lock. It is created with mode 0600 and must belong
 *                     to this user. One job per file
 *   fd:N              the same on an inherited descriptor, for example of a memfd that the launcher
 *                     created
 *
 * A rank joins a store once; a second process with the same rank gets TPRT_INVALID_STATE, unless
 * the store is open. */
TPRT_API tprt_status tprt_store_open(const char *address, const tprt_store_config *config,
                                     tprt_store **store);

/* Wraps a store that the caller implements, in this process or as a client of a service. `get`
 * waits until the key exists and writes its value and length; on entry *bytes is the capacity.
 * `add` adds to a counter that starts at 0. `remove` may be NULL; then values stay. All return
 * TPRT_TIMEOUT after timeout_ns. */
typedef struct tprt_store_callbacks {
  size_t size;
  tprt_status (*set)(void *user, const char *key, const void *value, size_t bytes,
                     int64_t timeout_ns);
  tprt_status (*get)(void *user, const char *key, void *value, size_t *bytes, int64_t timeout_ns);
  tprt_status (*add)(void *user, const char *key, int64_t delta, int64_t *sum, int64_t timeout_ns);
  void *user;
  int64_t timeout_ns; /* default of the store; 0: from TPRT_TIMEOUT */
  tprt_status (*remove)(void *user, const char *key, int64_t timeout_ns);
} tprt_store_callbacks;
TPRT_API tprt_status tprt_store_create(const tprt_store_callbacks *callbacks, tprt_store **store);

/* Sets the value of a key. A later call replaces the value. */
TPRT_API tprt_status tprt_store_set(tprt_store *store, const char *key, const void *value,
                                    size_t bytes);
/* Waits for a key and copies its value to `value`. On entry *bytes is the capacity, on return the
 * length of the value. TPRT_INVALID_ARGUMENT if the value does not fit. If a joined rank disappears
 * without tprt_store_destroy, waiting ranks get TPRT_PEER_DEAD with its number (tcp and unix only;
 * file and fd cannot see processes). */
TPRT_API tprt_status tprt_store_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                                    int64_t timeout_ns);
/* Waits until a key exists. */
TPRT_API tprt_status tprt_store_wait(tprt_store *store, const char *key, int64_t timeout_ns);
/* Adds to a counter, which starts at 0, and returns the sum in *sum. Read as a value, a counter is
 * 8 bytes, little-endian. */
TPRT_API tprt_status tprt_store_add(tprt_store *store, const char *key, int64_t delta,
                                    int64_t *sum);
/* Removes a key, if it exists. TPRT_UNSUPPORTED for callbacks without `remove`. */
TPRT_API tprt_status tprt_store_remove(tprt_store *store, const char *key);
/* Waits until n ranks have reached the barrier of this name. A name can be used once. */
TPRT_API tprt_status tprt_store_barrier(tprt_store *store, const char *name, int n,
                                        int64_t timeout_ns);
/* Releases the store. For tcp and unix, rank 0 waits, within the timeout, until the other ranks
 * have left, unless the store is open: then waiting processes get TPRT_PEER_DEAD. For file, rank 0
 * removes the file. NULL is allowed. */
TPRT_API void tprt_store_destroy(tprt_store *store);

/* ---- Launchers ---- */

/* The environment variables that a launcher sets, by purpose. NULL: the launcher sets none for it.
 * For documentation. */
typedef struct tprt_launcher {
  const char *name;
  const char *rank, *n_ranks;           /* the launcher is detected if both are set */
  const char *local_rank, *local_ranks; /* among the ranks of this host */
  const char *n_hosts;                  /* used if local_ranks is missing */
  const char *epoch;
  const char *job[2];
} tprt_launcher;
/* Returns the table of launchers, in search order, and its length in *n. Static storage. */
TPRT_API const tprt_launcher *tprt_launchers(size_t *n);

typedef struct tprt_launch {
  size_t size; /* set it to sizeof(tprt_launch) */
  char launcher[16];
  int32_t rank, n_ranks;
  int32_t local_rank, local_ranks; /* -1 and 0 if unknown */
  int32_t epoch;
  char job[128];   /* "" if unknown */
  char store[320]; /* address of the store; "" if it cannot be derived */
  /* address of the open store in which the launcher lets spares wait; "": it starts none */
  char spares[320];
  /* 1: this process is a spare; `rank` is that in whose place the launcher started it */
  int32_t is_spare;
} tprt_launch;

/* A launcher that starts a spare for each rank that a signal has killed, such as shard-run -n,
 * passes the address of an open store in TPRT_SPARES, which tprt_comm_reconfigure uses if its
 * configuration has no store, and to spares TPRT_SPARE=1, for which tprt_world_create with n_ranks
 * 0 waits for a place, like tprt_comm_join. A process that has become a rank in this way, or at the
 * start, sets this key in the open store, with its process id: so the launcher knows whether there
 * are ranks left that a spare can join. */
#define TPRT_MEMBER_KEY "launch/member/%d"

/* Detects the launcher that started this process. Values are parsed strictly: a malformed one is
 * TPRT_INVALID_ARGUMENT, with the name of the variable. TPRT_INVALID_STATE: no launcher.
 * Set-user-id programs ignore the environment. */
TPRT_API tprt_status tprt_launch_find(tprt_launch *launch);

#ifdef __cplusplus
}
#endif
#endif
