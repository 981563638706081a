/* Contractions of floats: c += a * b, summed over the loops that do not index c, computed as matrix
 * multiplications in binary64.
 *
 * The sum of magnitudes and the error bound are computed along with each sum. For n terms in any
 * order, with one rounding per product, the error is at most (n + 1) roundings of the sum of
 * magnitudes (Higham, 4.2). A sequential sum of similar terms has about half of that error. This
 * code uses the sequential bound, like the bounds of other sums; tp__number_is_right adds the slack
 * for other orders. */
#include "reference/eval_structured.h"

#include <string.h>

enum { N_CLASSES = 4, BATCH = 0, ROW, COLUMN, SUM };

struct contraction {
  /* The two inputs, and the kind of the sum. */
  int a, b;
  const kind *k;
  /* Loops by class. */
  int n[N_CLASSES], loops[N_CLASSES][TP__EVAL_MAX_LOOPS];
  int64_t sizes[N_CLASSES]; /* the product of the trip counts of a class */
};

/* ---- matching ---- */

static const node *maker_of(const block *body, int slot) {
  for (const node *n = body->nodes; n < terminator(body); n++)
    if (n->n_results == 1 && n->results[0] == slot)
      return n;
  return NULL;
}

/* Returns the index of the input that a value of the body reads, possibly through exact
 * conversions; -1: none. */
static int input_of(const node *n, const structured *s, int slot) {
  const block *body = n->blocks;
  for (;;) {
    for (int i = 0; i < s->n_inputs; i++)
      if (body->arguments[i] == slot && s->accesses[i].is_tensor)
        return i;
    const node *maker = maker_of(body, slot);
    if (!maker || !tp__scalar_is(maker->scalar, "arith.extf"))
      return -1;
    slot = maker->operands[0];
  }
}

/* Matches a body that yields out + x * y, with the operands of the addition in either order. */
static bool match_body(const node *n, const structured *s, contraction *c) {
  const block *body = n->blocks;
  if (n->n_results != 1 || body->n_arguments != s->n_operands)
    return false;
  const node *sum = maker_of(body, terminator(body)->operands[0]);
  if (!sum || !tp__scalar_is(sum->scalar, "arith.addf"))
    return false;
  int out = body->arguments[s->n_inputs], other = sum->operands[0] == out ? 1 : 0;
  const node *product = maker_of(body, sum->operands[other]);
  if (sum->operands[1 - other] != out || !product || !tp__scalar_is(product->scalar, "arith.mulf"))
    return false;
  c->a = input_of(n, s, product->operands[0]);
  c->b = input_of(n, s, product->operands[1]);
  c->k = n->kinds[0];
  return c->a >= 0 && c->b >= 0 && product->kinds[0] == c->k && c->k->parts == 1;
}

contraction *tp__contraction_find(evaluation *r, const node *n, const structured *s) {
  contraction c = {.sizes = {1, 1, 1, 1}};
  if (!match_body(n, s, &c))
    return NULL;
  const access *to = s->accesses + s->n_inputs, *a = s->accesses + c.a, *b = s->accesses + c.b;
  if (!to->is_linear || !a->is_linear || !b->is_linear)
    return NULL;
  uint64_t seen = 0;
  for (int d = 0; d < to->n; d++) {
    /* each element of c belongs to one row, one column and one batch */
    if (to->dims[d] < 0 || seen >> to->dims[d] & 1)
      return NULL;
    seen |= UINT64_C(1) << to->dims[d];
  }
  for (int l = 0; l < s->n_loops; l++) {
    bool in_c = seen >> l & 1;
    int class = !in_c ? SUM : a->strides[l] && b->strides[l] ? BATCH : b->strides[l] ? COLUMN : ROW;
    c.loops[class][c.n[class]++] = l;
    c.sizes[class] *= s->sizes[l];
  }
  contraction *made = tp__eval_allocate(r, sizeof *made);
  *made = c;
  return made;
}

/* ---- running ---- */

/* Lists the offset that each iteration of the loops of a class adds to an operand's linear
 * index. */
static void list_offsets(const structured *s, const contraction *c, int class, const access *a,
                         int64_t *list) {
  int64_t sizes[TP__EVAL_MAX_LOOPS], at[TP__EVAL_MAX_LOOPS] = {0};
  for (int i = 0; i < c->n[class]; i++)
    sizes[i] = s->sizes[c->loops[class][i]];
  for (int64_t e = 0; e < c->sizes[class]; e++, tp__next_index(c->n[class], sizes, at)) {
    list[e] = 0;
    for (int i = 0; i < c->n[class]; i++)
      list[e] += at[i] * a->strides[c->loops[class][i]];
  }
}

/* A matrix of numbers, as one array per field. */
typedef struct matrix {
  double *values, *reaches, *errors;
  bool has_errors, is_whole;
} matrix;

static double *matrix_place(matrix *m, double *at, int64_t n) {
  *m = (matrix){at, at + n, at + 2 * n, false, true};
  return at + 3 * n;
}

/* False if a number is unknown, infinite or NaN. */
static bool matrix_fill(matrix *m, const number *from, const int64_t *rows, int64_t n_rows,
                        const int64_t *columns, int64_t n_columns) {
  m->has_errors = false;
  m->is_whole = true;
  for (int64_t i = 0; i < n_rows; i++)
    for (int64_t j = 0; j < n_columns; j++) {
      const number *x = from + rows[i] + columns[j];
      if (!is_known(x) || !isfinite(x->value))
        return false;
      m->values[i * n_columns + j] = x->value;
      m->reaches[i * n_columns + j] = x->reach;
      m->errors[i * n_columns + j] = x->error;
      m->has_errors |= x->error > 0;
      m->is_whole &= x->value == rint(x->value);
    }
  return true;
}

typedef struct sizes {
  int64_t rows, columns, sum;
} sizes;

/* c += a * b, as plain loops that compilers vectorize. */
static inline __attribute__((always_inline)) void
multiply(const sizes *s, const double *a, const double *restrict b, double *restrict c) {
  for (int64_t i = 0; i < s->rows; i++) {
    double *restrict to = c + i * s->columns;
    const double *x = a + i * s->sum;
    int64_t p = 0;
    for (; p + 4 <= s->sum; p += 4) {
      const double *y = b + p * s->columns;
      for (int64_t j = 0; j < s->columns; j++)
        to[j] += x[p] * y[j] + x[p + 1] * y[s->columns + j] + x[p + 2] * y[2 * s->columns + j] +
                 x[p + 3] * y[3 * s->columns + j];
    }
    for (; p < s->sum; p++)
      for (int64_t j = 0; j < s->columns; j++)
        to[j] += x[p] * b[p * s->columns + j];
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
/* No fused multiply-add, so that the result has the same bits on every processor. */
__attribute__((target("avx2"))) static void multiply_avx2(const sizes *s, const double *a,
                                                          const double *b, double *c) {
  multiply(s, a, b, c);
}
#endif

static void multiply_scalar(const sizes *s, const double *a, const double *b, double *c) {
  multiply(s, a, b, c);
}

static void accumulate_matmul(const sizes *s, const double *a, const double *b, double *c) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) {
    multiply_avx2(s, a, b, c);
    return;
  }
#endif
  multiply_scalar(s, a, b, c);
}

/* Adds the errors of the products: |a| eb + ea |b| + ea eb. Overwrites the reaches. */
static void add_errors(const sizes *s, matrix *a, matrix *b, double *errors) {
  if (b->has_errors) {
    for (int64_t i = 0; i < s->rows * s->sum; i++)
      a->reaches[i] = fabs(a->values[i]);
    accumulate_matmul(s, a->reaches, b->errors, errors);
  }
  if (a->has_errors) {
    for (int64_t i = 0; i < s->sum * s->columns; i++)
      b->reaches[i] = fabs(b->values[i]) + b->errors[i];
    accumulate_matmul(s, a->errors, b->reaches, errors);
  }
}

/* Adds a sum of n products to the initial value. */
static number finish(const kind *k, const number *init, double value, double reach, double error,
                     bool is_whole, int64_t n) {
  number sum = {
      .value = init->value + value, .reach = init->reach + reach, .error = init->error + error};
  bool is_certain_sum =
      is_whole && sum.error == 0 && init->value == rint(init->value) && sum.reach <= 1 / k->unit;
  if (is_exact(k))
    return tp__rounded(k, sum.value, fabs(sum.value), 0, 1);
  if (!is_known(init) || !(sum.reach + sum.error <= k->most * (1 + k->unit / 2)))
    return tp__unknown();
  if (!is_certain_sum) {
    double roundings = (double)n / 2 + 2;
    sum.error += roundings * (k->unit * (sum.reach + sum.error) + k->min_normal);
  }
  return sum;
}

bool tp__contraction_sum(evaluation *r, const cell *frame, const node *n, const structured *s,
                         tensor *made) {
  const contraction *c = s->contraction;
  const access *on[3] = {s->accesses + c->a, s->accesses + c->b, s->accesses + s->n_inputs};
  const number *a = frame[n->operands[c->a]].tensor->numbers + on[0]->base;
  const number *b = frame[n->operands[c->b]].tensor->numbers + on[1]->base;
  sizes size = {c->sizes[ROW], c->sizes[COLUMN], c->sizes[SUM]};
  int64_t n_left = size.rows * size.sum, n_right = size.sum * size.columns,
          n_sums = size.rows * size.columns;
  int64_t n_offsets = c->sizes[BATCH] + c->sizes[ROW] + c->sizes[COLUMN] + c->sizes[SUM];
  double *scratch =
      tp__eval_scratch(r, sizeof(double) * (size_t)(3 * (n_left + n_right + n_sums + n_offsets)));
  matrix left, right, sums;
  int64_t *next = (int64_t *)matrix_place(
      &sums, matrix_place(&right, matrix_place(&left, scratch, n_left), n_right), n_sums);
  int64_t *offsets[3][N_CLASSES];
  for (int x = 0; x < 3; x++)
    for (int class = 0; class < N_CLASSES; class++, next += c->sizes[class - 1]) {
      offsets[x][class] = next;
      list_offsets(s, c, class, on[x], next);
    }
  for (int64_t e = 0; e < c->sizes[BATCH]; e++) {
    if (!tp__eval_count(r, n, 0))
      return false;
    if (!matrix_fill(&left, a + offsets[0][BATCH][e], offsets[0][ROW], size.rows, offsets[0][SUM],
                     size.sum) ||
        !matrix_fill(&right, b + offsets[1][BATCH][e], offsets[1][SUM], size.sum,
                     offsets[1][COLUMN], size.columns))
      return false;
    memset(sums.values, 0, 3 * (size_t)(size.rows * size.columns) * sizeof(double));
    accumulate_matmul(&size, left.values, right.values, sums.values);
    if (!is_exact(c->k)) {
      accumulate_matmul(&size, left.reaches, right.reaches, sums.reaches);
      add_errors(&size, &left, &right, sums.errors);
    }
    for (int64_t i = 0; i < size.rows; i++)
      for (int64_t j = 0; j < size.columns; j++) {
        int64_t at = i * size.columns + j;
        number *to = made->numbers + on[2]->base + offsets[2][BATCH][e] + offsets[2][ROW][i] +
                     offsets[2][COLUMN][j];
        *to = finish(c->k, to, sums.values[at], sums.reaches[at], sums.errors[at],
                     left.is_whole && right.is_whole, size.sum);
      }
  }
  return true;
}
