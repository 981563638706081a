/* rng_bit_generator: the bits that XLA computes on CPUs.
 *
 * The state is a key and a counter. Element i of the result is computed from its position alone, so
 * that devices can compute their parts without communication. That repeats work: Philox gives 128
 * bits and Threefry 64, of which one element is kept.
 *
 * J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011. */
#include "passes/import/stablehlo/hlo.h"

typedef struct generator {
  tp_hlo *hlo;
  MlirType i64;
  MlirValue key, counter; /* numbers */
  tp_hlo_shape shape;     /* of the result */
  int width;              /* of its elements, in bits */
} generator;

/* Words of 32 bits are the lower halves of i64. */
typedef struct words {
  MlirValue at[4];
} words;

static MlirValue number(const generator *g, int64_t value) {
  return tp__hlo_int_constant(g->hlo, g->i64, value);
}

static MlirValue op2(const generator *g, const char *name, MlirValue a, MlirValue b) {
  return tp__hlo_binary(g->hlo, name, a, b);
}

static MlirValue low(const generator *g, MlirValue x) {
  return op2(g, "arith.andi", x, number(g, 0xffffffff));
}

static MlirValue high(const generator *g, MlirValue x) {
  return op2(g, "arith.shrui", x, number(g, 32));
}

static MlirValue add(const generator *g, MlirValue a, MlirValue b) {
  return low(g, op2(g, "arith.addi", a, b));
}

static MlirValue xor(const generator *g, MlirValue a, MlirValue b) {
  return op2(g, "arith.xori", a, b);
}

static MlirValue pick(const generator *g, MlirValue which, int64_t is, MlirValue yes,
                      MlirValue no) {
  return tp__hlo_select(g->hlo, tp__hlo_compare(g->hlo, "eq", which, number(g, is)), yes, no);
}

static MlirValue together(const generator *g, MlirValue lower, MlirValue upper) {
  return op2(g, "arith.ori", lower, op2(g, "arith.shli", upper, number(g, 32)));
}

/* ---- the ciphers ---- */

/* Philox4x32-10. */
static words philox(const generator *g, words c, MlirValue key) {
  MlirValue k[] = {low(g, key), high(g, key)};
  for (int round = 0; round < 10; round++) {
    MlirValue a = op2(g, "arith.muli", c.at[0], number(g, 0xd2511f53));
    MlirValue b = op2(g, "arith.muli", c.at[2], number(g, 0xcd9e8d57));
    c = (words){{xor(g, xor(g, high(g, b), c.at[1]), k[0]), low(g, b),
                 xor(g, xor(g, high(g, a), c.at[3]), k[1]), low(g, a)}};
    k[0] = add(g, k[0], number(g, 0x9e3779b9));
    k[1] = add(g, k[1], number(g, 0xbb67ae85));
  }
  return c;
}

/* Threefry2x32-20. */
static words threefry(const generator *g, MlirValue counter, MlirValue key) {
  static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  MlirValue k[] = {low(g, key), high(g, key), {NULL}};
  k[2] = xor(g, xor(g, k[0], k[1]), number(g, 0x1bd11bda));
  MlirValue x = add(g, low(g, counter), k[0]), y = add(g, high(g, counter), k[1]);
  for (int i = 0; i < 5; i++) {
    for (int r = 0; r < 4; r++) {
      int by = rotations[i % 2][r];
      x = add(g, x, y);
      MlirValue left = low(g, op2(g, "arith.shli", y, number(g, by)));
      y = xor(g, op2(g, "arith.ori", left, op2(g, "arith.shrui", y, number(g, 32 - by))), x);
    }
    x = add(g, x, k[(i + 1) % 3]);
    y = add(g, add(g, y, k[(i + 2) % 3]), number(g, i + 1));
  }
  return (words){{x, y}};
}

/* ---- elements ---- */

static int64_t element_count(const generator *g) { return tp__hlo_elements(&g->shape); }

static MlirValue position(const generator *g, int dim) {
  return tp__hlo_convert_to(g->hlo, "arith.index_cast", g->i64, tp__hlo_loop_index(g->hlo, dim));
}

/* The position of the element in the whole result. */
static MlirValue flat(const generator *g) {
  MlirValue at = number(g, 0);
  for (int d = 0; d < g->shape.rank; d++)
    at = op2(g, "arith.addi", op2(g, "arith.muli", at, number(g, g->shape.sizes[d])),
             position(g, d));
  return at;
}

/* Four words of 32 bits for each step of the counter of 128 bits, whose upper half is the key. */
static MlirValue philox_element(const generator *g) {
  int n = g->width == 64 ? 2 : 4;
  MlirValue at = flat(g), step = op2(g, "arith.divui", at, number(g, n));
  MlirValue lane = op2(g, "arith.remui", at, number(g, n));
  MlirValue lower = op2(g, "arith.addi", g->counter, step);
  MlirValue carries = tp__hlo_compare(g->hlo, "ult", lower, g->counter);
  MlirValue upper =
      op2(g, "arith.addi", g->key, tp__hlo_convert_to(g->hlo, "arith.extui", g->i64, carries));
  words w = {{low(g, lower), high(g, lower), low(g, upper), high(g, upper)}};
  w = philox(g, w, g->key);
  if (g->width == 64)
    return pick(g, lane, 0, together(g, w.at[0], w.at[1]), together(g, w.at[2], w.at[3]));
  return pick(g, lane, 0, w.at[0], pick(g, lane, 1, w.at[1], pick(g, lane, 2, w.at[2], w.at[3])));
}

/* Threefry gives two words for each step. One dimension is split into pairs of them: the first of
 * even size, else the largest, padded. */
static int paired_dim(const generator *g) {
  int largest = 0;
  for (int d = 0; d < g->shape.rank; d++)
    if (g->shape.sizes[d] % 2 == 0)
      return d;
  for (int d = 1; d < g->shape.rank; d++)
    if (g->shape.sizes[d] > g->shape.sizes[largest])
      largest = d;
  return largest;
}

static MlirValue threefry_element(const generator *g) {
  int pair = paired_dim(g);
  if (g->width == 64) {
    words w = threefry(g, op2(g, "arith.addi", g->counter, flat(g)), g->key);
    return together(g, w.at[0], w.at[1]);
  }
  MlirValue step = number(g, 0), half = number(g, 0);
  for (int d = 0; d < g->shape.rank; d++) {
    MlirValue at = position(g, d);
    int64_t size = g->shape.sizes[d];
    if (d == pair) {
      half = op2(g, "arith.remui", at, number(g, 2));
      at = op2(g, "arith.divui", at, number(g, 2));
      size = (size + 1) / 2;
    }
    step = op2(g, "arith.addi", op2(g, "arith.muli", step, number(g, size)), at);
  }
  words w = threefry(g, op2(g, "arith.addi", g->counter, step), g->key);
  return pick(g, half, 0, w.at[0], w.at[1]);
}

/* By how much the counter grows. */
static int64_t step_count(const generator *g, bool is_philox) {
  int64_t n = element_count(g), parts = 128 / (g->width == 64 ? 64 : 32);
  int pair = paired_dim(g);
  if (is_philox)
    return (n + parts - 1) / parts;
  if (g->width == 64 || g->shape.rank == 0)
    return n;
  return n == 0 ? 0 : n / g->shape.sizes[pair] * ((g->shape.sizes[pair] + 1) / 2);
}

/* ---- the op ---- */

/* Element i of the state, as a tensor of rank 0. */
static MlirValue state_part(tp_hlo *hlo, MlirValue state, int64_t i) {
  tp_hlo_shape none = {0};
  MlirValue part = tp__hlo_slice(hlo, state, (int64_t[]){i}, (int64_t[]){1}, (int64_t[]){1});
  return tp__hlo_reshape(hlo, part, &none);
}

static MlirValue bits(generator *g, MlirType type, const MlirValue *parts, bool is_philox) {
  tp_hlo *hlo = g->hlo;
  int all[TP_MAX_RANK];
  for (int d = 0; d < g->shape.rank; d++)
    all[d] = d;
  MlirValue operands[] = {parts[0], parts[1], tp__hlo_build(hlo, "tensor.empty", type, 0, NULL)};
  MlirAttribute none = tp__hlo_loop_map(hlo, g->shape.rank, 0, NULL);
  MlirAttribute maps[] = {none, none, tp__hlo_loop_map(hlo, g->shape.rank, g->shape.rank, all)};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 2, 1, operands, maps, &yield);
  hlo->where = yield;
  g->key = tp__hlo_body_arg(generic, 0);
  g->counter = tp__hlo_body_arg(generic, 1);
  MlirValue now = is_philox ? philox_element(g) : threefry_element(g);
  if (g->width < 64)
    now = tp__hlo_convert_to(hlo, "arith.trunci", tp__element_type(type), now);
  mlirOperationSetOperands(yield, 1, &now);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

static tp_status check(MlirOperation op, const char *algorithm, int *width) {
  MlirType element = tp__hlo_result_element(op, 1);
  tp_hlo_shape state = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  MlirType state_element = tp__hlo_operand_element(op, 0);
  tp_hlo plain = {0};
  static const char *const known[] = {"DEFAULT", "PHILOX", "THREE_FRY"};
  bool is_known = false, is_word = mlirTypeIsAInteger(state_element);
  for (int i = 0; i < TP_LEN(known); i++)
    is_known |= strcmp(algorithm, known[i]) == 0;
  if (!is_known)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "rng_algorithm '%s' is not DEFAULT, PHILOX or THREE_FRY", algorithm);
  if (state.rank != 1 || state.sizes[0] != 2 || !is_word ||
      mlirIntegerTypeGetWidth(state_element) != 64 ||
      !mlirTypeEqual(tp__hlo_operand_type(op, 0), tp__result_type(op)))
    return tp__error(op, TP_UNSUPPORTED,
                     "the state must be of type tensor<2xui64>, a key and a counter, before and "
                     "after the op");
  if (tp__hlo_kind(element) != TP_HLO_SIGNED && tp__hlo_kind(element) != TP_HLO_UNSIGNED)
    return tp__error(op, TP_UNSUPPORTED, "draws %s; draw integers, and convert them",
                     tp__hlo_kind_text(tp__hlo_kind(element)));
  *width = 8 * (int)tp__element_size(tp__hlo_type(&plain, element));
  return TP_OK;
}

static tp_status rng_bit_generator(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  char algorithm[16];
  generator g = {.hlo = hlo, .i64 = mlirIntegerTypeGet(hlo->context, 64)};
  TP_TRY(tp__hlo_keyword(op, "rng_algorithm", sizeof algorithm, algorithm));
  TP_TRY(check(op, algorithm, &g.width));
  if (hlo->scalar)
    return tp__error(op, TP_UNSUPPORTED, "is not supported in the body of another op");
  bool is_philox = strcmp(algorithm, "THREE_FRY") != 0;
  MlirType type = tp__hlo_result_type(hlo, op, 1), state_type = tp__hlo_result_type(hlo, op, 0);
  MlirValue state = tp__hlo_operand(hlo, op, 0);
  MlirValue parts[] = {state_part(hlo, state, 0), state_part(hlo, state, 1)};
  g.shape = tp__hlo_shape(type);
  MlirValue drawn = bits(&g, type, parts, is_philox);
  int64_t steps[] = {0, step_count(&g, is_philox)};
  MlirNamedAttribute attr =
      tp__named(hlo->context, "value", mlirDenseElementsAttrInt64Get(state_type, 2, steps));
  MlirOperation increment = tp__hlo_build_op(hlo, &(tp_build){.name = "arith.constant",
                                                              .n_results = 1,
                                                              .results = &state_type,
                                                              .n_attributes = 1,
                                                              .attributes = &attr});
  MlirValue next = tp__hlo_binary(hlo, "arith.addi", state, mlirOperationGetResult(increment, 0));
  TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, 0), next));
  return tp__hlo_map(hlo, op, mlirOperationGetResult(op, 1), drawn);
}

const tp_hlo_row tp__hlo_random_rows[] = {
    {"stablehlo.rng_bit_generator", 1, 2, 0, rng_bit_generator, NULL,
     "linalg.generic: Philox4x32-10 (also for DEFAULT) or Threefry2x32-20, the bits of XLA's CPU"},
    {NULL},
};
