/* Reads an attention from the ops that compute it: products, scale, mask, softmax. */
#include "passes/attention/form.h"

#include "rules/attention_loops.h"

#include <math.h>

/* Operands of the scores, and the values. */
static const char *read_tensors(tp_attention_form *form) {
  const tp_attention *a = form->a;
  const tp_attention_op *scores = &a->ops[0], *output = &a->ops[a->output];
  static const char *const no_loop = "it uses only the first element of a dimension of a tensor";
  tp_score_dim dims[2][TP_MAX_RANK], of_values[TP_MAX_RANK], of_result[TP_MAX_RANK];
  MlirValue operands[2], result = mlirOperationGetResult(output->op, 0);
  for (int i = 0; i < 2; i++) {
    operands[i] = mlirOperationGetOperand(scores->op, i);
    tp__attention_operand_dims(scores, i, dims[i]);
  }
  int keys =
      tp__has_loop(dims[0], (int)mlirShapedTypeGetRank(mlirValueGetType(operands[0])), a->column)
          ? 0
          : 1;
  int values = tp__attention_producer(a, mlirOperationGetOperand(output->op, 0)) >= 0 ? 1 : 0;
  if (!tp__is_zero_tensor(mlirOperationGetOperand(scores->op, 2)))
    return "its scores are added to something";
  tp__attention_operand_dims(output, values, of_values);
  tp__attention_result_dims(output, of_result);
  return tp__form_operand(form, TPRT_ATTENTION_Q, operands[1 - keys], dims[1 - keys]) &&
                 tp__form_operand(form, TPRT_ATTENTION_K, operands[keys], dims[keys]) &&
                 tp__form_operand(form, TPRT_ATTENTION_V,
                                  mlirOperationGetOperand(output->op, values), of_values) &&
                 tp__form_result(form, TPRT_ATTENTION_OUT, result, of_result)
             ? NULL
             : no_loop;
}

static const char *check_types(const tp_attention_form *form) {
  MlirType element = tp__element_type(mlirValueGetType(form->tensor[TPRT_ATTENTION_Q]));
  MlirType out = tp__element_type(mlirValueGetType(form->tensor[TPRT_ATTENTION_OUT]));
  bool is_kernel_type =
      mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
  for (int x = TPRT_ATTENTION_K; x <= TPRT_ATTENTION_V; x++)
    is_kernel_type &= mlirTypeEqual(element, tp__element_type(mlirValueGetType(form->tensor[x])));
  return is_kernel_type && (mlirTypeEqual(out, element) || mlirTypeIsAF32(out))
             ? NULL
             : "queries, keys and values must be of one type: f32, f16 or bf16";
}

/* Features are loops that the scores do not have, at most one of either kind. */
static const char *read_features(tp_attention_form *form) {
  const tp_attention *a = form->a;
  form->feature = form->value = TP_NO_SCORE_LOOP;
  for (int l = 0; l < a->n_loops; l++) {
    if (!(a->whole >> l & 1))
      continue;
    int *of = tp__form_has(form, TPRT_ATTENTION_Q, l) ? &form->feature : &form->value;
    bool in_both = of == &form->feature ? tp__form_has(form, TPRT_ATTENTION_K, l)
                                        : tp__form_has(form, TPRT_ATTENTION_V, l) &&
                                              tp__form_has(form, TPRT_ATTENTION_OUT, l);
    if (*of != TP_NO_SCORE_LOOP || !in_both)
      return "its heads have several dimensions of features";
    *of = l;
    if (a->sizes[l] > TPRT_ATTENTION_FEATURES)
      return "its heads have more than 128 features";
  }
  return NULL;
}

/* The rows: those of the causal mask, or the most. Then the group: most queries beside, which share
 * keys and values. All other loops are outside. */
static const char *read_loops(tp_attention_form *form) {
  const tp_attention *a = form->a;
  form->column = a->column;
  form->row = form->causal.found ? form->causal.row : TP_NO_SCORE_LOOP;
  form->group = TP_NO_SCORE_LOOP;
  for (int pass = 0; pass < 2; pass++)
    for (int l = 0; l < a->n_loops; l++) {
      int *of = pass == 0 ? &form->row : &form->group;
      bool shares = (a->rows >> l & 1) && !tp__form_has(form, TPRT_ATTENTION_K, l) &&
                    !tp__form_has(form, TPRT_ATTENTION_V, l);
      bool is_taken = l == form->row || (pass == 0 && form->causal.found);
      if (shares && !is_taken && (*of == TP_NO_SCORE_LOOP || a->sizes[l] > a->sizes[*of]))
        *of = l;
    }
  if (form->row != TP_NO_SCORE_LOOP && (tp__form_has(form, TPRT_ATTENTION_K, form->row) ||
                                        tp__form_has(form, TPRT_ATTENTION_V, form->row)))
    return "each row has keys or values of its own";
  for (int l = 0; l < a->n_loops; l++) {
    if (a->whole >> l & 1 || l == form->column || l == form->row || l == form->group)
      continue;
    if (form->n_outer == TPRT_ATTENTION_OUTER)
      return "it has more than four loops around rows, columns and groups";
    form->outer[form->n_outer++] = l;
  }
  return tp__form_has(form, TPRT_ATTENTION_V, form->column) ? NULL
                                                            : "its values are the same everywhere";
}

/* A place that is not constant is one index: the position of the first row. */
static const char *check_position(const tp_tile_causal *causal) {
  return causal->n_less > 0 || causal->n_more > 1
             ? "its causal mask depends on several positions that are known only at run time"
             : NULL;
}

const char *tp__attention_form(const tp_attention *a, const tp_mesh *mesh, bool keeps_copies,
                               tp_attention_form *form) {
  *form = (tp_attention_form){.a = a, .keeps_copies = keeps_copies, .hidden = -INFINITY};
  const char *why = tp__form_softmax(a, &form->zeroes_hidden);
  why = why ? why : read_tensors(form);
  why = why ? why : check_types(form);
  why = why ? why : tp__form_scores(form, mesh);
  why = why ? why : tp__form_dropout(form);
  why = why ? why : check_position(&form->causal);
  why = why ? why : read_features(form);
  return why ? why : read_loops(form);
}
