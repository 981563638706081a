/* Prints result rows as a table, CSV or JSON. Bandwidths as in nccl-tests: algorithm bandwidth is
 * the size divided by the time, bus bandwidth the bytes that a rank must send divided by the time.
 * A ratio is the peer's time divided by that of this library, once for medians and once for minima,
 * which other load on the machine affects least. The share of the bound is the bound divided by the
 * time of this library. */
#include "bench.h"

#include <stdlib.h>
#include <unistd.h>

int64_t bench_bus_bytes(const bench_job *job, int i) {
  if (job->n_ranks == 1)
    return 0;
  int64_t elements = bench_elements(job, i);
  tprt_op op = {.size = sizeof op, .kind = job->kind, .dtype = job->dtype, .n_dims = 1};
  op.shape[0] = bench_send_elements(job, elements);
  if (job->kind == TPRT_OP_ALL_REDUCE || job->kind == TPRT_OP_REDUCE_SCATTER)
    op.reduction = TPRT_SUM;
  tprt_pair ring[BENCH_MAX_RANKS];
  for (int r = 0; r < job->n_ranks; r++)
    ring[r] = (tprt_pair){r, (r + 1) % job->n_ranks};
  op.pairs = job->kind == TPRT_OP_PERMUTE ? ring : NULL;
  op.n_pairs = job->kind == TPRT_OP_PERMUTE ? (size_t)job->n_ranks : 0;
  return tprt_op_bytes(&op, job->n_ranks);
}

const char *report_quote(const char *text, const char *quoted, char quote, char *out, size_t size) {
  size_t n = 0;
  for (; *text && n + 3 < size; text++) {
    if (strchr(quoted, *text))
      out[n++] = quote;
    out[n++] = (unsigned char)*text < ' ' ? ' ' : *text;
  }
  out[n] = 0;
  return out;
}

/* Where the columns of the bound and of a peer would not fit, they stand on lines of their own,
 * which this begins. */
static const char *break_before(const options *o, int which) {
  enum { OWN = 80, BOUND = 42, PEER = 50 };
  int columns = cli_columns(STDOUT_FILENO, 0), all = OWN + (o->bound ? BOUND : 0);
  all += which == 1 && o->n_peers ? PEER : 0;
  return columns > 0 && all > columns ? "\n    " : "";
}

void report_begin(const options *o) {
  if (o->format == FORMAT_CSV)
    puts("op,dtype,bytes,ranks,launch,registered,in_place,us,min_us,algbw,busbw,peer,peer_us,peer_"
         "min_us,bound_us,bound_min_us");
  if (o->format == FORMAT_TEXT)
    printf("%s%-14s %-5s %11s %5s %10s %10s %9s %9s%s%s%s%s%s\n",
           cli_color(STDOUT_FILENO, CLI_BOLD), "op", "dtype", "bytes", "ranks", "us", "min us",
           "alg GB/s", "bus GB/s", o->bound ? break_before(o, 0) : "",
           o->bound ? "    bound us of bound      min us of bound" : "",
           o->n_peers ? break_before(o, 1) : "",
           o->n_peers ? "  peer           us    ratio      min us    ratio" : "",
           cli_color(STDOUT_FILENO, CLI_PLAIN));
}

static void print_json(const report_row *row, int64_t bytes, double algbw, double busbw) {
  const bench_job *job = row->job;
  printf("{\"op\": \"%s\", \"dtype\": \"%s\", \"bytes\": %lld, \"ranks\": %d, \"launch\": \"%s\", "
         "\"registered\": %s, "
         "\"in_place\": %s, \"us\": %.3f, \"min_us\": %.3f, \"algbw\": %.3f, \"busbw\": %.3f",
         tprt_op_kind_name(job->kind), tprt_dtype_name(job->dtype), (long long)bytes, job->n_ranks,
         row->o->threads ? "threads" : "processes", row->o->registered ? "true" : "false",
         job->in_place ? "true" : "false", row->us, row->minimum_us, algbw, busbw);
  if (row->peer >= 0)
    printf(", \"peer\": \"%s\", \"peer_us\": %.3f, \"peer_min_us\": %.3f", peer_name(row->peer),
           row->peer_us, row->peer_minimum_us);
  if (row->bound_us > 0)
    printf(", \"bound_us\": %.3f, \"bound_min_us\": %.3f", row->bound_us, row->bound_minimum_us);
  puts("}");
}

void report_print(const report_row *row) {
  const bench_job *job = row->job;
  int64_t bytes = bench_elements(job, row->size) * (int64_t)tprt_dtype_size(job->dtype);
  double algbw = (double)bytes / row->us * 1e-3,
         busbw = (double)bench_bus_bytes(job, row->size) / row->us * 1e-3;
  const char *op = tprt_op_kind_name(job->kind), *dtype = tprt_dtype_name(job->dtype);
  char peer_us[64] = ",", bound_us[64] = ",";
  if (row->bound_us > 0)
    snprintf(bound_us, sizeof bound_us, "%.3f,%.3f", row->bound_us, row->bound_minimum_us);
  if (row->peer >= 0)
    snprintf(peer_us, sizeof peer_us, "%.3f,%.3f", row->peer_us, row->peer_minimum_us);
  if (row->o->format == FORMAT_JSON) {
    print_json(row, bytes, algbw, busbw);
  } else if (row->o->format == FORMAT_CSV) {
    printf("%s,%s,%lld,%d,%s,%d,%d,%.3f,%.3f,%.3f,%.3f,%s,%s,%s\n", op, dtype, (long long)bytes,
           job->n_ranks, row->o->threads ? "threads" : "processes", row->o->registered,
           job->in_place, row->us, row->minimum_us, algbw, busbw,
           row->peer >= 0 ? peer_name(row->peer) : "", peer_us, bound_us);
  } else {
    printf("%-14s %-5s %11lld %5d %10.2f %10.2f %9.3f %9.3f", op, dtype, (long long)bytes,
           job->n_ranks, row->us, row->minimum_us, algbw, busbw);
    if (row->bound_us > 0)
      printf("%s %11.2f %7.0f%% %11.2f %7.0f%%", break_before(row->o, 0), row->bound_us,
             100 * row->bound_us / row->us, row->bound_minimum_us,
             100 * row->bound_minimum_us / row->minimum_us);
    if (row->peer >= 0)
      printf("%s  %-7s %9.2f %8.2f %11.2f %8.2f", break_before(row->o, 1), peer_name(row->peer),
             row->peer_us, row->peer_us / row->us, row->peer_minimum_us,
             row->peer_minimum_us / row->minimum_us);
    putchar('\n');
  }
  fflush(stdout);
}

/* ---- series ---- */

static double median_us(const series *s, int n, int size) {
  double values[MAX_REPEATS];
  for (int i = 0; i < n; i++)
    values[i] = s->passes[i].median_us[size];
  qsort(values, (size_t)n, sizeof *values, bench_compare);
  return values[n / 2];
}

static double minimum_us(const series *s, int n, int size) {
  double least = s->passes[0].minimum_us[size];
  for (int i = 1; i < n; i++)
    least = s->passes[i].minimum_us[size] < least ? s->passes[i].minimum_us[size] : least;
  return least;
}

void report_series(const options *o, const bench_job *job, const series *own, const series *bound,
                   const series *theirs) {
  for (int s = 0; s < job->n_sizes; s++)
    for (int p = 0; p < (o->n_peers ? o->n_peers : 1); p++) {
      report_row row = {.o = o, .job = job, .size = s, .peer = o->n_peers ? o->peers[p] : -1};
      row.us = median_us(own, o->repeats, s);
      row.minimum_us = minimum_us(own, o->repeats, s);
      if (o->bound) {
        row.bound_us = median_us(bound, o->repeats, s);
        row.bound_minimum_us = minimum_us(bound, o->repeats, s);
      }
      if (o->n_peers) {
        row.peer_us = median_us(&theirs[p], o->repeats, s);
        row.peer_minimum_us = minimum_us(&theirs[p], o->repeats, s);
      }
      report_print(&row);
    }
}
