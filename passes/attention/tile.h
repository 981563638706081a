/* Parts of tp-tile-attention: tiles of values for the current block, and row computations. */
#ifndef TP_PASSES_TILE_H
#define TP_PASSES_TILE_H

#include "ir/annotation.h"
#include "rules/attention.h"

/* Keys or values of which this device holds one part of the columns at a time. */
typedef struct tp_ring_value {
  MlirValue whole, part; /* the gathered value that the ops read, and the part currently held */
} tp_ring_value;

/* Builds ops for one block, which is a range of each loop. All ops are inserted in front of
 * `where`. */
typedef struct tp_tiler {
  const tp_attention *a;
  MlirOperation where;
  int64_t tile[TP_MAX_SCORE_LOOPS]; /* iterations of a full block */
  int64_t now[TP_MAX_SCORE_LOOPS];  /* iterations of the current block */
  /* first iteration of the current block, an index; null: 0 */
  MlirValue offset[TP_MAX_SCORE_LOOPS];
  MlirValue made[TP_MAX_ATTENTION_OPS]; /* the tiles of this block; null: not built yet */
  int n_ring_values;
  tp_ring_value ring_values[2];
  MlirValue within; /* first column of the block within the current part; null: 0 */
  tp_status status; /* first error while building; sticky */
} tp_tiler;

/* The loops of a value in the order of its dimensions, with dimensions of several loops
 * expanded. */
typedef struct tp_loop_list {
  int n;
  uint8_t loops[TP_MAX_SCORE_LOOPS];
} tp_loop_list;

tp_loop_list tp__flat_loops(const tp_score_dim *dims, int n);
tp_loop_list tp__result_loops(const tp_attention_op *op);

/* ---- tile.c ---- */

/* The tensor type over these loops, for the current block or, with `whole`, for all iterations. */
MlirType tp__loops_type(const tp_tiler *t, const tp_loop_list *list, MlirType element, bool whole);
/* The tile of a value with these dimensions: computed by an op of the attention, or sliced out. */
MlirValue tp__tile(tp_tiler *t, MlirValue value, const tp_score_dim *dims);
/* Builds op number `i` on tiles; a reduction starts from `init`. */
MlirValue tp__tile_op(tp_tiler *t, int i, MlirValue init);
/* The result type of op number `i` on tiles. */
MlirType tp__tile_type(const tp_tiler *t, int i);
/* Reshapes the value to type `to`. */
MlirValue tp__reshaped(tp_tiler *t, MlirValue value, MlirType to);
/* Inserts the tile into a tensor over all iterations of these loops. */
MlirValue tp__put_tile(tp_tiler *t, MlirValue tile, MlirValue into, const tp_loop_list *list);
/* Extracts the tile from a tensor over all iterations of these loops. */
MlirValue tp__take_tile(tp_tiler *t, MlirValue from, const tp_loop_list *list);
/* Inlines the function in `text`, applied to the n values, and returns its result, of type `type`.
 * After a reported error it returns an arbitrary value of this type. Frees the text. */
MlirValue tp__tile_text(tp_tiler *t, tp__string *text, int n, const MlirValue *values,
                        MlirType type);
/* A tensor of zeros. */
MlirValue tp__zeros(tp_tiler *t, MlirType type);

/* ---- tile_ring.c ---- */

/* The devices among which keys and values rotate. */
typedef struct tp_tile_ring {
  MlirOperation module;
  tp_mesh mesh;
  int n_axes, axes[TP_MAX_AXES]; /* axes of the group, major to minor */
  int64_t parts;                 /* number of parts; 1: no ring */
  int64_t columns;               /* columns of a part */
} tp_tile_ring;

/* True if the op gathers a value that is to rotate in a ring. */
bool tp__is_ring(MlirOperation op);
/* Finds the values that rotate, and sets t->travelling. Errors: emits one diagnostic. */
tp_status tp__find_ring(MlirOperation module, tp_tiler *t, tp_tile_ring *ring);
/* The first column of the current part in this step, as an index. */
MlirValue tp__ring_first(tp_tiler *t, const tp_tile_ring *ring, int64_t step);
/* Sends the current parts to the next device; `next` becomes the received parts. */
void tp__ring_send(tp_tiler *t, const tp_tile_ring *ring, MlirValue *next);

/* ---- tile_causal.c ---- */

enum { TP_MAX_PLACE_TERMS = 4 };

/* A row at index r of loop `row` attends only to columns below r + add + sum(more) - sum(less). */
typedef struct tp_tile_causal {
  bool found;
  int row;
  int64_t add;
  int n_more, n_less;
  /* indices defined before the attention */
  MlirValue more[TP_MAX_PLACE_TERMS], less[TP_MAX_PLACE_TERMS];
  double hidden; /* the score of masked columns */
} tp_tile_causal;

/* A scalar of a body: the op of the attention that computes it, and the value in its body. */
typedef struct tp_score_origin {
  const tp_attention_op *op;
  MlirValue value;
} tp_score_origin;

/* Returns the input of the op that the value reads; -1: it is no body argument, or the init. */
int tp__score_input(tp_score_origin o);
/* Returns the op of the attention that computes the elements of a tensor; -1: none. */
int tp__score_producer(const tp_attention *a, MlirValue value);
/* Follows body arguments to the values that elementwise ops of the attention yield. */
tp_score_origin tp__score_origin(const tp_attention *a, tp_score_origin o);
/* True if `condition`, or with `inverted` its negation, is row + a >= column + b; sets *causal, but
 * for `hidden`. */
bool tp__compares_places(const tp_attention *a, const tp_mesh *mesh, tp_score_origin condition,
                         bool inverted, tp_tile_causal *causal);
/* Reads the constant that all elements of a value equal, through fills and broadcasts; false if
 * there is none. */
bool tp__read_number(MlirValue value, double *number);

/* Detects a causal mask. Its integer arithmetic must not wrap around. */
void tp__find_causal(const tp_attention *a, const tp_mesh *mesh, tp_tile_causal *causal);
/* Returns an index: the first column from which on no row of the block attends to any column. It
 * may be negative or exceed the number of columns. */
MlirValue tp__visible_columns(tp_tiler *t, const tp_tile_causal *causal);
/* Returns an i1: true if all `maxima` exceed the score `hidden` by so much that its exponential is
 * 0. */
MlirValue tp__all_exceed(tp_tiler *t, MlirValue maxima, double hidden);

/* ---- tile_rows.c ---- */

typedef struct tp_row_operand {
  MlirValue value; /* with one dimension per loop */
  tp_loop_list loops;
} tp_row_operand;

/* The accumulation type of these elements: f64 for f64, else f32. */
MlirType tp__wide_type(MlirType element);

/* exp(x - m), or 0 if x and m are both -infinity: m is a running maximum, and such a row has no
 * score yet. The result has the element type of x, or `wide` if that is not null. */
MlirValue tp__row_exponential(tp_tiler *t, const tp_loop_list *loops, tp_row_operand x,
                              tp_row_operand m, MlirType wide);
/* sum * factor + part */
MlirValue tp__row_add(tp_tiler *t, tp_row_operand sum, tp_row_operand factor, tp_row_operand part);
/* Rows of i1, over all iterations of the loops but the columns: true where some column of `x`, of
 * i1, is true, or with `inverted` false. */
tp_row_operand tp__row_any(tp_tiler *t, tp_row_operand x, bool inverted);
/* sum * exp(from - to), with the n `scales` applied in order, over all iterations of the loops. */
MlirValue tp__row_finish(tp_tiler *t, tp_row_operand sum, tp_row_operand from, tp_row_operand to,
                         int n, const tp_row_operand *scales, const tp_row_scale *kinds,
                         MlirType element);

#endif
