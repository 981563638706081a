/* Types, attributes, element indices and cells of the evaluator. */
#include "reference/evaluator.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* ---- types and attributes ---- */

static void keep_text(MlirStringRef part, void *data) {
  char *text = data;
  size_t used = strlen(text), n = part.length < 31 - used ? part.length : 31 - used;
  memcpy(text + used, part.data, n);
  text[used + n] = 0;
}

const kind *tp__kind_of(const evaluation *r, MlirType type) {
  char text[32] = "";
  mlirTypePrint(mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type, keep_text,
                text);
  int noise = r->options.with_noise;
  precision wanted = noise > 0                   ? (precision)(PRECISION_NOISY + noise - 1)
                     : r->options.without_bounds ? PRECISION_EXACT
                                                 : PRECISION_BOUNDS;
  return tp__kind_find(text, wanted);
}

tensor *tp__tensor_of(evaluation *r, MlirOperation op, MlirType type) {
  int64_t shape[TP__EVAL_MAX_RANK];
  const kind *k = tp__kind_of(r, type);
  if (!k || !mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
      mlirShapedTypeGetRank(type) > TP__EVAL_MAX_RANK) {
    tp__eval_unsupported(r, op,
                         "has a value that is not a static tensor of a supported element type");
    return NULL;
  }
  int rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < rank; d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  return tp__eval_tensor(r, k, rank, shape);
}

tensor *tp__tensor_copy(evaluation *r, const tensor *t) {
  tensor *made = tp__eval_tensor(r, t->kind, t->rank, t->shape);
  memcpy(made->numbers, t->numbers, (size_t)(t->n * t->kind->parts) * sizeof *t->numbers);
  return made;
}

bool tp__numbers_of(const kind *k, MlirAttribute attribute, number *numbers) {
  if (mlirAttributeIsAArray(attribute)) {
    bool ok = mlirArrayAttrGetNumElements(attribute) == k->parts;
    for (int i = 0; ok && i < k->parts; i++)
      numbers[i] = tp__real(k, mlirFloatAttrGetValueDouble(mlirArrayAttrGetElement(attribute, i)));
    return ok;
  }
  if (mlirAttributeIsAFloat(attribute))
    *numbers = tp__real(k, mlirFloatAttrGetValueDouble(attribute));
  else if (mlirAttributeIsAInteger(attribute))
    *numbers = tp__whole(k, mlirIntegerAttrGetValueInt(attribute));
  else
    return false;
  return true;
}

MlirAttribute tp__eval_attribute(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, mlirStringRefCreateFromCString(name));
}

int tp__eval_integers(MlirOperation op, const char *name, int most, int64_t *list) {
  MlirAttribute attribute = tp__eval_attribute(op, name);
  int n = mlirAttributeIsNull(attribute) ? 0 : (int)mlirDenseArrayGetNumElements(attribute);
  for (int i = 0; i < n && i < most; i++)
    list[i] = mlirDenseI64ArrayGetElement(attribute, i);
  return n;
}

/* ---- indices and cells ---- */

bool tp__next_index(int rank, const int64_t *shape, int64_t *at) {
  for (int d = rank - 1; d >= 0; d--) {
    if (++at[d] < shape[d])
      return true;
    at[d] = 0;
  }
  return false;
}

int64_t tp__linear_index(const tensor *t, const int64_t *at) {
  int64_t place = 0;
  for (int d = 0; d < t->rank; d++) {
    if (at[d] < 0 || at[d] >= t->shape[d])
      return -1;
    place = place * t->shape[d] + at[d];
  }
  return place;
}

void tp__cell_get(const tensor *t, int64_t i, cell *c) {
  c->tensor = NULL;
  for (int p = 0; p < t->kind->parts; p++)
    c->scalar[p] = t->numbers[i * t->kind->parts + p];
}

void tp__cell_put(tensor *t, int64_t i, const cell *c) {
  for (int p = 0; p < t->kind->parts; p++)
    t->numbers[i * t->kind->parts + p] = c->scalar[p];
}

bool tp__integer_in(evaluation *r, const node *n, const cell *c, int64_t *value) {
  *value = c->scalar->integer;
  return is_certain(c->scalar) || tp__eval_fail(r, n->op, "its effect depends on rounding");
}
