/* tp-decompose: linalg.softmax as the ops that it stands for, for which there are rules and lowerings.
 *
 * A private function per type and dimension is written as text and called; tp-inline-calls replaces the calls. The steps are those of
 * upstream's decomposition: the maximum (numbers before NaN), exp of the difference, the sum, the quotient. */
#include "passes/decompose.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

typedef struct list {
  MlirOperation *ops;
  size_t n, capacity;
} list;

static tp_status collect(MlirOperation op, void *data) {
  list *l = data;
  if (!tp__op_is(op, "linalg.softmax") || mlirOperationGetNumResults(op) != 1)
    return TP_OK;
  tp_status status = tp__grow((void **)&l->ops, &l->capacity, l->n + 1, sizeof *l->ops);
  if (status == TP_OK)
    l->ops[l->n++] = op;
  return status;
}

/* Bits of -infinity, which MLIR's text spells in hexadecimal. */
static const char *minus_infinity(MlirType element) {
  return mlirTypeIsAF64(element)    ? "0xFFF0000000000000"
         : mlirTypeIsAF32(element)  ? "0xFF800000"
         : mlirTypeIsAF16(element)  ? "0xFC00"
         : mlirTypeIsABF16(element) ? "0xFF80"
                                    : NULL;
}

static void append_part(MlirStringRef part, void *data) { tp__string_append_bytes(data, part.data, part.length); }

static void append_type(tp__string *text, MlirType type) { mlirTypePrint(type, append_part, text); }

/* affine_map<(d0, d1, d2) -> (d0, d2)> without dimension `skip`; -1 skips none. */
static void append_map(tp__string *text, int rank, int skip) {
  tp__string_append(text, "affine_map<(");
  for (int d = 0; d < rank; d++)
    tp__string_printf(text, "%sd%d", d ? ", " : "", d);
  tp__string_append(text, ") -> (");
  for (int d = 0, n = 0; d < rank; d++)
    if (d != skip)
      tp__string_printf(text, "%sd%d", n++ ? ", " : "", d);
  tp__string_append(text, ")>");
}

typedef struct softmax {
  int rank, dim;
  MlirType type, reduced, element;
} softmax;

static void append_iterators(tp__string *text, const softmax *s, bool reduces) {
  tp__string_append(text, ", iterator_types = [");
  for (int d = 0; d < s->rank; d++)
    tp__string_printf(text, "%s\"%s\"", d ? ", " : "", reduces && d == s->dim ? "reduction" : "parallel");
  tp__string_append(text, "]}");
}

/* %name = reduction of %from over the dimension, from a fill with `init`. */
static void append_reduction(tp__string *text, const softmax *s, const char *name, const char *from, const char *init,
                             const char *combine) {
  tp__string_printf(text, "  %%%s_e = tensor.empty() : ", name);
  append_type(text, s->reduced);
  tp__string_printf(text, "\n  %%%s_c = arith.constant %s : ", name, init);
  append_type(text, s->element);
  tp__string_printf(text, "\n  %%%s_f = linalg.fill ins(%%%s_c : ", name, name);
  append_type(text, s->element);
  tp__string_printf(text, ") outs(%%%s_e : ", name);
  append_type(text, s->reduced);
  tp__string_append(text, ") -> ");
  append_type(text, s->reduced);
  tp__string_printf(text, "\n  %%%s = linalg.generic {indexing_maps = [", name);
  append_map(text, s->rank, -1);
  tp__string_append(text, ", ");
  append_map(text, s->rank, s->dim);
  tp__string_append(text, "]");
  append_iterators(text, s, true);
  tp__string_printf(text, " ins(%%%s : ", from);
  append_type(text, s->type);
  tp__string_printf(text, ") outs(%%%s_f : ", name);
  append_type(text, s->reduced);
  tp__string_append(text, ") {\n  ^bb0(%i: ");
  append_type(text, s->element);
  tp__string_append(text, ", %o: ");
  append_type(text, s->element);
  tp__string_printf(text, "):\n    %%v = %s %%o, %%i : ", combine);
  append_type(text, s->element);
  tp__string_append(text, "\n    linalg.yield %v : ");
  append_type(text, s->element);
  tp__string_append(text, "\n  } -> ");
  append_type(text, s->reduced);
  tp__string_append(text, "\n");
}

/* %name = body over %from and the reduced %with, which is broadcast. */
static void append_pointwise(tp__string *text, const softmax *s, const char *name, const char *from, const char *with,
                             const char *first, const char *second) {
  tp__string_printf(text, "  %%%s_e = tensor.empty() : ", name);
  append_type(text, s->type);
  tp__string_printf(text, "\n  %%%s = linalg.generic {indexing_maps = [", name);
  append_map(text, s->rank, -1);
  tp__string_append(text, ", ");
  append_map(text, s->rank, s->dim);
  tp__string_append(text, ", ");
  append_map(text, s->rank, -1);
  tp__string_append(text, "]");
  append_iterators(text, s, false);
  tp__string_printf(text, " ins(%%%s, %%%s : ", from, with);
  append_type(text, s->type);
  tp__string_append(text, ", ");
  append_type(text, s->reduced);
  tp__string_printf(text, ") outs(%%%s_e : ", name);
  append_type(text, s->type);
  tp__string_append(text, ") {\n  ^bb0(%i: ");
  append_type(text, s->element);
  tp__string_append(text, ", %w: ");
  append_type(text, s->element);
  tp__string_append(text, ", %o: ");
  append_type(text, s->element);
  tp__string_printf(text, "):\n    %%v = %s %%i, %%w : ", first);
  append_type(text, s->element);
  if (second) {
    tp__string_printf(text, "\n    %%u = %s %%v : ", second);
    append_type(text, s->element);
  }
  tp__string_printf(text, "\n    linalg.yield %s : ", second ? "%u" : "%v");
  append_type(text, s->element);
  tp__string_append(text, "\n  } -> ");
  append_type(text, s->type);
  tp__string_append(text, "\n");
}

static void write_function(tp__string *text, const softmax *s, const char *name) {
  tp__string_printf(text, "func.func private @%s(%%x: ", name);
  append_type(text, s->type);
  tp__string_append(text, ") -> ");
  append_type(text, s->type);
  tp__string_append(text, " {\n");
  append_reduction(text, s, "max", "x", minus_infinity(s->element), "arith.maxnumf");
  append_pointwise(text, s, "exp", "x", "max", "arith.subf", "math.exp");
  append_reduction(text, s, "sum", "exp", "0.0", "arith.addf");
  append_pointwise(text, s, "quotient", "exp", "sum", "arith.divf", NULL);
  tp__string_append(text, "  return %quotient : ");
  append_type(text, s->type);
  tp__string_append(text, "\n}\n");
}

/* ---- functions and calls ---- */

static bool has_function(MlirBlock block, const char *name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func") && tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), name))
      return true;
  return false;
}

static bool read_softmax(MlirOperation op, softmax *s) {
  int64_t shape[TP_MAX_RANK], reduced[TP_MAX_RANK];
  s->type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  s->dim = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "dimension"));
  if (!tp__static_tensor(s->type, &s->rank, shape))
    return false;
  for (int d = 0, n = 0; d < s->rank; d++)
    if (d != s->dim)
      reduced[n++] = shape[d];
  s->reduced = tp__tensor_like(s->type, s->rank - 1, reduced);
  s->element = tp__element_type(s->type);
  return minus_infinity(s->element) != NULL;
}

static void function_name(const softmax *s, char *name, size_t size) {
  size_t n = (size_t)snprintf(name, size, "tp.softmax.%d.", s->dim);
  for (int d = 0; d < s->rank; d++)
    n += (size_t)snprintf(name + n, size - n, "%lldx", (long long)mlirShapedTypeGetDimSize(s->type, d));
  snprintf(name + n, size - n, "%s%d", mlirTypeIsABF16(s->element) ? "bf" : "f", (int)mlirFloatTypeGetWidth(s->element));
}

static tp_status decompose(tp_pass *pass, MlirOperation op) {
  softmax s;
  char name[512];
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(pass->module, 0));
  if (!read_softmax(op, &s))
    return TP_OK; /* dynamic shapes and other element types are refused by whoever needs a rule */
  function_name(&s, name, sizeof name);
  if (!has_function(block, name)) {
    tp__string text = {0};
    write_function(&text, &s, name);
    MlirOperation func =
        text.failed ? (MlirOperation){NULL} : mlirOperationCreateParse(pass->context, tp__ref(text.text), tp__ref(name));
    tp__free(text.text);
    if (mlirOperationIsNull(func))
      return tp__error(op, TP_NO_MEMORY, "out of memory");
    mlirBlockAppendOwnedOperation(block, func);
  }
  MlirValue operand = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(result);
  MlirNamedAttribute callee = tp__named(pass->context, "callee", mlirFlatSymbolRefAttrGet(pass->context, tp__ref(name)));
  MlirOperation call = tp__create(&(tp_build){.name = "func.call",
                                              .location = mlirOperationGetLocation(op),
                                              .n_operands = 1,
                                              .operands = &operand,
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = 1,
                                              .attributes = &callee});
  tp__insert_before(op, call);
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(call, 0));
  mlirOperationDestroy(op);
  pass->statistics[TP_DECOMPOSED]++;
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  list l = {0};
  tp_status status = tp__walk(pass->module, collect, &l);
  if (status != TP_OK)
    status = tp__error(pass->module, status, "out of memory");
  for (size_t i = 0; i < l.n && status == TP_OK; i++)
    status = decompose(pass, l.ops[i]);
  tp__free(l.ops);
  return status == TP_OK ? tp__walk(pass->module, tp__decompose_slice, pass) : status;
}

static const tp_statistic_row statistics[] = {
    [TP_DECOMPOSED] = {"decomposed", "ops replaced"},
};

const tp_pass_row tp__decompose_row = {
    .name = "tp-decompose",
    .summary = "Replace linalg.softmax by calls of its steps, and slices that upstream's canonicalization mistakes",
    .description =
        "Requires: nothing. Establishes: every linalg.softmax on a static f64, f32, f16 or bf16 tensor is a call of "
        "a private function "
        "of linalg.generic ops, which tp-inline-calls replaces; a tensor.extract_slice at offsets given as values drops the "
        "first dimensions of one element or none, and a second slice drops the others. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
