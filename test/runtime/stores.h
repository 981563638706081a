/* What the tests of stores share: addresses of every kind, and configurations. */
#ifndef TPRT_TEST_STORES_H
#define TPRT_TEST_STORES_H

#include "harness.h"

#include <sys/types.h>

enum { STORE_MOST_RANKS = 8 };
static const int64_t store_second = 1000000000;

enum { STORE_TCP, STORE_UNIX, STORE_FILE, STORE_FD, N_STORE_KINDS };

/* A port that nobody has at the moment. */
int store_free_port(void);
/* An address of a kind, new with every call. */
void store_make_address(int kind, char *text, size_t room);
/* Ends what an address holds. */
void store_drop_address(const char *text);

/* Rank `rank` of n of a job that is called "job", 5 s. */
tprt_store_config store_config_of(int n, int rank, const unsigned char *secret);

/* A store of callbacks for threads of this process: values behind a lock. `seen`, unless NULL, gets
 * every value before the others do, and may change it. */
typedef struct store_board store_board;
typedef void store_seen_fn(void *user, const char *key, unsigned char *value, size_t bytes);
store_board *store_board_make(void);
void store_board_watch(store_board *board, store_seen_fn *seen, void *user);
tprt_store_callbacks store_board_callbacks(store_board *board);
void store_board_free(store_board *board);

/* n processes that have nothing in common but what the argument says: each runs `fn` and ends with
 * what it returns. The number of those that did not end with 0; `status`, unless NULL, gets how
 * each ended. */
typedef int store_rank_fn(int rank, void *argument);
int store_run_ranks(int n, store_rank_fn *fn, void *argument, int *status);

void store_write_file(const char *path, const char *text, size_t n, mode_t mode);

#endif
