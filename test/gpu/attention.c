/* Tests attention of programs, and its gradient, on a GPU. Usage:
 *   attention cases [small]                runs every case of the table twice: both runs must give
 *                                          the same bits, and agree with f64
 *   attention gradients                    the same for statistics of rows and gradients
 *   attention time TOKENS TFLOP/s GB/s     causal attention of a Llama layer in bf16: 32 heads of
 *                                          128 features, in groups of 4; beside its arithmetic and
 *                                          its bytes
 *   attention gradient-time TOKENS TFLOP/s GB/s    the same for its gradient
 *
 * With TPRT_ATTENTION=cudnn, only what cuDNN computes.
 *
 * Exit status: 0, 1 after "wrong" on stderr, 77 without a GPU. The last line on stdout is a JSON
 * object. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/kernels/attention_cases.h"
#include "test/runtime/harness/device.h"
#include "test/runtime/harness/long.h"
#include "test/runtime/harness/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tprt/tprt.h"

/* A program with one attention or, with `is_gradient`, one that keeps statistics of its rows, and
 * its gradient; and its operands on the GPU. */
typedef struct program {
  bool is_gradient;
  tprt_context *context;
  test_table table;
  tprt_abi_operands operands[2]; /* of the attention, of the gradient */
  attention_memory host;
  void *device[TPRT_ATTENTION_TENSORS], *position, *workspace;
  fused_pointers pointers;
} program;

static void *upload(const program *p, const void *from, size_t bytes) {
  void *memory;
  device_need(tprt_context_alloc(p->context, bytes, &memory));
  device_need(tprt_context_upload(p->context, memory, from, bytes));
  return memory;
}

static void add_site(program *p, const attention_case *c, bool is_gradient) {
  const int64_t shape[] = {c->batch, c->heads * c->group * c->rows, c->features};
  tprt_abi_fused_attention words = is_gradient ? attention_gradient_words(c) : attention_words(c);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    if (p->host.of[x])
      attention_add_role(&words.operands, x, p->is_gradient, is_gradient);
  if (c->position_dtype)
    add_input(&words.operands, TPRT_IN_POSITION);
  if (is_gradient)
    add_output(&words.operands, TPRT_OUT_WORKSPACE);
  p->operands[is_gradient] = words.operands;
  table_site(&p->table,
             is_gradient ? TPRT_SITE_FUSED_ATTENTION_GRADIENT : TPRT_SITE_FUSED_ATTENTION, c->dtype,
             TPRT_NO_REDUCTION, 0, NULL, 3, shape, &words, N_WORDS_OF(tprt_abi_fused_attention));
}

static program begin(tprt_comm *world, const attention_case *c, bool is_gradient) {
  static const int64_t one = 1;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  program p = {.is_gradient = is_gradient, .table = table_make(1, &one)};
  device_need(tprt_context_create(world, &config, &p.context));
  attention_fill(c, &p.host);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    if (!p.host.of[x])
      continue;
    p.device[x] = upload(&p, p.host.of[x], p.host.bytes[x]);
    for (int of_gradient = 0; of_gradient < 2; of_gradient++)
      if (attention_role(x, of_gradient))
        p.pointers.of[attention_role(x, of_gradient)][0] = p.device[x];
  }
  p.position = upload(&p, &p.host.position, sizeof p.host.position);
  p.workspace = upload(&p, p.host.workspace, p.host.workspace_bytes);
  p.pointers.of[TPRT_IN_POSITION][0] = p.position;
  p.pointers.of[TPRT_OUT_WORKSPACE][0] = p.workspace;
  for (int site = 0; site <= is_gradient; site++)
    add_site(&p, c, site);
  table_header(&p.table)->target = TPRT_TARGET_CUDA;
  device_need((tprt_status)tprt_abi_enter(p.context, p.table.words));
  return p;
}

static void call(const program *p, int site) {
  device_need((tprt_status)call_fused(p->context, site, &p->operands[site], &p->pointers));
}

static void end(program *p) {
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    tprt_context_free(p->context, p->device[x]);
  tprt_context_free(p->context, p->position);
  tprt_context_free(p->context, p->workspace);
  attention_free(&p->host);
  tprt_context_destroy(p->context);
  table_free(&p->table);
}

/* With TPRT_ATTENTION=cudnn: cuDNN computes what it has. */
static bool wants_cudnn(void) {
  const char *setting = getenv("TPRT_ATTENTION");
  return setting && strcmp(setting, "cudnn") == 0;
}

static bool is_by_cudnn(const program *p) {
  return strncmp(tprt_context_attention(p->context), "cuDNN for 1 ", 12) == 0;
}

/* Downloads what a call makes. Counts tensors that differ from before. */
static int download(const program *p, int site) {
  int differ = 0;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    size_t bytes = p->host.bytes[x];
    tprt_operand role = attention_role(x, site);
    bool is_statistic = x == TPRT_ATTENTION_MAX || x == TPRT_ATTENTION_SUM;
    if (role < TPRT_OUT_TENSOR || (is_statistic && !p->is_gradient))
      continue;
    void *before = malloc(bytes);
    if (!before)
      abort();
    memcpy(before, p->host.of[x], bytes);
    device_need(tprt_context_download(p->context, p->host.of[x], p->device[x], bytes));
    differ += memcmp(before, p->host.of[x], bytes) != 0;
    free(before);
  }
  return differ;
}

/* Adds the calls that are made: with TPRT_ATTENTION=cudnn none of what cuDNN does not have. */
static int run_case(tprt_comm *world, const attention_case *c, bool is_gradient, int turns,
                    int *calls) {
  int errors = 0;
  program p = begin(world, c, is_gradient);
  bool runs = !wants_cudnn() || is_by_cudnn(&p);
  for (int turn = 0; turn < turns && runs; turn++) {
    ++*calls;
    int differ = 0;
    for (int site = 0; site <= is_gradient; site++) {
      call(&p, site);
      differ += download(&p, site);
    }
    if (turn == 0 || differ) /* the same bits have the same errors */
      errors += attention_errors(c, &p.host, "GPU");
    if (is_gradient && (turn == 0 || differ))
      errors += attention_statistics_errors(c, &p.host, "GPU") +
                attention_gradient_errors(c, &p.host, 3, "GPU");
    if (turn && differ) {
      fprintf(stderr, "wrong: %s has other bits the second time\n", c->name);
      errors++;
    }
  }
  end(&p);
  return errors;
}

/* `small` is for emulated GPUs. It leaves out the large cases, which take long there, and three of
 * four others, which the tests of kernels and of programs run, too. With TP_LONG it leaves out the
 * large ones alone. */
static int run_cases(tprt_comm *world, bool is_gradient, bool small) {
  int errors = 0, calls = 0;
  for (int i = 0; i < n_attention_cases; i++) {
    attention_case c = attention_cases[i];
    c.dense_statistics = wants_cudnn();
    if (!small || (!c.large && (i % 4 == 0 || test_is_long())))
      errors += run_case(world, &c, is_gradient, 2, &calls);
  }
  if (calls == 0) {
    fprintf(stderr, "wrong: no case was run\n");
    errors++;
  }
  printf("{\"test\": \"attention%s\", \"calls\": %d, \"errors\": %d}\n",
         is_gradient ? "-gradients" : "", calls, errors);
  return errors != 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int run_time(tprt_comm *world, bool is_gradient, int64_t tokens, double tflops,
                    double bandwidth) {
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
                            .hidden = -INFINITY,
                            .dense_statistics = wants_cudnn()};
  program p = begin(world, &c, is_gradient);
  if (wants_cudnn() && !is_by_cudnn(&p)) {
    fprintf(stderr, "wrong: cuDNN has no attention of %lld tokens\n", (long long)tokens);
    exit(1);
  }
  /* two products of all scores, or five */
  double products = is_gradient ? 2.5 : 1, begun = 0, bytes = 0,
         flops = products * 2.0 * 32 * (double)tokens * (double)tokens * 256 / 2;
  if (is_gradient)
    call(&p, 0);
  for (int i = 0; i < WARM + CALLS; i++) {
    if (i == WARM) {
      device_need(tprt_context_synchronize(p.context));
      begun = now();
    }
    call(&p, is_gradient);
  }
  device_need(tprt_context_synchronize(p.context));
  double us = (now() - begun) / CALLS * 1e6;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    bytes += is_gradient || x <= TPRT_ATTENTION_OUT ? (double)p.host.bytes[x] : 0;
  printf("{\"test\": \"attention%s-time\", \"tokens\": %lld, \"us\": %.2f, \"arithmetic_us\": "
         "%.2f, \"bytes_us\": %.2f}\n",
         is_gradient ? "-gradient" : "", (long long)tokens, us, flops / tflops * 1e-6,
         bytes / bandwidth * 1e-3);
  end(&p);
  return 0;
}

int main(int argc, char **argv) {
  tprt_comm *world;
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  static const struct {
    const char *name;
    int argc;
    bool is_gradient;
  } modes[] = {
      {"cases", 2, false}, {"gradients", 2, true}, {"time", 5, false}, {"gradient-time", 5, true}};
  size_t m = 0, n = sizeof modes / sizeof *modes;
  bool small = argc == 3 && strcmp(argv[2], "small") == 0;
  while (m < n && !(argc - small == modes[m].argc && strcmp(argv[1], modes[m].name) == 0))
    m++;
  if (m == n) {
    fprintf(stderr,
            "usage: %s (cases | gradients) [small] | (time | gradient-time) TOKENS TFLOP/s GB/s\n",
            argv[0]);
    return 2;
  }
  if (device_open() != 0)
    return 77;
  device_need(tprt_world_create_threads(1, &config, &world));
  int status = modes[m].argc > 2 ? run_time(world, modes[m].is_gradient, atoll(argv[2]),
                                            atof(argv[3]), atof(argv[4]))
                                 : run_cases(world, modes[m].is_gradient, small);
  tprt_comm_destroy(world);
  return status;
}
