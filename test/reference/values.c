/* Memory, types, attributes and places of the evaluator. */
#include "machine.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct memory {
  struct memory *next;
};

void *reference_allocate(reference *r, size_t size) {
  struct memory *m = calloc(1, sizeof *m + size + 8);
  if (!m)
    abort(); /* a test without memory has nothing to say */
  m->next = r->memory;
  r->memory = m;
  return m + 1;
}

reference *reference_create(MlirModule module, size_t why_size, char *why) {
  reference *r = calloc(1, sizeof *r);
  if (!r)
    abort();
  *r = (reference){.module = module, .why = why, .why_size = why_size};
  why[0] = 0;
  return r;
}

void reference_destroy(reference *r) {
  while (r->memory) {
    struct memory *next = r->memory->next;
    free(r->memory);
    r->memory = next;
  }
  free(r);
}

bool fail(reference *r, MlirOperation op, const char *format, ...) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  int n = snprintf(r->why, r->why_size, "%.*s: ", (int)name.length, name.data);
  va_list args;
  va_start(args, format);
  vsnprintf(r->why + n, r->why_size - (size_t)n, format, args);
  va_end(args);
  return false;
}

bool lack(reference *r, MlirOperation op, const char *what) {
  r->lacks = true;
  return fail(r, op, "%s", what);
}

bool reference_lacks(const reference *r) { return r->lacks; }

/* ---- types and attributes ---- */

static void keep_text(MlirStringRef part, void *data) {
  char *text = data;
  size_t used = strlen(text), n = part.length < 31 - used ? part.length : 31 - used;
  memcpy(text + used, part.data, n);
  text[used + n] = 0;
}

const kind *kind_of(MlirType type) {
  char text[32] = "";
  mlirTypePrint(mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type, keep_text, text);
  return kind_find(text);
}

tensor *reference_tensor(reference *r, const kind *k, int rank, const int64_t *shape) {
  tensor *t = reference_allocate(r, sizeof *t);
  t->kind = k, t->rank = rank, t->n = 1;
  for (int d = 0; d < rank; d++)
    t->n *= t->shape[d] = shape[d];
  t->numbers = reference_allocate(r, (size_t)(t->n * k->parts) * sizeof *t->numbers);
  return t;
}

tensor *tensor_of(reference *r, MlirOperation op, MlirType type) {
  int64_t shape[REFERENCE_MAX_RANK];
  const kind *k = kind_of(type);
  if (!k || !mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
      mlirShapedTypeGetRank(type) > REFERENCE_MAX_RANK) {
    lack(r, op, "not a static tensor of numbers");
    return NULL;
  }
  int rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < rank; d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  return reference_tensor(r, k, rank, shape);
}

tensor *tensor_copy(reference *r, const tensor *t) {
  tensor *made = reference_tensor(r, t->kind, t->rank, t->shape);
  memcpy(made->numbers, t->numbers, (size_t)(t->n * t->kind->parts) * sizeof *t->numbers);
  return made;
}

bool numbers_of(const kind *k, MlirAttribute attribute, number *numbers) {
  if (mlirAttributeIsAArray(attribute)) {
    bool ok = mlirArrayAttrGetNumElements(attribute) == k->parts;
    for (int i = 0; ok && i < k->parts; i++)
      numbers[i] = real(k, mlirFloatAttrGetValueDouble(mlirArrayAttrGetElement(attribute, i)));
    return ok;
  }
  if (mlirAttributeIsAFloat(attribute))
    *numbers = real(k, mlirFloatAttrGetValueDouble(attribute));
  else if (mlirAttributeIsAInteger(attribute))
    *numbers = whole(k, mlirIntegerAttrGetValueInt(attribute));
  else
    return false;
  return true;
}

MlirAttribute attribute_of(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, mlirStringRefCreateFromCString(name));
}

int integers_of(MlirOperation op, const char *name, int most, int64_t *list) {
  MlirAttribute attribute = attribute_of(op, name);
  int n = mlirAttributeIsNull(attribute) ? 0 : (int)mlirDenseArrayGetNumElements(attribute);
  for (int i = 0; i < n && i < most; i++)
    list[i] = mlirDenseI64ArrayGetElement(attribute, i);
  return n;
}

/* ---- places ---- */

bool next_place(int rank, const int64_t *shape, int64_t *at) {
  for (int d = rank - 1; d >= 0; d--) {
    if (++at[d] < shape[d])
      return true;
    at[d] = 0;
  }
  return false;
}

int64_t place_in(const tensor *t, const int64_t *at) {
  int64_t place = 0;
  for (int d = 0; d < t->rank; d++) {
    if (at[d] < 0 || at[d] >= t->shape[d])
      return -1;
    place = place * t->shape[d] + at[d];
  }
  return place;
}

void cell_get(const tensor *t, int64_t i, cell *c) {
  c->tensor = NULL;
  for (int p = 0; p < t->kind->parts; p++)
    c->scalar[p] = t->numbers[i * t->kind->parts + p];
}

void cell_put(tensor *t, int64_t i, const cell *c) {
  for (int p = 0; p < t->kind->parts; p++)
    t->numbers[i * t->kind->parts + p] = c->scalar[p];
}

bool integer_in(reference *r, const node *n, const cell *c, int64_t *value) {
  *value = c->scalar->integer;
  return is_certain(c->scalar) || fail(r, n->op, "what it does depends on rounding");
}
