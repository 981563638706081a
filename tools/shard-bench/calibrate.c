/* --calibrate: measures this host and writes a topology file. */
#include "calibrate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const tprt_op_kind host_kinds[MAX_KINDS] = {TPRT_OP_ALL_GATHER, TPRT_OP_REDUCE_SCATTER,
                                            TPRT_OP_ALL_REDUCE, TPRT_OP_ALL_TO_ALL,
                                            TPRT_OP_PERMUTE,    TPRT_OP_BROADCAST};

/* Ranks that get less than this of their processors measure other work too. */
static const double idle_share = 0.9;

/* Returns the rank counts to measure: 2, 4, ... up to at least twice the processors, so that meshes
 * somewhat larger than the host are covered. */
static int rank_counts(const options *o, int counts[MAX_RANK_COUNTS]) {
  int n = 0, most = 2 * cli_processors();
  if (o->n_rank_counts > 0) {
    memcpy(counts, o->rank_counts, sizeof o->rank_counts);
    return o->n_rank_counts;
  }
  for (int ranks = 2; n < MAX_RANK_COUNTS && ranks <= BENCH_MAX_RANKS && (ranks <= most || n == 0);
       ranks *= 2)
    counts[n++] = ranks;
  return n;
}

/* Measures one kind and keeps the minima, since other load on the host can only increase times. */
static pass_status measure_kind(const options *o, kind_times *times) {
  own_ranks ranks = {.job = &times->job, .registered = true, .threads = o->threads};
  pass_result result;
  pass_status status = pass_run(own_start, &ranks, times->job.n_sizes, &result);
  if (status == PASS_OK)
    keep_minima(times, &result);
  return status;
}

void keep_minima(kind_times *times, const pass_result *result) {
  for (int s = 0; s < times->job.n_sizes; s++)
    if (times->us[s] == 0 || result->minimum_us[s] < times->us[s])
      times->us[s] = result->minimum_us[s];
}

fit fit_times(const kind_times *times) {
  double bytes[BENCH_MAX_SIZES];
  for (int s = 0; s < times->job.n_sizes; s++)
    bytes[s] = (double)bench_bus_bytes(&times->job, s);
  fit found = fit_points(times->job.n_sizes, bytes, times->us);
  char latency[80] = "";
  if (found.has_latency)
    snprintf(latency, sizeof latency, ", small: %8.2f us + bytes / %7.3f GB/s",
             found.latency.alpha_us, found.latency.gbytes_per_s);
  cli_print("%-15s %3d ranks  %8.2f us + bytes / %7.3f GB/s%s; mean error %.0f %%, max %.0f %%\n",
            tprt_op_kind_name(times->job.kind), times->job.n_ranks, found.line.alpha_us,
            found.line.gbytes_per_s, latency, 100 * found.mean_error, 100 * found.max_error);
  return found;
}

/* Keeps the best of two measurements of the rates, since other load only slows down. Shares go with
 * the measurement that had most of the processors. */
static void keep_best(const double *rates, double *best) {
  bool is_quieter = rates[HOST_SHARE] > best[HOST_SHARE];
  for (int i = 0; i < N_HOST_RATES; i++) {
    bool is_faster = i == HOST_LAUNCH ? rates[i] < best[i] : rates[i] > best[i];
    bool is_share = i == HOST_CONTRACTION || i == HOST_EXPOSED || i == HOST_SHARE;
    if (best[i] == 0 || (is_share ? is_quieter : is_faster))
      best[i] = rates[i];
  }
}

pass_status measure_rates(const options *o, host_model *model) {
  double rates[N_HOST_RATES];
  host_ranks ranks = {.n_ranks = model->n_ranks,
                      .n_rounds = o->job.n_rounds,
                      .round_seconds = o->job.round_seconds};
  pass_status status = pass_numbers(host_start, &ranks, N_HOST_RATES, rates);
  if (status == PASS_OK)
    keep_best(rates, model->rates);
  return status;
}

pass_status check_rates(const options *o, const host_model *model) {
  const double *rates = model->rates;
  cli_print(
      "%d active ranks, each: memory %.2f GB/s, stores %.2f GB/s, matrices %.2f GB/s, %.2f of "
      "the shorter of reading and computing exposed, elementwise %.2f Gop/s, contractions "
      "f32 %.1f f64 %.1f bf16 %.1f i8 %.1f Gflop/s, smallest %.2f us\n",
      model->n_ranks, rates[HOST_MEMORY], rates[HOST_STORE], rates[HOST_CONTRACTION],
      rates[HOST_EXPOSED], rates[HOST_ELEMENTWISE], rates[HOST_F32], rates[HOST_F64],
      rates[HOST_F16], rates[HOST_I8], rates[HOST_LAUNCH]);
  if (rates[HOST_SHARE] >= idle_share)
    return PASS_OK;
  if (o->idle)
    complain("other work took %.0f %% of a processor, so the host cannot be measured",
             100 * (1 - rates[HOST_SHARE]));
  else
    cli_print("shard-bench: warning: other work took %.0f %% of a processor: rates may be too low, "
              "and latencies too high\n",
              100 * (1 - rates[HOST_SHARE]));
  return o->idle ? PASS_FAILED : PASS_OK;
}

/* Measuring the rates takes about as long as so many kinds. */
enum { N_STEPS_OF_RATES = 8 };

/* Measures the rates and all kinds in turn, repeatedly, so that a period of other load affects only
 * one repetition of each. */
static pass_status measure_host(const options *o, host_model *model) {
  int done = 0;
  static kind_times times[MAX_RANK_COUNTS][MAX_KINDS];
  int counts[MAX_RANK_COUNTS], n = cli_processors();
  pass_status status = PASS_OK;
  model->n_ranks = n < BENCH_MAX_RANKS ? n : BENCH_MAX_RANKS;
  model->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / model->n_ranks;
  model->n_hosts = 1;
  model->lines_of = "registered buffers";
  strcpy(model->description, "This host, ranks on shared memory");
  model->n_levels = 1;
  host_level *level = &model->levels[0];
  level->name = "host";
  level->n_lines = rank_counts(o, counts);
  progress("calibrating");
  const int all = o->repeats * (N_STEPS_OF_RATES + level->n_lines * MAX_KINDS);
  for (int repeat = 0; repeat < o->repeats && status == PASS_OK; repeat++) {
    status = measure_rates(o, model);
    done += N_STEPS_OF_RATES;
    for (int i = 0; i < level->n_lines; i++)
      for (int k = 0; k < MAX_KINDS && status == PASS_OK; k++) {
        times[i][k].job = o->job;
        times[i][k].job.kind = host_kinds[k];
        times[i][k].job.n_ranks = counts[i];
        times[i][k].job.fresh = true;
        progress_steps(done++, all);
        status = measure_kind(o, &times[i][k]);
      }
  }
  progress(NULL);
  if (status == PASS_OK)
    status = check_rates(o, model);
  for (int i = 0; i < level->n_lines && status == PASS_OK; i++) {
    level->lines[i].n = counts[i];
    for (int k = 0; k < MAX_KINDS; k++)
      level->lines[i].kinds[k] = fit_times(&times[i][k]);
  }
  return status;
}

/* Sets the model's name: the file name without folder and suffix, "host" for standard output. */
static void set_name(host_model *model, const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL, *base = slash  ? slash + 1
                                                                : path ? path
                                                                       : "host";
  size_t n = 0;
  for (; base[n] && n < sizeof model->name - 1 && strcmp(base + n, ".json") != 0; n++)
    model->name[n] = base[n];
  for (size_t i = 0; i < n; i++)
    if (!isalnum((unsigned char)model->name[i]) && !strchr("-_.", model->name[i]))
      model->name[i] = '_';
  if (n == 0)
    strcpy(model->name, "host");
}

int calibrate(const options *o) {
  static host_model model;
  cli_print("shard-bench: measuring this host takes about half a minute\n");
  return calibrate_with(o, &model, measure_host);
}

int calibrate_with(const options *o, host_model *model,
                   pass_status (*measure)(const options *o, host_model *model)) {
  cli_file file = {.stream = stdout};
  if (o->output && !cli_file_open(&file, o->output)) { /* opened before measuring, to fail early */
    complain_of_write(o->output);
    return EXIT_FAILED;
  }
  set_name(model, o->output);
  pass_status status = measure(o, model);
  bool written = status == PASS_OK && write_topology(file.stream, model);
  if (o->output)
    written = cli_file_close(&file, written);
  if (status == PASS_INTERRUPTED)
    cli_print("shard-bench: interrupted\n");
  else if (status == PASS_OK && !written)
    complain_of_write(o->output ? o->output : "the topology");
  return written ? 0 : status == PASS_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
}
