/* Tests tables, conversions, reductions of special values, the environment, and memrefCopy. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include "tprt/abi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

/* Returns the value of an f16 or bf16, computed arithmetically from its fields. */
static double decode(uint16_t half, int exponent_bits, int mantissa_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1,
      exponent = half >> mantissa_bits & ((1 << exponent_bits) - 1);
  int mantissa = half & ((1 << mantissa_bits) - 1);
  double sign = half & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa ? (double)NAN : sign * (double)INFINITY;
  if (exponent == 0)
    return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

typedef struct half_format {
  int exponent_bits, mantissa_bits;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);
} half_format;

static const half_format formats[] = {{5, 10, tprt_f16_to_f32, tprt_f32_to_f16},
                                      {8, 7, tprt_bf16_to_f32, tprt_f32_to_bf16}};

/* For all values: widening is exact; narrowing restores them; the midpoint to the next number
 * rounds to even, and its neighbors to the nearer number. */
static void test_half_all(void **state) {
  (void)state;
  for (size_t f = 0; f < 2; f++) {
    const half_format *format = &formats[f];
    uint16_t infinity = (uint16_t)(((1 << format->exponent_bits) - 1) << format->mantissa_bits);
    for (uint32_t i = 0; i < 65536; i++) {
      uint16_t half = (uint16_t)i;
      double expected = decode(half, format->exponent_bits, format->mantissa_bits);
      float wide = format->widen(half);
      if (isnan(expected)) {
        assert_true(isnan(wide));
        assert_true(isnan(format->widen(format->narrow(wide))));
        continue;
      }
      assert_true((double)wide == expected && !signbit(wide) == !signbit(expected));
      assert_int_equal(format->narrow(wide), half);
      if ((half & 0x7fff) >= infinity)
        continue;
      /* Infinity is where the next number would be if the exponent had one more value. */
      double next = decode((uint16_t)(half + 1), format->exponent_bits, format->mantissa_bits);
      if (((half + 1) & 0x7fff) == infinity)
        next = expected + (expected - (double)format->widen((uint16_t)(half - 1)));
      /* exact in f32, also for bf16 subnormals */
      float middle = (float)((expected + next) / 2);
      uint16_t even = half & 1 ? (uint16_t)(half + 1) : half;
      assert_int_equal(format->narrow(middle), even);
      assert_int_equal(format->narrow(nextafterf(middle, wide)), half);
      assert_int_equal(format->narrow(nextafterf(middle, copysignf(INFINITY, wide))), half + 1);
    }
    assert_int_equal(format->narrow(3e38f * 10), infinity);
  }
  assert_int_equal(tprt_f32_to_f16(65519.996f), 0x7bff);
  assert_int_equal(tprt_f32_to_f16(65520.0f), 0x7c00);
  assert_int_equal(tprt_f32_to_f16(1e-30f), 0);
}

/* f8e5m2 is the upper half of an f16. All values: widening is that of f16; narrowing restores them;
 * midpoints round to the even neighbor, and floats beside them to the nearer one. */
static void test_f8e5m2(void **state) {
  (void)state;
  enum { INFINITE = 0x7c };
  for (uint32_t i = 0; i < 256; i++) {
    uint8_t byte = (uint8_t)i, magnitude = byte & 0x7f;
    float wide = tprt_f8e5m2_to_f32(byte), as_half = tprt_f16_to_f32((uint16_t)(i << 8));
    if (magnitude > INFINITE) {
      assert_true(isnan(wide) && isnan(tprt_f8e5m2_to_f32(tprt_f32_to_f8e5m2(wide))));
      continue;
    }
    assert_memory_equal(&wide, &as_half, sizeof wide);
    assert_int_equal(tprt_f32_to_f8e5m2(wide), byte);
    if (magnitude == INFINITE)
      continue;
    /* Infinity is where the next number would be if the exponent had one more value: 65536. */
    double next = magnitude + 1 == INFINITE ? copysign(65536, (double)wide)
                                            : (double)tprt_f8e5m2_to_f32((uint8_t)(byte + 1));
    float middle = (float)(((double)wide + next) / 2);
    assert_int_equal(tprt_f32_to_f8e5m2(middle), byte & 1 ? byte + 1 : byte);
    assert_int_equal(tprt_f32_to_f8e5m2(nextafterf(middle, wide)), byte);
    assert_int_equal(tprt_f32_to_f8e5m2(nextafterf(middle, copysignf(INFINITY, wide))), byte + 1);
  }
}

static void test_names(void **state) {
  (void)state;
  for (int i = 1; i < TPRT_N_DTYPES; i++) {
    assert_non_null(tprt_dtype_name((tprt_dtype)i));
    assert_int_equal(tprt_dtype_parse(tprt_dtype_name((tprt_dtype)i)), i);
    assert_true(tprt_dtype_size((tprt_dtype)i) > 0);
  }
  for (int i = 1; i < TPRT_N_REDUCTIONS; i++) {
    assert_int_equal(tprt_reduction_parse(tprt_reduction_name((tprt_reduction)i)), i);
  }
  assert_null(tprt_dtype_name((tprt_dtype)0));
  assert_null(tprt_dtype_name((tprt_dtype)999));
  assert_int_equal(tprt_dtype_parse("f31"), 0);
  assert_false(tprt_reduction_supports(TPRT_BXOR, TPRT_F32));
  assert_false(tprt_reduction_supports(TPRT_MAXNUM, TPRT_I32));
  assert_false(tprt_reduction_supports(TPRT_SUM, TPRT_BOOL));
  for (int i = 0; i <= TPRT_PROGRAM; i++)
    assert_string_not_equal(tprt_status_name((tprt_status)i), "unknown status");
  assert_string_equal(tprt_status_name((tprt_status)77), "unknown status");
}

/* Reduces each pair of special values over two ranks: NaN and signs of zero. */
static int reduce_pairs(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  const float nan = NAN, first[] = {0.0f, -0.0f, nan, 1.0f, nan, -1.0f},
              second[] = {-0.0f, 0.0f, 1.0f, nan, nan, -2.0f};
  const float maximum[] = {0.0f, 0.0f, nan, nan, nan, -1.0f},
              minimum[] = {-0.0f, -0.0f, nan, nan, nan, -2.0f};
  const float maxnum[] = {0.0f, 0.0f, 1.0f, 1.0f, nan, -1.0f},
              minnum[] = {-0.0f, -0.0f, 1.0f, 1.0f, nan, -2.0f};
  const struct {
    tprt_reduction reduction;
    const float *expected;
  } cases[] = {
      {TPRT_MAX, maximum}, {TPRT_MIN, minimum}, {TPRT_MAXNUM, maxnum}, {TPRT_MINNUM, minnum}};
  for (size_t c = 0; c < 4; c++) {
    float result[6];
    CHECK_STATUS(errors,
                 tprt_all_reduce(comm, tprt_comm_rank(comm) ? second : first, result, 6, TPRT_F32,
                                 cases[c].reduction, NULL, NULL),
                 TPRT_OK);
    for (int i = 0; i < 6; i++) {
      bool nans = isnan(result[i]) && isnan(cases[c].expected[i]);
      CHECK(errors, nans || bits_of(result[i]) == bits_of(cases[c].expected[i]));
    }
  }
  return errors;
}

/* Computed in f32 and rounded once, 2048 + 1 + 1 is 2050 in f16; rounded after each step it is
 * 2048. */
static int round_once(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  uint16_t mine = tprt_f32_to_f16(tprt_comm_rank(comm) ? 1 : 2048), sum;
  CHECK_STATUS(errors, tprt_all_reduce(comm, &mine, &sum, 1, TPRT_F16, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, tprt_f16_to_f32(sum) == 2050.0f);
  return errors;
}

static void test_special(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, reduce_pairs, NULL), 0);
  assert_int_equal(run_threads(3, &config, round_once, NULL), 0);
}

static tprt_status world_with(const char *name, const char *value) {
  tprt_comm *comm;
  setenv(name, value, 1);
  tprt_status status = tprt_world_create_threads(1, NULL, &comm);
  unsetenv(name);
  if (!status)
    tprt_comm_destroy(comm);
  return status;
}

typedef struct warnings {
  int n;
  char last[256];
} warnings;

static void take_warning(void *user, const char *text) {
  warnings *taken = user;
  taken->n++;
  snprintf(taken->last, sizeof taken->last, "%s", text);
}

/* Unknown variables are named once in a process, so this test has to be the first that creates a
 * world. */
static void test_unknown_variables(void **state) {
  (void)state;
  warnings taken = {0};
  tprt_set_logger(&(tprt_logger){.log = take_warning, .user = &taken});
  setenv("TPRT_TIMEOUT", "60", 1);
  setenv("TPRTX_OF_OTHERS", "1", 1);
  setenv("TPRT_TIMOET", "5", 1);
  assert_int_equal(world_with("TPRT_SLOT_BYTES", "64K"), TPRT_OK);
  assert_int_equal(taken.n, 1);
  assert_string_equal(taken.last,
                      "the environment sets TPRT_TIMOET, which is not a variable of tprt; "
                      "did you mean TPRT_TIMEOUT?");
  assert_int_equal(world_with("TPRT_SLOT_BYTES", "64K"), TPRT_OK);
  assert_int_equal(taken.n, 1);
  unsetenv("TPRT_TIMEOUT");
  unsetenv("TPRTX_OF_OTHERS");
  unsetenv("TPRT_TIMOET");
  tprt_set_logger(NULL);
}

/* Each variable with a type is checked, whether or not this world needs it. */
static void test_wrong_values(void **state) {
  (void)state;
  static const char *const texts[] = {"name", "path", "address"};
  size_t n;
  int n_checked = 0;
  const tprt_env_var *table = tprt_env(&n);
  for (size_t i = 0; i < n; i++) {
    bool is_text = false;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      is_text |= strcmp(table[i].type, texts[k]) == 0;
    if (is_text)
      continue;
    char expected[128];
    snprintf(expected, sizeof expected, "%s is \"a-b\"; it must be ", table[i].name);
    assert_int_equal(world_with(table[i].name, "a-b"), TPRT_INVALID_ARGUMENT);
    assert_memory_equal(tprt_last_error(), expected, strlen(expected));
    n_checked++;
  }
  assert_true(n_checked > 10);
}

static void test_environment(void **state) {
  (void)state;
  static const struct {
    const char *name, *value;
    tprt_status status;
  } cases[] = {
      {"TPRT_TIMEOUT", "2.5", TPRT_OK},
      {"TPRT_TIMEOUT", "2s", TPRT_INVALID_ARGUMENT},
      {"TPRT_TIMEOUT", "-1", TPRT_INVALID_ARGUMENT},
      {"TPRT_TIMEOUT", "nan", TPRT_INVALID_ARGUMENT},
      {"TPRT_SLOT_BYTES", "64K", TPRT_OK},
      {"TPRT_SLOT_BYTES", "64k", TPRT_INVALID_ARGUMENT},
      {"TPRT_SLOT_BYTES", " 64", TPRT_INVALID_ARGUMENT},
      {"TPRT_SLOT_BYTES", "9999999999999999999", TPRT_INVALID_ARGUMENT},
      {"TPRT_MAX_COMMS", "0", TPRT_INVALID_ARGUMENT},
      {"TPRT_MAX_COMMS", "3K", TPRT_INVALID_ARGUMENT},
      {"TPRT_BACKEND", "SHM", TPRT_OK},
      {"TPRT_BACKEND", "smoke-signals", TPRT_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(world_with(cases[i].name, cases[i].value), cases[i].status);
  }
  assert_non_null(strstr(tprt_last_error(), "known: shm, loopback, tcp, fabric, mpi, nccl, self"));
  size_t n;
  const tprt_env_var *table = tprt_env(&n);
  for (size_t i = 0; i < n; i++)
    assert_true(table[i].name && table[i].type && table[i].help);
}

static void test_configs(void **state) {
  (void)state;
  struct {
    tprt_config known;
    int64_t unknown;
  } future = {.known = test_config()};
  tprt_comm *comm;
  future.known.size = sizeof future;
  assert_int_equal(tprt_world_create_threads(1, &future.known, &comm), TPRT_OK);
  tprt_comm_destroy(comm);
  future.unknown = 1;
  assert_int_equal(tprt_world_create_threads(1, &future.known, &comm), TPRT_UNSUPPORTED);
  tprt_config none = {.size = 0};
  assert_int_equal(tprt_world_create_threads(1, &none, &comm), TPRT_INVALID_ARGUMENT);
  none = test_config();
  none.max_comms = -1;
  assert_int_equal(tprt_world_create_threads(1, &none, &comm), TPRT_INVALID_ARGUMENT);
  none = test_config();
  assert_int_equal(tprt_world_create_threads(0, &none, &comm), TPRT_INVALID_ARGUMENT);
  none.backend = "self";
  assert_int_equal(tprt_world_create(1, 0, &none, &comm), TPRT_OK);
  tprt_comm_destroy(comm);
  assert_int_equal(tprt_world_create(2, 0, &none, &comm), TPRT_INVALID_ARGUMENT);
}

/* Copies a permuted view of 2x3x4 into a strided view with an offset. */
static void test_memref_copy(void **state) {
  (void)state;
  int16_t source[24], target[64] = {0};
  for (int i = 0; i < 24; i++)
    source[i] = (int16_t)(i + 1);
  struct {
    void *allocated, *aligned;
    int64_t offset, sizes[3], strides[3];
  } from = {NULL, source, 0, {4, 2, 3}, {1, 12, 4}}, to = {NULL, target, 5, {4, 2, 3}, {13, 6, 2}};
  tprt_unranked_memref a = {3, &from}, b = {3, &to};
  memrefCopy(2, &a, &b);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 2; j++) {
      for (int k = 0; k < 3; k++)
        assert_int_equal(target[5 + i * 13 + j * 6 + k * 2], source[i + j * 12 + k * 4]);
    }
  }
  struct {
    void *allocated, *aligned;
    int64_t offset;
  } scalar = {NULL, source, 3}, cell = {NULL, target, 0};
  a = (tprt_unranked_memref){0, &scalar};
  b = (tprt_unranked_memref){0, &cell};
  memrefCopy(2, &a, &b);
  assert_int_equal(target[0], source[3]);
}

/* Ties go to the even number, NaN stays NaN, and large numbers become infinite. */
static void test_truncate_to_bf16(void **state) {
  (void)state;
  static const uint32_t cases[][2] = {
      {0x00000000, 0x0000}, {0x80000000, 0x8000}, {0x3F800000, 0x3F80}, {0x3F808000, 0x3F80},
      {0x3F808001, 0x3F81}, {0x3F818000, 0x3F82}, {0xBF807FFF, 0xBF80}, {0x00000001, 0x0000},
      {0x00018000, 0x0002}, {0x7F7FFFFF, 0x7F80}, {0xFF800000, 0xFF80}, {0x7F800001, 0x7FC0},
      {0xFFC12345, 0xFFC1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float from;
    uint32_t to;
    memcpy(&from, &cases[i][0], sizeof from);
    from = __truncsfbf2(from);
    memcpy(&to, &from, sizeof to);
    assert_int_equal(to & 0xFFFF, cases[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unknown_variables),
      cmocka_unit_test(test_wrong_values),
      cmocka_unit_test(test_half_all),
      cmocka_unit_test(test_f8e5m2),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_special),
      cmocka_unit_test(test_environment),
      cmocka_unit_test(test_configs),
      cmocka_unit_test(test_memref_copy),
      cmocka_unit_test(test_truncate_to_bf16),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
