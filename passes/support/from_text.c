/* Builds ops from text. */
#include "passes/support/from_text.h"

#include "ir/diagnostics.h"

void tp__append_type(tp__string *text, MlirType type) {
  mlirTypePrint(type, tp__append_part, text);
}

void tp__append_typed(tp__string *text, const char *before, MlirType type, const char *after) {
  tp__string_append(text, before);
  tp__append_type(text, type);
  tp__string_append(text, after);
}

void tp__append_list(tp__string *text, int n, const int64_t *values) {
  tp__string_append(text, "[");
  for (int i = 0; i < n; i++)
    tp__string_printf(text, "%s%lld", i ? ", " : "", (long long)values[i]);
  tp__string_append(text, "]");
}

const char *tp__minus_infinity(MlirType element) {
  return mlirTypeIsAF64(element)    ? "0xFFF0000000000000"
         : mlirTypeIsAF32(element)  ? "0xFF800000"
         : mlirTypeIsAF16(element)  ? "0xFC00"
         : mlirTypeIsABF16(element) ? "0xFF80"
                                    : NULL;
}

MlirOperation tp__parse_function(MlirOperation at, tp__string *text) {
  MlirOperation func = {NULL};
  bool has_all = !text->failed && !tp__alloc_failed(); /* parts come from other strings */
  if (has_all)
    func = mlirOperationCreateParse(mlirOperationGetContext(at), tp__ref(text->text),
                                    tp__ref("tpshard"));
  else
    (void)tp__out_of_memory(at);
  /* the parser has already reported the error in the text */
  if (has_all && mlirOperationIsNull(func))
    (void)tp__error(at, TP_INTERNAL, "could not be written as other ops; please report this");
  tp__string_destroy(text);
  return func;
}

static tp_status set_location(MlirOperation op, void *data) {
  mlirOperationSetLocation(op, *(const MlirLocation *)data);
  return TP_OK;
}

void tp__inline_results(MlirOperation where, MlirOperation func, int n, const MlirValue *values,
                        int n_results, MlirValue *results) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirLocation location = mlirOperationGetLocation(where);
  MlirOperation end = mlirBlockGetTerminator(block), next;
  (void)tp__walk(func, set_location, &location); /* the visitor cannot fail */
  for (int i = 0; i < n; i++)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, i), values[i]);
  for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationEqual(inner, end);
       inner = next) {
    next = mlirOperationGetNextInBlock(inner);
    mlirOperationMoveBefore(inner, where);
  }
  for (int i = 0; i < n_results; i++)
    results[i] = mlirOperationGetOperand(end, i);
  mlirOperationDestroy(func);
}

MlirValue tp__inline_text(MlirOperation where, MlirOperation func, int n, const MlirValue *values,
                          bool *made) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirValue result;
  *made = !mlirOperationEqual(mlirBlockGetFirstOperation(block), mlirBlockGetTerminator(block));
  tp__inline_results(where, func, n, values, 1, &result);
  return result;
}
