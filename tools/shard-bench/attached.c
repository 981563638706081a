/* Measures on the ranks that a launcher started: mpirun, torchrun, srun, shard-run -n. Every
 * process is this program with the same arguments, and one of the ranks. */
#include "calibrate.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The ranks, on hosts that have the same number of them, one host after the other. */
typedef struct cluster {
  tprt_store *store;    /* where two worlds meet; NULL: there is one, which opens its own */
  tprt_comm *world;     /* in host memory */
  tprt_comm *measured;  /* `world`, or one on a backend of GPUs */
  tprt_context *device; /* of a GPU; NULL: memory of the host */
  int rank, n_ranks;
  int n_hosts, n_here; /* number of hosts, and of ranks on each */
  bool regular;        /* false: ranks are placed in another way */
} cluster;

static bool is_one_host(const options *o) {
  return !o->launch.local_ranks || o->launch.local_ranks == o->launch.n_ranks;
}

static const char *attached_backend(const options *o) {
  const char *named = o->backend ? o->backend : getenv("TPRT_BACKEND");
  return named && *named ? named : is_one_host(o) ? "shm" : "tcp";
}

bool attached_on_gpus(const options *o) {
  for (size_t i = 0; tprt_backend_name(i); i++)
    if (strcasecmp(tprt_backend_name(i), attached_backend(o)) == 0)
      return tprt_backend_lack(i, __builtin_ctz(TPRT_CAP_HOST_MEMORY)) != NULL;
  return false;
}

/* A number that is the same for all ranks of a host: of its kernel and its network. */
static int64_t host_number(void) {
  char text[256] = "";
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  size_t n = file ? fread(text, 1, 64, file) : 0;
  ssize_t link = readlink("/proc/self/ns/net", text + n, sizeof text - 1 - n);
  uint64_t hash = 1469598103934665603u; /* FNV-1a */
  if (file)
    fclose(file);
  for (size_t i = 0; i < n + (link > 0 ? (size_t)link : 0); i++)
    hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
  return (int64_t)hash;
}

static void find_hosts(cluster *c) {
  int64_t mine = host_number(), *all = calloc((size_t)c->n_ranks, sizeof *all);
  if (!all) {
    complain("no memory");
    exit(EXIT_FAILED);
  }
  expect(tprt_all_gather(c->world, &mine, all, 1, TPRT_I64, NULL, NULL));
  c->n_here = 1;
  while (c->n_here < c->n_ranks && all[c->n_here] == all[0])
    c->n_here++;
  c->n_hosts = c->n_ranks / c->n_here;
  c->regular = c->n_ranks % c->n_here == 0;
  for (int i = 0; i < c->n_ranks && c->regular; i++)
    for (int j = 0; j < i; j++)
      c->regular &= (all[i] == all[j]) == (i / c->n_here == j / c->n_here);
  free(all);
}

/* Opens the launcher's store, which a rank can join once only. */
static void open_store(const options *o, tprt_store **store) {
  const tprt_store_config own = {.size = sizeof own,
                                 .n_ranks = o->launch.n_ranks,
                                 .rank = o->launch.rank,
                                 .job = o->launch.job,
                                 .epoch = o->launch.epoch};
  if (*o->launch.store)
    expect(tprt_store_open(o->launch.store, &own, store));
}

/* The world that is measured, and the memory of its GPU. */
static void open_gpus(const options *o, cluster *c) {
  tprt_config config = {.size = sizeof config, .backend = attached_backend(o), .store = c->store};
  tprt_context_config on_gpu = {.size = sizeof on_gpu, .target = TPRT_TARGET_CUDA};
  expect(tprt_world_create(0, 0, &config, &c->measured));
  expect(tprt_context_create(c->measured, &on_gpu, &c->device));
}

static cluster open_world(const options *o) {
  int64_t most = 0;
  cluster c = {.rank = o->launch.rank, .n_ranks = o->launch.n_ranks};
  cli_end_with_launcher(o->launch.launcher, o->launch.job, o->launch.store);
  for (int i = 0; i < o->job.n_sizes; i++)
    most = o->job.sizes[i] > most ? o->job.sizes[i] : most;
  tprt_config config = {.size = sizeof config,
                        .backend = attached_backend(o),
                        .arena_bytes = 2 * (size_t)most + ((size_t)128 << 20)};
  if (attached_on_gpus(o)) {
    open_store(o, &c.store);
    config.store = c.store;
    config.backend = is_one_host(o) ? "shm" : "tcp";
  }
  expect(tprt_world_create(0, 0, &config, &c.world));
  c.measured = c.world;
  if (attached_on_gpus(o))
    open_gpus(o, &c);
  find_hosts(&c);
  return c;
}

static void close_world(cluster *c) {
  if (c->device)
    tprt_context_destroy(c->device);
  if (c->measured != c->world)
    tprt_comm_destroy(c->measured);
  tprt_comm_destroy(c->world);
  tprt_store_destroy(c->store);
}

int attached_bench(const options *o) {
  static series own;
  cluster c = open_world(o);
  bench_job job = o->job;
  job.n_ranks = c.n_ranks;
  if (c.rank == 0)
    report_begin(o);
  for (int k = 0; k < o->n_kinds; k++) {
    job.kind = o->kinds[k];
    own_ranks ranks = {.job = &job, .registered = o->registered, .device = c.device};
    for (int i = 0; i < o->repeats; i++)
      own_measure(&ranks, c.measured, c.world, &own.passes[i]);
    if (c.rank == 0)
      report_series(o, &job, &own, NULL, NULL);
  }
  close_world(&c);
  return 0;
}

/* ---- calibration ---- */

/* A level of the cluster: groups of n ranks inside of a host, or of one rank on each of n hosts. */
typedef struct groups {
  tprt_comm *own, *all; /* this rank's group, and all groups; NULL: it is in none */
  tprt_context *device;
} groups;

/* Divides the ranks into groups of n. Groups that would be smaller are left out. */
static groups make_groups(const cluster *c, bool between, int n) {
  int host = c->rank / c->n_here, index = c->rank % c->n_here;
  int place = between ? host : index, all = between ? c->n_hosts : c->n_here;
  int line = between ? index : host;
  groups made = {.device = c->device};
  bool whole = (place / n + 1) * n <= all;
  expect(tprt_comm_split(c->measured, whole ? line * all + place / n : -1, 0, &made.own));
  expect(tprt_comm_split(c->world, whole ? 0 : -1, 0, &made.all));
  return made;
}

static void measure_groups(const options *o, const groups *g, int n, kind_times times[MAX_KINDS]) {
  for (int k = 0; k < MAX_KINDS && g->own; k++) {
    pass_result result;
    bench_job *job = &times[k].job;
    own_ranks ranks = {.job = job, .registered = true, .device = g->device};
    *job = o->job;
    job->kind = host_kinds[k];
    job->n_ranks = n;
    job->fresh = true;
    own_measure(&ranks, g->own, g->all, &result);
    keep_minima(&times[k], &result);
  }
}

/* Measures groups of n ranks of a level. n = 0: of all ranks. */
static void measure_line(const options *o, const cluster *c, bool between, int n,
                         host_level *level) {
  kind_times times[MAX_KINDS] = {{.us = {0}}};
  groups g = n ? make_groups(c, between, n) : (groups){c->measured, c->world, c->device};
  int size = n ? n : c->n_ranks;
  for (int repeat = 0; repeat < o->repeats; repeat++)
    measure_groups(o, &g, size, times);
  if (n) {
    tprt_comm_destroy(g.own);
    tprt_comm_destroy(g.all);
  }
  expect(tprt_barrier(c->world, NULL, NULL));
  host_lines *line = &level->lines[level->n_lines++];
  line->n = size;
  for (int k = 0; k < MAX_KINDS && c->rank == 0; k++)
    line->kinds[k] = fit_times(&times[k]);
}

static void measure_level(const options *o, const cluster *c, bool between, host_level *level) {
  int most = between ? c->n_hosts : c->n_here;
  level->name = between ? "hosts" : "host";
  for (int n = 2; n < most && level->n_lines < MAX_RANK_COUNTS - 1; n *= 2)
    measure_line(o, c, between, n, level);
  measure_line(o, c, between, most, level);
  if (between && c->n_here > 1)
    measure_line(o, c, between, 0, level);
}

/* Rank 0 tells the others whether it failed: they are in the world, which not every launcher ends.
 * Returns false if it did. */
static bool is_agreed(const cluster *c, bool ok) {
  int64_t mine = ok, of_first = 0;
  expect(tprt_broadcast(c->world, &mine, &of_first, 1, TPRT_I64, 0, NULL, NULL));
  return of_first != 0;
}

static void tell_failure(const options *o) {
  cluster c = open_world(o);
  (void)is_agreed(&c, false);
  close_world(&c);
}

/* The rates are measured before the world is used, so that only rank 0 works. */
static pass_status measure_cluster(const options *o, host_model *model) {
  int n = cli_processors();
  pass_status status = PASS_OK;
  model->n_ranks = n < BENCH_MAX_RANKS ? n : BENCH_MAX_RANKS;
  bool measures = o->launch.rank == 0 && !o->device;
  if (o->launch.rank == 0 && o->device && !read_device(o->device, model))
    status = PASS_FAILED;
  for (int i = 0; i < o->repeats && status == PASS_OK && measures; i++)
    status = measure_rates(o, model);
  if (status == PASS_OK && measures)
    status = check_rates(o, model);
  if (status == PASS_INTERRUPTED) /* as the others are */
    return status;
  cluster c = open_world(o);
  if (!is_agreed(&c, status == PASS_OK)) {
    close_world(&c);
    return PASS_FAILED;
  }
  if (!c.regular) {
    if (c.rank == 0)
      complain("the ranks of a host need consecutive numbers, and each host as many ranks: let the "
               "launcher place them host by host");
    close_world(&c);
    return PASS_FAILED;
  }
  model->n_hosts = c.n_hosts;
  model->lines_of = "the ranks of a launcher";
  model->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / c.n_here;
  snprintf(model->description, sizeof model->description, "%d host%s of %d rank%s, backend %s",
           c.n_hosts, c.n_hosts == 1 ? "" : "s", c.n_here, c.n_here == 1 ? "" : "s",
           tprt_comm_backend(c.measured));
  if (c.n_here > 1)
    measure_level(o, &c, false, &model->levels[model->n_levels++]);
  if (c.n_here > 1 && c.n_hosts > 1)
    model->levels[0].devices = c.n_here;
  if (c.n_hosts > 1)
    measure_level(o, &c, true, &model->levels[model->n_levels++]);
  close_world(&c);
  return PASS_OK;
}

int attached_calibrate(const options *o) {
  static host_model model;
  if (o->launch.rank > 0)
    return measure_cluster(o, &model) == PASS_OK ? 0 : EXIT_FAILED;
  cli_print("shard-bench: measuring %d ranks takes minutes\n", o->launch.n_ranks);
  int code = calibrate_with(o, &model, measure_cluster);
  if (code != 0 && model.n_ranks == 0) /* the output could not be opened */
    tell_failure(o);
  return code;
}
