/* several_hosts CASE: one rank of a world on several hosts, as several_hosts.sh starts it. The
 * cases are those of the table below. Every rank prints what it found, and ends with 1 if that is
 * wrong. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 64 };

static int me, n, n_hosts, n_here;
static bool is_first_here; /* the lowest rank of its host */

/* ---- bytes on the wires ---- */

/* Returns the bytes that this host has sent through an interface. */
static double sent_through(const char *interface) {
  char line[512];
  double received, sent = -1;
  FILE *file = fopen("/proc/net/dev", "re");
  while (file && fgets(line, sizeof line, file)) {
    char *name = line + strspn(line, " "), *colon = strchr(name, ':');
    if (!colon || strncmp(name, interface, strlen(interface)) != 0)
      continue;
    if (sscanf(colon + 1, "%lf %*f %*f %*f %*f %*f %*f %*f %lf", &received, &sent) != 2)
      sent = -1;
  }
  if (file)
    fclose(file);
  return sent;
}

typedef struct traffic {
  double all, most, local; /* of all hosts; of the host that sends most; most inside of a host */
} traffic;

static int32_t *send_data, *recv_data;

static tprt_status run(tprt_comm *comm, tprt_op_kind kind, int64_t elements, tprt_dtype dtype,
                       tprt_reduction reduction, bool deterministic) {
  const tprt_hint hint = {"deterministic", "1"};
  tprt_op op = tprt_op_flat(kind, send_data, recv_data, elements, dtype, NULL);
  op.reduction = reduction;
  op.hints = &hint;
  op.n_hints = deterministic;
  return tprt_submit(comm, &op, NULL);
}

static int measure(tprt_comm *comm, tprt_op_kind kind, int64_t elements, tprt_dtype dtype,
                   bool deterministic, traffic *found) {
  int errors = 0;
  bool reduces = kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_REDUCE_SCATTER;
  double before[2], bytes[2], all[2], most[2];
  /* twice: what remains of the first operation, such as acknowledgments, is not counted */
  for (int turn = 0; turn < 2 && !errors; turn++) {
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    usleep(20000);
    before[0] = sent_through("eth");
    before[1] = sent_through("lo");
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    CHECK_STATUS(
        errors,
        run(comm, kind, elements, dtype, reduces ? TPRT_SUM : TPRT_NO_REDUCTION, deterministic),
        TPRT_OK);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    bytes[0] = is_first_here ? sent_through("eth") - before[0] : 0;
    bytes[1] = is_first_here ? sent_through("lo") - before[1] : 0;
  }
  CHECK_STATUS(errors, tprt_all_reduce(comm, bytes, all, 2, TPRT_F64, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, bytes, most, 2, TPRT_F64, TPRT_MAX, NULL, NULL),
               TPRT_OK);
  *found = (traffic){.all = all[0], .most = most[0], .local = most[1]};
  return errors;
}

/* The least bytes that have to cross, in units of the whole tensor: of all hosts, and of the host
 * that sends most. */
static int bytes(tprt_comm *comm) {
  enum { BYTES = 4 << 20 };
  const double hosts = n_hosts, others = hosts - 1, here = n_here;
  const struct {
    const char *name;
    tprt_op_kind kind;
    int64_t elements;
    tprt_dtype dtype;
    bool deterministic;
    double all, most;
  } rows[] = {
      {"all_reduce", TPRT_OP_ALL_REDUCE, BYTES / 4, TPRT_F32, false, 2 * others,
       2 * others / hosts},
      {"all_gather", TPRT_OP_ALL_GATHER, BYTES / 4 / n, TPRT_F32, false, others, others / hosts},
      {"reduce_scatter", TPRT_OP_REDUCE_SCATTER, BYTES / 4, TPRT_F32, false, others,
       others / hosts},
      {"broadcast", TPRT_OP_BROADCAST, BYTES / 4, TPRT_F32, false, others, 1},
      {"all_to_all", TPRT_OP_ALL_TO_ALL, BYTES / 4, TPRT_F32, false, here * others,
       here * others / hosts},
      /* sums of bf16 cross as f32 */
      {"all_reduce of bf16", TPRT_OP_ALL_REDUCE, BYTES / 2, TPRT_BF16, false, 3 * others,
       3 * others / hosts},
      /* in the order of the ranks: every rank sends to every other; not the least */
      {"all_reduce in order", TPRT_OP_ALL_REDUCE, BYTES / 4, TPRT_F32, true, 2 * here * others,
       2 * here * others / hosts},
      {"all_reduce of i32 in order", TPRT_OP_ALL_REDUCE, BYTES / 4, TPRT_I32, true, 2 * others,
       2 * others / hosts},
  };
  bool over_tcp = getenv("TPRT_TCP_MEMORY") && strcmp(getenv("TPRT_TCP_MEMORY"), "0") == 0;
  int errors = 0;
  send_data = calloc((size_t)n + 1, BYTES);
  recv_data = calloc((size_t)n + 1, BYTES);
  for (size_t i = 0; i < sizeof rows / sizeof *rows && !errors; i++) {
    traffic found;
    errors +=
        measure(comm, rows[i].kind, rows[i].elements, rows[i].dtype, rows[i].deterministic, &found);
    double all = found.all / (rows[i].all * BYTES), most = found.most / (rows[i].most * BYTES);
    if (me == 0)
      printf("%s: %.3f of the bytes, %.3f of those of a host; %.3f of the tensor inside of one\n",
             rows[i].name, all, most, found.local / BYTES);
    /* headers of packets and notes */
    CHECK(errors, all >= 1 && all < 1.1);
    CHECK(errors, most >= 0.99 && most < 1.15);
    CHECK(errors, over_tcp ? found.local > BYTES / 8 : found.local < BYTES / 16);
  }
  free(send_data);
  free(recv_data);
  return errors;
}

/* ---- failures ---- */

/* Runs until an operation fails; the script causes that once all ranks are ready. Says how it
 * failed, and how long the last operation took. FAILS_AFTER: the timeout of operations, in seconds.
 * The creation of the world has more time. */
static int fails(tprt_comm *comm) {
  enum { COUNT = 300000 };
  const char *timeout = getenv("FAILS_AFTER");
  float *data = calloc(COUNT, sizeof *data);
  tprt_status status = tprt_comm_set_hint(comm, "timeout", timeout);
  double begin = 0;
  for (int i = 0; !status; i++) {
    if (i == 1) {
      printf("ready %d\n", (int)getpid());
      fflush(stdout);
    }
    begin = test_seconds();
    status = tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, NULL, NULL);
  }
  printf("failed: %s: %s\n", tprt_status_name(status), tprt_last_error());
  double took = test_seconds() - begin;
  bool is_late = took > 2 * strtod(timeout, NULL);
  if (is_late)
    printf("too late: after %.1f s\n", took);
  free(data);
  return is_late;
}

/* Ranks that differ in hint deterministic. */
static int differs(tprt_comm *comm) {
  int errors = 0;
  float data[4] = {0};
  const tprt_hint hint = {"deterministic", "1"};
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, 4, TPRT_F32, NULL);
  op.reduction = TPRT_SUM;
  op.hints = &hint;
  op.n_hints = me == 1;
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_MISMATCH);
  printf("differs: %s\n", tprt_last_error());
  return errors;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(tprt_comm *comm);
  } cases[] = {{"bytes", bytes}, {"fails", fails}, {"differs", differs}};
  int errors = 0, firsts;
  tprt_comm *comm;
  CHECK_STATUS(errors, tprt_world_create(0, 0, NULL, &comm), TPRT_OK);
  if (errors)
    return 1;
  me = tprt_comm_rank(comm);
  n = tprt_comm_size(comm);
  n_here = tprt_comm_host_ranks(comm);
  is_first_here = me % n_here == 0; /* the script places as many ranks on each host */
  firsts = is_first_here;
  CHECK_STATUS(errors, tprt_all_reduce(comm, &firsts, &n_hosts, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases && argc > 1; i++) {
    if (strcmp(argv[1], cases[i].name) == 0)
      errors += cases[i].run(comm);
  }
  if (!errors)
    printf("all right\n");
  tprt_comm_destroy(comm);
  return errors > 0;
}
