/* Times eager calls of NCCL: eager N_RANKS. The call is an all-reduce of one number; ranks are
 * threads with one GPU each. The time is that from the call until it returns, or until NCCL says
 * that the operation is enqueued, of three ways:
 *
 * "ours" is tprt_all_reduce. Its communicator is not blocking, so that a call can be ended when a
 * rank is missing; NCCL then starts a thread for each group of calls.
 *
 * "not_blocking" is ncclAllReduce on such a communicator, "blocking" on a blocking one, which this
 * library does not use.
 *
 * Exit status: 0, 1 after a message, 77 without NCCL or with fewer GPUs. The last line on stdout is
 * a JSON object, with medians in microseconds; -1 is a communicator that NCCL refuses, as the
 * tests' emulated one does if it blocks. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl_library.h"
#include "test/runtime/harness/device.h"
#include "test/runtime/harness/ranks.h"
#include "tprt/nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 20, CALLS = 400, MOST = 64 };

/* The functions of NCCL that are called here. */
static struct {
  nccl_result (*get_id)(nccl_id *id);
  nccl_result (*init)(nccl_comm *comm, int n_ranks, nccl_id id, int rank, nccl_config *config);
  nccl_result (*async_error)(nccl_comm comm, nccl_result *error);
  nccl_result (*all_reduce)(const void *send, void *recv, size_t n, nccl_type type,
                            nccl_reduction op, nccl_comm comm, cuda_stream stream);
  nccl_result (*finalize)(nccl_comm comm);
  nccl_result (*destroy)(nccl_comm comm);
} nccl;

static bool load(const char *path) {
  const struct {
    const char *name;
    void *to;
  } rows[] = {{"ncclGetUniqueId", &nccl.get_id},
              {"ncclCommInitRankConfig", &nccl.init},
              {"ncclCommGetAsyncError", &nccl.async_error},
              {"ncclAllReduce", &nccl.all_reduce},
              {"ncclCommFinalize", &nccl.finalize},
              {"ncclCommDestroy", &nccl.destroy}};
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    void *found = library ? dlsym(library, rows[i].name) : NULL;
    if (!found)
      return false;
    memcpy(rows[i].to, &found, sizeof found);
  }
  return true;
}

static nccl_id ids[2]; /* of the communicators that are not blocking, and blocking */
static double us_of[3];

/* Waits until what a call has begun is done. */
static nccl_result settle(nccl_comm comm, nccl_result result) {
  while (result == NCCL_RESULT_IN_PROGRESS) {
    sched_yield();
    nccl_result asked = nccl.async_error(comm, &result);
    result = asked ? asked : result;
  }
  return result;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One all-reduce of one number: by NCCL with `comm` or, if that is NULL, by this library with
 * `world`. Returns 1 after an error. */
static int call(tprt_comm *world, nccl_comm comm, float *data, cuda_stream stream) {
  if (!comm)
    return tprt_all_reduce(world, data, data, 1, TPRT_F32, TPRT_SUM, stream, NULL) != TPRT_OK;
  return settle(comm, nccl.all_reduce(data, data, 1, NCCL_TYPE_F32, NCCL_REDUCE_SUM, comm,
                                      stream)) != NCCL_RESULT_SUCCESS;
}

/* Rank 0 writes the median. */
static int measure(tprt_comm *world, nccl_comm comm, double *us) {
  static double times[CALLS];
  static const float zero;
  int errors = 0;
  cuda_address memory;
  cuda_stream stream;
  DO(allocate, &memory, sizeof(float));
  DO(upload, memory, &zero, sizeof zero);
  DO(stream_create, &stream, 1);
  for (int i = 0; i < WARM + CALLS && !errors; i++) {
    double begun = test_seconds();
    errors += call(world, comm, (float *)(uintptr_t)memory, stream);
    double taken = test_seconds() - begun;
    if (i >= WARM && tprt_comm_rank(world) == 0)
      times[i - WARM] = taken * 1e6;
  }
  DO(stream_wait, stream);
  DO(stream_destroy, stream);
  DO(release, memory);
  if (tprt_comm_rank(world) == 0) {
    qsort(times, CALLS, sizeof *times, compare);
    *us = times[CALLS / 2];
  }
  return errors;
}

static int measure_nccl(tprt_comm *world, bool blocking, double *us) {
  nccl_comm comm = NULL;
  nccl_config config = {.size = offsetof(nccl_config, traffic_class),
                        .magic = 0xcafebeef,
                        .version = NCCL_MIN_VERSION,
                        .blocking = blocking,
                        .cga_cluster_size = INT_MIN,
                        .min_ctas = INT_MIN,
                        .max_ctas = INT_MIN,
                        .split_share = INT_MIN};
  nccl_result result =
      nccl.init(&comm, tprt_comm_size(world), ids[blocking], tprt_comm_rank(world), &config);
  if (result && result != NCCL_RESULT_IN_PROGRESS) {
    *us = -1;
    return 0;
  }
  int errors = settle(comm, result) != NCCL_RESULT_SUCCESS;
  if (!errors)
    errors = measure(world, comm, us);
  errors += settle(comm, nccl.finalize(comm)) != NCCL_RESULT_SUCCESS;
  return errors + (nccl.destroy(comm) != NCCL_RESULT_SUCCESS);
}

static int play(tprt_comm *world, void *unused) {
  cuda_context context;
  double unread;
  (void)unused;
  bool first = tprt_comm_rank(world) == 0;
  DO(context_retain, &context, tprt_comm_rank(world));
  DO(context_set, context);
  int errors = measure(world, NULL, first ? &us_of[0] : &unread);
  for (int blocking = 0; blocking < 2; blocking++)
    errors += measure_nccl(world, blocking, first ? &us_of[1 + blocking] : &unread);
  return errors;
}

int main(int argc, char **argv) {
  int n_ranks = argc == 2 ? atoi(argv[1]) : 0, n_devices = 0;
  if (n_ranks < 1 || n_ranks > MOST) {
    fprintf(stderr, "usage: eager N_RANKS\n");
    return 2;
  }
  int status = device_open();
  if (status)
    return status;
  tprt_nccl_info info;
  if (tprt_nccl_probe(&info) != TPRT_OK) {
    fprintf(stderr, "%s\n", tprt_last_error());
    return 77;
  }
  DO(count, &n_devices);
  if (n_devices < n_ranks) {
    fprintf(stderr, "%d GPUs, %d are needed\n", n_devices, n_ranks);
    return 77;
  }
  const char *path = getenv("TPRT_NCCL_LIBRARY");
  if (!load(path && *path ? path : "libnccl.so.2") || nccl.get_id(&ids[0]) ||
      nccl.get_id(&ids[1])) {
    fprintf(stderr, "wrong: the functions of NCCL are not found, or it makes no ids\n");
    return 1;
  }
  tprt_config config = test_config();
  config.backend = "nccl";
  int errors = run_threads(n_ranks, &config, play, NULL);
  printf("{\"test\": \"nccl-eager\", \"ranks\": %d, \"calls\": %d, \"errors\": %d, \"ours_us\": "
         "%.2f, \"not_blocking_us\": %.2f, \"blocking_us\": %.2f}\n",
         n_ranks, CALLS, errors, us_of[0], us_of[1], us_of[2]);
  return errors != 0;
}
