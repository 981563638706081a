/* Emulates GPUs: every CTA of every rank is a thread. */
#define _GNU_SOURCE 1
#include "machine.h"

#include "cuda/kernels/kernels.cuh"

#include <pthread.h>
#include <stdlib.h>

typedef void kernel_fn(cta *c);
static kernel_fn *const kernels[FUSED_N_KERNELS] = {
#define ROW(constant, name) [FUSED_##constant] = tprt_##name,
    FUSED_KERNELS(ROW)
#undef ROW
};

typedef struct stream {
  pthread_barrier_t barrier; /* for the CTAs of a rank */
} stream;

typedef struct place {
  pthread_t thread;
  const machine_program *program;
  stream *stream;
  uint32_t rank, index;
} place;

static void run_cta(const fused_launch *launch, uint32_t rank, uint32_t index, thread *threads) {
  cta c = {.args = &launch->args,
           .rank = rank,
           .index = index,
           .n_ctas = launch->n_ctas,
           .n_threads = launch->n_threads,
           .threads = threads};
  kernels[launch->kernel](&c);
}

static void *run_place(void *argument) {
  const place *p = argument;
  const machine_program *program = p->program;
  thread *threads = calloc(FUSED_THREADS, sizeof *threads);
  for (uint64_t turn = 0; turn < program->n_turns; turn++) {
    if (p->index == 0)
      program->before(program->user, (int)p->rank, turn);
    pthread_barrier_wait(&p->stream->barrier);
    const fused_launch *launch = program->launch(program->user, turn);
    if (p->index < launch->n_ctas)
      run_cta(launch, p->rank, p->index, threads);
    pthread_barrier_wait(&p->stream->barrier);
    if (p->index == 0)
      program->after(program->user, (int)p->rank, turn);
  }
  free(threads);
  return NULL;
}

void machine_run(int n_ranks, int n_ctas, const machine_program *program) {
  stream *streams = calloc((size_t)n_ranks, sizeof *streams);
  place *places = calloc((size_t)(n_ranks * n_ctas), sizeof *places);
  for (int r = 0; r < n_ranks; r++)
    pthread_barrier_init(&streams[r].barrier, NULL, (unsigned)n_ctas);
  for (int i = 0; i < n_ranks * n_ctas; i++) {
    places[i] = (place){.program = program,
                        .stream = &streams[i / n_ctas],
                        .rank = (uint32_t)(i / n_ctas),
                        .index = (uint32_t)(i % n_ctas)};
    if (pthread_create(&places[i].thread, NULL, run_place, &places[i]) != 0)
      abort();
  }
  for (int i = 0; i < n_ranks * n_ctas; i++)
    pthread_join(places[i].thread, NULL);
  for (int r = 0; r < n_ranks; r++)
    pthread_barrier_destroy(&streams[r].barrier);
  free(places);
  free(streams);
}

typedef struct grid_place {
  pthread_t thread;
  const fused_launch *launch;
  uint32_t rank, index;
} grid_place;

static void *run_grid_place(void *argument) {
  const grid_place *p = argument;
  thread *threads = calloc(FUSED_THREADS, sizeof *threads);
  run_cta(p->launch, p->rank, p->index, threads);
  free(threads);
  return NULL;
}

void machine_grid(fused_kernel kernel, const fused_args *args, uint32_t n_ctas, uint32_t n_ranks,
                  uint32_t n_threads) {
  fused_launch launch = {.kernel = kernel, .n_ctas = n_ctas, .n_threads = n_threads, .args = *args};
  grid_place *places = calloc((size_t)n_ctas * n_ranks, sizeof *places);
  for (uint32_t i = 0; i < n_ctas * n_ranks; i++) {
    places[i] =
        (grid_place){.launch = &launch, .rank = args->first_rank + i / n_ctas, .index = i % n_ctas};
    if (pthread_create(&places[i].thread, NULL, run_grid_place, &places[i]) != 0)
      abort();
  }
  for (uint32_t i = 0; i < n_ctas * n_ranks; i++)
    pthread_join(places[i].thread, NULL);
  free(places);
}
