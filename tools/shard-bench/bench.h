/* shard-bench: measures collectives on this host, compares them with other libraries, and
 * calibrates topology files. */
#ifndef SHARD_BENCH_BENCH_H
#define SHARD_BENCH_BENCH_H

#include "measure.h"
#include "tools/cli/cli.h"

#include "tprt/abi.h"

#include <stdio.h>

enum { EXIT_FAILED = 1, EXIT_INTERRUPTED = 130 };

typedef enum report_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON } report_format;

enum { MAX_PEERS = 3, MAX_KINDS = 6, MAX_RANK_COUNTS = 8 };

typedef struct options {
  int n_kinds;
  tprt_op_kind kinds[MAX_KINDS];
  int n_rank_counts;
  int rank_counts[MAX_RANK_COUNTS];
  /* settings common to all measurements; the number of ranks and the kind are set for each */
  bench_job job;
  bool registered, threads, bound, calibrate, idle, capabilities;
  /* --capabilities: the one to print; ranks of a launcher: theirs; NULL: all, or the default */
  const char *backend;
  tprt_launch launch; /* of the launcher that started this process as one of several ranks */
  int n_peers;
  int peers[MAX_PEERS]; /* indices into the table of peers */
  int repeats, round_ms;
  report_format format;
  const char *output;
  const char *device; /* topology file that describes the devices; NULL: this host is measured */
} options;

/* Returns CLI_GO_ON or the exit code. */
int cli_parse(int argc, char **argv, options *o);

/* ---- Passes: one program measures all sizes of a job ---- */

typedef struct pass_result {
  double median_us[BENCH_MAX_SIZES], minimum_us[BENCH_MAX_SIZES];
} pass_result;

typedef enum pass_status { PASS_OK, PASS_FAILED, PASS_INTERRUPTED } pass_status;

/* Catches Ctrl-C and SIGTERM from here on; they end passes. */
void pass_catch_signals(void);
/* Forks a process, in its own process group, that runs `start`. It prints the lines of
 * bench_measure on its standard output. If `start` fails, it prints the reason and returns an exit
 * code. */
pass_status pass_run(int (*start)(void *data), void *data, int n_sizes, pass_result *result);
/* Like pass_run, for a program that prints n_values numbers. */
pass_status pass_numbers(int (*start)(void *data), void *data, int n_values, double *values);

/* ---- Ranks of this library ---- */

/* Ends the process with a message if a call of the library failed. */
void expect(tprt_status status);
typedef struct own_ranks {
  const bench_job *job;
  bool registered, threads, one_by_one; /* one_by_one: pieces are no batch */
  tprt_context *device;                 /* buffers are memory of its GPU; NULL: of the host */
} own_ranks;
int own_start(void *data); /* data: own_ranks */
/* Measures all sizes on a communicator, as one of its ranks. `all` has the ranks that measure at
 * the same time, in several communicators. */
void own_measure(const own_ranks *ranks, tprt_comm *comm, tprt_comm *all, pass_result *result);

/* ---- Peers: other communication libraries ---- */

/* Returns the index of a peer by name; -1 if there is none. */
int peer_find(const char *name);
const char *peer_name(int peer);
/* Returns false, with a message, if the peer is not available or lacks the operation. */
bool peer_ready(int peer, const bench_job *job);
typedef struct peer_ranks {
  int peer;
  own_ranks own; /* what it is compared with */
} peer_ranks;
int peer_start(void *data); /* data: peer_ranks */

/* ---- Memory bound ---- */

/* Returns false, with a message, if the bound is not supported for this job. */
bool bound_ready(const bench_job *job);
typedef struct bound_ranks {
  const bench_job *job;
  bool stream; /* use non-temporal stores */
} bound_ranks;
int bound_start(void *data); /* data: bound_ranks */

/* ---- Ranks that a launcher started ---- */

/* Measure on the ranks of which this process is one; rank 0 reports. Return an exit code. */
int attached_bench(const options *o);
int attached_calibrate(const options *o);
/* True if the backend that these ranks use takes device memory only. */
bool attached_on_gpus(const options *o);

/* ---- Reports ---- */

enum { MAX_REPEATS = 25 };

/* The results of one program: one pass for each repetition. */
typedef struct series {
  pass_result passes[MAX_REPEATS];
} series;

/* Prints the rows of all sizes. Without a bound or peers, their series are not read. */
void report_series(const options *o, const bench_job *job, const series *own, const series *bound,
                   const series *theirs);

typedef struct report_row {
  const options *o;
  const bench_job *job;
  int size;                          /* index of the message size */
  double us, minimum_us;             /* times of this library */
  double bound_us, bound_minimum_us; /* 0: not requested */
  int peer;                          /* -1: none */
  double peer_us, peer_minimum_us;
} report_row;

void report_begin(const options *o);
/* Copies `text` with `quote` before every character of `quoted`, as one line, truncated to `size`.
 * Returns `out`. */
const char *report_quote(const char *text, const char *quoted, char quote, char *out, size_t size);
void report_print(const report_row *row);
/* Returns the bytes that a rank sends for size i, as bus bandwidths and the cost model count
 * them. */
int64_t bench_bus_bytes(const bench_job *job, int i);

/* ---- Calibration ---- */

int calibrate(const options *o); /* these two return an exit code */
int capabilities(const options *o);

#endif
