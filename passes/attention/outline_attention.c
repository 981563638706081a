/* Outlines attention and its gradient as functions with tp.fused, whose bodies are copies of the
 * ops that the calls replace. */
#include "passes/attention/outline_attention.h"
#include "passes/support/fused_func.h"

#include "ir/diagnostics.h"

#include <stdio.h>

/* Operands: queries, keys, values, mask, dropout, position; of a gradient also the result, its
 * statistics and its gradient. Results: three gradients and the workspace. */
enum { MAX_OPERANDS = 10, MAX_RESULTS = 4 };

typedef struct operands {
  int n, position;               /* position: which one it is; -1: none */
  MlirValue given[MAX_OPERANDS]; /* operands of the fused call */
  MlirValue of[MAX_OPERANDS];    /* the values that the unfused ops read in their place */
  const char *name[MAX_OPERANDS];
} operands;

/* Results of a function. */
typedef struct results {
  int n;
  MlirValue of[MAX_RESULTS]; /* the unfused values; null: unspecified contents */
  MlirType type[MAX_RESULTS];
} results;

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

/* The copy of a value as a result of type `type`. */
static tp_status copy_result(copier *c, MlirValue value, MlirType type, MlirValue *to) {
  if (mlirValueIsNull(value)) {
    *to = tp__empty(c->where, type);
    return TP_OK;
  }
  TP_TRY(copy_value(c, value));
  *to = c->values[tp__table_get(&c->known, value.ptr)];
  if (!mlirTypeEqual(mlirValueGetType(value), type))
    *to = build_unary(c->where, "arith.extf", *to, type);
  return TP_OK;
}

/* Fills the function: arguments stand for the operands. A 16-bit statistic is an f32 here; the ops
 * that read one make it anew. */
static tp_status fill_body(MlirBlock block, MlirLocation location, const operands *all,
                           const results *made) {
  MlirOperation end = tp__create(&(tp_build){.name = "func.return", .location = location});
  copier c = {.where = end};
  MlirValue returned[MAX_RESULTS];
  mlirBlockAppendOwnedOperation(block, end);
  tp_status status = TP_OK;
  for (int i = 0; i < all->n && status == TP_OK; i++) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    if (i == all->position)
      argument = build_position(end, argument);
    if (mlirTypeEqual(mlirValueGetType(argument), mlirValueGetType(all->of[i])))
      status = remember(&c, all->of[i], argument);
  }
  for (int i = 0; i < made->n && status == TP_OK; i++)
    status = copy_result(&c, made->of[i], made->type[i], &returned[i]);
  if (status == TP_OK)
    mlirOperationSetOperands(end, made->n, returned);
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

static void append_operand(operands *all, const char *name, MlirValue given, MlirValue of) {
  all->name[all->n] = name;
  all->given[all->n] = given;
  all->of[all->n++] = of;
}

/* Of the attention or, if its call is given, of the gradient. */
static operands operands_of(const tp_attention_form *form, MlirOperation where,
                            MlirOperation attention) {
  static const char *const names[] = {"queries", "keys", "values", "mask", "dropout"};
  const MlirValue *tensor = form->tensor, more = form->causal.more[0];
  operands all = {.n = 0, .position = -1};
  for (int x = TPRT_ATTENTION_Q; x <= TPRT_ATTENTION_DROPOUT; x++)
    if (!mlirValueIsNull(tensor[x]))
      append_operand(&all, names[x], tensor[x], tensor[x]);
  if (form->causal.n_more > 0) {
    all.position = all.n;
    append_operand(&all, "position", position_tensor(where, more), more);
  }
  if (mlirOperationIsNull(attention))
    return all;
  static const char *const of_attention[] = {"attended", "max", "sum"};
  for (int i = 0; i < TP_LEN(of_attention); i++)
    append_operand(&all, of_attention[i], mlirOperationGetResult(attention, i),
                   tensor[TPRT_ATTENTION_OUT + i]);
  append_operand(&all, "gradient", tensor[TPRT_ATTENTION_GRADIENT],
                 tensor[TPRT_ATTENTION_GRADIENT]);
  return all;
}

/* Appends a loop: its size, and its stride in each tensor. */
static void append_loop(const tp_attention_form *form, int loop, int64_t *words, int *n) {
  words[(*n)++] = loop == TP_NO_SCORE_LOOP ? 1 : form->a->sizes[loop];
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    words[(*n)++] = loop == TP_NO_SCORE_LOOP ? 0 : form->stride[x][loop];
}

static MlirAttribute describe(const tp_attention_form *form, const operands *all,
                              const tp_gradient *g) {
  static const char *const masks[] = {[TPRT_ATTENTION_NO_MASK] = "none",
                                      [TPRT_ATTENTION_KEEP] = "keep",
                                      [TPRT_ATTENTION_HIDE] = "hide",
                                      [TPRT_ATTENTION_ADD] = "add"};
  static const char *const dropouts[] = {[TPRT_ATTENTION_NO_DROPOUT] = "none",
                                         [TPRT_ATTENTION_KEEP_WEIGHT] = "keep",
                                         [TPRT_ATTENTION_DROP_WEIGHT] = "drop",
                                         [TPRT_ATTENTION_MULTIPLY] = "multiply"};
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
      tp__named(context, "kind", tp__attr_string(context, g ? "attention_gradient" : "attention")),
      tp__named(context, "operands", tp__fused_names(context, all->n, all->name)),
      tp__named(context, "loops", tp__attr_i64s(context, n, words)),
      tp__named(context, "scale", mlirFloatAttrDoubleGet(context, f32, form->scale)),
      tp__named(context, "hidden", mlirFloatAttrDoubleGet(context, f32, form->hidden)),
      tp__named(context, "mask", tp__attr_string(context, masks[form->mask])),
      tp__named(context, "dropout", tp__attr_string(context, dropouts[form->dropout])),
      tp__named(context, "dropout_scale",
                mlirFloatAttrDoubleGet(context, f32, form->dropout_scale)),
      tp__named(context, "zeroes_dropped", mlirBoolAttrGet(context, form->zeroes_dropped)),
      tp__named(context, "causal", mlirBoolAttrGet(context, form->causal.found)),
      /* a row sees columns below row + add */
      tp__named(context, "offset",
                tp__attr_i64(context, form->causal.found ? form->causal.add - 1 : 0)),
      tp__named(context, "cap", mlirFloatAttrDoubleGet(context, f32, form->cap)),
      g ? tp__named(context, "passes_hidden", mlirBoolAttrGet(context, g->passes_hidden))
        : tp__named(context, "zeroes_hidden", mlirBoolAttrGet(context, form->zeroes_hidden)),
  };
  return mlirDictionaryAttrGet(context, TP_LEN(entries), entries);
}

/* ---- functions and calls ---- */

static MlirType as_f32(MlirType type) {
  int64_t shape[TP_MAX_RANK];
  int rank = 0;
  tp__static_tensor(type, &rank, shape);
  return mlirRankedTensorTypeGet(rank, shape, mlirF32TypeGet(mlirTypeGetContext(type)),
                                 (MlirAttribute){NULL});
}

static void append_result(results *all, MlirValue value, MlirType type) {
  all->of[all->n] = value;
  all->type[all->n++] = type;
}

/* Of the attention, with `statistics` also of its rows; or of its gradient. */
static results results_of(const tp_attention_form *form, bool statistics) {
  const MlirValue *tensor = form->tensor;
  results all = {.n = 0};
  append_result(&all, tensor[TPRT_ATTENTION_OUT], mlirValueGetType(tensor[TPRT_ATTENTION_OUT]));
  for (int x = TPRT_ATTENTION_MAX; x <= TPRT_ATTENTION_SUM && statistics; x++)
    append_result(&all, tensor[x], as_f32(mlirValueGetType(tensor[x])));
  return all;
}

static results gradients_of(const tp_attention_form *form) {
  const MlirValue *tensor = form->tensor;
  results all = {.n = 0};
  for (int x = TPRT_ATTENTION_GRADIENT_Q; x <= TPRT_ATTENTION_GRADIENT_V; x++)
    append_result(&all, tensor[x], mlirValueGetType(tensor[x]));
  append_result(&all, (MlirValue){NULL}, as_f32(mlirValueGetType(tensor[TPRT_ATTENTION_SUM])));
  return all;
}

/* Builds the function, and its call in front of `where`. TP_UNSUPPORTED without a diagnostic if the
 * ops depend on more than the operands. */
static tp_status build(MlirOperation module, const char *name, MlirOperation where,
                       MlirAttribute fused, const operands *all, const results *made,
                       MlirOperation *call) {
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirType inputs[MAX_OPERANDS];
  MlirBlock block;
  for (int i = 0; i < all->n; i++)
    inputs[i] = mlirValueGetType(all->given[i]);
  tp__build_fused_func(module, name, location, fused, all->n, inputs, made->n, made->type, &block);
  tp_status status = fill_body(block, location, all, made);
  if (status != TP_OK) {
    mlirOperationDestroy(mlirBlockGetParentOperation(block));
    return status;
  }
  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  *call = tp__create(&(tp_build){.name = "func.call",
                                 .location = location,
                                 .n_operands = all->n,
                                 .operands = all->given,
                                 .n_results = made->n,
                                 .results = made->type,
                                 .n_attributes = 1,
                                 .attributes = &callee});
  tp__insert_before(where, *call);
  return TP_OK;
}

static tp_status build_numbered(MlirOperation module, const char *prefix, int64_t number,
                                MlirOperation where, const tp_attention_form *form,
                                const tp_gradient *g, const operands *all, const results *made,
                                MlirOperation *call) {
  char name[48];
  snprintf(name, sizeof name, "%s.%lld", prefix, (long long)number);
  return build(module, name, where, describe(form, all, g), all, made, call);
}

/* Statistics are left to the ops that compute them, which are dead after the call of the
 * gradient. */
static void replace(const results *made, int n, MlirOperation call) {
  for (int i = 0; i < n; i++)
    mlirValueReplaceAllUsesOfWith(made->of[i], mlirOperationGetResult(call, i));
}

tp_status tp__outline_attention(MlirOperation module, int64_t number, const tp_attention_form *form,
                                const tp_gradient *g) {
  MlirOperation output = form->a->ops[form->a->output].op, none = {NULL}, call, of_gradient;
  operands all = operands_of(form, output, none);
  results made = results_of(form, g != NULL), gradients;
  TP_TRY(build_numbered(module, "tp.attention", number, output, form, NULL, &all, &made, &call));
  if (g) {
    all = operands_of(form, g->first, call);
    gradients = gradients_of(form);
    tp_status status = build_numbered(module, "tp.attention_gradient", number, g->first, form, g,
                                      &all, &gradients, &of_gradient);
    if (status != TP_OK) {
      MlirOperation func = tp__callee(module, call);
      mlirOperationDestroy(call);
      mlirOperationDestroy(func);
      return status;
    }
    replace(&gradients, 3, of_gradient);
  }
  replace(&made, 1, call);
  return TP_OK;
}
