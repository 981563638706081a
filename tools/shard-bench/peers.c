/* Peer libraries for comparison. Each is a separate program, because it needs its own launcher and
 * language. */
#include "bench.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct peer_row {
  const char *name, *program, *packages;
  unsigned kinds;  /* bit set of tprt_op_kind */
  unsigned sums;   /* bit set of tprt_dtype: types it can sum; it can move every type */
  bool by_mpirun;  /* else the program starts its ranks itself */
  bool has_pieces; /* it can run independent operations at the same time */
} peer_row;

#define BIT(x) (1u << (x))

static const peer_row peers[] = {
    {.name = "openmpi",
     .program = "shard-bench-openmpi",
     .packages = "libopenmpi-dev and openmpi-bin",
     .kinds = BIT(TPRT_OP_ALL_REDUCE) | BIT(TPRT_OP_ALL_GATHER) | BIT(TPRT_OP_REDUCE_SCATTER) |
              BIT(TPRT_OP_ALL_TO_ALL) | BIT(TPRT_OP_PERMUTE) | BIT(TPRT_OP_BROADCAST),
     .sums = BIT(TPRT_F32) | BIT(TPRT_F64) | BIT(TPRT_I8) | BIT(TPRT_I16) | BIT(TPRT_I32) |
             BIT(TPRT_I64) | BIT(TPRT_U8) | BIT(TPRT_U16) | BIT(TPRT_U32) | BIT(TPRT_U64),
     .by_mpirun = true,
     .has_pieces = true},
    {.name = "one-by-one"}, /* this library, without batches */
    {.name = "gloo",
     .program = "shard-bench-gloo",
     .packages = "libgloo-dev",
     .kinds = BIT(TPRT_OP_ALL_REDUCE) | BIT(TPRT_OP_ALL_GATHER) | BIT(TPRT_OP_ALL_TO_ALL) |
              BIT(TPRT_OP_BROADCAST),
     .sums = BIT(TPRT_F32) | BIT(TPRT_F64) | BIT(TPRT_I32) | BIT(TPRT_I64)},
};

enum { N_PEERS = sizeof peers / sizeof *peers };
_Static_assert((int)N_PEERS == (int)MAX_PEERS, "every peer can be asked for");

int peer_find(const char *name) {
  for (int i = 0; i < N_PEERS; i++)
    if (strcmp(peers[i].name, name) == 0)
      return i;
  return -1;
}

const char *peer_name(int peer) { return peers[peer].name; }

/* Returns the path of a peer's program, which is in the folder of this executable. */
static void program_path(int peer, char path[PATH_MAX]) {
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = 0;
  char *slash = strrchr(self, '/');
  int folder = slash ? (int)(slash - self) + 1 : 0;
  if (snprintf(path, PATH_MAX, "%.*s%s", folder, self, peers[peer].program) >= PATH_MAX)
    path[0] = 0;
}

static bool on_path(const char *program) {
  const char *folders = getenv("PATH");
  while (folders && *folders) {
    char path[PATH_MAX];
    int length = (int)strcspn(folders, ":");
    if (snprintf(path, sizeof path, "%.*s/%s", length, folders, program) < (int)sizeof path &&
        access(path, X_OK) == 0)
      return true;
    folders += length + (folders[length] == ':');
  }
  return false;
}

bool peer_ready(int peer, const bench_job *job) {
  const peer_row *row = &peers[peer];
  bool reduces = job->kind == TPRT_OP_ALL_REDUCE || job->kind == TPRT_OP_REDUCE_SCATTER;
  char path[PATH_MAX];
  if (!row->program) {
    if (job->n_pieces == 1)
      complain("the peer one-by-one runs the pieces of an operation one after the other; --pieces "
               "says how many");
    return job->n_pieces > 1;
  }
  if (job->n_pieces > 1 && !row->has_pieces) {
    complain("%s does not run operations at the same time; omit it, or --pieces", row->name);
    return false;
  }
  if (!(row->kinds & BIT(job->kind))) {
    complain("%s does not support %s; omit one of them", row->name, tprt_op_kind_name(job->kind));
    return false;
  }
  if (reduces && !(row->sums & BIT(job->dtype))) {
    complain("%s cannot reduce %s; use another --dtype or omit --peer", row->name,
             tprt_dtype_name(job->dtype));
    return false;
  }
  program_path(peer, path);
  if (access(path, X_OK) != 0) {
    complain("the peer %s is not built: there is no %s; install %s (Debian) and build again",
             row->name, path, row->packages);
    return false;
  }
  if (row->by_mpirun && !on_path("mpirun")) {
    complain("the peer %s needs mpirun, which is not on the PATH; install openmpi-bin (Debian)",
             row->name);
    return false;
  }
  return true;
}

int peer_start(void *data) {
  const peer_ranks *ranks = data;
  const peer_row *row = &peers[ranks->peer];
  static char texts[BENCH_N_ARGS][BENCH_MAX_ARG];
  char path[PATH_MAX], count[16], *argv[BENCH_N_ARGS + 6];
  int n = 0;
  if (!row->program) {
    own_ranks own = ranks->own;
    own.one_by_one = true;
    return own_start(&own);
  }
  program_path(ranks->peer, path);
  bench_print_args(ranks->own.job, texts);
  snprintf(count, sizeof count, "%d", ranks->own.job->n_ranks);
  if (row->by_mpirun) {
    argv[n++] = "mpirun";
    argv[n++] = "-n";
    argv[n++] = count;
    argv[n++] = "--oversubscribe";
    if (geteuid() == 0) /* mpirun requires two confirmations to run as root */
      setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1), setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  argv[n++] = path;
  for (int i = 0; i < BENCH_N_ARGS; i++)
    argv[n++] = texts[i];
  argv[n] = NULL;
  execvp(argv[0], argv);
  complain("cannot start %s: %s", argv[0], strerror(errno));
  return EXIT_FAILED;
}
