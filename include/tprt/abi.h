/* The ABI between compiled programs and the runtime.
 *
 * A compiled program is an object file. Its entry function takes a tprt_context as first argument
 * and returns a status (an int32_t; TPRT_OK is 0). The code has no mutable global state, so one
 * copy serves any number of ranks in a process. Beside the entry `NAME` the object has a constant
 * table `NAME.tprt` of 64-bit words. The table describes the mesh, the memory, and every place
 * ("site") at which the code calls the runtime. The entry first passes the table to tprt_abi_enter;
 * after that, calls name a site by its index.
 *
 * Errors are sticky. After a call has failed, further calls on the context return at once and do
 * nothing, and the entry returns the first status. A loop whose body communicates also tests
 * tprt_abi_status, so that it ends. When a context fails, it aborts its communicators with its
 * status: the other ranks return the same status instead of waiting.
 *
 * The table is a tprt_abi_header, then any number of sites (tprt_abi_site), then extra data of
 * sites; offsets in the table count words. These structs consist of int64_t only: their members are
 * the words, in this order. Compiler and runtime both use these structs, so there is one definition
 * of the layout. A word that a kind of site does not use is 0. Every word is checked when the
 * program is bound; a wrong one gives TPRT_INVALID_ARGUMENT. */
#ifndef TPRT_ABI_H
#define TPRT_ABI_H

#include "tprt/tprt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TPRT_ABI_MAGIC INT64_C(0x7470727461626931) /* "tprtabi1" */
enum {
  TPRT_ABI_VERSION = 2, /* a table of another version is refused: TPRT_MISMATCH */
  TPRT_MAX_AXES = 8,
};

/* What runs a program. The entry of a program for TPRT_TARGET_CUDA runs on the host and only
 * enqueues. All its buffers, arguments and results too, are memory of the context's GPU; kernels,
 * contractions and collectives run there in the order of the calls. */
typedef enum tprt_target { TPRT_TARGET_HOST = 0, TPRT_TARGET_CUDA = 1 } tprt_target;

typedef struct tprt_abi_header {
  int64_t magic;                /* TPRT_ABI_MAGIC */
  int64_t version;              /* TPRT_ABI_VERSION */
  int64_t n_words;              /* of the whole table */
  int64_t n_axes;               /* of the mesh */
  int64_t sizes[TPRT_MAX_AXES]; /* of the mesh axes, major to minor; 1 beyond n_axes */
  int64_t private_bytes;
  int64_t registered_bytes; /* of the block that peers can reach */
  int64_t n_sites;
  int64_t first_site; /* word offset */
  int64_t target;     /* tprt_target */
  int64_t reserved[7];
} tprt_abi_header;

typedef enum tprt_site_kind {
  TPRT_SITE_ALL_REDUCE = 1,
  /* Along dim: recv shape = send shape with dim * group size. */
  TPRT_SITE_ALL_GATHER = 2,
  /* Along dim: recv shape = send shape with dim / group size. */
  TPRT_SITE_REDUCE_SCATTER = 3,
  /* split_dim / group size, dim (the concatenated one) * group size. */
  TPRT_SITE_ALL_TO_ALL = 4,
  /* Extra data: pairs (source, destination) of devices, numbered in the mesh. A device that is no
   * destination receives zeros. With no axes the group is the whole mesh; otherwise each pair stays
   * inside one group. */
  TPRT_SITE_PERMUTE = 5,
  TPRT_SITE_BROADCAST = 6, /* from group rank `root` */
  /* C += A * B, summed over the contracted loops; f16 and bf16 accumulate in f32 and round once.
   * With dim = 1: C = A * B; then no loop has size 0. Extra data: the number of loops, then one
   * tprt_abi_loop each. Neither axes nor a shape. */
  TPRT_SITE_CONTRACT = 7,

  /* Fused sites, of programs for GPUs only; run by tprt_abi_fused. Their extra data begin with
   * tprt_abi_operands. */
  TPRT_SITE_FUSED_REDUCE = 8,   /* tprt_abi_fused_reduce */
  TPRT_SITE_FUSED_GATHER = 9,   /* tprt_abi_fused_gather */
  TPRT_SITE_FUSED_SOFTMAX = 10, /* tprt_abi_fused_softmax */
  TPRT_SITE_FUSED_MATMUL = 11,  /* tprt_abi_fused_matmul */
} tprt_site_kind;

typedef struct tprt_abi_site {
  int64_t kind;      /* tprt_site_kind */
  int64_t dtype;     /* tprt_dtype */
  int64_t reduction; /* tprt_reduction; TPRT_NO_REDUCTION for kinds that do not reduce */
  int64_t n_axes;    /* 0: a group of one device, except for permutes */
  /* Mesh axes of the group, major to minor: ranks in the group count row-major in this order. */
  int64_t axes[TPRT_MAX_AXES];
  int64_t rank;                 /* number of dimensions of the send tensor */
  int64_t shape[TPRT_MAX_RANK]; /* of the send tensor; 0 beyond rank */
  /* The gathered or scattered dimension; all-to-all: the concatenated one; contraction: 1 where C
   * is overwritten. */
  int64_t dim;
  int64_t split_dim; /* all-to-all */
  int64_t root;      /* broadcast */
  int64_t extra;     /* word offset of extra data in the table */
  int64_t n_extra;   /* number of its words */
} tprt_abi_site;

/* A loop of a contraction. A loop whose stride in C is 0 is contracted. */
typedef struct tprt_abi_loop {
  int64_t size;
  int64_t stride[3]; /* in A, B, C, in elements; 0 where the operand lacks the dimension */
} tprt_abi_loop;

/* Words of the extra data of TPRT_SITE_CONTRACT: the number of loops, and where these begin. */
enum { TPRT_CONTRACT_N_LOOPS, TPRT_CONTRACT_LOOPS };

enum {
  TPRT_ABI_HEADER_WORDS = sizeof(tprt_abi_header) / sizeof(int64_t), /* 24 */
  TPRT_SITE_WORDS = sizeof(tprt_abi_site) / sizeof(int64_t),         /* 32 */
  TPRT_LOOP_WORDS = sizeof(tprt_abi_loop) / sizeof(int64_t),         /* 4 */
};

/* ---- Fused sites ---- */

/* What an operand of a fused site is. */
typedef enum tprt_operand {
  /* Inputs. */
  TPRT_IN_TENSOR = 1, /* the send tensor */
  TPRT_IN_A,          /* left factor of a matmul [.., k]; its product is the send tensor */
  TPRT_IN_B,          /* right factor [k, columns], or [columns, k] */
  TPRT_IN_RESIDUAL,
  TPRT_IN_BIAS,
  TPRT_IN_GAMMA,
  TPRT_IN_BETA,
  TPRT_IN_STATIC_SCALE, /* one f32 */
  TPRT_IN_TARGET,       /* column numbers over the group, i32 or i64 */
  /* Outputs. */
  TPRT_OUT_TENSOR,
  TPRT_OUT_RESIDUAL,  /* the sum before the norm */
  TPRT_OUT_QUANTIZED, /* f8e4m3 */
  TPRT_OUT_SCALE,     /* f32: one a row, or one for every 128 elements of a row */
  TPRT_OUT_GATHERED,
  TPRT_OUT_MAX,    /* f32, one a row; the next two likewise */
  TPRT_OUT_SUM,    /* of exp(x - max) */
  TPRT_OUT_PICKED, /* of the target column */
  TPRT_N_OPERANDS,
} tprt_operand;

enum { TPRT_MAX_INPUTS = 8, TPRT_MAX_OUTPUTS = 8 };

/* The operands of a fused site, in the order in which tprt_abi_fused receives them. Only those that
 * the site has are listed; 0 beyond the counts. Each appears once, except TPRT_IN_B and
 * TPRT_OUT_TENSOR of TPRT_SITE_FUSED_GATHER, which appear once for each matmul. */
typedef struct tprt_abi_operands {
  int64_t n_inputs, n_outputs;
  int64_t inputs[TPRT_MAX_INPUTS], outputs[TPRT_MAX_OUTPUTS]; /* tprt_operand */
} tprt_abi_operands;

/* Layout of the results of TPRT_SITE_FUSED_REDUCE. */
enum {
  TPRT_ROWS_WHOLE, /* all-reduce */
  /* Reduce-scatter along the site's dim: residual, its sum and the output have dim / group size. */
  TPRT_ROWS_SCATTERED,
  TPRT_ROWS_GATHERED, /* the same, then an all-gather of the outputs, which are whole */
};

/* TPRT_SITE_FUSED_REDUCE: an all-reduce or reduce-scatter with fused row epilogues, as
 * tprt_cuda_reduce_rows computes it (tprt/cuda.h). Rows are the last dimension of the send tensor
 * and are multiples of 16 bytes. Inputs: the tensor, or A and B whose product, rounded, is reduced
 * (tprt_cuda_multiply_reduce in tprt/cuda_gemm.h); residual; bias; gamma with a norm; beta with a
 * layer norm; the static scale with static quantization. Outputs: the tensor, unless quantized
 * only; the sum with the residual; what is quantized and its computed scales. */
typedef struct tprt_abi_fused_reduce {
  tprt_abi_operands operands;
  int64_t layout;    /* TPRT_ROWS_WHOLE, ... */
  int64_t norm;      /* tprt_cuda_norm */
  int64_t epsilon;   /* of the norm, the bits of an f32; without norm 0 */
  int64_t algorithm; /* tprt_cuda_algorithm that was planned with; all give the same result */
  int64_t k;         /* columns of A; 0 without a matmul */
  int64_t transpose_b;
  int64_t quantize;    /* tprt_cuda_quantize; groups need rows of a multiple of 128 elements */
  int64_t least_max;   /* bits of an f32 >= 0: lower limit of the max that gives a scale; else 0 */
  int64_t least_scale; /* likewise: lower limit of a computed scale */
  int64_t divides;     /* 1: divides by the scale; 0: multiplies by its inverse */
} tprt_abi_fused_reduce;

enum { TPRT_MAX_MATMULS = 4 };

/* TPRT_SITE_FUSED_GATHER: an all-gather along dim and matmuls of what is gathered, overlapped, as
 * tprt_cuda_gather_multiply computes it (tprt/cuda_gemm.h). Inputs: the tensor [.., width], then
 * one B for each matmul. Outputs: the gathered tensor, unless only the products are wanted; then
 * one tensor for each matmul. */
typedef struct tprt_abi_fused_gather {
  tprt_abi_operands operands;
  int64_t n_matmuls;
  int64_t columns[TPRT_MAX_MATMULS];     /* of each B; 0 beyond n_matmuls */
  int64_t transpose_b[TPRT_MAX_MATMULS]; /* 1: B is stored as [columns, width] */
} tprt_abi_fused_gather;

/* TPRT_SITE_FUSED_SOFTMAX: the parts of a softmax (or cross entropy) of rows whose columns are
 * split over the group, as tprt_cuda_cross_entropy computes it (tprt/cuda.h). Inputs: the logits
 * (the tensor), whose last dimension is split in the order of the group's ranks and is a multiple
 * of 16 bytes on each device; the target with OUT_PICKED only. Outputs: max, sum, picked. The site
 * sends an all-gather of 16 bytes for each row. */
typedef struct tprt_abi_fused_softmax {
  tprt_abi_operands operands;
  int64_t target; /* tprt_dtype of the target; 0: none */
  int64_t pick;   /* tprt_cuda_pick; 0 without OUT_PICKED, as the next one */
  int64_t own;    /* 1: picked is 0 where another device has the column */
  int64_t finite; /* 1: sums are relative to 0 where the max is infinite */
} tprt_abi_fused_softmax;

/* TPRT_SITE_FUSED_MATMUL: out = f(A B + bias), added in f32 and rounded once: the epilogues of
 * tprt_cuda_multiply. The send tensor is the product; there are no axes. Inputs: A, B, bias
 * [columns]. Output: the tensor. */
typedef struct tprt_abi_fused_matmul {
  tprt_abi_operands operands;
  int64_t k; /* columns of A */
  int64_t transpose_b;
  int64_t function; /* tprt_cuda_epilogue, no gradient */
} tprt_abi_fused_matmul;

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

/* ---- Programs for TPRT_TARGET_CUDA; on a context of another target TPRT_INVALID_ARGUMENT ---- */

/* Runs fused site `site`. `inputs` and `outputs` hold one pointer to memory of the GPU for each
 * operand of the site, in the site's order (tprt_abi_operands); the arrays are read before the call
 * returns. No output overlaps any other operand. Where the site's tensors have no elements,
 * pointers may be NULL. */
TPRT_API int32_t tprt_abi_fused(tprt_context *context, int32_t site, const void *const *inputs,
                                void *const *outputs);

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
