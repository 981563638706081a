/* Fourier transforms: sums of products with matrices of cosines and sines.
 *
 * A transform of n = f1 f2 ... fs elements is made in s stages (Cooley and Tukey, "An algorithm for
 * the machine calculation of complex Fourier series", 1965). With the digits j = (j1 f2 + j2) f3 +
 * ... as dimensions of their own, stage i replaces digit ji by the digit ki of the result, a
 * transform of fi elements; in front of the next one, element (ki, r), r being the number that the
 * later digits make, is turned by 2 pi ki r / (fi ... fs). The digits of the result come in the
 * opposite order. So a split of the transformed dimension is one of its digits, and moves to
 * another digit between two stages by one all-to-all.
 *
 * Real and imaginary parts are tensors of their own, so that each stage is four matmuls; of real
 * numbers it is two. */
#include "passes/import/stablehlo/hlo_contraction.h"

#include <math.h>

enum {
  MAX_FACTOR = 64,        /* of a stage, unless it is prime */
  MAX_PRIME = 1024,       /* whose matrices take 8 MiB in f32 */
  MAX_LENGTH = 1 << 20,   /* whose turns take 8 MiB in f32 */
  MAX_PRIME_FACTORS = 20, /* of MAX_LENGTH, and more than others have */
  MAX_TRANSFORMED = 3     /* dimensions */
};

typedef enum kind { FFT, IFFT, RFFT, IRFFT, KINDS } kind;

/* Complex numbers, or real ones: then `im` is null. */
typedef struct numbers {
  MlirValue re, im;
} numbers;

typedef struct transform {
  tp_hlo *hlo;
  MlirOperation op;
  MlirType element; /* f32 or f64 */
  double direction; /* -1: forward, 1: inverse */
  int n_stages;     /* of one dimension */
  int64_t factors[MAX_PRIME_FACTORS];
  double *values; /* room for those of a constant */
  float *narrow;  /* the same in f32 */
} transform;

/* ---- constants ---- */

/* Sets e^(2 pi i part / whole), exactly where it is real or imaginary. */
static void turn(int64_t part, int64_t whole, double *cosine, double *sine) {
  static const double half_pi = 1.57079632679489661923;
  int64_t quarters = 4 * (part % whole), quadrant = quarters / whole;
  double angle = half_pi * (double)(quarters % whole) / (double)whole;
  double c = quarters % whole == 0 ? 1 : cos(angle), s = quarters % whole == 0 ? 0 : sin(angle);
  *cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
  *sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
}

/* The matrix [n_rows, n_columns] of e^(2 pi i row column / whole) times scale(row), which has
 * `weight` from row 1 to row n_weighted. */
typedef struct matrix {
  int64_t n_rows, n_columns, whole, n_weighted;
  double scale, weight;
} matrix;

/* Which of the parts of the numbers a constant has. */
typedef enum which { COSINE, SINE, MINUS_SINE } which;

static MlirValue constant(transform *t, const tp_hlo_shape *shape) {
  MlirType type =
      mlirRankedTensorTypeGet(shape->rank, shape->sizes, t->element, (MlirAttribute){NULL});
  MlirAttribute value;
  int64_t n = tp__hlo_elements(shape);
  if (mlirTypeIsAF32(t->element)) {
    for (int64_t i = 0; i < n; i++)
      t->narrow[i] = (float)t->values[i];
    value = mlirDenseElementsAttrFloatGet(type, n, t->narrow);
  } else {
    value = mlirDenseElementsAttrDoubleGet(type, n, t->values);
  }
  MlirNamedAttribute attr = tp__named(t->hlo->context, "value", value);
  MlirOperation op = tp__hlo_build_op(t->hlo, &(tp_build){.name = "arith.constant",
                                                          .n_results = 1,
                                                          .results = &type,
                                                          .n_attributes = 1,
                                                          .attributes = &attr});
  return mlirOperationGetResult(op, 0);
}

static MlirValue matrix_constant(transform *t, const matrix *m, which part) {
  tp_hlo_shape shape = {.rank = 2, .sizes = {m->n_rows, m->n_columns}};
  for (int64_t r = 0; r < m->n_rows; r++)
    for (int64_t c = 0; c < m->n_columns; c++) {
      double cosine, sine, scale = r > 0 && r <= m->n_weighted ? m->weight * m->scale : m->scale;
      turn(r * c, m->whole, &cosine, &sine);
      sine *= part == MINUS_SINE ? -t->direction : t->direction;
      t->values[r * m->n_columns + c] = scale * (part == COSINE ? cosine : sine);
    }
  return constant(t, &shape);
}

/* ---- one stage ---- */

/* Builds `into` + the sum over loop `result rank` of value * factor. */
static MlirValue add_products(transform *t, MlirValue value, MlirAttribute value_map,
                              MlirValue factor, MlirAttribute factor_map, MlirValue into) {
  tp_hlo *hlo = t->hlo;
  int all[TP_MAX_RANK], rank = tp__hlo_shape(mlirValueGetType(into)).rank;
  for (int d = 0; d < rank; d++)
    all[d] = d;
  MlirValue operands[] = {value, factor, into};
  MlirAttribute maps[] = {value_map, factor_map, tp__hlo_loop_map(hlo, rank + 1, rank, all)};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 2, 1, operands, maps, &yield);
  hlo->where = yield;
  MlirValue product =
      tp__hlo_binary(hlo, "arith.mulf", tp__hlo_body_arg(generic, 0), tp__hlo_body_arg(generic, 1));
  MlirValue sum = tp__hlo_binary(hlo, "arith.addf", tp__hlo_body_arg(generic, 2), product);
  mlirOperationSetOperands(yield, 1, &sum);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

/* Where a stage reads digits, and where it writes them. */
typedef struct stage {
  int first, number; /* dimension of digit 0; the digit that is transformed */
  bool reverses;     /* the digits of the result have the opposite order */
  bool is_real;      /* the result has no imaginary part */
} stage;

/* Multiplies along one digit by a matrix. */
static numbers multiply(transform *t, const stage *s, const matrix *m, numbers x) {
  tp_hlo *hlo = t->hlo;
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(x.re)), to = from;
  int loops[TP_MAX_RANK], last = t->n_stages - 1, made = 0;
  for (int d = 0; d < from.rank; d++) {
    int digit = d - s->first;
    bool is_digit = digit >= 0 && digit <= last;
    int at = is_digit && s->reverses ? s->first + last - digit : d;
    loops[d] = digit == s->number ? from.rank : at;
    made = digit == s->number ? at : made;
    to.sizes[at] = digit == s->number ? m->n_columns : from.sizes[d];
  }
  MlirAttribute map = tp__hlo_loop_map(hlo, from.rank + 1, from.rank, loops),
                matrix_map = tp__hlo_loop_map(hlo, from.rank + 1, 2, (int[]){from.rank, made});
  MlirType type = mlirRankedTensorTypeGet(to.rank, to.sizes, t->element, (MlirAttribute){NULL});
  MlirValue zero = tp__hlo_fill(hlo, type, tp__hlo_zero(hlo, t->element)),
            cosines = matrix_constant(t, m, COSINE);
  numbers y = {.re = add_products(t, x.re, map, cosines, matrix_map, zero)};
  if (!s->is_real) {
    MlirValue sines = matrix_constant(t, m, SINE);
    y.im = add_products(t, x.re, map, sines, matrix_map, zero);
    if (!mlirValueIsNull(x.im))
      y.im = add_products(t, x.im, map, cosines, matrix_map, y.im);
  }
  if (!mlirValueIsNull(x.im))
    y.re = add_products(t, x.im, map, matrix_constant(t, m, MINUS_SINE), matrix_map, y.re);
  return y;
}

/* Builds a * b + c * d, elementwise; maps[i] is that of operand i. */
static MlirValue two_products(transform *t, const MlirValue *operands, const MlirAttribute *maps,
                              const char *add) {
  tp_hlo *hlo = t->hlo;
  MlirType type = mlirValueGetType(operands[0]);
  MlirValue all[] = {operands[0], operands[1], operands[2], operands[3],
                     tp__hlo_build(hlo, "tensor.empty", type, 0, NULL)};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 4, 1, all, maps, &yield);
  hlo->where = yield;
  MlirValue products[2];
  for (int i = 0; i < 2; i++)
    products[i] = tp__hlo_binary(hlo, "arith.mulf", tp__hlo_body_arg(generic, 2 * i),
                                 tp__hlo_body_arg(generic, 2 * i + 1));
  MlirValue sum = tp__hlo_binary(hlo, add, products[0], products[1]);
  mlirOperationSetOperands(yield, 1, &sum);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

/* Turns the elements behind a stage: by 2 pi (digit of the stage) (number of the later digits) /
 * (elements of these digits). */
static numbers turn_elements(transform *t, const stage *s, numbers x) {
  tp_hlo *hlo = t->hlo;
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(x.re)), turned = {0};
  int all[TP_MAX_RANK], digits[TP_MAX_RANK];
  int64_t later = 1;
  for (int d = 0; d < shape.rank; d++)
    all[d] = d;
  for (int i = s->number; i < t->n_stages; i++) {
    digits[turned.rank] = s->first + i;
    turned.sizes[turned.rank++] = t->factors[i];
    later *= i > s->number ? t->factors[i] : 1;
  }
  int64_t n = t->factors[s->number] * later;
  MlirValue parts[2];
  for (int p = 0; p < 2; p++) {
    for (int64_t i = 0; i < n; i++) {
      double cosine, sine;
      turn((i / later) * (i % later), n, &cosine, &sine);
      t->values[i] = p == 0 ? cosine : t->direction * sine;
    }
    parts[p] = constant(t, &turned);
  }
  MlirAttribute map = tp__hlo_loop_map(hlo, shape.rank, shape.rank, all),
                turn_map = tp__hlo_loop_map(hlo, shape.rank, turned.rank, digits);
  MlirAttribute maps[] = {map, turn_map, map, turn_map, map};
  MlirValue for_re[] = {x.re, parts[0], x.im, parts[1]},
            for_im[] = {x.re, parts[1], x.im, parts[0]};
  return (numbers){two_products(t, for_re, maps, "arith.subf"),
                   two_products(t, for_im, maps, "arith.addf")};
}

/* ---- one dimension ---- */

static bool is_among(int64_t number, int n, const int64_t *list) {
  for (int i = 0; i < n; i++)
    if (list[i] == number)
      return true;
  return false;
}

/* Finds the factors of the stages: as few stages as can be, of about the same size. */
static tp_status find_stages(transform *t, int64_t n) {
  int64_t primes[MAX_PRIME_FACTORS], rest = n;
  int n_primes = 0, n_stages = 0;
  if (n > MAX_LENGTH)
    return tp__error(
        t->op, TP_UNSUPPORTED,
        "transforms %lld elements, where at most %d are supported; split the signal" TP_HLO_OR_KEEP,
        (long long)n, MAX_LENGTH);
  for (int64_t p = 2; rest > 1; p++)
    for (; rest % p == 0; rest /= p)
      primes[n_primes++] = p;
  if (n_primes > 0 && primes[n_primes - 1] > MAX_PRIME)
    return tp__error(t->op, TP_UNSUPPORTED,
                     "transforms %lld elements, a number with the prime factor %lld, where prime "
                     "factors to %d are supported; pad the signal" TP_HLO_OR_KEEP,
                     (long long)n, (long long)primes[n_primes - 1], MAX_PRIME);
  for (bool fits = false; !fits;) {
    n_stages++;
    for (int i = 0; i < n_stages; i++)
      t->factors[i] = 1;
    for (int i = n_primes - 1; i >= 0; i--) {
      int least = 0;
      for (int k = 1; k < n_stages; k++)
        least = t->factors[k] < t->factors[least] ? k : least;
      t->factors[least] *= primes[i];
    }
    fits = true;
    for (int i = 0; i < n_stages; i++)
      fits &= t->factors[i] <= MAX_FACTOR || is_among(t->factors[i], n_primes, primes);
  }
  t->n_stages = n_stages;
  return TP_OK;
}

/* Applies the matrices of a transform of n elements along dimension d. Of the result at least the
 * first `keep` elements are computed. */
static tp_status along(transform *t, int d, int64_t n, bool is_real, int64_t keep, numbers *x) {
  tp_hlo_shape whole = tp__hlo_shape(mlirValueGetType(x->re)), digits = {0};
  int64_t n_values = n;
  TP_TRY(find_stages(t, n));
  bool mirrors = whole.sizes[d] < n; /* half of the elements stand for their mirror images */
  int64_t earlier = n / t->factors[t->n_stages - 1]; /* numbers of the digits before the last */
  if (whole.rank + t->n_stages > TP_MAX_RANK)
    return tp__error(t->op, TP_UNSUPPORTED,
                     "transforms %lld elements of a tensor of rank %d, which takes %d dimensions, "
                     "where at most %d are supported; collapse those of the batch" TP_HLO_OR_KEEP,
                     (long long)n, whole.rank, whole.rank + t->n_stages, TP_MAX_RANK);
  for (int i = 0; i < t->n_stages; i++)
    n_values = t->factors[i] * t->factors[i] > n_values ? t->factors[i] * t->factors[i] : n_values;
  t->values = tp__calloc((size_t)n_values, sizeof *t->values);
  t->narrow = tp__calloc((size_t)n_values, sizeof *t->narrow);
  if (!t->values || !t->narrow) {
    tp__free(t->values), tp__free(t->narrow);
    return tp__out_of_memory(t->op);
  }
  for (int i = 0; i < whole.rank + t->n_stages - 1; i++)
    digits.sizes[digits.rank++] = i < d                 ? whole.sizes[i]
                                  : i < d + t->n_stages ? t->factors[i - d]
                                                        : whole.sizes[i - t->n_stages + 1];
  if (t->n_stages > 1) {
    x->re = tp__hlo_reshape(t->hlo, x->re, &digits);
    x->im = mlirValueIsNull(x->im) ? x->im : tp__hlo_reshape(t->hlo, x->im, &digits);
  }
  for (int i = 0; i < t->n_stages; i++) {
    bool is_last = i == t->n_stages - 1, is_only = t->n_stages == 1;
    stage s = {.first = d, .number = i, .reverses = is_last, .is_real = is_last && is_real};
    matrix m = {.n_rows = is_only ? whole.sizes[d] : t->factors[i],
                .n_columns = is_last ? (keep + earlier - 1) / earlier : t->factors[i],
                .whole = t->factors[i],
                .scale = is_last && t->direction > 0 ? 1 / (double)n : 1,
                .n_weighted = mirrors ? n - whole.sizes[d] : 0,
                .weight = 2};
    *x = multiply(t, &s, &m, *x);
    if (!is_last)
      *x = turn_elements(t, &s, *x);
  }
  tp__free(t->values), tp__free(t->narrow);
  if (t->n_stages > 1) {
    whole.sizes[d] = (keep + earlier - 1) / earlier * earlier;
    x->re = tp__hlo_reshape(t->hlo, x->re, &whole);
    x->im = is_real ? (MlirValue){NULL} : tp__hlo_reshape(t->hlo, x->im, &whole);
  }
  return TP_OK;
}

/* ---- real numbers ---- */

static MlirValue first_elements(tp_hlo *hlo, MlirValue value, int d, int64_t from, int64_t n) {
  int64_t offsets[TP_MAX_RANK] = {0}, strides[TP_MAX_RANK];
  tp_hlo_shape sizes = tp__hlo_shape(mlirValueGetType(value));
  for (int i = 0; i < sizes.rank; i++)
    strides[i] = 1;
  offsets[d] = from;
  sizes.sizes[d] = n;
  return tp__hlo_slice(hlo, value, offsets, sizes.sizes, strides);
}

/* Appends the mirror images, elements n_more, ..., 1, to `value`. */
static MlirValue append_images(tp_hlo *hlo, MlirValue value, int d, int64_t n_more, bool negates) {
  int64_t dim = d;
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(value));
  MlirValue images = first_elements(hlo, value, d, 1, n_more);
  images = tp__hlo_reverse(hlo, images, 1, &dim);
  images = negates ? tp__hlo_unary(hlo, "arith.negf", images) : images;
  shape.sizes[d] += n_more;
  MlirType type = tp__tensor_like(mlirValueGetType(value), shape.rank, shape.sizes);
  MlirNamedAttribute attr = tp__named(hlo->context, "dim", tp__attr_i64(hlo->context, d));
  MlirOperation op = tp__hlo_build_op(hlo, &(tp_build){.name = "tensor.concat",
                                                       .n_operands = 2,
                                                       .operands = (MlirValue[]){value, images},
                                                       .n_results = 1,
                                                       .results = &type,
                                                       .n_attributes = 1,
                                                       .attributes = &attr});
  return mlirOperationGetResult(op, 0);
}

/* From real numbers to the first half of their transform; the other half are mirror images. */
static tp_status from_real(transform *t, int d, int64_t n, numbers *x) {
  int64_t half = n / 2 + 1;
  TP_TRY(along(t, d, n, false, half, x));
  if (t->n_stages > 1) {
    x->re = first_elements(t->hlo, x->re, d, 0, half);
    x->im = first_elements(t->hlo, x->im, d, 0, half);
  }
  return TP_OK;
}

/* From the first half of a transform to the real numbers. */
static tp_status to_real(transform *t, int d, int64_t n, numbers *x) {
  int64_t more = n - (n / 2 + 1);
  TP_TRY(find_stages(t, n));
  if (t->n_stages > 1) {
    x->re = append_images(t->hlo, x->re, d, more, false);
    x->im = append_images(t->hlo, x->im, d, more, true);
  }
  return along(t, d, n, true, n, x);
}

/* ---- the op ---- */

/* Builds an op that computes each element of a result from those of `operands`, which has room for
 * one more. Sets its body's terminator. */
static MlirOperation elementwise(tp_hlo *hlo, MlirType type, int n, MlirValue *operands,
                                 MlirOperation *yield) {
  int all[TP_MAX_RANK], rank = tp__hlo_shape(type).rank;
  MlirAttribute maps[3];
  for (int d = 0; d < rank; d++)
    all[d] = d;
  for (int i = 0; i <= n; i++)
    maps[i] = tp__hlo_loop_map(hlo, rank, rank, all);
  operands[n] = tp__hlo_build(hlo, "tensor.empty", type, 0, NULL);
  return tp__hlo_generic(hlo, n, 1, operands, maps, yield);
}

static MlirValue part_of(tp_hlo *hlo, const char *name, MlirType element, MlirValue value) {
  MlirType type = tp__hlo_with_element(mlirValueGetType(value), element);
  MlirValue operands[2] = {value};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = elementwise(hlo, type, 1, operands, &yield);
  hlo->where = yield;
  MlirValue part = tp__hlo_convert_to(hlo, name, element, tp__hlo_body_arg(generic, 0));
  mlirOperationSetOperands(yield, 1, &part);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

static MlirValue join_parts(tp_hlo *hlo, MlirType type, numbers x) {
  MlirValue operands[3] = {x.re, x.im};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = elementwise(hlo, type, 2, operands, &yield);
  hlo->where = yield;
  MlirValue value =
      tp__hlo_build(hlo, "complex.create", tp__element_type(type), 2,
                    (MlirValue[]){tp__hlo_body_arg(generic, 0), tp__hlo_body_arg(generic, 1)});
  mlirOperationSetOperands(yield, 1, &value);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

/* Reads the kind and the lengths of the last dimensions, and checks types against them. */
static tp_status read(MlirOperation op, kind *k, int *n, int64_t *lengths) {
  static const char *const names[KINDS] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  static const char *const maps[KINDS] = {
      "n complex numbers to n complex ones", "n complex numbers to n complex ones",
      "n real numbers to n / 2 + 1 complex ones", "n / 2 + 1 complex numbers to n real ones"};
  char text[16];
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to;
  TP_TRY(tp__hlo_keyword(op, "fft_type", sizeof text, text));
  for (*k = FFT; *k < KINDS && strcmp(text, names[*k]) != 0;)
    (*k)++;
  if (*k == KINDS)
    return tp__error(op, TP_INVALID_ARGUMENT, "fft_type: '%s' is none of FFT, IFFT, RFFT and IRFFT",
                     text);
  TP_TRY(tp__hlo_int_list(op, "fft_length", TP_MAX_RANK, n, lengths));
  if (*n < 1 || *n > MAX_TRANSFORMED || *n > from.rank)
    return tp__error(
        op, TP_INVALID_ARGUMENT,
        "fft_length: %d lengths; 1 to %d are supported, and no more than operand 0 has "
        "dimensions",
        *n, MAX_TRANSFORMED);
  MlirType in = tp__hlo_operand_element(op, 0), out = tp__hlo_result_element(op, 0),
           in_part = mlirTypeIsAComplex(in) ? mlirComplexTypeGetElementType(in) : in,
           out_part = mlirTypeIsAComplex(out) ? mlirComplexTypeGetElementType(out) : out;
  bool fits = mlirTypeIsAComplex(in) == (*k != RFFT) && mlirTypeIsAComplex(out) == (*k != IRFFT) &&
              mlirTypeEqual(in_part, out_part) &&
              (mlirTypeIsAF32(in_part) || mlirTypeIsAF64(in_part));
  to = from;
  for (int i = 0; i < *n; i++) {
    int d = from.rank - *n + i;
    bool is_half = i == *n - 1;
    int64_t half = lengths[i] / 2 + 1;
    fits &= lengths[i] >= (*k == IRFFT && is_half ? 1 : 0) &&
            from.sizes[d] == (*k == IRFFT && is_half ? half : lengths[i]);
    to.sizes[d] = *k == RFFT && is_half ? half : lengths[i];
  }
  tp_hlo_shape has = tp__hlo_shape(tp__result_type(op));
  fits &=
      has.rank == to.rank && memcmp(has.sizes, to.sizes, (size_t)has.rank * sizeof *has.sizes) == 0;
  return fits ? TP_OK
              : tp__error(op, TP_INVALID_ARGUMENT,
                          "fft_length ends in n = %lld, and the operand's last dimension is %lld, "
                          "the result's %lld: %s maps %s of f32 or f64 along the last dimension, "
                          "and fft_length is the size of each of the other dimensions",
                          (long long)lengths[*n - 1], (long long)from.sizes[from.rank - 1],
                          (long long)(has.rank > 0 ? has.sizes[has.rank - 1] : 1), names[*k],
                          maps[*k]);
}

static tp_status fourier(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  kind k;
  int n;
  int64_t lengths[TP_MAX_RANK];
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  TP_TRY(read(op, &k, &n, lengths));
  MlirType type = tp__result_type(op), in = tp__hlo_operand_element(op, 0);
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = tp__hlo_shape(type);
  if (tp__hlo_elements(&from) == 0 || tp__hlo_elements(&to) == 0)
    return tp__hlo_replace(hlo, op,
                           tp__hlo_fill(hlo, type, tp__hlo_zero(hlo, tp__element_type(type))));
  transform t = {.hlo = hlo,
                 .op = op,
                 .element = k == RFFT ? in : mlirComplexTypeGetElementType(in),
                 .direction = k == FFT || k == RFFT ? -1 : 1};
  if (mlirTypeIsAF32(t.element)) /* a transform is not rounded like a matmul */
    tp__hlo_ask_precision(hlo, "HIGHEST");
  MlirValue operand = tp__hlo_operand(hlo, op, 0);
  numbers x = {.re = operand};
  int last = from.rank - 1;
  if (k != RFFT)
    x = (numbers){part_of(hlo, "complex.re", t.element, operand),
                  part_of(hlo, "complex.im", t.element, operand)};
  if (k == RFFT)
    TP_TRY(from_real(&t, last, lengths[n - 1], &x));
  for (int i = 0; i < n - (k == RFFT || k == IRFFT); i++)
    TP_TRY(along(&t, from.rank - n + i, lengths[i], false, lengths[i], &x));
  if (k == IRFFT)
    TP_TRY(to_real(&t, last, lengths[n - 1], &x));
  return tp__hlo_replace(hlo, op, k == IRFFT ? x.re : join_parts(hlo, type, x));
}

const tp_hlo_row tp__hlo_fourier_rows[] = {
    {"stablehlo.fft", 1, 1, 0, fourier, NULL,
     "matmuls with matrices of cosines and sines, in stages of at most 64; it stays as it is by "
     "unknown-ops=replicate"},
    {NULL},
};
