/* Sharding spec: the use of each mesh axis in one tensor.
 *
 * For every axis of a (possibly refined) mesh, a spec has one of
 *   replicated            every device along the axis holds the same data
 *   dimension d, order k  the axis splits dimension d; k is its position among the axes of d, major
 *                         to minor
 *   partial(combiner)     the tensor is the combination of the values along the axis
 *
 * A spec packs one byte per axis into 64 bits, so specs copy, hash and compare as integers.
 * Invariants: an axis is used once; the orders on one dimension are 0..n-1 without gaps (all
 * functions here maintain this).
 *
 * Example on ["dp", "tp"]: [["dp"], []] shards dimension 0 over dp and replicates over tp; {partial
 * = {tp = "sum"}} adds a partial.
 *
 * Sizes: a dimension of size D split by axes a0, a1, ... (major to minor) has a local buffer of
 * ceil(ceil(D / s0) / s1)...; the valid part of each shard is a prefix of that buffer.
 *
 * Ownership: plain values. Thread rule: safe everywhere. */
#ifndef TP_SPEC_H
#define TP_SPEC_H

#include "tp/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TP_MAX_RANK = 14 };

/* Combiners of partial values. tp_combiner_name returns their spelling in the IR. */
typedef enum tp_combiner {
  TP_SUM,     /* "sum": addf, addi */
  TP_PRODUCT, /* "product": mulf, muli */
  TP_MAX,     /* "max": maximumf (NaN wins), maxsi */
  TP_MIN,     /* "min": minimumf (NaN wins), minsi */
  TP_MAXNUM,  /* "maxnumf": maxnumf (a number beats NaN) */
  TP_MINNUM,  /* "minnumf" */
  TP_MAXU,    /* "maxui": unsigned */
  TP_MINU,    /* "minui" */
  TP_AND,     /* "and": bitwise */
  TP_OR,      /* "or" */
  TP_XOR,     /* "xor" */
  /* "average": sum divided by the number of devices; only on collectives written by the user */
  TP_AVERAGE,
  /* "rows": not combined. The rows (dimension 0) are sorted into groups whose sizes are known only
   * at run time, and each device holds the rows of its groups; its other rows are unspecified. Only
   * ops with tp.rows make and read such values */
  TP_ROWS,
  /* "row_parts": like "rows", along further axes: devices with the same groups divide the rows of
   * these groups into consecutive parts of equal size, and each holds one part */
  TP_ROW_PARTS,
  TP_N_COMBINERS
} tp_combiner;

TP_API const char *tp_combiner_name(tp_combiner c);
/* Returns false if `name` is not a combiner. */
TP_API bool tp_combiner_parse(const char *name, tp_combiner *c);

typedef struct tp_spec {
  /* byte a describes axis a: 0 replicated; 0x80|c partial(c); (order << 4) | (dim + 1) otherwise */
  uint64_t bits;
} tp_spec;

typedef enum tp_place_kind { TP_REPLICATED, TP_DIM, TP_PARTIAL } tp_place_kind;

typedef struct tp_place {
  tp_place_kind kind;
  int dim;              /* TP_DIM */
  int order;            /* TP_DIM: 0 is the major-most axis of the dimension */
  tp_combiner combiner; /* TP_PARTIAL */
} tp_place;

/* True for rows of groups, which are not combined. */
static inline bool tp_combiner_is_rows(tp_combiner c) { return c == TP_ROWS || c == TP_ROW_PARTS; }
static inline bool tp_place_is_rows(tp_place place) {
  return place.kind == TP_PARTIAL && tp_combiner_is_rows(place.combiner);
}

static inline tp_spec tp_spec_replicated(void) { return (tp_spec){0}; }
static inline bool tp_spec_equal(tp_spec a, tp_spec b) { return a.bits == b.bits; }

TP_API tp_place tp_spec_place(tp_spec spec, int axis);
/* Appends `axis` as the minor-most axis of `dim`. The axis must be replicated before
 * (TP_INVALID_ARGUMENT if not). */
TP_API tp_status tp_spec_append(tp_spec *spec, int axis, int dim);
/* Marks `axis` partial. The axis must be replicated before. */
TP_API tp_status tp_spec_set_partial(tp_spec *spec, int axis, tp_combiner combiner);
/* Makes `axis` replicated and closes the gap in the orders of the dimension it was on. */
TP_API void tp_spec_clear(tp_spec *spec, int axis);
/* Writes the axes on `dim`, major to minor, and returns their number. `axes` has TP_MAX_AXES
 * entries. */
TP_API int tp_spec_dim_axes(const tp_mesh *mesh, tp_spec spec, int dim, int *axes);
/* True if some axis is partial. */
TP_API bool tp_spec_has_partial(tp_spec spec);
/* Returns the number of shards along `dim`: the product of the sizes of its axes. */
TP_API int64_t tp_spec_dim_shards(const tp_mesh *mesh, tp_spec spec, int dim);
/* Returns the axes, as bits, that split a dimension of a tensor of `shape` unevenly. */
TP_API unsigned tp_spec_uneven_axes(const tp_mesh *mesh, tp_spec spec, int rank,
                                    const int64_t *shape);
/* Returns true if the orders are canonical: the axes of each dimension are in mesh order,
 * ascending. */
TP_API bool tp_spec_is_canonical(const tp_mesh *mesh, tp_spec spec);

/* Computes the local buffer shape of a tensor of global `shape`, with nested ceil as described
 * above. */
TP_API void tp_spec_local_shape(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                                int64_t *local);
/* Returns the number of elements of the local buffer. */
TP_API int64_t tp_spec_local_elements(const tp_mesh *mesh, tp_spec spec, int rank,
                                      const int64_t *shape);
/* True if every dimension is divided exactly by its number of shards. */
TP_API bool tp_spec_divides(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape);
/* Computes the offset (in elements of `dim`) and the valid size of the shard of `device` along
 * `dim`, which has global size `size`. offset + valid <= size, also for shards that are all padding
 * (valid == 0). */
TP_API void tp_spec_shard(const tp_mesh *mesh, tp_spec spec, int dim, int64_t size, int64_t device,
                          int64_t *offset, int64_t *valid);

/* Writes the canonical text: [["dp"], ["tp:(1)2"]] or, if partial, {dims = [["dp"], []], partial =
 * {tp = "sum"}}. Adjacent sub-axes print joined. Returns the length as snprintf does. */
TP_API int tp_spec_text(const tp_mesh *mesh, tp_spec spec, int rank, char *text, size_t size);

/* Checks a spec against a tensor: the rank is in range, and every dim < rank. `why` receives a
 * message with the object, the problem and both values. */
TP_API tp_status tp_spec_verify(const tp_mesh *mesh, tp_spec spec, int rank, char *why,
                                size_t why_size);

#ifdef __cplusplus
}
#endif
#endif
