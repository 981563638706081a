/* The ABI between compiled programs and the runtime.
 *
 * A compiled program is an object file. Its entry function takes a tprt_context as first argument
 * and returns a status (an int32_t; TPRT_OK is 0). The code has no mutable global state, so one
 * copy serves any number of ranks in a process. Besides the entry `NAME`, the object contains a
 * constant table `NAME.tprt` of 64-bit words. The table describes the mesh, the memory, and every
 * place ("site") where the code calls the runtime. The entry first passes the table to
 * tprt_abi_enter; later calls refer to a site by its index.
 *
 * Errors are sticky. After a call has failed, further calls on the context return at once and do
 * nothing, and the entry returns the first status. A loop whose body communicates also tests
 * tprt_abi_status, so that it terminates. A context that fails aborts its communicators with its
 * status: the other ranks return the same status instead of waiting.
 *
 * The table is a tprt_abi_header, then any number of sites (tprt_abi_site), then extra data of
 * sites; offsets in the table count words. All members of these structs are int64_t, so the members
 * are the words, in this order. The compiler and the runtime both use these structs, so the layout
 * has a single definition. A word that a kind of site does not use is 0. Every word is checked when
 * the program is bound; an invalid one gives TPRT_INVALID_ARGUMENT. */
#ifndef TPRT_ABI_H
#define TPRT_ABI_H

#include "tprt/tprt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TPRT_ABI_MAGIC INT64_C(0x7470727461626931) /* "tprtabi1" */
enum {
  TPRT_ABI_VERSION = 9, /* a table of another version is rejected with TPRT_MISMATCH */
  TPRT_MAX_AXES = 8,
};

/* The executor of a program. The entry of a program for TPRT_TARGET_CUDA runs on the host and only
 * enqueues work. All its buffers, including arguments and results, are memory of the context's GPU.
 * Kernels, contractions and collectives run there in the order of the calls. */
typedef enum tprt_target { TPRT_TARGET_HOST = 0, TPRT_TARGET_CUDA = 1 } tprt_target;

typedef struct tprt_abi_header {
  int64_t magic;                /* TPRT_ABI_MAGIC */
  int64_t version;              /* TPRT_ABI_VERSION */
  int64_t n_words;              /* in the whole table */
  int64_t n_axes;               /* number of mesh axes */
  int64_t sizes[TPRT_MAX_AXES]; /* of the mesh axes, major to minor; 1 beyond n_axes */
  int64_t private_bytes;
  int64_t registered_bytes; /* size of the block that peers can access */
  int64_t n_sites;
  int64_t first_site; /* word offset */
  int64_t target;     /* tprt_target */
  /* 1: matmuls round f32 operands to TF32, as tprt_cuda_gemm.tf32; only of TPRT_TARGET_CUDA.
   * Matmuls that do not run with cuBLASLt, such as small ones, do not round them. */
  int64_t tf32;
  int64_t reserved[6];
} tprt_abi_header;

typedef enum tprt_site_kind {
  TPRT_SITE_ALL_REDUCE = 1,
  /* Along dim: the recv shape is the send shape with dim * group size. */
  TPRT_SITE_ALL_GATHER = 2,
  /* Along dim: the recv shape is the send shape with dim / group size. */
  TPRT_SITE_REDUCE_SCATTER = 3,
  /* The recv shape is the send shape with split_dim / group size and dim (the concatenated
   * dimension) * group size. */
  TPRT_SITE_ALL_TO_ALL = 4,
  /* Extra data: pairs (source, destination) of devices, numbered in the mesh. A device that is not
   * a destination receives zeros. Without axes the group is the whole mesh; otherwise each pair
   * stays within one group. */
  TPRT_SITE_PERMUTE = 5,
  TPRT_SITE_BROADCAST = 6, /* from group rank `root` */
  /* C += A * B, summed over the contracted loops; f16 and bf16 accumulate in f32 and round once.
   * With dim = 1: C = A * B; then no loop may have size 0. Extra data: the number of loops, then
   * one tprt_abi_loop each. Has neither axes nor a shape. dtype is the type of C, split_dim and
   * root are those of A and B; 0: the type of C. They may differ from it in programs for GPUs, if C
   * is f32: both f16, both bf16, or each an f8. */
  TPRT_SITE_CONTRACT = 7,

  /* Fused sites, run by tprt_abi_fused. Their extra data begin with tprt_abi_operands. These are
   * only in programs for GPUs. */
  TPRT_SITE_FUSED_REDUCE = 8,     /* tprt_abi_fused_reduce */
  TPRT_SITE_FUSED_GATHER = 9,     /* tprt_abi_fused_gather */
  TPRT_SITE_FUSED_SOFTMAX = 10,   /* tprt_abi_fused_softmax */
  TPRT_SITE_FUSED_MATMUL = 11,    /* tprt_abi_fused_matmul */
  TPRT_SITE_FUSED_ATTENTION = 12, /* tprt_abi_fused_attention; likewise the next one */
  TPRT_SITE_FUSED_ATTENTION_GRADIENT = 13,

  /* An exchange of rows, whose sizes are known when it runs. A fused site for every target. */
  TPRT_SITE_ROUTE = 14, /* tprt_abi_route */

  TPRT_SITE_FUSED_CONTRACTIONS = 15, /* tprt_abi_fused_contractions; only in programs for GPUs */
} tprt_site_kind;

typedef struct tprt_abi_site {
  int64_t kind;      /* tprt_site_kind */
  int64_t dtype;     /* tprt_dtype */
  int64_t reduction; /* tprt_reduction; TPRT_NO_REDUCTION for kinds that do not reduce */
  int64_t n_axes;    /* 0: a group of one device; for permutes the whole mesh */
  /* Mesh axes of the group, major to minor. Ranks in the group are numbered row-major in this
   * order. */
  int64_t axes[TPRT_MAX_AXES];
  int64_t rank;                 /* number of dimensions of the send tensor */
  int64_t shape[TPRT_MAX_RANK]; /* of the send tensor; 0 beyond rank */
  /* The gathered or scattered dimension. All-to-all: the concatenated dimension. Contraction: 1 if
   * C is overwritten. */
  int64_t dim;
  int64_t split_dim; /* all-to-all. Contraction: a tprt_dtype, see there; likewise root */
  int64_t root;      /* broadcast */
  int64_t extra;     /* word offset of extra data in the table */
  int64_t n_extra;   /* number of its words */
} tprt_abi_site;

/* A loop of a contraction. A loop whose stride in C is 0 is contracted. */
typedef struct tprt_abi_loop {
  int64_t size;
  int64_t stride[3]; /* in A, B, C, in elements; 0 if the operand lacks the dimension */
} tprt_abi_loop;

/* Word offsets in the extra data of TPRT_SITE_CONTRACT: the number of loops, and the first loop. */
enum { TPRT_CONTRACT_N_LOOPS, TPRT_CONTRACT_LOOPS };

enum {
  TPRT_ABI_HEADER_WORDS = sizeof(tprt_abi_header) / sizeof(int64_t), /* 24 */
  TPRT_SITE_WORDS = sizeof(tprt_abi_site) / sizeof(int64_t),         /* 32 */
  TPRT_LOOP_WORDS = sizeof(tprt_abi_loop) / sizeof(int64_t),         /* 4 */
};

/* ---- Fused sites: calls with any number of tensors ---- */

/* Role of an operand of a fused site. */
typedef enum tprt_operand {
  /* Inputs. */
  TPRT_IN_TENSOR = 1, /* the send tensor */
  TPRT_IN_A,          /* left factor of a matmul [.., k]; the matmul's result is the send tensor */
  TPRT_IN_B,          /* right factor [k, columns], or [columns, k] */
  TPRT_IN_RESIDUAL,
  TPRT_IN_BIAS,
  TPRT_IN_GAMMA,
  TPRT_IN_BETA,
  TPRT_IN_STATIC_SCALE, /* one f32 */
  TPRT_IN_TARGET,       /* column numbers, i32 or i64, counted over the whole group */
  TPRT_IN_QUERIES,
  TPRT_IN_KEYS,
  TPRT_IN_VALUES,
  TPRT_IN_MASK,
  TPRT_IN_DROPOUT,
  TPRT_IN_POSITION, /* one i32 or i64; of TPRT_SITE_ROUTE one for each row */
  TPRT_IN_ATTENDED, /* the result of an attention */
  TPRT_IN_MAX,      /* f32, one per row; likewise the next one */
  TPRT_IN_SUM,
  TPRT_IN_GRADIENT, /* of the result */
  TPRT_IN_STARTS,   /* first row of each group, i32 or i64 */
  TPRT_IN_ENDS,     /* row behind the last one of each group, of the same type */
  TPRT_IN_INIT,     /* of the result */
  /* Outputs. */
  TPRT_OUT_TENSOR,
  TPRT_OUT_RESIDUAL,  /* the sum before the norm */
  TPRT_OUT_QUANTIZED, /* f8e4m3 */
  TPRT_OUT_SCALE,     /* f32: one per row, or one per 128 elements of a row */
  TPRT_OUT_GATHERED,
  TPRT_OUT_MAX,    /* f32, one per row; likewise the next two */
  TPRT_OUT_SUM,    /* of exp(x - max) */
  TPRT_OUT_PICKED, /* value derived from the target column, see tprt_cuda_pick */
  TPRT_OUT_GRADIENT_QUERIES,
  TPRT_OUT_GRADIENT_KEYS,
  TPRT_OUT_GRADIENT_VALUES,
  TPRT_OUT_WORKSPACE, /* f32, one per row, of unspecified contents */
  TPRT_N_OPERANDS,
} tprt_operand;

enum { TPRT_MAX_INPUTS = 10, TPRT_MAX_OUTPUTS = 10 };

/* The operands of a fused site, in the order in which tprt_abi_fused receives them. Only operands
 * that the site has are listed; entries beyond the counts are 0. Each operand appears once, except
 * TPRT_IN_B and TPRT_OUT_TENSOR of TPRT_SITE_FUSED_GATHER and all of TPRT_SITE_FUSED_CONTRACTIONS,
 * which appear once per product. */
typedef struct tprt_abi_operands {
  int64_t n_inputs, n_outputs;
  int64_t inputs[TPRT_MAX_INPUTS], outputs[TPRT_MAX_OUTPUTS]; /* tprt_operand */
} tprt_abi_operands;

/* Layout of the results of TPRT_SITE_FUSED_REDUCE. */
enum {
  TPRT_ROWS_WHOLE, /* all-reduce */
  /* Reduce-scatter along the site's dim: in the residual, its sum and the output, dim is divided by
   * the group size. */
  TPRT_ROWS_SCATTERED,
  TPRT_ROWS_GATHERED, /* the same, then an all-gather of the outputs, which are complete */
};

/* TPRT_SITE_FUSED_REDUCE: an all-reduce or reduce-scatter with fused row epilogues, as computed by
 * tprt_cuda_reduce_rows (tprt/cuda.h). Rows run along the last dimension of the send tensor; their
 * size is a multiple of 16 bytes. Inputs: the tensor, or A and B, whose product is rounded and then
 * reduced (tprt_cuda_multiply_reduce in tprt/cuda_gemm.h); residual; bias; gamma with a norm; beta
 * with a layer norm; the static scale with static quantization. Outputs: the tensor, unless only
 * the quantized output is wanted; the sum with the residual; the quantized tensor and its computed
 * scales. */
typedef struct tprt_abi_fused_reduce {
  tprt_abi_operands operands;
  int64_t layout;    /* TPRT_ROWS_WHOLE, ... */
  int64_t norm;      /* tprt_cuda_norm */
  int64_t epsilon;   /* of the norm, as the bits of an f32; 0 without a norm */
  int64_t algorithm; /* tprt_cuda_algorithm assumed by the compiler; all give the same result */
  int64_t k;         /* columns of A; 0 without a matmul */
  int64_t transpose_b;
  /* tprt_cuda_quantize; per-group scales need rows of a multiple of 128 elements */
  int64_t quantize;
  /* lower bound of the max from which a scale is computed: the bits of an f32 >= 0 */
  int64_t least_max;
  int64_t least_scale; /* likewise: lower bound of a computed scale */
  int64_t divides;     /* 1: quantization divides by the scale; 0: it multiplies by the inverse */
} tprt_abi_fused_reduce;

enum { TPRT_MAX_MATMULS = 4 };

/* TPRT_SITE_FUSED_GATHER: an all-gather along dim, overlapped with matmuls of the gathered tensor,
 * as computed by tprt_cuda_gather_multiply (tprt/cuda_gemm.h). Inputs: the tensor [.., width], then
 * one B per matmul. Outputs: the gathered tensor, unless only the matmul results are wanted; then
 * one tensor per matmul. */
typedef struct tprt_abi_fused_gather {
  tprt_abi_operands operands;
  int64_t n_matmuls;
  int64_t columns[TPRT_MAX_MATMULS];     /* of each B; 0 beyond n_matmuls */
  int64_t transpose_b[TPRT_MAX_MATMULS]; /* 1: B is stored as [columns, width] */
} tprt_abi_fused_gather;

/* TPRT_SITE_FUSED_SOFTMAX: the row statistics of a softmax (or cross entropy) whose columns are
 * sharded over the group, as computed by tprt_cuda_cross_entropy (tprt/cuda.h). Inputs: the logits
 * (the tensor); their last dimension is sharded in the order of the group's ranks and is a multiple
 * of 16 bytes on each device; with OUT_PICKED also the target. Outputs: max, sum, picked. The site
 * all-gathers 16 bytes per row. */
typedef struct tprt_abi_fused_softmax {
  tprt_abi_operands operands;
  int64_t target; /* tprt_dtype of the target; 0: none */
  int64_t pick;   /* tprt_cuda_pick; 0 without OUT_PICKED. The same holds for `own` */
  int64_t own;    /* 1: picked is 0 if another device has the column */
  int64_t finite; /* 1: if the max of a row is infinite, its sum is relative to 0, not to the max */
} tprt_abi_fused_softmax;

/* TPRT_SITE_FUSED_MATMUL: out = f(A B + bias), accumulated in f32 and rounded once: the epilogues
 * of tprt_cuda_multiply. The send tensor describes the result; there are no axes. Inputs: A, B,
 * bias [columns]. Output: the tensor. */
typedef struct tprt_abi_fused_matmul {
  tprt_abi_operands operands;
  int64_t k; /* columns of A */
  int64_t transpose_b;
  int64_t function; /* a tprt_cuda_epilogue that is no gradient */
} tprt_abi_fused_matmul;

enum { TPRT_PRODUCT_LOOPS = 6 };

/* TPRT_SITE_FUSED_CONTRACTIONS: C = A * B several times, as TPRT_SITE_CONTRACT with dim = 1, or
 * with an epilogue as TPRT_SITE_FUSED_MATMUL, at the same time: none reads what another writes. A
 * GPU with room for the blocks of several runs them side by side, so that projections of few
 * columns do not wait for each other; each has the bits that it has alone. Inputs: of each product
 * in turn A, B, and the bias if it has one; products may share them. Outputs: C of each. The site's
 * dtype is the type of all C; there is no send tensor. The loops of a product with an epilogue are
 * m, n and k of dense matrices, of one type: A [m, k], and B [k, n] or [n, k]. */
typedef struct tprt_abi_fused_contractions {
  tprt_abi_operands operands;
  int64_t factors[2]; /* [0]: type of every A, [1]: of every B; see TPRT_SITE_CONTRACT */
  int64_t n;          /* products, 1 to TPRT_MAX_MATMULS */
  int64_t biases;     /* bit i: product i has a bias */
  int64_t functions[TPRT_MAX_MATMULS]; /* tprt_cuda_epilogue of each, no gradient */
  int64_t n_loops[TPRT_MAX_MATMULS];   /* of each product; 0 beyond n, like the unused loops */
  tprt_abi_loop loops[TPRT_MAX_MATMULS][TPRT_PRODUCT_LOOPS];
} tprt_abi_fused_contractions;

/* What a route does with row i and position i. */
typedef enum tprt_route_form {
  TPRT_ROUTE_GATHER, /* out[i] = rows[position]; a position outside is moved to the nearest row */
  /* out[position] += rows[i], or = rows[i], from `init` on, in the order of i; a position outside
   * is ignored */
  TPRT_ROUTE_ADD,
  TPRT_ROUTE_SET,
  TPRT_N_ROUTES,
} tprt_route_form;

/* TPRT_SITE_ROUTE: moves rows (elements of dimension 0) between two sides. On the side of blocks,
 * rank d of the site's group has rows d*b to (d+1)*b - 1 of block_rows, b = ceil(block_rows /
 * ranks). On the side of groups, rows are sorted by group, every rank has a buffer for all
 * group_rows, and rank d has the rows of groups d*n_groups/ranks to (d+1)*n_groups/ranks - 1; rows
 * in front of the first group are those of the first rank, and rows behind the last group those of
 * the last rank. Along the axes of part_axes, ranks have the same groups, and count as one rank in
 * this; they divide its m rows into n consecutive parts, which begin at its rows m*i/n. What a
 * buffer holds of other rows is not read, and is unspecified in results. Inputs: the tensor, on the
 * side that sends; the positions, one for each row of the result (gather) or of the tensor; starts
 * and ends of the groups, equal on all ranks like the positions; for scatters the init, of the
 * shape of the result. Output: the tensor. Sums have the bits that one device computes: each is
 * rounded to the type of the tensor, in the order of i. A row that another rank uses k times is
 * sent k times, and counted so. Fails with TPRT_INVALID_STATE unless 0 <= starts[0] and starts[g]
 * <= ends[g] = starts[g+1] for all groups. */
typedef struct tprt_abi_route {
  tprt_abi_operands operands;
  int64_t form;      /* tprt_route_form */
  int64_t to_groups; /* 1: the result is on the side of groups; 0: of blocks */
  int64_t block_rows, group_rows, n_groups;
  int64_t position_type, group_type; /* tprt_dtype of the positions; of starts and ends */
  int64_t part_axes; /* bit i: the site's axis i, in its list, divides rows of the same groups */
} tprt_abi_route;

/* The tensors of TPRT_SITE_FUSED_ATTENTION and its gradient, as indices of strides. */
enum {
  TPRT_ATTENTION_Q,
  TPRT_ATTENTION_K,
  TPRT_ATTENTION_V,
  TPRT_ATTENTION_MASK,
  TPRT_ATTENTION_DROPOUT,
  TPRT_ATTENTION_OUT,
  TPRT_ATTENTION_MAX, /* statistics of rows */
  TPRT_ATTENTION_SUM,
  TPRT_ATTENTION_GRADIENT, /* of the result */
  TPRT_ATTENTION_GRADIENT_Q,
  TPRT_ATTENTION_GRADIENT_K,
  TPRT_ATTENTION_GRADIENT_V,
  TPRT_ATTENTION_TENSORS,
};

/* A loop of an attention. Size 1 stands for no loop. */
typedef struct tprt_abi_attention_loop {
  int64_t size;
  int64_t stride[TPRT_ATTENTION_TENSORS]; /* in elements; 0: the tensor lacks this dimension */
} tprt_abi_attention_loop;

/* What an element of the mask does to its score: of TPRT_BOOL it hides the score if it is 0
 * (KEEP), or if it is not (HIDE); of f32, or of the type of the queries, it is added (ADD). */
typedef enum tprt_attention_mask {
  TPRT_ATTENTION_NO_MASK,
  TPRT_ATTENTION_KEEP,
  TPRT_ATTENTION_HIDE,
  TPRT_ATTENTION_ADD,
  TPRT_N_ATTENTION_MASKS,
} tprt_attention_mask;

/* What an element of the dropout does to the weight of its score, before the weight is multiplied
 * by dropout_scale: of TPRT_BOOL it multiplies the weight by 0 if it is 0 (KEEP), or if it is not
 * (DROP), or makes it 0 with `zeroes_dropped`;
 * of f32, or of the type of the queries, it multiplies the weight. */
typedef enum tprt_attention_dropout {
  TPRT_ATTENTION_NO_DROPOUT,
  TPRT_ATTENTION_KEEP_WEIGHT,
  TPRT_ATTENTION_DROP_WEIGHT,
  TPRT_ATTENTION_MULTIPLY,
  TPRT_N_ATTENTION_DROPOUTS,
} tprt_attention_dropout;

enum {
  TPRT_ATTENTION_OUTER = 4,
  TPRT_ATTENTION_FEATURES = 128, /* most features of a query, a key or a value */
};

/* TPRT_SITE_FUSED_ATTENTION: attention in one kernel that stores no scores. The send tensor is that
 * of the queries, of f32, f16 or bf16, which is also the type of keys and values; there are no
 * axes. Inputs: queries, keys, values; mask; dropout; position. Outputs: the tensor; max and sum,
 * both or neither. For each iteration of the outer loops, of the group (queries that share keys and
 * values) and of the rows:
 *
 *     score[column] = scale * sum(queries[row][feature] * keys[column][feature])
 *                     + mask[row][column]
 *     out[row] = sum(exp(score[column] - m) * values[column]) / sum(exp(score[column] - m))
 *
 * with m the largest score of the row, which is its max; its sum is that of exp(score[column] - m).
 * With `cap`, cap * tanh(x / cap) takes the place of the scaled product x. A column that the mask
 * hides has the score `hidden`; with `causal` so have those beyond row + offset + position. With a
 * dropout, values are multiplied by the changed weights; they are divided by the sum of all.
 * Everything is computed in f32 and rounded once, except that kernels for tensor cores round
 * exp(...) to the type of the values. Columns are added in an order that depends on the shape
 * alone. A row whose scores are all -infinity, or one of which is +infinity or NaN, is NaN;
 * with `zeroes_hidden` the former is 0.
 * Values of columns that a causal mask hides may be left out even where they are infinite or NaN.
 *
 * TPRT_SITE_FUSED_ATTENTION_GRADIENT: the gradients of queries, keys and values of such an
 * attention, in two kernels that store no scores (FlashAttention-2: Dao 2023). Inputs: also the
 * result (attended), max and sum, and the gradient of the result, of the type of the queries.
 * Outputs: the gradients of queries, keys and values; the workspace. With w = exp(score[column] -
 * max[row]) / sum[row]:
 *
 *     s[row][column] = w * (sum(gradient[row] * values[column]) - sum(gradient[row] * out[row]))
 *     gradient_queries[row] = scale * sum(s[row][column] * keys[column])
 *     gradient_keys[column] = scale * sum(s[row][column] * queries[row])
 *     gradient_values[column] = sum(w * gradient[row])
 *
 * where s is 0 in hidden columns, unless `passes_hidden`, and is multiplied by the derivative of
 * the cap. The dropout changes w in the last line, and sum(gradient[row] * values[column]), as it
 * changes the weight. The gradients of keys and values also sum over all queries that share them
 * (the group). Numbers are rounded as above; kernels for tensor cores also round s to the type of
 * the queries. */
typedef struct tprt_abi_fused_attention {
  tprt_abi_operands operands;
  tprt_abi_attention_loop outer[TPRT_ATTENTION_OUTER];
  tprt_abi_attention_loop group, row, column;
  tprt_abi_attention_loop feature; /* of queries and keys */
  tprt_abi_attention_loop value;   /* feature of values and results */
  int64_t scale;                   /* the bits of an f32 */
  int64_t hidden;                  /* the bits of an f32 < 0, or -infinity */
  int64_t mask;                    /* tprt_attention_mask */
  int64_t mask_dtype;              /* tprt_dtype; 0 without a mask */
  int64_t causal;                  /* 1: columns beyond row + offset + position are hidden */
  int64_t offset;
  int64_t position_dtype; /* tprt_dtype; 0: there is no position */
  int64_t out_dtype;      /* f32, or the type of the queries */
  /* Only for the gradient, else 0. The types of the gradients of queries, keys and values: each
   * f32, or the type of the queries. */
  int64_t gradient_dtypes[3];
  int64_t passes_hidden;
  int64_t zeroes_hidden; /* 1: a row whose scores are all -infinity is 0; only without a gradient */
  int64_t cap;           /* the bits of an f32 >= 0; 0: scores have no cap */
  int64_t dropout;       /* tprt_attention_dropout */
  int64_t dropout_dtype; /* tprt_dtype; 0 without dropout */
  int64_t dropout_scale; /* the bits of an f32 > 0; 0 without dropout */
  int64_t zeroes_dropped; /* 1: dropped weights are 0 also where they are NaN; KEEP or DROP only */
} tprt_abi_fused_attention;

typedef struct tprt_context tprt_context;

/* Makes `program` the current program of the context, and binds it on the first call with this
 * table. Binding checks magic, version and that the mesh has as many devices as the world has
 * ranks, compares a hash of the table over all ranks, creates the group communicators, and
 * allocates the blocks. Later calls with the same table are cheap. The table must stay unchanged
 * while the context lives. The first call is collective over the world. Returns the sticky
 * status. */
TPRT_API int32_t tprt_abi_enter(tprt_context *context, const int64_t *program);

/* Return the private and the registered block of the bound program, 64-byte aligned. Registered
 * blocks have equal offsets on all ranks. */
TPRT_API void *tprt_abi_private(tprt_context *context);
TPRT_API void *tprt_abi_registered(tprt_context *context);

/* Runs collective site `site`. `send` and `recv` are dense row-major tensors; they may be equal for
 * all_reduce and broadcast. */
TPRT_API int32_t tprt_abi_collective(tprt_context *context, int32_t site, const void *send,
                                     void *recv);

/* Split a collective into two calls, between which the program continues. From start to wait,
 * neither the program nor another site may change `send` or access `recv`. Sites started on one
 * group run in the order in which they were started; a collective run by tprt_abi_collective waits
 * for the started ones before it. A site must be waited for before it is started again, and wait
 * takes the same buffers as start; otherwise TPRT_INVALID_ARGUMENT. If the context fails, all
 * started collectives end before the failing call returns.
 *
 * On the host, a thread of the group runs the collective in the background if each rank of the host
 * has two processors, or if TPRT_PROGRESS=1. Otherwise, or if TPRT_PROGRESS=0, start only announces
 * this rank to its peers, and wait runs the collective.
 *
 * On a GPU, the collective runs in a second stream of the context, after all work that both streams
 * have at that time. Work that the context enqueues after wait follows it. Neither call blocks the
 * host, unless the backend lacks TPRT_CAP_GPU_PROGRAMS: then start runs the whole collective. */
TPRT_API int32_t tprt_abi_start(tprt_context *context, int32_t site, const void *send, void *recv);
TPRT_API int32_t tprt_abi_wait(tprt_context *context, int32_t site, const void *send, void *recv);

/* Runs contraction site `site`: c += a * b. Operands are aligned for their element type and do not
 * overlap c. */
TPRT_API int32_t tprt_abi_contract(tprt_context *context, int32_t site, const void *a,
                                   const void *b, void *c);

/* ---- Programs for TPRT_TARGET_CUDA; TPRT_INVALID_ARGUMENT on a context of another target ---- */

/* Runs fused site `site`. `inputs` and `outputs` hold one pointer to GPU memory per operand of the
 * site, in the site's order (tprt_abi_operands); the arrays are read before the call returns. No
 * output overlaps any other operand. If the site's tensors have no elements, pointers may be
 * NULL. */
TPRT_API int32_t tprt_abi_fused(tprt_context *context, int32_t site, const void *const *inputs,
                                void *const *outputs);

/* Loads the kernels of the bound program. `ptx` is zero-terminated PTX text that lives as long as
 * the context. The kernels are named tp_kernel0, tp_kernel1, ..., and take at most
 * TPRT_KERNEL_ARGUMENTS arguments. Repeated calls with the same text are cheap. */
enum { TPRT_KERNEL_ARGUMENTS = 64 };
TPRT_API int32_t tprt_abi_kernels(tprt_context *context, const char *ptx);

/* Enqueues kernel `kernel` on n_blocks blocks of n_threads threads. Each argument is in the low
 * bytes of a word, little endian: a GPU address, a number, or a bool in a byte. The arguments are
 * copied before the call returns. */
TPRT_API int32_t tprt_abi_launch(tprt_context *context, int32_t kernel, int64_t n_blocks,
                                 int32_t n_threads, const uint64_t *arguments, int32_t n_arguments);

/* Enqueues a copy between GPU buffers that do not overlap. */
TPRT_API int32_t tprt_abi_copy(tprt_context *context, const void *from, void *to, int64_t bytes);

/* read waits for all enqueued work, then copies from the GPU to the host. write enqueues a copy of
 * the current contents of `host` to the GPU. */
TPRT_API int32_t tprt_abi_read(tprt_context *context, const void *device, void *host,
                               int64_t bytes);
TPRT_API int32_t tprt_abi_write(tprt_context *context, void *device, const void *host,
                                int64_t bytes);

/* Returns the GPU copy of a constant of the program, which the first call with this address
 * creates. NULL on a failed context. */
TPRT_API void *tprt_abi_constant(tprt_context *context, const void *host, int64_t bytes);

/* tprt_abi_assert_word returns the GPU address of an int32_t, into which kernels write the number
 * of an assertion that failed; it is 0 while no assertion has failed. NULL on a failed context.
 * tprt_abi_asserted waits for all enqueued work and returns that number; 0 on a failed context. */
TPRT_API void *tprt_abi_assert_word(tprt_context *context);
TPRT_API int32_t tprt_abi_asserted(tprt_context *context);

/* ---- All programs ---- */

/* Returns the linear number of this device in the mesh; 0 on a failed context. */
TPRT_API int64_t tprt_abi_device(tprt_context *context);

/* Records that the program failed with a status, and returns it. Used for assertions of the source
 * program. A value that is not an error status counts as TPRT_PROGRAM. `message` may be NULL. */
TPRT_API int32_t tprt_abi_fail(tprt_context *context, int32_t status, const char *message);

/* Returns the sticky status. */
TPRT_API int32_t tprt_abi_status(tprt_context *context);

/* Checks a table of `n_words` readable words without a context, for tools and loaders. */
TPRT_API tprt_status tprt_abi_check(const int64_t *program, size_t n_words);

/* Implements memref.copy as MLIR lowers it for strided views (the ABI of MLIR's runner utilities),
 * so that a compiled program needs no other library. */
typedef struct tprt_unranked_memref {
  int64_t rank;
  void *descriptor; /* {allocated, aligned, offset, sizes[rank], strides[rank]} */
} tprt_unranked_memref;
TPRT_API void memrefCopy(int64_t element_bytes, tprt_unranked_memref *source,
                         tprt_unranked_memref *destination);

/* Converts f32 to bf16 as LLVM asks for it on processors without such an instruction (the ABI of
 * compiler-rt and libgcc): the low 16 bits of the result are the bf16. Weak: where the compiler's
 * runtime library has it, too, either may be used. */
TPRT_API float __truncsfbf2(float value);

/* ---- Functions for launchers ---- */

typedef struct tprt_context_config {
  size_t size;        /* sizeof(tprt_context_config); zero in the other members means the default */
  int blas_threads;   /* threads of one contraction; 0: max(1, cores / ranks of this host) */
  tprt_target target; /* of the context's programs */
} tprt_context_config;

/* Creates a context on `world`, which it borrows and must not outlive. One thread at a time uses a
 * context; another thread may abort its world. `config` may be NULL.
 *
 * With TPRT_TARGET_CUDA a context has its own stream. Its device is the one named by TPRT_DEVICE,
 * else the thread's current device, else the rank modulo the number of devices: several ranks may
 * share a GPU ("virtual ranks"). cuBLASLt runs the contractions that it supports, and kernels run
 * the others. A program that needs cuBLASLt fails to bind with TPRT_UNSUPPORTED if it is not
 * installed. Collectives stay on the devices if the backend has TPRT_CAP_GPU_PROGRAMS: loopback, if
 * the ranks' GPUs can access each other's memory, and nccl. Otherwise they are staged through the
 * host. Without a driver or a GPU: TPRT_UNSUPPORTED, and the error text gives the reason. */
TPRT_API tprt_status tprt_context_create(tprt_comm *world, const tprt_context_config *config,
                                         tprt_context **context);
/* Destroys a context. If tprt_context_rows reports kernels that access other GPUs, all ranks of the
 * world must destroy their contexts concurrently, each in its own thread or process: a rank frees
 * memory only after the peers have released it. */
TPRT_API void tprt_context_destroy(tprt_context *context);

/* Returns the GEMM implementation of programs on the host and the reason for its choice, as one
 * line for reports: "built-in (measured, time of openblas over built-in ...)". TPRT_GEMM selects
 * it; otherwise it is measured once per host, and rank 0's choice holds for all ranks. On a GPU ""
 * unless TPRT_TIMED_GEMM is set; then how the algorithms of cuBLASLt were chosen for the matmuls of
 * all programs so far. "" before the first program is entered. The text lives as long as the
 * context, and changes when a program is entered. */
TPRT_API const char *tprt_context_gemm(const tprt_context *context);

/* Returns who computes the fused attentions of all programs so far on a GPU, without gradients, and
 * why, as one line for reports: "cuDNN for 2 of 3 (pinned by TPRT_ATTENTION)". "" if TPRT_ATTENTION
 * is not set, before the first program is entered, and on the host. The text lives as long as the
 * context, and changes when a program is entered. */
TPRT_API const char *tprt_context_attention(const tprt_context *context);

/* Allocate, free and copy GPU memory of a context with TPRT_TARGET_CUDA, for arguments and results
 * of its programs. Free the memory before the context is destroyed. upload and download are ordered
 * after all work that programs have enqueued, and return when the copy has completed. synchronize
 * waits for all enqueued work and reports its errors. The thread rule of the context applies.
 * TPRT_INVALID_ARGUMENT on contexts of the host. */
TPRT_API tprt_status tprt_context_alloc(tprt_context *context, size_t bytes, void **memory);
TPRT_API void tprt_context_free(tprt_context *context, void *memory);
TPRT_API tprt_status tprt_context_upload(tprt_context *context, void *to, const void *from,
                                         size_t bytes);
TPRT_API tprt_status tprt_context_download(tprt_context *context, void *to, const void *from,
                                           size_t bytes);
TPRT_API tprt_status tprt_context_synchronize(tprt_context *context);
/* Gives the context's stream, a CUstream, to order other work before or after its programs. The
 * context owns the stream. */
TPRT_API tprt_status tprt_context_stream(tprt_context *context, void **stream);

/* Calls `fn` once for all ranks of `comm`, when the last of them has arrived. The ranks must be
 * virtual ranks of one GPU (backend loopback). fn receives the `mine` arguments of all ranks, in
 * rank order, and a stream (a CUstream) that waits for the streams of all ranks' contexts; these
 * streams wait for it afterwards. fn runs in the thread of one rank, in the GPU's CUDA context, and
 * only enqueues work. Use it for work that needs one launch for all ranks, such as calls on a
 * tprt_cuda_group with TPRT_CUDA_ALL_RANKS, which rank 0 may have created before. `comm` is the
 * context's world or a group of it. All ranks get the status that fn returns. TPRT_UNSUPPORTED on
 * other backends (unless `comm` has one rank) and if the ranks have several GPUs. */
typedef tprt_status tprt_together_fn(const void *const *arguments, int n_ranks, void *stream);
TPRT_API tprt_status tprt_context_together(tprt_context *context, tprt_comm *comm,
                                           tprt_together_fn *fn, const void *mine);

/* The entry function of a compiled program. */
typedef int32_t tprt_program_fn(tprt_context *context, void *const *inputs, void *const *outputs);

/* Calls `program` with these arguments and results, and returns its status. The first call runs the
 * program directly. The second call captures its stream work in a CUDA graph and launches the
 * graph. Every later call with the same addresses is one launch, for all virtual ranks together.
 * Other addresses cause a new capture; the eight most recently used captures of a program are kept.
 * Every rank of the world makes the call, with the same number of arguments. The ranks agree on the
 * host whether to capture, so each rank may use its own addresses. Site counters continue to count
 * calls and bytes, but not time.
 *
 * *why is "" as long as nothing prevents capturing; otherwise it explains why each call runs the
 * program directly: its host code reads values that the GPU computed (conditions, offsets), it
 * contains assertions, its collectives are staged through the host or need scratch memory, or the
 * driver does not support graphs. The text lives as long as the context. Errors inside a graph are
 * reported by the next call that waits for the stream. TPRT_INVALID_ARGUMENT for a context of the
 * host. */
TPRT_API tprt_status tprt_context_replay(tprt_context *context, tprt_program_fn *program,
                                         int n_inputs, void *const *inputs, int n_outputs,
                                         void *const *outputs, const char **why);

typedef struct tprt_site_stats {
  int64_t calls;
  /* algorithmic bytes sent by this device over all calls (see tprt_op_bytes) */
  int64_t bytes;
  double seconds; /* wall time inside the calls */
} tprt_site_stats;

/* Gives the counters of a site since the program was bound or the counters were reset. */
TPRT_API tprt_status tprt_context_site_stats(const tprt_context *context, int32_t site,
                                             tprt_site_stats *stats);
TPRT_API void tprt_context_reset_stats(tprt_context *context);

/* A started collective is two calls: a start and a wait. */
typedef enum tprt_call_kind { TPRT_CALL_RUN, TPRT_CALL_START, TPRT_CALL_WAIT } tprt_call_kind;

/* A call of a site. Times are those of CLOCK_MONOTONIC. */
typedef struct tprt_call {
  int32_t kind; /* tprt_call_kind */
  int32_t site;
  int32_t what;  /* tprt_site_kind */
  int64_t bytes; /* as in tprt_site_stats; of a started collective counted by the start */
  int64_t begin_ns, end_ns;
  /* TPRT_CALL_WAIT: when the collective ran, in any thread */
  int64_t ran_ns, ended_ns;
} tprt_call;

/* Records the calls of all programs of the context from now on, in an array of the caller for n of
 * them: the first n are kept. NULL ends it. */
TPRT_API void tprt_context_record(tprt_context *context, tprt_call *calls, int64_t n);
/* Returns how many calls there were since recording began, also those that did not fit. */
TPRT_API int64_t tprt_context_recorded(const tprt_context *context);
/* Describes in words how a fused reduction or fused all-gather of the bound program runs; NULL for
 * other sites. If it runs as collectives on a GPU, *why explains why a faster mode is unavailable.
 * If kernels access other GPUs but the matmul is not computed in slices, *why explains that.
 * Otherwise *why is "". `why` may be NULL. Both texts are valid until the context is destroyed. */
TPRT_API const char *tprt_context_rows(const tprt_context *context, int32_t site, const char **why);
/* Returns the text of the first error, "" if there was none; valid until the context is
 * destroyed. */
TPRT_API const char *tprt_context_error(const tprt_context *context);

#ifdef __cplusplus
}
#endif
#endif
