/* Loop nests as kernels of a GPU: what the files map_*.c share.
 *
 * A nest is a linalg.generic on buffers. Its kernel is an llvm.func that finds out by the numbers
 * of its thread and block which iterations it does, in terms of arith, scf and memref: the passes
 * behind lower those as they do for a processor. Everything a kernel may touch comes as an
 * argument: the address of the first element of each buffer, and scalars. */
#ifndef TP_PASSES_MAP_H
#define TP_PASSES_MAP_H

#include "rules/body.h"

enum {
  TP_MAP_OPERANDS = 64,
  TP_MAP_LOOPS = 16,
  TP_MAP_LANES = 8,
  TP_MAP_VECTOR_BYTES = 16,
  TP_MAP_WARP = 32,
  TP_MAP_ROW_ELEMENTS = 32,
  TP_MAP_SHARED_SPACE = 3
};

#define TP_MAP_UNKNOWN_STRIDE (INT64_MAX)

/* A buffer as the kernel sees it, its first element at offset 0. */
typedef struct tp__map_operand {
  MlirAffineMap map;
  MlirType element;
  MlirValue memref;
  MlirValue pointer;
  bool is_scalar; /* no buffer: `memref` is the value itself */
  int rank;
  int64_t strides[TP_MAX_RANK], sizes[TP_MAX_RANK];
  /* known at run time only: TP_MAP_UNKNOWN_STRIDE, a multiple of nothing */
  bool has_unknown_strides;
} tp__map_operand;

typedef struct tp__map_nest {
  MlirOperation op;
  MlirContext context;
  MlirType index, i32, ptr;
  tp_body body;
  int n_operands, n_inputs, n_loops;
  int most_lanes;                            /* of vectors */
  tp__map_operand operands[TP_MAP_OPERANDS]; /* inputs, then outputs */
  bool is_reduction[TP_MAP_LOOPS];
  int64_t size[TP_MAP_LOOPS];
} tp__map_nest;

/* How a kernel is launched. */
typedef struct tp__map_launch {
  int64_t n_blocks;
  int n_threads;   /* of a block */
  int loop, lanes; /* along which vectors are used, and their size; lanes 1: none are */
} tp__map_launch;

/* ---- map_nest.c: reading ---- */
/* A nest whose body only computes: it may be done once too often, and reads no memory but its
 * operands'. */
bool tp__map_is_nest(MlirOperation op);
/* May the op go in front of nests? They make no values, so it is enough that it neither reads nor
 * writes memory. */
bool tp__map_is_pure(MlirOperation op);
/* Refuses what no kernel can be made of. */
tp_status tp__map_read(MlirOperation op, tp__map_nest *nest);
/* Iterations of the loops of one kind. */
int64_t tp__map_iterations(const tp__map_nest *nest, bool of_reduction);
int tp__map_n_outputs(const tp__map_nest *nest);

/* What an element of this type is in LLVM's memory and vectors: f8 is i8 there, index i64. In
 * map_access.c. */
MlirType tp__map_stored(MlirType element);

/* ---- map_memory.c: buffers from addresses ---- */
/* The dimensions whose strides the type leaves open; their number. */
int tp__map_open_strides(MlirType type, int *dims);
/* The memory at `pointer` as a buffer of this type, whose sizes are static and whose offset is 0.
 * `strides` are the open ones: i64. */
MlirValue tp__map_memref(MlirOperation where, MlirValue pointer, MlirType type,
                         const MlirValue *strides);
/* An array of n elements in memory that the threads of a block share, called `name`, in front of
 * the kernel `func`. */
MlirValue tp__map_shared(MlirOperation func, MlirOperation where, const char *name, int64_t n,
                         MlirType element);

/* ---- map_access.c: elements; all code goes in front of `where`, `at` has the index of each loop
 * ---- */
MlirValue tp__map_load(const tp__map_nest *nest, MlirOperation where, int operand,
                       const MlirValue *at);
void tp__map_store(const tp__map_nest *nest, MlirOperation where, int operand, const MlirValue *at,
                   MlirValue value);
/* True if the operand's indices depend on the loop. */
bool tp__map_depends(const tp__map_operand *operand, int loop);
/* How many neighbors along `loop` are read and written at once, at most nest->most_lanes; 1: no
 * vectors. */
int tp__map_lanes(const tp__map_nest *nest, int loop);
/* Bytes to a multiple of which the operand's address has to be, where vectors of `lanes` are used
 * along `loop`. */
int64_t tp__map_alignment(const tp__map_nest *nest, int operand, int loop, int lanes);
/* What the lanes of a vector have. */
typedef MlirValue tp__map_lanes_of[TP_MAP_LANES];
/* Reads, and writes, `lanes` neighbors of an operand along `loop`, from at[loop] on. */
void tp__map_fetch(const tp__map_nest *nest, MlirOperation where, int operand, int loop, int lanes,
                   const MlirValue *at, MlirValue *values);
void tp__map_put(const tp__map_nest *nest, MlirOperation where, int operand, int loop, int lanes,
                 const MlirValue *at, const MlirValue *values);
/* The body for those neighbors, from what the operands that it reads have there to what it yields.
 * `so_far`: the values of the outputs that it goes on from, lane by lane, and which receive the
 * last; NULL: outputs are among the arguments. */
tp_status tp__map_compute(const tp__map_nest *nest, MlirOperation where, int loop, int lanes,
                          const MlirValue *at, tp__map_lanes_of *arguments, MlirValue *so_far,
                          tp__map_lanes_of *yielded);
/* All three: operands are read in memory, and, without `so_far`, results written there. */
tp_status tp__map_body(const tp__map_nest *nest, MlirOperation where, int loop, int lanes,
                       const MlirValue *at, MlirValue *so_far);

/* ---- map_threads.c: which iterations a thread does ---- */
/* nvvm.read.ptx.sreg.NAME, e.g. "tid.x": i32. */
MlirValue tp__map_register(const tp__map_nest *nest, MlirOperation where, const char *name);
/* Splits `number` into the indices of n loops, the last of them fastest, which is counted in groups
 * of `lanes`. Those of other loops stay as they are in `at`. */
void tp__map_split(const tp__map_nest *nest, MlirOperation where, MlirValue number, int n,
                   const int *loops, int lanes, MlirValue *at);
/* Loops of one kind, in order, but `last` at the end if it is one of them; their number. */
int tp__map_order(const tp__map_nest *nest, bool of_reduction, int last, int *loops);
/* i32, or i64 where numbers up to `most` need it. */
MlirType tp__map_counter(const tp__map_nest *nest, int64_t most);
/* The value as the wider or narrower unsigned type, which may be index. */
MlirValue tp__map_cast(MlirOperation where, MlirValue value, MlirType type);
/* scf.if without results; `inside` receives its yield, the place for code. */
void tp__map_if(MlirOperation where, MlirValue condition, MlirOperation *inside);
/* scf.for from `from` to `to` in steps of `step`, of one type, with n carried values; `at` and
 * `carried` receive what they are inside. The same of its yield. */
MlirOperation tp__map_for(MlirOperation where, MlirValue from, MlirValue to, MlirValue step, int n,
                          const MlirValue *initial, MlirValue *at, MlirValue *carried,
                          MlirOperation *inside);
/* Yields n values in place of `end`, a yield of nothing. */
void tp__map_yield(MlirOperation end, int n, const MlirValue *values);

/* ---- map_combine.c: threads that share elements ---- */
typedef struct tp__map_sharing {
  const tp__map_nest *n;
  /* the kernel: arrays in memory of the block go in front of it */
  MlirOperation func;
  bool rows; /* the threads that share an element are neighbors */
  /* threads for an element, elements of a block: powers of two */
  int n_sharing, n_elements;
  int n_arrays;                           /* made so far */
  tp_combiner combiners[TP_MAP_OPERANDS]; /* of each output */
  /* i32: of the block; which element in it, which of those that share one */
  MlirValue thread, element, turn;
} tp__map_sharing;
/* The largest power of two that is at most `n` and `most`. */
int tp__map_floor_power(int64_t n, int most);
/* How many threads share a row of n_steps vectors, and how many rows a block has. A thread has
 * TP_MAP_ROW_ELEMENTS elements at most, unless that would take too many threads. */
void tp__map_share_rows(tp__map_sharing *sharing, int64_t n_steps, int lanes);
/* How each output is combined; false if one is in no known way that may be reordered. */
bool tp__map_combiners(const tp__map_nest *nest, tp_combiner *combiners);
MlirValue tp__map_identity(const tp__map_sharing *sharing, MlirOperation where, int output);
MlirValue tp__map_combine(const tp__map_sharing *sharing, MlirOperation where, int output,
                          MlirValue a, MlirValue b);
/* What all threads of an element have, combined by pairs at fixed distances: for the one whose turn
 * is 0, or, of rows, for all. All threads of the block have to come here. */
MlirValue tp__map_combine_threads(tp__map_sharing *sharing, MlirOperation where, int output,
                                  MlirValue value, bool for_all);

/* ---- map_reduction.c ---- */
/* The loop along which the largest input that is reduced lies in memory. */
int tp__map_inner(const tp__map_nest *nest);
/* Blocks of its kernel. */
int64_t tp__map_reduction_blocks(const tp__map_nest *nest);

/* ---- the kernels, in front of `end`, the return of an empty function ---- */
/* A nest that reads operands along the loop `across` while it writes along `along`: those go
 * through memory of the block. */
typedef struct tp__map_tiles {
  int along, across;
  bool tiled[TP_MAP_OPERANDS];
} tp__map_tiles;
bool tp__map_find_transpose(const tp__map_nest *nest, tp__map_tiles *tiles);
tp_status tp__map_transpose(const tp__map_nest *nest, const tp__map_tiles *tiles,
                            MlirOperation func, MlirOperation end, tp__map_launch *launch);
tp_status tp__map_elementwise(const tp__map_nest *nest, MlirOperation end, tp__map_launch *launch);
/* Goes on from what the results were, or, if `begin` is not NULL, from the number that this nest
 * writes everywhere. Adds arrays in memory of the block in front of `func`, the kernel. */
tp_status tp__map_reduction(const tp__map_nest *nest, const tp__map_nest *begin, MlirOperation func,
                            MlirOperation end, tp__map_launch *launch);

#endif
