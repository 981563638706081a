/* The command line of shard-bench: one table of options. */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  OPT_SIZES,
  OPT_DTYPE,
  OPT_RANKS,
  OPT_LAUNCH,
  OPT_REGISTERED,
  OPT_IN_PLACE,
  OPT_PEER,
  OPT_BOUND,
  OPT_REPEATS,
  OPT_ROUNDS,
  OPT_ROUND_TIME,
  OPT_FORMAT,
  OPT_CALIBRATE,
  OPT_CAPABILITIES,
  OPT_BACKEND,
  OPT_OUTPUT,
  N_OPTIONS
};

static const cli_option rows[N_OPTIONS] = {
    [OPT_SIZES] = {"sizes", "LIST",
                   "bytes of the full tensor: 1K,1M or a range 1K:16M, each 4 times the last "
                   "(default: 1K:16M)"},
    [OPT_DTYPE] = {"dtype", "TYPE", "f32, f64, f16, bf16, i8, ..., u64 (default: f32)",
                   .values = "f32|f64|f16|bf16|i8|i16|i32|i64|u8|u16|u32|u64"},
    [OPT_RANKS] =
        {"ranks", "LIST",
         "numbers of ranks, 1 to 64 each (default: 2; with --calibrate 2, 4, ... processors)"},
    [OPT_LAUNCH] = {"launch", "processes|threads", "what a rank is (default: processes)"},
    [OPT_REGISTERED] = {"registered", NULL,
                        "buffers from tprt_mem_alloc, which peers reach; else from malloc"},
    [OPT_IN_PLACE] = {"in-place", NULL, "send and receive in one buffer (all_reduce, broadcast)"},
    [OPT_PEER] = {"peer", "LIST", "measure these as well, in turn: openmpi, gloo",
                  .values = "openmpi|gloo", .is_list = true},
    [OPT_BOUND] = {"bound", NULL,
                   "measure the same work without a library as well, in turn: what memory allows "
                   "(reductions: f32)"},
    [OPT_REPEATS] =
        {"repeats", "N",
         "how often this library and its peers take turns; medians are printed (default: 3)"},
    [OPT_ROUNDS] = {"rounds", "N", "rounds of a measurement; the median counts (default: 9)"},
    [OPT_ROUND_TIME] = {"round-time", "MS", "milliseconds of a round (default: 20)"},
    [OPT_FORMAT] = {"format", "text|csv|json", "json: an object a line (default: text)"},
    [OPT_CALIBRATE] = {"calibrate", NULL,
                       "measure this host and write a topology file; no operation is named then"},
    [OPT_CAPABILITIES] =
        {"capabilities", NULL,
         "print what the backends can do, and whether this machine has what they need"},
    [OPT_BACKEND] = {"backend", "NAME", "of --capabilities: this one alone (default: all)",
                     .values = "shm|loopback|tcp|mpi|nccl|self"},
    [OPT_OUTPUT] = {"output", "FILE", "of --calibrate (default: standard output)", 'o'},
};

const cli_tool cli_program = {
    .name = "shard-bench",
    .summary = "measure collectives, and calibrate cost models",
    .usage = {"OPERATION[,OPERATION...] [options]", "--calibrate [-o FILE] [options]",
              "--capabilities [--backend=NAME] [--format=text|csv|json]"},
    .description =
        "Times of all_reduce, all_gather, reduce_scatter, all_to_all, broadcast and permute (a "
        "ring) between ranks of this host; `all` is all of them. Results are checked. --calibrate "
        "measures the lines, rates and latencies that the planner needs.",
    .options = rows,
    .n_options = N_OPTIONS,
    .operand = {.values = "all_reduce|all_gather|reduce_scatter|all_to_all|broadcast|permute|all",
                .is_list = true},
    .examples = {"shard-bench all_reduce --ranks=2,4 --registered",
                 "shard-bench all_reduce --sizes=16M,64M --registered --bound",
                 "shard-bench all_reduce,all_gather --sizes=64K,1M --peer=openmpi --format=json",
                 "shard-bench --calibrate -o host.json",
                 "shard-run model.mlir --mesh 2x2 --topology=./host.json"},
    .exits = {{0, "done"}, {1, "failure"}, {2, "wrong usage"}, {130, "interrupted"}},
    .page = "docs/reference/shard-bench.md",
};

/* ---- Values ---- */

/* "64K" -> 65536. */
static bool parse_bytes(const char *text, const char **end, int64_t *bytes) {
  static const char units[] = "KMG";
  char *after;
  errno = 0;
  long long n = strtoll(text, &after, 10);
  if (after == text || errno != 0 || n < 1 || *text == '+' || *text == ' ')
    return false;
  const char *unit = *after ? strchr(units, *after) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  if (n > (INT64_C(1) << 40) >> shift)
    return false;
  *bytes = (int64_t)n << shift;
  *end = after + (unit != NULL);
  return true;
}

static bool add_size(bench_job *job, int64_t bytes) {
  if (job->n_sizes == BENCH_MAX_SIZES)
    return false;
  job->sizes[job->n_sizes++] = bytes;
  return true;
}

static bool parse_sizes(const char *text, bench_job *job) {
  job->n_sizes = 0;
  for (const char *at = text;; at++) {
    int64_t first, last;
    if (!parse_bytes(at, &at, &first))
      return false;
    last = first;
    if (*at == ':' && (!parse_bytes(at + 1, &at, &last) || last < first))
      return false;
    for (int64_t bytes = first; bytes <= last; bytes *= 4)
      if (!add_size(job, bytes))
        return false;
    if (*at == 0)
      return true;
    if (*at != ',')
      return false;
  }
}

static bool parse_count(const char *text, const char **end, int most, int *count) {
  char *after;
  long n = strtol(text, &after, 10);
  if (after == text || n < 1 || n > most || *text == '+' || *text == ' ')
    return false;
  *count = (int)n;
  *end = after;
  return true;
}

static bool parse_ranks(const char *text, options *o) {
  o->n_rank_counts = 0;
  for (const char *at = text;; at++) {
    if (o->n_rank_counts == MAX_RANK_COUNTS ||
        !parse_count(at, &at, BENCH_MAX_RANKS, &o->rank_counts[o->n_rank_counts]))
      return false;
    o->n_rank_counts++;
    if (*at == 0)
      return true;
    if (*at != ',')
      return false;
  }
}

/* Copies the next name of a comma-separated list; NULL at the end. */
static const char *next_name(const char **list, char *name, size_t size) {
  size_t length = strcspn(*list, ",");
  if (**list == 0)
    return NULL;
  snprintf(name, size, "%.*s", (int)length, *list);
  *list += length + ((*list)[length] == ',');
  return name;
}

static int parse_peers(const char *text, options *o) {
  char name[32];
  while (next_name(&text, name, sizeof name)) {
    int peer = peer_find(name);
    bool again = false;
    for (int i = 0; i < o->n_peers; i++)
      again |= o->peers[i] == peer;
    if (peer < 0)
      return cli_usage("--peer takes openmpi or gloo, or both, not '%s'", name);
    if (!again)
      o->peers[o->n_peers++] = peer;
  }
  return CLI_GO_ON;
}

static int parse_kinds(const char *text, options *o) {
  static const tprt_op_kind kinds[MAX_KINDS] = {TPRT_OP_ALL_REDUCE,     TPRT_OP_ALL_GATHER,
                                                TPRT_OP_REDUCE_SCATTER, TPRT_OP_ALL_TO_ALL,
                                                TPRT_OP_BROADCAST,      TPRT_OP_PERMUTE};
  char name[32];
  while (next_name(&text, name, sizeof name)) {
    int n_before = o->n_kinds;
    for (int i = 0; i < MAX_KINDS; i++)
      if ((strcmp(name, "all") == 0 || strcmp(name, tprt_op_kind_name(kinds[i])) == 0) &&
          o->n_kinds < MAX_KINDS)
        o->kinds[o->n_kinds++] = kinds[i];
    if (o->n_kinds == n_before)
      return cli_usage("there is no operation '%s', or it is named twice; there are all_reduce, "
                       "all_gather, reduce_scatter, all_to_all, "
                       "broadcast, permute and all",
                       name);
  }
  return CLI_GO_ON;
}

/* ---- Options ---- */

static int apply(int which, const char *text, void *data) {
  options *o = data;
  const char *end = "";
  int count;
  bench_job *job = &o->job;
  switch (which) {
  case OPT_SIZES:
    return parse_sizes(text, job) ? CLI_GO_ON
                                  : cli_usage("--sizes takes at most 64 sizes of 1 to 1024G bytes, "
                                              "such as 1K,1M or 1K:16M, not '%s'",
                                              text);
  case OPT_DTYPE:
    job->dtype = tprt_dtype_parse(text);
    if (!job->dtype || job->dtype == TPRT_BOOL || job->dtype == TPRT_C64 || job->dtype == TPRT_C128)
      return cli_usage(
          "--dtype takes f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32 or u64, not '%s'",
          text);
    return CLI_GO_ON;
  case OPT_RANKS:
    return parse_ranks(text, o)
               ? CLI_GO_ON
               : cli_usage("--ranks takes up to 8 numbers between 1 and 64, such as 2,4, not '%s'",
                           text);
  case OPT_LAUNCH:
    o->threads = strcmp(text, "threads") == 0;
    return o->threads || strcmp(text, "processes") == 0
               ? CLI_GO_ON
               : cli_usage("--launch takes processes or threads, not '%s'", text);
  case OPT_REGISTERED:
    o->registered = true;
    return CLI_GO_ON;
  case OPT_IN_PLACE:
    job->in_place = true;
    return CLI_GO_ON;
  case OPT_PEER:
    return parse_peers(text, o);
  case OPT_BOUND:
    o->bound = true;
    return CLI_GO_ON;
  case OPT_REPEATS:
    return parse_count(text, &end, 25, &o->repeats) && !*end
               ? CLI_GO_ON
               : cli_usage("--repeats takes a number between 1 and 25, not '%s'", text);
  case OPT_ROUNDS:
    return parse_count(text, &end, 101, &job->n_rounds) && !*end
               ? CLI_GO_ON
               : cli_usage("--rounds takes a number between 1 and 101, not '%s'", text);
  case OPT_ROUND_TIME:
    if (!parse_count(text, &end, 60000, &count) || *end)
      return cli_usage("--round-time takes milliseconds between 1 and 60000, not '%s'", text);
    job->round_seconds = count * 1e-3;
    return CLI_GO_ON;
  case OPT_FORMAT:
    o->format = strcmp(text, "json") == 0  ? FORMAT_JSON
                : strcmp(text, "csv") == 0 ? FORMAT_CSV
                                           : FORMAT_TEXT;
    return o->format != FORMAT_TEXT || strcmp(text, "text") == 0
               ? CLI_GO_ON
               : cli_usage("--format takes text, csv or json, not '%s'", text);
  case OPT_CALIBRATE:
    o->calibrate = true;
    return CLI_GO_ON;
  case OPT_CAPABILITIES:
    o->capabilities = true;
    return CLI_GO_ON;
  case OPT_BACKEND:
    o->backend = text;
    return CLI_GO_ON;
  default:
    o->output = text;
    return CLI_GO_ON;
  }
}

/* Returns true if the buffers of all ranks fit into the memory of this host. A system that
 * overcommits memory would kill programs later. */
static bool fits_host(const options *o) {
  double bytes = 0, ranks = o->n_rank_counts == 0 ? 2 : 0,
         host = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < o->job.n_sizes; i++)
    bytes = (double)o->job.sizes[i] > bytes ? (double)o->job.sizes[i] : bytes;
  for (int i = 0; i < o->n_rank_counts; i++)
    ranks = o->rank_counts[i] > ranks ? o->rank_counts[i] : ranks;
  return (o->job.in_place ? 1 : 2) * bytes * ranks < host;
}

/* Rejects incompatible options. */
static int check(const options *o) {
  bool has_in_place = true;
  for (int i = 0; i < o->n_kinds; i++)
    has_in_place &= o->kinds[i] == TPRT_OP_ALL_REDUCE || o->kinds[i] == TPRT_OP_BROADCAST;
  if (o->capabilities && (o->calibrate || o->n_kinds > 0))
    return cli_usage("--capabilities measures nothing; name no operation and no --calibrate");
  if (o->backend && !o->capabilities)
    return cli_usage("--backend is for --capabilities");
  if (o->calibrate && o->n_kinds > 0)
    return cli_usage("--calibrate measures all operations; name none");
  if (o->calibrate && (o->n_peers > 0 || o->bound || o->job.in_place || o->job.dtype != TPRT_F32 ||
                       o->format != FORMAT_TEXT))
    return cli_usage("--calibrate measures f32, out of place, without peers and bound, and prints "
                     "a topology file");
  for (int i = 0; o->calibrate && i < o->n_rank_counts; i++)
    if (o->rank_counts[i] < 2 || (i > 0 && o->rank_counts[i] <= o->rank_counts[i - 1]))
      return cli_usage("--ranks of --calibrate ascend and start at 2 or more");
  if (o->calibrate && o->job.n_sizes < 3)
    return cli_usage("--calibrate fits lines and needs three sizes or more");
  if (!o->calibrate && o->output)
    return cli_usage("--output is for --calibrate");
  if (!o->calibrate && !o->capabilities && o->n_kinds == 0)
    return cli_usage("no operation is named");
  if (!fits_host(o))
    return cli_usage(
        "buffers of these --sizes for so many --ranks are more than the memory of this host");
  if (o->job.in_place && !has_in_place)
    return cli_usage("only all_reduce and broadcast work in place");
  return CLI_GO_ON;
}

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.repeats = 3, .job = {.dtype = TPRT_F32, .n_rounds = 9, .round_seconds = 0.02}};
  parse_sizes("1K:16M", &o->job);
  int code = cli_options(argc, argv, apply, o);
  if (code != CLI_GO_ON)
    return code;
  for (int i = optind; i < argc; i++) {
    code = parse_kinds(argv[i], o);
    if (code != CLI_GO_ON)
      return code;
  }
  if (o->n_rank_counts == 0 && !o->calibrate)
    o->rank_counts[o->n_rank_counts++] = 2;
  return check(o);
}
