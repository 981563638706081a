/* From text to ops in the place of an op. */
#include "passes/decompose.h"

#include <string.h>

/* ---- parts ---- */

tp__string *tp__part(tp__parts *parts) { return &parts->list[parts->n++]; }

static void append_piece(MlirStringRef piece, void *data) { tp__string_append_bytes(data, piece.data, piece.length); }

void tp__append_type(tp__string *text, MlirType type) { mlirTypePrint(type, append_piece, text); }

void tp__part_type(tp__parts *parts, MlirType type) { tp__append_type(tp__part(parts), type); }

void tp__part_tensor(tp__parts *parts, MlirType like, int rank, const int64_t *shape) {
  tp__part_type(parts, tp__tensor_like(like, rank, shape));
}

void tp__append_list(tp__string *text, int n, const int64_t *values) {
  tp__string_append(text, "[");
  for (int i = 0; i < n; i++)
    tp__string_printf(text, "%s%lld", i ? ", " : "", (long long)values[i]);
  tp__string_append(text, "]");
}

void tp__append_map(tp__string *text, int rank, int skip) {
  tp__string_append(text, "affine_map<(");
  for (int d = 0; d < rank; d++)
    tp__string_printf(text, "%sd%d", d ? ", " : "", d);
  tp__string_append(text, ") -> (");
  for (int d = 0, n = 0; d < rank; d++)
    if (d != skip)
      tp__string_printf(text, "%sd%d", n++ ? ", " : "", d);
  tp__string_append(text, ")>");
}

void tp__append_iterators(tp__string *text, int rank, int reduction) {
  for (int d = 0; d < rank; d++)
    tp__string_printf(text, "%s\"%s\"", d ? ", " : "", d == reduction ? "reduction" : "parallel");
}

static void expand(tp__string *text, const char *format, const tp__parts *parts) {
  for (const char *at = format; *at;) {
    size_t plain = strcspn(at, "$");
    tp__string_append_bytes(text, at, plain);
    at += plain;
    if (!*at)
      break;
    const tp__string *part = &parts->list[at[1] - 'a'];
    tp__string_append(text, tp__string_text(part));
    text->failed |= part->failed;
    at += 2;
  }
}

/* ---- ops ---- */

MlirOperation tp__decomposition(MlirOperation op, const char *format, tp__parts *parts) {
  tp__string text = {0};
  expand(&text, format, parts);
  MlirOperation func = {NULL};
  if (text.failed)
    (void)tp__error(op, TP_NO_MEMORY, "out of memory");
  else
    func = mlirOperationCreateParse(mlirOperationGetContext(op), tp__ref(text.text), tp__ref("tp-decompose"));
  if (!text.failed && mlirOperationIsNull(func)) /* the parser has said why, of the text */
    (void)tp__error(op, TP_INTERNAL, "could not be written as other ops; please report this");
  tp__string_destroy(&text);
  for (int i = 0; i < parts->n; i++)
    tp__string_destroy(&parts->list[i]);
  return func;
}

static tp_status set_location(MlirOperation op, void *data) {
  mlirOperationSetLocation(op, *(const MlirLocation *)data);
  return TP_OK;
}

/* The layout that was asked for stands on the op that gives the value, or, where a decomposition has none, on a cast to the same type. */
static MlirValue keep_sharding(MlirOperation op, MlirValue value, bool is_new) {
  MlirAttribute sharding = tp__get(op, "tp.sharding");
  if (mlirAttributeIsNull(sharding))
    return value;
  if (!is_new) {
    MlirType type = mlirValueGetType(value);
    MlirOperation cast = tp__create(&(tp_build){.name = "tensor.cast",
                                                .location = mlirOperationGetLocation(op),
                                                .n_operands = 1,
                                                .operands = &value,
                                                .n_results = 1,
                                                .results = &type});
    tp__insert_before(op, cast);
    value = mlirOperationGetResult(cast, 0);
  }
  tp__set(mlirOpResultGetOwner(value), "tp.sharding", sharding);
  return value;
}

void tp__decompose_into(MlirOperation op, MlirOperation func, int n, const MlirValue *values) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirLocation location = mlirOperationGetLocation(op);
  MlirOperation end = mlirBlockGetTerminator(block), next;
  (void)tp__walk(func, set_location, &location); /* the visitor does not fail */
  for (int i = 0; i < n; i++)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, i), values[i]);
  bool moved = false;
  for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationEqual(inner, end); inner = next) {
    next = mlirOperationGetNextInBlock(inner);
    mlirOperationMoveBefore(inner, op);
    moved = true;
  }
  MlirValue result = keep_sharding(op, mlirOperationGetOperand(end, 0), moved);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
  mlirOperationDestroy(op);
  mlirOperationDestroy(func);
}

tp_status tp__decompose_by(MlirOperation op, const char *format, tp__parts *parts, int n, const MlirValue *values) {
  MlirOperation func = tp__decomposition(op, format, parts);
  if (mlirOperationIsNull(func))
    return TP_NO_MEMORY;
  tp__decompose_into(op, func, n, values);
  return TP_OK;
}
