/* Maps loop nests to GPU kernels: shared declarations of the files map_*.c.
 *
 * A nest is a linalg.generic on buffers. Its kernel is an llvm.func whose threads compute their
 * iterations from the thread and block numbers, with ops of arith, scf and memref. Later passes
 * lower these ops as they do for a processor. A kernel accesses only its arguments: the address of
 * the first element of each buffer, and scalars. */
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

/* A buffer as seen by the kernel, with its first element at offset 0. */
typedef struct tp__map_operand {
  MlirAffineMap map;
  MlirType element;
  MlirValue memref;
  MlirValue pointer; /* null for a buffer that the kernel does not get as an argument */
  bool is_scalar;    /* no buffer: `memref` is the scalar itself */
  int rank;
  int64_t strides[TP_MAX_RANK], sizes[TP_MAX_RANK];
  /* some strides are dynamic: TP_MAP_UNKNOWN_STRIDE, assumed to be no multiple of anything */
  bool has_unknown_strides;
} tp__map_operand;

typedef struct tp__map_nest {
  MlirOperation op;
  MlirContext context;
  MlirType index, i32, ptr;
  tp_body body;
  int n_operands, n_inputs, n_loops;
  int max_lanes;                             /* maximum number of vector lanes */
  bool is_inside;                            /* in a kernel; `pointer` is known */
  tp__map_operand operands[TP_MAP_OPERANDS]; /* inputs, then outputs */
  bool is_reduction[TP_MAP_LOOPS];
  int64_t size[TP_MAP_LOOPS];
} tp__map_nest;

/* Launch configuration of a kernel. */
typedef struct tp__map_launch {
  int64_t n_blocks;
  int n_threads;   /* threads per block */
  int loop, lanes; /* loop that is vectorized and number of lanes; lanes 1: no vectors */
} tp__map_launch;

/* ---- map_nest.c: reading nests ---- */
/* True if the op is a nest whose body only computes: it may be executed redundantly, and it reads
 * no memory besides its operands. */
bool tp__map_is_nest(MlirOperation op);
/* True if the op may move before nests. It must not read or write memory; nests produce no values
 * that it could use. */
bool tp__map_is_pure(MlirOperation op);
/* Reads a nest. Refuses nests that cannot become a kernel. */
tp_status tp__map_read(MlirOperation op, tp__map_nest *nest);
/* Returns the number of iterations of all reduction loops, or of all parallel loops. */
int64_t tp__map_iterations(const tp__map_nest *nest, bool of_reduction);
int tp__map_n_outputs(const tp__map_nest *nest);

/* Returns the type of an element in LLVM's memory and vectors: i8 for f8, i64 for index. In
 * map_access.c. */
MlirType tp__map_stored(MlirType element);

/* ---- map_memory.c: buffers from addresses ---- */
/* Collects the dimensions with dynamic strides. Returns their number. */
int tp__map_open_strides(MlirType type, int *dims);
/* Builds a memref of this type at `pointer`. Its sizes are static and its offset is 0. `strides`
 * holds the dynamic strides as i64. */
MlirValue tp__map_memref(MlirOperation where, MlirValue pointer, MlirType type,
                         const MlirValue *strides);
/* Builds an array of n elements in shared memory. Its global `name` goes before the kernel
 * `func`. */
MlirValue tp__map_shared(MlirOperation func, MlirOperation where, const char *name, int64_t n,
                         MlirType element);

/* ---- map_access.c: element access. Ops go before `where`; `at` holds the index of each loop
 * ---- */
MlirValue tp__map_load(const tp__map_nest *nest, MlirOperation where, int operand,
                       const MlirValue *at);
void tp__map_store(const tp__map_nest *nest, MlirOperation where, int operand, const MlirValue *at,
                   MlirValue value);
/* True if the operand's indices depend on the loop. */
bool tp__map_depends(const tp__map_operand *operand, int loop);
/* Returns the number of vector lanes along `loop`, at most nest->most_lanes; 1: no vectors. */
int tp__map_lanes(const tp__map_nest *nest, int loop);
/* Returns the required alignment in bytes of the operand's address for vectors of `lanes` along
 * `loop`. */
int64_t tp__map_alignment(const tp__map_nest *nest, int operand, int loop, int lanes);
/* One value per lane of a vector. */
typedef MlirValue tp__map_lanes_of[TP_MAP_LANES];
/* Reads or writes `lanes` neighbors of an operand along `loop`, starting at at[loop]. */
void tp__map_fetch(const tp__map_nest *nest, MlirOperation where, int operand, int loop, int lanes,
                   const MlirValue *at, MlirValue *values);
void tp__map_put(const tp__map_nest *nest, MlirOperation where, int operand, int loop, int lanes,
                 const MlirValue *at, const MlirValue *values);
/* Builds the body for these neighbors, from the values of the operands that it reads to the values
 * that it yields. `so_far` holds the accumulators, which are updated lane by lane. If it is NULL,
 * `arguments` includes the outputs. */
tp_status tp__map_compute(const tp__map_nest *nest, MlirOperation where, int loop, int lanes,
                          const MlirValue *at, tp__map_lanes_of *arguments, MlirValue *so_far,
                          tp__map_lanes_of *yielded);
/* Reads the operands from memory, builds the body and, without `so_far`, writes the results. */
tp_status tp__map_body(const tp__map_nest *nest, MlirOperation where, int loop, int lanes,
                       const MlirValue *at, MlirValue *so_far);

/* ---- map_threads.c: iterations of a thread ---- */
/* Reads nvvm.read.ptx.sreg.NAME, for example "tid.x", as i32. */
MlirValue tp__map_register(const tp__map_nest *nest, MlirOperation where, const char *name);
/* Splits `number` into the indices of n loops. The last loop varies fastest and is counted in
 * groups of `lanes`. `at` of other loops is unchanged. */
void tp__map_split(const tp__map_nest *nest, MlirOperation where, MlirValue number, int n,
                   const int *loops, int lanes, MlirValue *at);
/* Collects the loops of one kind in order, but moves `last` to the end if it is one of them.
 * Returns their number. */
int tp__map_order(const tp__map_nest *nest, bool of_reduction, int last, int *loops);
/* Returns i32 if numbers up to `most` fit in it, else i64. */
MlirType tp__map_counter(const tp__map_nest *nest, int64_t most);
/* Converts the value to a wider or narrower unsigned type, which may be index. */
MlirValue tp__map_cast(MlirOperation where, MlirValue value, MlirType type);
/* Builds an scf.if without results. *inside is its yield, before which ops go. */
void tp__map_if(MlirOperation where, MlirValue condition, MlirOperation *inside);
/* Builds an scf.for from `from` to `to` in steps of `step` (all of one type) with n carried values.
 * Sets `at` and `carried` to the induction variable and the carried values inside. Ops go before
 * *inside, its yield. */
MlirOperation tp__map_for(MlirOperation where, MlirValue from, MlirValue to, MlirValue step, int n,
                          const MlirValue *initial, MlirValue *at, MlirValue *carried,
                          MlirOperation *inside);
/* Replaces `end`, a yield without operands, by one that yields n values. */
void tp__map_yield(MlirOperation end, int n, const MlirValue *values);

/* ---- map_combine.c: threads that share result elements ---- */
typedef struct tp__map_sharing {
  const tp__map_nest *n;
  /* the kernel; its shared arrays go before it */
  MlirOperation func;
  bool rows; /* the threads that share an element have consecutive numbers */
  /* threads per element, elements per block: powers of two */
  int n_sharing, n_elements;
  int n_arrays;                           /* number of shared arrays so far */
  tp_combiner combiners[TP_MAP_OPERANDS]; /* combiner of each output */
  /* i32: number of the thread in its block, of its element, and of the thread among those that
   * share the element */
  MlirValue thread, element, turn;
} tp__map_sharing;
/* Returns the largest power of two that is at most `n` and at most `most`. */
int tp__map_floor_power(int64_t n, int most);
/* Chooses the number of threads that share a row of n_steps vectors, and the number of rows per
 * block. A thread has at most TP_MAP_ROW_ELEMENTS elements, unless that requires too many
 * threads. */
void tp__map_share_rows(tp__map_sharing *sharing, int64_t n_steps, int lanes);
/* Finds the combiner of each output. False if one is unknown or may not be reordered. */
bool tp__map_combiners(const tp__map_nest *nest, tp_combiner *combiners);
MlirValue tp__map_identity(const tp__map_sharing *sharing, MlirOperation where, int output);
MlirValue tp__map_combine(const tp__map_sharing *sharing, MlirOperation where, int output,
                          MlirValue a, MlirValue b);
/* Combines the values of all threads of an element, pairwise at fixed distances. The thread with
 * turn 0 gets the result; with `for_all`, which requires rows, all threads do. All threads of the
 * block must reach this code. */
MlirValue tp__map_combine_threads(tp__map_sharing *sharing, MlirOperation where, int output,
                                  MlirValue value, bool for_all);

/* ---- map_reduction.c ---- */
/* Returns the loop along which the largest reduced input is contiguous. */
int tp__map_inner(const tp__map_nest *nest);
/* Returns the number of blocks of the reduction's kernel. */
int64_t tp__map_reduction_blocks(const tp__map_nest *nest);

/* ---- kernels, built before `end`, the return of an empty function ---- */
/* A nest that reads some operands along the loop `across` and writes along the loop `along`. The
 * `tiled` operands go through shared memory. */
typedef struct tp__map_tiles {
  int along, across;
  bool tiled[TP_MAP_OPERANDS];
} tp__map_tiles;
bool tp__map_find_transpose(const tp__map_nest *nest, tp__map_tiles *tiles);
tp_status tp__map_transpose(const tp__map_nest *nest, const tp__map_tiles *tiles,
                            MlirOperation func, MlirOperation end, tp__map_launch *launch);
tp_status tp__map_elementwise(const tp__map_nest *nest, MlirOperation end, tp__map_launch *launch);
/* Accumulates onto the previous contents of the results. If `begin` is not NULL, it starts from the
 * number with which this nest fills them. Adds shared arrays before `func`, the kernel. */
tp_status tp__map_reduction(const tp__map_nest *nest, const tp__map_nest *begin, MlirOperation func,
                            MlirOperation end, tp__map_launch *launch);

#endif
