/* The parts of a calibration: fits, rates of the host, the topology file. */
#ifndef SHARD_BENCH_CALIBRATE_H
#define SHARD_BENCH_CALIBRATE_H

#include "bench.h"

/* seconds = alpha + bytes / bandwidth, in microseconds and GB/s. */
typedef struct fit_line {
  double alpha_us, gbytes_per_s;
} fit_line;

/* The time is the lesser of the lines. */
typedef struct fit {
  fit_line line;
  bool has_latency;
  fit_line latency;             /* of small messages: less latency and less bandwidth than `line` */
  double mean_error, max_error; /* relative */
} fit;

/* Least squares of the relative errors over n >= 2 points with ascending bytes > 0 and us > 0. A
 * second line is there where it lessens the mean error by a fifth. */
fit fit_points(int n, const double *bytes, const double *us);

enum {
  HOST_MEMORY,
  HOST_ELEMENTWISE,
  HOST_F32,
  HOST_F64,
  HOST_F16,
  HOST_I8,
  HOST_LAUNCH,
  N_HOST_RATES
};

/* Measures, with `n_ranks` threads at work, what one of them reaches: GB/s, 1e9 operations per
 * second, the last in microseconds. A start function for pass_numbers; prints N_HOST_RATES
 * lines. */
typedef struct host_ranks {
  int n_ranks;
  double round_seconds;
} host_ranks;
int host_start(void *data); /* host_ranks */

typedef struct host_lines {
  int n; /* ranks */
  fit kinds[MAX_KINDS];
} host_lines;

typedef struct host_model {
  char name[32];
  double rates[N_HOST_RATES];
  int n_ranks;          /* that the rates were measured with */
  int64_t memory_bytes; /* of one of them */
  int n_lines;
  host_lines lines[MAX_RANK_COUNTS];
} host_model;

extern const tprt_op_kind host_kinds[MAX_KINDS];

/* False when it cannot be written. */
bool write_topology(FILE *file, const host_model *model);

#endif
