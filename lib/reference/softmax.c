/* linalg.softmax: exp(x - c) divided by its sum along a dimension. Any c gives the same result; c
 * is the maximum here, to avoid overflow. */
#include "reference/evaluator.h"

#include <mlir-c/BuiltinAttributes.h>

/* Computes the softmax of n elements that are `stride` apart. */
static void softmax(const kind *k, const number *from, int64_t n, int64_t stride, number *to) {
  number largest = {.value = -INFINITY}, sum = {0};
  for (int64_t i = 0; i < n; i++)
    if (!is_known(from + i * stride) || isnan(from[i * stride].value))
      largest.value = NAN;
    else if (!isnan(largest.value))
      largest.value = fmax(largest.value, from[i * stride].value);
  largest.reach = fabs(largest.value);
  for (int64_t i = 0; i < n; i++) {
    number away = tp__number_subtract(k, from + i * stride, &largest);
    to[i * stride] = tp__number_monotone(k, &away, exp, 8);
    sum = tp__number_add(k, &sum, to + i * stride);
  }
  for (int64_t i = 0; i < n; i++)
    to[i * stride] = tp__number_divide(k, to + i * stride, &sum);
}

bool tp__run_softmax(evaluation *r, cell *frame, const node *n) {
  const tensor *from = frame[n->operands[0]].tensor;
  int64_t dim = mlirIntegerAttrGetValueInt(tp__eval_attribute(n->op, "dimension")), stride = 1,
          size = from->shape[dim];
  tensor *made = tp__eval_tensor(r, from->kind, from->rank, from->shape);
  for (int d = (int)dim + 1; d < from->rank; d++)
    stride *= from->shape[d];
  for (int64_t first = 0; size > 0 && first < from->n; first += size * stride)
    for (int64_t i = 0; i < stride; i++)
      softmax(from->kind, from->numbers + first + i, size, stride, made->numbers + first + i);
  frame[n->results[0]].tensor = made;
  return tp__eval_count(r, n, 4 * (double)from->n);
}
