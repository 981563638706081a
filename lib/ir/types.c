/* Queries and checks of tensor types. */
#include "ir/diagnostics.h"
#include "ir/ir.h"

#include <string.h>

bool tp__is_tensor(MlirType type) {
  return mlirTypeIsARankedTensor(type) || mlirTypeIsAUnrankedTensor(type);
}

typedef enum tensor_kind {
  TENSOR_STATIC,
  TENSOR_DYNAMIC, /* or no ranked tensor */
  TENSOR_HIGH_RANK,
  TENSOR_TOO_LARGE
} tensor_kind;

/* Reads the rank and the shape. A size of 0 counts as 1 in the product, because partial products
 * computed elsewhere must not overflow either. */
static tensor_kind read_tensor(MlirType type, int *rank, int64_t *shape) {
  const int64_t *sizes;
  int64_t elements = 1;
  int n = tp__tensor_sizes(type, &sizes);
  if (n < 0)
    return TENSOR_DYNAMIC;
  if (n > TP_MAX_RANK)
    return TENSOR_HIGH_RANK;
  for (int d = 0; d < n; d++) {
    if (sizes[d] < 0) /* dynamic */
      return TENSOR_DYNAMIC;
    shape[d] = sizes[d];
    if (__builtin_mul_overflow(elements, sizes[d] ? sizes[d] : 1, &elements))
      elements = INT64_MAX;
  }
  *rank = n;
  return elements <= TP_MAX_ELEMENTS ? TENSOR_STATIC : TENSOR_TOO_LARGE;
}

bool tp__static_tensor(MlirType type, int *rank, int64_t *shape) {
  return read_tensor(type, rank, shape) == TENSOR_STATIC;
}

MlirType tp__result_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetResult(op, 0));
}

MlirType tp__element_type(MlirType shaped) { return mlirShapedTypeGetElementType(shaped); }

bool tp__is_bool(MlirType type) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
}

MlirType tp__number_type(MlirType type) {
  return mlirTypeIsAShaped(type) ? tp__element_type(type) : type;
}

int tp__value_rank(MlirValue value) { return (int)mlirShapedTypeGetRank(mlirValueGetType(value)); }

int64_t tp__value_size(MlirValue value, int dim) {
  return mlirShapedTypeGetDimSize(mlirValueGetType(value), dim);
}

MlirType tp__tensor_like(MlirType type, int rank, const int64_t *shape) {
  return mlirRankedTensorTypeGet(rank, shape, tp__element_type(type),
                                 mlirRankedTensorTypeGetEncoding(type));
}

static int64_t integer_size(unsigned width) {
  static const unsigned widths[] = {1, 8, 16, 32, 64};
  for (int i = 0; i < TP_LEN(widths); i++)
    if (width == widths[i])
      return (width + 7) / 8;
  return 0;
}

bool tp__is_f8(MlirType type) {
  return mlirTypeIsAFloat8E4M3FN(type) || mlirTypeIsAFloat8E5M2(type);
}

int64_t tp__element_size(MlirType element) {
  if (mlirTypeIsAInteger(element))
    return integer_size(mlirIntegerTypeGetWidth(element));
  if (tp__is_f8(element))
    return 1;
  if (mlirTypeIsAF16(element) || mlirTypeIsABF16(element))
    return 2;
  if (mlirTypeIsAF32(element))
    return 4;
  if (mlirTypeIsAF64(element) || mlirTypeIsAIndex(element))
    return 8;
  if (mlirTypeIsAComplex(element)) {
    MlirType part = mlirComplexTypeGetElementType(element);
    return mlirTypeIsAF32(part) || mlirTypeIsAF64(part) ? 2 * tp__element_size(part) : 0;
  }
  return 0;
}

typedef struct type_text {
  char *text;
  size_t n, size;
} type_text;

static void append_part(MlirStringRef part, void *data) {
  type_text *to = data;
  size_t n = part.length < to->size - 1 - to->n ? part.length : to->size - 1 - to->n;
  memcpy(to->text + to->n, part.data, n);
  to->n += n;
}

void tp__type_text(MlirType type, size_t size, char *text) {
  type_text to = {.text = text, .size = size};
  mlirTypePrint(type, append_part, &to);
  text[to.n] = 0;
}

tp_status tp__check_dense(MlirOperation op, const char *what, int i, MlirType type) {
  char text[128];
  if (!mlirTypeIsARankedTensor(type) || mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return TP_OK;
  tp__type_text(type, sizeof text, text);
  return tp__error(op, TP_UNSUPPORTED,
                   "%s %d is %s, a tensor with an encoding; use a dense tensor without an encoding",
                   what, i, text);
}

/* Emits the error of a tensor whose shape is not supported. */
static tp_status refuse_shape(MlirOperation op, const char *what, int i, MlirType type,
                              tensor_kind kind) {
  char text[128];
  tp__type_text(type, sizeof text, text);
  if (kind == TENSOR_TOO_LARGE)
    return tp__error(op, TP_UNSUPPORTED, "%s %d is %s; a tensor may have at most 2^50 elements",
                     what, i, text);
  if (kind == TENSOR_HIGH_RANK)
    return tp__error(op, TP_UNSUPPORTED,
                     "%s %d is %s, of rank %d; tensors may have at most %d dimensions, so collapse "
                     "some of them",
                     what, i, text, (int)mlirShapedTypeGetRank(type), TP_MAX_RANK);
  return tp__error(op, TP_UNSUPPORTED,
                   "%s %d is a tensor without static shape, %s; make all shapes static before "
                   "sharding",
                   what, i, text);
}

/* What to convert unsupported elements to. Types of a few bits are types of weights: they can be
 * stored wider, in front of the program. */
static const char *wider_type(MlirType element) {
  bool is_integer = mlirTypeIsAInteger(element);
  if (is_integer && mlirIntegerTypeGetWidth(element) < 8)
    return mlirIntegerTypeIsUnsigned(element)
               ? " to ui8 (jnp.uint8) where it comes from, and make it an argument of that type"
               : " to i8 (jnp.int8) where it comes from, and make it an argument of that type";
  return mlirTypeIsAFloat(element) && mlirFloatTypeGetWidth(element) <= 8
             ? " to bf16, which has all their numbers"
             : "";
}

tp_status tp__check_tensor(MlirOperation op, const char *what, int i, MlirType type) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tensor_kind kind = read_tensor(type, &rank, shape);
  if (kind == TENSOR_TOO_LARGE || kind == TENSOR_HIGH_RANK || kind == TENSOR_DYNAMIC)
    return refuse_shape(op, what, i, type, kind);
  if (tp__element_size(tp__element_type(type)) == 0) {
    char text[128];
    tp__type_text(tp__element_type(type), sizeof text, text);
    return tp__error(op, TP_UNSUPPORTED,
                     "%s %d has elements of type %s; tensors may have " TP_ELEMENT_TYPES
                     "; convert it%s",
                     what, i, text, wider_type(tp__element_type(type)));
  }
  return tp__check_dense(op, what, i, type);
}
