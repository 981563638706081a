/* Tests attention of programs on a GPU. Usage:
 *   attention cases                        every case of the table, twice: against f64, and bitwise
 *                                          equal
 *   attention time TOKENS TFLOP/s GB/s     causal attention of a Llama layer in bf16: 32 heads of
 *                                          128 features, in groups of 4; beside its arithmetic and
 *                                          its bytes
 *
 * Exit status: 0, 1 after "wrong" on stderr, 77 without a GPU. The last line on stdout is a JSON
 * object. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/kernels/attention_cases.h"
#include "test/runtime/harness/device.h"
#include "test/runtime/harness/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tprt/tprt.h"

static void need(tprt_status status) {
  if (status == TPRT_OK)
    return;
  fprintf(stderr, "wrong: %s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

/* A program with one attention, and its operands on the GPU. */
typedef struct program {
  tprt_context *context;
  test_table table;
  tprt_abi_fused_attention words;
  attention_memory host;
  void *device[TPRT_ATTENTION_TENSORS + 1]; /* the last one is the position */
  fused_pointers pointers;
} program;

static void *upload(const program *p, const void *from, size_t bytes) {
  void *memory;
  need(tprt_context_alloc(p->context, bytes, &memory));
  need(tprt_context_upload(p->context, memory, from, bytes));
  return memory;
}

static program begin(tprt_comm *world, const attention_case *c) {
  static const tprt_operand roles[] = {TPRT_IN_QUERIES, TPRT_IN_KEYS, TPRT_IN_VALUES, TPRT_IN_MASK,
                                       TPRT_OUT_TENSOR};
  static const int64_t one = 1;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  const int64_t shape[] = {c->batch, c->heads * c->group * c->rows, c->features};
  program p = {.table = table_make(1, &one), .words = attention_words(c)};
  need(tprt_context_create(world, &config, &p.context));
  attention_fill(c, &p.host);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    if (p.host.of[x]) {
      p.device[x] = upload(&p, p.host.of[x], p.host.bytes[x]);
      p.pointers.of[roles[x]][0] = p.device[x];
      if (x != TPRT_ATTENTION_OUT)
        add_input(&p.words.operands, roles[x]);
    }
  if (c->position_dtype) {
    p.device[TPRT_ATTENTION_TENSORS] = upload(&p, &p.host.position, sizeof p.host.position);
    p.pointers.of[TPRT_IN_POSITION][0] = p.device[TPRT_ATTENTION_TENSORS];
    add_input(&p.words.operands, TPRT_IN_POSITION);
  }
  add_output(&p.words.operands, TPRT_OUT_TENSOR);
  table_site(&p.table, TPRT_SITE_FUSED_ATTENTION, c->dtype, TPRT_NO_REDUCTION, 0, NULL, 3, shape,
             &p.words, N_WORDS_OF(tprt_abi_fused_attention));
  table_header(&p.table)->target = TPRT_TARGET_CUDA;
  need((tprt_status)tprt_abi_enter(p.context, p.table.words));
  return p;
}

static void call(const program *p) {
  need((tprt_status)call_fused(p->context, 0, &p->words.operands, &p->pointers));
}

static void end(program *p) {
  for (int x = 0; x <= TPRT_ATTENTION_TENSORS; x++)
    tprt_context_free(p->context, p->device[x]);
  attention_free(&p->host);
  tprt_context_destroy(p->context);
  table_free(&p->table);
}

/* What distinguishes results of the kernels for compute capability 9.0. */
static const char *kernels_name(void) {
  const char *setting = getenv("TPRT_HOPPER_ATTENTION");
  return setting && strcmp(setting, "1") == 0 ? "-hopper" : "";
}

static int run_cases(tprt_comm *world) {
  int errors = 0;
  for (int i = 0; i < n_attention_cases; i++) {
    const attention_case *c = &attention_cases[i];
    program p = begin(world, c);
    void *out = p.host.of[TPRT_ATTENTION_OUT], *first = malloc(p.host.bytes[TPRT_ATTENTION_OUT]);
    size_t bytes = p.host.bytes[TPRT_ATTENTION_OUT];
    for (int turn = 0; turn < 2; turn++) {
      call(&p);
      need(tprt_context_download(p.context, out, p.device[TPRT_ATTENTION_OUT], bytes));
      errors += attention_errors(c, &p.host, "GPU");
      if (turn && memcmp(first, out, bytes) != 0) {
        fprintf(stderr, "wrong: %s has other bits the second time\n", c->name);
        errors++;
      }
      memcpy(first, out, bytes);
    }
    free(first);
    end(&p);
  }
  printf("{\"test\": \"attention%s\", \"calls\": %d, \"errors\": %d}\n", kernels_name(),
         2 * n_attention_cases, errors);
  return errors != 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int run_time(tprt_comm *world, int64_t tokens, double tflops, double bandwidth) {
  enum { WARM = 3, CALLS = 20 };
  const attention_case c = {.name = "time",
                            .dtype = TPRT_BF16,
                            .batch = 1,
                            .heads = 8,
                            .group = 4,
                            .rows = tokens,
                            .columns = tokens,
                            .features = 128,
                            .values = 128,
                            .layout = HEADS_INSIDE,
                            .causal = true,
                            .hidden = -INFINITY};
  program p = begin(world, &c);
  double begun = 0, flops = 2.0 * 32 * (double)tokens * (double)tokens * 256 / 2, bytes = 0;
  for (int i = 0; i < WARM + CALLS; i++) {
    if (i == WARM) {
      need(tprt_context_synchronize(p.context));
      begun = now();
    }
    call(&p);
  }
  need(tprt_context_synchronize(p.context));
  double us = (now() - begun) / CALLS * 1e6;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    bytes += (double)p.host.bytes[x];
  printf("{\"test\": \"attention%s-time\", \"tokens\": %lld, \"us\": %.2f, \"arithmetic_us\": "
         "%.2f, \"bytes_us\": %.2f}\n",
         kernels_name(), (long long)tokens, us, flops / tflops * 1e-6, bytes / bandwidth * 1e-3);
  end(&p);
  return 0;
}

int main(int argc, char **argv) {
  tprt_comm *world;
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  bool times = argc == 5 && strcmp(argv[1], "time") == 0;
  if (!times && !(argc == 2 && strcmp(argv[1], "cases") == 0)) {
    fprintf(stderr, "usage: %s cases | time TOKENS TFLOP/s GB/s\n", argv[0]);
    return 2;
  }
  if (device_open() != 0)
    return 77;
  need(tprt_world_create_threads(1, &config, &world));
  int status =
      times ? run_time(world, atoll(argv[2]), atof(argv[3]), atof(argv[4])) : run_cases(world);
  tprt_comm_destroy(world);
  return status;
}
