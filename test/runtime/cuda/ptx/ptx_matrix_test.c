/* Tests matrices and asynchronous copies on the PTX machine: where elements are, as the PTX manual
 * says it, and what the machine detects. `ptx_matrix_test --print` prints the module, to validate
 * it with an assembler. */
#define _GNU_SOURCE 1
#include "ptx.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tprt/types.h"
#include <cmocka.h>

/* Each kernel reads 32-bit words at `in`, number t and every 32nd from there on for thread t, and
 * writes its results at `out` in the same way. %r1 is the thread, %d1 and %d2 are in + 4t and
 * out + 4t, %d3 is `in`. */
static const char head[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                           ".shared .align 16 .b8 tile[1024];\n";
static const char prologue[] =
    ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p<3>;\n.reg .b32 "
    "%%r<24>;\n.reg .b64 %%d<6>;\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d4, %%r1, 4;\n"
    "ld.param.u64 %%d3, [in];\ncvta.to.global.u64 %%d3, %%d3;\nadd.u64 %%d1, %%d3, %%d4;\n"
    "ld.param.u64 %%d2, [out];\ncvta.to.global.u64 %%d2, %%d2;\nadd.u64 %%d2, %%d2, %%d4;\n";

#define LOAD_FRAGMENTS                                                                             \
  "ld.global.b32 %r2, [%d1];\nld.global.b32 %r3, [%d1+128];\nld.global.b32 %r4, [%d1+256];\n"      \
  "ld.global.b32 %r5, [%d1+384];\nld.global.b32 %r6, [%d1+512];\nld.global.b32 %r7, [%d1+640];\n"  \
  "ld.global.b32 %r8, [%d1+768];\nld.global.b32 %r9, [%d1+896];\nld.global.b32 %r10, "             \
  "[%d1+1024];\nld.global.b32 %r11, [%d1+1152];\n"
#define STORE_FOUR                                                                                 \
  "st.global.b32 [%d2], %r12;\nst.global.b32 [%d2+128], %r13;\nst.global.b32 [%d2+256], %r14;\n"   \
  "st.global.b32 [%d2+384], %r15;\n"
#define MMA(type)                                                                                  \
  LOAD_FRAGMENTS "mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%r12, %r13, %r14, " \
                 "%r15}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8, %r9, %r10, %r11};\n" STORE_FOUR
/* Four words of each thread to shared memory: row t of 32 rows of 16 bytes. */
#define TO_SHARED                                                                                  \
  "shl.b32 %r20, %r1, 4;\nmov.u32 %r21, tile;\nadd.u32 %r21, %r21, %r20;\n"                        \
  "mul.wide.u32 %d4, %r1, 16;\nadd.u64 %d4, %d3, %d4;\n"
#define COPY                                                                                       \
  "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d4];\nst.shared.v4.b32 [%r21], {%r2, %r3, %r4, "       \
  "%r5};\n"
#define FROM_SHARED "ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r21];\n"
#define FETCH "cp.async.cg.shared.global [%r21], [%d4], 16;\n"
#define COMMIT "cp.async.commit_group;\n"

static const struct {
  const char *name, *text;
} kernels[] = {
    {"mma_f16", MMA("f16")},
    {"mma_bf16", MMA("bf16")},
    {"rows", TO_SHARED COPY "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, "
                            "%r14, %r15}, [%r21];\n" STORE_FOUR},
    {"columns", TO_SHARED COPY "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r12, "
                               "%r13, %r14, %r15}, [%r21];\n" STORE_FOUR},
    {"fetched", TO_SHARED FETCH COMMIT "cp.async.wait_group 0;\n" FROM_SHARED STORE_FOUR},
    /* of two groups, the first is complete */
    {"first_group",
     TO_SHARED FETCH COMMIT "cp.async.ca.shared.global [%r21+512], [%d4+0], 16;\n" COMMIT
                            "cp.async.wait_group 1;\n" FROM_SHARED STORE_FOUR},
    /* threads from 16 on copy nothing, but write zeros */
    {"zeros", TO_SHARED "setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r22, 16, 0, %p1;\n"
                        "cp.async.cg.shared.global [%r21], [%d4], 16, %r22;\n" COMMIT
                        "cp.async.wait_group 0;\n" FROM_SHARED STORE_FOUR},
    /* read too early */
    {"not_awaited", TO_SHARED FETCH COMMIT "cp.async.wait_group 1;\n" FROM_SHARED STORE_FOUR},
    {"not_committed", TO_SHARED FETCH "cp.async.wait_group 0;\n" FROM_SHARED STORE_FOUR},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels, WORDS = 512 };

static uint32_t words[2][WORDS]; /* in, out */

static void print_kernel(FILE *out, const char *name, const char *text) {
  fprintf(out, prologue, name);
  fputs(text, out);
  fputs("ret;\n}\n", out);
}

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  (void)user;
  *begin = (uint64_t)(uintptr_t)words;
  *end = *begin + sizeof words;
  return address >= *begin && address < *end;
}

static char *module_of(const char *name, const char *text) {
  static char all[8192];
  FILE *file = fmemopen(all, sizeof all, "w");
  fputs(head, file);
  print_kernel(file, name, text);
  fclose(file);
  return all;
}

static ptx_result run_text(const char *name, const char *text, uint32_t n_threads,
                           char error[PTX_TEXT]) {
  uint64_t parameters[] = {(uint64_t)(uintptr_t)words[0], (uint64_t)(uintptr_t)words[1]};
  ptx_launch launch = {.grid = {1, 1, 1},
                       .block = {n_threads, 1, 1},
                       .parameters = parameters,
                       .memory = {find, NULL},
                       .most_rounds = 10000};
  ptx_module *module = ptx_load(module_of(name, text), error);
  if (!module)
    fail_msg("%s: %s", name, error);
  ptx_result result = ptx_run(ptx_find(module, name), &launch, error);
  ptx_unload(module);
  return result;
}

static void run(const char *name) {
  char error[PTX_TEXT];
  for (int k = 0; k < N_KERNELS; k++)
    if (strcmp(kernels[k].name, name) == 0 && run_text(name, kernels[k].text, 32, error) != PTX_OK)
      fail_msg("%s: %s", name, error);
}

/* ---- products ---- */

/* Small whole numbers, all sums of which are exact. */
static float element(int which, int row, int column) {
  return (float)((which * 37 + row * 29 + column * 11 + row * column) % 17 - 8);
}

static uint32_t pair(bool f16, float low, float high) {
  return f16 ? tprt_f32_to_f16(low) | (uint32_t)tprt_f32_to_f16(high) << 16
             : tprt_f32_to_bf16(low) | (uint32_t)tprt_f32_to_bf16(high) << 16;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The tables of the manual: row and column of element i of a thread. */
static void test_products(void **state) {
  (void)state;
  for (int f16 = 0; f16 < 2; f16++) {
    for (int lane = 0; lane < 32; lane++) {
      int group = lane >> 2, in_group = lane % 4;
      for (int i = 0; i < 8; i += 2) { /* a0 to a7 */
        int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
        int column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        words[0][i / 2 * 32 + lane] =
            pair(f16, element(0, row, column), element(0, row, column + 1));
      }
      for (int i = 0; i < 4; i += 2) { /* b0 to b3 */
        int row = in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
        words[0][(4 + i / 2) * 32 + lane] =
            pair(f16, element(1, row, group), element(1, row + 1, group));
      }
      for (int i = 0; i < 4; i++) /* c0 to c3 */
        words[0][(6 + i) * 32 + lane] =
            bits_of(element(2, i < 2 ? group : group + 8, in_group * 2 + (i & 1)));
    }
    run(f16 ? "mma_f16" : "mma_bf16");
    for (int lane = 0; lane < 32; lane++)
      for (int i = 0; i < 4; i++) {
        int row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + (i & 1);
        float sum = element(2, row, column);
        for (int k = 0; k < 16; k++)
          sum += element(0, row, k) * element(1, k, column);
        assert_int_equal(words[1][i * 32 + lane], bits_of(sum));
      }
  }
}

/* The sum is rounded once: 2^24 + 1 + 1 is not 2^24. NaN and infinity stay. */
static void test_rounding(void **state) {
  (void)state;
  memset(words, 0, sizeof words);
  for (int lane = 0; lane < 32; lane++) {
    words[0][lane] = pair(true, lane < 4 ? 1 : 0, lane < 4 ? 1 : 0); /* row 0: ones */
    words[0][128 + lane] = pair(true, 0.25f, 0.25f);
    for (int i = 0; i < 4; i++)
      words[0][(6 + i) * 32 + lane] = bits_of(i == 0 ? 0x1p24f : i == 1 ? -INFINITY : NAN);
  }
  run("mma_f16");
  assert_int_equal(words[1][0], bits_of(0x1p24f + 2));
  assert_int_equal(words[1][32], bits_of(-INFINITY));
  assert_int_equal(words[1][64], 0x7fffffff);
}

/* ---- loads of matrices, and copies ---- */

static void number_words(void) {
  for (int i = 0; i < WORDS; i++)
    words[0][i] = (uint32_t)(2 * i) | (uint32_t)(2 * i + 1) << 16;
  memset(words[1], 0, sizeof words[1]);
}

static void test_matrices(void **state) {
  (void)state;
  for (int transposed = 0; transposed < 2; transposed++) {
    number_words();
    run(transposed ? "columns" : "rows");
    for (int m = 0; m < 4; m++)
      for (int lane = 0; lane < 32; lane++)
        for (int part = 0; part < 2; part++) {
          int row = transposed ? lane % 4 * 2 + part : lane / 4,
              column = transposed ? lane / 4 : lane % 4 * 2 + part;
          uint32_t got = words[1][m * 32 + lane] >> (16 * part) & 0xffff;
          assert_int_equal(got, (m * 8 + row) * 8 + column);
        }
  }
}

static void test_copies(void **state) {
  static const struct {
    const char *name;
    uint32_t first_threads, other_threads; /* what they read, if it is not 0: what was copied */
  } rows[] = {{"fetched", 0, 0},
              {"first_group", 0, 0},
              {"zeros", 0, 1},
              {"not_awaited", UINT32_MAX, UINT32_MAX},
              {"not_committed", UINT32_MAX, UINT32_MAX}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    number_words();
    run(rows[i].name);
    for (int lane = 0; lane < 32; lane++)
      for (int k = 0; k < 4; k++) {
        uint32_t as = lane < 16 ? rows[i].first_threads : rows[i].other_threads;
        assert_int_equal(words[1][k * 32 + lane], as == 0   ? words[0][4 * lane + k]
                                                  : as == 1 ? 0
                                                            : as);
      }
  }
}

/* ---- what is detected, and refused ---- */

static void test_wrong(void **state) {
  static const struct {
    const char *text;
    uint32_t n_threads;
    ptx_result result;
    const char *message;
  } rows[] = {
      {"setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $W;\nbra $E;\n$W:\n" MMA("f16") "$E:", 32, PTX_FAULT,
       "only threads 0xffff of the warp take part; all are needed"},
      {MMA("f16"), 24, PTX_FAULT, "only threads 0xffffff of the warp take part"},
      {TO_SHARED COPY "add.u32 %r21, %r21, 8;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, "
                      "%r13, %r14, %r15}, [%r21];",
       32, PTX_MISALIGNED, "is no multiple of 16"},
      {"mov.u32 %r21, tile;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, %r14, %r15}, "
       "[%r21];",
       32, PTX_FAULT, "is read before it was written"},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12, %r13, %r14, %r15}, [tile+1024];", 32,
       PTX_BAD_ADDRESS, "16 bytes at 1024 of shared memory"},
      {TO_SHARED "cp.async.cg.shared.global [%r21+4], [%d4], 16;", 32, PTX_MISALIGNED,
       "is no multiple of 16"},
      {TO_SHARED "cp.async.cg.shared.global [%r21], [%d4+65536], 16;", 32, PTX_BAD_ADDRESS,
       "is in no allocation"},
      {TO_SHARED "cp.async.cg.shared.global [%r21+1024], [%d4], 16;", 32, PTX_BAD_ADDRESS,
       "16 bytes at 1024 of shared memory"},
      {TO_SHARED "mov.u32 %r22, 17;\ncp.async.cg.shared.global [%r21], [%d4], 16, %r22;", 32,
       PTX_FAULT, "17 of 16 bytes"},
      /* another thread reads without a barrier */
      {TO_SHARED FETCH COMMIT "cp.async.wait_group 0;\nxor.b32 %r21, %r21, 16;\n" FROM_SHARED, 32,
       PTX_FAULT, "with no barrier between"},
      /* copied over what another warp still reads */
      {TO_SHARED COPY "bar.sync 0;\n" FROM_SHARED "xor.b32 %r21, %r21, 512;\n" FETCH, 64, PTX_FAULT,
       "with no barrier between"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char error[PTX_TEXT] = "";
    number_words();
    ptx_result got = run_text("bad", rows[i].text, rows[i].n_threads, error);
    if (got != rows[i].result || !strstr(error, rows[i].message))
      fail_msg("`%s`: %d \"%s\", expected %d \"%s\"", rows[i].text, got, error, rows[i].result,
               rows[i].message);
  }
}

static void test_refused(void **state) {
  static const char *const rows[] = {
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r2, %r3}, {%r2, %r3, %r4, %r5}, {%r6, "
      "%r7}, {%r8, %r9, %r10, %r11};",
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r2, %r3, %r4, %r5}, {%r2, %r3, %r4, "
      "%r5}, {%r6, %r7, %r8, %r9}, {%r8, %r9, %r10, %r11};",
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %d1}, [tile];",
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 %r2, [tile];",
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char error[PTX_TEXT] = "";
    assert_null(ptx_load(module_of("bad", rows[i]), error));
    assert_non_null(strstr(error, "the operands do not fit"));
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--print") == 0) {
    fputs(head, stdout);
    for (int k = 0; k < N_KERNELS; k++)
      print_kernel(stdout, kernels[k].name, kernels[k].text);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products), cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_matrices), cmocka_unit_test(test_copies),
      cmocka_unit_test(test_wrong),    cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
