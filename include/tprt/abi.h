/* The ABI between compiled programs and the runtime.
 *
 * A compiled program is an object whose entry function takes a tprt_context as first argument and
 * returns a status (an int32_t, TPRT_OK == 0). It has no mutable global state, so one copy of its
 * code serves any number of ranks in a process. Beside the entry `NAME` the object has a constant
 * table of 64-bit words, `NAME.tprt`, that describes the mesh, the memory and every place ("site")
 * where the code calls into the runtime. The entry first calls tprt_abi_enter with that table;
 * afterwards sites are named by their index.
 *
 * Errors are sticky: after a call failed, further calls on the context return at once without doing
 * anything, and the entry returns the first status. Loops whose body communicates also test
 * tprt_abi_status, so that they end.
 *
 * Layout of the table (all words int64_t):
 *   [0] TPRT_ABI_MAGIC  [1] TPRT_ABI_VERSION  [2] number of words of the table
 *   [3] number of mesh axes n, [4 .. 12) sizes of the axes, major to minor, unused ones 1
 *   [12] bytes of private block   [13] bytes of registered block (reachable by peers)   [14] number
 *     of sites
 *   [15] word offset of the first site (sites are TPRT_SITE_WORDS each)  [16] what runs it
 *     (tprt_target)  [17..24) reserved, 0 A site:
 *   [0] kind (tprt_site_kind)  [1] dtype (tprt_dtype)  [2] reduction (tprt_reduction)  [3] number
 *     of axes
 *   [4 .. 12) mesh axes of the group, major to minor: the rank inside the group counts row-major in
 *     this order
 *   [12] rank of the send tensor, [13 .. 27) its shape     (collectives)
 *   [27] dim (gather, scatter dimension; all_to_all: concat dimension; contract: 1 where C is
 *     overwritten;
 *        reduce_rows and others of rows: the dimension that is scattered; gather_multiply: that is
 *          gathered)  [28] split dimension of all_to_all  [29] root
 *   [30] word offset of extra data in the table  [31] its number of words Extra data: permute:
 *     pairs (source device, destination device), world numbers; a device that is no destination
 *     receives zeros; with no axes the group is the whole mesh, otherwise every pair stays inside
 *     one group. contract: see TPRT_SITE_CONTRACT. reduce_rows: TPRT_ROWS_WORDS of them.
 *     quantise_rows: TPRT_QUANTISE_WORDS. multiply_rows, whose send tensor is the product:
 *     TPRT_MULTIPLY_WORDS. multiply_quantise_rows, likewise: TPRT_MULTIPLY_QUANTISE_WORDS.
 *     softmax_rows: TPRT_SOFTMAX_WORDS. multiply, whose send tensor is the product:
 *     TPRT_FINISH_WORDS. Words that a kind does not use are 0: the shape behind its rank, unnamed
 *     axes, dim, root, reduction (which is TPRT_NO_REDUCTION for kinds that do not reduce), for
 *     contract and multiply axes, and for contract also rank and shape. Without axes a collective
 *     is that of a group of one. Every word is checked when the program is bound; a wrong one is
 *     TPRT_INVALID_ARGUMENT.
 *
 * When a context fails, it aborts its communicators with the status that it failed with, so that
 * the other ranks return the same status instead of waiting. */
#ifndef TPRT_ABI_H
#define TPRT_ABI_H

#include "tprt/tprt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TPRT_ABI_MAGIC INT64_C(0x7470727461626931) /* "tprtabi1" */
enum {
  TPRT_ABI_VERSION = 1,
  TPRT_ABI_HEADER_WORDS = 24,
  TPRT_SITE_WORDS = 32,
  TPRT_MAX_AXES = 8,
};

typedef enum tprt_site_kind {
  TPRT_SITE_ALL_REDUCE = 1,
  TPRT_SITE_ALL_GATHER = 2,     /* along dim: recv shape = send shape with dim * group size */
  TPRT_SITE_REDUCE_SCATTER = 3, /* along dim: recv shape = send shape with dim / group size */
  TPRT_SITE_ALL_TO_ALL = 4,     /* split dimension / group size, concat dimension * group size */
  TPRT_SITE_PERMUTE = 5,
  TPRT_SITE_BROADCAST = 6, /* from group rank `root` */
  /* C += A * B summed over the contracted dims; accumulates f16/bf16 in f32, rounds once. With dim
   * 1 C = A * B, whatever C held; then no dim has size 0. Extra data: number of loop dims d, then
   * per dim 4 words: size, stride in A, stride in B, stride in C (elements, 0 where the operand
   * lacks the dim); dims with stride 0 in C are contracted. A is the first pointer, B the
   * second. */
  TPRT_SITE_CONTRACT = 7,
  TPRT_SITE_REDUCE_ROWS =
      /* of programs for GPUs: a sum over the group with what is done to the rows of it; see
       * tprt_abi_reduce_rows */
  8,
  TPRT_SITE_MULTIPLY_ROWS = 9, /* the same of a product of matrices; see tprt_abi_multiply_rows */
  TPRT_SITE_SOFTMAX_ROWS =
      /* of programs for GPUs: what a softmax needs of rows whose columns are split over the group;
       * see tprt_abi_softmax_rows */
  10,
  TPRT_SITE_GATHER_MULTIPLY =
      /* of programs for GPUs: an all_gather of rows, and products of them; see
       * tprt_abi_gather_multiply */
  11,
  TPRT_SITE_MULTIPLY =
      /* of programs for GPUs: a product of matrices with what is done to its elements; see
       * tprt_abi_multiply */
  12,
  /* reduce_rows whose rows become f8e4m3 and scales; see tprt_abi_quantise_rows */
  TPRT_SITE_QUANTISE_ROWS = 13,
  /* multiply_rows whose rows do; see tprt_abi_multiply_quantise_rows */
  TPRT_SITE_MULTIPLY_QUANTISE_ROWS = 14,
} tprt_site_kind;

/* Extra data of TPRT_SITE_REDUCE_ROWS, and what each says. */
enum {
  TPRT_ROWS_LAYOUT,   /* TPRT_ROWS_WHOLE, ... */
  TPRT_ROWS_OPERANDS, /* bits: which of residual, bias, gamma, beta, residual_out there are */
  TPRT_ROWS_NORM,     /* tprt_cuda_norm: gamma with a norm only, beta with a layer norm only */
  TPRT_ROWS_EPSILON,  /* of the norm, the bits of an f32; without norm 0 */
  /* tprt_cuda_algorithm that was planned with; the result is the same with all */
  TPRT_ROWS_ALGORITHM,
  TPRT_ROWS_WORDS,
};
enum {
  TPRT_ROWS_RESIDUAL = 1,
  TPRT_ROWS_BIAS = 2,
  TPRT_ROWS_GAMMA = 4,
  TPRT_ROWS_BETA = 8,
  TPRT_ROWS_RESIDUAL_OUT = 16
};
enum {
  TPRT_ROWS_WHOLE, /* all_reduce */
  /* reduce_scatter along dim: residual, residual_out and out have dim / group size */
  TPRT_ROWS_SCATTERED,
  TPRT_ROWS_GATHERED, /* the same, and an all_gather of out, which is whole */
};

/* Extra data of TPRT_SITE_QUANTISE_ROWS: those of TPRT_SITE_REDUCE_ROWS, whose operands may have
 * TPRT_ROWS_OUT, too, then these. See tprt_cuda_rows. */
enum { TPRT_ROWS_OUT = 32 }; /* out is wanted beside what is quantised */
enum {
  /* tprt_cuda_quantise; groups need rows of a multiple of 128 */
  TPRT_QUANTISE_KIND = TPRT_ROWS_WORDS,
  /* the bits of an f32, no sign; without scales that are computed 0 */
  TPRT_QUANTISE_LEAST_LARGEST,
  TPRT_QUANTISE_LEAST_SCALE, /* likewise */
  TPRT_QUANTISE_DIVIDES,     /* 1: by the scale; 0: multiplied by its inverse */
  TPRT_QUANTISE_WORDS,
};

/* Extra data of TPRT_SITE_MULTIPLY_ROWS: those of TPRT_SITE_REDUCE_ROWS, then these. */
enum {
  TPRT_MULTIPLY_K = TPRT_ROWS_WORDS, /* columns of the left factor */
  TPRT_MULTIPLY_TRANSPOSED,          /* 1: the right factor is stored the other way round */
  TPRT_MULTIPLY_WORDS,
};

/* Extra data of TPRT_SITE_MULTIPLY_QUANTISE_ROWS: those of TPRT_SITE_QUANTISE_ROWS, then those that
 * TPRT_SITE_MULTIPLY_ROWS has behind the ones of rows. */
enum { TPRT_MULTIPLY_QUANTISE_WORDS = TPRT_QUANTISE_WORDS + TPRT_MULTIPLY_WORDS - TPRT_ROWS_WORDS };

/* Extra data of TPRT_SITE_SOFTMAX_ROWS; see tprt_cuda_entropy. */
enum {
  TPRT_SOFTMAX_TARGET,  /* type of the target, i32 or i64; 0: none */
  TPRT_SOFTMAX_RESULTS, /* bits: which there are; picked with a target only */
  TPRT_SOFTMAX_PICK,    /* tprt_cuda_pick; without picked 0 */
  TPRT_SOFTMAX_OWN,     /* 1: picked is 0 where another device has the column; without picked 0 */
  TPRT_SOFTMAX_FINITE,  /* 1: sums are relative to 0 where the largest is infinite */
  TPRT_SOFTMAX_WORDS,
};
enum { TPRT_SOFTMAX_LARGEST = 1, TPRT_SOFTMAX_SUM = 2, TPRT_SOFTMAX_PICKED = 4 };

/* Extra data of TPRT_SITE_GATHER_MULTIPLY: the number of products, then two words for each. */
enum {
  TPRT_GATHER_MOST = 4, /* products */
  TPRT_GATHER_N = 0,
  TPRT_GATHER_COLUMNS = 1,    /* + 2 * product: columns of the right factor */
  TPRT_GATHER_TRANSPOSED = 2, /* + 2 * product: 1 where it is stored the other way round */
};

/* Extra data of TPRT_SITE_MULTIPLY. */
enum {
  TPRT_FINISH_K,          /* columns of the left factor */
  TPRT_FINISH_TRANSPOSED, /* 1: the right factor is stored the other way round */
  TPRT_FINISH_FUNCTION,   /* tprt_cuda_epilogue, no gradient */
  TPRT_FINISH_BIAS,       /* 1: there is one; without function too */
  TPRT_FINISH_WORDS,
};

/* What runs a program. Of TPRT_TARGET_CUDA the entry runs on the host and only enqueues: all
 * buffers, arguments and results too, are memory of the context's GPU, and kernels, contractions
 * and collectives work on them in the order of the calls. */
typedef enum tprt_target { TPRT_TARGET_HOST = 0, TPRT_TARGET_CUDA = 1 } tprt_target;

typedef struct tprt_context tprt_context;

/* Binds `program`, which must stay as it is while the context lives, on the first call with it
 * (checks magic, version and that the mesh has as many devices as the world has ranks, makes the
 * group communicators, allocates the blocks, compares the schedule's hash over all ranks); later
 * calls with the same table are cheap and make it the current program of the context. Collective
 * over the world on the first call. Returns the sticky status. */
TPRT_API int32_t tprt_abi_enter(tprt_context *context, const int64_t *program);

/* Private and registered block of the bound program, 64-byte aligned; registered blocks lie at
 * equal offsets on all ranks. */
TPRT_API void *tprt_abi_private(tprt_context *context);
TPRT_API void *tprt_abi_registered(tprt_context *context);

/* Runs collective site `site`. `send` and `recv` are dense row-major tensors; they may be equal for
 * all_reduce and broadcast. */
TPRT_API int32_t tprt_abi_collective(tprt_context *context, int32_t site, const void *send,
                                     void *recv);

/* The same in two calls, between which the program goes on. From start to wait `send` must not
 * change and `recv` not be touched, by the program or by another site. Sites that are started on
 * one group run in the order in which they are started; a collective that is not started but run
 * waits for those before it. A site is started at most once before it is waited for, and wait is
 * given what start was given; else TPRT_INVALID_ARGUMENT. Where each rank of the host has two
 * processors, or with TPRT_PROGRESS=1, a thread of the group's does the work meanwhile; otherwise,
 * or with TPRT_PROGRESS=0, the peers are told that this rank is there, and wait does the work. When
 * the context fails, what was started is ended before the failing call returns. On a GPU it runs in
 * a second stream of the context, behind what the context has put into both by then, and what the
 * context enqueues behind wait comes after it; neither call waits for the GPU, unless the backend
 * has no TPRT_CAP_GPU_PROGRAMS: then start does all of it. */
TPRT_API int32_t tprt_abi_start(tprt_context *context, int32_t site, const void *send, void *recv);
TPRT_API int32_t tprt_abi_wait(tprt_context *context, int32_t site, const void *send, void *recv);

/* Runs contraction site `site`: c += a * b. Operands are aligned for their element type and do not
 * overlap c. */
TPRT_API int32_t tprt_abi_contract(tprt_context *context, int32_t site, const void *a,
                                   const void *b, void *c);

/* ---- Programs of TPRT_TARGET_CUDA; on a context of another target TPRT_INVALID_ARGUMENT ---- */

/* Runs site `site` of kind TPRT_SITE_REDUCE_ROWS, what tprt_cuda_reduce_rows does (tprt/cuda.h):
 * the send tensor `input` is summed over the group; its last dimension is that of rows, which are
 * multiples of 16 bytes. NULL for what the site does not have. No result overlaps anything. */
TPRT_API int32_t tprt_abi_reduce_rows(tprt_context *context, int32_t site, const void *input,
                                      const void *residual, const void *bias, const void *gamma,
                                      const void *beta, void *residual_out, void *out);

/* Runs site `site` of kind TPRT_SITE_QUANTISE_ROWS: tprt_abi_reduce_rows, and what would be out,
 * rounded, becomes f8e4m3. quantised has the shape of out, scale one f32 a row, or for every 128
 * elements of one; both have the layout of out, and are what is gathered. static_scale: one f32. */
TPRT_API int32_t tprt_abi_quantise_rows(tprt_context *context, int32_t site, const void *input,
                                        const void *residual, const void *bias, const void *gamma,
                                        const void *beta, const void *static_scale,
                                        void *residual_out, void *out, void *quantised,
                                        void *scale);

/* Runs site `site` of kind TPRT_SITE_MULTIPLY_ROWS, what tprt_cuda_multiply_reduce does
 * (tprt/cuda_gemm.h): input = a b, rounded, of a [.., k], whose first dimensions are those of the
 * send tensor, and b [k, hidden], or [hidden, k]; the rest as tprt_abi_reduce_rows. */
TPRT_API int32_t tprt_abi_multiply_rows(tprt_context *context, int32_t site, const void *a,
                                        const void *b, const void *residual, const void *bias,
                                        const void *gamma, const void *beta, void *residual_out,
                                        void *out);

/* Runs site `site` of kind TPRT_SITE_MULTIPLY_QUANTISE_ROWS: tprt_abi_quantise_rows of the product
 * of tprt_abi_multiply_rows. */
TPRT_API int32_t tprt_abi_multiply_quantise_rows(tprt_context *context, int32_t site, const void *a,
                                                 const void *b, const void *residual,
                                                 const void *bias, const void *gamma,
                                                 const void *beta, const void *static_scale,
                                                 void *residual_out, void *out, void *quantised,
                                                 void *scale);

/* Runs site `site` of kind TPRT_SITE_SOFTMAX_ROWS, what tprt_cuda_cross_entropy does (tprt/cuda.h):
 * the tensor is the logits, whose last dimension is split over the group, in the order of its
 * ranks; a device's rows are multiples of 16 bytes. Results are f32, one number a row; target
 * counts columns over the group. What is sent is an all-gather of 16 bytes for each row. NULL for
 * what the site does not have. No result overlaps anything. */
TPRT_API int32_t tprt_abi_softmax_rows(tprt_context *context, int32_t site, const void *logits,
                                       const void *target, void *largest, void *sum, void *picked);

/* Runs site `site` of kind TPRT_SITE_GATHER_MULTIPLY, what tprt_cuda_gather_multiply does
 * (tprt/cuda_gemm.h): `input`, the send tensor [.., width], is gathered along dim; out0 = what is
 * gathered times b0 [width, columns], or [columns, width], and so on for as many products as the
 * site has, NULL for others. gathered: NULL if only the products are wanted. No result overlaps
 * anything. */
TPRT_API int32_t tprt_abi_gather_multiply(tprt_context *context, int32_t site, const void *input,
                                          const void *b0, const void *b1, const void *b2,
                                          const void *b3, void *gathered, void *out0, void *out1,
                                          void *out2, void *out3);

/* Runs site `site` of kind TPRT_SITE_MULTIPLY: out = f(a b + bias), added in f32 and rounded once,
 * of a [.., k], whose first dimensions are those of the send tensor, and b [k, columns], or
 * [columns, k]; bias [columns] is added to each row. f is none, max(x, 0), which makes 0 of NaN, or
 * GELU in its form with tanh: what the epilogues of tprt_cuda_multiply do. NULL for a bias that the
 * site does not have. out overlaps nothing. */
TPRT_API int32_t tprt_abi_multiply(tprt_context *context, int32_t site, const void *a,
                                   const void *b, const void *bias, void *out);

/* The kernels of the bound program: PTX, as text that ends in a zero and lives as long as the
 * context. They are named tp_kernel0, tp_kernel1, ..., and take no more than TPRT_KERNEL_ARGUMENTS
 * arguments. Cheap when called again with the same text. */
enum { TPRT_KERNEL_ARGUMENTS = 64 };
TPRT_API int32_t tprt_abi_kernels(tprt_context *context, const char *ptx);

/* Enqueues kernel `kernel` on n_blocks blocks of n_threads threads. Each argument is in the low
 * bytes of a word, little endian: an address of the GPU, a number, a bool in a byte. They are
 * copied before the call returns. */
TPRT_API int32_t tprt_abi_launch(tprt_context *context, int32_t kernel, int64_t n_blocks,
                                 int32_t n_threads, const uint64_t *arguments, int32_t n_arguments);

/* Enqueues a copy between buffers of the GPU that do not overlap. */
TPRT_API int32_t tprt_abi_copy(tprt_context *context, const void *from, void *to, int64_t bytes);

/* Waits for what was enqueued, then copies from the GPU to the host; or enqueues a copy to the GPU
 * of what the host has now. */
TPRT_API int32_t tprt_abi_read(tprt_context *context, const void *device, void *host,
                               int64_t bytes);
TPRT_API int32_t tprt_abi_write(tprt_context *context, void *device, const void *host,
                                int64_t bytes);

/* The copy on the GPU of a constant of the program, made at the first call with this address; NULL
 * on a failed context. */
TPRT_API void *tprt_abi_constant(tprt_context *context, const void *host, int64_t bytes);

/* Where kernels write the number of an assertion that failed, an int32_t of the GPU, 0 while none
 * did; NULL on a failed context. And that number, when all that was enqueued is done; 0 on a failed
 * context. */
TPRT_API void *tprt_abi_assert_word(tprt_context *context);
TPRT_API int32_t tprt_abi_asserted(tprt_context *context);

/* ---- All programs ---- */

/* Linear number of this device in the mesh; 0 on a failed context. */
TPRT_API int64_t tprt_abi_device(tprt_context *context);

/* Records that the program failed with a status (what is no failure counts as TPRT_PROGRAM) and
 * returns it; used for assertions of the source program. `message` may be NULL. */
TPRT_API int32_t tprt_abi_fail(tprt_context *context, int32_t status, const char *message);

/* The sticky status. */
TPRT_API int32_t tprt_abi_status(tprt_context *context);

/* Checks a table of `n_words` readable words without a context, for tools and loaders. */
TPRT_API tprt_status tprt_abi_check(const int64_t *program, size_t n_words);

/* memref.copy as MLIR lowers it for strided views (the ABI of MLIR's runner utilities), so that a
 * compiled program needs no other library. */
typedef struct tprt_unranked_memref {
  int64_t rank;
  void *descriptor; /* {allocated, aligned, offset, sizes[rank], strides[rank]} */
} tprt_unranked_memref;
TPRT_API void memrefCopy(int64_t element_bytes, tprt_unranked_memref *source,
                         tprt_unranked_memref *destination);

/* ---- What a launcher needs ---- */

typedef struct tprt_context_config {
  size_t size;        /* sizeof(tprt_context_config); zeroed rest means defaults */
  int blas_threads;   /* threads of one contraction; 0: max(1, cores / ranks of this host) */
  tprt_target target; /* of its programs */
} tprt_context_config;

/* With TPRT_TARGET_CUDA a context has a stream of its own on the device that TPRT_DEVICE names, or
 * the thread's current one, or that of the rank's number modulo the number of devices: several
 * ranks may share a GPU ("virtual ranks"). Its contractions are done by cuBLASLt where that takes
 * them, by kernels where it does not; without cuBLASLt a program that needs it is TPRT_UNSUPPORTED
 * when it is bound. Its collectives stay on the devices where the backend has
 * TPRT_CAP_GPU_PROGRAMS: with loopback, where the ranks' GPUs reach each other's memory, and with
 * nccl; else they are copied to the host and back. Without a driver or a GPU: TPRT_UNSUPPORTED, and
 * the text says why.
 *
 * A context on `world`, which it borrows and must not outlive. One thread at a time uses a context;
 * another may abort its world. `config` may be NULL. */
TPRT_API tprt_status tprt_context_create(tprt_comm *world, const tprt_context_config *config,
                                         tprt_context **context);
/* Where tprt_context_rows says that kernels reach the GPUs of others, all ranks of the world
 * destroy their contexts together, each in a thread or process of its own: memory that others reach
 * is freed when they have let go of it. */
TPRT_API void tprt_context_destroy(tprt_context *context);

/* Who multiplies matrices for programs on the host, and why, in a line for reports: "built-in
 * (measured, time of openblas over built-in ...)". TPRT_GEMM pins it; else it is measured once a
 * host, and rank 0's choice holds for all ranks. "" before the first program was entered, and on a
 * GPU. The text lives as long as the context. */
TPRT_API const char *tprt_context_gemm(const tprt_context *context);

/* Memory of the GPU of a context with TPRT_TARGET_CUDA, where its programs have their arguments and
 * results; to be freed before the context is destroyed. upload and download return when the copy is
 * done, behind all that programs have enqueued; so does synchronize, which tells whether all of
 * that went well. The thread rule is that of the context. On contexts of the host
 * TPRT_INVALID_ARGUMENT. */
TPRT_API tprt_status tprt_context_alloc(tprt_context *context, size_t bytes, void **memory);
TPRT_API void tprt_context_free(tprt_context *context, void *memory);
TPRT_API tprt_status tprt_context_upload(tprt_context *context, void *to, const void *from,
                                         size_t bytes);
TPRT_API tprt_status tprt_context_download(tprt_context *context, void *to, const void *from,
                                           size_t bytes);
TPRT_API tprt_status tprt_context_synchronize(tprt_context *context);
/* Its stream, a CUstream, to order other work before or behind its programs; the context keeps
 * it. */
TPRT_API tprt_status tprt_context_stream(tprt_context *context, void **stream);

/* `fn`, once, for all ranks of `comm`, which are virtual ranks of one GPU (backend loopback), when
 * the last of them has come: with what each gives as `mine`, in rank order, and a stream (a
 * CUstream) that has waited for those of all the ranks' contexts, which wait for it afterwards. It
 * runs in the thread of one of them, in the GPU's CUDA context, and only enqueues. For what needs
 * one launch for all ranks, such as the calls of a tprt_cuda_group with TPRT_CUDA_ALL_RANKS, which
 * rank 0 may have made before. `comm` is the context's world or a group of it. TPRT_UNSUPPORTED on
 * other backends, but for one rank, and where the ranks have several GPUs; what fn returns all
 * ranks get. */
typedef tprt_status tprt_together_fn(const void *const *arguments, int n_ranks, void *stream);
TPRT_API tprt_status tprt_context_together(tprt_context *context, tprt_comm *comm,
                                           tprt_together_fn *fn, const void *mine);

/* The function of a compiled program. */
typedef int32_t tprt_program_fn(tprt_context *context, void *const *inputs, void *const *outputs);

/* Calls `program` with these arguments and results, and returns what it returns. The first call
 * runs it as it is; the next one captures what it puts into the streams in a graph of CUDA and
 * launches that; and each further one with the same addresses is one launch, for all virtual ranks
 * together. Other addresses are captured again; eight captures of a program are kept, those that
 * were used last. Every rank of the world calls it, with as many arguments; ranks agree on the host
 * whether they capture, so each may have addresses of its own. Counters of sites count on, without
 * time.
 *
 * *why is "" as long as nothing forbids that, else why each call runs as it is: its host reads what
 * the GPU has computed (conditions, offsets), it asserts something, collectives go through the host
 * or need scratch memory, the driver has no graphs. The text lives as long as the context. What
 * fails in a graph is told by who waits for the stream next. TPRT_INVALID_ARGUMENT for a context of
 * the host. */
TPRT_API tprt_status tprt_context_replay(tprt_context *context, tprt_program_fn *program,
                                         int n_inputs, void *const *inputs, int n_outputs,
                                         void *const *outputs, const char **why);

typedef struct tprt_site_stats {
  int64_t calls;
  /* algorithmic bytes sent by this device over all calls, counted from what submit was called
   * with */
  int64_t bytes;
  double seconds; /* wall time inside the calls */
} tprt_site_stats;

/* Counters of a site since the context was bound or reset. */
TPRT_API tprt_status tprt_context_site_stats(const tprt_context *context, int32_t site,
                                             tprt_site_stats *stats);
TPRT_API void tprt_context_reset_stats(tprt_context *context);
/* How a site of the bound program whose rows are reduced, or gathered for products, is done, in
 * words; NULL for others. Where that is by collectives on a GPU, *why is what keeps its ranks from
 * anything better; where kernels reach the others, but a product is not computed in slices, what
 * keeps it from that; else "". `why` may be NULL. Valid until the context is destroyed. */
TPRT_API const char *tprt_context_rows(const tprt_context *context, int32_t site, const char **why);
/* Text of the first error, "" if there was none; valid until the context is destroyed. */
TPRT_API const char *tprt_context_error(const tprt_context *context);

#ifdef __cplusplus
}
#endif
#endif
