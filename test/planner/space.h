/* Every plan of a small program, listed without the planner: what each op may
 * do, what each value may look like.
 *
 * The lists come from the rules (factors, variants, what is legal) and from the
 * annotations alone; of the planner only what it says to offer is repeated
 * here, as `beyond`, so that a plan beyond it can be told from one that it has
 * lost. */
#ifndef PLANNER_SPACE_H
#define PLANNER_SPACE_H

#include "ir/value_table.h"
#include "rules/attention.h"
#include "rules/program.h"

#include "tp/reshard.h"

/* Why a plan is beyond what the planner says to offer. */
enum {
  BEYOND_ORDER = 1, /* axes of one dimension in another order than that of the mesh */
  BEYOND_SPLIT = 2, /* uneven shards of which some are empty, or by parts of an axis */
  BEYOND_PARTS = 4, /* parts of one axis go separate ways where the whole axis fits */
  BEYOND_ALL = 7,
};

/* One way to do what a decision decides. */
typedef struct choice {
  tp_cost cost;
  unsigned beyond; /* bit set; 0: offered */
  int64_t held;    /* bytes of an argument or a result */
  tp_spec *in, *out;
} choice;

typedef enum site { AT_OP, AT_LAYOUT, AT_CARRIED, AT_ARGUMENT, AT_RESULT } site;

enum { MAX_PINS = 8 }; /* results of an op */

/* An op, a constraint, a value carried by control flow; after
 * space_decide_boundary also an argument or a result. */
typedef struct decision {
  site at;
  MlirOperation op;    /* of an op or a constraint */
  int index, rank;     /* of an argument or a result */
  const tp_rule *rule; /* of an op; NULL else */
  bool is_free;        /* made anew for each use: decided by the price of that use */
  int n_in, n_out;
  int n;
  choice *choices; /* cheapest first */
} decision;

/* Layouts that a value may have. */
typedef struct layouts {
  int n;
  tp_spec *specs;
  unsigned *beyond;
} layouts;

typedef struct use {
  /* decision < 0: result `index` of the function with these layouts */
  int decision, input;
  int index;
  const layouts *result;
} use;

enum { MAX_USES = 64 };

typedef struct value {
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  bool in_blocks; /* its layout does not change */
  double trips;
  /* decision < 0: argument `index` of the function with these layouts */
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
  tp_program program;
  int n_decisions, n_values;
  decision *decisions;
  value *values;
  tp_value_table table;
} space;

/* Does an op that works block by block read operand `i` from memory, because
 * that is not made so? */
bool reads_stored(const tp_rule *rule, int i);
/* Reads the only function of `module`. `mesh`: the one that it was planned on.
 * False when it is too large, or is refused. */
bool space_read(MlirOperation func, const tp_mesh *mesh, const tp_topology *topology,
                bool mixes_sub_axes, tp__arena *arena, space *s);
void space_clear(space *s);
/* Makes decisions of the layouts of arguments, first, and of results, last.
 * False when there are too many. */
bool space_decide_boundary(space *s);

/* All layouts of the value that extend `start` on the dimensions of `open`, in
 * every order of axes; partial by the combiners of `combiners` (bit c). */
layouts list_layouts(const space *s, const value *v, tp_spec start, uint32_t open,
                     uint32_t combiners);

/* The value behind changes of layout. */
MlirValue unchanged(MlirValue value);

/* Cost of the op under a strategy, as the model has it: local work, and what
 * localize sends. `fused`: bit i: operand i does not travel through memory. */
tp_cost op_cost(const space *s, const tp_rule *rule, const tp_strategy *strategy, uint64_t fused);

#endif
