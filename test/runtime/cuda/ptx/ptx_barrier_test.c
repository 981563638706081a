/* Tests barriers of some threads of a CTA on the PTX machine, reductions at barriers, and registers
 * that warps exchange. `ptx_barrier_test --print` prints the module of the valid programs, to
 * validate it with an assembler. */
#define _GNU_SOURCE 1
#include "ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 128 };

/* %r1 is the thread; %r0 its result; %p1 is true in threads of warps 0 and 1, %p2 in odd threads,
 * %p3 in threads of warp 0. */
static const char prologue[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[512];\n"
    ".visible .entry k(.param .u64 results)\n.maxntid 128, 1, 1\n{\n.reg .pred %p<6>;\n.reg .b32 "
    "%r<8>;\n.reg .b64 %d<4>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r0, 0;\nld.param.u64 %d1, "
    "[results];\ncvta.to.global.u64 %d1, %d1;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, "
    "%d2;\nsetp.lt.u32 %p1, %r1, 64;\nand.b32 %r2, %r1, 1;\nsetp.ne.u32 %p2, %r2, 0;\nsetp.lt.u32 "
    "%p3, %r1, 32;\nmov.u32 %r3, tile;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r3, %r3, %r4;\n";
static const char epilogue[] = "st.global.u32 [%d1], %r0;\nret;\n}\n";

static uint32_t results[THREADS];

static char *module_of(const char *text) {
  static char all[1 << 13];
  snprintf(all, sizeof all, "%s%s%s", prologue, text, epilogue);
  return all;
}

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  (void)user;
  *begin = (uint64_t)(uintptr_t)results;
  *end = *begin + sizeof results;
  return address >= *begin && address < *end;
}

static ptx_result run(const char *text, char error[PTX_TEXT]) {
  uint64_t parameters[] = {(uint64_t)(uintptr_t)results};
  ptx_launch launch = {.grid = {1, 1, 1},
                       .block = {THREADS, 1, 1},
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

static uint32_t of_lower(uint32_t t) { return t < 64 ? 0 : t - 64; }
static uint32_t half(uint32_t t) { return (void)t, 64; }
static uint32_t one_in_lower(uint32_t t) { return t < 64; }
static uint32_t in_upper(uint32_t t) { return t >= 64; }
static uint32_t turns(uint32_t t) { return t < 64 ? 0 : 5 * (t - 64) + 10; }
static uint32_t all_one(uint32_t t) { return (void)t, 1; }

/* Warps 0 and 1 write for warps 2 and 3, five times, and do not wait for what they wrote to be read
 * before they have written the other half of the tile. */
#define TURNS                                                                                      \
  "mov.u32 %r5, 0;\n@!%p1 bra $READ;\n$WRITE:\nsetp.ge.u32 %p4, %r5, 2;\nand.b32 %r6, %r5, 1;\n"   \
  "add.u32 %r7, %r6, 3;\n@%p4 bar.sync %r7, 128;\nshl.b32 %r7, %r6, 8;\nadd.u32 %r7, %r7, %r3;\n"  \
  "add.u32 %r4, %r1, %r5;\nst.shared.u32 [%r7], %r4;\nadd.u32 %r6, %r6, 1;\nbar.arrive %r6, "      \
  "128;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, 5;\n@%p4 bra $WRITE;\nbra.uni "               \
  "$END;\n$READ:\n"                                                                                \
  "and.b32 %r6, %r5, 1;\nadd.u32 %r7, %r6, 1;\nbar.sync %r7, 128;\nshl.b32 %r7, %r6, 8;\nadd.u32 " \
  "%r7, %r7, %r3;\nld.shared.u32 %r4, [%r7+-256];\nadd.u32 %r0, %r0, %r4;\nsetp.lt.u32 %p4, %r5, " \
  "3;\nadd.u32 %r6, %r6, 3;\n@%p4 bar.arrive %r6, 128;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, "   \
  "%r5, 5;\n@%p4 bra $READ;\n$END:\n"

static const struct {
  const char *name, *text;
  uint32_t (*expected)(uint32_t thread);
} programs[] = {
    {"one side arrives, the other waits",
     "@%p1 st.shared.u32 [%r3], %r1;\n@%p1 bar.arrive 5, 128;\n@!%p1 bar.sync 5, 128;\n@!%p1 "
     "ld.shared.u32 %r0, [%r3+-256];\n",
     of_lower},
    {"barriers are used again at once", TURNS, turns},
    {"number of true", "bar.red.popc.u32 %r0, 0, %p2;\n", half},
    {"and, of some threads",
     "setp.ge.u32 %p5, %r1, 0;\n@!%p1 and.pred %p5, %p5, %p2;\n@%p1 bar.red.and.pred %p4, 1, 64, "
     "%p5;\n@!%p1 bar.red.and.pred %p4, 2, 64, %p5;\nselp.u32 %r0, 1, 0, %p4;\n",
     one_in_lower},
    {"or, negated",
     "@%p1 barrier.red.or.pred %p4, 1, 64, %p3;\n@!%p1 barrier.red.or.pred %p4, 2, "
     "64, !%p3;\n@%p1 bar.red.and.pred %p4, 1, 64, %p3;\nselp.u32 %r0, 1, 0, %p4;\n",
     in_upper},
    {"registers that others give back", "setmaxnreg.dec.sync.aligned.u32 24;\nmov.u32 %r0, 1;\n",
     all_one},
};

static void test_programs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    char error[PTX_TEXT];
    if (run(module_of(programs[i].text), error) != PTX_OK)
      fail_msg("%s: %s", programs[i].name, error);
    for (uint32_t t = 0; t < THREADS; t++)
      if (results[t] != programs[i].expected(t))
        fail_msg("%s: thread %u has %u, not %u", programs[i].name, t, results[t],
                 programs[i].expected(t));
  }
}

static const struct {
  const char *text, *message;
} wrong[] = {
    {"@%p1 bar.arrive 5, 128;\n@!%p1 bar.sync 5, 64;\n",
     "barrier 5 is for 64 threads here, and for 128 where others have arrived"},
    {"bar.sync 5, 80;\n", "80 threads are no whole warps"},
    {"mov.u32 %r2, 0;\nbar.arrive 5, %r2;\n", "bar.arrive needs a number of threads"},
    {"bar.arrive 16, 64;\n", "barrier 16 of 16"},
    {"@%p1 bar.arrive 5, 128;\n@!%p1 bar.red.or.pred %p4, 5, 128, %p2;\n",
     "barrier 5 reduces here or where others have arrived, not both"},
    {"@%p3 bar.arrive 5, 96;\n@%p3 bar.arrive 5, 96;\n@!%p3 bar.sync 5, 96;\n@!%p3 bar.sync 5, "
     "96;\n",
     "waits for threads that never come: 64 of 96 are at barrier 5"},
    {"@!%p1 bar.sync 5, 128;\n", "waits for threads that never come: 64 of 128 are at barrier 5"},
    /* a barrier of two warps orders nothing for the others */
    {"@%p3 st.shared.u32 [%r3], %r1;\n@%p1 bar.sync 5, 64;\nsetp.ge.u32 %p4, %r1, 96;\n@%p4 "
     "ld.shared.u32 %r0, [%r3+-384];\n",
     "was written by thread 0, with no barrier between"},
    /* nor one that the writer only passes later */
    {"@%p1 bar.arrive 5, 128;\n@%p1 st.shared.u32 [%r3], %r1;\n@!%p1 bar.sync 5, 128;\n@!%p1 "
     "ld.shared.u32 %r0, [%r3+-256];\n",
     "was written by thread 32, with no barrier between"},
    /* those that arrive learn nothing */
    {"@%p1 bar.arrive 5, 128;\n@!%p1 st.shared.u32 [%r3], %r1;\n@!%p1 bar.sync 5, 128;\n@!%p1 "
     "bar.sync 6, 64;\n@%p1 st.shared.u32 [%r3+256], %r1;\n",
     "with no barrier between"},
    {"setmaxnreg.dec.sync.aligned.u32 20;\n", "20 registers; from 24 to 256, by 8, are possible"},
    {"setmaxnreg.dec.sync.aligned.u32 28;\n", "28 registers; from 24 to 256"},
    {"setmaxnreg.inc.sync.aligned.u32 24;\n", "the warp has 256 registers"},
    {"setmaxnreg.dec.sync.aligned.u32 240;\nsetmaxnreg.dec.sync.aligned.u32 248;\n",
     "the warp has 240 registers"},
    {"setmaxnreg.dec.sync.aligned.u32 240;\n@!%p3 bra $E;\nsetmaxnreg.inc.sync.aligned.u32 "
     "256;\nsetmaxnreg.dec.sync.aligned.u32 240;\n$E:\nbar.sync 0;\n@%p3 bra $F;\n"
     "setmaxnreg.inc.sync.aligned.u32 256;\n$F:\n",
     ""},
};

static void test_wrong(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char error[PTX_TEXT] = "";
    ptx_result got = run(module_of(wrong[i].text), error);
    if ((got == PTX_OK) != !*wrong[i].message || !strstr(error, wrong[i].message))
      fail_msg("`%s`: %d \"%s\", expected \"%s\"", wrong[i].text, got, error, wrong[i].message);
  }
}

/* The registers of a CTA: 65536 / 1024 threads are 64 each. Those who want more wait until others
 * give theirs back, or for ever. */
static void test_registers(void **state) {
  static const char text[] =
      ".version 8.0\n.target sm_90a\n.entry k()\n%s\n{\n.reg .pred %%p<2>;\n.reg .b32 "
      "%%r<2>;\nmov.u32 %%r1, %%tid.x;\nsetp.lt.u32 %%p1, %%r1, 64;\n@%%p1 bra "
      "$MORE;\nsetmaxnreg.dec.sync.aligned.u32 %d;\nbra $E;\n$MORE:\n"
      "setmaxnreg.inc.sync.aligned.u32 104;\n$E:\nret;\n}\n";
  static const struct {
    const char *limit;
    int left;
    const char *message;
  } rows[] = {{".maxntid 1024, 1, 1", 24, ""},
              {".maxntid 512, 1, 1\n.minnctapersm 2", 24, ""},
              {".maxnreg 64", 24, ""},
              {".maxntid 1024, 1, 1", 32, "waits for registers that no warp gives back"},
              {"", 24, "needs .maxntid or .maxnreg"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char all[1024], error[PTX_TEXT] = "";
    ptx_launch launch = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .memory = {find, NULL}};
    snprintf(all, sizeof all, text, rows[i].limit, rows[i].left);
    ptx_module *module = ptx_load(all, error);
    if (!module)
      fail_msg("%s", error);
    ptx_result got = ptx_run(ptx_find(module, "k"), &launch, error);
    if ((got == PTX_OK) != !*rows[i].message || !strstr(error, rows[i].message))
      fail_msg("%s, %d left: %d \"%s\", expected \"%s\"", rows[i].limit, rows[i].left, got, error,
               rows[i].message);
    ptx_unload(module);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--print") == 0) {
    const char *text = strstr(prologue, ".visible");
    fwrite(prologue, 1, (size_t)(text - prologue), stdout);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
      printf(".visible .entry k%zu%s%s%s", i, text + strlen(".visible .entry k"), programs[i].text,
             epilogue);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs), cmocka_unit_test(test_wrong),
                                     cmocka_unit_test(test_registers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
