/* Enumerates every plan of a small program, independently of the planner: the choices of each op,
 * the shardings of each value.
 *
 * The lists come from the rules (factors, variants, legality) and from the annotations only. Of the
 * planner, only its specification of offered plans is repeated here, as `beyond`. It distinguishes
 * a plan outside of that from one that the planner has missed. */
#ifndef PLANNER_SPACE_H
#define PLANNER_SPACE_H

#include "ir/value_table.h"
#include "rules/attention.h"
#include "rules/func_graph.h"

#include "tp/reshard.h"

/* Reasons why a plan is outside of those that the planner offers. */
enum {
  BEYOND_ORDER = 1, /* the axes of one dimension are not in mesh order */
  BEYOND_SPLIT = 2, /* uneven shards with empty ones, or by parts of an axis */
  BEYOND_PARTS = 4, /* parts of one axis are placed separately although the whole axis fits */
  BEYOND_ALL = 7,
};

/* One option of a decision. */
typedef struct choice {
  tp_cost cost;
  unsigned beyond; /* bit set; 0: offered */
  int64_t held;    /* bytes of an argument or a result */
  tp_spec *in, *out;
} choice;

typedef enum site { AT_OP, AT_LAYOUT, AT_CARRIED, AT_ARGUMENT, AT_RESULT } site;

enum { MAX_PINS = 8 }; /* results of an op */

/* An op, a constraint, or a value carried by control flow; after space_decide_boundary also an
 * argument or a result. */
typedef struct decision {
  site at;
  MlirOperation op;    /* of an op or a constraint */
  int index, rank;     /* of an argument or a result */
  const tp_rule *rule; /* of an op; NULL else */
  bool is_free;        /* created for each use: the price of that use decides */
  int n_in, n_out;
  int n;
  choice *choices; /* cheapest first */
} decision;

/* Possible shardings of a value. */
typedef struct layouts {
  int n;
  tp_spec *specs;
  unsigned *beyond;
} layouts;

typedef struct use {
  /* decision < 0: result `index` of the function with these shardings */
  int decision, input;
  int index;
  const layouts *result;
} use;

enum { MAX_USES = 64 };

typedef struct value {
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  bool in_blocks; /* its sharding does not change */
  double trips;
  /* decision < 0: argument `index` of the function with these shardings */
  int decision, output;
  int index;
  layouts argument;
  int n_uses;
  use uses[MAX_USES];
} value;

typedef struct space {
  const tp_mesh *mesh;
  const tp_topology *topology;
  bool mixes_sub_axes; /* an annotation splits an axis */
  tp__arena *arena;
  tp_func_graph graph;
  int n_decisions, n_values;
  decision *decisions;
  value *values;
  tp_value_table table;
} space;

/* Returns true if a blockwise op reads operand `i` from memory, because it is not produced
 * blockwise. */
bool reads_stored(const tp_rule *rule, int i);
/* Gives ops their own pads and slices to read in place, as tp-propagate does before it reads a
 * function. */
bool space_take_in_place(MlirOperation func, tp__arena *arena);

/* Reads the only function of `module`. `mesh`: the mesh that it was planned on. False if it is too
 * large, or is rejected. */
bool space_read(MlirOperation func, const tp_mesh *mesh, const tp_topology *topology,
                bool mixes_sub_axes, tp__arena *arena, space *s);
void space_clear(space *s);
/* Adds decisions for the shardings of arguments, at the start, and of results, at the end. False if
 * there are too many. */
bool space_decide_boundary(space *s);

/* Returns all shardings of the value that extend `start` on the dimensions of `open`, in every
 * order of axes; partial by the combiners of `combiners` (bit c). */
layouts list_layouts(const space *s, const value *v, tp_spec start, uint32_t open,
                     uint32_t combiners);

/* Returns the value before reshards. */
MlirValue unchanged(MlirValue value);

/* Returns the modeled cost of the op under a strategy: local work and the communication of
 * localize. `fused`, bit i: operand i does not go through memory. */
tp_cost op_cost(const space *s, const tp_rule *rule, const tp_strategy *strategy, uint64_t fused);

#endif
