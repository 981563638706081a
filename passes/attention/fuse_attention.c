/* tp-fuse-attention: outlines attention, and its gradient in training steps, as functions that
 * kernels of the runtime compute, which store no scores. Attention that the kernel does not compute
 * stays as it is; tp-tile-attention then tiles it where the scores are too large. */
#include "passes/attention/merge_masks.h"
#include "passes/attention/outline_attention.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"

enum { STAT_FUSED, STAT_GRADIENTS, STAT_OTHER };

/* ---- the pass ---- */

/* True if nothing uses the op, which only computes. */
static bool is_dead(MlirOperation op) {
  static const char *const dialects[] = {"linalg", "tensor", "arith", "math"};
  bool computes = false;
  for (int i = 0; i < TP_LEN(dialects); i++)
    computes |= tp__op_has_dialect(op, dialects[i]);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && computes; i++)
    computes = !tp__is_used(mlirOperationGetResult(op, i));
  return computes;
}

/* Erases ops of the list whose results are not used, until there is none. */
static tp_status erase_dead(tp_op_list *list, tp_value_table *erased) {
  for (bool any = true; any;) {
    any = false;
    for (size_t i = 0; i < list->n; i++) {
      MlirOperation op = list->items[i];
      if (mlirOperationIsNull(op) || !is_dead(op))
        continue;
      if (tp__table_put(erased, op.ptr, 1) != TP_OK)
        return tp__out_of_memory(op);
      for (size_t k = 0; k < list->n; k++) /* an op may be listed more than once */
        if (mlirOperationEqual(list->items[k], op))
          list->items[k] = (MlirOperation){NULL};
      mlirOperationDestroy(op);
      any = true;
    }
  }
  return TP_OK;
}

/* The ops that calls replace: those of the attention, those of its rows, those of the gradient, and
 * copies of operands and results. */
static tp_status list_replaced(const tp_attention_form *form, const tp_gradient *g,
                               tp_op_list *list) {
  const tp_attention *a = form->a;
  TP_TRY(tp__attention_followers(a, list));
  for (int i = 0; i < a->n_ops; i++)
    TP_TRY(tp__op_list_add(list, a->ops[i].op));
  for (int i = 0; i < form->n_seen_through; i++)
    TP_TRY(tp__op_list_add(list, form->seen_through[i]));
  for (size_t i = 0; g && i < g->ops.n; i++)
    TP_TRY(tp__op_list_add(list, g->ops.items[i]));
  return TP_OK;
}

static tp_status leave(tp_pass *pass, MlirOperation scores, const char *why) {
  pass->statistics[STAT_OTHER]++;
  tp__remark(scores, "attention is not computed by one kernel: %s", why);
  return TP_OK;
}

/* Replaces an attention and, if `g` is not NULL, its gradient. */
static tp_status replace(tp_pass *pass, MlirOperation scores, const tp_attention_form *form,
                         const tp_gradient *g, tp_value_table *erased) {
  tp_op_list replaced = {0};
  tp_status status = list_replaced(form, g, &replaced);
  if (status == TP_OK)
    status = tp__outline_attention(pass->module, pass->statistics[STAT_FUSED], form, g);
  if (status == TP_OK) {
    tp__remark(scores, g ? "attention is computed by one kernel, and its gradient by two"
                         : "attention is computed by one kernel");
    pass->statistics[STAT_FUSED]++;
    pass->statistics[STAT_GRADIENTS] += g != NULL;
    status = erase_dead(&replaced, erased);
  } else if (status == TP_UNSUPPORTED) {
    status = leave(pass, scores, "it depends on more than queries, keys, values and masks");
  }
  tp__free(replaced.items);
  return status;
}

/* Reads the gradient of an attention for the form, or for one that keeps copies: where a program
 * repeats keys and values, it may compute the gradients of the copies. */
static const char *read_gradient(const tp_mesh *mesh, tp_attention_form *form, tp_gradient *g) {
  const char *why = tp__attention_gradient(form, g);
  tp_attention_form kept;
  if (!why || g->status != TP_OK || tp__attention_form(form->a, mesh, true, &kept) != NULL)
    return why;
  tp__gradient_end(g);
  *form = kept;
  const char *why_not = tp__attention_gradient(form, g);
  return why_not ? why : NULL;
}

static tp_status fuse_with_gradient(tp_pass *pass, const tp_mesh *mesh, MlirOperation scores,
                                    tp_attention_form *form, tp_value_table *erased) {
  tp_gradient g;
  const char *why = read_gradient(mesh, form, &g);
  tp_status status = g.status;
  if (status == TP_OK)
    status = why ? leave(pass, scores, why) : replace(pass, scores, form, &g, erased);
  tp__gradient_end(&g);
  return status;
}

/* Merges two of its masks, if it can; then the attention must be read again. */
static tp_status merge_masks(const tp_attention *a, tp_value_table *erased, bool *merged) {
  tp_op_list dead = {0};
  tp_status status = tp__merge_masks(a, &dead);
  *merged = dead.n > 0;
  if (status == TP_OK)
    status = erase_dead(&dead, erased);
  tp__free(dead.items);
  return status;
}

static tp_status fuse_at(tp_pass *pass, const tp_mesh *mesh, MlirOperation scores,
                         tp_value_table *erased) {
  tp_attention a;
  tp_attention_form form;
  bool is_alone = tp__attention_at(scores, &a);
  if (!is_alone && !tp__attention_shared(scores, &a))
    return TP_OK;
  const char *why = tp__attention_form(&a, mesh, false, &form);
  if (why == tp__several_masks && is_alone) {
    bool merged = false;
    TP_TRY(merge_masks(&a, erased, &merged));
    if (merged)
      return fuse_at(pass, mesh, scores, erased);
  }
  if (why)
    return leave(pass, scores, why);
  return is_alone ? replace(pass, scores, &form, NULL, erased)
                  : fuse_with_gradient(pass, mesh, scores, &form, erased);
}

static tp_status collect(MlirOperation op, void *data) {
  bool is_nest = tp__op_has_dialect(op, "linalg") && mlirOperationGetNumRegions(op) == 1 &&
                 mlirOperationGetNumResults(op) == 1 &&
                 mlirAttributeIsNull(tp__get(tp__enclosing_func(op), "tp.fused"));
  return is_nest ? tp__op_list_add(data, op) : TP_OK;
}

typedef struct settings {
  enum { FUSED_INLINE, FUSED_KEEP } fused;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  tp_op_list list = {0};
  tp_value_table erased = {0};
  tp_mesh mesh;
  if (given->fused != FUSED_KEEP)
    return TP_OK;
  TP_TRY(tp__module_mesh(pass->module, NULL, &mesh));
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    if (tp__table_get(&erased, list.items[i].ptr) < 0)
      status = fuse_at(pass, &mesh, list.items[i], &erased);
  tp__table_destroy(&erased);
  tp__free(list.items);
  return status;
}

static const tp_option_row options[] = {
    {"fused", "inline",
     "keep: attention becomes functions that one kernel computes, for GPU programs; inline: do "
     "nothing",
     TP_CHOICE(settings, fused, "inline|keep")},
};

static const tp_statistic_row statistics[] = {
    {"fused", "attentions that one kernel computes"},
    {"gradients", "gradients of them that two kernels compute"},
    {"other", "attentions that were left as they are"},
};

const tp_pass_row tp__fuse_attention_row = {
    .name = "tp-fuse-attention",
    .summary =
        "Outline attention and its gradient as functions that kernels of the runtime compute",
    .description =
        "Requires: tensors, calls inlined, elementwise ops as linalg. Establishes (fused=keep): "
        "attention of f32, f16 or bf16 with at most 128 features, whose scores are a multiple of "
        "the products of queries and keys, with at most one mask that is added or hides scores "
        "(selects by several tensors of bools are merged, except in training steps), "
        "at most one comparison of row and column, and at most one dropout of weights, is a "
        "call of a private function; its "
        "tp.fused describes it, and tp-lower-to-runtime lowers it to a runtime call. So are the "
        "gradients of its queries, keys and values, if scores have no other use. Transposes and "
        "broadcasts of operands and results become strides. Results are rounded once. A remark "
        "says what was fused, or why not. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
