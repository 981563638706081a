/* Expresses the elements of a tensor by elements of other tensors. This gives passes a view of a
 * chain of elementwise ops, broadcasts and row reductions that does not depend on how the chain is
 * split into ops.
 *
 * The frame is a tensor [.., hidden], the tensor of rows. Each dimension of a value in the chain
 * maps to a dimension of the frame, or to none if its size is 1. A program may also view rows as
 * [.., hidden / group, group]; a dimension then runs along the groups or along the members of a
 * group. Equal expressions share one node. Expressions are normalized: a - b is a + -1 * b, a / b
 * is a * (1 / b), rsqrt x is 1 / sqrt x, a square is x * x. Widening conversions are dropped,
 * because they are exact. */
#ifndef TP_PASSES_ROW_EXPRESSION_H
#define TP_PASSES_ROW_EXPRESSION_H

#include "ir/ir.h"

enum { TP_ROW_NODES = 512, TP_ROW_OPS = 128, TP_ROW_UNKNOWN = -1 };

/* Pseudo-dimensions of values: of size 1; along the groups of a row; along the members of a group;
 * unknown. */
enum { TP_ROW_UNIT = -1, TP_ROW_GROUP = -2, TP_ROW_MEMBER = -3, TP_ROW_NO_DIM = -4 };

/* group size that the kernels support: TPRT_CUDA_GROUP */
enum { TP_ROW_KERNEL_GROUP = 128 };

typedef enum tp__row_kind {
  TP_ROW_NUMBER,
  TP_ROW_VALUE, /* an element of a tensor that is not followed further */
  TP_ROW_ADD,
  TP_ROW_MULTIPLY,
  TP_ROW_RECIPROCAL,
  TP_ROW_SQRT,
  TP_ROW_ABSOLUTE,
  TP_ROW_MAXIMUM,
  TP_ROW_MINIMUM,
  TP_ROW_EXPONENTIAL,
  TP_ROW_LOGARITHM,
  TP_ROW_TANH,             /* hyperbolic tangent */
  TP_ROW_ROUND,            /* rounding to a narrower type */
  TP_ROW_SUM,              /* sum along the last dimension of the frame */
  TP_ROW_REDUCE_MAX,       /* max along the last dimension of the frame */
  TP_ROW_GROUP_REDUCE_MAX, /* max of the members of the element's group */
  /* index along the last dimension of the frame, plus `value` (an index) unless it is null */
  TP_ROW_COLUMN,
  TP_ROW_EQUAL,  /* condition: two integers are equal */
  TP_ROW_FINITE, /* condition: a number is finite */
  TP_ROW_WHERE   /* b if condition a is true, else 0 */
} tp__row_kind;

typedef struct tp__row_node {
  tp__row_kind kind;
  int a, b;              /* operand nodes, or -1 if unused; a <= b for commutative kinds */
  double number;         /* of TP_ROW_NUMBER */
  MlirValue value;       /* of TP_ROW_VALUE and TP_ROW_COLUMN */
  int dims[TP_MAX_RANK]; /* of TP_ROW_VALUE: dimensions of the frame or TP_ROW_UNIT, ... */
  MlirType type;         /* of TP_ROW_ROUND */
} tp__row_node;

/* The nodes of one frame. */
typedef struct tp__rows {
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool has_groups; /* whether to detect a grouped view of the rows */
  int64_t group;   /* group size; 0: no op views rows as groups */
  MlirValue root;  /* a tensor with the frame's shape */
  int n_ops;
  MlirOperation
      /* followed ops in program order: they are computed from the root and their results are whole
       * rows, or one number per row or group */
      ops[TP_ROW_OPS];
  int depth;
  int n;
  tp__row_node nodes[TP_ROW_NODES];
  int n_known;
  struct {
    MlirValue value;
    int dims[TP_MAX_RANK], node;
  } known[TP_ROW_NODES];
} tp__rows;

/* Returns the result of `op`, or the reshaped value that the program uses instead of it, if the
 * reshapes keep rows intact. */
MlirValue tp__rows_root(MlirOperation op);

/* Starts with the frame of `root`, a tensor of static shape and of rank 1 or more. Finds the ops in
 * its block that are computed from it, nearest first, up to TP_ROW_OPS. */
void tp__rows_begin(tp__rows *rows, MlirValue root);
/* Like tp__rows_begin, and also sets the group size. It is the first one that an op uses, or
 * TP_ROW_KERNEL_GROUP if any op uses that. */
void tp__rows_begin_groups(tp__rows *rows, MlirValue root);
/* Also follows the ops computed from `value`, which consists of rows. Existing nodes stay valid;
 * values are expressed anew. */
void tp__rows_follow(tp__rows *rows, MlirValue value);
bool tp__row_is_followed(const tp__rows *rows, MlirOperation op);

/* Returns the node of an element of `value`, whose dimensions map to `dims` of the frame.
 * TP_ROW_UNKNOWN if there is no space left. */
int tp__row_of(tp__rows *rows, MlirValue value, const int *dims);
/* Like tp__row_of, for a value with the shape of the frame, in groups or not, apart from dimensions
 * of size 1. TP_ROW_UNKNOWN for other values. */
int tp__row_of_whole(tp__rows *rows, MlirValue value);

/* Like tp__row_of, for one number per row: a value with the shape of the frame without its last
 * dimension, apart from dimensions of size 1. */
int tp__row_of_number(tp__rows *rows, MlirValue value);
/* Like tp__row_of, for one number per group. */
int tp__row_of_group_number(tp__rows *rows, MlirValue value);

/* Splits a sum into terms or a product into factors, ignoring intermediate rounding. A node of
 * another kind, and the node `whole`, is not split. Returns the number of parts, or -1 if there are
 * more than `max`. */
int tp__row_parts(const tp__rows *rows, tp__row_kind kind, int node, int whole, int max,
                  int *parts);

/* Returns the node without rounding around it. */
int tp__row_exact(const tp__rows *rows, int node);

/* True for the element of the root at the same place. `node` may be TP_ROW_UNKNOWN. */
bool tp__row_is_root(const tp__rows *rows, int node);
/* True for a constant within a relative error of 1e-6 of this number. */
bool tp__row_is_close(const tp__rows *rows, int node, double number);

/* True for an element of a tensor whose dimensions are exactly these dimensions of the frame. */
bool tp__row_is_along(const tp__rows *rows, int node, int n, const int *dims);

#endif
