/* The command line of shard-bench: one table of options. */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Values ---- */

/* "64K" -> 65536. */
static bool read_bytes(const char *text, const char **end, int64_t *bytes) {
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

static bool read_sizes(const char *text, bench_job *job) {
  job->n_sizes = 0;
  for (const char *at = text;; at++) {
    int64_t first, last;
    if (!read_bytes(at, &at, &first))
      return false;
    last = first;
    if (*at == ':' && (!read_bytes(at + 1, &at, &last) || last < first))
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

static bool read_count(const char *text, const char **end, int most, int *count) {
  char *after;
  long n = strtol(text, &after, 10);
  if (after == text || n < 1 || n > most || *text == '+' || *text == ' ')
    return false;
  *count = (int)n;
  *end = after;
  return true;
}

static bool read_ranks(const char *text, options *o) {
  o->n_rank_counts = 0;
  for (const char *at = text;; at++) {
    if (o->n_rank_counts == MAX_RANK_COUNTS ||
        !read_count(at, &at, BENCH_MAX_RANKS, &o->rank_counts[o->n_rank_counts]))
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

static int parse_peers(const cli_option *option, const char *text, void *data) {
  options *o = data;
  char name[32];
  while (next_name(&text, name, sizeof name)) {
    int peer = peer_find(name);
    bool again = false;
    for (int i = 0; i < o->n_peers; i++)
      again |= o->peers[i] == peer;
    if (peer < 0)
      return cli_usage("--%s takes openmpi, gloo and one-by-one, not '%s'%s", option->name, name,
                       cli_suggest_value(name, option->values, &(cli_suggestion){{0}}));
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
    size_t n = strlen(name);
    if (o->n_kinds == n_before && n > 5 && strcmp(name + n - 5, ".mlir") == 0)
      return cli_usage("'%s' is a model, and shard-run runs models: shard-run %s --mesh 2x2", name,
                       name);
    if (o->n_kinds == n_before && strpbrk(name, "/."))
      return cli_usage("'%s' is not an operation; --calibrate -o FILE writes a topology file",
                       name);
    if (o->n_kinds == n_before)
      return cli_usage("operation '%s' is unknown or given twice%s; known are all_reduce, "
                       "all_gather, reduce_scatter, all_to_all, broadcast, permute and all",
                       name,
                       cli_suggest_value(name, cli_program.operand.values, &(cli_suggestion){{0}}));
  }
  return CLI_GO_ON;
}

static int parse_sizes(const cli_option *option, const char *text, void *data) {
  options *o = data;
  return read_sizes(text, &o->job)
             ? CLI_GO_ON
             : cli_usage("--%s takes at most 64 sizes of 1 to 1024G bytes, such as 1K,1M or "
                         "1K:16M, not '%s'",
                         option->name, text);
}

static int parse_dtype(const cli_option *option, const char *text, void *data) {
  options *o = data;
  tprt_dtype dtype = tprt_dtype_parse(text);
  o->job.dtype = dtype;
  return dtype && dtype != TPRT_BOOL && dtype != TPRT_C64 && dtype != TPRT_C128
             ? CLI_GO_ON
             : cli_usage("--%s takes f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32 or u64, "
                         "not '%s'%s",
                         option->name, text,
                         dtype ? ""
                               : cli_suggest_value(text, option->values, &(cli_suggestion){{0}}));
}

static int parse_ranks(const cli_option *option, const char *text, void *data) {
  return read_ranks(text, data)
             ? CLI_GO_ON
             : cli_usage("--%s takes up to 8 numbers between 1 and 64, such as 2,4, not '%s'",
                         option->name, text);
}

/* ---- Options ---- */

static const cli_option rows[] = {
    {"sizes", "LIST",
     "bytes of the full tensor: a list 1K,1M or a range 1K:16M in steps of factor 4 (default: "
     "1K:16M)",
     CLI_OTHER(options, job.sizes, parse_sizes)},
    {"dtype", "TYPE", "f32, f64, f16, bf16, i8, ..., u64 (default: f32)",
     .values = "f32|f64|f16|bf16|i8|i16|i32|i64|u8|u16|u32|u64",
     CLI_OTHER(options, job.dtype, parse_dtype)},
    {"ranks", "LIST",
     "numbers of ranks, 1 to 64 each (default: 2; with --calibrate 2, 4, ... processors)",
     CLI_OTHER(options, rank_counts, parse_ranks)},
    {"launch", "processes|threads", "run ranks as processes or threads (default: processes)",
     CLI_CHOICE(options, threads, false)},
    {"registered", NULL,
     "allocate buffers with tprt_mem_alloc, so that peers can access them, instead of malloc",
     CLI_FLAG(options, registered)},
    {"in-place", NULL, "send and receive in one buffer (all_reduce, broadcast)",
     CLI_FLAG(options, job.in_place)},
    {"pieces", "N",
     "run all_reduce and broadcast as N independent operations on parts of the tensor, in a batch "
     "(default: 1)",
     CLI_INT(options, job.n_pieces, 1, BENCH_MAX_PIECES)},
    {"peer", "LIST",
     "also measure these libraries, in turns: openmpi, gloo; one-by-one: this one with --pieces, "
     "but no batch",
     .values = "openmpi|gloo|one-by-one", .is_list = true, CLI_OTHER(options, peers, parse_peers)},
    {"bound", NULL,
     "also measure the same work without a library, in turns: the bound set by memory (reductions: "
     "f32)",
     CLI_FLAG(options, bound)},
    {"repeats", "N",
     "number of turns of this library and its peers; medians are printed (default: 3)",
     CLI_INT(options, repeats, 1, 25)},
    {"rounds", "N",
     "rounds per measurement; the median is used, with --calibrate the minimum (default: 9; with "
     "--calibrate 49)",
     CLI_INT(options, job.n_rounds, 1, 101)},
    {"round-time", "MS", "duration of a round in milliseconds (default: 20; with --calibrate 1)",
     CLI_INT(options, round_ms, 1, 60000)},
    {"format", "text|csv|json", "json: one object per line (default: text)",
     CLI_CHOICE(options, format, FORMAT_TEXT)},
    {"calibrate", NULL, "measure this host and write a topology file; takes no operation",
     CLI_FLAG(options, calibrate)},
    {"idle", NULL,
     "with --calibrate: fail, and write nothing, if other work took a tenth of a processor or more",
     CLI_FLAG(options, idle)},
    {"capabilities", NULL,
     "print the capabilities of the backends, and whether they work on this machine",
     CLI_FLAG(options, capabilities)},
    {"backend", "NAME",
     "of ranks that a launcher started (default: TPRT_BACKEND, else tcp on several hosts, else "
     "shm); "
     "with --capabilities: print only this one (default: all)",
     .values = "shm|loopback|tcp|fabric|mpi|nccl|self", CLI_TEXT(options, backend)},
    {"device", "FILE",
     "with --calibrate: take `device` and `kernels` from this topology file, instead of measuring "
     "the processors of this host; required with backend nccl",
     CLI_TEXT(options, device)},
    {"output", "FILE", "with --calibrate: output file (default: standard output)", .letter = 'o',
     CLI_TEXT(options, output)},
};

const cli_tool cli_program = {
    .name = "shard-bench",
    .summary = "measure collectives, and calibrate cost models",
    .usage = {"OPERATION[,OPERATION...] [options]", "--calibrate [-o FILE] [options]",
              "--capabilities [--backend=NAME] [--format=text|csv|json]"},
    .description =
        "Times of all_reduce, all_gather, reduce_scatter, all_to_all, broadcast and permute (a "
        "ring) between ranks of this host; `all` is all of them. Results are checked. --calibrate "
        "measures the lines, rates and latencies that the planner needs. Started by mpirun, "
        "torchrun, srun or shard-run -n, it measures the ranks of the launcher, on one host or "
        "several, over the backend that they use; rank 0 prints, and writes the file.",
    .options = rows,
    .n_options = sizeof rows / sizeof *rows,
    .operand = {.values = "all_reduce|all_gather|reduce_scatter|all_to_all|broadcast|permute|all",
                .is_list = true},
    .examples =
        {"shard-bench all_reduce --ranks=2,4 --registered",
         "shard-bench all_reduce --sizes=16M,64M --registered --bound",
         "shard-bench all_reduce,all_gather --sizes=64K,1M --peer=openmpi --format=json",
         "shard-bench --calibrate -o host.json",
         "shard-run -n 4 -- shard-bench all_reduce --backend=tcp",
         "mpirun -n 8 --hostfile hosts shard-bench --calibrate --backend=mpi -o cluster.json",
         "shard-run model.mlir --mesh 2x2 --topology=./host.json"},
    .exits = {{0, "done"}, {1, "failure"}, {2, "wrong usage"}, {130, "interrupted"}},
    .page = "docs/reference/shard-bench.md",
};

/* ---- The whole command line ---- */

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
    return cli_usage("--capabilities takes neither an operation nor --calibrate");
  if (o->backend && !o->capabilities && o->launch.n_ranks < 2)
    return cli_usage("--backend requires --capabilities, or ranks that a launcher started, such as "
                     "those of shard-run -n 4 -- shard-bench all_reduce --backend=%s",
                     o->backend);
  if (o->calibrate && o->n_kinds > 0)
    return cli_usage("--calibrate measures all operations; do not name any");
  if (o->calibrate && (o->n_peers > 0 || o->bound || o->job.in_place || o->job.dtype != TPRT_F32 ||
                       o->format != FORMAT_TEXT))
    return cli_usage(
        "--calibrate excludes --peer, --bound, --in-place, --format and a --dtype other than f32");
  for (int i = 0; o->calibrate && i < o->n_rank_counts; i++)
    if (o->rank_counts[i] < 2 || (i > 0 && o->rank_counts[i] <= o->rank_counts[i - 1]))
      return cli_usage("--calibrate requires --ranks in ascending order, each at least 2");
  if (o->calibrate && o->job.n_sizes < 3)
    return cli_usage("--calibrate fits lines and needs at least three sizes");
  if (o->device && (!o->calibrate || o->launch.n_ranks < 2 || o->idle))
    return cli_usage("--device requires --calibrate on ranks that a launcher started, without "
                     "--idle");
  if (!o->calibrate && o->idle)
    return cli_usage("--idle requires --calibrate");
  if (!o->calibrate && o->output)
    return cli_usage("--output requires --calibrate");
  if (!o->calibrate && !o->capabilities && o->n_kinds == 0)
    return cli_usage("no operation is named");
  if (!fits_host(o))
    return cli_usage("the buffers for these --sizes and --ranks exceed the memory of this host");
  if (o->job.in_place && !has_in_place)
    return cli_usage("only all_reduce and broadcast work in place");
  if (o->job.n_pieces > 1 && (!has_in_place || o->calibrate || o->bound))
    return cli_usage("--pieces is for all_reduce and broadcast, without --calibrate and --bound");
  return CLI_GO_ON;
}

/* Rejects what ranks that a launcher started cannot do. */
static int check_attached(const options *o) {
  if (o->capabilities)
    return CLI_GO_ON;
  if (o->launch.n_ranks > BENCH_MAX_RANKS)
    return cli_usage("%s started %d ranks, but at most %d are measured", o->launch.launcher,
                     o->launch.n_ranks, BENCH_MAX_RANKS);
  if (o->n_rank_counts > 0 || o->threads || o->n_peers > 0 || o->bound)
    return cli_usage("%s started %d ranks, so --ranks, --launch, --peer and --bound do not apply",
                     o->launch.launcher, o->launch.n_ranks);
  if (o->calibrate && !o->device && attached_on_gpus(o))
    return cli_usage("--calibrate measures the network between GPUs, not the GPUs: --device FILE "
                     "names a topology file that describes them, such as h100.json");
  return CLI_GO_ON;
}

/* Finds the launcher, if this process is one of several ranks. */
static int find_launch(options *o) {
  tprt_launch found = {.size = sizeof found};
  tprt_status status = tprt_launch_find(&found);
  if (status == TPRT_INVALID_STATE)
    return CLI_GO_ON;
  if (status)
    return cli_usage("%s", tprt_last_error());
  if (found.n_ranks > 1)
    o->launch = found;
  return CLI_GO_ON;
}

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.repeats = 3, .job = {.dtype = TPRT_F32, .n_pieces = 1}};
  read_sizes("1K:16M", &o->job);
  int code = cli_options(argc, argv, o);
  if (code != CLI_GO_ON)
    return code;
  /* calibration takes the minimum: of many short rounds, since the scheduler leaves some alone */
  if (o->round_ms == 0)
    o->round_ms = o->calibrate ? 1 : 20;
  if (o->job.n_rounds == 0)
    o->job.n_rounds = o->calibrate ? 49 : 9;
  o->job.round_seconds = o->round_ms * 1e-3;
  for (int i = optind; i < argc; i++) {
    code = parse_kinds(argv[i], o);
    if (code != CLI_GO_ON)
      return code;
  }
  code = find_launch(o);
  if (code == CLI_GO_ON && o->launch.n_ranks > 1)
    code = check_attached(o);
  if (code != CLI_GO_ON)
    return code;
  if (o->n_rank_counts == 0 && !o->calibrate)
    o->rank_counts[o->n_rank_counts++] = 2;
  return check(o);
}
