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

void store_write_file(const char *path, const char *text, size_t n, mode_t mode);

#endif
