/* Reads program tables (tprt/abi.h) into structs and checks every word. */
#ifndef TPRT_RUNTIME_PROGRAM_TABLE_H
#define TPRT_RUNTIME_PROGRAM_TABLE_H

#include "comm/op.h"
#include "cpu/contract.h"
#include "tprt/abi.h"

enum { TPRT__MATMUL_LOOPS = 3 };

/* TPRT_SITE_FUSED_REDUCE: a tprt_cuda_rows for all ranks, without buffers. The struct has only
 * int64_t members, because ranks compare it bytewise. */
typedef struct tprt__rows {
  int64_t tokens, hidden, blocks;     /* of the whole tensor, as in tprt_cuda_rows */
  int64_t layout;                     /* TPRT_ROWS_... */
  int64_t norm, algorithm;            /* tprt_cuda_norm, tprt_cuda_algorithm */
  int64_t epsilon;                    /* the bits of an f32 */
  int64_t quantize, divides;          /* tprt_cuda_quantize */
  int64_t least_largest, least_scale; /* the bits of f32s */
  int64_t k;                          /* of the matmul [tokens, k] x [k, hidden]; 0: no matmul */
  int64_t transpose_b;
  tprt_abi_loop loops[TPRT__MATMUL_LOOPS]; /* of the matmul */
} tprt__rows;

/* TPRT_SITE_FUSED_SOFTMAX: a tprt_cuda_entropy for one device, without buffers. The site's op is
 * the all-gather of the row statistics. */
typedef struct tprt__softmax {
  tprt_dtype dtype, target; /* target: 0 if there is no target */
  int64_t tokens, columns;
  int64_t pick; /* tprt_cuda_pick */
  bool own, finite;
} tprt__softmax;

/* TPRT_SITE_FUSED_GATHER: the gathered rows of all devices, and n matmuls of them. Only int64_t
 * members, like tprt__rows. */
typedef struct tprt__gathering {
  int64_t tokens, width, blocks;
  int64_t n;
  int64_t columns[TPRT_MAX_MATMULS], transposed[TPRT_MAX_MATMULS];
} tprt__gathering;

/* TPRT_SITE_FUSED_MATMUL: a matmul with an epilogue. */
typedef struct tprt__matmul {
  int64_t function; /* tprt_cuda_epilogue */
  tprt_abi_loop loops[TPRT__MATMUL_LOOPS];
} tprt__matmul;

/* The loops of a product, and what is done to its elements. */
typedef struct tprt__product {
  const tprt_abi_loop *loops;
  int64_t n_loops;
  bool has_bias;
  int64_t function; /* tprt_cuda_epilogue */
} tprt__product;

/* TPRT_SITE_ROUTE. The site's op is the all_to_all_v, without counts. */
typedef struct tprt__route {
  tprt_route_form form;
  bool to_groups;
  int64_t block_rows, block; /* rows on the side of blocks: of all ranks, and in one block */
  int64_t group_rows, n_groups;
  int n_axes; /* of the site, major to minor */
  int64_t sizes[TPRT_MAX_AXES];
  int64_t part_axes; /* bits: those that divide rows of the same groups */
  tprt_dtype positions, groups, element;
  int64_t row_elements;
} tprt__route;

typedef struct tprt__site {
  tprt_site_kind kind;
  /* The collective that the site is or contains. `pairs` stays empty; the pairs are in `extra`.
   * kind 0: the site does not communicate. */
  tprt_op op;
  int n_axes;
  int32_t axes[TPRT_MAX_AXES];
  const int64_t *extra; /* points into the table */
  int64_t n_extra;
  bool tf32; /* that of the program: its matmuls of f32 may round their operands to TF32 */
  /* Only TPRT_SITE_CONTRACT and TPRT_SITE_FUSED_CONTRACTIONS: the loops of each product, which
   * point into the table. */
  int n_products;
  tprt__product products[TPRT_MAX_MATMULS];
  tprt_dtype factors[2]; /* the types of A and B; 0: that of C */
  /* Plans of these products, or of the matmul of a fused site; else NULL. Owned by the site. */
  tprt__contraction *contraction;
  tprt_abi_operands operands; /* only fused sites; below, the member of the site's kind is set */
  tprt__rows rows;
  tprt__gathering gathering;
  tprt__softmax softmax;
  tprt__matmul matmul;
  tprt_abi_fused_attention attention;
  tprt__route route;
} tprt__site;

typedef struct tprt__program {
  const int64_t *table;
  int64_t n_words;
  int n_axes;
  int64_t sizes[TPRT_MAX_AXES];
  int64_t n_devices;
  size_t private_bytes, registered_bytes;
  tprt_target target;
  bool tf32;
  int n_sites;
  tprt__site *sites;
} tprt__program;

/* Reads and checks a table with n_words readable words. The program keeps pointers into the table;
 * free it with tprt__program_clear. */
tprt_status tprt__program_read(const int64_t *words, size_t n_words, tprt__program *program);
void tprt__program_clear(tprt__program *program);

/* Gives the number of words that the table states. Fails if it is not a table of this version. */
tprt_status tprt__program_words(const int64_t *words, size_t *n_words);

/* Gives the group of a site to which a device belongs, and the device's rank in that group. Without
 * axes, a permute has one group of all devices; other kinds have groups of one device. */
void tprt__site_position(const tprt__program *program, const tprt__site *site, int64_t device,
                         int64_t *group, int64_t *rank);
int64_t tprt__site_group_size(const tprt__program *program, const tprt__site *site);

/* Writes the pairs of a permute within one group, as ranks of that group. `pairs` has capacity for
 * as many pairs as the group has ranks. Returns the number of pairs. */
size_t tprt__site_pairs(const tprt__program *program, const tprt__site *site, int64_t group,
                        tprt_pair *pairs);

static inline bool tprt__site_is_fused(tprt_site_kind kind) {
  return kind >= TPRT_SITE_FUSED_REDUCE;
}

/* Returns the position of the `nth` operand (from 0) with role `which` among the inputs or outputs
 * of a fused site; -1 if there is none. */
int tprt__site_operand(const tprt__site *site, tprt_operand which, int nth);
static inline bool tprt__site_has(const tprt__site *site, tprt_operand which) {
  return tprt__site_operand(site, which, 0) >= 0;
}

/* Return the pointer of an operand in a call of tprt_abi_fused; NULL if the site has no such
 * operand. */
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

/* Returns TPRT_INVALID_ARGUMENT, with `what` in the message, if the value is outside [low,
 * high]. */
tprt_status tprt__check_range(const char *what, int64_t value, int64_t low, int64_t high);

/* Writes the matmul [m, k] x [k, n] of dense matrices as loops of a contraction. With transpose_b,
 * B is stored as [n, k]. */
void tprt__matmul_loops(int64_t m, int64_t n, int64_t k, bool transpose_b,
                        tprt_abi_loop loops[TPRT__MATMUL_LOOPS]);
/* Plans such a matmul. This also checks that its matrices fit into memory. */
tprt_status tprt__matmul_plan(tprt_dtype dtype, const tprt_abi_loop loops[TPRT__MATMUL_LOOPS],
                              tprt__contraction *plan);

/* table_fused.c: reads the rest of a fused site whose op has already been read from the site's
 * words. */
tprt_status tprt__read_fused(const tprt__program *program, tprt__site *site);
/* The same for each kind, after the operands have been read and checked. Each sets site->op to the
 * collective that is actually run. */
tprt_status tprt__read_fused_reduce(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_gather(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_softmax(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_matmul(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_contractions(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_fused_attention(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_route(const tprt__program *program, tprt__site *site);
/* table_contract.c: reads TPRT_SITE_CONTRACT. */
tprt_status tprt__read_contraction(const tprt__program *program, const tprt_abi_site *words,
                                   tprt__site *site);
/* Checks that n words which a site or program does not use are 0. */
tprt_status tprt__check_unused(const char *what, const int64_t *words, int64_t n);
/* Checks that the group of the site can run its op. */
tprt_status tprt__check_group(const tprt__program *program, const tprt__site *site);
/* Counts the rows of the send tensor: the product of all dimensions but the last. `name` begins the
 * error message. */
tprt_status tprt__count_rows(const tprt_op *op, const char *name, int64_t *rows);
/* Allocates and plans site->contraction. */
tprt_status tprt__plan_site_matmul(tprt__site *site, const tprt_abi_loop loops[TPRT__MATMUL_LOOPS]);

#endif
