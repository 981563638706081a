/* Op rules: an op as an einsum over factors, and how it is rewritten for its local shapes.
 *
 * A rule names the factors of an op (each with a size and a kind) and says for every dimension of
 * every operand and result which factors it is made of, major to minor. `([i,k],[k,j])->[i,j]` is a
 * matmul with the reduction factor k; `[(a b)] -> [a,b]` an expand_shape. From this follow, for one
 * mesh axis, the legal choices: no factor, a factor of kind parallel, reduction or joined, or a
 * linear variant that lets partial values through. A strategy is one choice per mesh axis.
 *
 * A family is one file of this folder: a predicate, `rule` and `localize`; families.c has the
 * table. Rules know nothing of plans, costs or other ops. */
#ifndef TP_RULES_RULE_H
#define TP_RULES_RULE_H

#include "ir/annotation.h"
#include "ir/ir.h"
#include "support/support.h"

#include "tp/cost.h"

enum {
  TP_MAX_FACTORS = 16,
  TP_MAX_DIM_FACTORS = 4, /* factors of one tensor dimension */
  TP_MAX_VARIANTS = 12,
};

typedef enum tp_factor_kind {
  TP_PARALLEL,  /* may be sharded */
  TP_REDUCTION, /* may be sharded; results become partial by their combiner */
  /* may be sharded; localize itself combines what the shards computed, and no result shows the
   * axis */
  TP_JOINED,
  /* must not be sharded: its elements depend on each other in a way no collective repairs */
  TP_FIXED,
} tp_factor_kind;

typedef struct tp_factor {
  int64_t size;
  tp_factor_kind kind;
  bool repeats_work; /* splitting it splits a tensor, not the work: every device does all of it */
  /* no uneven shards: nothing could keep the op from reading, or trapping on, what stands in the
   * padding */
  bool must_divide;
} tp_factor;

/* How a dimension of an operand is read where its elements are not those of its factor, one by one:
 * point j reads
 *   stride * j + offset + k,  0 <= k < extent, as far as that is inside the dimension; what is
 *     outside of it is not taken from the operand (padding, the other operands of a concat). stride
 *     may be negative. The dimension is split by the axes of its factor all the same; localize
 *     fetches what lies on other devices. */
typedef struct tp_window {
  int64_t stride, offset, extent;
} tp_window;

typedef struct tp_dim {
  uint8_t n_factors; /* 0: a dimension that is never sharded (size 1, or read as a whole) */
  uint8_t factors[TP_MAX_DIM_FACTORS];
  const tp_window *window; /* of the one factor; NULL: the elements are those of the factors */
} tp_dim;

/* One operand or result. */
typedef struct tp_value_map {
  MlirValue value;
  /* of the value in the program that the op is an item of (program.h); -1: it has none */
  int number;
  bool is_tensor; /* false: a scalar; it has no layout */
  bool is_init;   /* operand that a reduction starts from: partial where the result is */
  bool is_unused; /* operand whose elements are never read (outs of an elementwise op) */
  /* never stored as a whole: a value of attention that is made and used block by block
   * (attention.h) */
  bool in_blocks;
  bool has_combiner;    /* results and inits of a reduction */
  tp_combiner combiner; /* how partial results combine over a sharded reduction factor */
  int rank;
  const int64_t *shape; /* global */
  int64_t element_size;
  tp_dim *dims;
  MlirOperation
      /* a tensor.pad that the op reads in place (in_place.h): value, shape and dims are those of
       * its operand; null: none */
      pad;
} tp_value_map;

/* A linear op lets partial values through: with these operands partial(combiner) over an axis, and
 * all others replicated along it, all results are partial(combiner). */
typedef struct tp_variant {
  tp_combiner combiner;
  uint64_t operands; /* bit i: operand i is partial */
} tp_variant;

/* An operand of which every device has a part and reads the whole, while the op is computed part by
 * part: the parts travel around a ring of the devices. So dimension `dim` of the operand, which is
 * one factor, is split by an axis by which the op splits another factor. */
typedef struct tp_ring {
  int operand, dim;
  /* those (bits) that an axis may split meanwhile; 0: the op has no such operand */
  uint32_t factors;
  MlirOperation last; /* until when parts travel: other ops are computed with them */
} tp_ring;

struct tp_family;
struct tp_rule_text;

typedef struct tp_rule {
  MlirOperation op;
  const struct tp_family *family;
  int n_factors;
  tp_factor *factors; /* room for TP_MAX_FACTORS */
  int n_operands;     /* the op's operands, then tensors captured by its regions */
  int n_results;
  tp_value_map *operands;
  tp_value_map *results;
  int n_variants;
  tp_variant *variants; /* room for TP_MAX_VARIANTS */
  tp_ring ring;         /* keys or values of attention (attention.h) */
  /* Work of the whole op on one device, for the cost model. */
  double contraction_flops; /* multiply and add count 2 */
  tp_peak peak;             /* of the contraction */
  double scalar_ops;        /* weighted: an exp counts more than an add */
  /* fuses with its neighbours: values between two such ops do not travel through memory */
  bool is_elementwise;
  bool reads_positions; /* the body has linalg.index */
  bool keeps_global;    /* localize leaves the result whole and slices it behind the op */
  /* makes a value from nothing (empty, splat, fill): cloned for each use */
  bool is_free;
  /* bit a: no strategy uses axis a; set for communication written by a user, and what it makes */
  uint8_t barred_axes;
  /* what the rules of all equal ops share, see alike.h; NULL: shared with none */
  const struct tp_rule *first;
  const struct tp_rule_text *text; /* of a rule by its user; NULL for families of this library */
} tp_rule;

/* Choice of one axis. */
typedef enum tp_choice_kind { TP_CHOOSE_NONE, TP_CHOOSE_FACTOR, TP_CHOOSE_VARIANT } tp_choice_kind;
typedef struct tp_choice {
  uint8_t kind;
  uint8_t index; /* factor or variant */
  bool ring;     /* of a factor: the axis also splits the operand of tp_rule.ring */
} tp_choice;

typedef struct tp_strategy {
  tp_choice choices[TP_MAX_AXES];
  uint8_t order[TP_MAX_AXES]; /* the axes in the order in which they are appended to dimensions */
} tp_strategy;

/* What localize sees: the op has its global types still, its operands are local already. */
typedef struct tp_local {
  const tp_rule *rule;
  const tp_mesh *mesh;
  const tp_strategy *strategy;
  MlirOperation module;
} tp_local;

/* What collectives cost. */
typedef struct tp_pricing {
  const tp_mesh *mesh;
  const tp_topology *topology;
  /* Told of each collective, in the order in which they run; NULL: nobody. `elements` as in
   * tp_cost_collective. */
  void (*seen)(tp_collective kind, int n_axes, const int *axes, int64_t elements,
               int64_t element_size, void *data);
  void *data;
} tp_pricing;

tp_cost tp__price(const tp_pricing *pricing, tp_collective kind, int n_axes, const int *axes,
                  int64_t elements, int64_t element_size);

typedef struct tp_family {
  const char *name;
  const char *ops;     /* for the reference: which ops */
  const char *summary; /* for the reference: what can be sharded */
  /* for the reference: what that needs beside changes of layout of the op's operands */
  const char *communication;
  /* for the reference: the folder or file with its tests, from the root of the tree */
  const char *test;
  bool (*matches)(MlirOperation op);
  /* Fills factors, maps, variants and work. Errors: emits one diagnostic. */
  tp_status (*rule)(MlirOperation op, tp__arena *arena, tp_rule *rule);
  /* Does the rule of this op follow from its types, properties and body, and from constants that it
   * reads? NULL: never. */
  bool (*follows_from_op)(MlirOperation op);
  /* Rewrites the op for local shapes; result types are changed afterwards by the caller. NULL:
   * nothing but types. */
  tp_status (*localize)(const tp_local *local);
  /* Modelled time of the collectives that localize adds to combine the shards of joined factors.
   * NULL: it adds none. */
  tp_cost (*joining)(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy);
} tp_family;

/* All families. */
const tp_family *const *tp__families(int *n);

/* The tensors that the regions of `op` read from outside, in the order in which a rule lists them
 * behind the operands; returns their number. */
int tp__captured_tensors(MlirOperation op, int max, MlirValue *values);

/* True if the op has tensors among its operands, results or captured values, so that it needs a
 * rule. */
bool tp__op_has_tensors(MlirOperation op);

/* The rule of `op`; TP_UNSUPPORTED with a diagnostic when no family knows it or a tensor has no
 * static shape. `unknown_replicate`: an op that no family knows gets a rule without factors, and no
 * family. Memory comes from `arena`. */
tp_status tp__rule_of(MlirOperation op, bool unknown_replicate, tp__arena *arena, tp_rule *rule);

/* ---- for families ---- */

/* A tp_family.follows_from_op that is always true. */
bool tp__always_follows(MlirOperation op);

/* Room for n operands or results, zeroed: at least for one, so that the first may be looked at.
 * NULL when memory runs out. */
tp_value_map *tp__rule_maps(tp__arena *arena, int n);
/* Fills operands (and captured tensors) and results with shapes and empty dims (nothing
 * shardable). */
tp_status tp__rule_begin(MlirOperation op, tp__arena *arena, tp_rule *rule);
/* Adds a factor; returns its index, -1 when there are too many. */
int tp__rule_factor(tp_rule *rule, int64_t size, tp_factor_kind kind);
/* Makes the dim the single factor f. */
void tp__dim_set(tp_value_map *map, int dim, int f);
/* Makes the dim the single factor f, read through `window`, which is copied to `arena`.
 * TP_NO_MEMORY with a diagnostic. */
tp_status tp__dim_window(tp_rule *rule, tp_value_map *map, int dim, int f, tp_window window,
                         tp__arena *arena);
void tp__rule_variant(tp_rule *rule, tp_combiner combiner, uint64_t operands);
/* One parallel factor per dimension of result 0, shared by all tensors of the same rank:
 * elementwise ops. */
void tp__rule_same_dims(tp_rule *rule);
int64_t tp__shape_elements(int rank, const int64_t *shape);

/* ---- strategies ---- */

/* The spec an operand or result has under a strategy. */
tp_spec tp__strategy_operand(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                             int i);
tp_spec tp__strategy_result(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                            int i);
/* Legal: no fixed factor is split; factors that must are divided exactly, others may be uneven; a
 * minor factor is split only when its major ones are split completely; what localize has to fetch
 * can be; no value is partial by two combiners. */
bool tp__strategy_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);
/* Does `spec` split a dimension of `map` unevenly although its factors do not allow that? Then
 * `text` says which, and by what. */
bool tp__refuses_uneven(const tp_rule *rule, const tp_mesh *mesh, const tp_value_map *map,
                        tp_spec spec, char *text, size_t size);
/* Are two choices of an axis the same one? */
bool tp__same_choice(tp_choice a, tp_choice b);
/* The axes along which the operand of tp_rule.ring travels, major to minor, as one ring; returns
 * their number. Room for TP_MAX_AXES. */
int tp__strategy_ring(const tp_mesh *mesh, const tp_strategy *strategy, int *axes);
/* The parts that travel, and steps in which the op is computed; 1: there is no ring. */
int64_t tp__ring_parts(const tp_mesh *mesh, const tp_strategy *strategy);
/* The axes that split factor f, major to minor; returns their number. `axes` has room for
 * TP_MAX_AXES. */
int tp__strategy_axes(const tp_mesh *mesh, const tp_strategy *strategy, int f, int *axes);
/* Number of shards of factor f. */
int64_t tp__strategy_shards(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                            int f);
/* Iterations of factor f on one device: the size of its buffers, ceil of ceil where its axes do not
 * divide. */
int64_t tp__strategy_local(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                           int f);
/* Share of the op's work that one device does, in (0, 1]; padding is work too. */
double tp__strategy_share(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);
/* The smallest dimension of the contraction on one device, for tp_work.gemm_dim; 0 for ops that
 * contract nothing. */
int64_t tp__strategy_gemm_dim(const tp_rule *rule, const tp_mesh *mesh,
                              const tp_strategy *strategy);
/* Modelled time of the communication that localize adds: windows over neighbours, units of joined
 * dimensions, joined factors, rings. */
tp_cost tp__strategy_communication(const tp_rule *rule, const tp_pricing *pricing,
                                   const tp_strategy *strategy);

/* What of it the parts of an operand cost that travel in a ring: a permute less than there are
 * parts, as many bytes as gathering it takes. */
tp_cost tp__ring_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy);

/* Finds the strategy under which the op has exactly these layouts. `operand_specs` of unused
 * operands and of scalars do not count. `hint` (may be NULL) is preferred where several fit.
 * Returns the number of fitting strategies found (0, 1, or 2 for "several"); `strategy` is the
 * first. */
int tp__strategy_match(const tp_rule *rule, const tp_mesh *mesh, const tp_spec *operand_specs,
                       const tp_spec *result_specs, const tp_strategy *hint, tp_strategy *strategy);

/* ---- tp.factors: choices written on an op ---- */

/* {dp = 0, "tp:(1)2" = 2} names the factor of each axis; {tp = "linear 1"} a variant, {tp = "ring
 * 2"} factor 2 with a ring along the axis. */
MlirAttribute tp__write_factors(MlirContext context, const tp_mesh *mesh,
                                const tp_strategy *strategy);
/* Is this one choice of them a ring? */
bool tp__names_ring(MlirAttribute choice);
tp_status tp__read_factors(const tp_rule *rule, MlirAttribute attr, const tp_mesh *mesh,
                           tp_strategy *strategy);

/* ---- for localize ---- */

/* The number of this device's shard along factor f, as an index value before the op; a null value
 * when f is not sharded. */
MlirValue tp__shard_index(const tp_local *local, int f);

/* The index of this device's first element along factor f, as an index value before the op; a null
 * value when f is not sharded. */
MlirValue tp__shard_offset(const tp_local *local, int f);

/* For ops whose value is kept whole: slices result `i` to its layout with shard.all_slice, for all
 * users. The caller must leave the result's type global (tp_rule.keeps_global). */
tp_status tp__slice_whole(const tp_local *local, int i);

#endif
