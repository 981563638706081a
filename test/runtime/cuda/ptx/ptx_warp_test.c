/* Tests the cooperation of threads on the PTX machine, and everything that it detects or rejects.
 * `ptx_warp_test --print` prints the module of the valid programs, to validate it with an
 * assembler. */
#define _GNU_SOURCE 1
#include "ptx.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4096, LIMIT = 1000000 };

/* A test program. %r1 has the thread number, %r2 the number in the warp, %d1 the address of its
 * one-word result, %d2 the address of all results, which the parameter `results` has. It leaves the
 * result in %r0. */
typedef struct program {
  const char *name, *text;
  uint32_t n_threads, n_ctas;
  uint32_t (*expected)(uint32_t thread); /* counted over all CTAs */
} program;

static uint32_t swapped(uint32_t t) { return t ^ 1; }
static uint32_t before(uint32_t t) { return t % 32 == 0 ? t : t - 1; }
static uint32_t after_by_8(uint32_t t) { return t % 8 < 6 ? t + 2 : t; }
static uint32_t third(uint32_t t) { return t / 32 * 32 + 3; }
static uint32_t odd_lanes(uint32_t t) { return (void)t, 0xaaaaaaaa; }
static uint32_t lower_half(uint32_t t) { return t % 32 < 16 ? 0xffff : 0xffff0000; }
static uint32_t votes(uint32_t t) { return t < 32 ? 1 + 0 + 4 : 1 + 2 + 0; }
static uint32_t warp_sum(uint32_t t) { return t / 32 * 32 * 32 + 496; }
static uint32_t smallest(uint32_t t) { return (uint32_t)(-(int)(t % 32 > 15 ? 31 : 15)); }
static uint32_t rotated(uint32_t t) { return t / 64 * 64 + (t % 64 + 1) % 64; }
static uint32_t ways(uint32_t t) { return t % 3 == 0 ? 100 + t : t % 3 == 1 ? 200 + t : 300 + t; }
static uint32_t triangle(uint32_t t) { return t * (t + 1) / 2; }
static uint32_t gone(uint32_t t) { return t % 2 ? 0xdeadbeef : t / 2 * 2; }
static uint32_t place(uint32_t t) { return t; }
static uint32_t pair(uint32_t t) { return t % 2 ? 2 : 1; }
static uint32_t met(uint32_t t) { return (void)t, UINT32_MAX; }
static uint32_t first_and_others(uint32_t t) { return t < 32 ? 7 : 9; }
static uint32_t dynamic(uint32_t t) { return 31 - t; }
static uint32_t matched(uint32_t t) { return 0x11111111u << t % 4; }
static uint32_t all_of_64(uint32_t t) { return (void)t, 64; }

static const program programs[] = {
    {"bfly", "shfl.sync.bfly.b32 %r0|%p1, %r1, 1, 31, -1;", 64, 1, swapped},
    {"up", "shfl.sync.up.b32 %r0, %r1, 1, 0, -1;", 64, 1, before},
    {"down", "shfl.sync.down.b32 %r0|%p1, %r1, 2, 0x181f, 0xffffffff;", 64, 1, after_by_8},
    {"idx", "mov.u32 %r3, 3;\nshfl.sync.idx.b32 %r0, %r1, %r3, 31, -1;", 64, 1, third},
    {"ballot", "and.b32 %r3, %r1, 1;\nsetp.ne.u32 %p1, %r3, 0;\nvote.sync.ballot.b32 %r0, %p1, -1;",
     64, 1, odd_lanes},
    {"votes",
     "setp.ge.u32 %p1, %r1, 0;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;\n"
     "setp.eq.u32 %p1, %r1, 40;\nvote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r3, 2, 0, "
     "%p2;\nadd.u32 %r0, %r0, %r3;\n"
     "vote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r3, 4, 0, %p2;\nadd.u32 %r0, %r0, %r3;",
     64, 1, votes},
    {"redux_add", "redux.sync.add.u32 %r0, %r1, -1;", 64, 1, warp_sum},
    {"redux_min", /* each half of a warp separately */
     "neg.s32 %r3, %r2;\nsetp.lt.u32 %p1, %r2, 16;\nselp.b32 %r4, 0xffff, 0xffff0000, "
     "%p1;\nredux.sync.min.s32 %r0, %r3, %r4;",
     32, 1, smallest},
    {"match", "and.b32 %r3, %r1, 3;\nmatch.any.sync.b32 %r0, %r3, -1;", 32, 1, matched},
    {"active", /* of divergent threads, those on the same path */
     "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra $AC_low;\nactivemask.b32 %r0;\nbra "
     "$AC_end;\n$AC_low:\nactivemask.b32 %r0;\n$AC_end:",
     32, 1, lower_half},
    {"reconverged", /* and after reconvergence */
     "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra $RE_low;\nmov.u32 %r3, 1;\nbra "
     "$RE_end;\n$RE_low:\nmov.u32 %r3, 2;\n$RE_end:\n"
     "activemask.b32 %r0;",
     32, 1, met},
    {"shared_ring",
     "shl.b32 %r3, %r1, 2;\nmov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], "
     "%r1;\nbar.sync 0;\n"
     "add.u32 %r5, %r1, 1;\nand.b32 %r5, %r5, 63;\nshl.b32 %r5, %r5, 2;\nmov.u32 %r6, "
     "tile;\nadd.u32 %r6, %r6, %r5;\n"
     "ld.shared.u32 %r0, [%r6];\nmov.u32 %r7, %ctaid.x;\nmad.lo.u32 %r0, %r7, 64, %r0;",
     64, 3, rotated},
    {"three_ways",
     "rem.u32 %r3, %r1, 3;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra $TH_a;\nsetp.eq.u32 %p1, %r3, "
     "1;\n@%p1 bra $TH_b;\n"
     "add.u32 %r0, %r1, 300;\nbra $TH_end;\n$TH_a:\nadd.u32 %r0, %r1, 100;\nbra "
     "$TH_end;\n$TH_b:\nadd.u32 %r0, %r1, "
     "200;\n$TH_end:",
     96, 1, ways},
    {"loops", /* of different lengths */
     "mov.u32 %r0, 0;\nmov.u32 %r3, 0;\n$LO_head:\nadd.u32 %r0, %r0, %r3;\nadd.u32 %r3, %r3, "
     "1;\nsetp.le.u32 %p1, %r3, %r1;\n"
     "@%p1 bra $LO_head;",
     64, 1, triangle},
    {"ended", /* threads that have ended do not count */
     "and.b32 %r3, %r1, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 ret;\nbar.sync 0;\nshfl.sync.idx.b32 "
     "%r3, %r1, 0, 31, -1;\n"
     "add.u32 %r0, %r2, %r3;",
     64, 1, gone},
    {"dimensions",
     "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.u32 %r0, %r3, "
     "%r4, %r5;\nmov.u32 %r6, "
     "%nctaid.x;\n"
     "setp.ne.u32 %p1, %r6, 5;\n@%p1 mov.u32 %r0, 0;",
     40, 5, place},
    /* within a warp: a thread waits for its neighbor, which is behind it in the program */
    {"handshake",
     "and.b32 %r3, %r1, 1;\nshr.u32 %r4, %r1, 1;\nmul.wide.u32 %d3, %r4, 8;\nadd.u64 %d3, %d2, "
     "%d3;\nsetp.ne.u32 %p1, %r3, 0;\n"
     "@%p1 bra $HA_odd;\n$HA_wait:\nld.acquire.gpu.global.u32 %r5, [%d3+4];\nsetp.ne.u32 %p2, %r5, "
     "2;\n@%p2 bra $HA_wait;\n"
     "mov.u32 %r0, 1;\nbra $HA_end;\n$HA_odd:\nst.release.gpu.global.u32 [%d3+4], 2;\nmov.u32 %r0, "
     "2;\n$HA_end:",
     32, 1, pair},
    {"between_ctas", /* CTA 0 waits for CTA 1 */
     "mov.u32 %r3, %ctaid.x;\nsetp.ne.u32 %p1, %r3, 0;\nmov.u32 %r6, 7;\n@%p1 bra "
     "$BE_second;\n$BE_wait:\nnanosleep.u32 20;\n"
     "ld.acquire.sys.global.u32 %r4, [%d1+8320];\nsetp.ne.u32 %p2, %r4, 9;\n@%p2 bra "
     "$BE_wait;\nbra $BE_end;\n$BE_second:\n"
     "mov.u32 %r6, 9;\nst.release.sys.global.u32 [%d1+8192], %r6;\n$BE_end:\nmov.u32 %r0, %r6;",
     32, 4, first_and_others},
    {"dynamic_shared",
     "mov.u32 %r3, more;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r5, %r3, %r4;\nst.shared.u32 [%r5], "
     "%r1;\nbarrier.sync.aligned 1, "
     "32;\n"
     "sub.u32 %r6, 124, %r4;\nadd.u32 %r6, %r6, %r3;\nld.shared.u32 %r0, [%r6];",
     32, 1, dynamic},
    {"warp_barrier", /* orders shared memory within a warp */
     "shl.b32 %r3, %r1, 2;\nmov.u32 %r4, tile;\nadd.u32 %r5, %r4, %r3;\nst.shared.u32 [%r5], "
     "%r1;\nbar.warp.sync -1;\n"
     "xor.b32 %r3, %r3, 4;\nadd.u32 %r5, %r4, %r3;\nld.shared.u32 %r0, [%r5];",
     32, 1, swapped},
    {"counter", /* atomic operations on shared memory are no races */
     "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], 0;\nbar.sync 0;\natom.shared.add.u32 "
     "%r3, [tile], 1;\nbar.sync 0;\n"
     "ld.shared.u32 %r0, [tile];",
     64, 1, all_of_64},
};

static const char prologue[] = ".visible .entry %s(.param .u64 results)\n{\n.reg .pred "
                               "%%p<4>;\n.reg .b32 %%r<10>;\n.reg .b64 %%d<6>;\n"
                               "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%laneid;\nld.param.u64 "
                               "%%d2, [results];\ncvta.to.global.u64 %%d2, %%d2;\n"
                               "mov.u32 %%r8, %%ctaid.x;\nmov.u32 %%r9, %%ntid.x;\nmad.lo.u32 "
                               "%%r9, %%r8, %%r9, %%r1;\nmul.wide.u32 %%d1, %%r9, 4;\n"
                               "add.u64 %%d1, %%d2, %%d1;\n";
static const char epilogue[] = "\nst.global.u32 [%d1], %r0;\nret;\n}\n";
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[256];\n"
    ".extern .shared .align 16 .b8 more[];\n";

static void print_program(FILE *out, const char *name, const char *text) {
  fprintf(out, prologue, name);
  fputs(text, out);
  fputs(epilogue, out);
}

static void print_module(FILE *out) {
  fputs(head, out);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    print_program(out, programs[i].name, programs[i].text);
}

/* ---- Execution ---- */

static uint32_t results[MOST];

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  (void)user;
  *begin = (uint64_t)(uintptr_t)results;
  *end = *begin + sizeof results;
  return address >= *begin && address < *end;
}

static ptx_launch launch_of(uint32_t n_threads, uint32_t n_ctas, const uint64_t *parameters) {
  return (ptx_launch){.grid = {n_ctas, 1, 1},
                      .block = {n_threads, 1, 1},
                      .shared_bytes = 128,
                      .parameters = parameters,
                      .memory = {find, NULL},
                      .n_resident = 4,
                      .most_rounds = LIMIT};
}

static ptx_module *load(const char *text) {
  char error[PTX_TEXT];
  ptx_module *module = ptx_load(text, error);
  if (!module)
    fail_msg("%s", error);
  return module;
}

static void test_programs(void **state) {
  char *text, error[PTX_TEXT];
  size_t size;
  int errors = 0;
  (void)state;
  FILE *out = open_memstream(&text, &size);
  print_module(out);
  fclose(out);
  ptx_module *module = load(text);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    const program *p = &programs[i];
    uint64_t parameters[] = {(uint64_t)(uintptr_t)results};
    ptx_launch launch = launch_of(p->n_threads, p->n_ctas, parameters);
    for (int k = 0; k < MOST; k++)
      results[k] = 0xdeadbeef;
    if (ptx_run(ptx_find(module, p->name), &launch, error) != PTX_OK) {
      fprintf(stderr, "%s\n", error);
      errors++;
      continue;
    }
    for (uint32_t t = 0; t < p->n_threads * p->n_ctas; t++)
      if (results[t] != p->expected(t)) {
        fprintf(stderr, "%s: thread %u: %u, expected %u\n", p->name, t, results[t], p->expected(t));
        errors++;
        break;
      }
  }
  assert_int_equal(errors, 0);
  ptx_unload(module);
  free(text);
}

/* ---- Errors of programs ---- */

static const struct {
  const char *text;
  ptx_result result;
  const char *message;
} wrong[] = {
    {"ld.global.u32 %r0, [%d2+-4];", PTX_BAD_ADDRESS,
     "bad, CTA (0,0,0), thread (0,0,0), line 20: `ld.global.u32 %r0, [%d2+-4]`: address 0x"},
    {"ld.global.u32 %r0, [%d2+-4];", PTX_BAD_ADDRESS, "is in no allocation"},
    {"setp.eq.u32 %p1, %r1, 37;\n@%p1 ld.global.u32 %r0, [16];", PTX_BAD_ADDRESS,
     "thread (37,0,0), line 21: `@%p1 ld.global.u32 %r0, [16]`: address 0x10 is in no allocation"},
    {"ld.global.v4.u32 {%r0, %r3, %r4, %r5}, [%d2+16376];", PTX_MISALIGNED, "is no multiple of 16"},
    {"st.u64 [%d2+16380], %d1;", PTX_MISALIGNED, "is no multiple of 8"},
    {"ld.u32 %r0, [%d2+16384];", PTX_BAD_ADDRESS, "is in no allocation"},
    {"st.shared.u32 [tile+256], %r1;", PTX_BAD_ADDRESS,
     "4 bytes at 256 of shared memory, which has 256, and 128 of dynamic"},
    {"st.shared.u32 [more+128], %r1;", PTX_BAD_ADDRESS,
     "of shared memory, which has 256, and 128 of dynamic"},
    {"ld.param.u32 %r0, [results+8];", PTX_BAD_ADDRESS,
     "4 bytes at 8 of parameter memory, which has 8"},
    {".local .b8 depot[8];\nst.local.u32 [depot+8], %r1;", PTX_BAD_ADDRESS,
     "4 bytes at 8 of local memory, which has 8"},
    {"mov.u64 %d3, results;\ncvta.param.u64 %d3, %d3;\nst.u32 [%d3], %r1;", PTX_BAD_ADDRESS,
     "parameters are not written"},
    {"ld.shared.u32 %r0, [tile];", PTX_FAULT, "shared memory at 0 is read before it was written"},
    /* Races: in a warp, between warps, between a read and a write. */
    {"st.shared.u32 [tile], %r1;", PTX_FAULT,
     "shared memory at 0 was written by thread 0, with no barrier between"},
    {"shl.b32 %r3, %r1, 2;\nmov.u32 %r4, tile;\nadd.u32 %r5, %r4, %r3;\nst.shared.u32 [%r5], "
     "%r1;\nxor.b32 %r3, %r3, 4;\n"
     "add.u32 %r5, %r4, %r3;\nld.shared.u32 %r0, [%r5];",
     PTX_FAULT, "shared memory at 4 was written by thread 1, with no barrier between"},
    {"shl.b32 %r3, %r1, 2;\nmov.u32 %r4, tile;\nadd.u32 %r5, %r4, %r3;\nst.shared.u32 [%r5], "
     "%r1;\nbar.warp.sync -1;\n"
     "xor.b32 %r3, %r3, 128;\nadd.u32 %r5, %r4, %r3;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 "
     "ld.shared.u32 %r0, [%r5];",
     PTX_FAULT, "was written by thread 0, with no barrier between"},
    {"setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], 5;\nbar.sync 0;\nld.shared.u32 %r0, "
     "[tile];\nsetp.eq.u32 %p1, %r1, "
     "40;\n"
     "@%p1 st.shared.u32 [tile], 6;",
     PTX_FAULT, "shared memory at 0 was read by other threads, with no barrier between"},
    {"setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], 5;\nbar.sync 0;\n@%p1 ld.shared.u32 "
     "%r0, [tile];\n"
     "setp.eq.u32 %p1, %r1, 40;\n@%p1 st.shared.u32 [tile], 6;",
     PTX_FAULT, "shared memory at 0 was read by thread 0, with no barrier between"},
    /* Deadlocks. */
    {"setp.lt.u32 %p1, %r2, 16;\n@%p1 bra $W;\nbar.sync 0;\nbra $E;\n$W:\nbar.sync 0;\n$E:",
     PTX_FAULT, "threads of one warp wait at different barriers"},
    {"setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $W;\nbar.sync 0;\nbra $E;\n$W:\nbar.sync 1;\n$E:",
     PTX_FAULT, "waits for threads that never come"},
    {"bar.sync 0, 96;", PTX_FAULT, "waits for threads that never come"},
    {"bar.sync 16;", PTX_FAULT, "barrier 16 of 16"},
    {"setp.lt.u32 %p1, %r2, 16;\n@%p1 bra $W;\nbar.sync 0;\nbra $E;\n$W:\nshfl.sync.bfly.b32 %r0, "
     "%r1, 1, 31, -1;\n$E:",
     PTX_FAULT, "waits for threads that never come"},
    {"shfl.sync.idx.b32 %r0, %r1, 0, 31, 0xfffffffe;", PTX_FAULT,
     "the thread is not in its own mask 0xfffffffe"},
    {"setp.eq.u32 %p1, %r2, 5;\n@%p1 ret;\nshfl.sync.idx.b32 %r0, %r1, 5, 31, -1;", PTX_FAULT,
     "reads from thread 5 of the warp, which does not take part"},
    {"$T: .branchtargets $A, $B;\nbrx.idx %r1, $T;\n$A:\n$B:", PTX_FAULT,
     "thread (2,0,0), line 21: `brx.idx %r1, $T`: entry 2 of 2"},
    {"$F:\nbra $F;", PTX_FAULT, "no end after 1000000 instructions of warps"},
    {"setp.eq.u32 %p1, %r1, 3;\n@%p1 trap;", PTX_FAULT,
     "thread (3,0,0), line 21: `@%p1 trap`: the program stops itself"},
};

static void test_wrong_programs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *text, error[PTX_TEXT] = "";
    size_t size;
    uint64_t parameters[] = {(uint64_t)(uintptr_t)results};
    FILE *out = open_memstream(&text, &size);
    fputs(head, out);
    print_program(out, "bad", wrong[i].text);
    fclose(out);
    ptx_module *module = load(text);
    ptx_launch launch = launch_of(64, 1, parameters);
    ptx_result got = ptx_run(ptx_find(module, "bad"), &launch, error);
    if (got != wrong[i].result || !strstr(error, wrong[i].message))
      fail_msg("`%s`: %d \"%s\", expected %d \"%s\"", wrong[i].text, got, error, wrong[i].result,
               wrong[i].message);
    ptx_unload(module);
    free(text);
  }
}

/* A failing CTA ends those that wait for it. */
static void test_others_end(void **state) {
  char *text, error[PTX_TEXT];
  size_t size;
  uint64_t parameters[] = {(uint64_t)(uintptr_t)results};
  (void)state;
  FILE *out = open_memstream(&text, &size);
  fputs(head, out);
  print_program(
      out, "bad",
      "mov.u32 %r3, %ctaid.x;\nsetp.eq.u32 %p1, %r3, 2;\n@%p1 trap;\n$W:\n"
      "ld.acquire.gpu.global.u32 %r4, [%d2+4000];\nsetp.ne.u32 %p2, %r4, 1;\n@%p2 bra $W;");
  fclose(out);
  ptx_module *module = load(text);
  ptx_launch launch = launch_of(32, 4, parameters);
  launch.most_rounds = 0;
  memset(results, 0, sizeof results);
  assert_int_equal(ptx_run(ptx_find(module, "bad"), &launch, error), PTX_FAULT);
  assert_non_null(strstr(error, "CTA (2,0,0)"));
  ptx_unload(module);
  free(text);
}

/* ---- Rejected modules ---- */

#define EIGHT "%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, "
static const struct {
  const char *text, *message;
} refused[] = {
    {"frobnicate.b32 %r0, %r1;",
     "line 20: `frobnicate.b32 %r0, %r1`: the operation is not supported"},
    {"wgmma.mma_async.sync %r0;", "'.mma_async' is not supported"},
    {"add.s32.foo %r0, %r1, %r2;", "'.foo' is not supported"},
    {"add.s8 %r0, %r1, %r2;", "not supported for this type"},
    {"add.rn.s32 %r0, %r1, %r2;", "not supported with these modifiers"},
    {"add.s32 %r0, %r1;", "the operands do not fit"},
    {"add.s32 %r0, %d1, %r2;", "the operands do not fit"},
    {"add.u64 %d1, %d1, %r2;", "the operands do not fit"},
    {"ld.global.v2.u32 %r0, [%d1];", "the operands do not fit"},
    {"ld.global.u32 %r0, %d1;", "the operands do not fit"},
    {"setp.lt.u32 %r0, %r1, %r2;", "the operands do not fit"},
    {"setp.lt.and.u32 %p1, %r1, %r2;", "the operands do not fit"},
    {"bra $NOWHERE;", "line 20: there is no label '$NOWHERE'"},
    {"$A:\nbrx.idx %r1, $A;", "'$A' is no list of branch targets"},
    {"$A:\n$A:", "the label '$A' stands there twice"},
    {"ld.global.u32 %r0, [nothing];", "'nothing' is no register and no variable"},
    {"ld.global.u32 %r0, [%p1];", "a predicate is no address"},
    {"@%r1 mov.u32 %r0, 1;", "'%r1' is no predicate"},
    {"shfl.sync.bfly.b32 %r0|%r1, %r1, 1, 31, -1;", "'%r1' is no predicate"},
    {"call.uni (%r0), helper, (%r1);", "calls are not supported"},
    {"mov.u32 %r0 %r1;", "';' expected, not '%r1'"},
    {"mov.u32 %r0, {%r1, %r1, %r1, %r1, %r1};", "the operands do not fit"},
    {"mov.u32 %r0, {" EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT "%r1};",
     "a vector of more than 64"},
    {"fma.rn.f32 %r0, %r1, %r1, %r1, %r1, %r1, %r1;", "the operands do not fit"},
    {"fma.rn.f32 " EIGHT "%r1;", "has more than 8 operands"},
    {".reg .texref %t;", "registers of type '.texref' are not supported"},
    {".local .v4 .b32 x;", "'.v4' of a variable is not supported"},
    {".local .align 4 x;", "the variable 'x' has no type"},
    {".shared .b32 x[2] = {1, 2};", "initial values of 'x', which is not in global memory"},
    {".callprototype x;", "the directive '.callprototype' is not supported"},
};

static const struct {
  const char *text, *message;
} bad_modules[] = {
    {"nonsense", "line 1: 'nonsense' is not supported"},
    {".version 8.0\n.global .u32 x = y;",
     "line 2: initial values are numbers; 'y' is not supported"},
    {".global .u32 x[2] = {1, 2, 3};", "more initial values than the variable has room for"},
    {".extern .global .u32 x;", "'x' of another module is not supported"},
    {".global .u32 x", "';' expected, not ''"},
    {".global .align y .u32 x;", "a number expected, not 'y'"},
    {".extern .shared .align 256 .b8 x[];",
     "'x' is aligned to 256 bytes; at most 128 are supported"},
    {".entry k()\n{\n ret;", "line 3: '}' is missing"},
    {".entry k(.reg .u32 x)\n{\n}", "'.param' expected, not '.reg'"},
    {".entry k()\n.cluster 2\n{\n}", "the directive '.cluster' is not supported"},
    {".func f(.param .u32 x)\n{\n", "'}' is missing"},
};

static void test_refused(void **state) {
  char error[PTX_TEXT];
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(head, out);
    print_program(out, "bad", refused[i].text);
    fclose(out);
    if (ptx_load(text, error) || !strstr(error, refused[i].message))
      fail_msg("`%s`: \"%s\", expected \"%s\"", refused[i].text, error, refused[i].message);
    free(text);
  }
  for (size_t i = 0; i < sizeof bad_modules / sizeof *bad_modules; i++)
    if (ptx_load(bad_modules[i].text, error) || !strstr(error, bad_modules[i].message))
      fail_msg("`%s`: \"%s\", expected \"%s\"", bad_modules[i].text, error, bad_modules[i].message);
}

static void test_refused_launches(void **state) {
  static const struct {
    ptx_launch launch;
    const char *message;
  } rows[] = {
      {{.grid = {1, 1, 1}, .block = {0, 1, 1}}, "a grid of 1 CTAs of 0 threads"},
      {{.grid = {1, 0, 1}, .block = {32, 1, 1}}, "a grid of 0 CTAs"},
      {{.grid = {1, 1, 1}, .block = {128, 1, 1}},
       "1 CTAs of 128 threads; at most 64 threads are possible"},
      {{.grid = {1, 1, 1}, .block = {32, 1, 1}},
       "CTAs of 32x1x1 threads; the kernel is for 64x1x1"},
      {{.grid = {1, 70000, 1}, .block = {64, 1, 1}}, "a grid of 1x70000x1"},
      {{.grid = {1, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 300000},
       "64 bytes of shared memory and 300000 of dynamic"},
      {{.grid = {1, 1, 1}, .block = {64, 1, 1}}, "no parameters"},
  };
  static const ptx_launch both = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 16};
  char error[PTX_TEXT];
  (void)state;
  ptx_module *module = load(
      ".visible .global .align 8 .b8 table[3] = {1, 2, 3};\n"
      ".entry k(.param .u32 a, .param .u64 .ptr .global .align 16 b, .param .align 4 .b8 c[6])\n"
      ".maxntid 64, 1, 1\n.reqntid 64, 1, 1\n{\n.shared .b8 own[64];\nret;\n}\n");
  const ptx_kernel *k = ptx_find(module, "k");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (ptx_run(k, &rows[i].launch, error) != PTX_BAD_LAUNCH || !strstr(error, rows[i].message))
      fail_msg("\"%s\", expected \"%s\"", error, rows[i].message);
  ptx_module *wide = load(".entry k()\n{\n.shared .b8 own[20000];\nret;\n}\n");
  assert_int_equal(ptx_run(ptx_find(wide, "k"), &both, error), PTX_BAD_LAUNCH);
  assert_non_null(strstr(error, "20000 bytes of shared memory; beside dynamic memory there are"));
  ptx_unload(wide);
  /* Other properties of a module. */
  size_t bytes;
  assert_null(ptx_find(module, "other"));
  assert_int_equal(ptx_n_parameters(k), 3);
  assert_int_equal(ptx_parameter(k, 1, &bytes), 8);
  assert_int_equal(bytes, 8);
  assert_int_equal(ptx_parameter(k, 2, &bytes), 16);
  assert_int_equal(bytes, 6);
  assert_int_equal(ptx_parameter_bytes(k), 22);
  const unsigned char *table =
      (const unsigned char *)(uintptr_t)ptx_variable(module, "table", &bytes);
  assert_int_equal(bytes, 3);
  assert_int_equal(table[0] + table[1] + table[2], 6);
  assert_int_equal(ptx_variable(module, "chair", &bytes), 0);
  ptx_unload(module);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--print") == 0) {
    print_module(stdout);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_programs),         cmocka_unit_test(test_wrong_programs),
      cmocka_unit_test(test_others_end),       cmocka_unit_test(test_refused),
      cmocka_unit_test(test_refused_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
