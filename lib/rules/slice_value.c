/* Reads slice ops into a struct, and writes them back. */
#include "rules/slice.h"

/* ---- reading ---- */

static bool read_mixed(MlirOperation op, const char *name, int rank, int *operand,
                       tp_mixed *numbers) {
  int64_t list[TP_MAX_RANK];
  if (tp__int_list(tp__inherent(op, name), TP_MAX_RANK, list) != rank)
    return false;
  for (int d = 0; d < rank; d++) {
    numbers[d] = (tp_mixed){.fixed = list[d]};
    if (list[d] == mlirShapedTypeGetDynamicStrideOrOffset())
      numbers[d].value = mlirOperationGetOperand(op, (*operand)++);
  }
  return true;
}

/* Maps dimensions of the large tensor to those of the small one. The slice may drop dimensions of
 * size 1 (rank reduction). Drops them as late as possible, as MLIR does for repeated sizes of 1.
 * These dimensions are never sharded, so the choice does not matter. */
static bool match_dims(tp_slice *s, const tp_value_map *small) {
  int k = 0;
  for (int d = 0; d < s->rank; d++) {
    int left = s->rank - d, need = small->rank - k;
    bool take = k < small->rank && small->shape[k] == s->sizes[d] &&
                (s->sizes[d] != 1 || left == need || small->shape[k] == 1);
    s->small_dim[d] = take ? k++ : -1;
    if (!take && s->sizes[d] != 1)
      return false;
  }
  return k == small->rank;
}

bool tp__slice_read(MlirOperation op, const tp_value_map *small, tp_slice *s) {
  s->is_insert = tp__op_is(op, "tensor.insert_slice");
  s->rank = tp__int_list(tp__inherent(op, "static_sizes"), TP_MAX_RANK, s->sizes);
  int operand = s->is_insert ? 2 : 1;
  for (int d = 0; d < s->rank; d++)
    if (s->sizes[d] < 0)
      return false;
  return s->rank >= 0 && read_mixed(op, "static_offsets", s->rank, &operand, s->offsets) &&
         read_mixed(op, "static_strides", s->rank, &operand, s->strides) && match_dims(s, small);
}

bool tp__mixed_is(tp_mixed number, int64_t value) {
  return mlirValueIsNull(number.value) && number.fixed == value;
}

bool tp__slice_is_whole(const tp_slice *s, int d, int64_t size) {
  return tp__mixed_is(s->offsets[d], 0) && tp__mixed_is(s->strides[d], 1) && s->sizes[d] == size &&
         s->small_dim[d] >= 0;
}

MlirValue tp__mixed_value(MlirOperation where, tp_mixed number) {
  return mlirValueIsNull(number.value) ? tp__index_constant(where, number.fixed) : number.value;
}

/* ---- writing ---- */

/* The operands and attributes of a slice op. */
typedef struct parts {
  int n_operands;
  MlirValue operands[2 + 2 * TP_MAX_RANK];
  int n_attributes;
  MlirNamedAttribute attributes[4];
} parts;

static int32_t add_mixed(MlirContext context, const char *name, int rank, const tp_mixed *numbers,
                         parts *p) {
  int64_t list[TP_MAX_RANK];
  int before = p->n_operands;
  for (int d = 0; d < rank; d++) {
    bool fixed = mlirValueIsNull(numbers[d].value);
    list[d] = fixed ? numbers[d].fixed : mlirShapedTypeGetDynamicStrideOrOffset();
    if (!fixed)
      p->operands[p->n_operands++] = numbers[d].value;
  }
  p->attributes[p->n_attributes++] = tp__named(context, name, tp__attr_i64s(context, rank, list));
  return p->n_operands - before;
}

static parts parts_of(MlirContext context, const tp_slice *s, int n, const MlirValue *tensors) {
  parts p = {.n_operands = n};
  for (int i = 0; i < n; i++)
    p.operands[i] = tensors[i];
  int32_t offsets = add_mixed(context, "static_offsets", s->rank, s->offsets, &p);
  int32_t strides = add_mixed(context, "static_strides", s->rank, s->strides, &p);
  p.attributes[p.n_attributes++] =
      tp__named(context, "static_sizes", tp__attr_i64s(context, s->rank, s->sizes));
  int32_t segments[] = {1, 1, offsets, 0, strides};
  int skip = 2 - n; /* an extract has one tensor */
  p.attributes[p.n_attributes++] = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 5 - skip, segments + skip));
  return p;
}

void tp__slice_write(MlirOperation op, const tp_slice *s, const MlirValue *tensors) {
  parts p = parts_of(mlirOperationGetContext(op), s, s->is_insert ? 2 : 1, tensors);
  mlirOperationSetOperands(op, p.n_operands, p.operands);
  for (int i = 0; i < p.n_attributes; i++)
    mlirOperationSetInherentAttributeByName(op, mlirIdentifierStr(p.attributes[i].name),
                                            p.attributes[i].attribute);
}

static MlirValue build(MlirOperation where, const char *name, const tp_slice *s, int n,
                       const MlirValue *tensors, MlirType type) {
  parts p = parts_of(mlirOperationGetContext(where), s, n, tensors);
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = p.n_operands,
                                            .operands = p.operands,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = p.n_attributes,
                                            .attributes = p.attributes});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__slice_take(MlirOperation where, const tp_slice *s, MlirValue large) {
  MlirType type = tp__tensor_like(mlirValueGetType(large), s->rank, s->sizes);
  return build(where, "tensor.extract_slice", s, 1, &large, type);
}

MlirValue tp__slice_put(MlirOperation where, const tp_slice *s, MlirValue small, MlirValue large) {
  return build(where, "tensor.insert_slice", s, 2, (MlirValue[]){small, large},
               mlirValueGetType(large));
}
