#include "machine.h"

#include "cuda/kernels.h"

#include <pthread.h>
#include <stdlib.h>

typedef void kernel_fn(cta *c);
static kernel_fn *const kernels[FUSED_N_KERNELS] = {
#define ROW(kernel, element) [FUSED_##kernel##_##element] = tprt_##kernel##_##element,
    FUSED_OF_ALL_ELEMENTS(ROW)
#undef ROW
        [FUSED_exchange] = tprt_exchange,
};

typedef struct stream {
  pthread_barrier_t barrier; /* of a rank's CTAs */
} stream;

typedef struct place {
  pthread_t thread;
  const machine_program *program;
  stream *stream;
  uint32_t rank, index;
} place;

static void run_cta(const fused_launch *launch, const place *p, thread *threads) {
  cta c = {.args = &launch->args,
           .rank = p->rank,
           .index = p->index,
           .n_ctas = launch->n_ctas,
           .n_threads = launch->n_threads,
           .threads = threads};
  if (p->index < launch->n_ctas)
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
    run_cta(program->launch(program->user, turn), p, threads);
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
    places[i] = (place){
        .program = program, .stream = &streams[i / n_ctas], .rank = (uint32_t)(i / n_ctas), .index = (uint32_t)(i % n_ctas)};
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
