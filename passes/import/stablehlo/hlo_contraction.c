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
                       "dot_dimension_numbers: dimension %lld of operand %d does not exist or is "
                       "named twice",
                       (long long)dims[i], side);
    *seen |= UINT32_C(1) << dims[i];
  }
  return TP_OK;
}

static tp_status read_dot(MlirOperation op, dot *d) {
  static const char *const fields[2][2] = {
      {"lhs_batching_dimensions", "rhs_batching_dimensions"},
      {"lhs_contracting_dimensions", "rhs_contracting_dimensions"}};
  static const char name[] = "dot_dimension_numbers";
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
                          "dot_dimension_numbers: the dimensions of both operands must be as many, "
                          "and of equal sizes");
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

MlirValue tp__hlo_contract(tp_hlo *hlo, MlirOperation op, const tp_hlo_contraction *c) {
  MlirType sum = tp__hlo_sum_element(op);
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

static tp_status dot_general(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  dot d = {0};
  TP_TRY(read_dot(op, &d));
  number_loops(&d);
  tp_hlo_shape has = tp__hlo_shape(tp__result_type(op));
  if (d.n_loops > TP_MAX_GENERIC_LOOPS || has.rank != d.result.rank ||
      memcmp(has.sizes, d.result.sizes, (size_t)has.rank * sizeof *has.sizes) != 0)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "the result does not have the dimensions that its operands give: batch, then "
                     "free dimensions of operand 0, then of operand 1");
  if (hlo->scalar)
    return tp__error(op, TP_UNSUPPORTED, "is not supported in the body of another op");
  MlirType result = tp__hlo_result_element(op, 0);
  if (mlirTypeIsAComplex(result) && !mlirTypeEqual(result, tp__hlo_sum_element(op)))
    return tp__error(op, TP_UNSUPPORTED,
                     "rounds complex numbers to a narrower type; convert the result instead");
  tp_hlo_contraction c = {.n_loops = d.n_loops, .result = d.result};
  for (int s = 0; s < 2; s++) {
    c.operands[s] = tp__hlo_operand(hlo, op, s);
    c.maps[s] = tp__hlo_loop_map(hlo, d.n_loops, d.shapes[s].rank, d.loops[s]);
  }
  return tp__hlo_replace(hlo, op, tp__hlo_contract(hlo, op, &c));
}

const tp_hlo_row tp__hlo_contraction_rows[] = {
    {"stablehlo.dot_general", 2, 1, 0, dot_general, NULL,
     "linalg.generic; sums in the widest of the three types"},
    {NULL},
};
