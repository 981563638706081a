/* Runs the compiled kernels, kernels.ptx, on the PTX machine. Every case must be bitwise equal to
 * the same sources as host code, or, if it uses exponentials or logarithms, whose last bits may
 * differ, within the oracle's bounds. */
#include "cases.h"
#include "machine.h"
#include "test/runtime/cuda/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CTAS = 2, MOST_RANKS = 4, MOST_BLOCKS = 3 * FUSED_RANKS + 1, EDGE = 64 };

/* A group's memory; kernels may only access its blocks. */
typedef struct world {
  fused_group group;
  unsigned char *base[FUSED_RANKS], *constants;
  size_t buffer_bytes;
  struct {
    uint64_t begin, end;
  } blocks[MOST_BLOCKS];
  int n_blocks;
} world;

static ptx_module *kernels;
static char *text;

static void *take(world *w, size_t bytes) {
  unsigned char *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(memory);
  w->blocks[w->n_blocks].begin = (uint64_t)(uintptr_t)memory;
  w->blocks[w->n_blocks++].end = (uint64_t)(uintptr_t)memory + bytes;
  return memset(memory, 0, (bytes + 63) / 64 * 64);
}

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  const world *w = user;
  for (int i = 0; i < w->n_blocks; i++)
    if (address >= w->blocks[i].begin && address < w->blocks[i].end) {
      *begin = w->blocks[i].begin;
      *end = w->blocks[i].end;
      return true;
    }
  return false;
}

static world make_world(int n_ranks, int which) {
  const fused_case *c = &fused_cases[which];
  world w = {.group.config = {.size = sizeof w.group.config,
                              .n_ranks = n_ranks,
                              .rank = TPRT_CUDA_ALL_RANKS},
             .buffer_bytes = (case_buffer_bytes(c, n_ranks) + 63) / 64 * 64};
  w.group.config.staging_bytes = case_staging_bytes(c, n_ranks);
  for (int r = 0; r < n_ranks; r++) {
    w.group.config.signals[r] = take(&w, sizeof(fused_signals));
    w.group.config.staging[r] = take(&w, w.group.config.staging_bytes);
    w.base[r] = take(&w, N_BUFFERS * w.buffer_bytes);
    case_fill(c, n_ranks, r, (uint64_t)which, w.base[r], w.buffer_bytes);
  }
  w.constants = take(&w, N_CONSTANTS * w.buffer_bytes);
  case_constants(c, w.constants, w.buffer_bytes);
  for (int k = 0; k < FUSED_N_KERNELS; k++)
    w.group.n_ctas[k] = CTAS;
  return w;
}

static void free_world(world *w) {
  for (int i = 0; i < w->n_blocks; i++)
    free((void *)(uintptr_t)w->blocks[i].begin);
}

static fused_launch plan(world *w, int which) {
  fused_launch launch;
  case_arguments a = case_arguments_of(&fused_cases[which], w->group.config.n_ranks, w->base,
                                       w->constants, w->buffer_bytes);
  assert_int_equal(case_plan(&fused_cases[which], &w->group, &a, &launch), TPRT_OK);
  return launch;
}

static ptx_result interpret(const ptx_module *module, world *w, const fused_launch *l,
                            char error[PTX_TEXT]) {
  uint32_t n_ranks = (uint32_t)w->group.config.n_ranks;
  const ptx_kernel *k = ptx_find(module, tprt__fused_names[l->kernel]);
  assert_non_null(k);
  assert_int_equal(ptx_parameter_bytes(k), sizeof l->args);
  const ptx_launch launch = {.grid = {l->n_ctas, n_ranks, 1},
                             .block = {l->n_threads, 1, 1},
                             .parameters = &l->args,
                             .memory = {find, w},
                             .n_resident = (int)(l->n_ctas * n_ranks)};
  return ptx_run(k, &launch, error);
}

static void test_same_bits(void **state) {
  (void)state;
  char error[PTX_TEXT], name[160];
  int n_compared = 0;
  for (int n = 1; n <= MOST_RANKS; n *= 2)
    for (int i = 0; i < n_fused_cases; i++) {
      const fused_case *c = &fused_cases[i];
      world compiled = make_world(n, i), emulated = make_world(n, i);
      fused_launch one = plan(&compiled, i), other = plan(&emulated, i);
      for (int turn = 0; turn < (c->in_place ? 1 : 2); turn++) {
        if (interpret(kernels, &compiled, &one, error) != PTX_OK)
          fail_msg("%s, %d ranks: %s", case_name(c, name), n, error);
        machine_grid(other.kernel, &other.args, other.n_ctas, (uint32_t)n, other.n_threads);
      }
      for (int r = 0; r < n; r++) {
        assert_int_equal(case_check(c, n, r, (uint64_t)i, compiled.base[r], compiled.buffer_bytes),
                         0);
        assert_memory_equal(compiled.group.config.signals[r], emulated.group.config.signals[r],
                            sizeof(fused_signals));
        if (c->kind == CASE_ENTROPY)
          continue;
        assert_memory_equal(compiled.base[r], emulated.base[r], N_BUFFERS * compiled.buffer_bytes);
        n_compared++;
      }
      free_world(&compiled);
      free_world(&emulated);
    }
  assert_true(n_compared > 100);
}

/* Removes a barrier after a store to shared memory: the machine detects the race with the next
 * load. */
static void test_missing_barrier(void **state) {
  char error[PTX_TEXT] = "", *store = text;
  int n_tried = 0, which = 0;
  (void)state;
  while (which < n_fused_cases &&
         !(fused_cases[which].norm == TPRT_CUDA_LAYER_NORM && fused_cases[which].quantize))
    which++;
  assert_true(which < n_fused_cases);
  while ((store = strstr(store + 1, "st.shared"))) {
    char *barrier = strstr(store, "bar.sync");
    memcpy(barrier, "//r.sync", 8);
    ptx_module *module = ptx_load(text, error);
    assert_non_null(module);
    world w = make_world(2, which);
    fused_launch launch = plan(&w, which);
    /* Kernels for other types are unchanged. */
    if (strstr(store, tprt__fused_names[launch.kernel]) == NULL &&
        interpret(module, &w, &launch, error) != PTX_OK) {
      assert_non_null(strstr(error, "shared memory"));
      n_tried++;
    }
    memcpy(barrier, "bar.sync", 8);
    free_world(&w);
    ptx_unload(module);
  }
  assert_true(n_tried >= 2);
}

int main(int argc, char **argv) {
  (void)argc;
  FILE *file = fopen(argv[1], "r");
  enum { MOST = 8 << 20 };
  char error[PTX_TEXT];
  text = calloc(1, MOST);
  if (!file || !text || fread(text, 1, MOST - 1, file) == 0 || !(kernels = ptx_load(text, error))) {
    fprintf(stderr, "wrong: %s: %s\n", argv[1], file ? error : "cannot be read");
    return 1;
  }
  fclose(file);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_missing_barrier)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ptx_unload(kernels);
  free(text);
  return failed;
}
