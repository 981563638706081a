/* Tests backend nccl on GPUs, one rank per GPU: nccl WHAT [N_RANKS [REPLAYS | MS]]. The cases are
 * those that all backends run; memory comes from cuMemAlloc, and the host accesses it by copies.
 * Sums of more than two floats depend on NCCL's order, so `cases` accepts one or two ranks. Exit
 * status and output as in fused; 77 without NCCL, or with fewer GPUs. */
#define _GNU_SOURCE 1
#include "test/runtime/backends/nccl/streams.h"

#include "test/runtime/harness/cases.h"
#include "tprt/nccl.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Memory ---- */

static cuda_address address(const void *pointer) { return (cuda_address)(uintptr_t)pointer; }

void nccl_enter(int ordinal) {
  enum { MOST = 64 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static cuda_context contexts[MOST]; /* live as long as the program */
  if (ordinal < 0 || ordinal >= MOST)
    abort();
  pthread_mutex_lock(&lock);
  if (!contexts[ordinal])
    DO(context_retain, &contexts[ordinal], ordinal);
  DO(context_set, contexts[ordinal]);
  pthread_mutex_unlock(&lock);
}

static void enter(const tprt_comm *comm) {
  nccl_enter(tprt_comm_world_rank(comm, tprt_comm_rank(comm)));
}

void *nccl_take(tprt_comm *comm, size_t bytes) {
  cuda_address memory;
  enter(comm);
  DO(allocate, &memory, bytes ? bytes : 1);
  return (void *)(uintptr_t)memory;
}

void nccl_give(tprt_comm *comm, void *block) {
  enter(comm);
  DO(release, address(block));
}

void nccl_write(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  enter(comm);
  if (bytes)
    device_upload(address(to), from, bytes);
}

void nccl_read(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  enter(comm);
  if (bytes)
    DO(download, to, address(from), bytes);
}

/* ---- Streams ---- */

void *nccl_stream(tprt_comm *comm) {
  cuda_stream made;
  enter(comm);
  DO(stream_create, &made, 1);
  return made;
}

void nccl_stream_destroy(tprt_comm *comm, void *stream) {
  enter(comm);
  DO(stream_destroy, stream);
}

static void nap(void *ms) {
  const struct timespec time = {.tv_sec = *(int *)ms / 1000,
                                .tv_nsec = *(int *)ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
  free(ms);
}

void nccl_delay(void *stream, int ms) {
  int *own = malloc(sizeof *own);
  if (!own)
    abort();
  *own = ms;
  DO(host_call, stream, nap, own);
}

/* ---- Cases of all backends ---- */

static int all_cases(tprt_comm *comm, void *argument) {
  int errors = cases_types(comm, argument);
  errors += cases_sizes(comm, argument);
  return errors + cases_groups(comm, argument);
}

/* ---- Harmless refusals; registered memory; ending by abort ---- */

/* Tests memory that all ranks register, which NCCL makes a window if it can: in place, and between
 * two positions in it. */
static int windows(tprt_comm *comm) {
  enum { BYTES = 1 << 20 };
  int errors = 0, n = tprt_comm_size(comm);
  float here = 5;
  void *memory;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, BYTES, &memory), TPRT_OK);
  if (errors)
    return errors;
  float *data = memory;
  CHECK_STATUS(errors, tprt_mem_register_all(comm, memory, BYTES), TPRT_OK);
  nccl_write(comm, data, &here, sizeof here);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data + 64, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  nccl_read(comm, &here, data + 64, sizeof here);
  CHECK(errors, here == 5 * (float)n * (float)n);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, memory), TPRT_OK);
  tprt_mem_free(comm, memory);
  return errors;
}

/* Independent operations of a batch, which are one group of NCCL calls; without a stream. */
static int groups(tprt_comm *comm) {
  enum { N_OPS = 4, COUNT = 256 };
  static const tprt_hint independent = {"independent", "1"};
  int errors = 0, n = tprt_comm_size(comm);
  float *data = nccl_take(comm, N_OPS * COUNT * sizeof *data), here[COUNT];
  tprt_op ops[N_OPS];
  for (int i = 0; i < N_OPS; i++) {
    float *tensor = data + i * COUNT;
    for (int k = 0; k < COUNT; k++)
      here[k] = (float)(i + k);
    nccl_write(comm, tensor, here, sizeof here);
    ops[i] = tprt_op_flat(TPRT_OP_ALL_REDUCE, tensor, tensor, COUNT, TPRT_F32, NULL);
    ops[i].reduction = TPRT_SUM;
    ops[i].hints = &independent;
    ops[i].n_hints = 1;
  }
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, N_OPS, NULL), TPRT_OK);
  for (int i = 0; i < N_OPS; i++) {
    nccl_read(comm, here, data + i * COUNT, sizeof here);
    for (int k = 0; k < COUNT; k++)
      errors += here[k] != (float)(n * (i + k));
  }
  CHECK(errors, errors == 0);
  nccl_give(comm, data);
  return errors;
}

static int refusals(tprt_comm *comm, void *argument) {
  enum { BYTES = 64 };
  int errors = 0, on_host = 0, n = tprt_comm_size(comm);
  float here = 3;
  float *data = nccl_take(comm, BYTES);
  (void)argument;
  nccl_write(comm, data, &here, sizeof here);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &on_host, &on_host, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "send is host memory"));
  CHECK_STATUS(errors, tprt_mem_register(comm, &on_host, sizeof on_host), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_mem_register(comm, data, BYTES), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, data), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, data), TPRT_INVALID_ARGUMENT);
  nccl_read(comm, &here, data, sizeof here);
  CHECK(errors, here == 3 * (float)n);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  nccl_give(comm, data);
  return errors + windows(comm) + groups(comm);
}

static int aborts(tprt_comm *comm, void *argument) {
  int errors = 0;
  float *data = nccl_take(comm, sizeof *data);
  (void)argument;
  if (tprt_comm_rank(comm) == 0) {
    tprt_comm_abort(comm);
    tprt_comm_abort(comm);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_INVALID_STATE);
  } else {
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
                 TPRT_ABORTED);
    CHECK(errors, strstr(tprt_last_error(), "rank 0 aborted the communicator"));
  }
  nccl_give(comm, data);
  return errors;
}

/* ---- A late rank ---- */

static int late(tprt_comm *comm, void *argument) {
  const int ms = *(const int *)argument * 3 / 2; /* longer than the timeout of the others */
  const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  int errors = 0;
  float *data = nccl_take(comm, sizeof *data);
  cuda_stream stream;
  tprt_work *work = NULL;
  DO(stream_create, &stream, 1);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK); /* connects the ranks */
  if (tprt_comm_rank(comm) == tprt_comm_size(comm) - 1) {
    nanosleep(&time, NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
  } else {
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, stream, &work),
                 TPRT_OK);
    CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_TIMEOUT);
    CHECK(errors, strstr(tprt_last_error(), "did not finish in time"));
    tprt_work_destroy(work);
    CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_TIMEOUT);
  }
  DO(stream_destroy, stream);
  nccl_give(comm, data);
  return errors;
}

/* ---- Two ranks on the same device ---- */

typedef struct second {
  int rank, fd, errors;
} second;

static void *join_same(void *argument) {
  second *own = argument;
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  config.backend = "nccl";
  config.segment_fd = own->fd;
  nccl_enter(0);
  CHECK_STATUS(own->errors, tprt_world_create(2, own->rank, &config, &comm), TPRT_UNSUPPORTED);
  CHECK(own->errors, strstr(tprt_last_error(), "ranks 0 and 1 have the same device"));
  return NULL;
}

static int same_device(void) {
  const tprt_config config = test_config();
  second ranks[2];
  pthread_t threads[2];
  int errors = 0, fd;
  CHECK_STATUS(errors, tprt_shm_segment_create(2, &config, &fd), TPRT_OK);
  if (errors)
    return errors;
  for (int i = 0; i < 2; i++) {
    ranks[i] = (second){.rank = i, .fd = fd};
    if (pthread_create(&threads[i], NULL, join_same, &ranks[i]) != 0)
      abort();
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    errors += ranks[i].errors;
  }
  close(fd);
  return errors;
}

/* ---- The program ---- */

static const struct {
  const char *name;
  rank_fn *fn;
  int least_ranks, most_ranks;
} parts[] = {
    {"cases", all_cases, 1, 2},   {"refusals", refusals, 1, 64}, {"streams", nccl_streams, 1, 64},
    {"graph", nccl_graph, 1, 64}, {"abort", aborts, 1, 64},      {"late", late, 2, 64},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static int report(const char *name, int n_ranks, long n_calls, int errors) {
  printf("{\"test\": \"nccl-%s\", \"ranks\": %d, \"calls\": %ld, \"errors\": %d}\n", name, n_ranks,
         n_calls, errors);
  fflush(stdout); /* the libraries may crash when the process exits */
  return errors != 0;
}

/* Prints where a thread has crashed, and lets the process crash. */
static void crashed(int number) {
  enum { MOST_FRAMES = 64 };
  static const char text[] = "crashed here:\n";
  void *frames[MOST_FRAMES];
  if (write(STDERR_FILENO, text, sizeof text - 1) > 0)
    backtrace_symbols_fd(frames, backtrace(frames, MOST_FRAMES), STDERR_FILENO);
  signal(number, SIG_DFL);
  raise(number);
}

/* Prints the name of device 0 and the version of NCCL. */
static int machine(const tprt_nccl_info *info) {
  char name[128];
  DO(name, name, sizeof name, 0);
  printf("%s, NCCL %d.%d.%d\n", name, info->version / 10000, info->version / 100 % 100,
         info->version % 100);
  return 0;
}

int main(int argc, char **argv) {
  int n_ranks = argc > 2 ? atoi(argv[2]) : 1, number = argc > 3 ? atoi(argv[3]) : 1, n_devices = 0,
      part = 0;
  if (argc < 2 || argc > 4 || n_ranks < 1 || number < 1) {
    fprintf(stderr, "usage: nccl machine | same-device\n       nccl cases | refusals | streams | "
                    "abort [N_RANKS]\n"
                    "       nccl graph N_RANKS REPLAYS\n       nccl late N_RANKS MS\n");
    return 2;
  }
  void *frame;
  backtrace(&frame, 1); /* the first call loads a library */
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  int status = device_open();
  if (status)
    return status;
  tprt_nccl_info info;
  if (tprt_nccl_probe(&info) != TPRT_OK) {
    fprintf(stderr, "%s\n", tprt_last_error());
    return 77;
  }
  if (strcmp(argv[1], "machine") == 0)
    return machine(&info);
  if (strcmp(argv[1], "same-device") == 0)
    return report("same-device", 2, 2, same_device());
  while (part < N_PARTS && strcmp(argv[1], parts[part].name) != 0)
    part++;
  if (part == N_PARTS || n_ranks < parts[part].least_ranks || n_ranks > parts[part].most_ranks) {
    fprintf(stderr, "nccl: there is no %s of %d ranks\n", argv[1], n_ranks);
    return 2;
  }
  DO(count, &n_devices);
  if (n_devices < n_ranks) {
    fprintf(stderr, "%d GPUs, %d are needed\n", n_devices, n_ranks);
    return 77;
  }
  static const scenario_place place = {nccl_take, nccl_give, nccl_write, nccl_read};
  scenario_set_place(&place);
  tprt_config config = test_config();
  config.backend = "nccl";
  rank_fn *fn = parts[part].fn;
  config.timeout_ns = fn == late ? number * INT64_C(1000000) : INT64_C(120000000000);
  uint64_t stride = cases_stride(n_ranks) / 8 + 1;
  int errors =
      run_threads(n_ranks, &config, fn, fn == all_cases ? (void *)&stride : (void *)&number);
  return report(parts[part].name, n_ranks,
                fn == all_cases    ? scenario_count()
                : fn == nccl_graph ? number
                                   : 1,
                errors);
}
