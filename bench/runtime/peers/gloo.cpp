// The same measurement for Gloo, over TCP on this machine: gloo RANKS EMPTY_DIRECTORY
#include "../protocol.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <sys/wait.h>
#include <unistd.h>

static void sum(void *state, const float *send, float *recv, size_t count) {
  gloo::AllreduceOptions options(*static_cast<std::shared_ptr<gloo::rendezvous::Context> *>(state));
  options.setInput(const_cast<float *>(send), count);
  options.setOutput(recv, count);
  options.setReduceFunction([](void *to, const void *a, const void *b, size_t n) { gloo::sum<float>(to, a, b, n); });
  gloo::allreduce(options);
}

static void play(int n_ranks, int rank, const char *directory) {
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  gloo::rendezvous::FileStore store(directory);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, n_ranks);
  context->connectFullMesh(store, device);
  std::vector<float> send(LAST_BYTES / sizeof(float)), recv(LAST_BYTES / sizeof(float));
  for (size_t bytes = FIRST_BYTES; bytes <= LAST_BYTES; bytes *= 4)
    measure(sum, &context, send.data(), recv.data(), bytes, n_ranks, rank);
}

int main(int argc, char **argv) {
  int n_ranks = argc == 3 ? atoi(argv[1]) : 0, failed = 0;
  if (n_ranks < 1 || n_ranks > 64) {
    fprintf(stderr, "usage: %s RANKS EMPTY_DIRECTORY\n", argv[0]);
    return 2;
  }
  for (int rank = 0; rank < n_ranks; rank++) {
    pid_t child = fork();
    if (child < 0)
      return 1;
    if (child == 0) {
      play(n_ranks, rank, argv[2]);
      exit(0);
    }
  }
  for (int status; wait(&status) > 0;)
    failed |= status != 0;
  return failed;
}
