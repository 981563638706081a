/* The parts of a calibration: line fits, compute rates of the host, the topology file. */
#ifndef SHARD_BENCH_CALIBRATE_H
#define SHARD_BENCH_CALIBRATE_H

#include "bench.h"

/* A cost line: time = alpha + bytes / bandwidth, in microseconds and GB/s. */
typedef struct fit_line {
  double alpha_us, gbytes_per_s;
} fit_line;

/* A cost model with one or two lines; the time is the minimum over the lines. */
typedef struct fit {
  fit_line line;
  bool has_latency;
  fit_line latency;             /* for small messages: lower latency and bandwidth than `line` */
  double mean_error, max_error; /* relative errors */
} fit;

/* Fits by least squares of the relative errors over n >= 2 points with ascending bytes > 0 and us >
 * 0. Adds a second line if that reduces the mean error by at least a fifth. */
fit fit_points(int n, const double *bytes, const double *us);

enum {
  HOST_MEMORY,
  HOST_STORE,
  HOST_CONTRACTION, /* reading of matrices */
  HOST_EXPOSED,     /* a share (tp_topology.exposed) */
  HOST_ELEMENTWISE,
  HOST_F32,
  HOST_F64,
  HOST_F16,
  HOST_I8,
  HOST_LAUNCH,
  HOST_SHARE, /* smallest share of processor time that a rank got during the measurement */
  N_HOST_RATES
};

/* Measures the rates of one rank while `n_ranks` threads are active: GB/s, 1e9 operations per
 * second, microseconds, shares. A start function for pass_numbers; prints N_HOST_RATES
 * lines. */
typedef struct host_ranks {
  int n_ranks, n_rounds; /* n_rounds: at most so many times the same work, and 8 at least */
  double round_seconds;
} host_ranks;
int host_start(void *data); /* data: host_ranks */

typedef struct host_lines {
  int n; /* number of ranks */
  fit kinds[MAX_KINDS];
} host_lines;

/* A level of the network. */
typedef struct host_level {
  const char *name;
  int devices; /* of one unit of the level; 0: as many as there are */
  int n_lines;
  host_lines lines[MAX_RANK_COUNTS + 1];
} host_level;

typedef struct host_model {
  char name[32], description[96];
  const char *lines_of; /* what the lines are of, for the source of the file */
  double rates[N_HOST_RATES];
  int n_ranks;          /* number of ranks while the rates were measured */
  int n_hosts;          /* that have so many processors each */
  int64_t memory_bytes; /* per rank */
  int n_levels;
  host_level levels[2];
  /* texts of these objects of another topology file; NULL: what was measured, none */
  char *device, *kernels;
} host_model;

/* Reads the texts of `device` and `kernels` from a topology file. False, with a message, if there
 * is no device. */
bool read_device(const char *path, host_model *model);

/* The minimum times of one kind for one number of ranks. */
typedef struct kind_times {
  bench_job job;
  double us[BENCH_MAX_SIZES]; /* 0: not measured yet */
} kind_times;
void keep_minima(kind_times *times, const pass_result *result);
fit fit_times(const kind_times *times);

/* Measures the rates of this host once more, and keeps the best. */
pass_status measure_rates(const options *o, host_model *model);
/* Prints the measured rates. With --idle it fails if other work on the machine disturbed them. */
pass_status check_rates(const options *o, const host_model *model);

/* Opens the output, has `measure` fill the model, and writes it. Returns an exit code. */
int calibrate_with(const options *o, host_model *model,
                   pass_status (*measure)(const options *o, host_model *model));

extern const tprt_op_kind host_kinds[MAX_KINDS];

/* Returns false if the file cannot be written. */
bool write_topology(FILE *file, const host_model *model);

#endif
