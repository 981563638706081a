/* Outlines a split softmax to a function. The body is generated from the match. A program that
 * inlines it computes what the kernels compute, so running it verifies the match. */
#include "passes/fuse/fuse_softmax.h"
#include "passes/support/from_text.h"
#include "passes/support/lower.h"

#include "ir/collectives.h"

/* ---- the body, as text ---- */

typedef struct writer {
  const tp__softmax_fusion *f;
  tp__string text;
  int rank;                                                            /* rank of the rows */
  tp__string rows, number, condition, target, element, target_element; /* type texts */
} writer;

static const char *of(const tp__string *part) { return tp__string_text(part); }

static void write_map(writer *w, int n) {
  tp__string_append(&w->text, "affine_map<(");
  for (int d = 0; d < w->rank; d++)
    tp__string_printf(&w->text, "%sd%d", d ? ", " : "", d);
  tp__string_append(&w->text, ") -> (");
  for (int d = 0; d < n; d++)
    tp__string_printf(&w->text, "%sd%d", d ? ", " : "", d);
  tp__string_append(&w->text, ")>");
}

/* Writes a linalg.generic, up to its operands. Its inputs are the rows and n_numbers tensors with
 * one number per row; it has one result. */
static void write_loops(writer *w, const char *result, int n_numbers) {
  tp__string_printf(&w->text, "  %s = linalg.generic {indexing_maps = [", result);
  write_map(w, w->rank);
  for (int i = 0; i <= n_numbers; i++) {
    tp__string_append(&w->text, ", ");
    write_map(w, w->rank - 1);
  }
  tp__string_append(&w->text, "], iterator_types = [");
  for (int d = 0; d < w->rank; d++)
    tp__string_printf(&w->text, "%s", d < w->rank - 1 ? "\"parallel\", " : "\"reduction\"]}");
}

/* Placeholder for a copy of a collective of the program. copy_collectives replaces it after
 * parsing. */
typedef enum copied { OF_ROW_MAX, OF_SUM, OF_PICKED } copied;

static void write_collective(writer *w, const char *result, const char *of_value, copied which) {
  const char *t = of(&w->number);
  tp__string_printf(&w->text, "  %s = tensor.cast %s {copied = %d : i64} : %s to %s\n", result,
                    of_value, which, t, t);
}

static void write_widening(writer *w) {
  bool wide = strcmp(of(&w->element), "f32") == 0;
  tp__string_printf(&w->text, "    %%w = arith.%s %%x : %s to f32\n", wide ? "bitcast" : "extf",
                    of(&w->element));
}

static void write_row_max(writer *w) {
  const char *t = of(&w->number);
  tp__string_printf(&w->text, "  %%none = arith.constant dense<%s> : %s\n",
                    tp__minus_infinity(mlirF32TypeGet(mlirOperationGetContext(w->f->largest))), t);
  write_loops(w, "%local", 0);
  tp__string_printf(&w->text, " ins(%%rows : %s) outs(%%none : %s) {\n  ^bb0(%%x: %s, %%o: f32):\n",
                    of(&w->rows), t, of(&w->element));
  write_widening(w);
  tp__string_printf(
      &w->text, "    %%m = arith.maximumf %%o, %%w : f32\n    linalg.yield %%m : f32\n  } -> %s\n",
      t);
  write_collective(w, "%largest", "%local", OF_ROW_MAX);
}

/* Writes the value that exponentials are relative to: the row max, or 0 if it is not finite.
 * Returns its name. */
static const char *write_shift(writer *w) {
  const char *t = of(&w->number);
  if (!w->f->finite)
    return "%largest";
  tp__string_printf(
      &w->text,
      "  %%infinity = arith.constant dense<0x7F800000> : %s\n  %%size = math.absf %%largest : %s\n",
      t, t);
  tp__string_printf(&w->text, "  %%finite = arith.cmpf one, %%size, %%infinity : %s\n", t);
  tp__string_printf(&w->text, "  %%shift = arith.select %%finite, %%largest, %%zero : ");
  tp__string_printf(&w->text, "%s, %s\n", of(&w->condition), t);
  return "%shift";
}

static void write_exponentials(writer *w, const char *shift) {
  const char *t = of(&w->number);
  write_loops(w, "%part", 1);
  tp__string_printf(
      &w->text,
      " ins(%%rows, %s : %s, %s) outs(%%zero : %s) {\n  ^bb0(%%x: %s, %%l: f32, %%o: f32):\n",
      shift, of(&w->rows), t, t, of(&w->element));
  write_widening(w);
  tp__string_printf(&w->text,
                    "    %%d = arith.subf %%w, %%l : f32\n    %%e = math.exp %%d : f32\n    %%s = "
                    "arith.addf %%o, %%e : f32\n"
                    "    linalg.yield %%s : f32\n  } -> %s\n",
                    t);
  write_collective(w, "%sum", "%part", OF_SUM);
}

static void write_pick(writer *w, const char *shift) {
  static const char *const picked[] = {[TPRT_CUDA_LOGIT] = "%w",
                                       [TPRT_CUDA_LESS_LARGEST] = "%d",
                                       [TPRT_CUDA_LOG_PROBABILITY] = "%p"};
  const char *t = of(&w->number), *i = of(&w->target_element);
  write_loops(w, "%own", 3);
  tp__string_printf(&w->text,
                    " ins(%%rows, %s, %%sum, %%target : %s, %s, %s, %s) outs(%%zero : %s) {\n"
                    "  ^bb0(%%x: %s, %%l: f32, %%s: f32, %%t: %s, %%o: f32):\n",
                    shift, of(&w->rows), t, t, of(&w->target), t, of(&w->element), i);
  write_widening(w);
  tp__string_printf(
      &w->text,
      "    %%index = linalg.index %d : index\n    %%place = arith.addi %%index, %%first : index\n"
      "    %%column = arith.index_cast %%place : index to %s\n    %%is = arith.cmpi eq, %%column, "
      "%%t : %s\n",
      w->rank - 1, i, i);
  tp__string_printf(
      &w->text,
      "    %%d = arith.subf %%w, %%l : f32\n    %%g = math.log %%s : f32\n    %%p = arith.subf "
      "%%d, %%g : f32\n"
      "    %%n = arith.constant 0.0 : f32\n    %%v = arith.select %%is, %s, %%n : f32\n"
      "    %%r = arith.addf %%o, %%v : f32\n    linalg.yield %%r : f32\n  } -> %s\n",
      picked[w->f->pick.pick], t);
  if (!mlirOperationIsNull(w->f->summed))
    write_collective(w, "%picked", "%own", OF_PICKED);
}

/* Builds a function of the rows. If an element is picked, the target and the index of the first
 * column are further arguments. */
static MlirOperation write_body(writer *w) {
  const char *t = of(&w->number);
  bool picks = !mlirValueIsNull(w->f->picked);
  tp__string_printf(&w->text, "func.func private @body(%%rows: %s", of(&w->rows));
  if (picks)
    tp__string_printf(&w->text, ", %%target: %s, %%first: index", of(&w->target));
  tp__string_printf(&w->text, ") -> (%s, %s%s%s) {\n  %%zero = arith.constant dense<0.0> : %s\n", t,
                    t, picks ? ", " : "", picks ? t : "", t);
  write_row_max(w);
  const char *shift = write_shift(w);
  write_exponentials(w, shift);
  if (picks)
    write_pick(w, shift);
  tp__string_printf(&w->text, "  return %%largest, %%sum%s : %s, %s%s%s\n}\n",
                    !picks                              ? ""
                    : mlirOperationIsNull(w->f->summed) ? ", %own"
                                                        : ", %picked",
                    t, t, picks ? ", " : "", picks ? t : "");
  bool failed = w->rows.failed || w->number.failed || w->condition.failed || w->target.failed ||
                w->element.failed || w->target_element.failed;
  w->text.failed |= failed;
  return tp__parse_function(w->f->largest, &w->text);
}

static tp_status find_place(MlirOperation op, void *data) {
  return mlirAttributeIsNull(tp__get(op, "copied")) ? TP_OK : tp__op_list_add(data, op);
}

static tp_status copy_collectives(MlirOperation body, const tp__softmax_fusion *f) {
  const MlirOperation all[] = {
      [OF_ROW_MAX] = f->largest, [OF_SUM] = f->sum, [OF_PICKED] = f->summed};
  tp_op_list places = {0};
  tp_status status = tp__walk(body, find_place, &places);
  for (size_t i = 0; i < places.n && status == TP_OK; i++) {
    MlirOperation op = places.items[i],
                  copy = mlirOperationClone(all[mlirIntegerAttrGetValueInt(tp__get(op, "copied"))]);
    MlirValue result = mlirOperationGetResult(copy, 0);
    mlirOperationSetOperand(
        copy, 0, tp__view_as(op, mlirOperationGetOperand(op, 0), mlirValueGetType(result)));
    tp__insert_before(op, copy);
    tp__replace_op(op, tp__view_as(op, result, mlirValueGetType(mlirOperationGetResult(op, 0))));
  }
  tp__free(places.items);
  return status;
}

/* ---- the function ---- */

enum { MAX_VALUES = 3 }; /* maximum number of operands and of results */

static MlirAttribute describe(const tp__softmax_fusion *f) {
  static const char *const names[] = {[TPRT_CUDA_LOGIT] = "logit",
                                      [TPRT_CUDA_LESS_LARGEST] = "less_largest",
                                      [TPRT_CUDA_LOG_PROBABILITY] = "log_probability"};
  MlirContext context = mlirOperationGetContext(f->largest);
  bool picks = !mlirValueIsNull(f->picked);
  MlirAttribute operands[] = {tp__attr_string(context, "logits"),
                              tp__attr_string(context, "target")};
  MlirAttribute results[] = {tp__attr_string(context, "largest"), tp__attr_string(context, "sum"),
                             tp__attr_string(context, "picked")};
  MlirAttribute axes[TP_MAX_AXES];
  for (int i = 0; i < f->n_axes; i++) {
    char text[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(f->mesh, f->axes[i], 1, text, sizeof text);
    axes[i] = tp__attr_string(context, text);
  }
  MlirNamedAttribute entries[] = {
      tp__named(context, "kind", tp__attr_string(context, "softmax_rows")),
      tp__named(context, "axes", mlirArrayAttrGet(context, f->n_axes, axes)),
      tp__named(context, "operands", mlirArrayAttrGet(context, picks ? 2 : 1, operands)),
      tp__named(context, "results", mlirArrayAttrGet(context, picks ? 3 : 2, results)),
      tp__named(context, "infinite", tp__attr_string(context, f->finite ? "zero" : "nan")),
      tp__named(context, "pick", tp__attr_string(context, names[f->pick.pick])),
      tp__named(context, "picks_of",
                tp__attr_string(context, mlirOperationIsNull(f->summed) ? "device" : "group")),
  };
  return mlirDictionaryAttrGet(context, picks ? 7 : 5, entries);
}

static MlirOperation build_func(MlirOperation module, const char *name, const tp__softmax_fusion *f,
                                int n_operands, const MlirType *operands, int n_results,
                                const MlirType *results) {
  MlirContext context = mlirOperationGetContext(module);
  MlirLocation location = mlirOperationGetLocation(f->largest), locations[] = {location, location};
  MlirOperation func = tp__create_private_func(
      location, name, mlirFunctionTypeGet(context, n_operands, operands, n_results, results));
  tp__set(func, "tp.fused", describe(f));
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0),
                             mlirBlockCreate(n_operands, operands, locations));
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(mlirModuleFromOperation(module)), func);
  return func;
}

static void fill_func(const tp__softmax_fusion *f, MlirOperation func, MlirOperation body,
                      MlirType target, int n_results, const MlirType *results) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirOperation end =
      tp__create(&(tp_build){.name = "func.return", .location = mlirOperationGetLocation(func)});
  MlirValue given[MAX_VALUES] = {mlirBlockGetArgument(block, 0)}, made[MAX_VALUES];
  bool picks = n_results == 3;
  mlirBlockAppendOwnedOperation(block, end);
  if (picks) {
    int rank;
    int64_t shape[TP_MAX_RANK];
    tp__static_tensor(mlirValueGetType(given[0]), &rank, shape);
    given[1] = tp__view_as(end, mlirBlockGetArgument(block, 1), target);
    given[2] =
        tp__binary(end, "arith.muli", tp__build_group_index(end, f->mesh, f->n_axes, f->axes),
                   tp__index_constant(end, shape[rank - 1]));
  }
  tp__inline_results(end, body, picks ? 3 : 1, given, n_results, made);
  for (int i = 0; i < n_results; i++)
    made[i] = tp__view_as(end, made[i], results[i]);
  mlirOperationSetOperands(end, n_results, made);
}

tp_status tp__outline_softmax(MlirOperation module, const char *name, const tp__softmax_fusion *f) {
  MlirContext context = mlirOperationGetContext(module);
  writer w = {.f = f};
  int64_t shape[TP_MAX_RANK];
  bool picks = !mlirValueIsNull(f->picked);
  MlirType x = mlirValueGetType(f->rows), f32 = mlirF32TypeGet(context), target = {NULL};
  tp__static_tensor(x, &w.rank, shape);
  tp__append_type(&w.rows, x);
  tp__append_type(&w.element, tp__element_type(x));
  tp__append_type(&w.number,
                  mlirRankedTensorTypeGet(w.rank - 1, shape, f32, (MlirAttribute){NULL}));
  tp__append_type(&w.condition,
                  mlirRankedTensorTypeGet(w.rank - 1, shape, mlirIntegerTypeGet(context, 1),
                                          (MlirAttribute){NULL}));
  if (picks) {
    MlirType element = tp__element_type(mlirValueGetType(f->pick.target));
    target = mlirRankedTensorTypeGet(w.rank - 1, shape, element, (MlirAttribute){NULL});
    tp__append_type(&w.target, target);
    tp__append_type(&w.target_element, element);
  }
  MlirOperation body = write_body(&w);
  tp__string *parts[] = {&w.rows,      &w.element, &w.number,
                         &w.condition, &w.target,  &w.target_element};
  for (int i = 0; i < TP_LEN(parts); i++)
    tp__string_destroy(parts[i]);
  if (mlirOperationIsNull(body))
    return TP_NO_MEMORY;
  tp_status status = copy_collectives(body, f);
  if (status != TP_OK) {
    mlirOperationDestroy(body);
    return status;
  }

  MlirValue replaced[MAX_VALUES] = {mlirOperationGetResult(f->largest, 0),
                                    mlirOperationGetResult(f->sum, 0)};
  MlirValue given[] = {f->rows, f->pick.target};
  MlirType operands[2] = {x}, results[MAX_VALUES];
  int n_operands = picks ? 2 : 1, n_results = picks ? 3 : 2;
  if (picks) {
    replaced[2] = tp__softmax_picked(f);
    operands[1] = mlirValueGetType(f->pick.target);
  }
  for (int i = 0; i < n_results; i++)
    results[i] = mlirValueGetType(replaced[i]);
  fill_func(f, build_func(module, name, f, n_operands, operands, n_results, results), body, target,
            n_results, results);
  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirOperation call =
      tp__build(f->largest, "func.call", n_operands, given, n_results, results, 1, &callee);
  for (int i = 0; i < n_results; i++)
    mlirValueReplaceAllUsesOfWith(replaced[i], mlirOperationGetResult(call, i));
  return TP_OK;
}
