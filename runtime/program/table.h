/* Tables of compiled programs, checked word by word and brought into structs. */
#ifndef TPRT_RUNTIME_PROGRAM_H
#define TPRT_RUNTIME_PROGRAM_H

#include "cpu/contract.h"
#include "comm/op.h"
#include "tprt/abi.h"

/* Of TPRT_SITE_REDUCE_ROWS and the other kinds of rows: tprt_cuda_rows of all ranks, but for their
 * buffers. Words only: ranks compare them as bytes. */
typedef struct tprt__rows {
  int64_t tokens, hidden, blocks; /* of the whole tensor */
  /* TPRT_ROWS_...; TPRT_ROWS_OUT where nothing is quantised, too */
  int64_t layout, operands;
  int64_t norm, algorithm;            /* tprt_cuda_norm, tprt_cuda_algorithm */
  int64_t epsilon;                    /* the bits of a float */
  int64_t quantise, divides;          /* tprt_cuda_quantise */
  int64_t least_largest, least_scale; /* the bits of floats */
  /* the rows are a product [tokens, k] [k, hidden]; 0: they are given */
  int64_t k;
  int64_t transpose_b, words[12]; /* of it: words as of TPRT_SITE_CONTRACT */
} tprt__rows;

/* Of TPRT_SITE_SOFTMAX_ROWS: tprt_cuda_entropy of a device, but for its buffers. The site's op is
 * the all-gather of the parts. */
typedef struct tprt__softmax {
  tprt_dtype dtype, target; /* target: 0 if there is none */
  int64_t tokens, columns;
  int64_t results; /* TPRT_SOFTMAX_... */
  int64_t pick;    /* tprt_cuda_pick */
  bool own, finite;
} tprt__softmax;

/* Of TPRT_SITE_GATHER_MULTIPLY: rows of all devices together, and the products of them. Words only,
 * as tprt__rows. */
typedef struct tprt__gathering {
  int64_t tokens, width, blocks;
  int64_t n;
  int64_t columns[TPRT_GATHER_MOST], transposed[TPRT_GATHER_MOST];
} tprt__gathering;

/* Of TPRT_SITE_MULTIPLY: what is done to the elements of the product. */
typedef struct tprt__finish {
  int64_t function; /* tprt_cuda_epilogue */
  bool bias;
  int64_t words[12]; /* of the product, as of TPRT_SITE_CONTRACT */
} tprt__finish;

typedef struct tprt__site {
  tprt_site_kind kind;
  tprt_op op; /* collectives; `pairs` is left empty, they are in `extra` */
  int n_axes;
  int32_t axes[TPRT_MAX_AXES];
  const int64_t *extra; /* in the table */
  int64_t n_extra;
  /* TPRT_SITE_CONTRACT, and the product of rows and of TPRT_SITE_MULTIPLY */
  tprt__contraction *contraction;
  tprt__rows rows;
  tprt__gathering gathering;
  tprt__softmax softmax;
  tprt__finish finish;
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

/* The words that the table says it has; fails if it is no table of this version. */
tprt_status tprt__program_words(const int64_t *words, size_t *n_words);

/* Which group of a site a device is in, and its rank there. Without axes: a permute has one group
 * of all devices, others have groups of one. */
void tprt__site_position(const tprt__program *program, const tprt__site *site, int64_t device,
                         int64_t *group, int64_t *rank);
int64_t tprt__site_group_size(const tprt__program *program, const tprt__site *site);

/* The pairs of a permute inside one group, in its ranks. `pairs` has room for the group's size. */
size_t tprt__site_pairs(const tprt__program *program, const tprt__site *site, int64_t group,
                        tprt_pair *pairs);

static inline bool tprt__site_multiplies_rows(tprt_site_kind kind) {
  return kind == TPRT_SITE_MULTIPLY_ROWS || kind == TPRT_SITE_MULTIPLY_QUANTISE_ROWS;
}

static inline bool tprt__site_quantises_rows(tprt_site_kind kind) {
  return kind == TPRT_SITE_QUANTISE_ROWS || kind == TPRT_SITE_MULTIPLY_QUANTISE_ROWS;
}

static inline bool tprt__site_has_rows(tprt_site_kind kind) {
  return kind == TPRT_SITE_REDUCE_ROWS || tprt__site_multiplies_rows(kind) ||
         tprt__site_quantises_rows(kind);
}

/* ---- Of the files program*.c ---- */

/* TPRT_INVALID_ARGUMENT, with what it is, for a value that is not in [low, high]. */
tprt_status tprt__check_range(const char *what, int64_t value, int64_t low, int64_t high);

/* A product [m, k] [k, n], or of b [n, k], of dense matrices as 3 loops of TPRT_SITE_CONTRACT; and
 * whether there is such a contraction, which is also how it is checked that its matrices are no
 * larger than memory. */
void tprt__product_words(int64_t m, int64_t n, int64_t k, bool transpose_b, int64_t words[12]);
tprt_status tprt__product_plan(tprt_dtype dtype, const int64_t words[12], tprt__contraction *plan);

/* table_gather.c: behind the plan of the all_gather. */
tprt_status tprt__read_gathering(const tprt__program *program, tprt__site *site);
/* table_multiply.c: all of a site whose op is read: the tensor that it makes. */
tprt_status tprt__read_multiply(const tprt__program *program, tprt__site *site);
/* table_rows.c: which collective the rows of a site stand for, before its plan is made; then all
 * else. */
tprt_status tprt__read_layout(const tprt__program *program, tprt__site *site);
tprt_status tprt__read_rows(tprt__site *site);
/* table_softmax.c: all of a site whose op is read, which becomes the gather. */
tprt_status tprt__read_softmax(const tprt__program *program, tprt__site *site);

#endif
