/* tp-fuse-attention: outlines attention as functions that a kernel of the runtime computes, which
 * stores no scores. Attention that the kernel does not compute stays as it is; tp-tile-attention
 * then tiles it where the scores are too large. */
#include "passes/attention/form.h"
#include "passes/registry.h"
#include "passes/support/fused_func.h"

#include "ir/diagnostics.h"

#include <stdio.h>
#include <string.h>

enum { STAT_FUSED, STAT_OTHER };
/* queries, keys, values, mask, position */
enum { MAX_OPERANDS = 5 };

typedef struct operands {
  int n;
  MlirValue given[MAX_OPERANDS]; /* operands of the fused call */
  MlirValue of[MAX_OPERANDS];    /* the values that the unfused ops read in their place */
  const char *name[MAX_OPERANDS];
} operands;

/* ---- the body: a copy of the ops of the attention ---- */

typedef struct copier {
  tp_value_table known; /* value -> index in `values` */
  MlirValue *values;
  size_t n, capacity;
  MlirOperation where;    /* copies stand before it */
  MlirOperation original; /* while its nested ops are visited */
  int depth;
} copier;

static tp_status remember(copier *c, MlirValue from, MlirValue to) {
  if (tp__grow((void **)&c->values, &c->capacity, c->n + 1, sizeof *c->values) != TP_OK ||
      tp__table_put(&c->known, from.ptr, (int)c->n) != TP_OK)
    return tp__out_of_memory(c->where);
  c->values[c->n++] = to;
  return TP_OK;
}

static tp_status copy_value(copier *c, MlirValue value);

static tp_status copy_operands(MlirOperation op, void *data) {
  copier *c = data;
  MlirOperation original = c->original;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (mlirOperationEqual(op, original) || tp__is_captured(original, value))
      TP_TRY(copy_value(c, value));
    c->original = original;
  }
  return TP_OK;
}

static tp_status replace_operands(MlirOperation op, void *data) {
  const copier *c = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int k = tp__table_get(&c->known, mlirOperationGetOperand(op, i).ptr);
    if (k >= 0)
      mlirOperationSetOperand(op, i, c->values[k]);
  }
  return TP_OK;
}

/* Copies the op that computes a value, and what it needs. TP_UNSUPPORTED, without a diagnostic, if
 * the value is a block argument that is no operand: then it comes from elsewhere. */
static tp_status copy_value(copier *c, MlirValue value) {
  enum { DEEPEST = 512 };
  MlirOperation op = tp__defining_op(value);
  if (tp__table_get(&c->known, value.ptr) >= 0)
    return TP_OK;
  if (mlirOperationIsNull(op) || c->depth == DEEPEST)
    return TP_UNSUPPORTED;
  c->depth++;
  c->original = op;
  TP_TRY(copy_operands(op, c));
  c->original = op;
  TP_TRY(tp__walk(op, copy_operands, c));
  c->depth--;
  MlirOperation made = mlirOperationClone(op);
  (void)replace_operands(made, c); /* the visitor does not fail */
  (void)tp__walk(made, replace_operands, c);
  tp__insert_before(c->where, made);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    TP_TRY(remember(c, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i)));
  return TP_OK;
}

static MlirValue build_unary(MlirOperation where, const char *name, MlirValue value,
                             MlirType result) {
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &result});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

/* The position is read from its tensor, as an index. */
static MlirValue build_position(MlirOperation where, MlirValue tensor) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType element = tp__element_type(mlirValueGetType(tensor)), index = mlirIndexTypeGet(context);
  return build_unary(where, "arith.index_cast",
                     build_unary(where, "tensor.extract", tensor, element), index);
}

/* Fills the function: arguments stand for the operands. */
static tp_status fill_body(MlirBlock block, const operands *all, bool has_position,
                           MlirValue result) {
  MlirOperation end = tp__create(&(tp_build){
      .name = "func.return", .location = mlirOperationGetLocation(tp__defining_op(result))});
  copier c = {.where = end};
  mlirBlockAppendOwnedOperation(block, end);
  tp_status status = TP_OK;
  for (int i = 0; i < all->n && status == TP_OK; i++) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    bool is_position = has_position && i == all->n - 1;
    status = remember(&c, all->of[i], is_position ? build_position(end, argument) : argument);
  }
  if (status == TP_OK)
    status = copy_value(&c, result);
  if (status == TP_OK)
    mlirOperationSetOperands(end, 1, &c.values[tp__table_get(&c.known, result.ptr)]);
  tp__table_destroy(&c.known);
  tp__free(c.values);
  return status;
}

/* ---- the call ---- */

/* The tensor of one integer that a position is read from, or one that is made of it. */
static MlirValue position_tensor(MlirOperation where, MlirValue position) {
  MlirContext context = mlirOperationGetContext(where);
  MlirOperation cast = tp__defined_by(position, "arith.index_cast");
  MlirOperation read = mlirOperationIsNull(cast)
                           ? cast
                           : tp__defined_by(mlirOperationGetOperand(cast, 0), "tensor.extract");
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  if (!mlirOperationIsNull(read)) {
    MlirValue tensor = mlirOperationGetOperand(read, 0);
    MlirType element = tp__element_type(mlirValueGetType(tensor));
    unsigned width = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : 0;
    if (mlirShapedTypeGetRank(mlirValueGetType(tensor)) == 0 && (width == 32 || width == 64))
      return tensor;
  }
  MlirType type = mlirRankedTensorTypeGet(0, NULL, i64, (MlirAttribute){NULL});
  return build_unary(where, "tensor.from_elements",
                     build_unary(where, "arith.index_cast", position, i64), type);
}

static operands operands_of(const tp_attention_form *form, MlirOperation where) {
  static const char *const names[] = {[TPRT_ATTENTION_Q] = "queries",
                                      [TPRT_ATTENTION_K] = "keys",
                                      [TPRT_ATTENTION_V] = "values",
                                      [TPRT_ATTENTION_MASK] = "mask"};
  operands all = {.n = 0};
  for (int x = TPRT_ATTENTION_Q; x <= TPRT_ATTENTION_MASK; x++)
    if (!mlirValueIsNull(form->tensor[x])) {
      all.name[all.n] = names[x];
      all.given[all.n] = all.of[all.n] = form->tensor[x];
      all.n++;
    }
  if (form->causal.n_more > 0) {
    all.name[all.n] = "position";
    all.of[all.n] = form->causal.more[0];
    all.given[all.n++] = position_tensor(where, form->causal.more[0]);
  }
  return all;
}

/* Appends a loop: its size, and its stride in each tensor. */
static void append_loop(const tp_attention_form *form, int loop, int64_t *words, int *n) {
  words[(*n)++] = loop == TP_NO_SCORE_LOOP ? 1 : form->a->sizes[loop];
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    words[(*n)++] = loop == TP_NO_SCORE_LOOP ? 0 : form->stride[x][loop];
}

static MlirAttribute describe(const tp_attention_form *form, const operands *all) {
  static const char *const masks[] = {[TPRT_ATTENTION_NO_MASK] = "none",
                                      [TPRT_ATTENTION_KEEP] = "keep",
                                      [TPRT_ATTENTION_HIDE] = "hide",
                                      [TPRT_ATTENTION_ADD] = "add"};
  enum { LOOPS = TPRT_ATTENTION_OUTER + 5, WORDS = LOOPS * (1 + TPRT_ATTENTION_TENSORS) };
  MlirContext context = mlirOperationGetContext(form->a->ops[0].op);
  MlirType f32 = mlirF32TypeGet(context);
  int64_t words[WORDS];
  int n = 0;
  for (int i = 0; i < TPRT_ATTENTION_OUTER; i++)
    append_loop(form, i < form->n_outer ? form->outer[i] : TP_NO_SCORE_LOOP, words, &n);
  const int others[] = {form->group, form->row, form->column, form->feature, form->value};
  for (int i = 0; i < TP_LEN(others); i++)
    append_loop(form, others[i], words, &n);
  MlirNamedAttribute entries[] = {
      tp__named(context, "kind", tp__attr_string(context, "attention")),
      tp__named(context, "operands", tp__fused_names(context, all->n, all->name)),
      tp__named(context, "loops", tp__attr_i64s(context, n, words)),
      tp__named(context, "scale", mlirFloatAttrDoubleGet(context, f32, form->scale)),
      tp__named(context, "hidden", mlirFloatAttrDoubleGet(context, f32, form->hidden)),
      tp__named(context, "mask", tp__attr_string(context, masks[form->mask])),
      tp__named(context, "causal", mlirBoolAttrGet(context, form->causal.found)),
      /* a row sees columns below row + add */
      tp__named(context, "offset",
                tp__attr_i64(context, form->causal.found ? form->causal.add - 1 : 0)),
  };
  return mlirDictionaryAttrGet(context, TP_LEN(entries), entries);
}

/* Replaces the result by a call. TP_UNSUPPORTED without a diagnostic, and nothing is changed but
 * dead ops, if the ops depend on more than the operands. */
static tp_status outline(tp_pass *pass, const tp_attention_form *form) {
  MlirOperation output = form->a->ops[form->a->output].op;
  MlirContext context = mlirOperationGetContext(output);
  MlirValue result = form->tensor[TPRT_ATTENTION_OUT];
  MlirType inputs[MAX_OPERANDS], type = mlirValueGetType(result);
  MlirBlock block;
  char name[48];
  operands all = operands_of(form, output);
  for (int i = 0; i < all.n; i++)
    inputs[i] = mlirValueGetType(all.given[i]);
  snprintf(name, sizeof name, "tp.attention.%lld", (long long)pass->statistics[STAT_FUSED]);
  tp__build_fused_func(pass->module, name, mlirOperationGetLocation(output), describe(form, &all),
                       all.n, inputs, 1, &type, &block);
  tp_status status = fill_body(block, &all, form->causal.n_more > 0, result);
  if (status != TP_OK) {
    mlirOperationDestroy(mlirBlockGetParentOperation(block));
    return status;
  }
  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirOperation call = tp__create(&(tp_build){.name = "func.call",
                                              .location = mlirOperationGetLocation(output),
                                              .n_operands = all.n,
                                              .operands = all.given,
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = 1,
                                              .attributes = &callee});
  tp__insert_before(output, call);
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(call, 0));
  return TP_OK;
}

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

/* The ops that a call replaces: those of the attention, those of its rows, and copies of its
 * operands and result. */
static tp_status list_replaced(const tp_attention_form *form, tp_op_list *list) {
  const tp_attention *a = form->a;
  TP_TRY(tp__attention_followers(a, list));
  for (int i = 0; i < a->n_ops; i++)
    TP_TRY(tp__op_list_add(list, a->ops[i].op));
  for (int i = 0; i < form->n_seen_through; i++)
    TP_TRY(tp__op_list_add(list, form->seen_through[i]));
  return TP_OK;
}

static tp_status leave(tp_pass *pass, MlirOperation scores, const char *why) {
  pass->statistics[STAT_OTHER]++;
  tp__remark(scores, "attention is not computed by one kernel: %s", why);
  return TP_OK;
}

static tp_status fuse_at(tp_pass *pass, const tp_mesh *mesh, MlirOperation scores,
                         tp_value_table *erased) {
  tp_attention a;
  tp_attention_form form;
  tp_op_list replaced = {0};
  if (!tp__attention_at(scores, &a))
    return TP_OK;
  const char *why = tp__attention_form(&a, mesh, &form);
  if (why)
    return leave(pass, scores, why);
  tp_status status = list_replaced(&form, &replaced);
  if (status == TP_OK)
    status = outline(pass, &form);
  if (status == TP_OK) {
    tp__remark(scores, "attention is computed by one kernel");
    pass->statistics[STAT_FUSED]++;
    status = erase_dead(&replaced, erased);
  } else if (status == TP_UNSUPPORTED) {
    status = leave(pass, scores, "it depends on more than queries, keys, values and masks");
  }
  tp__free(replaced.items);
  return status;
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
    {"other", "attentions that were left as they are"},
};

const tp_pass_row tp__fuse_attention_row = {
    .name = "tp-fuse-attention",
    .summary = "Outline attention as functions that one kernel of the runtime computes",
    .description =
        "Requires: tensors, calls inlined, elementwise ops as linalg. Establishes (fused=keep): "
        "attention of f32, f16 or bf16 with at most 128 features, whose scores are a multiple of "
        "the products of queries and keys, with at most one mask that is added or hides scores "
        "and at most one comparison of row and column, is a call of a private function; its "
        "tp.fused describes it, and tp-lower-to-runtime lowers it to a runtime call. Transposes "
        "and broadcasts of operands and result become strides. The result is rounded once. A "
        "remark says what was fused, or why not. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
