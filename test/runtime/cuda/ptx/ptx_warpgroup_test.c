/* Tests products of warpgroups on the PTX machine: where elements are in registers and in shared
 * memory, judged by plain loops, and what the machine detects. `ptx_warpgroup_test --print` prints
 * a module, to validate it with an assembler. */
#define _GNU_SOURCE 1
#include "ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tprt/types.h"
#include <cmocka.h>

enum { THREADS = 128, IMAGE = 24 << 10, B_AT = 8 << 10, ROWS = 64, DEPTH = 16 };

/* What a kernel reads, by offset: the image of its shared memory; descriptors but for the start
 * addresses, and these from the begin of the image on; whether accumulators count; registers of A;
 * accumulators. It writes accumulators. */
static struct {
  unsigned char image[IMAGE];
  uint64_t a_rest, b_rest;
  uint32_t a_at, b_at, adds, unused;
  uint32_t a[4][THREADS];
  float c[64][THREADS];
  float out[64][THREADS];
} memory;

/* %r1 is the thread, %r2 the begin of the image in shared memory, at a multiple of 1024; %d1 and
 * %d2 are `memory` and out + 4 * thread; %d5 and %d6 the descriptors; %p1 whether accumulators
 * count. */
#define HEAD                                                                                       \
  ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 more[];\n"
#define PROLOGUE                                                                                   \
  ".visible .entry k(.param .u64 in, .param .u64 out)\n.maxntid 128, 1, 1\n{\n.reg .pred "         \
  "%p<4>;\n.reg .b32 %r<16>, %a<4>, %c<64>;\n.reg .b64 %d<10>;\nmov.u32 %r1, %tid.x;\n"            \
  "ld.param.u64 %d1, [in];\ncvta.to.global.u64 %d1, %d1;\nld.param.u64 %d2, [out];\n"              \
  "cvta.to.global.u64 %d2, %d2;\nmul.wide.u32 %d3, %r1, 4;\nadd.u64 %d2, %d2, %d3;\n"              \
  "add.u64 %d3, %d1, %d3;\nmov.u32 %r2, more;\nadd.u32 %r2, %r2, 1023;\nand.b32 %r2, %r2, "        \
  "-1024;\nshl.b32 %r3, %r1, 4;\nadd.u32 %r3, %r3, %r2;\nmul.wide.u32 %d4, %r1, 16;\n"             \
  "add.u64 %d4, %d4, %d1;\n"
#define DESCRIPTORS                                                                                \
  "ld.global.u64 %d5, [%d1+24576];\nld.global.u64 %d6, [%d1+24584];\nld.global.u32 %r4, "          \
  "[%d1+24592];\nld.global.u32 %r5, [%d1+24596];\nadd.u32 %r4, %r4, %r2;\nadd.u32 %r5, %r5, "      \
  "%r2;\nshr.u32 %r4, %r4, 4;\nshr.u32 %r5, %r5, 4;\ncvt.u64.u32 %d7, %r4;\ncvt.u64.u32 %d8, "     \
  "%r5;\nor.b64 %d5, %d5, %d7;\nor.b64 %d6, %d6, %d8;\nld.global.u32 %r6, [%d1+24600];\n"          \
  "setp.ne.u32 %p1, %r6, 0;\n"
#define PROXY "fence.proxy.async.shared::cta;\n"
#define BARRIER "bar.sync 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT "wgmma.wait_group.sync.aligned 0;\n"

static void print_copy(FILE *out) {
  for (int i = 0; i < IMAGE; i += 16 * THREADS)
    fprintf(out,
            "ld.global.v4.b32 {%%r7, %%r8, %%r9, %%r10}, [%%d4+%d];\nst.shared.v4.b32 "
            "[%%r3+%d], {%%r7, %%r8, %%r9, %%r10};\n",
            i, i);
}

static void print_loads(FILE *out) {
  for (int r = 0; r < 4; r++)
    fprintf(out, "ld.global.b32 %%a%d, [%%d3+%d];\n", r, IMAGE + 32 + 4 * THREADS * r);
  for (int r = 0; r < 64; r++)
    fprintf(out, "ld.global.b32 %%c%d, [%%d3+%d];\n", r, IMAGE + 32 + 4 * THREADS * (4 + r));
}

static void print_stores(FILE *out) {
  for (int r = 0; r < 64; r++)
    fprintf(out, "st.global.b32 [%%d2+%d], %%c%d;\n", 4 * THREADS * r, r);
}

/* A product: `rest` follows the accumulators. */
static void print_product(FILE *out, int n, const char *type, const char *rest) {
  fprintf(out, "wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s {%%c0", n, type, type);
  for (int r = 1; r < n / 2; r++)
    fprintf(out, ", %%c%d", r);
  fprintf(out, "}, %s;\n", rest);
}

/* In a text, C stands for the copy to shared memory, L for the loads of registers, S for the stores
 * of accumulators, and P for a product of 64 columns; all else between these letters is PTX. */
static char *module_of(const char *const *parts) {
  static char text[1 << 16];
  FILE *out = fmemopen(text, sizeof text, "w");
  fputs(HEAD PROLOGUE, out);
  for (; *parts; parts++)
    if (strcmp(*parts, "C") == 0)
      print_copy(out);
    else if (strcmp(*parts, "L") == 0)
      print_loads(out);
    else if (strcmp(*parts, "S") == 0)
      print_stores(out);
    else if (strcmp(*parts, "P") == 0)
      print_product(out, 64, "f16", "{%a0, %a1, %a2, %a3}, %d6, %p1, 1, 1, 0");
    else
      fputs(*parts, out);
  fputs("ret;\n}\n", out);
  fclose(out);
  return text;
}

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  (void)user;
  *begin = (uint64_t)(uintptr_t)&memory;
  *end = *begin + sizeof memory;
  return address >= *begin && address < *end;
}

static ptx_result run_text(const char *text, uint32_t n_threads, char error[PTX_TEXT]) {
  uint64_t parameters[] = {(uint64_t)(uintptr_t)&memory, (uint64_t)(uintptr_t)memory.out};
  ptx_launch launch = {.grid = {1, 1, 1},
                       .block = {n_threads, 1, 1},
                       .shared_bytes = IMAGE + 1024,
                       .parameters = parameters,
                       .memory = {find, NULL},
                       .most_rounds = 100000};
  ptx_module *module = ptx_load(text, error);
  if (!module)
    fail_msg("%s", error);
  ptx_result result = ptx_run(ptx_find(module, "k"), &launch, error);
  ptx_unload(module);
  return result;
}

/* ---- results ---- */

/* Small whole numbers, all sums of which are exact. */
static float element(int which, int row, int column) {
  return (float)((which * 37 + row * 29 + column * 11 + row * column) % 17 - 8);
}

/* A matrix in shared memory: at `at`, its atoms, of `width` units by 8, follow each other along
 * rows or columns first (`mn_first`) or along the depth. `begin` of its depth is skipped. */
typedef struct layout {
  int at, width;
  bool mn_major, mn_first;
  int mn, depth, begin;
} layout;

/* Bytes between atoms along rows or columns, and along the depth. */
static int mn_step(const layout *l) {
  int deep = l->mn_major ? l->depth / 8 : l->depth / (8 * l->width);
  return 128 * l->width * (l->mn_first ? 1 : deep);
}
static int depth_step(const layout *l) {
  int wide = l->mn_major ? l->mn / (8 * l->width) : l->mn / 8;
  return 128 * l->width * (l->mn_first ? wide : 1);
}

/* The offset of an element: units of a row of an atom are exchanged, by a number that grows every
 * 128 bytes. */
static int offset_of(const layout *l, int mn, int k) {
  int along = l->mn_major ? mn : k, row = (l->mn_major ? k : mn) % 8,
      unit = along / 8 % l->width ^ row * l->width / 8,
      mn_atom = mn / (l->mn_major ? 8 * l->width : 8),
      k_atom = k / (l->mn_major ? 8 : 8 * l->width);
  return l->at + mn_atom * mn_step(l) + k_atom * depth_step(l) + row * 16 * l->width + unit * 16 +
         along % 8 * 2;
}

static uint64_t descriptor_of(const layout *l, uint32_t *at) {
  static const uint64_t modes[] = {[1] = 0, [8] = 1, [4] = 2, [2] = 3};
  bool swaps = l->mn_major && l->width == 1; /* then the stride is that along rows or columns */
  int leading = l->mn_major     ? (swaps ? depth_step(l) : mn_step(l))
                : l->width == 1 ? depth_step(l)
                                : 16,
      stride = l->mn_major ? (swaps ? mn_step(l) : depth_step(l)) : mn_step(l);
  *at = (uint32_t)(l->at + l->begin / (l->mn_major ? 8 : 8 * l->width) * depth_step(l) +
                   (l->mn_major ? 0 : l->begin / 8 % l->width * 16));
  return (uint64_t)(leading / 16) << 16 | (uint64_t)(stride / 16) << 32 | modes[l->width] << 62;
}

static uint16_t half_of(bool f16, float x) {
  return f16 ? tprt_f32_to_f16(x) : tprt_f32_to_bf16(x);
}

static void put_matrix(const layout *l, int which, bool f16) {
  for (int mn = 0; mn < l->mn; mn++)
    for (int k = 0; k < l->depth; k++) {
      uint16_t half = half_of(f16, element(which, mn, k - l->begin + 100));
      memcpy(memory.image + offset_of(l, mn, k), &half, sizeof half);
    }
}

/* The figures of the manual: row and column of register r of a thread. */
static int row_of(int thread, int r) { return thread / 32 * 16 + thread % 32 / 4 + r / 2 % 2 * 8; }
static int column_of(int thread, int r) { return r / 4 * 8 + thread % 4 * 2 + r % 2; }

static void put_registers(bool f16) {
  for (int t = 0; t < THREADS; t++) {
    for (int r = 0; r < 4; r++) {
      int row = t / 32 * 16 + t % 32 / 4 + r % 2 * 8, k = t % 4 * 2 + r / 2 * 8;
      memory.a[r][t] = half_of(f16, element(0, row, k + 100)) |
                       (uint32_t)half_of(f16, element(0, row, k + 101)) << 16;
    }
    for (int r = 0; r < 64; r++)
      memory.c[r][t] = element(2, row_of(t, r), column_of(t, r));
  }
}

typedef struct product_case {
  bool f16, adds;
  int n;
  bool in_registers;
  layout a, b;
  int scale_a, scale_b;
} product_case;

static char *product_text(const product_case *c) {
  static char operation[1 << 12], rest[128];
  snprintf(rest, sizeof rest, c->in_registers ? "%s%d, %d, %d" : "%s%d, %d, %d, %d",
           c->in_registers ? "{%a0, %a1, %a2, %a3}, %d6, %p1, " : "%d5, %d6, %p1, ", c->scale_a,
           c->scale_b, c->in_registers ? c->b.mn_major : c->a.mn_major, c->b.mn_major);
  FILE *out = fmemopen(operation, sizeof operation, "w");
  print_product(out, c->n, c->f16 ? "f16" : "bf16", rest);
  fclose(out);
  return module_of((const char *const[]){"C", "L", DESCRIPTORS, PROXY, BARRIER, FENCE, operation,
                                         COMMIT, WAIT, "S", NULL});
}

static void check_product(const product_case *c) {
  char error[PTX_TEXT];
  memset(&memory, 0, sizeof memory);
  put_registers(c->f16);
  put_matrix(&c->a, 0, c->f16);
  put_matrix(&c->b, 1, c->f16);
  memory.a_rest = descriptor_of(&c->a, &memory.a_at);
  memory.b_rest = descriptor_of(&c->b, &memory.b_at);
  memory.adds = c->adds;
  if (run_text(product_text(c), THREADS, error) != PTX_OK)
    fail_msg("%s", error);
  for (int t = 0; t < THREADS; t++)
    for (int r = 0; r < c->n / 2; r++) {
      int row = row_of(t, r), column = column_of(t, r);
      float sum = 0;
      for (int k = 0; k < DEPTH; k++)
        sum += element(0, row, k + 100) * element(1, column, k + 100);
      sum = sum * (float)(c->scale_a * c->scale_b) + (c->adds ? element(2, row, column) : 0);
      if (memory.out[r][t] != sum)
        fail_msg("%d columns, widths %d and %d, majors %d and %d: row %d, column %d is %g, not %g",
                 c->n, c->a.width, c->b.width, c->a.mn_major, c->b.mn_major, row, column,
                 (double)memory.out[r][t], (double)sum);
    }
}

/* All layouts of A, or its registers, with all of B. */
static void test_products(void **state) {
  static const int widths[] = {1, 2, 4, 8};
  int n_cases = 0;
  (void)state;
  for (int kind_of_a = 0; kind_of_a < 9; kind_of_a++) /* 8: in registers */
    for (int kind_of_b = 0; kind_of_b < 8; kind_of_b++) {
      int a_width = widths[kind_of_a % 4], b_width = widths[kind_of_b % 4];
      bool a_mn = kind_of_a / 4 == 1, b_mn = kind_of_b / 4 == 1, odd = ++n_cases % 2;
      product_case c = {.f16 = odd,
                        .adds = n_cases % 3 != 0,
                        .n = n_cases % 4 < 2 ? 64 : 128,
                        .in_registers = kind_of_a == 8,
                        .a = {0, a_width, a_mn, n_cases % 5 < 2, ROWS, a_mn ? 32 : 64, 0},
                        .b = {B_AT, b_width, b_mn, n_cases % 7 < 3, 0, b_mn ? 32 : 64, 0},
                        .scale_a = n_cases % 11 == 0 ? -1 : 1,
                        .scale_b = n_cases % 13 == 0 ? -1 : 1};
      c.b.mn = c.n;
      /* The depth that is skipped: two whole atoms of a matrix that is stored along M or N; of
       * others a part of the rows of an atom. */
      c.a.begin = a_mn ? 16 : n_cases % 4 * 16;
      c.b.begin = b_mn ? 16 : (n_cases + 1) % 4 * 16;
      check_product(&c);
    }
}

/* Products that add to the same accumulators run one after the other; groups end in the order in
 * which they were committed; and results appear only when the program waits. */
static void test_groups(void **state) {
  static const uint32_t not_yet = 0x7fdead01;
  char error[PTX_TEXT];
  layout b = {B_AT, 8, false, false, 64, 64, 0};
  (void)state;
  for (int wait = 0; wait < 2; wait++) {
    memset(&memory, 0, sizeof memory);
    put_registers(true);
    put_matrix(&b, 1, true);
    memory.b_rest = descriptor_of(&b, &memory.b_at);
    memory.adds = 1;
    const char *const parts[] = {
        "C",
        "L",
        DESCRIPTORS,
        PROXY,
        BARRIER,
        FENCE,
        "P",
        "P",
        COMMIT,
        wait ? "wgmma.wait_group.sync.aligned 0;\n" : "wgmma.wait_group.sync.aligned 1;\n",
        "S",
        WAIT,
        NULL};
    if (run_text(module_of(parts), THREADS, error) != PTX_OK)
      fail_msg("%s", error);
    for (int t = 0; t < THREADS; t++) {
      float sum = element(2, row_of(t, 5), column_of(t, 5));
      for (int k = 0; k < DEPTH; k++)
        sum += 2 * element(0, row_of(t, 5), k + 100) * element(1, column_of(t, 5), k + 100);
      if (wait)
        assert_true(memory.out[5][t] == sum);
      else
        assert_memory_equal(&memory.out[5][t], &not_yet, sizeof not_yet);
    }
  }
}

/* ---- what is detected ---- */

#define READY "C", "L", DESCRIPTORS, PROXY, BARRIER
#define GO_ON "and.b32 %r9, %r1, 96;\nsetp.eq.u32 %p2, %r9, 32;\n" /* %p2: warp 1 */
#define SAME_UNIT                                                                                  \
  "ld.global.b32 %r7, [%d1+8192];\n@%p2 st.shared.b32 [%r2+8192], %r7;\n" /* what is there */

static const struct {
  const char *parts[20];
  ptx_result result;
  const char *message;
} wrong[] = {
    /* the async proxy, and order */
    {{"C", "L", DESCRIPTORS, BARRIER, FENCE, "P"}, PTX_FAULT, "with no fence.proxy.async between"},
    {{PROXY, "C", "L", DESCRIPTORS, BARRIER, FENCE, "P"}, PTX_FAULT, "with no fence.proxy.async"},
    {{READY, "setp.eq.u32 %p2, %r1, 0;\n", SAME_UNIT, PROXY, FENCE, "P"},
     PTX_FAULT,
     "was written by thread 0, with no barrier between"},
    {{"C", "L", DESCRIPTORS, BARRIER, PROXY, FENCE, "P", COMMIT, WAIT}, PTX_OK, ""},
    {{"L", DESCRIPTORS, FENCE, "P"}, PTX_FAULT, "is read before it was written"},
    {{READY, FENCE, "P", COMMIT, GO_ON, SAME_UNIT, WAIT},
     PTX_FAULT,
     "is read by a product that runs"},
    {{READY, FENCE, "P", COMMIT, WAIT, GO_ON, SAME_UNIT},
     PTX_FAULT,
     "was read by a product of warp 0, with no barrier between"},
    {{READY, FENCE, "P", COMMIT, WAIT, BARRIER, GO_ON, SAME_UNIT}, PTX_OK, ""},
    {{READY, FENCE, "P", COMMIT, BARRIER, GO_ON, SAME_UNIT, WAIT},
     PTX_FAULT,
     "is read by a product that runs"},
    /* registers */
    {{READY, "P"}, PTX_FAULT, "there is no wgmma.fence before the first product"},
    {{READY, FENCE, "mov.b32 %c7, 0;\n", "P"},
     PTX_FAULT,
     "a register of the product was written after the last wgmma.fence"},
    {{READY, FENCE, "mov.b32 %a2, 0;\n", "P"},
     PTX_FAULT,
     "a register of the product was written after the last wgmma.fence"},
    {{READY, FENCE, "P", COMMIT, WAIT, "P", COMMIT, WAIT}, PTX_OK, ""},
    {{READY, FENCE, "P", COMMIT, WAIT, "mov.b32 %c7, 0;\n", "P"},
     PTX_FAULT,
     "a register of the product was written after the last wgmma.fence"},
    {{READY, FENCE, "P", COMMIT, "mov.b32 %c7, 0;\n", WAIT},
     PTX_FAULT,
     "an accumulator was written before this wait"},
    {{READY, FENCE, "P", COMMIT, "mov.b32 %a2, 0;\n", WAIT},
     PTX_FAULT,
     "was written before this wait"},
    {{READY, FENCE, "P", COMMIT}, PTX_FAULT, "the warp ends before its products"},
    {{READY, FENCE, "P", WAIT}, PTX_FAULT, "the warp ends before its products"},
    /* descriptors */
    {{READY, FENCE, "add.u64 %d6, %d6, 7;\n", "P"},
     PTX_MISALIGNED,
     "does not begin in a row of 128 bytes"},
    {{READY, FENCE, "add.u64 %d6, %d6, 8;\n", "P"},
     PTX_MISALIGNED,
     "does not begin in the first row of 1024 bytes"},
    {{READY, FENCE, "add.u64 %d6, %d6, 0x100000000;\n", "P"}, PTX_MISALIGNED, "strides of 16 and"},
    {{READY, FENCE, "or.b64 %d6, %d6, 0x2000000000000;\n", "P"},
     PTX_FAULT,
     "base offset 1 of a descriptor"},
    {{READY, FENCE, "or.b64 %d6, %d6, 0x4000;\n", "P"}, PTX_FAULT, "has bits that mean nothing"},
    {{READY, FENCE, "or.b64 %d6, %d6, 0x3fc0;\n", "P"}, PTX_BAD_ADDRESS, "of shared memory, which"},
    /* threads together */
    {{READY, GO_ON, FENCE, "@%p2 bra $E;\n", "P", COMMIT, WAIT, "$E:\n"},
     PTX_FAULT,
     "others of the warpgroup execute this, this warp does not"},
    {{READY, GO_ON, FENCE, "@%p2 bra $E;\n", "P", "$E:\n", COMMIT, WAIT},
     PTX_FAULT,
     "others of the warpgroup execute line"},
    {{READY, GO_ON, FENCE, "@%p2 add.u64 %d6, %d6, 2;\n", "P"},
     PTX_FAULT,
     "others of the warpgroup have other descriptors"},
    {{READY, FENCE, "setp.eq.u32 %p2, %r1, 5;\n@%p2 add.u64 %d6, %d6, 2;\n", "P"},
     PTX_FAULT,
     "threads have different descriptors or predicates"},
    {{READY, FENCE, "setp.eq.u32 %p1, %r1, 5;\n", "P"},
     PTX_FAULT,
     "threads have different descriptors or predicates"},
    {{"setp.lt.u32 %p2, %r1, 16;\n@%p2 bra $E;\n", FENCE, "P", "$E:\n"},
     PTX_FAULT,
     "only threads 0xffff0000 of the warp take part"},
};

static void prepare(void) {
  layout b = {B_AT, 8, false, false, 64, 64, 0};
  memset(&memory, 0, sizeof memory);
  put_registers(true);
  put_matrix(&b, 1, true);
  memory.b_rest = descriptor_of(&b, &memory.b_at);
}

static void test_wrong(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char error[PTX_TEXT] = "";
    prepare();
    ptx_result got = run_text(module_of(wrong[i].parts), THREADS, error);
    if (got != wrong[i].result || !strstr(error, wrong[i].message))
      fail_msg("row %zu: %d \"%s\", expected %d \"%s\"", i, got, error, wrong[i].result,
               wrong[i].message);
  }
}

/* Rows that the table cannot have: other shapes, and other numbers of threads. */
static void test_shapes(void **state) {
  static char wide[1 << 12], scaled[1 << 12];
  char error[PTX_TEXT];
  (void)state;
  FILE *out = fmemopen(wide, sizeof wide, "w");
  print_product(out, 128, "f16", "{%a0, %a1, %a2, %a3}, %d6, %p1, 1, 1, 0");
  fclose(out);
  out = fmemopen(scaled, sizeof scaled, "w");
  print_product(out, 64, "f16", "{%a0, %a1, %a2, %a3}, %d6, %p1, 1, 2, 0");
  fclose(out);
  prepare();
  const char *const both[] = {READY, FENCE, "P", wide, NULL}, *const two[] = {READY, FENCE, scaled,
                                                                              NULL};
  layout b = {B_AT, 8, false, false, 128, 64, 0};
  put_matrix(&b, 1, true);
  assert_int_equal(run_text(module_of(both), THREADS, error), PTX_FAULT);
  assert_non_null(strstr(error, "another product that runs writes some of these registers"));
  assert_int_equal(run_text(module_of(two), THREADS, error), PTX_FAULT);
  assert_non_null(strstr(error, "a scale is 1 or -1"));
  assert_int_equal(run_text(module_of((const char *const[]){FENCE, "P", NULL}), 96, error),
                   PTX_FAULT);
  assert_non_null(strstr(error, "96 threads are no whole warpgroups"));
  /* fewer registers than the shape has, and a shape that the machine lacks */
  assert_null(
      ptx_load(module_of((const char *const[]){
                   "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%c0, %c1}, %d5, %d6, "
                   "%p1, 1, 1, 0, 0;\n",
                   NULL}),
               error));
  assert_non_null(strstr(error, "the operands do not fit"));
  assert_null(
      ptx_load(module_of((const char *const[]){
                   "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%c0, %c1, %c2, %c3}, "
                   "%d5, %d6, %p1, 1, 1, 0, 0;\n",
                   NULL}),
               error));
  assert_non_null(strstr(error, "'.mma_async' is not supported"));
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--print") == 0) {
    const product_case c = {
        .n = 128, .a = {.width = 8}, .b = {.width = 8}, .scale_a = 1, .scale_b = -1};
    fputs(product_text(&c), stdout);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_groups),
                                     cmocka_unit_test(test_wrong), cmocka_unit_test(test_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
