/* How processes that were started apart find each other: stores, the job's secret, launchers.
 *
 * Most programs need one call of this: `tprt_world_create(0, 0, NULL, &comm)` reads what mpirun,
 * torchrun, srun or shard-run wrote into the environment, opens the store that it names, and joins
 * the world.
 *
 * Trust. A store that can be reached from other machines admits only those that know the job's
 * secret, 32 random bytes from TPRT_SECRET_FD or TPRT_SECRET_FILE, and proves that it knows it,
 * too: HMAC-SHA-256 over nonces of both and {job, rank, number of ranks, epoch, version}. Every
 * later message is authenticated with a key of that connection. Contents are not encrypted. Without
 * a secret only addresses of this machine are used, unless TPRT_INSECURE=1 is set. */
#ifndef TPRT_BOOTSTRAP_H
#define TPRT_BOOTSTRAP_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stores ---- */

/* Small values by name that the ranks of one job share while they start. One thread at a time uses
 * a store. Every wait ends by its timeout (0: that of the store). */
typedef struct tprt_store tprt_store;

enum {
  TPRT_STORE_KEY_BYTES = 128,    /* with the final 0; the prefix "tprt/" is the library's */
  TPRT_STORE_VALUE_BYTES = 4096, /* at most */
  TPRT_SECRET_BYTES = 32,
};

/* Start with `tprt_store_config config = {.size = sizeof config, .n_ranks = n, .rank = r};`. All
 * ranks give the same number of ranks, job and epoch; one that differs is refused with
 * TPRT_MISMATCH. */
typedef struct tprt_store_config {
  size_t size;
  int32_t n_ranks, rank;
  const char *job;    /* name of the job, at most 127 bytes; NULL: "" */
  int32_t epoch;      /* counts restarts of a job */
  int64_t timeout_ns; /* 0: TPRT_TIMEOUT */
  /* TPRT_SECRET_BYTES, copied; NULL: from TPRT_SECRET_FD or TPRT_SECRET_FILE, if they are set */
  const void *secret;
} tprt_store_config;

/* Opens the store at an address. Rank 0 serves tcp and unix from a thread of its process; the
 * others try until it is there.
 *   tcp://HOST:PORT   rank 0 runs on HOST; an IPv6 address stands in brackets
 *   unix:NAME         ranks of one host and user: a socket without a file, in the abstract
 *     namespace
 *   file:PATH         a file that all ranks can lock; it is made with mode 0600 and must belong to
 *     this user. One job a file
 *   fd:N              the same in an inherited descriptor, for example of a memfd that the launcher
 *     made A rank joins a store once; a second one with its number gets TPRT_INVALID_STATE. */
TPRT_API tprt_status tprt_store_open(const char *address, const tprt_store_config *config,
                                     tprt_store **store);

/* A store of the caller's, in this process or behind it. `get` waits until the key is there and
 * writes its value and length; *bytes has the room at first. `add` adds to a number that starts at
 * 0. All end by timeout_ns with TPRT_TIMEOUT. */
typedef struct tprt_store_callbacks {
  size_t size;
  tprt_status (*set)(void *user, const char *key, const void *value, size_t bytes,
                     int64_t timeout_ns);
  tprt_status (*get)(void *user, const char *key, void *value, size_t *bytes, int64_t timeout_ns);
  tprt_status (*add)(void *user, const char *key, int64_t delta, int64_t *sum, int64_t timeout_ns);
  void *user;
  int64_t timeout_ns; /* of the store; 0: TPRT_TIMEOUT */
} tprt_store_callbacks;
TPRT_API tprt_status tprt_store_create(const tprt_store_callbacks *callbacks, tprt_store **store);

/* Sets a value; a second one replaces the first. */
TPRT_API tprt_status tprt_store_set(tprt_store *store, const char *key, const void *value,
                                    size_t bytes);
/* Waits for a key and copies its value to `value`, which has room for *bytes; then *bytes is its
 * length. A value that does not fit is TPRT_INVALID_ARGUMENT. When a rank that joined goes away
 * without tprt_store_destroy, those that wait get TPRT_PEER_DEAD with its number (tcp and unix;
 * file and fd know nothing of processes). */
TPRT_API tprt_status tprt_store_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                                    int64_t timeout_ns);
/* Waits for a key. */
TPRT_API tprt_status tprt_store_wait(tprt_store *store, const char *key, int64_t timeout_ns);
/* Adds to a number, which starts at 0, and gives the sum. As a value it has 8 bytes,
 * little-endian. */
TPRT_API tprt_status tprt_store_add(tprt_store *store, const char *key, int64_t delta,
                                    int64_t *sum);
/* Waits until n ranks have come to the barrier of this name, which can be used once. */
TPRT_API tprt_status tprt_store_barrier(tprt_store *store, const char *name, int n,
                                        int64_t timeout_ns);
/* Rank 0 of tcp and unix waits, within the timeout, until the others have gone; a file is removed
 * by rank 0. NULL is allowed. */
TPRT_API void tprt_store_destroy(tprt_store *store);

/* ---- Launchers ---- */

/* What a launcher says in the environment, by the names of its variables; NULL: it has none for
 * that. For documentation. */
typedef struct tprt_launcher {
  const char *name;
  const char *rank, *n_ranks;           /* a launcher is there when both are set */
  const char *local_rank, *local_ranks; /* among the ranks of this host */
  const char *n_hosts;                  /* where local_ranks is missing */
  const char *epoch;
  const char *job[2];
} tprt_launcher;
/* The table, in the order in which it is searched, with its length in *n. Static storage. */
TPRT_API const tprt_launcher *tprt_launchers(size_t *n);

typedef struct tprt_launch {
  size_t size; /* set it to sizeof(tprt_launch) */
  char launcher[16];
  int32_t rank, n_ranks;
  int32_t local_rank, local_ranks; /* -1 and 0 where nobody says */
  int32_t epoch;
  char job[128];   /* "" where nobody says */
  char store[320]; /* address of the store; "": none can be told */
} tprt_launch;
/* What started this process. Values are read strictly: a malformed one is TPRT_INVALID_ARGUMENT and
 * names the variable. TPRT_INVALID_STATE: no launcher. The environment is ignored in set-user-id
 * programs. */
TPRT_API tprt_status tprt_launch_find(tprt_launch *launch);

#ifdef __cplusplus
}
#endif
#endif
