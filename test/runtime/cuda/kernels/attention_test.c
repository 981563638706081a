/* Runs the attention kernels on the PTX machine: all cases against f64, and kernels with one defect
 * each, which must be found: fragments at other places, missing waits, fences and barriers, wrong
 * masks. */
#define _GNU_SOURCE 1
#include "attention_cases.h"
#include "cuda/kernels/attention_args.h"
#include "test/runtime/cuda/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The three families of kernels: without tensor cores, for all layouts; with those of every GPU;
 * with those of compute capability 9.0. */
typedef enum kernel_kind { GENERAL, MMA, WGMMA, N_KINDS } kernel_kind;
enum { N_SIZES = 4 };
static const struct kernel_row {
  const char *what;
  uint32_t rows, n_threads;
  int sizes[N_SIZES]; /* the most features, ascending; 0: any */
  const char *infix;  /* of the kernel's name, before the features; NULL: it has none */
  int module;
} kinds[N_KINDS] = {
    [GENERAL] = {"general", ATTENTION_ROWS, ATTENTION_THREADS, {0}, NULL, 0},
    [MMA] = {"tensor cores", ATTENTION_MMA_ROWS, ATTENTION_THREADS, {64, 80, 96, 128}, "_", 0},
    [WGMMA] = {"wgmma", ATTENTION_WGMMA_ROWS, ATTENTION_WGMMA_THREADS, {64, 128}, "_wgmma_", 1},
};

/* Texts and modules of attention_kernels.ptx and attention_hopper_kernels.ptx. */
static char *texts[2];
static ptx_module *modules[2];

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  const attention_memory *memory = user;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    *begin = (uint64_t)(uintptr_t)memory->of[x];
    *end = *begin + memory->bytes[x];
    if (*begin && address >= *begin && address < *end)
      return true;
  }
  *begin = (uint64_t)(uintptr_t)&memory->position;
  *end = *begin + sizeof memory->position;
  return address >= *begin && address < *end;
}

static attention_args arguments_of(const attention_case *c, const attention_memory *memory) {
  static const attention_mask masks[] = {[TPRT_ATTENTION_KEEP] = ATTENTION_KEEP,
                                         [TPRT_ATTENTION_HIDE] = ATTENTION_HIDE,
                                         [TPRT_ATTENTION_ADD] = ATTENTION_ADD};
  const tprt_abi_fused_attention w = attention_words(c);
  attention_args a = {.q = memory->of[TPRT_ATTENTION_Q],
                      .k = memory->of[TPRT_ATTENTION_K],
                      .v = memory->of[TPRT_ATTENTION_V],
                      .mask = memory->of[TPRT_ATTENTION_MASK],
                      .position = c->position_dtype ? &memory->position : NULL,
                      .out = memory->of[TPRT_ATTENTION_OUT],
                      .offset = c->offset,
                      .mask_kind = masks[c->mask],
                      .causal = c->causal,
                      .position_bytes = c->position_dtype == TPRT_I64 ? 8 : 4,
                      .wide = c->wide};
  if (c->mask == TPRT_ATTENTION_ADD && c->mask_dtype == TPRT_F32)
    a.mask_kind = ATTENTION_ADD_F32;
  memcpy(a.outer, w.outer, sizeof a.outer);
  memcpy(&a.group, &w.group, sizeof a.group);
  memcpy(&a.row, &w.row, sizeof a.row);
  memcpy(&a.column, &w.column, sizeof a.column);
  memcpy(&a.feature, &w.feature, sizeof a.feature);
  memcpy(&a.value, &w.value, sizeof a.value);
  memcpy(&a.scale, &w.scale, sizeof a.scale);
  memcpy(&a.hidden, &w.hidden, sizeof a.hidden);
  return a;
}

/* Returns the features that the kernel for a case has. */
static int name_kernel(const attention_case *c, kernel_kind kind, char name[64]) {
  const struct kernel_row *row = &kinds[kind];
  int64_t n = c->features > c->values ? c->features : c->values;
  int k = 0;
  while (row->sizes[k] && n > row->sizes[k])
    k++;
  int length = snprintf(name, 64, "tprt_attention_%s", tprt_dtype_name(c->dtype));
  if (row->infix)
    snprintf(name + length, 64 - (size_t)length, "%s%d", row->infix, row->sizes[k]);
  return row->sizes[k];
}

/* Runs a case; the result is in `memory`, which the caller frees. */
static ptx_result run(const ptx_module *module, const attention_case *c, kernel_kind kind,
                      attention_memory *memory, char error[PTX_TEXT]) {
  char name[64];
  uint32_t rows = kinds[kind].rows;
  int features = name_kernel(c, kind, name);
  attention_fill(c, memory);
  const attention_args arguments = arguments_of(c, memory);
  uint32_t n_blocks = (uint32_t)(c->batch * c->heads * ((c->group * c->rows + rows - 1) / rows));
  ptx_launch launch = {.grid = {n_blocks, 1, 1},
                       .block = {kinds[kind].n_threads, 1, 1},
                       .shared_bytes =
                           kind == WGMMA ? (uint32_t)ATTENTION_WGMMA_SHARED(features) : 0,
                       .parameters = &arguments,
                       .memory = {find, memory},
                       .n_resident = 2};
  const ptx_kernel *kernel = ptx_find(module, name);
  assert_non_null(kernel);
  assert_int_equal(ptx_parameter_bytes(kernel), sizeof arguments);
  return ptx_run(kernel, &launch, error);
}

static void test_cases(void **state) {
  (void)state;
  int errors = 0;
  for (int i = 0; i < n_attention_cases; i++)
    for (int kind = attention_cases[i].large ? MMA : GENERAL;
         kind < (attention_cases[i].by_tensor_core ? N_KINDS : MMA); kind++) {
      attention_memory memory;
      char error[PTX_TEXT];
      if (run(modules[kinds[kind].module], &attention_cases[i], kind, &memory, error) != PTX_OK) {
        fprintf(stderr, "wrong: %s, %s: %s\n", kinds[kind].what, attention_cases[i].name, error);
        errors++;
      } else {
        errors += attention_errors(&attention_cases[i], &memory, kinds[kind].what) != 0;
      }
      attention_free(&memory);
    }
  assert_int_equal(errors, 0);
}

/* ---- defects ---- */

/* In the text of kernel `kernel`, each (or, if `nth` is not 0, the nth) occurrence of `find` is
 * replaced. */
typedef struct defect {
  const char *name, *kernel, *find, *replacement;
  int nth;
  kernel_kind kind;
} defect;

/* Replaces in a copy of the kernel's text, after the directives of the module. Returns the number
 * of replacements. */
static char *mutated(const defect *d, int *n) {
  const char *text = texts[kinds[d->kind].module];
  char entry[96], *out;
  size_t size, head;
  snprintf(entry, sizeof entry, ".entry %s(", d->kernel);
  const char *begin = strstr(text, entry), *first = strstr(text, ".visible .entry");
  assert_non_null(begin);
  const char *next = strstr(begin, ".visible .entry"), *end = next ? next : begin + strlen(begin);
  head = (size_t)(first - text);
  FILE *file = open_memstream(&out, &size);
  fwrite(text, 1, head, file);
  int seen = 0;
  *n = 0;
  for (const char *at = begin; at < end;) {
    if (strncmp(at, d->find, strlen(d->find)) == 0 && (++seen == d->nth || d->nth == 0)) {
      fputs(d->replacement, file);
      at += strlen(d->find);
      ++*n;
    } else {
      fputc(*at++, file);
    }
  }
  fclose(file);
  return out;
}

static void test_defects(void **state) {
  static const char *const core = "tprt_attention_bf16_64", *const general = "tprt_attention_f32",
                           *const hopper = "tprt_attention_f16_wgmma_64";
  const defect defects[] = {
      {"values are not transposed", core, "x4.trans.shared", "x4.shared", 0, MMA},
      {"keys are transposed", core, "x4.shared", "x4.trans.shared", 0, MMA},
      {"other products' type", core, "f32.bf16.bf16.f32", "f32.f16.f16.f32", 0, MMA},
      {"weights in the other half", core, "cvt.rn.bf16x2.f32", "cvt.rn.f16x2.f32", 0, MMA},
      {"no waits", core, "cp.async.wait_group 0", "cp.async.wait_group 8", 0, MMA},
      {"no wait for queries", core, "cp.async.wait_group 0", "cp.async.wait_group 8", 1, MMA},
      {"no wait for keys", core, "cp.async.wait_group 0", "cp.async.wait_group 8", 2, MMA},
      {"no wait for values", core, "cp.async.wait_group 0", "cp.async.wait_group 8", 3, MMA},
      {"no groups", core, "cp.async.commit_group;", "", 0, MMA},
      {"barrier behind the queries' wait", core, "bar.sync \t0;", "", 1, MMA},
      {"barrier behind the queries", core, "bar.sync \t0;", "", 2, MMA},
      {"no barriers", core, "bar.sync \t0;", "", 0, MMA},
      {"largest of two lanes only", core, "shfl.sync.bfly.b32", "shfl.sync.up.b32", 2, MMA},
      {"no barriers", general, "bar.sync \t0;", "", 0, GENERAL},
      {"values are not transposed", hopper, "1, 1, 1, 1;", "1, 1, 1, 0;", 0, WGMMA},
      {"keys are transposed", hopper, ", 1, 1, 0, 0;", ", 1, 1, 0, 1;", 0, WGMMA},
      {"scores are added to", hopper, "setp.ne.b32 adds", "setp.eq.b32 adds", 0, WGMMA},
      {"other products' type", hopper, "f32.f16.f16 {", "f32.bf16.bf16 {", 0, WGMMA},
      {"no wait for scores", hopper, "wgmma.wait_group.sync.aligned 1",
       "wgmma.wait_group.sync.aligned 2", 0, WGMMA},
      {"no wait for values", hopper, "wgmma.wait_group.sync.aligned 0",
       "wgmma.wait_group.sync.aligned 1", 2, WGMMA},
      {"no wait for the last values", hopper, "wgmma.wait_group.sync.aligned 0",
       "wgmma.wait_group.sync.aligned 1", 3, WGMMA},
      {"no fence of scores", hopper, "wgmma.fence.sync.aligned;", "", 2, WGMMA},
      {"no groups of products", hopper, "wgmma.commit_group.sync.aligned;", "", 0, WGMMA},
      {"fetches are not waited for", hopper, "cp.async.wait_group 1", "cp.async.wait_group 2", 0,
       WGMMA},
      {"the last fetch is not waited for", hopper, "cp.async.wait_group 0", "cp.async.wait_group 1",
       0, WGMMA},
      {"no proxy fence of keys", hopper, "fence.proxy.async.shared::cta;", "", 2, WGMMA},
      {"no proxy fence of the last tile", hopper, "fence.proxy.async.shared::cta;", "", 3, WGMMA},
      {"tiles are overwritten", hopper, "bar.sync %r", "bar.arrive %r", 1, WGMMA},
      {"products do not wait for tiles", hopper, "bar.sync %r", "bar.arrive %r", 3, WGMMA},
      {"tiles are not released", hopper, "bar.arrive %r", "bar.arrive 15, 384; // %r", 7, WGMMA},
      {"registers are not given back", hopper, "setmaxnreg.dec.sync.aligned.u32 40",
       "setmaxnreg.dec.sync.aligned.u32 48", 0, WGMMA},
  };
  (void)state;
  for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
    const defect *d = &defects[i];
    int n, found = 0;
    char error[PTX_TEXT] = "", *copy = mutated(d, &n);
    if (n == 0)
      fail_msg("%s: '%s' is not in %s", d->name, d->find, d->kernel);
    ptx_module *module = ptx_load(copy, error);
    if (!module)
      fail_msg("%s: %s", d->name, error);
    for (int k = 0; k < n_attention_cases && !found; k++) {
      const attention_case *c = &attention_cases[k];
      attention_memory memory;
      char name[64];
      if (d->kind != GENERAL && !c->by_tensor_core)
        continue;
      name_kernel(c, d->kind, name);
      if (strcmp(name, d->kernel) != 0)
        continue;
      found = run(module, c, d->kind, &memory, error) != PTX_OK ||
              attention_errors(c, &memory, NULL) > 0;
      attention_free(&memory);
    }
    if (!found)
      fail_msg("%s: no case finds it", d->name);
    ptx_unload(module);
    free(copy);
  }
}

static char *load_text(const char *path) {
  enum { MOST = 16 << 20 };
  FILE *file = fopen(path, "r");
  char *text = calloc(1, MOST);
  if (!file || !text || fread(text, 1, MOST - 1, file) == 0) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(2);
  }
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  char error[PTX_TEXT];
  if (argc != 3) {
    fprintf(stderr, "usage: %s attention_kernels.ptx attention_hopper_kernels.ptx\n", argv[0]);
    return 2;
  }
  for (int m = 0; m < 2; m++) {
    texts[m] = load_text(argv[1 + m]);
    modules[m] = ptx_load(texts[m], error);
    if (!modules[m]) {
      fprintf(stderr, "%s: %s\n", argv[1 + m], error);
      return 1;
    }
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_defects)};
  int status = cmocka_run_group_tests(tests, NULL, NULL);
  for (int m = 0; m < 2; m++) {
    ptx_unload(modules[m]);
    free(texts[m]);
  }
  return status;
}
