/* tp-fuse-epilogues: outlines matmuls with the elementwise ops that cuBLASLt can apply in the same
 * kernel: bias, ReLU, and GELU with tanh.
 *
 * The pass matches the ops after a matmul as expressions of its elements (row_expression.h), not as
 * ops. Fusion passes keep the function intact, and it becomes a runtime call. */
#include "passes/fuse/fuse_bodies.h"
#include "passes/fuse/rows/row_activation.h"
#include "passes/registry.h"
#include "passes/support/from_text.h"

#include "ir/diagnostics.h"
#include "passes/support/contraction.h"
#include "rules/body.h"

#include <stdio.h>
#include <string.h>

enum { STAT_FUSED, STAT_OTHER };

typedef struct fuser {
  tp_pass *pass;
  tp_op_list ops;
  tp__rows rows;
} fuser;

/* A matmul and its epilogue. */
typedef struct epilogue {
  MlirOperation matmul;
  tp__factors factors;
  int n_columns;    /* trailing dimensions of the result that are columns */
  int64_t m, n;     /* number of rows and columns */
  MlirType element; /* element type of the operands, the bias and the result */
  tp__row_activation activation;
  MlirValue value; /* result of the epilogue */
  bool dead[TP_ROW_OPS];
} epilogue;

/* ---- the matmul ---- */

/* True for a slice, or a reshape of one. A contraction reads it in place, but a call would need a
 * dense copy. */
static bool is_part(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  while (!mlirOperationIsNull(op) && tp__is_reshape(op))
    op = tp__defining_op(mlirOperationGetOperand(op, 0));
  return !mlirOperationIsNull(op) && tp__op_is(op, "tensor.extract_slice");
}

/* Reads the number of column dimensions and the operands. Returns why the op is not a single
 * matmul, or NULL. */
static const char *read_matmul(epilogue *e) {
  MlirOperation op = e->matmul;
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(result, &rank, shape);
  e->element = tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  e->n_columns = 1;
  while (e->n_columns < rank && !tp__match_rows_by_matrix(op, e->n_columns, &e->factors))
    e->n_columns++;
  bool found = e->n_columns < rank, sums_in_f32 = mlirTypeIsAF32(tp__element_type(result));
  e->n_columns = found ? e->n_columns : 1;
  e->m = e->n = 1;
  for (int d = 0; d < rank; d++)
    *(d < rank - e->n_columns ? &e->m : &e->n) *= shape[d];
  if (!mlirTypeEqual(e->element,
                     tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, 1)))) ||
      !tp__is_kernel_type(e->element) ||
      (!sums_in_f32 && !mlirTypeEqual(e->element, tp__element_type(result))))
    return "cuBLASLt has no epilogues for these types";
  if (!found)
    return "it is not a matmul of untransposed rows by a matrix";
  if (!tp__is_zero_tensor(mlirOperationGetOperand(op, 2)))
    return "its init is not zero";
  if (is_part(e->factors.a) || is_part(e->factors.b))
    return "an operand is a slice of another tensor, which would be copied";
  return e->m == 0 || e->n == 0 || e->factors.k == 0
             ? "it has no elements, or its contracted dimension has size 0"
             : NULL;
}

/* ---- dead ops ---- */

static void find_dead(const tp__rows *rows, epilogue *e) {
  MlirOperation maker_of_bias = mlirValueIsNull(e->activation.bias)
                                    ? (MlirOperation){NULL}
                                    : tp__defining_op(e->activation.bias);
  memset(e->dead, 0, sizeof e->dead);
  for (int i = rows->n_ops; i-- > 0;) {
    MlirOperation op = rows->ops[i];
    e->dead[i] = mlirOperationIsNull(maker_of_bias) || !mlirOperationEqual(op, maker_of_bias);
    for (intptr_t k = 0; k < mlirOperationGetNumResults(op) && e->dead[i]; k++) {
      MlirValue value = mlirOperationGetResult(op, k);
      e->dead[i] = mlirValueEqual(value, e->value) || tp__is_read_by_dead(rows, e->dead, value);
    }
  }
}

/* ---- legality ---- */

/* True if the epilogue's result is read by a compiled kernel, which could compute the epilogue
 * itself. */
static bool feeds_kernel(const tp__rows *rows, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    for (int i = 0; i < rows->n_ops; i++)
      if (mlirOperationEqual(rows->ops[i], user) &&
          (tp__is_reshape(user) ? feeds_kernel(rows, mlirOperationGetResult(user, 0)) : true))
        return true;
  }
  return false;
}

/* True for a max that does not exclude NaN. */
static tp_status find_max_of_nan(MlirOperation op, void *data) {
  tp__string flags = {0};
  if (!tp__op_is(op, "arith.maximumf") && !tp__op_is(op, "arith.maxnumf"))
    return TP_OK;
  MlirAttribute attr = tp__inherent(op, "fastmath");
  if (!mlirAttributeIsNull(attr))
    mlirAttributePrint(attr, tp__append_part, &flags);
  *(bool *)data |= !flags.text || (!strstr(flags.text, "nnan") && !strstr(flags.text, "fast>"));
  tp__string_destroy(&flags);
  return TP_OK;
}

/* True if the max of a ReLU may read NaN, of which arith.maximumf makes NaN and arith.maxnumf 0.
 * cuBLASLt's ReLU does either, depending on the kernel that cuBLASLt chooses. */
static bool may_read_nan(const tp__rows *rows, const epilogue *e) {
  bool found = false;
  for (int i = 0; i < rows->n_ops; i++)
    if (e->dead[i]) {
      (void)find_max_of_nan(rows->ops[i], &found); /* the visitor does not fail */
      (void)tp__walk(rows->ops[i], find_max_of_nan, &found);
    }
  return found;
}

/* Returns why the epilogue cannot be fused, or NULL. */
static const char *find_obstacle(const tp__rows *rows, const epilogue *e, const char *of_product) {
  MlirType bias = mlirValueIsNull(e->activation.bias)
                      ? e->element
                      : tp__element_type(mlirValueGetType(e->activation.bias));
  if (of_product)
    return of_product;
  if (!tp__is_read_by_dead(rows, e->dead, rows->root))
    return "its result has other users";
  if (!mlirTypeEqual(bias, e->element))
    return "its bias and its operands have different types";
  if (e->activation.function == TP_ROW_RELU && may_read_nan(rows, e))
    return "its ReLU may read NaN, of which cuBLASLt makes NaN or 0, depending on the kernel "
           "that it chooses; a max with fastmath<nnan> is fused";
  if (feeds_kernel(rows, e->value))
    return "the result is read by a kernel that computes the epilogue itself";
  return NULL;
}

static tp_status find_erf(MlirOperation op, void *data) {
  *(bool *)data |= tp__op_is(op, "math.erf");
  return TP_OK;
}

/* Returns why the ops after the matmul are not an epilogue although they look like one, or NULL. */
static const char *find_miss(tp__rows *rows, const epilogue *e) {
  bool erf = false;
  for (int i = 0; i < rows->n_ops; i++) {
    (void)find_erf(rows->ops[i], &erf);
    (void)tp__walk(rows->ops[i], find_erf, &erf);
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]); k++)
      if (tp__is_sum_with_rows(
              rows, tp__row_of_whole(rows, mlirOperationGetResult(rows->ops[i], k)), e->n_columns))
        return "the added tensor is not a bias (one value per column)";
  }
  return erf ? "cuBLASLt's GELU is the tanh form, not the erf form" : NULL;
}

/* ---- the function ---- */

static const char *const functions[] = {
    [TP_ROW_IDENTITY] = "none", [TP_ROW_RELU] = "relu", [TP_ROW_GELU] = "gelu"};

/* Builds the epilogue on the elements of the matmul. It computes in f32 and rounds once. */
static MlirOperation write_body(const epilogue *e) {
  static const char *const bodies[] = {
      [TP_ROW_IDENTITY] = "    %y = arith.bitcast %s : f32 to f32\n",
      [TP_ROW_RELU] = "    %zero = arith.constant 0.0 : f32\n"
                      "    %y = arith.maximumf %s, %zero fastmath<nnan> : f32\n",
      [TP_ROW_GELU] = "    %half = arith.constant 0.5 : f32\n    %one = arith.constant 1.0 : f32\n"
                      "    %root = arith.constant 0.797884583 : f32\n    %cube = arith.constant "
                      "4.471500e-02 : f32\n"
                      "    %s2 = arith.mulf %s, %s : f32\n    %s3 = arith.mulf %s2, %s : f32\n"
                      "    %c = arith.mulf %cube, %s3 : f32\n    %d = arith.addf %s, %c : f32\n"
                      "    %u = arith.mulf %root, %d : f32\n    %t = math.tanh %u : f32\n"
                      "    %p = arith.addf %one, %t : f32\n    %h = arith.mulf %half, %s : f32\n"
                      "    %y = arith.mulf %h, %p : f32\n"};
  static const char *const maps = "affine_map<(d0, d1) -> (d0, d1)>";
  tp__string text = {0}, type = {0};
  bool has_bias = !mlirValueIsNull(e->activation.bias), wide = mlirTypeIsAF32(e->element);
  tp__append_type(&type, e->element);
  const char *t = tp__string_text(&type);
  long long m = e->m, n = e->n;
  const char *widen = wide ? "bitcast" : "extf";
  tp__string_printf(&text, "func.func private @body(%%a: tensor<%lldx%lldx%s>", m, n, t);
  if (has_bias)
    tp__string_printf(&text, ", %%b: tensor<%lldx%s>", n, t);
  tp__string_printf(&text,
                    ") -> tensor<%lldx%lldx%s> {\n  %%e = tensor.empty() : tensor<%lldx%lldx%s>\n",
                    m, n, t, m, n, t);
  tp__string_printf(&text,
                    "  %%r = linalg.generic {indexing_maps = [%s, %s%s], iterator_types = "
                    "[\"parallel\", \"parallel\"]} ins(%%a",
                    maps, has_bias ? "affine_map<(d0, d1) -> (d1)>, " : "", maps);
  tp__string_printf(&text, "%s : tensor<%lldx%lldx%s>", has_bias ? ", %b" : "", m, n, t);
  if (has_bias)
    tp__string_printf(&text, ", tensor<%lldx%s>", n, t);
  tp__string_printf(&text,
                    ") outs(%%e : tensor<%lldx%lldx%s>) {\n  ^bb0(%%x: %s%s%s, %%o: %s):\n    %%w "
                    "= arith.%s %%x : %s to f32\n",
                    m, n, t, t, has_bias ? ", %v: " : "", has_bias ? t : "", t, widen, t);
  if (has_bias)
    tp__string_printf(&text,
                      "    %%z = arith.%s %%v : %s to f32\n    %%s = arith.addf %%w, %%z : f32\n",
                      widen, t);
  else
    tp__string_append(&text, "    %s = arith.bitcast %w : f32 to f32\n");
  tp__string_append(&text, bodies[e->activation.function]);
  tp__string_printf(&text,
                    "    %%n = arith.%s %%y : f32 to %s\n    linalg.yield %%n : %s\n  } -> "
                    "tensor<%lldx%lldx%s>\n",
                    wide ? "bitcast" : "truncf", t, t, m, n, t);
  tp__string_printf(&text, "  return %%r : tensor<%lldx%lldx%s>\n}\n", m, n, t);
  text.failed |= type.failed;
  tp__string_destroy(&type);
  return tp__parse_function(e->matmul, &text);
}

static MlirAttribute describe(const epilogue *e) {
  static const char *const operands[] = {"a", "b", "bias"};
  MlirContext context = mlirOperationGetContext(e->matmul);
  const int64_t shape[] = {e->m, e->n};
  MlirNamedAttribute entries[] = {
      tp__named(context, "kind", tp__attr_string(context, "multiply")),
      tp__named(context, "operands",
                tp__fused_names(context, mlirValueIsNull(e->activation.bias) ? 2 : 3, operands)),
      tp__named(context, "function", tp__attr_string(context, functions[e->activation.function])),
      tp__named(context, "shape", tp__attr_i64s(context, TP_LEN(shape), shape)),
      tp__named(context, "transpose_b", mlirBoolAttrGet(context, e->factors.transpose_b)),
  };
  return mlirDictionaryAttrGet(context, TP_LEN(entries), entries);
}

/* Creates the function and calls it where the result was computed. All operands are defined before
 * that op. */
static tp_status outline(fuser *s, const epilogue *e) {
  MlirContext context = mlirOperationGetContext(e->matmul);
  MlirLocation location = mlirOperationGetLocation(e->matmul);
  const MlirValue given[] = {e->factors.a, e->factors.b, e->activation.bias};
  int n_given = mlirValueIsNull(e->activation.bias) ? 2 : 3;
  MlirType inputs[3], result = mlirValueGetType(e->value);
  MlirBlock block;
  char name[48];
  MlirOperation body = write_body(e);
  if (mlirOperationIsNull(body))
    return TP_NO_MEMORY;
  for (int i = 0; i < n_given; i++)
    inputs[i] = mlirValueGetType(given[i]);
  snprintf(name, sizeof name, "tp.epilogue.%lld", (long long)s->pass->statistics[STAT_FUSED]);
  tp__build_fused_func(s->pass->module, name, location, describe(e), n_given, inputs, 1, &result,
                       &block);
  MlirOperation end = tp__create(&(tp_build){.name = "func.return", .location = location});
  mlirBlockAppendOwnedOperation(block, end);
  MlirValue values[2] = {tp__build_matmul(end, mlirBlockGetArgument(block, 0),
                                          mlirBlockGetArgument(block, 1), e->factors.transpose_b,
                                          e->m, e->n, e->factors.k)};
  if (n_given == 3)
    values[1] = tp__view(end, location, mlirBlockGetArgument(block, 2), 1, &e->n);
  MlirValue made;
  tp__inline_results(end, body, n_given - 1, values, 1, &made);
  made = tp__view_as(end, made, result);
  mlirOperationSetOperands(end, 1, &made);

  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirOperation where = mlirOpResultGetOwner(e->value);
  MlirOperation call = tp__create(&(tp_build){.name = "func.call",
                                              .location = mlirOperationGetLocation(where),
                                              .n_operands = n_given,
                                              .operands = given,
                                              .n_results = 1,
                                              .results = &result,
                                              .n_attributes = 1,
                                              .attributes = &callee});
  tp__insert_before(where, call);
  mlirValueReplaceAllUsesOfWith(e->value, mlirOperationGetResult(call, 0));
  return TP_OK;
}

static void erase_dead(const tp__rows *rows, const epilogue *e) {
  for (int i = rows->n_ops; i-- > 0;)
    if (e->dead[i])
      mlirOperationDestroy(rows->ops[i]);
  for (MlirOperation op = mlirOpResultGetOwner(rows->root); !mlirOperationEqual(op, e->matmul);) {
    MlirOperation before = mlirOpResultGetOwner(mlirOperationGetOperand(op, 0));
    mlirOperationDestroy(op);
    op = before;
  }
  mlirOperationDestroy(e->matmul);
}

/* ---- the pass ---- */

static void remark_fused(const epilogue *e) {
  const char *function =
      e->activation.function == TP_ROW_IDENTITY ? "" : functions[e->activation.function];
  bool has_bias = !mlirValueIsNull(e->activation.bias);
  tp__remark(e->matmul, "is fused with %s%s%s", has_bias ? "bias" : "",
             has_bias && *function ? ", " : "", function);
}

static tp_status leave(fuser *s, const epilogue *e, const char *reason) {
  s->pass->statistics[STAT_OTHER]++;
  tp__remark(e->matmul, "is not fused with the ops that follow: %s", reason);
  return TP_OK;
}

/* Finds the last value that matches an epilogue and can be fused, and returns NULL. Else returns
 * the reason, or "" if there is nothing to report. */
static const char *find_epilogue(tp__rows *rows, const char *of_product, epilogue *e) {
  const char *reason = NULL;
  for (int i = rows->n_ops; i-- > 0;)
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]); k++) {
      e->value = mlirOperationGetResult(rows->ops[i], k);
      if (!mlirTypeEqual(tp__element_type(mlirValueGetType(e->value)), e->element) ||
          !tp__match_row_activation(rows, tp__row_of_whole(rows, e->value), e->n_columns,
                                    &e->activation))
        continue;
      find_dead(rows, e);
      const char *why = find_obstacle(rows, e, of_product);
      if (!why)
        return NULL;
      reason = reason ? reason : why;
    }
  reason = reason ? reason : find_miss(rows, e);
  return reason ? reason : "";
}

static tp_status fuse(fuser *s, MlirOperation op) {
  epilogue e = {.matmul = op};
  if (mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op, 0))) == 0)
    return TP_OK;
  /* With several column dimensions, a reshape may split the columns differently, so it is not
   * followed. */
  const char *of_product = read_matmul(&e);
  tp__rows_begin(&s->rows, e.n_columns == 1 ? tp__rows_root(op) : mlirOperationGetResult(op, 0));
  const char *reason = find_epilogue(&s->rows, of_product, &e);
  if (reason)
    return *reason ? leave(s, &e, reason) : TP_OK;
  TP_TRY(outline(s, &e));
  remark_fused(&e);
  s->pass->statistics[STAT_FUSED]++;
  erase_dead(&s->rows, &e);
  return TP_OK;
}

/* Collects matmuls, except those inside fused functions. */
static tp_status collect(MlirOperation op, void *data) {
  fuser *s = data;
  tp__contraction c;
  bool is_product = mlirOperationGetNumResults(op) == 1 && tp__match_contraction(op, &c) &&
                    mlirAttributeIsNull(tp__get(tp__enclosing_func(op), "tp.fused"));
  return is_product ? tp__op_list_add(&s->ops, op) : TP_OK;
}

typedef struct settings {
  enum { FUSED_INLINE, FUSED_KEEP } fused;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  if (given->fused != FUSED_KEEP)
    return TP_OK;
  fuser *s = tp__calloc(1, sizeof *s);
  if (!s)
    return tp__out_of_memory(pass->module);
  s->pass = pass;
  tp_status status = tp__walk(pass->module, collect, s);
  if (status == TP_OK)
    for (size_t i = 0; i < s->ops.n && status == TP_OK; i++)
      status = fuse(s, s->ops.items[i]);
  tp__free(s->ops.items);
  tp__free(s);
  return status;
}

static const tp_option_row options[] = {
    {"fused", "inline",
     "keep: matmuls become functions with the ops that follow, for GPU programs; inline: do "
     "nothing",
     TP_CHOICE(settings, fused, "inline|keep")},
};

static const tp_statistic_row statistics[] = {
    {"fused", "matmuls fused into one call with the ops that follow"},
    {"other", "matmuls followed by such ops that were left unfused"}};

const tp_pass_row tp__fuse_epilogues_row = {
    .name = "tp-fuse-epilogues",
    .summary = "Outline matmuls with the bias, ReLU or GELU that follow as functions that cuBLASLt "
               "computes",
    .description =
        "Requires: tensors, calls inlined. Establishes (fused=keep): a matmul of rows by a matrix "
        "(f32, f16 or bf16, init 0) whose result is only read by a bias for each column, max(x, 0) "
        "or GELU in the tanh form is a call of a private function together with these ops; its "
        "tp.fused describes it, and tp-lower-to-runtime lowers it to a runtime call. The result is "
        "rounded once. Left unfused: max(x, 0) without fastmath<nnan>, because cuBLASLt's ReLU of "
        "NaN is NaN or 0; GELU with erf; an epilogue that elementwise ops read, because their "
        "kernel computes it too. A remark says what was fused, or why not. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
