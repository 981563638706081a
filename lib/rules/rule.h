/* Op rules: an op as an einsum over factors, and its rewrite for local shapes.
 *
 * A rule names the factors of an op, each with a size and a kind. For every dimension of every
 * operand and result, it lists the factors that make up the dimension, major to minor.
 * `([i,k],[k,j])->[i,j]` is a matmul with the reduction factor k; `[(a b)] -> [a,b]` is an
 * expand_shape. This determines the legal choices for one mesh axis: no factor; a factor of kind
 * parallel, reduction or ordered; or a linear variant, which passes partial values through. A
 * strategy is one choice per mesh axis.
 *
 * A family is one file of this folder, with a predicate, `rule` and `localize`. families.c has the
 * table. Rules are independent of plans, costs and other ops. */
#ifndef TP_RULES_RULE_H
#define TP_RULES_RULE_H

#include "ir/annotation.h"
#include "ir/ir.h"
#include "ir/traffic.h"
#include "support/support.h"

#include "tp/cost.h"

enum {
  TP_MAX_FACTORS = 16,
  TP_MAX_DIM_FACTORS = 4, /* factors of one tensor dimension */
  TP_MAX_VARIANTS = 12,
};

typedef enum tp_factor_kind {
  TP_PARALLEL,  /* may be sharded */
  TP_REDUCTION, /* may be sharded; the results are then partial with their combiner */
  /* may be sharded; localize combines the results of the shards itself, so the results are not
   * partial */
  TP_ORDERED,
  /* must not be sharded: its elements depend on each other in a way that no collective can
   * repair */
  TP_FIXED,
} tp_factor_kind;

typedef struct tp_factor {
  int64_t size;
  tp_factor_kind kind;
  /* Splitting the factor splits a tensor, but not the work: every device does all of it. */
  bool repeats_work;
  /* Uneven shards are not allowed, because the op cannot be kept from reading the padding, or from
   * trapping on it. */
  bool must_divide;
} tp_factor;

/* How a dimension of an operand is read if its elements do not correspond one to one to the points
 * of its factor. Point j reads
 *
 *   stride * j + offset + k,  0 <= k < extent,
 *
 * as far as that is inside the dimension. Elements outside of it do not come from the operand
 * (padding, the other operands of a concat), unless the window is cyclic: then the dimension
 * continues with its first element (tp__window_read). stride may be negative. The axes of the
 * factor split the dimension as usual; localize fetches the elements that other devices hold. */
typedef struct tp_window {
  int64_t stride, offset, extent;
  bool cyclic;
} tp_window;

typedef struct tp_dim {
  uint8_t n_factors; /* 0: a dimension that is never sharded (of size 1, or read as a whole) */
  uint8_t factors[TP_MAX_DIM_FACTORS];
  const tp_window *window; /* of the single factor; NULL: the elements correspond to the factors */
} tp_dim;

/* One operand or result. */
typedef struct tp_value_map {
  MlirValue value;
  /* number of the value in the graph that contains the op (func_graph.h); -1: none */
  int number;
  bool is_tensor : 1; /* false: a scalar, which has no sharding */
  bool is_init : 1;   /* initial value of a reduction: partial if the result is */
  bool is_unused : 1; /* elements are never read (outs of an elementwise op) */
  /* Never stored as a whole: a value of attention that is produced and used block by block
   * (attention.h). */
  bool in_blocks : 1;
  bool in_kernel : 1;    /* in_blocks: by a kernel that stores no block either */
  bool is_updated : 1;   /* becomes a result, changed at the points of the op only (tp_traffic) */
  bool has_combiner : 1; /* results and inits of a reduction */
  uint8_t combiner;      /* tp_combiner: how partial results combine over a sharded factor */
  uint8_t n_reads;       /* elements that each point reads; 0: it is read as a whole */
  uint8_t rank;
  const int64_t *shape; /* global */
  int64_t element_size;
  tp_dim *dims;
  /* a tensor.pad or tensor.extract_slice that the op reads in place (in_place.h); value, shape and
   * dims are then those of its operand; null: none */
  MlirOperation in_place;
} tp_value_map;

/* A linear op passes partial values through: if these operands are partial(combiner) over an axis,
 * and all others are replicated along it, then all results are partial(combiner). A sum over rows
 * of groups makes another kind of partial values. */
typedef struct tp_variant {
  tp_combiner combiner;
  uint64_t operands;  /* bit i: operand i is partial */
  tp_combiner result; /* of the results, and of inits among the operands */
} tp_variant;

/* An operand of which every device holds one part but reads all. The op is computed part by part,
 * while the parts travel around a ring of the devices. An axis by which the op splits another
 * factor then also splits dimension `dim` of the operand, which is a single factor. */
typedef struct tp_ring {
  int operand, dim;
  /* bits: the factors that such an axis may split; 0: the op has no ring operand */
  uint32_t factors;
  MlirOperation last; /* the last op that uses the traveling parts; other ops use them too */
} tp_ring;

/* How an op with tp.rows works on rows of groups (rules/rows.h). An axis may split one of `factors`
 * by rows (tp_rows_kind). Then the operands in `own`, and the results if `results` says so, are
 * partial along it: "rows" where it divides the groups, "row_parts" where it divides the rows of
 * the same groups. Other values are split as usual. */
typedef struct tp_rows {
  uint32_t factors; /* bits; 0: no factor is split by rows */
  uint64_t own;     /* bits: operands that are partial */
  uint64_t whole;   /* bits: operands that are not split, although they have the factor */
  bool results;     /* the results and their inits are partial */
  bool even;        /* the axes must divide the factor */
  int traveling;    /* operand whose rows are sent; -1: those of result 0 */
  bool sends;       /* localize exchanges rows between devices */
  int64_t n_groups; /* of an exchange: devices divide them exactly */
  uint64_t masks;   /* bits: operands whose rows are dimension 1, behind the groups */
  bool makes_mask;  /* likewise of the result */
  uint32_t groups;  /* bits: factors of the groups of a sum over rows, which is split as usual */
} tp_rows;

struct tp_family;
struct tp_rule_text;

/* An axis of the group of a border (border.h): its place among those of a factor, major first. */
typedef struct tp_border_axis {
  bool is_set : 1;
  uint8_t place : 3, factor : 4;
} tp_border_axis;

typedef struct tp_rule {
  MlirOperation op;
  const struct tp_family *family;
  int n_factors;
  tp_factor *factors; /* capacity TP_MAX_FACTORS */
  int n_operands;     /* the op's operands, then the tensors that its regions capture */
  int n_results;
  tp_value_map *operands;
  tp_value_map *results;
  int n_variants;
  tp_variant *variants; /* capacity TP_MAX_VARIANTS */
  tp_ring ring;         /* keys or values of attention (attention.h) */
  tp_rows *rows;        /* equal ops share it, like the factors */
  /* Work of the whole op on one device, for the cost model. */
  double contraction_flops; /* a multiply and an add count as 2 */
  int n_again;              /* how often the kernels of a gradient compute the op once more */
  tp_peak peak;             /* of the contraction */
  double scalar_ops;        /* weighted: an exp counts more than an add */
  tp_traffic traffic;       /* of ops that touch only some elements; `skipped` names factors */
  double points;            /* of tp_traffic */
  /* Fuses with its neighbors: values between two such ops do not go through memory. */
  bool is_elementwise;
  bool reads_positions; /* the body contains linalg.index */
  bool keeps_global;    /* localize keeps the result whole and slices it after the op */
  /* creates a value without tensor inputs (empty, splat, fill): cloned for each use */
  bool is_free;
  /* bit a: no strategy uses axis a; set for communication written by a user and for its results */
  uint8_t barred_axes;
  uint16_t border; /* bits: factors of a border, which only axes of border_axes may split */
  tp_border_axis border_axes[TP_MAX_AXES];
  /* the rule whose data all equal ops share, see rule_cache.h; NULL: not shared */
  const struct tp_rule *first;
  /* of a rule written by a user; NULL for families of this library */
  const struct tp_rule_text *text;
} tp_rule;

/* The choice for one axis. */
typedef enum tp_choice_kind { TP_CHOOSE_NONE, TP_CHOOSE_FACTOR, TP_CHOOSE_VARIANT } tp_choice_kind;
typedef enum tp_rows_kind {
  TP_NOT_BY_ROWS,
  TP_BY_GROUPS, /* the axis divides the groups: "rows" */
  TP_BY_PARTS,  /* it divides the rows of the groups of a device: "row_parts" */
  TP_N_ROWS_KINDS
} tp_rows_kind;
typedef struct tp_choice {
  uint8_t kind;
  uint8_t index; /* factor or variant */
  bool ring;     /* of a factor: the axis also splits the operand of tp_rule.ring */
  uint8_t rows;  /* tp_rows_kind. Of a factor: how the axis splits it by rows (tp_rule.rows) */
} tp_choice;

typedef struct tp_strategy {
  tp_choice choices[TP_MAX_AXES];
  uint8_t order[TP_MAX_AXES]; /* the order in which axes are appended to dimensions */
} tp_strategy;

/* The input of localize. The op still has its global types; its operands are local already. */
typedef struct tp_local {
  const tp_rule *rule;
  const tp_mesh *mesh;
  const tp_strategy *strategy;
  MlirOperation module;
} tp_local;

/* The inputs for pricing collectives. */
typedef struct tp_pricing {
  const tp_mesh *mesh;
  const tp_topology *topology;
  /* Called for each collective, in execution order. NULL: not called. `elements` as in
   * tp_cost_collective. */
  void (*seen)(tp_collective kind, int n_axes, const int *axes, int64_t elements,
               int64_t element_size, void *data);
  void *data;
} tp_pricing;

tp_cost tp__price(const tp_pricing *pricing, tp_collective kind, int n_axes, const int *axes,
                  int64_t elements, int64_t element_size);

/* The fields up to `rule` must be given. */
typedef struct tp_family {
  const char *name;
  const char *ops;     /* for the reference: the ops */
  const char *summary; /* for the reference: the dimensions that can be sharded */
  /* for the reference: the communication that this needs, apart from reshards of the op's
   * operands */
  const char *communication;
  /* for the reference: the folder or file with its tests, relative to the root of the tree */
  const char *test;
  bool (*matches)(MlirOperation op);
  /* Fills factors, maps, variants and work. An error emits one diagnostic. */
  tp_status (*rule)(MlirOperation op, tp__arena *arena, tp_rule *rule);
  /* True if the rule of this op depends only on its types, properties and body, and on constants
   * that it reads. NULL: never. */
  bool (*follows_from_op)(MlirOperation op);
  /* Rewrites the op for local shapes. The caller changes the result types afterwards. NULL: only
   * the types change. */
  tp_status (*localize)(const tp_local *local);
  /* Returns the modeled time of the collectives that localize adds to combine the shards of ordered
   * factors. NULL: there are none. */
  tp_cost (*joining)(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy);
} tp_family;

/* All families. */
const tp_family *const *tp__families(int *n);

/* Lists the tensors that the regions of `op` capture, in the order in which a rule lists them after
 * the operands. Returns their number. */
int tp__captured_tensors(MlirOperation op, int max, MlirValue *values);

/* True if the op has tensors among its operands, results or captured values, so that it needs a
 * rule. */
bool tp__op_has_tensors(MlirOperation op);

/* Reads the rule of `op`. TP_UNSUPPORTED with a diagnostic if no family matches it or a tensor has
 * no static shape. With `unknown_replicate`, an op that no family matches gets a rule without
 * factors and without a family. Memory comes from `arena`. */
tp_status tp__rule_of(MlirOperation op, bool unknown_replicate, tp__arena *arena, tp_rule *rule);
/* True for ops that no program may contain, such as those of the gpu dialect. They are refused also
 * with unknown-ops=replicate, and if they have no tensors. */
bool tp__is_never_compiled(MlirOperation op);

/* ---- for families ---- */

/* A tp_family.follows_from_op that is always true. */
bool tp__always_follows(MlirOperation op);

/* Returns n zeroed operands or results, and at least one, so that the first may be accessed. NULL
 * if memory runs out. */
tp_value_map *tp__rule_maps(tp__arena *arena, int n);
/* Fills operands (and captured tensors) and results with shapes and with empty dims, which are not
 * shardable. */
tp_status tp__rule_begin(MlirOperation op, tp__arena *arena, tp_rule *rule);
/* Notes which operands the op reads or changes at its points only. The family sets
 * tp_rule.points. */
void tp__rule_traffic(tp_rule *rule);
/* Adds a factor. Returns its index; -1 if there are too many. */
int tp__rule_factor(tp_rule *rule, int64_t size, tp_factor_kind kind);
/* Makes the dimension the single factor f. */
void tp__dim_set(tp_value_map *map, int dim, int f);
/* Makes the dimension the single factor f, read through `window`, which is copied to `arena`.
 * TP_NO_MEMORY with a diagnostic. */
tp_status tp__dim_window(tp_rule *rule, tp_value_map *map, int dim, int f, tp_window window,
                         tp__arena *arena);
/* True if some dimension of an operand is read through a window. */
bool tp__rule_has_window(const tp_rule *rule);
void tp__rule_variant(tp_rule *rule, tp_combiner combiner, uint64_t operands);
/* Adds one parallel factor per dimension of result 0, shared by all tensors of the same rank. For
 * elementwise ops. */
void tp__rule_same_dims(tp_rule *rule);
int64_t tp__shape_elements(int rank, const int64_t *shape);

/* Returns the memory traffic of operand i, in bytes. `whole` is its size on a device, `points` the
 * number of points that the device works on. `update` matters for an updated operand. */
double tp__operand_traffic(const tp_rule *rule, int i, tp_update update, double whole,
                           double points);

/* ---- strategies ---- */

/* Returns the spec of an operand or result under a strategy. */
tp_spec tp__strategy_operand(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                             int i);
tp_spec tp__strategy_result(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                            int i);
/* True if the strategy is legal: it splits no fixed factor; it divides the factors that must be
 * divided exactly; it splits a minor factor only if the major ones are split completely; localize
 * can fetch all elements that it needs; and no value is partial with two combiners. */
bool tp__strategy_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);
/* True if `spec` splits a dimension of `map` unevenly although its factors forbid that. `text` then
 * names the dimension and the axes. */
bool tp__refuses_uneven(const tp_rule *rule, const tp_mesh *mesh, const tp_value_map *map,
                        tp_spec spec, char *text, size_t size);
/* True if two choices for an axis are equal. */
bool tp__same_choice(tp_choice a, tp_choice b);
/* Lists the axes along which the operand of tp_rule.ring travels, major to minor, as one ring.
 * Returns their number. Capacity: TP_MAX_AXES. */
int tp__strategy_ring(const tp_mesh *mesh, const tp_strategy *strategy, int *axes);
/* Returns the number of traveling parts, which is the number of steps in which the op is computed;
 * 1: there is no ring. */
int64_t tp__ring_parts(const tp_mesh *mesh, const tp_strategy *strategy);
/* True if some axis splits factor f by rows. */
bool tp__strategy_by_rows(const tp_mesh *mesh, const tp_strategy *strategy, int f);
/* Lists the axes that split factor f, major to minor. Returns their number. Capacity:
 * TP_MAX_AXES. */
int tp__strategy_axes(const tp_mesh *mesh, const tp_strategy *strategy, int f, int *axes);
/* Returns the number of shards of factor f. */
int64_t tp__strategy_shards(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                            int f);
/* Returns the iterations of factor f on one device, which is the size of its buffers: nested ceil
 * if the axes do not divide it. */
int64_t tp__strategy_local(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                           int f);
/* Returns the share of the op's work that one device does, in (0, 1]. Padding counts as work. */
double tp__strategy_share(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);
/* Returns the smallest dimension of the contraction on one device, for tp_work.gemm_dim; 0 for ops
 * that are not contractions. */
int64_t tp__strategy_gemm_dim(const tp_rule *rule, const tp_mesh *mesh,
                              const tp_strategy *strategy);
/* Returns the modeled time of the communication that localize adds: fetches for windows, regrouping
 * of units, ordered factors, rings, and exchanges of rows. */
tp_cost tp__strategy_communication(const tp_rule *rule, const tp_pricing *pricing,
                                   const tp_strategy *strategy);

/* Returns the share of a ring in that time: one permute less than there are parts, which together
 * send as many bytes as a gather of the operand. */
tp_cost tp__ring_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy);

/* Finds the strategy under which the op has exactly these shardings. `operand_specs` of unused
 * operands and of scalars are ignored. `hint` (may be NULL) is preferred if several strategies fit.
 * Returns the number of fitting strategies (0, 1, or 2 for "several"); `strategy` receives the
 * first. */
int tp__strategy_match(const tp_rule *rule, const tp_mesh *mesh, const tp_spec *operand_specs,
                       const tp_spec *result_specs, const tp_strategy *hint, tp_strategy *strategy);

/* ---- tp.factors: choices annotated on an op ---- */

/* Orders the axes as the mesh lists them. */
void tp__identity_order(tp_strategy *strategy);

/* Writes the attribute. {dp = 0, "tp:(1)2" = 2} names the factor of each axis; {tp = "linear 1"}
 * names a variant, {tp = "ring 2"} factor 2 with a ring along the axis, {tp = "rows 2"} factor 2
 * split by groups of rows, {tp = "row_parts 2"} by parts of them. */
MlirAttribute tp__write_factors(MlirContext context, const tp_mesh *mesh,
                                const tp_strategy *strategy);
/* True if this entry of tp.factors is a ring. */
bool tp__names_ring(MlirAttribute choice);
tp_status tp__read_factors(const tp_rule *rule, MlirAttribute attr, const tp_mesh *mesh,
                           tp_strategy *strategy);

/* ---- for localize ---- */

/* Builds the index of this device's shard along factor f before the op. Null if f is not
 * sharded. */
MlirValue tp__shard_index(const tp_local *local, int f);

/* Builds the index of this device's first element along factor f before the op. Null if f is not
 * sharded. */
MlirValue tp__shard_offset(const tp_local *local, int f);

/* Slices result `i`, which the op keeps whole, to its sharding with shard.all_slice, for all users.
 * The caller must keep the result's type global (tp_rule.keeps_global). */
tp_status tp__slice_whole(const tp_local *local, int i);

#endif
