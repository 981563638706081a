/* Builds the text of a decomposition and replaces an op by its parsed form. */
#include "passes/prepare/decompose/decompose.h"

#include <string.h>

/* ---- parts ---- */

tp__string *tp__part(tp__parts *parts) { return &parts->list[parts->n++]; }

void tp__part_type(tp__parts *parts, MlirType type) { tp__append_type(tp__part(parts), type); }

void tp__part_tensor(tp__parts *parts, MlirType like, int rank, const int64_t *shape) {
  tp__part_type(parts, tp__tensor_like(like, rank, shape));
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
  MlirOperation func = tp__parse_function(op, &text);
  for (int i = 0; i < parts->n; i++)
    tp__string_destroy(&parts->list[i]);
  return func;
}

/* Keeps the op's tp.sharding annotation on the new value. If the decomposition has no op of its
 * own, the annotation goes on a cast to the same type. */
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
  bool made;
  MlirValue result = tp__inline_text(op, func, n, values, &made);
  result = keep_sharding(op, result, made);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
  mlirOperationDestroy(op);
}

tp_status tp__decompose_by(MlirOperation op, const char *format, tp__parts *parts, int n,
                           const MlirValue *values) {
  MlirOperation func = tp__decomposition(op, format, parts);
  if (mlirOperationIsNull(func))
    return TP_NO_MEMORY;
  tp__decompose_into(op, func, n, values);
  return TP_OK;
}
