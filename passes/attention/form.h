/* Attention in the form that a kernel of the runtime computes (tprt_abi_fused_attention): tensors
 * with strides along loops, a scale, masks, and the softmax of rows. */
#ifndef TP_PASSES_ATTENTION_FORM_H
#define TP_PASSES_ATTENTION_FORM_H

#include "passes/attention/tile.h"
#include "tprt/abi.h"

enum { TP_MAX_SEEN_THROUGH = 64, TP_NO_SCORE_LOOP = -1 };

typedef struct tp_attention_form {
  const tp_attention *a;
  /* Queries, keys, values, mask, dropout and the result; with a gradient (gradient.h), also what it
   * reads and makes. Null: there is none. Copies that only reorder or repeat elements are seen
   * through: operands are what such copies read, results are what the last of them makes. */
  MlirValue tensor[TPRT_ATTENTION_TENSORS];
  /* in elements; 0: the tensor lacks the loop */
  int64_t stride[TPRT_ATTENTION_TENSORS][TP_MAX_SCORE_LOOPS];
  /* Copies that repeat elements, such as keys for each query of a group, are operands of their own:
   * a program that computes gradients of the copies needs them. */
  bool keeps_copies;
  int n_seen_through;
  MlirOperation seen_through[TP_MAX_SEEN_THROUGH]; /* these copies; they may be dead afterwards */

  /* score = scale * product of queries and keys + mask; `hidden` where the mask or `causal` hides
   * it. With a cap > 0, cap * tanh(scale * product / cap) takes the place of the scaled product */
  double scale, hidden, cap;
  bool zeroes_hidden; /* a row whose scores are all -infinity is 0 */
  bool hides;         /* `hidden` is set */
  tprt_attention_mask mask;
  /* With a dropout, values are multiplied by weights that it changes, times dropout_scale. */
  tprt_attention_dropout dropout;
  double dropout_scale;
  bool zeroes_dropped; /* dropped weights are 0 also where they are NaN */
  tp_tile_causal causal;

  /* loops; TP_NO_SCORE_LOOP: none */
  int row, column, group, feature, value;
  int n_outer, outer[TPRT_ATTENTION_OUTER];
} tp_attention_form;

/* True if tensor x has the loop. */
static inline bool tp__form_has(const tp_attention_form *form, int x, int loop) {
  return form->stride[x][loop] != 0;
}

/* Records the first obstacle; false. */
static inline bool tp__form_obstacle(const char **first, const char *why) {
  *first = *first ? *first : why;
  return false;
}

/* An operand of an op in the body of an op of the attention, and what the body yields. */
static inline tp_score_origin tp__form_operand_of(tp_score_origin o, MlirOperation op, int i) {
  return (tp_score_origin){o.op, mlirOperationGetOperand(op, i)};
}
static inline tp_score_origin tp__form_yielded(const tp_attention_op *op) {
  return (tp_score_origin){op, mlirOperationGetOperand(op->nest.body.yield, 0)};
}

/* Reads the form of an attention. NULL, or why the kernel does not compute it. */
const char *tp__attention_form(const tp_attention *a, const tp_mesh *mesh, bool keeps_copies,
                               tp_attention_form *form);

/* ---- form_score.c ---- */
/* The reason of tp__attention_form if scores have several masks, which tp__merge_masks may merge.
 * */
extern const char tp__several_masks[];
/* Reads scale and masks, and sets the mask's tensor and strides. NULL, or why it has another
 * form. */
const char *tp__form_scores(tp_attention_form *form, const tp_mesh *mesh);

/* ---- form_rows.c ---- */
/* NULL if the result is that of a softmax of the rows: exponentials of scores less the largest one,
 * divided by their sum; else the reason why it is not. Sets *zeroes_hidden if the program makes
 * rows 0 whose scores are all -infinity. Reads no dropout. */
const char *tp__form_softmax(const tp_attention *a, bool *zeroes_hidden);
/* True if the elements are those of input 0, converted to another float type. */
bool tp__form_converts(const tp_nest *nest);
/* True if the op copies elements or converts them between float types. */
bool tp__form_passes_on(MlirOperation op);

/* ---- form_dropout.c ---- */
/* Reads what happens to the weights between the softmax and the product with the values: nothing,
 * or a dropout, of which it sets the tensor and strides. NULL, or why it has another form. */
const char *tp__form_dropout(tp_attention_form *form);
/* True if the op of a nest makes a bool a number, and the input that it converts. */
bool tp__form_is_number_of_bool(MlirOperation scalar);

/* ---- form_tensors.c ---- */
/* Sets tensor x and its strides to a value with these dimensions, seen through copies. False if a
 * dimension is not made of loops. */
bool tp__form_operand(tp_attention_form *form, int x, MlirValue value, const tp_score_dim *dims);
/* The same for a result, forwards: copies of it that are its only use. */
bool tp__form_result(tp_attention_form *form, int x, MlirValue value, const tp_score_dim *dims);
/* The same for the value itself. */
void tp__form_set_tensor(tp_attention_form *form, int x, MlirValue value, const tp_score_dim *dims);
/* Fills the dimensions of the operand of a copy, a reshape or, with `converts`, a conversion
 * between float types, from those of its result. False if it is another op. */
bool tp__form_see_through(const tp_attention *a, MlirOperation op, const tp_score_dim *dims,
                          bool converts, tp_score_dim *from);
/* Fills the dimensions of the result of a reshape from those of its operand. */
bool tp__form_reshaped(const tp_attention *a, MlirOperation op, const tp_score_dim *dims,
                       tp_score_dim *to);

#endif
