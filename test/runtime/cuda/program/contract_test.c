/* Tests contractions of GPU programs: each uses the expected implementation, cuBLASLt or a kernel,
 * and is bitwise equal to the CPU. Operands are small integers, so sums are exact in f32 and only
 * the final rounding remains. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/fake/fake_blaslt.h"
#include "test/runtime/harness/table.h"
#include "tprt/cuda_gemm.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 1 << 15, MOST_LOOPS = 6, SEED = 3 };

typedef struct row {
  const char *name;
  tprt_dtype dtype;
  int n_products; /* calls of cuBLASLt; 0: the kernel */
  bool overwrite;
  int shift; /* offset of each operand from an aligned address, in elements */
  int n_loops;
  int64_t loops[4 * MOST_LOOPS]; /* size, stride in A, B, C */
} row;

// clang-format off
static const row rows[] = {
    {"f32",              TPRT_F32,  1, true,  0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f32 added",        TPRT_F32,  1, false, 0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"bf16",             TPRT_BF16, 1, true,  0, 3, {16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"bf16 added",       TPRT_BF16, 1, false, 0, 3, {16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"f16, A transposed", TPRT_F16, 1, true,  0, 3, {16, 1, 0, 24, 24, 0, 1, 1, 24, 16, 24, 0}},
    {"B transposed",     TPRT_F32,  1, true,  0, 3, {16, 24, 0, 20, 20, 0, 24, 1, 24, 1, 1, 0}},
    {"C transposed",     TPRT_F32,  1, true,  0, 3, {16, 24, 0, 1, 20, 0, 1, 16, 24, 1, 20, 0}},
    {"vector",           TPRT_F32,  1, true,  0, 2, {32, 24, 0, 1, 24, 1, 1, 0}},
    {"batch",            TPRT_BF16, 1, true,  0, 4, {3, 384, 576, 384, 16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"batch in C's rows", TPRT_F32, 1, true,  0, 4, {3, 24, 480, 20, 16, 72, 0, 60, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"shared B",         TPRT_F32,  1, true,  0, 4, {3, 400, 0, 320, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"two loops around", TPRT_F32,  2, true,  0, 5, {2, 1600, 0, 2000, 3, 24, 480, 20, 16, 72, 0, 60, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"two sums",         TPRT_F32,  2, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"two sums added",   TPRT_F32,  2, false, 0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"bf16, two sums",   TPRT_BF16, 0, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f16, two sums added", TPRT_F16, 0, false, 0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"many around",      TPRT_F32,  0, true,  0, 5, {33, 4, 4, 16, 34, 8, 8, 528, 4, 32, 0, 4, 4, 0, 1, 1, 32, 1, 4, 0}},
    {"off alignment",    TPRT_F32,  0, true,  1, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"odd strides",      TPRT_F32,  0, true,  0, 3, {16, 48, 0, 40, 20, 0, 2, 2, 24, 2, 40, 0}},
    {"small",            TPRT_F32,  0, true,  0, 3, {4, 4, 0, 4, 4, 0, 1, 1, 4, 1, 4, 0}},
    {"edges of tiles",   TPRT_F64,  0, false, 1, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"f64",              TPRT_F64,  1, true,  0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f64 added, odd rows", TPRT_F64, 1, false, 0, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"f64, two sums",    TPRT_F64,  2, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f64, batch",       TPRT_F64,  1, true,  0, 4, {3, 24, 480, 20, 16, 72, 0, 60, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"i8",               TPRT_I8,   0, true,  0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"u16 added",        TPRT_U16,  0, false, 0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"i32 added",        TPRT_I32,  0, false, 0, 3, {16, 1, 0, 20, 20, 0, 24, 1, 24, 16, 1, 0}},
    {"u64",              TPRT_U64,  0, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"nothing to add",   TPRT_F32,  0, false, 0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 0, 1, 20, 0}},
};
// clang-format on
enum { N_ROWS = sizeof rows / sizeof *rows };

static fake_blaslt_begin_fn *begin;
static fake_blaslt_look_fn *look;
static const fake_blaslt_plan no_faults = {0};
static bool asks_for_tf32; /* what programs say */

static fake_blaslt_report report(void) {
  fake_blaslt_report r;
  look(&r);
  return r;
}

/* Sets element i to a number from -3 to 3, or from 0 on for unsigned types. */
static void fill(tprt_dtype dtype, void *memory, uint32_t seed) {
  for (int i = 0; i < ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    int number = (int)(seed >> 24) % 7;
    float f = (float)(number - 3);
    double d = (double)f;
    uint64_t word = (uint64_t)number;
    uint16_t half = dtype == TPRT_F16 ? tprt_f32_to_f16(f) : tprt_f32_to_bf16(f);
    const void *from = dtype == TPRT_F32                         ? (const void *)&f
                       : dtype == TPRT_F64                       ? (const void *)&d
                       : dtype == TPRT_F16 || dtype == TPRT_BF16 ? (const void *)&half
                                                                 : (const void *)&word;
    memcpy((char *)memory + (size_t)i * tprt_dtype_size(dtype), from, tprt_dtype_size(dtype));
  }
}

static tprt_comm *alone(void) {
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  return world;
}

static test_table make_program(const row *r, tprt_target target) {
  int64_t one = 1;
  test_table t = table_make(1, &one);
  table_contract(&t, r->dtype, r->n_loops, r->loops)->dim = r->overwrite;
  table_header(&t)->target = target;
  table_header(&t)->tf32 = target == TPRT_TARGET_CUDA && asks_for_tf32;
  return t;
}

static tprt_context *make_context(tprt_comm *world, tprt_target target) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = target};
  assert_int_equal(tprt_context_create(world, &config, &context), TPRT_OK);
  return context;
}

/* Runs the row's site on memory[0] and memory[1], into memory[2]; copies of them go to the GPU. */
static tprt_status run(const row *r, tprt_target target, char *memory[3], char error[256]) {
  test_table program = make_program(r, target);
  tprt_comm *world = alone();
  tprt_context *context = make_context(world, target);
  size_t size = tprt_dtype_size(r->dtype), bytes = ELEMENTS * size, shift = (size_t)r->shift * size;
  char *at[3] = {memory[0], memory[1], memory[2]};
  tprt_status status = (tprt_status)tprt_abi_enter(context, program.words);
  for (int i = 0; i < 3 && !status && target == TPRT_TARGET_CUDA; i++) {
    void *made;
    assert_int_equal(tprt_context_alloc(context, bytes, &made), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, made, memory[i], bytes), TPRT_OK);
    at[i] = made;
  }
  if (!status)
    status =
        (tprt_status)tprt_abi_contract(context, 0, at[0] + shift, at[1] + shift, at[2] + shift);
  snprintf(error, 256, "%s", tprt_context_error(context));
  for (int i = 0; i < 3 && at[i] != memory[i]; i++) {
    if (!status && i == 2)
      assert_int_equal(tprt_context_download(context, memory[2], at[2], bytes), TPRT_OK);
    tprt_context_free(context, at[i]);
  }
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
  return status;
}

static void free_memory(char *memory[3]) {
  for (int i = 0; i < 3; i++)
    free(memory[i]);
}

static void make_memory(tprt_dtype dtype, char *memory[3]) {
  for (int i = 0; i < 3; i++) {
    memory[i] = malloc(ELEMENTS * tprt_dtype_size(dtype));
    fill(dtype, memory[i], SEED + (uint32_t)i);
  }
}

/* ---- Without cuBLASLt ---- */

static void test_no_cublaslt(void **state) {
  (void)state;
  char *memory[3], error[256];
  setenv("TPRT_BLASLT_LIBRARY", "/nonexistent/libcublasLt.so", 1);
  for (int i = 0; i < N_ROWS; i++) {
    /* fails when the program is bound, and only if it would be used */
    make_memory(rows[i].dtype, memory);
    bool wanted = rows[i].n_products || rows[i].shift;
    if (run(&rows[i], TPRT_TARGET_CUDA, memory, error) != (wanted ? TPRT_UNSUPPORTED : TPRT_OK))
      fail_msg("%s: \"%s\"", rows[i].name, error);
    if (wanted && !strstr(error, "cuBLASLt: /nonexistent/libcublasLt.so"))
      fail_msg("%s: \"%s\"", rows[i].name, error);
    free_memory(memory);
  }
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
}

/* ---- All implementations ---- */

static void test_rows(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; i++) {
    char *memory[3], *expected[3], error[256];
    make_memory(rows[i].dtype, memory);
    make_memory(rows[i].dtype, expected);
    begin(&no_faults);
    if (run(&rows[i], TPRT_TARGET_CUDA, memory, error))
      fail_msg("%s: %s", rows[i].name, error);
    fake_blaslt_report r = report();
    if (r.n_products != rows[i].n_products || r.n_alive || r.n_violations)
      fail_msg("%s: %ld products, %ld alive, %d violations: %s", rows[i].name, r.n_products,
               r.n_alive, r.n_violations, r.violation);
    assert_int_equal(run(&rows[i], TPRT_TARGET_HOST, expected, error), TPRT_OK);
    if (memcmp(memory[2], expected[2], ELEMENTS * tprt_dtype_size(rows[i].dtype)) != 0)
      fail_msg("%s: other bits than the processor", rows[i].name);
    free_memory(memory);
    free_memory(expected);
  }
}

/* Operands are rounded to TF32 only if the program says so, and only those of f32. */
static void test_tf32(void **state) {
  static const float finer = 1 + 0x1p-12f, coarse = 1;
  (void)state;
  for (int tf32 = 0; tf32 < 2; tf32++) {
    char *memory[3], error[256];
    asks_for_tf32 = tf32;
    make_memory(TPRT_F32, memory);
    for (int i = 0; i < ELEMENTS; i++) {
      memcpy(memory[0] + 4 * i, &finer, sizeof finer);
      memcpy(memory[1] + 4 * i, &coarse, sizeof coarse);
    }
    begin(&no_faults);
    assert_int_equal(run(&rows[0], TPRT_TARGET_CUDA, memory, error), TPRT_OK);
    assert_int_equal(report().n_violations, 0);
    float sum;
    memcpy(&sum, memory[2], sizeof sum);
    assert_true(sum == 24 * (tf32 ? coarse : finer));
    free_memory(memory);
  }
  char *memory[3], error[256];
  make_memory(TPRT_BF16, memory);
  begin(&no_faults);
  assert_int_equal(run(&rows[2], TPRT_TARGET_CUDA, memory, error), TPRT_OK);
  assert_true(report().n_products == 1 && report().n_violations == 0);
  free_memory(memory);
  test_table program = make_program(&rows[0], TPRT_TARGET_CUDA);
  assert_true(table_refused(&program, HEADER_WORD(tf32), 2, "TF32 of the program is 2"));
  assert_true(table_refused(&program, HEADER_WORD(target), TPRT_TARGET_HOST,
                            "TF32 of the program is 1; it must be from 0 to 0"));
  table_free(&program);
  asks_for_tf32 = false;
}

/* ---- Factors of narrower types, results of f32 ---- */

typedef struct mixed_row {
  const char *name;
  tprt_dtype a, b;
  int n_products;
  bool overwrite;
  int shift; /* of A, in elements */
  int n_loops;
  int64_t loops[4 * MOST_LOOPS];
} mixed_row;

// clang-format off
static const mixed_row mixed_rows[] = {
    {"bf16",            TPRT_BF16, TPRT_BF16, 1, true, 0, 3, {16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"f16, two sums",   TPRT_F16,  TPRT_F16,  2, false, 0, 4, {2, 400, 600, 0, 16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"C transposed",    TPRT_BF16, TPRT_BF16, 1, true, 0, 3, {16, 24, 0, 1, 24, 0, 1, 16, 24, 1, 24, 0}},
    {"bf16 off alignment", TPRT_BF16, TPRT_BF16, 0, true, 1, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"f16 off alignment", TPRT_F16, TPRT_F16, 0, false, 3, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"e4m3",            TPRT_F8E4M3, TPRT_F8E4M3, 1, true, 0, 3, {5, 32, 0, 16, 16, 0, 32, 1, 32, 1, 1, 0}},
    {"e4m3, e5m2",      TPRT_F8E4M3, TPRT_F8E5M2, 1, false, 0, 3, {16, 32, 0, 48, 48, 0, 32, 1, 32, 1, 1, 0}},
    {"e5m2, e4m3, batch", TPRT_F8E5M2, TPRT_F8E4M3, 1, true, 0, 4, {3, 512, 512, 256, 16, 32, 0, 16, 16, 0, 32, 1, 32, 1, 1, 0}},
    {"e5m2",            TPRT_F8E5M2, TPRT_F8E5M2, 0, true, 0, 3, {16, 32, 0, 48, 48, 0, 32, 1, 32, 1, 1, 0}},
    {"e4m3, B as stored", TPRT_F8E4M3, TPRT_F8E4M3, 0, true, 0, 3, {16, 32, 0, 48, 48, 0, 1, 1, 32, 1, 48, 0}},
    {"e4m3, A turned",  TPRT_F8E4M3, TPRT_F8E5M2, 0, true, 0, 3, {16, 1, 0, 48, 48, 0, 32, 1, 32, 16, 1, 0}},
    {"e4m3, odd terms", TPRT_F8E4M3, TPRT_F8E4M3, 0, true, 0, 3, {16, 40, 0, 48, 48, 0, 40, 1, 40, 1, 1, 0}},
    {"e4m3, odd columns", TPRT_F8E4M3, TPRT_F8E4M3, 0, false, 0, 3, {16, 32, 0, 20, 20, 0, 32, 1, 32, 1, 1, 0}},
    {"e4m3 off alignment", TPRT_F8E4M3, TPRT_F8E4M3, 0, true, 8, 3, {16, 32, 0, 48, 48, 0, 32, 1, 32, 1, 1, 0}},
};
// clang-format on
enum { N_MIXED = sizeof mixed_rows / sizeof *mixed_rows };

static test_table make_mixed(const mixed_row *r) {
  int64_t one = 1;
  test_table t = table_make(1, &one);
  tprt_abi_site *site = table_contract(&t, TPRT_F32, r->n_loops, r->loops);
  site->dim = r->overwrite;
  site->split_dim = r->a;
  site->root = r->b;
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* Runs the row's site on copies of `narrow`, into memory[2]. */
static void run_mixed(const mixed_row *r, char *narrow[2], char *memory[3]) {
  test_table program = make_mixed(r);
  tprt_comm *world = alone();
  tprt_context *context = make_context(world, TPRT_TARGET_CUDA);
  const size_t sizes[3] = {tprt_dtype_size(r->a), tprt_dtype_size(r->b), sizeof(float)};
  char *const from[3] = {narrow[0], narrow[1], memory[2]};
  void *at[3];
  int32_t status = tprt_abi_enter(context, program.words);
  for (int i = 0; i < 3 && !status; i++) {
    assert_int_equal(tprt_context_alloc(context, ELEMENTS * sizes[i], &at[i]), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, at[i], from[i], ELEMENTS * sizes[i]), TPRT_OK);
  }
  if (!status)
    status =
        tprt_abi_contract(context, 0, (char *)at[0] + (size_t)r->shift * sizes[0], at[1], at[2]);
  if (status)
    fail_msg("%s: %s", r->name, tprt_context_error(context));
  assert_int_equal(tprt_context_download(context, memory[2], at[2], ELEMENTS * sizeof(float)),
                   TPRT_OK);
  for (int i = 0; i < 3; i++)
    tprt_context_free(context, at[i]);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* Rounds the numbers of wide[i] to the types of the row, in which they are exact. */
static void make_narrow(const mixed_row *r, char *wide[3], char *narrow[2]) {
  for (int i = 0; i < 2; i++) {
    tprt_dtype dtype = i ? r->b : r->a;
    narrow[i] = malloc(ELEMENTS * 2);
    for (int k = 0; k < ELEMENTS; k++) {
      float f;
      memcpy(&f, wide[i] + 4 * k, sizeof f);
      uint16_t half = dtype == TPRT_F16 ? tprt_f32_to_f16(f) : tprt_f32_to_bf16(f);
      uint8_t quarter = dtype == TPRT_F8E4M3 ? tprt_f32_to_f8e4m3(f) : tprt_f32_to_f8e5m2(f);
      memcpy(narrow[i] + 2 * k, &half, sizeof half);
      if (tprt_dtype_size(dtype) == 1)
        memcpy(narrow[i] + k, &quarter, sizeof quarter);
    }
  }
}

/* Each row gives the bits that the CPU computes from widened factors. With a compute capability
 * below 8.9, f8 is left to the kernel. */
static void test_mixed(void **state) {
  (void)state;
  for (int old = 0; old < 2; old++)
    for (int i = 0; i < N_MIXED; i++) {
      const mixed_row *r = &mixed_rows[i];
      bool is_f8 = tprt_dtype_size(r->a) == 1;
      char *memory[3], *expected[3], *narrow[2], error[256];
      row wide = {
          .name = r->name, .dtype = TPRT_F32, .overwrite = r->overwrite, .n_loops = r->n_loops};
      if (old && !is_f8)
        continue;
      memcpy(wide.loops, r->loops, sizeof wide.loops);
      make_memory(TPRT_F32, memory);
      make_memory(TPRT_F32, expected);
      make_narrow(r, memory, narrow);
      memmove(expected[0], expected[0] + 4 * r->shift, (size_t)(ELEMENTS - r->shift) * 4);
      begin(&no_faults);
      setenv("FAKE_CAPABILITY", old ? "8.6" : "9.0", 1);
      run_mixed(r, narrow, memory);
      unsetenv("FAKE_CAPABILITY");
      fake_blaslt_report seen = report();
      if (seen.n_products != (old ? 0 : r->n_products) || seen.n_alive || seen.n_violations)
        fail_msg("%s: %ld products, %ld alive, %d violations: %s", r->name, seen.n_products,
                 seen.n_alive, seen.n_violations, seen.violation);
      assert_int_equal(run(&wide, TPRT_TARGET_HOST, expected, error), TPRT_OK);
      if (memcmp(memory[2], expected[2], ELEMENTS * sizeof(float)) != 0)
        fail_msg("%s: other bits than the processor", r->name);
      free_memory(memory);
      free_memory(expected);
      free(narrow[0]);
      free(narrow[1]);
    }
}

static void test_mixed_tables(void **state) {
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } cases[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST,
       "A is of type 4, B of 4, C of 1; a program for GPUs may multiply f16, bf16 or f8 into f32"},
      {SITE_WORD(split_dim), TPRT_F16, "A is of type 3, B of 4, C of 1"},
      {SITE_WORD(split_dim), TPRT_F8E4M3, "A is of type 16, B of 4, C of 1"},
      {SITE_WORD(split_dim), 0, "A is of type 0, B of 4, C of 1"},
      {SITE_WORD(split_dim), -1, "type of A is -1"},
      {SITE_WORD(root), TPRT_N_DTYPES, "type of B is 18"},
      {SITE_WORD(dtype), TPRT_F64, "A is of type 4, B of 4, C of 2"},
  };
  (void)state;
  test_table t = make_mixed(&mixed_rows[0]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(table_refused(&t, cases[i].word, cases[i].value, cases[i].text));
  table_free(&t);
}

/* A shape for which cuBLASLt has no algorithm. */
static void test_no_algorithm(void **state) {
  (void)state;
  static const fake_blaslt_plan nothing = {.knows_nothing = true};
  char *memory[3], *expected[3], error[256];
  make_memory(rows[0].dtype, memory);
  make_memory(rows[0].dtype, expected);
  begin(&nothing);
  assert_int_equal(run(&rows[0], TPRT_TARGET_CUDA, memory, error), TPRT_OK);
  assert_int_equal(report().n_products, 0);
  assert_int_equal(run(&rows[0], TPRT_TARGET_HOST, expected, error), TPRT_OK);
  assert_memory_equal(memory[2], expected[2], ELEMENTS * sizeof(float));
  free_memory(memory);
  free_memory(expected);
}

/* ---- With epilogues ---- */

typedef struct product_row {
  const char *name;
  tprt_dtype dtype;
  int n_products; /* calls of cuBLASLt; 0: the kernel */
  int64_t m, n, k, transposed, function, bias;
  int shift; /* offset of the bias from an aligned address, in elements */
} product_row;

// clang-format off
static const product_row product_rows[] = {
    {"bias",              TPRT_F32,  1, 16, 24, 20, 0, TPRT_CUDA_NOTHING, 1, 0},
    {"bias, relu",        TPRT_F32,  1, 33, 20, 12, 0, TPRT_CUDA_RELU,    1, 0},
    {"relu, transposed",  TPRT_BF16, 1, 16, 24, 24, 1, TPRT_CUDA_RELU,    0, 0},
    {"bias, gelu",        TPRT_F16,  1, 16, 24, 24, 0, TPRT_CUDA_GELU,    1, 0},
    {"gelu, transposed",  TPRT_F32,  1, 40, 8,  20, 1, TPRT_CUDA_GELU,    0, 0},
    {"a column",          TPRT_F32,  1, 64, 1,  16, 0, TPRT_CUDA_RELU,    1, 0},
    {"a row",             TPRT_F32,  1, 1,  64, 16, 0, TPRT_CUDA_RELU,    1, 0},
    {"a term",            TPRT_F32,  1, 32, 32, 1,  1, TPRT_CUDA_GELU,    1, 0},
    {"none of it",        TPRT_BF16, 1, 16, 24, 24, 0, TPRT_CUDA_NOTHING, 0, 0},
    {"bias off alignment", TPRT_F32, 0, 35, 40, 20, 0, TPRT_CUDA_GELU,    1, 1},
    {"bf16 off alignment", TPRT_BF16, 0, 35, 40, 24, 1, TPRT_CUDA_RELU,   1, 3},
    {"small",             TPRT_F16,  0, 4,  5,  6,  0, TPRT_CUDA_RELU,    1, 0},
    {"no rows",           TPRT_F32,  0, 0,  5,  6,  0, TPRT_CUDA_RELU,    1, 0},
};
// clang-format on
enum { N_PRODUCT_ROWS = sizeof product_rows / sizeof *product_rows };

static tprt_abi_operands operands_of(const product_row *r) {
  tprt_abi_operands made = {0};
  add_input(&made, TPRT_IN_A);
  add_input(&made, TPRT_IN_B);
  if (r->bias)
    add_input(&made, TPRT_IN_BIAS);
  add_output(&made, TPRT_OUT_TENSOR);
  return made;
}

static test_table make_product(const product_row *r) {
  int64_t one = 1, shape[] = {r->m, r->n};
  const tprt_abi_fused_matmul extra = {
      .operands = operands_of(r), .k = r->k, .transpose_b = r->transposed, .function = r->function};
  test_table t = table_make(1, &one);
  table_site(&t, TPRT_SITE_FUSED_MATMUL, r->dtype, TPRT_NO_REDUCTION, 0, NULL, 2, shape, &extra,
             N_WORDS_OF(tprt_abi_fused_matmul));
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

enum { OPERAND_A, OPERAND_B, OPERAND_BIAS, OUT, N_BUFFERS };

/* Runs the row's site on memory, copies of which go to the GPU; passes a bias or not, regardless of
 * the site. */
static tprt_status run_product(const product_row *r, bool bias, char *memory[N_BUFFERS],
                               char error[256]) {
  test_table program = make_product(r);
  tprt_comm *world = alone();
  tprt_context *context = make_context(world, TPRT_TARGET_CUDA);
  size_t size = tprt_dtype_size(r->dtype), bytes = ELEMENTS * size;
  void *at[N_BUFFERS];
  tprt_status status = (tprt_status)tprt_abi_enter(context, program.words);
  for (int i = 0; i < N_BUFFERS; i++) {
    assert_int_equal(tprt_context_alloc(context, bytes, &at[i]), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, at[i], memory[i], bytes), TPRT_OK);
  }
  const tprt_abi_operands operands = operands_of(r);
  const fused_pointers pointers = {
      {[TPRT_IN_A] = {at[OPERAND_A]},
       [TPRT_IN_B] = {at[OPERAND_B]},
       [TPRT_IN_BIAS] = {bias ? (char *)at[OPERAND_BIAS] + (size_t)r->shift * size : NULL},
       [TPRT_OUT_TENSOR] = {at[OUT]}}};
  if (!status)
    status = (tprt_status)call_fused(context, 0, &operands, &pointers);
  if (!status) {
    tprt_site_stats stats;
    assert_int_equal(tprt_context_download(context, memory[OUT], at[OUT], bytes), TPRT_OK);
    assert_int_equal(tprt_context_site_stats(context, 0, &stats), TPRT_OK);
    assert_true(stats.calls == 1 && stats.bytes == 0);
  }
  snprintf(error, 256, "%s", tprt_context_error(context));
  for (int i = 0; i < N_BUFFERS; i++)
    tprt_context_free(context, at[i]);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
  return status;
}

static double element(tprt_dtype dtype, const char *memory, int64_t i) {
  uint16_t half;
  float f;
  memcpy(&half, memory + 2 * i, sizeof half);
  memcpy(&f, memory + (dtype == TPRT_F32 ? 4 * i : 0), sizeof f);
  return (double)(dtype == TPRT_F32   ? f
                  : dtype == TPRT_F16 ? tprt_f16_to_f32(half)
                                      : tprt_bf16_to_f32(half));
}

static double finished(int64_t function, double x) {
  double gelu = 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
  return function == TPRT_CUDA_RELU ? (x > 0 ? x : 0) : function == TPRT_CUDA_GELU ? gelu : x;
}

/* Sums are whole numbers, so everything but GELU is exact except for one rounding of the result. */
static void check_product(const product_row *r, char *const memory[N_BUFFERS]) {
  const double unit = r->dtype == TPRT_F32 ? 0x1p-23 : r->dtype == TPRT_F16 ? 0x1p-11 : 0x1p-8;
  for (int64_t i = 0; i < r->m; i++)
    for (int64_t j = 0; j < r->n; j++) {
      double sum = r->bias ? element(r->dtype, memory[OPERAND_BIAS], j + r->shift) : 0;
      for (int64_t l = 0; l < r->k; l++)
        sum += element(r->dtype, memory[OPERAND_A], i * r->k + l) *
               element(r->dtype, memory[OPERAND_B], r->transposed ? j * r->k + l : l * r->n + j);
      double wanted = finished(r->function, sum),
             got = element(r->dtype, memory[OUT], i * r->n + j);
      if (r->function == TPRT_CUDA_RELU && isnan(sum) && isnan(got)) /* NaN or 0 is right */
        continue;
      bool near =
          fabs(got - wanted) <= unit * fabs(wanted) + (r->function == TPRT_CUDA_GELU ? 2e-5 : 0);
      if (!(isnan(wanted) && isnan(got)) && !near)
        fail_msg("%s: %lld, %lld is %g, expected %g", r->name, (long long)i, (long long)j, got,
                 wanted);
    }
}

static void make_product_memory(const product_row *r, char *memory[N_BUFFERS]) {
  for (int i = 0; i < N_BUFFERS; i++) {
    memory[i] = malloc(ELEMENTS * tprt_dtype_size(r->dtype));
    fill(r->dtype, memory[i], SEED + (uint32_t)i);
  }
}

static void free_product_memory(char *memory[N_BUFFERS]) {
  for (int i = 0; i < N_BUFFERS; i++)
    free(memory[i]);
}

/* A NaN in the first row, of which relu makes NaN or 0. With cuBLASLt, and if it has no
 * algorithm. */
static void test_products(void **state) {
  (void)state;
  static const fake_blaslt_plan nothing = {.knows_nothing = true};
  const float nan = NAN;
  for (int i = 0; i < 2 * N_PRODUCT_ROWS; i++) {
    const product_row *r = &product_rows[i % N_PRODUCT_ROWS];
    char *memory[N_BUFFERS], error[256];
    bool knows = i < N_PRODUCT_ROWS;
    make_product_memory(r, memory);
    const uint16_t half = r->dtype == TPRT_F16 ? tprt_f32_to_f16(nan) : tprt_f32_to_bf16(nan);
    memcpy(memory[OPERAND_A], r->dtype == TPRT_F32 ? (const void *)&nan : (const void *)&half,
           tprt_dtype_size(r->dtype));
    begin(knows ? &no_faults : &nothing);
    if (run_product(r, r->bias, memory, error))
      fail_msg("%s: %s", r->name, error);
    fake_blaslt_report report_of = report();
    if (report_of.n_products != (knows ? r->n_products : 0) || report_of.n_alive ||
        report_of.n_violations)
      fail_msg("%s: %ld products, %ld alive, %d violations: %s", r->name, report_of.n_products,
               report_of.n_alive, report_of.n_violations, report_of.violation);
    check_product(r, memory);
    free_product_memory(memory);
  }
}

/* A call must pass exactly the operands that its site has. */
static void test_bias_that_is_missing(void **state) {
  (void)state;
  for (int i = 0; i < N_PRODUCT_ROWS; i++) {
    char *memory[N_BUFFERS], error[256];
    const product_row *r = &product_rows[i];
    if (!r->bias || r->m == 0) /* without elements nothing is read */
      continue;
    make_product_memory(r, memory);
    begin(&no_faults);
    assert_int_equal(run_product(r, false, memory, error), TPRT_INVALID_ARGUMENT);
    if (!strstr(error, "site 0: input 2 of the site is NULL"))
      fail_msg("%s: \"%s\"", r->name, error);
    free_product_memory(memory);
  }
}

/* Invalid words of a table. */
static void test_wrong_products(void **state) {
  (void)state;
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } cases[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST, "fused sites are supported in GPU programs only"},
      {SITE_WORD(dtype), TPRT_F64, "of a tensor of f64"},
      {SITE_WORD(reduction), TPRT_SUM, "reduction sum of a tensor"},
      {SITE_WORD(n_axes), 1, "number of axes is 1"},
      {SITE_WORD(rank), 0, "shape: a word is unused"},
      {SITE_WORD(shape[0]), -1, "dimension 0 has size -1"},
      {SITE_WORD(shape[1]), 0, "columns of a matmul is 0"},
      {SITE_WORD(dim), 1, "dim is 1"},
      {SITE_WORD(n_extra), 3, "fused matmul: has 3 words of extra data, expected 25"},
      {EXTRA_WORD(tprt_abi_fused_matmul, k), 0, "k of a matmul is 0"},
      {EXTRA_WORD(tprt_abi_fused_matmul, k), INT64_C(1) << 61, "contraction: loop"},
      {EXTRA_WORD(tprt_abi_fused_matmul, transpose_b), 2, "transposed operand is 2"},
      {EXTRA_WORD(tprt_abi_fused_matmul, function), TPRT_CUDA_RELU_GRADIENT,
       "function of a matmul is 3"},
      {EXTRA_WORD(tprt_abi_operands, n_inputs), 1, "inputs is 3; it must be from 0 to 0"},
      {EXTRA_WORD(tprt_abi_operands, n_inputs), 11, "inputs is 11; it must be from 0 to 10"},
      {EXTRA_WORD(tprt_abi_operands, inputs[1]), TPRT_IN_A, "inputs: 2 is listed twice"},
      {EXTRA_WORD(tprt_abi_operands, inputs[0]), TPRT_IN_TENSOR,
       "fused matmul: operands 0x80002a; it needs 0x80000c and may have 0x20"},
      {EXTRA_WORD(tprt_abi_operands, inputs[0]), TPRT_OUT_TENSOR, "inputs is 23"},
      {EXTRA_WORD(tprt_abi_operands, outputs[0]), TPRT_IN_A, "outputs is 2"},
      {EXTRA_WORD(tprt_abi_operands, outputs[0]), TPRT_OUT_SCALE, "fused matmul: operands"},
  };
  test_table t = make_product(&product_rows[0]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(table_refused(&t, cases[i].word, cases[i].value, cases[i].text));
  table_free(&t);
}

/* Calls of sites of another kind. */
static void test_other_kind(void **state) {
  (void)state;
  test_table t = make_product(&product_rows[0]);
  static const int64_t loops[] = {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0};
  table_contract(&t, TPRT_F32, 3, loops);
  begin(&no_faults);
  for (int i = 0; i < 2; i++) {
    tprt_comm *world = alone();
    tprt_context *context = make_context(world, TPRT_TARGET_CUDA);
    assert_int_equal(tprt_abi_enter(context, t.words), TPRT_OK);
    int32_t status = i ? tprt_abi_contract(context, 0, NULL, NULL, NULL)
                       : tprt_abi_fused(context, 1, NULL, NULL);
    assert_int_equal(status, TPRT_INVALID_ARGUMENT);
    assert_non_null(strstr(tprt_context_error(context),
                           i ? "site 0 of the bound program is not of kind contraction"
                             : "site 1 of the bound program is not of kind fused site"));
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  table_free(&t);
}

/* ---- Failures ---- */

/* Each call of cuBLASLt fails in turn. */
static void test_cublaslt_that_fails(void **state) {
  (void)state;
  enum { STATUS = 13 };
  char *memory[3], error[256];
  long n_failed = 0;
  bool failed = true;
  make_memory(rows[0].dtype, memory);
  for (long at = 1; failed; at++) {
    const fake_blaslt_plan fault = {.fail_at = at, .status = STATUS};
    begin(&fault);
    tprt_status status = run(&rows[0], TPRT_TARGET_CUDA, memory, error);
    fake_blaslt_report r = report();
    failed = *r.failed;
    bool matters = failed && !strstr(r.failed, "Destroy");
    if (status != (matters ? TPRT_DEVICE : TPRT_OK) || r.n_alive)
      fail_msg("call %ld, %s: status %d, %ld alive: %s", at, r.failed, status, r.n_alive, error);
    n_failed += matters;
  }
  assert_true(n_failed > 15);
  free_memory(memory);
}

/* Each driver function that contractions need fails, in each implementation. */
static void test_driver_that_fails(void **state) {
  (void)state;
  static const struct {
    const char *mode;
    int row;
    const char *text;
    tprt_status status;
  } cases[] = {
      {"allocate", 0, "the workspace of cuBLASLt", TPRT_NO_MEMORY},
      {"load", 0, "the kernels of sites", TPRT_DEVICE},
      {"function", 0, "tprt_contract_f32", TPRT_DEVICE},
      {"launch", N_ROWS - 2, "site 0: CUDA: tprt_contract_i64", TPRT_DEVICE},
  };
  begin(&no_faults);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *memory[3], error[256];
    make_memory(rows[cases[i].row].dtype, memory);
    setenv("FAKE_CUDA", cases[i].mode, 1);
    if (run(&rows[cases[i].row], TPRT_TARGET_CUDA, memory, error) != cases[i].status ||
        !strstr(error, cases[i].text))
      fail_msg("%s: \"%s\"", cases[i].mode, error);
    setenv("FAKE_CUDA", "", 1);
    free_memory(memory);
  }
  assert_int_equal(report().n_alive, 0);
}

static int setup(void **state) {
  (void)state;
  setenv("FAKE_CUDA", "", 1);
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  void *library = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL);
  void *found = library ? dlsym(library, "fake_blaslt_begin") : NULL;
  memcpy(&begin, &found, sizeof found);
  found = library ? dlsym(library, "fake_blaslt_look") : NULL;
  memcpy(&look, &found, sizeof found);
  return !begin || !look;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_cublaslt),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_tf32),
      cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_mixed_tables),
      cmocka_unit_test(test_no_algorithm),
      cmocka_unit_test(test_cublaslt_that_fails),
      cmocka_unit_test(test_driver_that_fails),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_bias_that_is_missing),
      cmocka_unit_test(test_wrong_products),
      cmocka_unit_test(test_other_kind),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
