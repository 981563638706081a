/* The gradient of attention in a training step: the ops that compute the gradients of queries, keys
 * and values from that of the result, and from scores, exponentials and sums that the attention has
 * stored. Recognition evaluates what these ops do to one score (terms.h), so that it does not
 * depend on their order. */
#ifndef TP_PASSES_ATTENTION_GRADIENT_H
#define TP_PASSES_ATTENTION_GRADIENT_H

#include "passes/attention/form.h"
#include "passes/attention/terms.h"

enum { TP_MAX_GRADIENT_PRODUCTS = 4, TP_MAX_CONDITIONS = 8 };

typedef struct tp_gradient_value {
  MlirValue value;
  tp_score_dim dims[TP_MAX_RANK];
  tp_terms terms;
} tp_gradient_value;

/* A contraction of scores with queries, keys or the result's gradient. */
typedef struct tp_gradient_product {
  tp_attention_op op; /* its loops; that of the features is missing before it is known */
  int scores;         /* the operand that has the scores */
} tp_gradient_product;

/* A select in the attention between a score and a number. */
typedef struct tp_gradient_condition {
  MlirValue value; /* null: it is no tensor */
  tp_score_dim dims[TP_MAX_RANK];
  bool keeps; /* the score is kept where the value is true */
} tp_gradient_condition;

typedef struct tp_gradient {
  tp_attention_form *form;
  /* what is known of values: their terms */
  tp_value_table known;
  size_t n_values, capacity;
  tp_gradient_value *values;
  /* all ops of the gradient; `inside`, by op, those of the attention, too */
  tp_op_list ops;
  tp_value_table inside;
  int n_products;
  tp_gradient_product products[TP_MAX_GRADIENT_PRODUCTS];
  int n_conditions;
  tp_gradient_condition conditions[TP_MAX_CONDITIONS];
  bool passes_hidden;  /* hidden scores pass gradients on: a number was added to them */
  MlirOperation first; /* the first op that makes a gradient */
  int depth;
  const char *why; /* the first obstacle */
  tp_status status;
} tp_gradient;

/* Finds the gradient of an attention whose form has been read, and sets its tensors in the form:
 * the statistics of the rows, the gradient of the result, and the gradients. NULL, or why the
 * kernels do not compute it. `g->status` is TP_NO_MEMORY, with a diagnostic, if memory ran out.
 * Free it with tp__gradient_end in any case. */
const char *tp__attention_gradient(tp_attention_form *form, tp_gradient *g);
void tp__gradient_end(tp_gradient *g);

/* ---- gradient_values.c ---- */
/* Records the first obstacle; false. */
bool tp__gradient_obstacle(tp_gradient *g, const char *why);
bool tp__gradient_remember(tp_gradient *g, MlirValue value, const tp_score_dim *dims,
                           const tp_terms *terms);
/* Records an op of the gradient. */
bool tp__gradient_note(tp_gradient *g, MlirOperation op);
/* Finds the terms of a value with these dimensions. False after an obstacle. */
bool tp__gradient_evaluate(tp_gradient *g, MlirValue value, const tp_score_dim *dims,
                           tp_terms *terms);
/* True if the value has the elements of tensor x of the form, copied or converted. */
bool tp__gradient_is_tensor(tp_gradient *g, int x, MlirValue value, const tp_score_dim *dims);
/* Fills the loops of the nest from the dimensions of an operand; n_inputs: the result. Loops of
 * more than one iteration that it does not have are in *missing (bits). */
bool tp__gradient_loops(tp_gradient *g, tp_attention_op *op, int operand, const tp_score_dim *dims,
                        uint32_t *missing);

#endif
