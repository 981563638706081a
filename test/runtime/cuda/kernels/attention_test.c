/* Runs the kernels of attention and of its gradient on the PTX machine: all cases against f64, and
 * kernels with one defect each, which must be found: fragments at other places, missing waits,
 * fences and barriers, wrong masks. */
#define _GNU_SOURCE 1
#include "attention_cases.h"
#include "cuda/kernels/attention_args.h"
#include "test/runtime/cuda/ptx/ptx.h"
#include "test/runtime/harness/long.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The three families of kernels: without tensor cores, for all layouts; with those of every GPU;
 * with those of compute capability 9.0. Then the kernels of the gradient, of the first two, for
 * rows and for columns. */
typedef enum kernel_kind {
  GENERAL,
  MMA,
  WGMMA,
  N_KINDS,
  GRADIENT_ROWS = N_KINDS,
  GRADIENT_COLUMNS,
  GRADIENT_ROWS_MMA,
  GRADIENT_COLUMNS_MMA,
  N_ALL_KINDS
} kernel_kind;
enum { N_SIZES = 4, N_MODULES = 4, HOPPER_MODULE = 1, GRADIENT_MODULE = 2, PARTS_MODULE = 3 };
static const struct kernel_row {
  const char *what;
  uint32_t rows, n_threads;
  int sizes[N_SIZES]; /* the most features, ascending; 0: any */
  const char *prefix; /* of the kernel's name, before the type */
  const char *infix;  /* before the features; NULL: it has none */
  int module;
} kinds[N_ALL_KINDS] = {
    [GENERAL] = {"general", ATTENTION_ROWS, ATTENTION_THREADS, {0}, "", NULL, 0},
    [MMA] = {"tensor cores", ATTENTION_MMA_ROWS, ATTENTION_THREADS, {64, 80, 96, 128}, "", "_", 0},
    [WGMMA] = {"wgmma",
               ATTENTION_WGMMA_ROWS,
               ATTENTION_WGMMA_THREADS,
               {64, 128},
               "",
               "_wgmma_",
               HOPPER_MODULE},
    [GRADIENT_ROWS] = {"gradient of queries",
                       ATTENTION_ROWS,
                       ATTENTION_THREADS,
                       {0},
                       "gradient_rows_",
                       NULL,
                       GRADIENT_MODULE},
    [GRADIENT_COLUMNS] = {"gradient of keys",
                          ATTENTION_COLUMNS,
                          ATTENTION_THREADS,
                          {0},
                          "gradient_columns_",
                          NULL,
                          GRADIENT_MODULE},
    [GRADIENT_ROWS_MMA] = {"gradient of queries on tensor cores",
                           ATTENTION_MMA_ROWS,
                           ATTENTION_THREADS,
                           {64, 80, 96, 128},
                           "gradient_rows_",
                           "_",
                           GRADIENT_MODULE},
    [GRADIENT_COLUMNS_MMA] = {"gradient of keys on tensor cores",
                              ATTENTION_MMA_COLUMNS,
                              ATTENTION_THREADS,
                              {64, 80, 96, 128},
                              "gradient_columns_",
                              "_",
                              GRADIENT_MODULE},
};

/* Texts and modules of attention_kernels.ptx, attention_hopper_kernels.ptx,
 * attention_gradient_kernels.ptx and attention_parts_kernels.ptx. */
static char *texts[N_MODULES];
static ptx_module *modules[N_MODULES];

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  const attention_memory *memory = user;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    *begin = (uint64_t)(uintptr_t)memory->of[x];
    *end = *begin + memory->bytes[x];
    if (*begin && address >= *begin && address < *end)
      return true;
  }
  *begin = (uint64_t)(uintptr_t)memory->workspace;
  *end = *begin + memory->workspace_bytes;
  if (address >= *begin && address < *end)
    return true;
  *begin = (uint64_t)(uintptr_t)memory->partial;
  *end = *begin + memory->partial_bytes;
  if (address >= *begin && address < *end)
    return true;
  *begin = (uint64_t)(uintptr_t)&memory->position;
  *end = *begin + sizeof memory->position;
  return address >= *begin && address < *end;
}

static attention_args arguments_of(const attention_case *c, const attention_memory *memory) {
  static const attention_mask masks[] = {[TPRT_ATTENTION_KEEP] = ATTENTION_KEEP,
                                         [TPRT_ATTENTION_HIDE] = ATTENTION_HIDE,
                                         [TPRT_ATTENTION_ADD] = ATTENTION_ADD};
  static const attention_dropout dropouts[] = {[TPRT_ATTENTION_KEEP_WEIGHT] = ATTENTION_KEEP_WEIGHT,
                                               [TPRT_ATTENTION_DROP_WEIGHT] = ATTENTION_DROP_WEIGHT,
                                               [TPRT_ATTENTION_MULTIPLY] = ATTENTION_MULTIPLY};
  const tprt_abi_fused_attention w = attention_words(c);
  attention_args a = {.q = memory->of[TPRT_ATTENTION_Q],
                      .k = memory->of[TPRT_ATTENTION_K],
                      .v = memory->of[TPRT_ATTENTION_V],
                      .mask = memory->of[TPRT_ATTENTION_MASK],
                      .dropout = memory->of[TPRT_ATTENTION_DROPOUT],
                      .position = c->position_dtype ? &memory->position : NULL,
                      .out = memory->of[TPRT_ATTENTION_OUT],
                      .max = memory->of[TPRT_ATTENTION_MAX],
                      .sum = memory->of[TPRT_ATTENTION_SUM],
                      .gradient = memory->of[TPRT_ATTENTION_GRADIENT],
                      .gradient_q = memory->of[TPRT_ATTENTION_GRADIENT_Q],
                      .gradient_k = memory->of[TPRT_ATTENTION_GRADIENT_K],
                      .gradient_v = memory->of[TPRT_ATTENTION_GRADIENT_V],
                      .delta = memory->workspace,
                      .partial = memory->partial,
                      .n_parts = 1,
                      .passes_hidden = c->passes_hidden,
                      .zeroes_hidden = c->zeroes_hidden,
                      .cap = c->cap,
                      .offset = c->offset,
                      .mask_kind = masks[c->mask],
                      .dropout_kind = dropouts[c->dropout],
                      .zeroes_dropped = c->zeroes_dropped,
                      .causal = c->causal,
                      .position_bytes = c->position_dtype == TPRT_I64 ? 8 : 4,
                      .wide = c->wide ? 1u << ATTENTION_OUT | 1u << ATTENTION_GRADIENT_Q |
                                            1u << ATTENTION_GRADIENT_V
                                      : 0};
  if (c->mask == TPRT_ATTENTION_ADD && c->mask_dtype == TPRT_F32)
    a.mask_kind = ATTENTION_ADD_F32;
  if (c->dropout == TPRT_ATTENTION_MULTIPLY && c->dropout_dtype == TPRT_F32)
    a.dropout_kind = ATTENTION_MULTIPLY_F32;
  memcpy(a.outer, w.outer, sizeof a.outer);
  memcpy(&a.group, &w.group, sizeof a.group);
  memcpy(&a.row, &w.row, sizeof a.row);
  memcpy(&a.column, &w.column, sizeof a.column);
  memcpy(&a.feature, &w.feature, sizeof a.feature);
  memcpy(&a.value, &w.value, sizeof a.value);
  memcpy(&a.scale, &w.scale, sizeof a.scale);
  memcpy(&a.hidden, &w.hidden, sizeof a.hidden);
  memcpy(&a.dropout_scale, &w.dropout_scale, sizeof a.dropout_scale);
  return a;
}

/* Returns the features that the kernel for a case has. */
static int name_kernel(const attention_case *c, kernel_kind kind, char name[64]) {
  const struct kernel_row *row = &kinds[kind];
  int64_t n = c->features > c->values ? c->features : c->values;
  int k = 0;
  while (row->sizes[k] && n > row->sizes[k])
    k++;
  int length = snprintf(name, 64, "tprt_attention_%s%s", row->prefix, tprt_dtype_name(c->dtype));
  if (row->infix)
    snprintf(name + length, 64 - (size_t)length, "%s%d", row->infix, row->sizes[k]);
  return row->sizes[k];
}

static uint32_t shared_bytes(kernel_kind kind, int features) {
  switch (kind) {
  case GENERAL:
  case MMA:
    return 0;
  case WGMMA:
    return (uint32_t)ATTENTION_WGMMA_SHARED(features);
  case GRADIENT_ROWS:
  case GRADIENT_COLUMNS:
    return ATTENTION_GRADIENT_SHARED;
  default:
    return (uint32_t)ATTENTION_GRADIENT_MMA_SHARED(features);
  }
}

/* Runs a kernel on memory that has been filled. */
static ptx_result run_filled(const ptx_module *module, const attention_case *c, kernel_kind kind,
                             attention_memory *memory, char error[PTX_TEXT]) {
  char name[64];
  uint32_t rows = kinds[kind].rows;
  int features = name_kernel(c, kind, name);
  bool by_columns = kind == GRADIENT_COLUMNS || kind == GRADIENT_COLUMNS_MMA;
  const attention_args arguments = arguments_of(c, memory);
  int64_t all = by_columns ? c->columns : c->group * c->rows;
  uint32_t n_blocks = (uint32_t)(c->batch * c->heads * ((all + rows - 1) / rows));
  ptx_launch launch = {.grid = {n_blocks, 1, 1},
                       .block = {kinds[kind].n_threads, 1, 1},
                       .shared_bytes = shared_bytes(kind, features),
                       .parameters = &arguments,
                       .memory = {find, memory},
                       .n_resident = 2};
  const ptx_kernel *kernel = ptx_find(module, name);
  assert_non_null(kernel);
  assert_int_equal(ptx_parameter_bytes(kernel), sizeof arguments);
  return ptx_run(kernel, &launch, error);
}

static ptx_result launch_on(const ptx_module *module, const char *name, uint32_t n_blocks,
                            uint32_t n_parts, uint32_t n_threads, const attention_args *arguments,
                            attention_memory *memory, char error[PTX_TEXT]) {
  ptx_launch launch = {.grid = {n_blocks, n_parts, 1},
                       .block = {n_threads, 1, 1},
                       .parameters = arguments,
                       .memory = {find, memory},
                       .n_resident = 2};
  const ptx_kernel *kernel = ptx_find(module, name);
  assert_non_null(kernel);
  return ptx_run(kernel, &launch, error);
}

/* Runs a case in parts: n_parts blocks share the columns of a row. */
static ptx_result run_parts(const attention_case *c, kernel_kind kind, uint32_t n_parts,
                            attention_memory *memory, char error[PTX_TEXT]) {
  char name[64], of_parts[80];
  uint32_t rows = kinds[kind].rows, n_rows = (uint32_t)(c->group * c->rows),
           n_outer = (uint32_t)(c->batch * c->heads);
  attention_fill(c, memory);
  attention_args arguments = arguments_of(c, memory);
  arguments.n_parts = n_parts;
  (void)name_kernel(c, kind, name);
  snprintf(of_parts, sizeof of_parts, "tprt_attention_parts_%s", name + strlen("tprt_attention_"));
  ptx_result result =
      launch_on(modules[PARTS_MODULE], of_parts, n_outer * ((n_rows + rows - 1) / rows), n_parts,
                kinds[kind].n_threads, &arguments, memory, error);
  snprintf(name, sizeof name, "tprt_attention_combine_%s", tprt_dtype_name(c->dtype));
  return result == PTX_OK ? launch_on(modules[PARTS_MODULE], name, n_outer * n_rows, 1,
                                      ATTENTION_THREADS, &arguments, memory, error)
                          : result;
}

/* Runs a case; the result is in `memory`, which the caller frees. For a kernel of the gradient also
 * those before it, of the modules as they are. */
static ptx_result run(const ptx_module *module, const attention_case *c, kernel_kind kind,
                      attention_memory *memory, char error[PTX_TEXT]) {
  bool is_matrix = kind == GRADIENT_ROWS_MMA || kind == GRADIENT_COLUMNS_MMA;
  bool is_gradient = kind >= GRADIENT_ROWS;
  ptx_result result = PTX_OK;
  attention_fill(c, memory);
  if (is_gradient)
    result = run_filled(modules[0], c, is_matrix ? MMA : GENERAL, memory, error);
  if (result == PTX_OK && (kind == GRADIENT_COLUMNS || kind == GRADIENT_COLUMNS_MMA))
    result = run_filled(modules[GRADIENT_MODULE], c, kind - 1, memory, error);
  return result == PTX_OK ? run_filled(module, c, kind, memory, error) : result;
}

/* Of a run whose last kernel is of this kind. */
static int count_errors(const attention_case *c, kernel_kind kind, const attention_memory *memory,
                        const char *what) {
  if (kind == GRADIENT_COLUMNS || kind == GRADIENT_COLUMNS_MMA)
    return attention_gradient_errors(c, memory, 3, what);
  if (kind == GRADIENT_ROWS || kind == GRADIENT_ROWS_MMA)
    return attention_gradient_errors(c, memory, 1, what);
  return attention_errors(c, memory, what) +
         (kind == WGMMA ? 0 : attention_statistics_errors(c, memory, what));
}

/* True for what the kernels of compute capability 9.0 do not have. */
static bool lacks_hopper(const attention_case *c) {
  return c->cap > 0 || c->zeroes_hidden || c->dropout;
}

/* True for a case that is large enough for tensor cores, if the kernels of this kind do not use
 * them and would take long. Smaller cases have the same masks, dropouts and types. */
static bool takes_long(const attention_case *c, int kind) {
  enum { MOST_PRODUCTS = 3000000 };
  int64_t n = c->batch * c->heads * c->group * c->rows * c->columns * c->features;
  return (kind == GENERAL || kind == GRADIENT_COLUMNS) && c->by_tensor_core && n > MOST_PRODUCTS;
}

static void test_cases(void **state) {
  (void)state;
  int errors = 0;
  for (int i = 0; i < n_attention_cases; i++)
    for (int kind = attention_cases[i].large ? MMA : GENERAL;
         kind < (attention_cases[i].by_tensor_core ? N_KINDS : MMA); kind++) {
      bool lacks = lacks_hopper(&attention_cases[i]);
      attention_memory memory;
      if ((kind == WGMMA && lacks) || (takes_long(&attention_cases[i], kind) && !test_is_long()))
        continue;
      char error[PTX_TEXT];
      if (run(modules[kinds[kind].module], &attention_cases[i], kind, &memory, error) != PTX_OK) {
        fprintf(stderr, "wrong: %s, %s: %s\n", kinds[kind].what, attention_cases[i].name, error);
        errors++;
      } else {
        errors += count_errors(&attention_cases[i], kind, &memory, kinds[kind].what) != 0;
      }
      attention_free(&memory);
    }
  assert_int_equal(errors, 0);
}

/* As many parts as columns have tiles, fewer and more: some parts are empty. */
static void test_parts(void **state) {
  static const uint32_t numbers[] = {2, 3, ATTENTION_MOST_PARTS};
  (void)state;
  int errors = 0;
  for (int i = 0; i < n_attention_cases; i++) {
    const attention_case *c = &attention_cases[i];
    for (int kind = GENERAL; kind <= (c->by_tensor_core ? MMA : GENERAL) && !c->large; kind++)
      for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        attention_memory memory;
        char error[PTX_TEXT];
        if ((k != (size_t)i % 3 || takes_long(c, kind)) && !test_is_long())
          continue;
        if (run_parts(c, kind, numbers[k], &memory, error) != PTX_OK) {
          fprintf(stderr, "wrong: %s, %s, %u parts: %s\n", kinds[kind].what, c->name, numbers[k],
                  error);
          errors++;
        } else {
          errors += count_errors(c, kind, &memory, "in parts") != 0;
        }
        attention_free(&memory);
      }
  }
  assert_int_equal(errors, 0);
}

static void test_gradients(void **state) {
  (void)state;
  int errors = 0, n_large = 0;
  for (int i = 0; i < n_attention_cases; i++) {
    const attention_case *c = &attention_cases[i];
    n_large += c->large;
    if (c->large && n_large > 1 && !test_is_long()) /* they take most of the time */
      continue;
    for (int kind = c->large ? GRADIENT_COLUMNS_MMA : GRADIENT_COLUMNS;
         kind <= (c->by_tensor_core ? GRADIENT_COLUMNS_MMA : GRADIENT_COLUMNS); kind += 2) {
      attention_memory memory;
      char error[PTX_TEXT];
      if (takes_long(c, kind) && !test_is_long())
        continue;
      if (run(modules[GRADIENT_MODULE], c, kind, &memory, error) != PTX_OK) {
        fprintf(stderr, "wrong: %s, %s: %s\n", kinds[kind].what, c->name, error);
        errors++;
      } else {
        errors += count_errors(c, kind, &memory, kinds[kind].what) != 0;
      }
      attention_free(&memory);
    }
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
                           *const hopper = "tprt_attention_f16_wgmma_64",
                           *const rows = "tprt_attention_gradient_rows_bf16_64",
                           *const columns = "tprt_attention_gradient_columns_bf16_64",
                           *const rows_f32 = "tprt_attention_gradient_rows_f32",
                           *const columns_f32 = "tprt_attention_gradient_columns_f32";
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
      {"keys are transposed", rows, "x4.shared", "x4.trans.shared", 0, GRADIENT_ROWS_MMA},
      {"keys are not transposed", rows, "x4.trans.shared", "x4.shared", 0, GRADIENT_ROWS_MMA},
      {"other products' type", rows, "f32.bf16.bf16.f32", "f32.f16.f16.f32", 0, GRADIENT_ROWS_MMA},
      {"no waits", rows, "cp.async.wait_group 0", "cp.async.wait_group 8", 0, GRADIENT_ROWS_MMA},
      {"no wait for queries", rows, "cp.async.wait_group 0", "cp.async.wait_group 8", 1,
       GRADIENT_ROWS_MMA},
      {"no wait for the next keys", rows, "cp.async.wait_group 0", "cp.async.wait_group 8", 2,
       GRADIENT_ROWS_MMA},
      {"no barriers", rows, "bar.sync \t0;", "", 0, GRADIENT_ROWS_MMA},
      {"delta of one of two threads", rows, "shfl.sync.bfly.b32", "shfl.sync.up.b32", 1,
       GRADIENT_ROWS_MMA},
      {"delta is added", rows, "sub.rn.f32", "add.rn.f32", 0, GRADIENT_ROWS_MMA},
      {"rows are not transposed", columns, "x4.trans.shared", "x4.shared", 0, GRADIENT_COLUMNS_MMA},
      {"no waits", columns, "cp.async.wait_group 0", "cp.async.wait_group 8", 0,
       GRADIENT_COLUMNS_MMA},
      {"no barriers", columns, "bar.sync \t0;", "", 0, GRADIENT_COLUMNS_MMA},
      {"rows are overwritten", columns, "bar.sync \t0;", "", 1, GRADIENT_COLUMNS_MMA},
      {"delta is added", columns, "sub.rn.f32", "add.rn.f32", 0, GRADIENT_COLUMNS_MMA},
      {"no barriers", rows_f32, "bar.sync \t0;", "", 0, GRADIENT_ROWS},
      {"no barriers", columns_f32, "bar.sync \t0;", "", 0, GRADIENT_COLUMNS},
      {"slopes of another warp", rows_f32, "bar.warp.sync", "// bar.warp.sync", 0, GRADIENT_ROWS},
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
      if (kinds[d->kind].infix && (!c->by_tensor_core || lacks_hopper(c)))
        continue;
      name_kernel(c, d->kind, name);
      if (strcmp(name, d->kernel) != 0)
        continue;
      found = run(module, c, d->kind, &memory, error) != PTX_OK ||
              count_errors(c, d->kind, &memory, NULL) > 0;
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
  if (argc != 1 + N_MODULES) {
    fprintf(stderr,
            "usage: %s attention_kernels.ptx attention_hopper_kernels.ptx "
            "attention_gradient_kernels.ptx attention_parts_kernels.ptx\n",
            argv[0]);
    return 2;
  }
  for (int m = 0; m < N_MODULES; m++) {
    texts[m] = load_text(argv[1 + m]);
    modules[m] = ptx_load(texts[m], error);
    if (!modules[m]) {
      fprintf(stderr, "%s: %s\n", argv[1 + m], error);
      return 1;
    }
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_gradients),
                                     cmocka_unit_test(test_defects)};
  int status = cmocka_run_group_tests(tests, NULL, NULL);
  for (int m = 0; m < N_MODULES; m++) {
    ptx_unload(modules[m]);
    free(texts[m]);
  }
  return status;
}
