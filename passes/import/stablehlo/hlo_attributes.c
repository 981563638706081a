/* Reads attributes of StableHLO ops. MLIR provides those of an unknown dialect as text. */
#include "passes/import/stablehlo/hlo.h"

#include <stdio.h>

/* ---- builtin attributes ---- */

static tp_status wrong(MlirOperation op, const char *name, const char *wanted) {
  return tp__error(op, TP_INVALID_ARGUMENT, "attribute '%s' is not %s", name, wanted);
}

/* Reads array<i64: ...>, array<i1: ...>, or a dense constant of integers. -1 if it is none of them
 * or too long. */
static int read_ints(MlirAttribute attr, int max, int64_t *values) {
  if (mlirAttributeIsADenseBoolArray(attr)) {
    intptr_t n = mlirDenseArrayGetNumElements(attr);
    for (intptr_t i = 0; i < n && n <= max; i++)
      values[i] = mlirDenseBoolArrayGetElement(attr, i);
    return n <= max ? (int)n : -1;
  }
  if (!mlirAttributeIsADenseElements(attr))
    return tp__int_list(attr, max, values);
  MlirType element = mlirShapedTypeGetElementType(mlirAttributeGetType(attr));
  int64_t n = mlirElementsAttrGetNumElements(attr);
  if (n > max || !mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) != 64)
    return -1;
  for (int64_t i = 0; i < n; i++)
    values[i] = mlirDenseElementsAttrGetInt64Value(attr, i);
  return (int)n;
}

tp_status tp__hlo_int_list(MlirOperation op, const char *name, int max, int *n, int64_t *values) {
  MlirAttribute attr = tp__property(op, name);
  char wanted[64];
  *n = 0;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  *n = read_ints(attr, max, values);
  if (*n >= 0)
    return TP_OK;
  snprintf(wanted, sizeof wanted, "a list of at most %d integers", max);
  *n = 0;
  return wrong(op, name, wanted);
}

tp_status tp__hlo_ints(MlirOperation op, const char *name, int n, int64_t missing,
                       int64_t *values) {
  int given;
  char wanted[64];
  if (mlirAttributeIsNull(tp__property(op, name))) {
    for (int i = 0; i < n; i++)
      values[i] = missing;
    return TP_OK;
  }
  int64_t read[2 * TP_MAX_RANK];
  TP_TRY(tp__hlo_int_list(op, name, TP_LEN(read), &given, read));
  snprintf(wanted, sizeof wanted, "a list of %d integers", n);
  if (given != n)
    return wrong(op, name, wanted);
  memcpy(values, read, (size_t)n * sizeof *values);
  return TP_OK;
}

tp_status tp__hlo_int(MlirOperation op, const char *name, int64_t missing, int64_t *value) {
  MlirAttribute attr = tp__property(op, name);
  *value = missing;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  if (!mlirAttributeIsAInteger(attr))
    return wrong(op, name, "an integer");
  *value = mlirIntegerAttrGetValueInt(attr);
  return TP_OK;
}

static tp_status check_dims(MlirOperation op, const char *name, int rank, int n,
                            const int64_t *dims) {
  uint32_t seen = 0;
  for (int i = 0; i < n; i++) {
    if (dims[i] < 0 || dims[i] >= rank || (seen >> dims[i] & 1))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "attribute '%s' names dimension %lld, which %s of a tensor of rank %d", name,
                       (long long)dims[i],
                       dims[i] < 0 || dims[i] >= rank ? "is none" : "is named twice", rank);
    seen |= UINT32_C(1) << dims[i];
  }
  return TP_OK;
}

tp_status tp__hlo_dims(MlirOperation op, const char *name, int rank, int *n, int64_t *dims) {
  TP_TRY(tp__hlo_int_list(op, name, TP_MAX_RANK, n, dims));
  return check_dims(op, name, rank, *n, dims);
}

/* ---- attributes of the dialect ---- */

MlirStringRef tp__hlo_text(MlirOperation op, const char *name) {
  MlirAttribute attr = tp__property(op, name);
  return !mlirAttributeIsNull(attr) && mlirAttributeIsAOpaque(attr) ? mlirOpaqueAttrGetData(attr)
                                                                    : mlirStringRefCreate("", 0);
}

/* Where the text behind `key` starts, e.g. that behind "comparison_direction" in
 * "<comparison_direction LT>"; -1 if there is none. A key is a whole word. */
static int64_t behind(MlirStringRef text, const char *key) {
  size_t n = strlen(key);
  for (size_t i = 0; i + n <= text.length; i++) {
    bool starts = i == 0 || strchr("<, (", text.data[i - 1]) != NULL;
    bool ends = i + n == text.length || strchr(" =>", text.data[i + n]) != NULL;
    if (starts && ends && memcmp(text.data + i, key, n) == 0)
      return (int64_t)(i + n);
  }
  return -1;
}

static size_t skip(MlirStringRef text, size_t at, const char *set) {
  while (at < text.length && strchr(set, text.data[at]) != NULL)
    at++;
  return at;
}

tp_status tp__hlo_keyword(MlirOperation op, const char *name, size_t size, char *text) {
  MlirAttribute attr = tp__property(op, name);
  text[0] = 0;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  MlirStringRef all = tp__hlo_text(op, name);
  size_t end = all.length, first;
  while (end > 0 && strchr("> ", all.data[end - 1]) != NULL)
    end--;
  for (first = end; first > 0 && strchr("< ", all.data[first - 1]) == NULL; first--)
    ;
  if (first == end || end - first >= size)
    return wrong(op, name, "a #stablehlo<...> of one keyword");
  memcpy(text, all.data + first, end - first);
  text[end - first] = 0;
  return TP_OK;
}

/* Reads a number; moves *at behind it. */
static bool read_number(MlirStringRef text, size_t *at, int64_t *value) {
  size_t first = *at = skip(text, *at, " ");
  bool negative = *at < text.length && text.data[*at] == '-';
  *at += negative;
  *value = 0;
  for (; *at < text.length && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at)
    if (__builtin_mul_overflow(*value, 10, value) ||
        __builtin_add_overflow(*value, text.data[*at] - '0', value))
      return false;
  if (negative)
    *value = -*value;
  return *at > first + negative;
}

tp_status tp__hlo_field_list(MlirOperation op, const char *name, const char *field, int max, int *n,
                             int64_t *values) {
  MlirStringRef text = tp__hlo_text(op, name);
  int64_t found = behind(text, field);
  char wanted[96];
  *n = 0;
  if (text.length == 0)
    return wrong(op, name, "there, or not one of StableHLO");
  if (found < 0)
    return TP_OK;
  size_t at = skip(text, (size_t)found, " =");
  bool ok = at < text.length && text.data[at] == '[';
  at = skip(text, at + ok, " ");
  while (ok && at < text.length && text.data[at] != ']') {
    ok = *n < max && read_number(text, &at, &values[*n]);
    *n += ok;
    at = skip(text, at, ok ? " ," : "");
  }
  snprintf(wanted, sizeof wanted, "right: %s must be a list of at most %d integers", field, max);
  return ok && at < text.length ? TP_OK : wrong(op, name, wanted);
}

tp_status tp__hlo_field_int(MlirOperation op, const char *name, const char *field, int64_t missing,
                            int64_t *value) {
  MlirStringRef text = tp__hlo_text(op, name);
  int64_t found = behind(text, field);
  char wanted[96];
  *value = missing;
  if (found < 0)
    return TP_OK;
  size_t at = skip(text, (size_t)found, " =");
  snprintf(wanted, sizeof wanted, "right: %s must be an integer", field);
  return read_number(text, &at, value) ? TP_OK : wrong(op, name, wanted);
}

/* ---- lists of dimensions ---- */

bool tp__hlo_has(int n, const int64_t *list, int64_t value) {
  for (int i = 0; i < n; i++)
    if (list[i] == value)
      return true;
  return false;
}

bool tp__hlo_in_range(int n, const int64_t *list, int rank) {
  for (int i = 0; i < n; i++)
    if (list[i] < 0 || list[i] >= rank || tp__hlo_has(i, list, list[i]))
      return false;
  return true;
}
