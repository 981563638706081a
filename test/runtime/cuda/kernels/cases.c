/* The table of fused test cases, with their buffers, inputs and calls. */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#define ROWS(...) .kind = CASE_ROWS, __VA_ARGS__

/* The table of cases. Sizes are not multiples: tokens not of ranks, rows not of threads, elements
 * per thread not of its registers. */
const fused_case fused_cases[] = {
    /* Reductions only: the tensor is split arbitrarily. */
    {ROWS(.dtype = TPRT_BF16, .tokens = 5, .hidden = 264, .algorithm = TPRT_CUDA_PUSH)},
    {ROWS(.dtype = TPRT_F32, .tokens = 3, .hidden = 1028, .algorithm = TPRT_CUDA_PULL)},
    {ROWS(.dtype = TPRT_F16, .tokens = 9, .hidden = 136, .algorithm = TPRT_CUDA_SLICES)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 8, .hidden = 128, .algorithm = TPRT_CUDA_SLICES,
          .out_sharded = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 4, .hidden = 64, .algorithm = TPRT_CUDA_SLICES,
          .in_place = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 9, .hidden = 136, .algorithm = TPRT_CUDA_SLICES,
          .input_sent = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 6, .hidden = 64, .algorithm = TPRT_CUDA_SLICES,
          .input_sent = true, .out_sharded = true, .norm = TPRT_CUDA_RMS_NORM, .residual = true,
          .residual_sharded = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 1, .hidden = 4, .algorithm = TPRT_CUDA_PUSH,
          .in_place = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 7, .hidden = 72)},
    /* With residual and norm. */
    {ROWS(.dtype = TPRT_BF16, .tokens = 3, .hidden = 520, .algorithm = TPRT_CUDA_PUSH,
          .norm = TPRT_CUDA_RMS_NORM, .residual = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 5, .hidden = 260, .algorithm = TPRT_CUDA_PULL,
          .norm = TPRT_CUDA_RMS_NORM, .residual = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 5, .hidden = 256, .algorithm = TPRT_CUDA_PULL,
          .norm = TPRT_CUDA_LAYER_NORM, .residual = true, .bias = true, .match_unfused = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 2, .hidden = 640, .algorithm = TPRT_CUDA_PUSH,
          .norm = TPRT_CUDA_LAYER_NORM, .bias = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 9, .hidden = 384, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_RMS_NORM, .residual = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 6, .hidden = 512, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_RMS_NORM, .residual = true, .residual_sharded = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 8, .hidden = 256, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_LAYER_NORM, .residual = true, .residual_sharded = true,
          .out_sharded = true, .bias = true, .match_unfused = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 3, .hidden = 256, .norm = TPRT_CUDA_RMS_NORM,
          .residual = true, .match_unfused = true)},
    /* And quantized. */
    {ROWS(.dtype = TPRT_BF16, .tokens = 4, .hidden = 264, .algorithm = TPRT_CUDA_PUSH,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_STATIC, .residual = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 5, .hidden = 520, .algorithm = TPRT_CUDA_PULL,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_TOKEN, .residual = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 5, .hidden = 384, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_LAYER_NORM, .quantize = TPRT_CUDA_PER_GROUP, .residual = true,
          .residual_sharded = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 9, .hidden = 640, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_GROUP, .residual = true,
          .residual_sharded = true, .out_sharded = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 3, .hidden = 128, .algorithm = TPRT_CUDA_SLICES,
          .quantize = TPRT_CUDA_PER_TOKEN)},
    /* True division, with a lower bound of the scale that applies to some rows or to all, and rows
     * of zeros. */
    {ROWS(.dtype = TPRT_BF16, .tokens = 5, .hidden = 264, .algorithm = TPRT_CUDA_PULL,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_TOKEN, .residual = true,
          .divides = true, .zeros = true, .least_largest = 1e-3f)},
    {ROWS(.dtype = TPRT_F32, .tokens = 6, .hidden = 256, .algorithm = TPRT_CUDA_SLICES,
          .quantize = TPRT_CUDA_PER_GROUP, .residual = true, .divides = true, .zeros = true,
          .least_scale = 0.0175f)},
    {ROWS(.dtype = TPRT_F16, .tokens = 4, .hidden = 136, .algorithm = TPRT_CUDA_PUSH,
          .quantize = TPRT_CUDA_PER_TOKEN, .divides = true, .zeros = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 4, .hidden = 264, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_STATIC, .residual = true,
          .divides = true)},
    /* With blocks: also more slices than rows, and slices that cross the end of a block. */
    {ROWS(.dtype = TPRT_BF16, .tokens = 24, .hidden = 136, .blocks = 3,
          .algorithm = TPRT_CUDA_SLICES, .norm = TPRT_CUDA_RMS_NORM, .residual = true,
          .residual_sharded = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 16, .hidden = 64, .blocks = 2, .algorithm = TPRT_CUDA_SLICES,
          .out_sharded = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 15, .hidden = 264, .blocks = 3,
          .algorithm = TPRT_CUDA_SLICES, .input_sent = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 15, .hidden = 264, .blocks = 5, .norm = TPRT_CUDA_LAYER_NORM,
          .residual = true, .residual_sharded = true, .out_sharded = true, .bias = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 10, .hidden = 256, .blocks = 2, .norm = TPRT_CUDA_RMS_NORM,
          .quantize = TPRT_CUDA_PER_GROUP)},
    /* Data exchanges; dimension 1 is split over the ranks. */
    {.kind = CASE_GATHER, .dtype = TPRT_BF16, .tokens = 3, .hidden = 24, .concat_dim = 0},
    {.kind = CASE_GATHER, .dtype = TPRT_F32, .tokens = 5, .hidden = 12, .concat_dim = 2},
    {.kind = CASE_GATHER, .dtype = TPRT_U8, .tokens = 4, .hidden = 16, .concat_dim = 1},
    {.kind = CASE_ALL_TO_ALL,
     .dtype = TPRT_BF16,
     .tokens = 3,
     .hidden = 40,
     .split_dim = 1,
     .concat_dim = 0},
    {.kind = CASE_ALL_TO_ALL,
     .dtype = TPRT_F64,
     .tokens = 5,
     .hidden = 6,
     .split_dim = 1,
     .concat_dim = 2},
    {.kind = CASE_ALL_TO_ALL,
     .dtype = TPRT_F32,
     .tokens = 2,
     .hidden = 8,
     .split_dim = 1,
     .concat_dim = 1},
    /* Cross entropy. */
    {.kind = CASE_ENTROPY, .dtype = TPRT_BF16, .tokens = 9, .hidden = 328},
    {.kind = CASE_ENTROPY,
     .dtype = TPRT_F32,
     .tokens = 5,
     .hidden = 60,
     .pick = TPRT_CUDA_LESS_LARGEST,
     .narrow_target = true},
    {.kind = CASE_ENTROPY,
     .dtype = TPRT_F16,
     .tokens = 3,
     .hidden = 4104,
     .pick = TPRT_CUDA_LOG_PROBABILITY},
    {.kind = CASE_ENTROPY,
     .dtype = TPRT_F32,
     .tokens = 40,
     .hidden = 8,
     .pick = TPRT_CUDA_LESS_LARGEST,
     .own_picks = true},
    /* The longest rows of each kernel, which use all registers of all threads. */
    {ROWS(.dtype = TPRT_F32, .tokens = 2, .hidden = 8192, .algorithm = TPRT_CUDA_PULL,
          .norm = TPRT_CUDA_LAYER_NORM, .quantize = TPRT_CUDA_PER_GROUP, .bias = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 2, .hidden = 8192, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_TOKEN, .residual = true)},
    {ROWS(.dtype = TPRT_F32, .tokens = 2, .hidden = 16384, .algorithm = TPRT_CUDA_SLICES,
          .norm = TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_TOKEN, .residual = true)},
    {ROWS(.dtype = TPRT_BF16, .tokens = 2, .hidden = 16384, .algorithm = TPRT_CUDA_PULL,
          .norm = TPRT_CUDA_LAYER_NORM, .quantize = TPRT_CUDA_PER_GROUP, .bias = true)},
    {ROWS(.dtype = TPRT_F16, .tokens = 1, .hidden = 8200, .algorithm = TPRT_CUDA_PUSH,
          .norm = TPRT_CUDA_RMS_NORM, .residual = true)},
};
const int n_fused_cases = sizeof fused_cases / sizeof *fused_cases,
          n_small_cases = sizeof fused_cases / sizeof *fused_cases - 5;

uint32_t case_mixed(uint64_t turn) {
  uint64_t x = (turn + 1) * 0x9e3779b97f4a7c15u;
  return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

int case_of_turn(uint64_t turn) {
  return turn < (uint64_t)n_fused_cases ? (int)turn
                                        : (int)(case_mixed(turn) % (uint32_t)n_small_cases);
}

const char *case_name(const fused_case *c, char text[160]) {
  static const char *const kinds[] = {"rows", "all_gather", "all_to_all", "cross_entropy"};
  static const char *const algorithms[] = {"auto", "push", "pull", "slices"};
  static const char *const norms[] = {"no", "rms", "layer"};
  snprintf(text, 160,
           "%s %s %lldx%lld in %lld, %s, %s norm, quantize %d,%s%s%s%s%s%s%s%s%s dims %d,%d",
           kinds[c->kind], tprt_dtype_name(c->dtype), (long long)c->tokens, (long long)c->hidden,
           (long long)c->blocks, algorithms[c->algorithm], norms[c->norm], (int)c->quantize,
           c->match_unfused ? " match" : "", c->residual ? " residual" : "",
           c->residual_sharded ? " sharded" : "", c->out_sharded ? " out sharded" : "",
           c->input_sent ? " sent" : "", c->divides ? " divides" : "", c->zeros ? " zeros" : "",
           c->bias ? " bias" : "", c->in_place ? " in place" : "", c->split_dim, c->concat_dim);
  return text;
}

/* ---- Sizes ---- */

static int64_t elements(const fused_case *c, int n) {
  bool exchange = c->kind == CASE_GATHER || c->kind == CASE_ALL_TO_ALL;
  return c->tokens * c->hidden * (exchange ? 2 * n : 1);
}

size_t case_buffer_bytes(const fused_case *c, int n) {
  /* of sent inputs: includes the part beyond the last row */
  int64_t factor = c->kind == CASE_GATHER || c->input_sent ? n : 1;
  size_t bytes = (size_t)(elements(c, n) * factor) * tprt_dtype_size(c->dtype);
  size_t vectors_of_tokens = (size_t)c->tokens * 16; /* scales, losses, targets */
  return (bytes > vectors_of_tokens ? bytes : vectors_of_tokens) + 256;
}

size_t case_staging_bytes(const fused_case *c, int n) {
  return 2 * (size_t)n *
         (c->kind == CASE_ENTROPY ? 16 * (size_t)c->tokens : case_buffer_bytes(c, n));
}

/* ---- Inputs: a value that depends only on the position ---- */

static uint32_t hash(uint64_t turn, uint32_t rank, uint32_t buffer, uint64_t i) {
  uint64_t x = turn * 0x9e3779b97f4a7c15u ^ ((uint64_t)rank << 40 | (uint64_t)buffer << 32) ^
               (i * 0xd1342543de82ef95u);
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  return (uint32_t)(x >> 16);
}

float case_rounded(tprt_dtype dtype, float x) {
  return dtype == TPRT_BF16  ? tprt_bf16_to_f32(tprt_f32_to_bf16(x))
         : dtype == TPRT_F16 ? tprt_f16_to_f32(tprt_f32_to_f16(x))
                             : x;
}

/* Values common to all ranks are those of rank 0. */
float case_input(const fused_case *c, uint64_t turn, int rank, int buffer, int64_t i) {
  if (c->zeros && i / c->hidden % 2)
    return 0;
  uint32_t h =
      hash(turn, buffer == BUFFER_RESIDUAL ? 0 : (uint32_t)rank, (uint32_t)buffer, (uint64_t)i);
  return case_rounded(c->dtype, (float)(h & 0xffff) / 16384.0f - 2.0f);
}

float case_constant(const fused_case *c, int constant, int64_t i) {
  if (constant == CONSTANT_STATIC)
    return 0.01171875f;
  return case_rounded(
      c->dtype,
      (float)(hash(0, 0, N_BUFFERS + (uint32_t)constant, (uint64_t)i) & 0xffff) / 16384.0f - 2.0f);
}

unsigned char case_byte(uint64_t turn, int rank, int64_t i) {
  return (unsigned char)hash(turn, (uint32_t)rank, BUFFER_INPUT, (uint64_t)i);
}

int64_t case_target(const fused_case *c, int n, uint64_t turn, int64_t token) {
  if (token % 5 == 3)
    return CASE_IGNORED;
  if (token % 5 == 4)
    return n * c->hidden; /* not a column */
  return hash(turn, 0, BUFFER_TARGET, (uint64_t)token) % (n * c->hidden);
}

static void store(tprt_dtype dtype, unsigned char *to, int64_t i, float x) {
  uint16_t half = dtype == TPRT_BF16 ? tprt_f32_to_bf16(x) : tprt_f32_to_f16(x);
  if (dtype == TPRT_F32)
    memcpy(to + 4 * i, &x, 4);
  else
    memcpy(to + 2 * i, &half, 2);
}

int64_t case_place(const fused_case *c, int n, int rank, int64_t token) {
  int64_t blocks = c->blocks > 1 ? c->blocks : 1, in_block = c->tokens / blocks,
          slice = (in_block + n - 1) / n;
  return token % in_block / slice == rank ? token / in_block * slice + token % in_block % slice
                                          : -1;
}

/* Returns the number of rows of a rank's slices. */
static int64_t slice_rows(const fused_case *c, int n) {
  int64_t blocks = c->blocks > 1 ? c->blocks : 1;
  return blocks * ((c->tokens / blocks + n - 1) / n);
}

static void fill_rows(const fused_case *c, int n, int rank, uint64_t turn, unsigned char *block,
                      size_t bytes) {
  for (int64_t token = 0; token < c->tokens; token++) {
    int64_t at = c->residual_sharded ? case_place(c, n, rank, token) : token,
            mine = case_place(c, n, rank, token);
    for (int64_t i = 0; i < c->hidden && !c->input_sent; i++)
      store(c->dtype, block + BUFFER_INPUT * bytes, token * c->hidden + i,
            case_input(c, turn, rank, BUFFER_INPUT, token * c->hidden + i));
    /* the data that every rank has sent */
    for (int64_t i = 0; mine >= 0 && i < n * c->hidden && c->input_sent; i++)
      store(c->dtype, block + BUFFER_INPUT * bytes,
            (i / c->hidden * slice_rows(c, n) + mine) * c->hidden + i % c->hidden,
            case_input(c, turn, (int)(i / c->hidden), BUFFER_INPUT,
                       token * c->hidden + i % c->hidden));
    for (int64_t i = 0; at >= 0 && i < c->hidden; i++)
      store(c->dtype, block + BUFFER_RESIDUAL * bytes, at * c->hidden + i,
            case_input(c, turn, rank, BUFFER_RESIDUAL, token * c->hidden + i));
  }
}

void case_constants(const fused_case *c, unsigned char *block, size_t bytes) {
  for (int constant = CONSTANT_BIAS; c->kind == CASE_ROWS && constant <= CONSTANT_BETA; constant++)
    for (int64_t i = 0; i < c->hidden; i++)
      store(c->dtype, block + (size_t)constant * bytes, i, case_constant(c, constant, i));
  store(TPRT_F32, block + CONSTANT_STATIC * bytes, 0, case_constant(c, CONSTANT_STATIC, 0));
}

void case_fill(const fused_case *c, int n, int rank, uint64_t turn, unsigned char *block,
               size_t bytes) {
  for (size_t buffer = 0; buffer < N_BUFFERS; buffer++)
    memset(block + buffer * bytes, 0xff, case_buffer_bytes(c, n)); /* NaN in every type */
  if (c->kind == CASE_ROWS) {
    fill_rows(c, n, rank, turn, block, bytes);
  } else if (c->kind == CASE_ENTROPY) {
    for (int64_t i = 0; i < c->tokens * c->hidden; i++)
      store(c->dtype, block, i, 4 * case_input(c, turn, rank, BUFFER_INPUT, i));
    for (int64_t i = 0; i < c->tokens; i++) {
      int64_t target = case_target(c, n, turn, i);
      if (c->narrow_target) /* little endian */
        memcpy(block + BUFFER_TARGET * bytes + 4 * i, &target, 4);
      else
        memcpy(block + BUFFER_TARGET * bytes + 8 * i, &target, sizeof target);
    }
  } else {
    int64_t n_bytes = elements(c, n) * (int64_t)tprt_dtype_size(c->dtype);
    for (int64_t i = 0; i < n_bytes; i++)
      block[i] = case_byte(turn, rank, i);
  }
}

/* ---- The call ---- */

typedef struct pointers {
  void *of[N_BUFFERS][FUSED_RANKS];
} pointers;

static pointers addresses(int n, unsigned char *const *base, size_t bytes) {
  pointers p = {0};
  for (int buffer = 0; buffer < N_BUFFERS; buffer++)
    for (int r = 0; r < n; r++)
      p.of[buffer][r] = base[r] + (size_t)buffer * bytes;
  return p;
}

static tprt_cuda_rows rows_of(const fused_case *c, const pointers *p, unsigned char *constants,
                              size_t bytes) {
  tprt_cuda_rows rows = {.size = sizeof rows,
                         .dtype = c->dtype,
                         .tokens = c->tokens,
                         .hidden = c->hidden,
                         .blocks = c->blocks,
                         .algorithm = c->algorithm,
                         .norm = c->norm,
                         .quantize = c->quantize,
                         .match_unfused = c->match_unfused,
                         .residual_sharded = c->residual_sharded,
                         .out_sharded = c->out_sharded,
                         .input_sent = c->input_sent,
                         .least_largest = c->least_largest,
                         .least_scale = c->least_scale,
                         .divides = c->divides,
                         .epsilon = c->norm ? 1e-5f : 0,
                         .static_scale = (void *)(constants + CONSTANT_STATIC * bytes),
                         .bias = c->bias ? constants + CONSTANT_BIAS * bytes : NULL,
                         .gamma = c->norm ? constants + CONSTANT_GAMMA * bytes : NULL,
                         .beta = c->norm == TPRT_CUDA_LAYER_NORM ? constants + CONSTANT_BETA * bytes
                                                                 : NULL};
  memcpy(rows.input, p->of[BUFFER_INPUT], sizeof rows.input);
  memcpy(rows.out, p->of[c->in_place ? BUFFER_INPUT : BUFFER_OUT], sizeof rows.out);
  memcpy(rows.quantized, p->of[BUFFER_QUANTIZED], sizeof rows.quantized);
  memcpy(rows.scale, p->of[BUFFER_SCALE], sizeof rows.scale);
  if (c->residual) {
    memcpy(rows.residual, p->of[BUFFER_RESIDUAL], sizeof rows.residual);
    memcpy(rows.residual_out, p->of[BUFFER_RESIDUAL_OUT], sizeof rows.residual_out);
  }
  return rows;
}

static tprt_cuda_entropy entropy_of(const fused_case *c, const pointers *p) {
  tprt_cuda_entropy e = {.size = sizeof e,
                         .dtype = c->dtype,
                         .tokens = c->tokens,
                         .columns = c->hidden,
                         .ignored = CASE_IGNORED,
                         .target_dtype = c->narrow_target ? TPRT_I32 : TPRT_I64,
                         .pick = c->pick,
                         .own_picks = c->own_picks};
  memcpy(e.logits, p->of[BUFFER_INPUT], sizeof e.logits);
  memcpy(e.target, p->of[BUFFER_TARGET], sizeof e.target);
  memcpy(e.loss, p->of[BUFFER_LOSS], sizeof e.loss);
  memcpy(e.log_sum, p->of[BUFFER_LOG_SUM], sizeof e.log_sum);
  memcpy(e.largest, p->of[BUFFER_LARGEST], sizeof e.largest);
  memcpy(e.sum, p->of[BUFFER_SUM], sizeof e.sum);
  memcpy(e.picked, p->of[BUFFER_PICKED], sizeof e.picked);
  return e;
}

case_arguments case_arguments_of(const fused_case *c, int n, unsigned char *const *base,
                                 unsigned char *constants, size_t bytes) {
  pointers p = addresses(n, base, bytes);
  case_arguments a = {.shape = {c->tokens, 2 * n, c->hidden}};
  if (c->kind == CASE_ROWS)
    a.rows = rows_of(c, &p, constants, bytes);
  if (c->kind == CASE_ENTROPY)
    a.entropy = entropy_of(c, &p);
  memcpy(a.send, p.of[BUFFER_INPUT], sizeof a.send);
  memcpy(a.recv, p.of[BUFFER_OUT], sizeof a.recv);
  return a;
}

#ifdef CASES_PUBLIC
tprt_status case_call(const fused_case *c, tprt_cuda_group *group, const case_arguments *a,
                      tprt_cuda_stream stream) {
  switch (c->kind) {
  case CASE_ROWS:
    return tprt_cuda_reduce_rows(group, &a->rows, stream);
  case CASE_ENTROPY:
    return tprt_cuda_cross_entropy(group, &a->entropy, stream);
  case CASE_GATHER:
    return tprt_cuda_all_gather(group, c->dtype, 3, a->shape, c->concat_dim, a->send, a->recv,
                                stream);
  default:
    return tprt_cuda_all_to_all(group, c->dtype, 3, a->shape, c->split_dim, c->concat_dim, a->send,
                                a->recv, stream);
  }
}
#else
tprt_status case_plan(const fused_case *c, const fused_group *group, const case_arguments *a,
                      fused_launch *launch) {
  switch (c->kind) {
  case CASE_ROWS:
    return tprt__fused_plan_rows(group, &a->rows, launch);
  case CASE_ENTROPY:
    return tprt__fused_plan_entropy(group, &a->entropy, launch);
  case CASE_GATHER:
    return tprt__fused_plan_all_gather(group, c->dtype, 3, a->shape, c->concat_dim, a->send,
                                       a->recv, launch);
  default:
    return tprt__fused_plan_all_to_all(group, c->dtype, 3, a->shape, c->split_dim, c->concat_dim,
                                       a->send, a->recv, launch);
  }
}
#endif
