/* Contractions: dot_general, and the sums of products that convolutions share with it. */
#include "passes/import/stablehlo/hlo_contraction.h"

#include "passes/import/stablehlo/hlo_elementwise.h"

/* ---- dot_general ---- */

typedef struct dot {
  int n_batch, n_contracted;
  int64_t batch[2][TP_MAX_RANK], contracted[2][TP_MAX_RANK];
  tp_hlo_shape shapes[2], result;
  int loops[2][TP_MAX_RANK]; /* of each dimension of an operand */
  int n_loops;
} dot;

static tp_status check_side(MlirOperation op, int side, int n, const int64_t *dims, uint32_t *seen,
                            int rank) {
  for (int i = 0; i < n; i++) {
    if (dims[i] < 0 || dims[i] >= rank || (*seen >> dims[i] & 1))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "the dimension numbers name dimension %lld of operand %d, which does not "
                       "exist or is named twice",
                       (long long)dims[i], side);
    *seen |= UINT32_C(1) << dims[i];
  }
  return TP_OK;
}

static tp_status read_dot(MlirOperation op, const char *name, dot *d) {
  static const char *const fields[2][2] = {
      {"lhs_batching_dimensions", "rhs_batching_dimensions"},
      {"lhs_contracting_dimensions", "rhs_contracting_dimensions"}};
  int n_batch[2], n_contracted[2];
  for (int s = 0; s < 2; s++) {
    uint32_t seen = 0;
    d->shapes[s] = tp__hlo_shape(tp__hlo_operand_type(op, s));
    TP_TRY(tp__hlo_field_list(op, name, fields[0][s], TP_MAX_RANK, &n_batch[s], d->batch[s]));
    TP_TRY(tp__hlo_field_list(op, name, fields[1][s], TP_MAX_RANK, &n_contracted[s],
                              d->contracted[s]));
    TP_TRY(check_side(op, s, n_batch[s], d->batch[s], &seen, d->shapes[s].rank));
    TP_TRY(check_side(op, s, n_contracted[s], d->contracted[s], &seen, d->shapes[s].rank));
  }
  d->n_batch = n_batch[0];
  d->n_contracted = n_contracted[0];
  bool fits = n_batch[0] == n_batch[1] && n_contracted[0] == n_contracted[1];
  for (int i = 0; fits && i < d->n_batch; i++)
    fits = d->shapes[0].sizes[d->batch[0][i]] == d->shapes[1].sizes[d->batch[1][i]];
  for (int i = 0; fits && i < d->n_contracted; i++)
    fits = d->shapes[0].sizes[d->contracted[0][i]] == d->shapes[1].sizes[d->contracted[1][i]];
  return fits ? TP_OK
              : tp__error(op, TP_INVALID_ARGUMENT,
                          "%s: the dimensions of both operands must be as many, and of equal sizes",
                          name);
}

/* Loops: batch dimensions, free dimensions of the left and of the right operand, contracted. */
static void number_loops(dot *d) {
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < TP_MAX_RANK; i++)
      d->loops[s][i] = -1;
  for (int i = 0; i < d->n_batch; i++) {
    d->result.sizes[d->n_loops] = d->shapes[0].sizes[d->batch[0][i]];
    d->loops[0][d->batch[0][i]] = d->loops[1][d->batch[1][i]] = d->n_loops++;
  }
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < d->shapes[s].rank; i++) {
      bool is_contracted = false;
      for (int k = 0; k < d->n_contracted; k++)
        is_contracted |= d->contracted[s][k] == i;
      if (is_contracted || d->loops[s][i] >= 0)
        continue;
      if (d->n_loops < TP_MAX_RANK)
        d->result.sizes[d->n_loops] = d->shapes[s].sizes[i];
      d->loops[s][i] = d->n_loops++;
    }
  d->result.rank = d->n_loops;
  for (int i = 0; i < d->n_contracted; i++)
    d->loops[0][d->contracted[0][i]] = d->loops[1][d->contracted[1][i]] = d->n_loops++;
}

/* The type in which products are made and added: that of the result, or of an operand that is
 * wider. */
MlirType tp__hlo_sum_element(MlirOperation op) {
  MlirType best = tp__hlo_result_element(op, 0);
  tp_hlo plain = {0};
  for (int s = 0; s < 2; s++) {
    MlirType element = tp__hlo_operand_element(op, s);
    if (tp__hlo_kind(element) == tp__hlo_kind(best) &&
        tp__element_size(tp__hlo_type(&plain, element)) >
            tp__element_size(tp__hlo_type(&plain, best)))
      best = element;
  }
  return best;
}

static MlirValue product_sum(tp_hlo *hlo, MlirOperation op, MlirOperation generic, MlirType sum) {
  static const char *const products[TP_HLO_KINDS] = {"arith.mulf", "arith.muli", "arith.muli",
                                                     "arith.andi", "complex.mul"};
  static const char *const sums[TP_HLO_KINDS] = {"arith.addf", "arith.addi", "arith.addi",
                                                 "arith.ori", "complex.add"};
  tp_hlo plain = {0};
  tp_hlo_kind kind = tp__hlo_kind(sum);
  MlirType type = tp__hlo_type(&plain, sum);
  MlirValue factors[2];
  for (int s = 0; s < 2; s++)
    factors[s] = tp__hlo_cast(hlo, tp__hlo_body_arg(generic, s),
                              tp__hlo_kind(tp__hlo_operand_element(op, s)), kind, type);
  MlirValue product = tp__hlo_binary(hlo, products[kind], factors[0], factors[1]);
  return tp__hlo_binary(hlo, sums[kind], tp__hlo_body_arg(generic, 2), product);
}

void tp__hlo_ask_precision(tp_hlo *hlo, const char *text) {
  static const char *const asked[] = {"HIGHEST", "of an algorithm", "HIGH"}; /* most first */
  MlirAttribute before = tp__get(hlo->module, "tp.precision");
  int found = TP_LEN(asked);
  for (int i = TP_LEN(asked) - 1; i >= 0; i--) {
    bool is_known =
        !mlirAttributeIsNull(before) && tp__ref_is(mlirStringAttrGetValue(before), asked[i]);
    found = is_known || strstr(text, asked[i]) ? i : found;
  }
  if (found < TP_LEN(asked))
    tp__set(hlo->module, "tp.precision", tp__attr_string(hlo->context, asked[found]));
}

/* Asks for the precision that a matmul has an attribute for. */
static void note_precision(tp_hlo *hlo, MlirOperation op, MlirType sum) {
  MlirAttribute config = tp__inherent(op, "precision_config");
  tp__string text = {0};
  if (!mlirTypeIsAF32(sum))
    return;
  if (!mlirAttributeIsNull(config))
    mlirAttributePrint(config, tp__append_part, &text);
  if (!mlirAttributeIsNull(tp__inherent(op, "algorithm")))
    tp__string_append(&text, "of an algorithm");
  tp__hlo_ask_precision(hlo, tp__string_text(&text));
  tp__string_destroy(&text);
}

MlirValue tp__hlo_contract(tp_hlo *hlo, MlirOperation op, const tp_hlo_contraction *c) {
  MlirType sum = tp__hlo_sum_element(op);
  note_precision(hlo, op, sum);
  tp_hlo plain = {0};
  MlirType element = tp__hlo_type(&plain, sum);
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_result_element(op, 0));
  int all[TP_MAX_RANK];
  for (int i = 0; i < c->result.rank; i++)
    all[i] = i;
  MlirType type =
      mlirRankedTensorTypeGet(c->result.rank, c->result.sizes, element, (MlirAttribute){NULL});
  MlirValue operands[] = {c->operands[0], c->operands[1],
                          tp__hlo_fill(hlo, type, tp__hlo_zero(hlo, element))};
  MlirAttribute maps[] = {c->maps[0], c->maps[1],
                          tp__hlo_loop_map(hlo, c->n_loops, c->result.rank, all)};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 2, 1, operands, maps, &yield);
  hlo->where = yield;
  MlirValue value = product_sum(hlo, op, generic, sum);
  mlirOperationSetOperands(yield, 1, &value);
  hlo->where = outer;
  MlirType wanted = tp__hlo_type(&plain, tp__hlo_result_element(op, 0));
  return tp__hlo_cast(
      hlo, mlirOperationGetResult(generic, 0), tp__hlo_kind(sum), kind,
      mlirRankedTensorTypeGet(c->result.rank, c->result.sizes, wanted, (MlirAttribute){NULL}));
}

/* Contracts these operands, which may be others than those of the op. */
static tp_status contract(tp_hlo *hlo, MlirOperation op, dot *d, const MlirValue *operands) {
  number_loops(d);
  tp_hlo_shape has = tp__hlo_shape(tp__result_type(op));
  if (d->n_loops > TP_MAX_GENERIC_LOOPS || has.rank != d->result.rank ||
      memcmp(has.sizes, d->result.sizes, (size_t)has.rank * sizeof *has.sizes) != 0)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "the result does not have the dimensions that its operands give: batch, then "
                     "free dimensions of operand 0, then of operand 1");
  MlirType result = tp__hlo_result_element(op, 0);
  if (mlirTypeIsAComplex(result) && !mlirTypeEqual(result, tp__hlo_sum_element(op)))
    return tp__error(op, TP_UNSUPPORTED,
                     "rounds complex numbers to a narrower type; convert the result instead");
  tp_hlo_contraction c = {.n_loops = d->n_loops, .result = d->result};
  for (int s = 0; s < 2; s++) {
    c.operands[s] = operands[s];
    c.maps[s] = tp__hlo_loop_map(hlo, d->n_loops, d->shapes[s].rank, d->loops[s]);
  }
  return tp__hlo_replace(hlo, op, tp__hlo_contract(hlo, op, &c));
}

static tp_status dot_general(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  dot d = {0};
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  TP_TRY(read_dot(op, "dot_dimension_numbers", &d));
  return contract(hlo, op, &d,
                  (MlirValue[]){tp__hlo_operand(hlo, op, 0), tp__hlo_operand(hlo, op, 1)});
}

/* ---- ragged_dot ---- */

/* Rows of operand 0 belong to groups, one after the other, whose sizes are operand 2. */
typedef struct ragged {
  dot d;
  int64_t dim;   /* of operand 0, in which the groups lie */
  int64_t group; /* dimension of operand 1 over the groups; -1: a dimension of the result */
} ragged;

static tp_status read_ragged(MlirOperation op, ragged *r) {
  static const char name[] = "ragged_dot_dimension_numbers";
  int64_t dims[TP_MAX_RANK], groups[TP_MAX_RANK];
  int n, n_groups;
  TP_TRY(read_dot(op, name, &r->d));
  TP_TRY(tp__hlo_field_list(op, name, "lhs_ragged_dimensions", TP_MAX_RANK, &n, dims));
  TP_TRY(tp__hlo_field_list(op, name, "rhs_group_dimensions", TP_MAX_RANK, &n_groups, groups));
  tp_hlo_shape sizes = tp__hlo_shape(tp__hlo_operand_type(op, 2));
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, 2));
  bool is_list = sizes.rank == 1 && (kind == TP_HLO_SIGNED || kind == TP_HLO_UNSIGNED);
  bool fits = n == 1 && dims[0] >= 0 && dims[0] < r->d.shapes[0].rank && n_groups <= 1 &&
              r->d.shapes[0].rank < TP_MAX_RANK && r->d.shapes[1].rank < TP_MAX_RANK;
  if (!is_list || !fits || tp__hlo_has(r->d.n_batch, r->d.batch[0], dims[0]))
    return tp__error(op, TP_UNSUPPORTED,
                     "needs one ragged dimension of operand 0, which is no batch dimension, and a "
                     "list of the sizes of groups in operand 2");
  r->dim = dims[0];
  r->group = n_groups ? groups[0] : -1;
  bool is_contracted = tp__hlo_has(r->d.n_contracted, r->d.contracted[0], r->dim);
  bool has_group = r->group >= 0 && r->group < r->d.shapes[1].rank &&
                   !tp__hlo_has(r->d.n_batch, r->d.batch[1], r->group) &&
                   !tp__hlo_has(r->d.n_contracted, r->d.contracted[1], r->group) &&
                   r->d.shapes[1].sizes[r->group] == sizes.sizes[0];
  if (is_contracted ? n_groups > 0 || r->d.n_batch > 0 : !has_group)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "ragged_dot_dimension_numbers: a ragged dimension that is free needs a free "
                     "dimension of operand 1 of the size of operand 2, and one that is contracted "
                     "takes no such dimension and no batches");
  return TP_OK;
}

/* Where each group ends: sums of the sizes up to it. */
static MlirValue ends_of(tp_hlo *hlo, MlirValue sizes) {
  MlirType type = mlirValueGetType(sizes), element = tp__element_type(type);
  MlirValue operands[] = {sizes, tp__hlo_fill(hlo, type, tp__hlo_zero(hlo, element))};
  MlirAttribute maps[] = {tp__hlo_loop_map(hlo, 2, 1, (int[]){1}),
                          tp__hlo_loop_map(hlo, 2, 1, (int[]){0})};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 1, 1, operands, maps, &yield);
  hlo->where = yield;
  MlirValue is_before =
      tp__hlo_compare(hlo, "ule", tp__hlo_loop_index(hlo, 1), tp__hlo_loop_index(hlo, 0));
  MlirValue size =
      tp__hlo_select(hlo, is_before, tp__hlo_body_arg(generic, 0), tp__hlo_zero(hlo, element));
  MlirValue sum = tp__hlo_binary(hlo, "arith.addi", tp__hlo_body_arg(generic, 1), size);
  mlirOperationSetOperands(yield, 1, &sum);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

/* An operand once for each group, which is the first dimension, with zeros outside of the group.
 * The groups lie in dimension `dim` of the operand. */
static MlirValue masked(tp_hlo *hlo, int64_t dim, MlirValue value, MlirValue sizes) {
  MlirValue ends = ends_of(hlo, sizes), starts = tp__hlo_binary(hlo, "arith.subi", ends, sizes);
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(value));
  int rank = shape.rank + 1, all[TP_MAX_RANK];
  int64_t to[TP_MAX_RANK] = {tp__hlo_shape(mlirValueGetType(sizes)).sizes[0]};
  for (int i = 0; i < rank; i++)
    all[i] = i;
  memcpy(to + 1, shape.sizes, (size_t)shape.rank * sizeof *to);
  MlirType type = tp__tensor_like(mlirValueGetType(value), rank, to);
  MlirAttribute of_group = tp__hlo_loop_map(hlo, rank, 1, all);
  MlirValue operands[] = {value, starts, ends, tp__hlo_build(hlo, "tensor.empty", type, 0, NULL)};
  MlirAttribute maps[] = {tp__hlo_loop_map(hlo, rank, rank - 1, all + 1), of_group, of_group,
                          tp__hlo_loop_map(hlo, rank, rank, all)};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 3, 1, operands, maps, &yield);
  if (dim == 0) /* for tp-group-rows */
    tp__set(generic, "tp.rows", tp__attr_string(mlirOperationGetContext(generic), "mask"));
  hlo->where = yield;
  MlirValue at =
      tp__hlo_convert_to(hlo, "arith.index_cast", tp__element_type(mlirValueGetType(sizes)),
                         tp__hlo_loop_index(hlo, 1 + (int)dim));
  MlirValue inside = tp__hlo_binary(hlo, "arith.andi",
                                    tp__hlo_compare(hlo, "sge", at, tp__hlo_body_arg(generic, 1)),
                                    tp__hlo_compare(hlo, "slt", at, tp__hlo_body_arg(generic, 2)));
  MlirValue now = tp__hlo_select(hlo, inside, tp__hlo_body_arg(generic, 0),
                                 tp__hlo_zero(hlo, tp__element_type(type)));
  mlirOperationSetOperands(yield, 1, &now);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

static tp_status ragged_dot(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  ragged r = {0};
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  TP_TRY(read_ragged(op, &r));
  dot *d = &r.d;
  if (mlirTypeIsAComplex(tp__hlo_operand_element(op, 0)))
    return tp__error(op, TP_UNSUPPORTED, "is not supported for complex numbers");
  MlirValue operands[] = {tp__hlo_operand(hlo, op, 0), tp__hlo_operand(hlo, op, 1)},
            sizes = tp__hlo_operand(hlo, op, 2);
  int64_t dims[] = {r.dim, -1};
  for (int i = 0; i < d->n_contracted; i++)
    if (d->contracted[0][i] == r.dim)
      dims[1] = d->contracted[1][i];
  for (int s = 0; s < 2 && dims[s] >= 0; s++) { /* both, if the rows of a group are added */
    operands[s] = masked(hlo, dims[s], operands[s], sizes);
    d->shapes[s] = tp__hlo_shape(mlirValueGetType(operands[s]));
    for (int i = 0; i < d->n_batch; i++)
      d->batch[s][i]++;
    for (int i = 0; i < d->n_contracted; i++)
      d->contracted[s][i]++;
  }
  if (r.group >= 0) {
    d->contracted[0][d->n_contracted] = 0;
    d->contracted[1][d->n_contracted++] = r.group;
  } else {
    d->batch[0][0] = d->batch[1][0] = 0;
    d->n_batch = 1;
  }
  return contract(hlo, op, d, operands);
}

const tp_hlo_row tp__hlo_contraction_rows[] = {
    {"stablehlo.dot_general", 2, 1, 0, dot_general, NULL,
     "linalg.generic; sums in the widest of the three types"},
    {"chlo.ragged_dot", 3, 1, 0, ragged_dot, NULL,
     "a contraction of operand 0 repeated for each group, with zeros outside of the group; "
     "likewise "
     "of operand 1 if the rows of a group are added"},
    {NULL},
};
