/* Joins the world of ranks that a launcher started, and for programs on GPUs one of their own. */
#include "run.h"

#include "tprt/nccl.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* For the spare that rank 0 becomes: longer than it may plan and compile. */
static const int64_t spare_ns = INT64_C(1000000000000000);

/* The launcher of this process starts spares. */
static bool has_spares;

/* True if a rank has ended, or the others have noticed that first, and a spare may come. */
static bool may_recover(const tprt_comm *world) {
  tprt_status status = tprt_comm_status(world);
  return has_spares && (status == TPRT_PEER_DEAD || status == TPRT_ABORTED);
}

bool attached_move(const attachment *ranks, tprt_op op) {
  /* Rank 0 hears of all others how they failed, and ends them; they give it that time. */
  static const int64_t grace_ns = INT64_C(2000000000);
  if (ranks->has_failed)
    op.timeout_ns = tprt_comm_rank(ranks->world) == 0 ? grace_ns : 2 * grace_ns;
  if (tprt_submit(ranks->world, &op, NULL) == TPRT_OK)
    return true;
  if (!may_recover(ranks->world) && !ranks->has_failed)
    complain("the ranks cannot continue: %s", tprt_last_error());
  return false;
}

/* Rank 0 may be planning, so the others wait for it and for the spare as long as it takes; the
 * launcher ends them if no spare comes. */
bool attached_recover(attachment *ranks) {
  tprt_comm *next = NULL;
  if (!may_recover(ranks->world))
    return false;
  if (tprt_comm_reconfigure(ranks->world, NULL, 0, NULL, spare_ns, &next) != TPRT_OK) {
    complain("the ranks cannot continue with a spare: %s", tprt_last_error());
    return false;
  }
  tprt_comm_destroy(ranks->world);
  ranks->world = ranks->programs = next;
  ranks->has_failed = false;
  return true;
}

/* The backend that the user chose; NULL: none. */
static const char *chosen_backend(const options *o) {
  const char *variable = getenv("TPRT_BACKEND");
  return o->backend ? o->backend : variable && *variable ? variable : NULL;
}

/* True unless it is a backend of this library that takes device memory only. */
static bool takes_host_memory(const char *backend) {
  for (size_t i = 0; tprt_backend_name(i); i++)
    if (strcasecmp(tprt_backend_name(i), backend) == 0)
      return !tprt_backend_lack(i, __builtin_ctz(TPRT_CAP_HOST_MEMORY));
  return true;
}

/* Returns true if `status` is TPRT_OK on all ranks. Otherwise the first rank on which it is not
 * says why, with its last error. */
static bool all_succeed(const attachment *ranks, tprt_status status, bool is_error) {
  int n = tprt_comm_size(ranks->world);
  int32_t own = status ? tprt_comm_rank(ranks->world) : n, first = own;
  char why[512];
  snprintf(why, sizeof why, "%s", tprt_last_error());
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, &first, &first, 1, TPRT_I32, NULL);
  op.reduction = TPRT_MIN;
  bool moved = attached_move(ranks, op);
  if (moved && first == own && status)
    cli_print("shard-run: %s: %s\n", is_error ? "error" : "note", why);
  return moved && first == n;
}

/* Chooses the world for programs on GPUs. If the user chose no backend, and the ranks cannot use
 * NCCL, the programs run in the world of all ranks, through host memory. */
static bool join_programs(const options *o, const char *chosen, attachment *ranks) {
  tprt_config config = {
      .size = sizeof config, .store = ranks->store, .timeout_ns = (int64_t)(o->timeout * 1e9)};
  tprt_comm *made = NULL;
  tprt_nccl_info nccl;
  if (chosen && takes_host_memory(chosen))
    return true;
  config.backend = chosen ? chosen : "nccl";
  bool is_error = chosen != NULL,
       can = is_error || all_succeed(ranks, tprt_nccl_probe(&nccl), is_error);
  if (can && all_succeed(ranks, tprt_world_create(0, 0, &config, &made), is_error)) {
    ranks->programs = made;
    return true;
  }
  tprt_comm_destroy(made);
  return !is_error && tprt_comm_status(ranks->world) == TPRT_OK;
}

/* ---- What is said while ranks are missing ---- */

enum { SILENT_S = 5 };

typedef struct notice {
  const tprt_launch *launch;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool is_started, is_ended;
} notice;

static void *notice_main(void *data) {
  notice *n = data;
  struct timespec until;
  int waited = 0;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += SILENT_S;
  pthread_mutex_lock(&n->lock);
  while (!n->is_ended && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&n->ended, &n->lock, &until);
  if (!n->is_ended)
    cli_print("shard-run: rank %d of %d waits for the others%s%s; --timeout says how long\n",
              n->launch->rank, n->launch->n_ranks, *n->launch->store ? " at " : "",
              n->launch->store);
  pthread_mutex_unlock(&n->lock);
  return NULL;
}

/* Without memory for a thread nothing is said. */
static void notice_begin(notice *n) {
  pthread_mutex_init(&n->lock, NULL);
  pthread_cond_init(&n->ended, NULL);
  n->is_started = pthread_create(&n->thread, NULL, notice_main, n) == 0;
}

static void notice_end(notice *n) {
  pthread_mutex_lock(&n->lock);
  n->is_ended = true;
  pthread_cond_signal(&n->ended);
  pthread_mutex_unlock(&n->lock);
  if (n->is_started)
    pthread_join(n->thread, NULL);
  pthread_cond_destroy(&n->ended);
  pthread_mutex_destroy(&n->lock);
}

/* Warns on a rank that was started with other arguments than rank 0, whose arguments count. */
static bool compare_arguments(const options *o, const attachment *ranks) {
  uint64_t own = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (int i = 1; i < o->argc; i++)
    for (const char *at = o->argv[i]; at == o->argv[i] || at[-1]; at++)
      own = (own ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
  uint64_t first = own;
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, &first, &first, 1, TPRT_U64, NULL);
  if (!attached_move(ranks, op))
    return false;
  if (first != own)
    cli_print("shard-run: warning: rank %d was started with other arguments than rank 0, whose "
              "arguments count\n",
              tprt_comm_rank(ranks->world));
  return true;
}

/* Opens the launcher's store, which a rank can join once only. */
static tprt_status open_store(const tprt_launch *found, const tprt_config *config,
                              tprt_store **store) {
  const tprt_store_config own = {.size = sizeof own,
                                 .n_ranks = found->n_ranks,
                                 .rank = found->rank,
                                 .job = found->job,
                                 .epoch = found->epoch,
                                 .timeout_ns = config->timeout_ns};
  return *found->store ? tprt_store_open(found->store, &own, store) : TPRT_OK;
}

/* Checks that ranks can be replaced here. Rank 0 says why not. */
static bool can_replace(const options *o, const attachment *ranks) {
  const tprt_comm *world = ranks->world;
  bool is_cuda = o->target == TARGET_CUDA, is_first = tprt_comm_rank(world) == 0;
  if (!is_cuda && tprt_comm_capabilities(world) & TPRT_CAP_ELASTIC)
    return true;
  /* a rank that left now would end others that are still connecting */
  (void)attached_move(ranks, tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, TPRT_U8, NULL));
  if (is_first && is_cuda)
    complain("ranks with --target=cuda cannot be replaced by --spares");
  else if (is_first)
    complain("--spares requires backend shm or tcp, which can replace a rank; the ranks use %s",
             tprt_comm_backend(world));
  return false;
}

bool attached_join(const options *o, attachment *ranks) {
  tprt_launch found = {.size = sizeof found};
  tprt_config config = {.size = sizeof config, .timeout_ns = (int64_t)(o->timeout * 1e9)};
  const char *chosen = chosen_backend(o);
  bool is_cuda = o->target == TARGET_CUDA;
  if (o->launch == LAUNCH_THREADS || o->launch == LAUNCH_PROCESSES)
    return true;
  tprt_status status = tprt_launch_find(&found);
  if (status == TPRT_INVALID_STATE && o->launch == LAUNCH_DEFAULT)
    return true; /* started directly by the user, without a launcher */
  if (!status && found.n_ranks == 1)
    return true;
  if (!status)
    cli_end_with_launcher(found.launcher, found.job, found.store);
  bool is_one_host = found.local_ranks == 0 || found.local_ranks == found.n_ranks;
  config.backend = chosen && !(is_cuda && !takes_host_memory(chosen)) ? chosen
                   : is_one_host                                      ? "shm"
                                                                      : "tcp";
  has_spares = !status && *found.spares;
  if (!status && is_cuda && !has_spares)
    status = open_store(&found, &config, &ranks->store);
  config.store = ranks->store;
  notice waits = {.launch = &found};
  if (!found.is_spare) /* which may wait while rank 0 plans */
    notice_begin(&waits);
  if (!status)
    status = tprt_world_create(0, 0, &config, &ranks->world);
  if (!found.is_spare)
    notice_end(&waits);
  if (status) {
    bool is_setting = status == TPRT_INVALID_ARGUMENT; /* which the text names */
    bool is_alone =
        status == TPRT_TIMEOUT && strcmp(found.launcher, "tprt") == 0 &&
        (strncmp(found.store, "file:", 5) == 0 || strncmp(found.store, "unix:", 5) == 0);
    char way_out[96] = "";
    if (is_alone)
      snprintf(way_out, sizeof way_out, " shard-run -n %d -- COMMAND starts all ranks of one host",
               found.n_ranks);
    complain("%s%s%s", is_setting ? "" : "the started ranks cannot connect to each other: ",
             tprt_last_error(), way_out);
    return false;
  }
  ranks->programs = ranks->world;
  bool ok = !has_spares || can_replace(o, ranks);
  /* of ranks that lose one meanwhile, some may not compare theirs */
  ok = ok && (found.is_spare || compare_arguments(o, ranks) || attached_recover(ranks));
  if (ok && (!is_cuda || join_programs(o, chosen, ranks)))
    return true;
  attached_leave(ranks);
  return false;
}

void attached_leave(const attachment *ranks) {
  if (ranks->programs != ranks->world)
    tprt_comm_destroy(ranks->programs);
  tprt_comm_destroy(ranks->world);
  tprt_store_destroy(ranks->store);
}
