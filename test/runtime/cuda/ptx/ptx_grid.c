/* Runs grids: CTAs on host threads, as many concurrently as a device would run. */
#include "ptx_inside.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct grid {
  const ptx_kernel *kernel;
  const ptx_launch *launch;
  pthread_mutex_t lock;
  uint64_t next, n_ctas;
  bool stop;
  ptx_result result;
  char *error;
} grid;

static void *allocated(size_t bytes) {
  void *memory = calloc(1, bytes ? bytes : 1);
  if (!memory)
    abort();
  return memory;
}

static ptx_cta *make_cta(const grid *g, char *error) {
  const ptx_kernel *k = g->kernel;
  const uint32_t *block = g->launch->block;
  ptx_cta *c = allocated(sizeof *c);
  *c = (ptx_cta){.kernel = k, .launch = g->launch, .stop = &g->stop, .error = error};
  c->n_threads = block[0] * block[1] * block[2];
  c->n_warps = (c->n_threads + PTX_WARP - 1) / PTX_WARP;
  c->dynamic_at = (k->shared_bytes + PTX_UNIT - 1) / PTX_UNIT * PTX_UNIT;
  c->shared_bytes = c->dynamic_at + g->launch->shared_bytes;
  c->shared = allocated(c->shared_bytes);
  c->n_words = (c->shared_bytes + PTX_WORD - 1) / PTX_WORD;
  c->words = allocated(c->n_words * sizeof *c->words);
  c->bytes = allocated(c->n_words * PTX_WORD * sizeof *c->bytes);
  c->marks = allocated(c->n_words * sizeof *c->marks);
  c->apart = allocated(c->n_words * sizeof *c->apart);
  c->warps = allocated(c->n_warps * sizeof *c->warps);
  for (uint32_t n = 0; n < c->n_warps; n++)
    c->warps[n] = (ptx_warp){.cta = c,
                             .number = n,
                             .constants = k->constants,
                             .rows = allocated(k->n_words * sizeof(uint32_t)),
                             .predicates = allocated((size_t)k->n_predicates * sizeof(uint32_t)),
                             .local = allocated(k->local_bytes * PTX_WARP)};
  ptx_make_products(c);
  return c;
}

static void free_cta(ptx_cta *c) {
  ptx_free_products(c);
  for (uint32_t n = 0; n < c->n_warps; n++) {
    free(c->warps[n].rows);
    free(c->warps[n].predicates);
    free(c->warps[n].local);
    free(c->warps[n].copies);
    free(c->warps[n].fences);
  }
  free(c->warps);
  free(c->words);
  free(c->bytes);
  free(c->marks);
  free(c->apart);
  free(c->shared);
  free(c);
}

/* A host thread that stands for one resident CTA: runs one CTA after the other. */
static void *run_place(void *argument) {
  grid *g = argument;
  const uint32_t *n = g->launch->grid;
  char error[PTX_TEXT] = "";
  ptx_cta *c = make_cta(g, error);
  for (;;) {
    uint64_t index = __atomic_fetch_add(&g->next, 1, __ATOMIC_RELAXED);
    if (index >= g->n_ctas || __atomic_load_n(&g->stop, __ATOMIC_RELAXED))
      break;
    c->index[0] = (uint32_t)(index % n[0]);
    c->index[1] = (uint32_t)(index / n[0] % n[1]);
    c->index[2] = (uint32_t)(index / n[0] / n[1]);
    ptx_run_cta(c);
    if (!c->result)
      continue;
    pthread_mutex_lock(&g->lock);
    if (!g->result) {
      g->result = c->result;
      memcpy(g->error, error, PTX_TEXT);
    }
    pthread_mutex_unlock(&g->lock);
    __atomic_store_n(&g->stop, true, __ATOMIC_RELAXED);
  }
  free_cta(c);
  return NULL;
}

static ptx_result refuse(char error[PTX_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static ptx_result refuse(char error[PTX_TEXT], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error, PTX_TEXT, format, arguments);
  va_end(arguments);
  return PTX_BAD_LAUNCH;
}

static ptx_result check_launch(const ptx_kernel *k, const ptx_launch *l, char error[PTX_TEXT]) {
  const uint32_t *b = l->block, *r = k->required;
  uint64_t n_threads = (uint64_t)b[0] * b[1] * b[2],
           n_ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  uint64_t most = k->most_threads ? k->most_threads : PTX_MOST_THREADS;
  if (n_ctas == 0 || n_threads == 0 || b[0] > PTX_MOST_THREADS || b[1] > PTX_MOST_THREADS ||
      b[2] > 64 || n_threads > most)
    return refuse(error,
                  "%s: a grid of %llu CTAs of %llu threads; at most %llu threads are possible",
                  k->name, (unsigned long long)n_ctas, (unsigned long long)n_threads,
                  (unsigned long long)most);
  if (r[0] && (r[0] != b[0] || r[1] != b[1] || r[2] != b[2]))
    return refuse(error, "%s: CTAs of %ux%ux%u threads; the kernel is for %ux%ux%u", k->name, b[0],
                  b[1], b[2], r[0], r[1], r[2]);
  if (l->grid[1] > 65535 || l->grid[2] > 65535 || l->grid[0] > INT32_MAX)
    return refuse(error, "%s: a grid of %ux%ux%u", k->name, l->grid[0], l->grid[1], l->grid[2]);
  if (k->shared_bytes + l->shared_bytes > PTX_MOST_SHARED)
    return refuse(error, "%s: %zu bytes of shared memory and %u of dynamic; there are %d", k->name,
                  k->shared_bytes, l->shared_bytes, PTX_MOST_SHARED);
  if (l->shared_bytes && k->shared_bytes > PTX_DYNAMIC_SHARED)
    return refuse(error, "%s: %zu bytes of shared memory; beside dynamic memory there are %d",
                  k->name, k->shared_bytes, PTX_DYNAMIC_SHARED);
  if (k->parameter_bytes && !l->parameters)
    return refuse(error, "%s: no parameters", k->name);
  return PTX_OK;
}

ptx_result ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char error[PTX_TEXT]) {
  enum { MOST_PLACES = 256 };
  grid g = {.kernel = kernel, .launch = launch, .lock = PTHREAD_MUTEX_INITIALIZER, .error = error};
  if (!ptx_read_kernel((ptx_kernel *)(uintptr_t)kernel, error))
    return PTX_BAD_LAUNCH;
  ptx_result refused = check_launch(kernel, launch, error);
  if (refused)
    return refused;
  g.n_ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  pthread_t threads[MOST_PLACES];
  int n = launch->n_resident < 1             ? 1
          : launch->n_resident < MOST_PLACES ? launch->n_resident
                                             : MOST_PLACES,
      started = 0;
  n = g.n_ctas < (uint64_t)n ? (int)g.n_ctas : n;
  for (; started < n - 1; started++)
    if (pthread_create(&threads[started], NULL, run_place, &g) != 0)
      abort();
  run_place(&g);
  for (int t = 0; t < started; t++)
    pthread_join(threads[t], NULL);
  return g.result;
}
