/* shard-bench: times of collectives on this host, against other libraries, and the calibration of a
 * topology file. */
#ifndef SHARD_BENCH_BENCH_H
#define SHARD_BENCH_BENCH_H

#include "measure.h"
#include "tools/cli/cli.h"

#include <stdio.h>

enum { EXIT_FAILED = 1, EXIT_INTERRUPTED = 130 };

typedef enum report_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON } report_format;

enum { MAX_PEERS = 2, MAX_KINDS = 6, MAX_RANK_COUNTS = 8 };

typedef struct options {
  int n_kinds;
  tprt_op_kind kinds[MAX_KINDS];
  int n_rank_counts;
  int rank_counts[MAX_RANK_COUNTS];
  /* what all measurements share; the number of ranks and the kind are set for each */
  bench_job job;
  bool registered, threads, bound, calibrate, capabilities;
  const char *backend; /* of --capabilities; NULL: all */
  int n_peers;
  int peers[MAX_PEERS]; /* rows of the table of peers */
  int repeats;
  report_format format;
  const char *output;
} options;

/* Returns CLI_GO_ON, or the exit code. */
int cli_parse(int argc, char **argv, options *o);

/* ---- passes: one program measures all sizes of a job ---- */

typedef struct pass_result {
  double median_us[BENCH_MAX_SIZES], minimum_us[BENCH_MAX_SIZES];
} pass_result;

typedef enum pass_status { PASS_OK, PASS_FAILED, PASS_INTERRUPTED } pass_status;

/* Ctrl-C and SIGTERM are taken note of from here on, and end passes. */
void pass_catch_signals(void);
/* Forks a process, in a process group of its own, that runs `start`, whose output is the lines of
 * bench_measure. `start` prints what went wrong, and returns an exit code if it returns. */
pass_status pass_run(int (*start)(void *data), void *data, int n_sizes, pass_result *result);
/* The same for a program that prints n_values numbers. */
pass_status pass_numbers(int (*start)(void *data), void *data, int n_values, double *values);

/* ---- the ranks of this library ---- */

typedef struct own_ranks {
  const bench_job *job;
  bool registered, threads;
} own_ranks;
int own_start(void *data); /* own_ranks */

/* ---- peers ---- */

/* The row of a name; -1 if there is none. */
int peer_find(const char *name);
const char *peer_name(int peer);
const char *peer_names(void); /* "openmpi, gloo" */
/* False, with a message, if the peer is not there or has no such operation. */
bool peer_ready(int peer, const bench_job *job);
typedef struct peer_ranks {
  int peer;
  const bench_job *job;
} peer_ranks;
int peer_start(void *data); /* peer_ranks */

/* ---- the bound ---- */

/* False, with a message, if there is none for this job. */
bool bound_ready(const bench_job *job);
typedef struct bound_ranks {
  const bench_job *job;
  bool stream; /* stores around the cache */
} bound_ranks;
int bound_start(void *data); /* bound_ranks */

/* ---- reports ---- */

typedef struct report_row {
  const options *o;
  const bench_job *job;
  int size;                          /* index */
  double us, minimum_us;             /* of this library */
  double bound_us, bound_minimum_us; /* 0: not asked for */
  int peer;                          /* -1: none */
  double peer_us, peer_minimum_us;
} report_row;

void report_begin(const options *o);
/* `text` with `quote` before every character of `quoted`, in one line; as much as there is room
 * for. Returns `out`. */
const char *report_quote(const char *text, const char *quoted, char quote, char *out, size_t size);
void report_print(const report_row *row);
/* Bytes that a rank sends for size i: what bus bandwidths and the cost model count. */
int64_t bench_bus_bytes(const bench_job *job, int i);

/* ---- calibration ---- */

int calibrate(const options *o); /* an exit code, as the next */
int capabilities(const options *o);

#endif
