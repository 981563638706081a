/* Fused calls with inputs and oracle: a table that runs on emulated and on real GPUs. */
#ifndef TPRT_TEST_CUDA_CASES_H
#define TPRT_TEST_CUDA_CASES_H

#include "cuda/fused/plan.h"

typedef enum case_kind { CASE_ROWS, CASE_GATHER, CASE_ALL_TO_ALL, CASE_ENTROPY } case_kind;

typedef struct fused_case {
  case_kind kind;
  tprt_dtype dtype;
  /* of the whole tensor; for entropy, hidden is the number of columns per rank */
  int64_t tokens, hidden;
  /* rows */
  int64_t blocks;
  tprt_cuda_algorithm algorithm;
  tprt_cuda_norm norm;
  tprt_cuda_quantize quantize;
  bool match_unfused, residual, residual_sharded, out_sharded, bias, in_place, input_sent;
  bool divides, zeros; /* zeros: every other row of the whole sum is zero */
  float least_largest, least_scale;
  /* entropy */
  tprt_cuda_pick pick;
  bool own_picks, narrow_target;
  /* exchanges: of a tensor [tokens, n_ranks * 2, hidden] */
  int split_dim, concat_dim;
} fused_case;

extern const fused_case fused_cases[];
extern const int n_fused_cases, n_small_cases; /* the small cases come first */

/* Returns the case of a turn: each case once, then small ones in random order. */
int case_of_turn(uint64_t turn);
/* Returns random bits of a turn. */
uint32_t case_mixed(uint64_t turn);

/* Buffers of a rank, at equal distances in one block. */
enum {
  BUFFER_INPUT,
  BUFFER_RESIDUAL,
  BUFFER_RESIDUAL_OUT,
  BUFFER_OUT,
  BUFFER_QUANTIZED,
  BUFFER_SCALE,
  BUFFER_TARGET,
  BUFFER_LOSS,
  BUFFER_LOG_SUM,
  BUFFER_LARGEST,
  BUFFER_SUM,
  BUFFER_PICKED,
  N_BUFFERS,
};
/* Buffers of a case that are shared by all ranks on a GPU and never change. */
enum { CONSTANT_BIAS, CONSTANT_GAMMA, CONSTANT_BETA, CONSTANT_STATIC, N_CONSTANTS };

/* Returns the bytes of the largest buffer of the case. */
size_t case_buffer_bytes(const fused_case *c, int n_ranks);
/* Returns the bytes of staging that the case needs. */
size_t case_staging_bytes(const fused_case *c, int n_ranks);

/* Writes the constants. */
void case_constants(const fused_case *c, unsigned char *block, size_t buffer_bytes);

/* Prepares a call on a rank's stream: writes the turn's inputs into its block, and poison into the
 * results. */
void case_fill(const fused_case *c, int n_ranks, int rank, uint64_t turn, unsigned char *block,
               size_t buffer_bytes);

/* The arguments of a call for all ranks; base[r] is the block of rank r, as kernels address it. */
typedef struct case_arguments {
  tprt_cuda_rows rows;
  tprt_cuda_entropy entropy;
  int64_t shape[3];
  const void *send[FUSED_RANKS];
  void *recv[FUSED_RANKS];
} case_arguments;
case_arguments case_arguments_of(const fused_case *c, int n_ranks, unsigned char *const *base,
                                 unsigned char *constants, size_t buffer_bytes);
/* Creates the call as a launch, with internal functions of the library. */
tprt_status case_plan(const fused_case *c, const fused_group *group,
                      const case_arguments *arguments, fused_launch *launch);
/* Enqueues the call through the public interface. */
tprt_status case_call(const fused_case *c, tprt_cuda_group *group, const case_arguments *arguments,
                      tprt_cuda_stream stream);

/* Compares a rank's results with the oracle; 0, or 1 after a message. */
int case_check(const fused_case *c, int n_ranks, int rank, uint64_t turn,
               const unsigned char *block, size_t buffer_bytes);

/* Returns a digest of all results that are the same on all ranks. */
uint64_t case_digest(const fused_case *c, int n_ranks, const unsigned char *block,
                     size_t buffer_bytes);

/* Returns the input at element i of a buffer; bytes for exchanges; targets; rounded to the type. */
float case_input(const fused_case *c, uint64_t turn, int rank, int buffer, int64_t i);
float case_constant(const fused_case *c, int constant, int64_t i);
unsigned char case_byte(uint64_t turn, int rank, int64_t i);
int64_t case_target(const fused_case *c, int n_ranks, uint64_t turn, int64_t token);
float case_rounded(tprt_dtype dtype, float x);
enum { CASE_IGNORED = -100 };

/* Rows: returns the position of a token in a rank's part of a sharded tensor; -1 if the rank does
 * not have it. */
int64_t case_place(const fused_case *c, int n_ranks, int rank, int64_t token);

/* Writes a description of the case for messages. */
const char *case_name(const fused_case *c, char text[160]);

#endif
