/* Reads program tables (tprt/abi.h) into structs and checks every word. */
#ifndef TPRT_RUNTIME_PROGRAM_TABLE_H
#define TPRT_RUNTIME_PROGRAM_TABLE_H

#include "comm/op.h"
#include "cpu/contract.h"
#include "tprt/abi.h"

enum { TPRT__MATMUL_LOOPS = 3 };

/* TPRT_SITE_FUSED_REDUCE: tprt_cuda_rows of all ranks, without buffers. Words only: ranks compare
 * them as bytes. */
typedef struct tprt__rows {
  int64_t tokens, hidden, blocks;     /* of the whole tensor */
  int64_t layout;                     /* TPRT_ROWS_... */
  int64_t norm, algorithm;            /* tprt_cuda_norm, tprt_cuda_algorithm */
  int64_t epsilon;                    /* the bits of a float */
  int64_t quantise, divides;          /* tprt_cuda_quantise */
  int64_t least_largest, least_scale; /* the bits of floats */
  int64_t k;                          /* of a matmul [tokens, k] [k, hidden]; 0: none */
  int64_t transpose_b;
  tprt_abi_loop loops[TPRT__MATMUL_LOOPS]; /* of the matmul */
} tprt__rows;

/* TPRT_SITE_FUSED_SOFTMAX: tprt_cuda_entropy of a device, without buffers. The site's op is the
 * all-gather of the parts. */
typedef struct tprt__softmax {
  tprt_dtype dtype, target; /* target: 0 if there is none */
  int64_t tokens, columns;
  int64_t pick; /* tprt_cuda_pick */
  bool own, finite;
} tprt__softmax;

/* TPRT_SITE_FUSED_GATHER: rows of all devices together, and matmuls of them. Words only. */
typedef struct tprt__gathering {
  int64_t tokens, width, blocks;
  int64_t n;
  int64_t columns[TPRT_MAX_MATMULS], transposed[TPRT_MAX_MATMULS];
} tprt__gathering;

/* TPRT_SITE_FUSED_MATMUL. */
typedef struct tprt__matmul {
  int64_t function; /* tprt_cuda_epilogue */
  tprt_abi_loop loops[TPRT__MATMUL_LOOPS];
} tprt__matmul;

typedef struct tprt__site {
  tprt_site_kind kind;
  /* The collective that the site is or needs; `pairs` is left empty, they are in `extra`. kind 0:
   * it does not communicate. */
  tprt_op op;
  int n_axes;
  int32_t axes[TPRT_MAX_AXES];
  const int64_t *extra; /* in the table */
  int64_t n_extra;
  /* Of TPRT_SITE_CONTRACT: its loops, in the table. */
  const tprt_abi_loop *loops;
  int64_t n_loops;
  /* Of TPRT_SITE_CONTRACT, and of the matmul of a fused site that has one; else NULL. */
  tprt__contraction *contraction;
  tprt_abi_operands operands; /* of fused sites */
  tprt__rows rows;
  tprt__gathering gathering;
  tprt__softmax softmax;
  tprt__matmul matmul;
} tprt__site;

typedef struct tprt__program {
  const int64_t *table;
  int64_t n_words;
  int n_axes;
  int64_t sizes[TPRT_MAX_AXES];
  int64_t n_devices;
  size_t private_bytes, registered_bytes;
  tprt_target target;
  int n_sites;
  tprt__site *sites;
} tprt__program;

/* Reads a table with n_words readable words. The program keeps pointers into it; clear it with
 * tprt__program_clear. */
tprt_status tprt__program_read(const int64_t *words, size_t n_words, tprt__program *program);
void tprt__program_clear(tprt__program *program);

/* The number of words that the table states; fails if it is no table of this version. */
tprt_status tprt__program_words(const int64_t *words, size_t *n_words);

/* The group of a site that a device belongs to, and its rank there. Without axes, a permute has one
 * group of all devices; other kinds have groups of one. */
void tprt__site_position(const tprt__program *program, const tprt__site *site, int64_t device,
                         int64_t *group, int64_t *rank);
int64_t tprt__site_group_size(const tprt__program *program, const tprt__site *site);

/* Writes the pairs of a permute inside one group, in its ranks; `pairs` has space for as many as
 * the group has ranks. Returns their number. */
size_t tprt__site_pairs(const tprt__program *program, const tprt__site *site, int64_t group,
                        tprt_pair *pairs);

static inline bool tprt__site_is_fused(tprt_site_kind kind) {
  return kind >= TPRT_SITE_FUSED_REDUCE;
}

/* Of a fused site: the position of its `nth` operand (from 0) of a kind among its inputs or
 * outputs; -1: it has none. */
int tprt__site_operand(const tprt__site *site, tprt_operand which, int nth);
static inline bool tprt__site_has(const tprt__site *site, tprt_operand which) {
  return tprt__site_operand(site, which, 0) >= 0;
}

/* The pointers of a call of tprt_abi_fused for these operands; NULL: the site has no such operand.
 */
static inline const void *tprt__site_input(const tprt__site *site, const void *const *inputs,
                                           tprt_operand which, int nth) {
  int i = tprt__site_operand(site, which, nth);
  return i < 0 ? NULL : inputs[i];
}
static inline void *tprt__site_output(const tprt__site *site, void *const *outputs,
                                      tprt_operand which, int nth) {
  int i = tprt__site_operand(site, which, nth);
  return i < 0 ? NULL : outputs[i];
}

/* ---- Shared by the files table*.c ---- */

/* TPRT_INVALID_ARGUMENT, naming `what`, for a value outside [low, high]. */
tprt_status tprt__check_range(const char *what, int64_t value, int64_t low, int64_t high);

/* Writes a matmul [m, k] [k, n], or with B [n, k], of dense matrices as loops of a contraction. */
void tprt__matmul_loops(int64_t m, int64_t n, int64_t k, bool transpose_b,
                        tprt_abi_loop loops[TPRT__MATMUL_LOOPS]);
/* Plans it, which also checks that its matrices fit into memory. */
tprt_status tprt__matmul_plan(tprt_dtype dtype, const tprt_abi_loop loops[TPRT__MATMUL_LOOPS],
                              tprt__contraction *plan);

/* table_fused.c: reads the rest of a fused site whose op was read from the site's words. */
tprt_status tprt__read_fused(const tprt__program *program, tprt__site *site);
/* The same by kind, with operands read and checked; each sets site->op to what is communicated. */
tprt_status tprt__read_fused_reduce(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_gather(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_softmax(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_matmul(const tprt__program *program, tprt__site *site);
/* Whether the group of the site can run its op. */
tprt_status tprt__check_group(const tprt__program *program, const tprt__site *site);
/* The number of rows of the send tensor: the product of all dimensions but the last. `name` begins
 * the message of a failure. */
tprt_status tprt__count_rows(const tprt_op *op, const char *name, int64_t *rows);
/* Allocates and plans site->contraction. */
tprt_status tprt__plan_site_matmul(tprt__site *site, const tprt_abi_loop loops[TPRT__MATMUL_LOOPS]);

#endif
