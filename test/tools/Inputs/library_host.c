/* Runs a library made by shard-run --emit=so on the ranks that a launcher started: host FOLDER.
 * Arguments and results are files with the bytes of one rank, FOLDER/in.K.RANK and
 * FOLDER/out.K.RANK. */
#include "fsdp.h"

#include <stdio.h>
#include <stdlib.h>

static void *transfer(const char *folder, const char *what, int k, int rank, void *data,
                      int64_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d.%d", folder, what, k, rank);
  FILE *file = fopen(path, data ? "wb" : "rb");
  void *buffer = data ? data : malloc((size_t)bytes);
  if (!file || !buffer ||
      (data ? fwrite(buffer, 1, (size_t)bytes, file) : fread(buffer, 1, (size_t)bytes, file)) !=
          (size_t)bytes) {
    perror(path);
    exit(1);
  }
  fclose(file);
  return buffer;
}

int main(int argc, char **argv) {
  tprt_comm *world;
  tprt_context *context;
  void *inputs[fsdp_ARGUMENTS], *outputs[fsdp_RESULTS];
  if (argc != 2 || tprt_world_create(0, 0, NULL, &world) ||
      tprt_context_create(world, NULL, &context)) {
    fprintf(stderr, "%s\n", tprt_last_error());
    return 1;
  }
  int rank = tprt_comm_rank(world);
  for (int k = 0; k < fsdp_ARGUMENTS; k++)
    inputs[k] = transfer(argv[1], "in", k, rank, NULL, fsdp_argument_bytes[k]);
  for (int k = 0; k < fsdp_RESULTS; k++)
    outputs[k] = malloc((size_t)fsdp_result_bytes[k]);
  if (fsdp(NULL, inputs, outputs) != TPRT_INVALID_ARGUMENT) {
    fprintf(stderr, "without a context: %s\n", tprt_last_error());
    return 1;
  }
  if (fsdp(context, inputs, outputs)) {
    fprintf(stderr, "%s\n", tprt_context_error(context));
    return 1;
  }
  for (int k = 0; k < fsdp_RESULTS; k++)
    transfer(argv[1], "out", k, rank, outputs[k], fsdp_result_bytes[k]);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  return 0;
}
