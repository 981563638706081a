/* Parts of tp-tile-attention: the tile of a value that belongs to the block at hand, and what is
 * computed of rows. */
#ifndef TP_PASSES_TILE_H
#define TP_PASSES_TILE_H

#include "ir/annotation.h"
#include "rules/attention.h"

/* Keys or values of which this device has one part of the columns at a time. */
typedef struct tp_travelling {
  MlirValue whole, part; /* what the ops read, and what there is of it */
} tp_travelling;

/* A block is a range of each loop. Everything is built in front of `where`. */
typedef struct tp_tiler {
  const tp_attention *a;
  MlirOperation where;
  int64_t tile[TP_MAX_SCORE_LOOPS];     /* iterations of a whole block */
  int64_t now[TP_MAX_SCORE_LOOPS];      /* of this one */
  MlirValue offset[TP_MAX_SCORE_LOOPS]; /* its first iteration, an index; null: 0 */
  MlirValue made[TP_MAX_ATTENTION_OPS]; /* the tiles of this block; null: not yet */
  int n_travelling;
  tp_travelling travelling[2];
  MlirValue within; /* its first column within the part at hand; null: 0 */
  tp_status status; /* of what was built; sticky */
} tp_tiler;

/* Single loops in the order in which a value has them: all its dimensions taken apart. */
typedef struct tp_loop_list {
  int n;
  uint8_t loops[TP_MAX_SCORE_LOOPS];
} tp_loop_list;

tp_loop_list tp__flat_loops(const tp_score_dim *dims, int n);
tp_loop_list tp__result_loops(const tp_attention_op *op);

/* ---- tile.c ---- */

/* Of the block, or with `whole` of all iterations. */
MlirType tp__loops_type(const tp_tiler *t, const tp_loop_list *list, MlirType element, bool whole);
/* The tile of a value that has these dimensions: made by an op of the attention, or cut out. */
MlirValue tp__tile(tp_tiler *t, MlirValue value, const tp_score_dim *dims);
/* The op number `i` on tiles; a reduction starts from `init`. */
MlirValue tp__tile_op(tp_tiler *t, int i, MlirValue init);
/* The type of the result of op number `i` on tiles. */
MlirType tp__tile_type(const tp_tiler *t, int i);
/* The same elements in another shape. */
MlirValue tp__reshaped(tp_tiler *t, MlirValue value, MlirType to);
/* Puts the tile into what has all iterations of these loops. */
MlirValue tp__put_tile(tp_tiler *t, MlirValue tile, MlirValue into, const tp_loop_list *list);
/* The tile of what has all iterations of these loops. */
MlirValue tp__take_tile(tp_tiler *t, MlirValue from, const tp_loop_list *list);
/* What the function of this text returns for these values: `type`. After an error that was reported
 * anything of this type. */
MlirValue tp__tile_text(tp_tiler *t, tp__string *text, int n, const MlirValue *values,
                        MlirType type);
/* A tensor of this type, of zeros. */
MlirValue tp__zeros(tp_tiler *t, MlirType type);

/* ---- tile_ring.c ---- */

/* The devices among which keys and values travel. */
typedef struct tp_tile_ring {
  MlirOperation module;
  tp_mesh mesh;
  int n_axes, axes[TP_MAX_AXES]; /* of the group, major to minor */
  int64_t parts;                 /* 1: there is no ring */
  int64_t columns;               /* of a part */
} tp_tile_ring;

/* Is the op the gathered form of something that travels in a ring? */
bool tp__is_ring(MlirOperation op);
/* Finds what travels: t->travelling. Errors: emits one diagnostic. */
tp_status tp__find_ring(MlirOperation module, tp_tiler *t, tp_tile_ring *ring);
/* The first column of the part at hand in this step. */
MlirValue tp__ring_first(tp_tiler *t, const tp_tile_ring *ring, int64_t step);
/* Sends the parts at hand on; `next` are those that come in. */
void tp__ring_send(tp_tiler *t, const tp_tile_ring *ring, MlirValue *next);

/* ---- tile_causal.c ---- */

enum { TP_MAX_PLACE_TERMS = 4 };

/* A row at place r of loop `row` sees columns below r + add + sum of `more` - sum of `less`
 * alone. */
typedef struct tp_tile_causal {
  bool found;
  int row;
  int64_t add;
  int n_more, n_less;
  /* indices that are there before the attention */
  MlirValue more[TP_MAX_PLACE_TERMS], less[TP_MAX_PLACE_TERMS];
  double hidden; /* the score of the others */
} tp_tile_causal;

/* Looks for a causal mask. */
void tp__find_causal(const tp_attention *a, tp_tile_causal *causal);
/* The number of columns, from the first of all on, behind which no row of the block sees any: an
 * index, maybe less than 0 or more than there are. */
MlirValue tp__seen_columns(tp_tiler *t, const tp_tile_causal *causal);
/* Do all `maxima` exceed the score `hidden` so far that its exponential is 0? An i1. */
MlirValue tp__all_exceed(tp_tiler *t, MlirValue maxima, double hidden);

/* ---- tile_rows.c ---- */

typedef struct tp_row_operand {
  MlirValue value; /* with a dimension for each loop */
  tp_loop_list loops;
} tp_row_operand;

/* The type in which sums and products of these elements are kept: f64 for f64, else f32. */
MlirType tp__wide_type(MlirType element);

/* The exponential of x - m, or 0 where x and m are both -infinity: m is a maximum so far, and such
 * a row has not begun. In the type of x, or in `wide` if that is not null. */
MlirValue tp__row_exponential(tp_tiler *t, const tp_loop_list *loops, tp_row_operand x,
                              tp_row_operand m, MlirType wide);
/* sum * factor + part. */
MlirValue tp__row_add(tp_tiler *t, tp_row_operand sum, tp_row_operand factor, tp_row_operand part);
/* sum * exp(from - to), to which the n `scales` are applied in their order, of all iterations. */
MlirValue tp__row_finish(tp_tiler *t, tp_row_operand sum, tp_row_operand from, tp_row_operand to,
                         int n, const tp_row_operand *scales, const tp_row_scale *kinds,
                         MlirType element);

#endif
