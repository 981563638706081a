/* What elements of a tensor are, as expressions of the elements of others: the view that a pass
 * takes of a chain of elementwise ops, broadcasts and sums along rows, however they are cut into
 * ops.
 *
 * The frame is a tensor [.., hidden], "the tensor of rows". A value of the chain has for each of
 * its dimensions the dimension of the frame along which it goes, or none where its size is 1. A
 * program may see rows as [.., hidden / group, group], too: then a dimension goes along the groups,
 * or along the members of one. Equal expressions are one node. Rewritten on the way: a - b is a +
 * -1 * b, a / b is a * (1 / b), 1 / sqrt x for rsqrt x, x * x for a square; widening is left out,
 * since it changes nothing. */
#ifndef TP_PASSES_ROW_EXPRESSION_H
#define TP_PASSES_ROW_EXPRESSION_H

#include "ir/ir.h"

enum { TP_ROW_NODES = 512, TP_ROW_OPS = 128, TP_ROW_UNKNOWN = -1 };

/* Dimensions of values that are none of the frame: of size 1; along the groups of a row; along the
 * members of a group; none of these. */
enum { TP_ROW_UNIT = -1, TP_ROW_GROUP = -2, TP_ROW_MEMBER = -3, TP_ROW_NOWHERE = -4 };

/* elements of the groups that the kernels know: TPRT_CUDA_GROUP */
enum { TP_ROW_KERNEL_GROUP = 128 };

typedef enum tp__row_kind {
  TP_ROW_NUMBER,
  TP_ROW_VALUE, /* an element of a tensor that is not looked into */
  TP_ROW_ADD,
  TP_ROW_MULTIPLY,
  TP_ROW_INVERSE,
  TP_ROW_ROOT,
  TP_ROW_ABSOLUTE,
  TP_ROW_MAXIMUM,
  TP_ROW_MINIMUM,
  TP_ROW_EXPONENTIAL,
  TP_ROW_LOGARITHM,
  TP_ROW_TANGENT,       /* hyperbolic */
  TP_ROW_ROUND,         /* to a narrower type */
  TP_ROW_SUM,           /* along the last dimension of the frame */
  TP_ROW_LARGEST,       /* likewise */
  TP_ROW_GROUP_LARGEST, /* of the members of the element's group */
  /* the place along the last dimension of the frame + `value`, an index, if it is not null */
  TP_ROW_COLUMN,
  TP_ROW_EQUAL,  /* a condition, of two integers */
  TP_ROW_FINITE, /* a condition */
  TP_ROW_WHERE   /* where condition a holds b, else 0 */
} tp__row_kind;

typedef struct tp__row_node {
  tp__row_kind kind;
  int a, b;              /* operands: nodes; of commutative kinds a <= b. Else -1 */
  double number;         /* TP_ROW_NUMBER */
  MlirValue value;       /* TP_ROW_VALUE, TP_ROW_COLUMN */
  int dims[TP_MAX_RANK]; /* TP_ROW_VALUE: of the frame, or TP_ROW_UNIT, ... */
  MlirType type;         /* TP_ROW_ROUND */
} tp__row_node;

/* The nodes of one frame. */
typedef struct tp__rows {
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool has_groups; /* if it has any, their size matters */
  int64_t group;   /* their size; 0: nothing sees rows so */
  MlirValue root;  /* a tensor of the frame's shape */
  int n_ops;
  MlirOperation
      /* computed from it and of no other shape: whole rows, or one number a row or group. In
       * program order */
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

/* What a program goes on with behind an op of one result: that, through reshapes that leave rows as
 * they are. */
MlirValue tp__rows_root(MlirOperation op);

/* Starts with the frame of `root`, a tensor of static shape of rank 1 or more, and finds what is
 * computed from it in its block: those nearest, so many as there is room for. */
void tp__rows_begin(tp__rows *rows, MlirValue root);
/* The same, and the first way in which rows are cut into groups is that of the frame, or one into
 * groups of TP_ROW_KERNEL_GROUP. */
void tp__rows_begin_groups(tp__rows *rows, MlirValue root);
/* Finds what is computed from `value`, too, which is of rows. Nodes stay what they are, values get
 * new ones. */
void tp__rows_follow(tp__rows *rows, MlirValue value);
bool tp__row_is_followed(const tp__rows *rows, MlirOperation op);

/* The node of an element of `value`, whose dimensions go along `dims` of the frame; TP_ROW_UNKNOWN
 * where there is no room. */
int tp__row_of(tp__rows *rows, MlirValue value, const int *dims);
/* The same of a value that has the shape of the frame, rows in groups or not, but for dimensions of
 * size 1; TP_ROW_UNKNOWN for others. */
int tp__row_of_whole(tp__rows *rows, MlirValue value);

/* The same of one number a row: a value that has the shape of the frame without its last dimension,
 * but for dimensions of size 1. */
int tp__row_of_number(tp__rows *rows, MlirValue value);
/* One number a group. */
int tp__row_of_group_number(tp__rows *rows, MlirValue value);

/* The terms of a sum, or factors of a product, whatever was rounded between; a node of another
 * kind, or `whole`, is one of them. Returns their number, or -1 where they are more than `max`. */
int tp__row_parts(const tp__rows *rows, tp__row_kind kind, int node, int whole, int max,
                  int *parts);

/* Without roundings around it. */
int tp__row_exact(const tp__rows *rows, int node);

/* True for the element of the root at the same place. `node` may be TP_ROW_UNKNOWN. */
bool tp__row_is_root(const tp__rows *rows, int node);
/* True for a number that differs from this one by at most 1e-6 of it. */
bool tp__row_is_near(const tp__rows *rows, int node, double number);

/* Is it the element of a tensor that goes along these dimensions of the frame, and no others? */
bool tp__row_is_along(const tp__rows *rows, int node, int n, const int *dims);

#endif
