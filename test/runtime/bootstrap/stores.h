/* Shared by the store tests: addresses of every kind, and configurations. */
#ifndef TPRT_TEST_STORES_H
#define TPRT_TEST_STORES_H

#include "test/runtime/harness/harness.h"

#include <sys/types.h>

enum { STORE_MOST_RANKS = 8 };
static const int64_t store_second = 1000000000;

enum { STORE_TCP, STORE_UNIX, STORE_FILE, STORE_FD, N_STORE_KINDS };

/* Returns a port that is currently free. */
int store_free_port(void);
/* Writes an address of a kind, a new one in every call. */
void store_make_address(int kind, char *text, size_t room);
/* Releases the resources of an address. */
void store_drop_address(const char *text);

/* Returns the config of rank `rank` of n of the job "job", with a timeout of 5 s. */
tprt_store_config store_config_of(int n, int rank, const unsigned char *secret);

/* Opens the store at an address as rank `rank` of n, with a timeout of 20 s. Returns NULL after a
 * failure, which it prints and counts. */
tprt_store *store_open_rank(const char *address, int n, int rank, int *errors);
/* Opens that store in *store, and creates the world of a backend in it. Without a world, returns
 * NULL and leaves no store. */
tprt_comm *store_open_world(const char *address, const char *backend, int n, int rank,
                            tprt_store **store, int *errors);

/* A callback store for threads of this process: values protected by a lock. `seen`, unless NULL,
 * gets every value before the other ranks, and may change it. */
typedef struct store_board store_board;
typedef void store_seen_fn(void *user, const char *key, unsigned char *value, size_t bytes);
store_board *store_board_make(void);
void store_board_watch(store_board *board, store_seen_fn *seen, void *user);
tprt_store_callbacks store_board_callbacks(store_board *board);
void store_board_free(store_board *board);

/* Runs n processes that share nothing but the argument: each runs `fn` and exits with its result.
 * Returns the number of processes that did not exit with 0; `status`, unless NULL, receives their
 * exit statuses. */
typedef int store_rank_fn(int rank, void *argument);
int store_run_ranks(int n, store_rank_fn *fn, void *argument, int *status);

void store_write_file(const char *path, const char *text, size_t n, mode_t mode);

#endif
