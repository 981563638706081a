// Measures Gloo over TCP on this host with the loop of shard-bench: shard-bench-gloo JOB
#include "../../../tools/shard-bench/measure.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using context_ptr = std::shared_ptr<gloo::rendezvous::Context>;

template <typename T>
void all_reduce(const context_ptr &context, const void *send, void *recv, size_t count) {
  gloo::AllreduceOptions options(context);
  if (send != recv)
    options.setInput(const_cast<T *>(static_cast<const T *>(send)), count);
  options.setOutput(static_cast<T *>(recv), count);
  options.setReduceFunction(
      [](void *to, const void *a, const void *b, size_t n) { gloo::sum<T>(to, a, b, n); });
  gloo::allreduce(options);
}

void sum(const context_ptr &context, const bench_job *job, const void *send, void *recv,
         size_t count) {
  switch (job->dtype) {
  case TPRT_F32:
    return all_reduce<float>(context, send, recv, count);
  case TPRT_F64:
    return all_reduce<double>(context, send, recv, count);
  case TPRT_I32:
    return all_reduce<int32_t>(context, send, recv, count);
  default:
    return all_reduce<int64_t>(context, send, recv, count);
  }
}

// Operations without reduction transfer bytes.
void run(void *state, const bench_job *job, const void *send, void *recv, int64_t elements) {
  const context_ptr &context = *static_cast<context_ptr *>(state);
  size_t bytes = static_cast<size_t>(elements) * tprt_dtype_size(job->dtype),
         chunk = bytes / job->n_ranks;
  char *from = static_cast<char *>(const_cast<void *>(send)), *to = static_cast<char *>(recv);
  if (job->kind == TPRT_OP_ALL_REDUCE)
    return sum(context, job, send, recv, static_cast<size_t>(elements));
  if (job->kind == TPRT_OP_ALL_GATHER) {
    gloo::AllgatherOptions options(context);
    options.setInput(from, chunk);
    options.setOutput(to, bytes);
    gloo::allgather(options);
  } else if (job->kind == TPRT_OP_ALL_TO_ALL) {
    gloo::AlltoallOptions options(context);
    options.setInput(from, bytes);
    options.setOutput(to, bytes);
    gloo::alltoall(options);
  } else {
    gloo::BroadcastOptions options(context);
    if (context->rank == 0 && from != to)
      options.setInput(from, bytes);
    options.setOutput(to, bytes);
    options.setRoot(0);
    gloo::broadcast(options);
  }
}

double largest(void *state, double value) {
  const context_ptr &context = *static_cast<context_ptr *>(state);
  gloo::AllreduceOptions options(context);
  double most;
  options.setInput(&value, 1);
  options.setOutput(&most, 1);
  options.setReduceFunction(
      [](void *to, const void *a, const void *b, size_t n) { gloo::max<double>(to, a, b, n); });
  gloo::allreduce(options);
  return most;
}

void *take(void *, size_t bytes) { return malloc(bytes); }

void give(void *, void *buffer) { free(buffer); }

void play(const bench_job &job, int rank, const char *directory) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  gloo::rendezvous::FileStore store(directory);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, job.n_ranks);
  context->connectFullMesh(store, device);
  largest(&context, 0); // wait until all ranks are connected
  if (rank == 0)
    std::filesystem::remove_all(directory);
  bench_rank self = {&context, rank, run, largest, take, give};
  bench_measure(&job, &self);
  largest(&context, 0); // wait until no rank still reads this rank's data
}

} // namespace

int main(int argc, char **argv) {
  bench_job job;
  int failed = 0;
  std::string directory =
      (std::filesystem::temp_directory_path() / "shard-bench-gloo.XXXXXX").string();
  if (argc != 1 + BENCH_N_ARGS || !bench_read_args(argv + 1, &job)) {
    fputs("shard-bench-gloo: it is started by shard-bench --peer=gloo\n", stderr);
    return 2;
  }
  if (!mkdtemp(directory.data()))
    return 1;
  for (int rank = 0; rank < job.n_ranks; rank++) {
    pid_t child = fork();
    if (child < 0)
      return 1;
    if (child == 0) {
      play(job, rank, directory.c_str());
      exit(0);
    }
  }
  for (int status; wait(&status) > 0;)
    failed |= status != 0;
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return failed;
}
