/* Helpers for strings and attributes of the MLIR C API. */
#include "ir/ir.h"

#include "support/support.h"

#include <assert.h>
#include <string.h>

MlirStringRef tp__ref(const char *text) { return mlirStringRefCreateFromCString(text); }

bool tp__ref_is(MlirStringRef a, const char *text) {
  size_t n = strlen(text);
  /* an empty string may have no data */
  return a.length == n && (n == 0 || memcmp(a.data, text, n) == 0);
}

bool tp__ref_copy(MlirStringRef a, char *text, size_t size) {
  if (a.length >= size)
    return false;
  if (a.length > 0) /* an empty string may have no data */
    memcpy(text, a.data, a.length);
  text[a.length] = 0;
  return true;
}

void tp__append_part(MlirStringRef part, void *string) {
  tp__string_append_bytes(string, part.data, part.length);
}

const void *tp__op_row(MlirOperation op, const void *rows, int n, size_t size) {
  MlirStringRef own = tp__op_name(op);
  for (int i = 0; i < n; i++) {
    const char *row = (const char *)rows + (size_t)i * size;
    if (tp__name_is(own, *(const char *const *)row))
      return row;
  }
  return NULL;
}

MlirAttribute tp__parse_attr(MlirContext context, const char *text) {
  MlirAttribute attr = mlirAttributeParseGet(context, tp__ref(text));
  assert(!mlirAttributeIsNull(attr) && "attribute text written by this library does not parse");
  return attr;
}

MlirAttribute tp__attr_string(MlirContext context, const char *text) {
  return mlirStringAttrGet(context, tp__ref(text));
}

MlirAttribute tp__attr_index(MlirContext context, int64_t value) {
  return mlirIntegerAttrGet(mlirIndexTypeGet(context), value);
}

MlirAttribute tp__attr_i64(MlirContext context, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value);
}

MlirAttribute tp__attr_i64s(MlirContext context, int n, const int64_t *values) {
  return mlirDenseI64ArrayGet(context, n, values);
}

MlirNamedAttribute tp__named(MlirContext context, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, tp__ref(name)), value);
}

MlirAttribute tp__inherent(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, tp__ref(name));
}

MlirAttribute tp__property(MlirOperation op, const char *name) {
  MlirAttribute attr = tp__inherent(op, name);
  return mlirAttributeIsNull(attr) ? tp__get(op, name) : attr;
}

int tp__dim_of(MlirOperation op) {
  return (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
}

void tp__set(MlirOperation op, const char *name, MlirAttribute value) {
  mlirOperationSetDiscardableAttributeByName(op, tp__ref(name), value);
}

/* Removes an attribute. The check avoids work: MLIR rebuilds the op's dictionary even if there is
 * nothing to remove. */
void tp__remove(MlirOperation op, const char *name) {
  if (!mlirAttributeIsNull(tp__get(op, name)))
    mlirOperationRemoveDiscardableAttributeByName(op, tp__ref(name));
}

/* Returns one attribute of argument or result `i`. func.func stores these attributes as an array of
 * dictionaries, which may be absent. */
static MlirAttribute list_attr(MlirOperation func, const char *list, int i, const char *name) {
  MlirAttribute attrs = tp__inherent(func, list);
  if (mlirAttributeIsNull(attrs) || !mlirAttributeIsAArray(attrs) ||
      i >= mlirArrayAttrGetNumElements(attrs))
    return (MlirAttribute){NULL};
  return mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(attrs, i), tp__ref(name));
}

/* Returns the dictionary with `name` set to `value`, or removed if `value` is null. Returns the old
 * dictionary if memory runs out. */
static MlirAttribute dictionary_with(MlirContext context, MlirAttribute dictionary,
                                     const char *name, MlirAttribute value) {
  intptr_t n = 0, n_old = mlirDictionaryAttrGetNumElements(dictionary);
  MlirNamedAttribute *entries = tp__calloc((size_t)n_old + 1, sizeof *entries);
  if (!entries)
    return dictionary;
  for (intptr_t i = 0; i < n_old; i++) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(dictionary, i);
    if (!tp__ref_is(mlirIdentifierStr(entry.name), name))
      entries[n++] = entry;
  }
  if (!mlirAttributeIsNull(value))
    entries[n++] = tp__named(context, name, value);
  dictionary = mlirDictionaryAttrGet(context, n, entries);
  tp__free(entries);
  return dictionary;
}

MlirType tp__func_type(MlirOperation func) {
  return mlirTypeAttrGetValue(tp__inherent(func, "function_type"));
}

MlirAffineMap tp__map_at(MlirAttribute maps, intptr_t i) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
}

MlirAttribute tp__arg_attr(MlirOperation func, int i, const char *name) {
  return list_attr(func, "arg_attrs", i, name);
}

MlirAttribute tp__result_attr(MlirOperation func, int i, const char *name) {
  return list_attr(func, "res_attrs", i, name);
}

static const char *list_name(const tp_boundary *boundary) {
  return boundary->is_args ? "arg_attrs" : "res_attrs";
}

tp_status tp__boundary_begin(MlirOperation func, bool is_args, tp_boundary *boundary) {
  MlirType type = tp__func_type(func);
  MlirContext context = mlirOperationGetContext(func);
  intptr_t n = is_args ? mlirFunctionTypeGetNumInputs(type) : mlirFunctionTypeGetNumResults(type);
  *boundary = (tp_boundary){.func = func, .is_args = is_args, .n = (int)n};
  boundary->entries = tp__calloc((size_t)n + 1, sizeof *boundary->entries);
  if (!boundary->entries)
    return TP_NO_MEMORY;
  MlirAttribute old = tp__inherent(func, list_name(boundary));
  bool has_old = !mlirAttributeIsNull(old) && mlirAttributeIsAArray(old) &&
                 mlirArrayAttrGetNumElements(old) == n;
  for (intptr_t i = 0; i < n; i++)
    boundary->entries[i] =
        has_old ? mlirArrayAttrGetElement(old, i) : mlirDictionaryAttrGet(context, 0, NULL);
  return TP_OK;
}

void tp__boundary_set(tp_boundary *boundary, int i, const char *name, MlirAttribute value) {
  boundary->entries[i] =
      dictionary_with(mlirOperationGetContext(boundary->func), boundary->entries[i], name, value);
}

void tp__boundary_end(tp_boundary *boundary) {
  MlirContext context = mlirOperationGetContext(boundary->func);
  if (boundary->n > 0)
    mlirOperationSetInherentAttributeByName(
        boundary->func, tp__ref(list_name(boundary)),
        mlirArrayAttrGet(context, boundary->n, boundary->entries));
  tp__free(boundary->entries);
  *boundary = (tp_boundary){0};
}

int tp__int_list(MlirAttribute attr, int max, int64_t *values) {
  if (mlirAttributeIsNull(attr))
    return -1;
  bool is_array = mlirAttributeIsAArray(attr);
  bool is_64 = mlirAttributeIsADenseI64Array(attr), is_32 = mlirAttributeIsADenseI32Array(attr);
  bool is_16 = mlirAttributeIsADenseI16Array(attr);
  if (!is_array && !is_64 && !is_32 && !is_16)
    return -1;
  intptr_t n = is_array ? mlirArrayAttrGetNumElements(attr) : mlirDenseArrayGetNumElements(attr);
  if (n > max)
    return -1;
  for (intptr_t i = 0; i < n; i++) {
    if (is_array) {
      MlirAttribute element = mlirArrayAttrGetElement(attr, i);
      if (!mlirAttributeIsAInteger(element))
        return -1;
      values[i] = mlirIntegerAttrGetValueInt(element);
    } else {
      values[i] = is_64   ? mlirDenseI64ArrayGetElement(attr, i)
                  : is_32 ? mlirDenseI32ArrayGetElement(attr, i)
                          : mlirDenseI16ArrayGetElement(attr, i);
    }
  }
  return (int)n;
}

int tp__attr_which(MlirAttribute attr, int n, const char *const *names) {
  bool is_text = !mlirAttributeIsNull(attr) && mlirAttributeIsAString(attr);
  for (int i = 0; i < n && is_text; i++)
    if (tp__ref_is(mlirStringAttrGetValue(attr), names[i]))
      return i;
  return -1;
}
