/* NCCL's types and reductions, independent of the backend's own tables. */
#include "fake_inside.h"
#include "test/runtime/harness/oracle.h"

#include <string.h>

/* Required by oracle.c for filling inputs; unused here. */
uint64_t test_random(uint64_t *state);
uint64_t test_random(uint64_t *state) { return ++*state; }

/* Indexed by NCCL type. */
static const tprt_dtype types[] = {TPRT_I8,  TPRT_U8,   TPRT_I32,    TPRT_U32,
                                   TPRT_I64, TPRT_U64,  TPRT_F16,    TPRT_F32,
                                   TPRT_F64, TPRT_BF16, TPRT_F8E4M3, TPRT_F8E5M2};
enum { N_TYPES = sizeof types / sizeof *types };

size_t fake_type_size(nccl_type type) {
  return type >= 0 && type < N_TYPES ? tprt_dtype_size(types[type]) : 0;
}

static tprt_reduction reduction_of(nccl_type type, nccl_reduction op) {
  bool is_float = type >= NCCL_TYPE_F16;
  switch (op) {
  case NCCL_REDUCE_SUM:
    return TPRT_SUM;
  case NCCL_REDUCE_PRODUCT:
    return TPRT_PRODUCT;
  case NCCL_REDUCE_MAX: /* for floats, a number wins over a NaN */
    return is_float ? TPRT_MAXNUM : TPRT_MAX;
  case NCCL_REDUCE_MIN:
    return is_float ? TPRT_MINNUM : TPRT_MIN;
  case NCCL_REDUCE_AVG:
    return TPRT_AVG;
  default:
    return TPRT_NO_REDUCTION;
  }
}

#define SUM_SCALED(type)                                                                           \
  do {                                                                                             \
    type sum = 0, value, factor;                                                                   \
    for (int k = 0; k < n; k++) {                                                                  \
      memcpy(&value, inputs[k] + i * sizeof value, sizeof value);                                  \
      memcpy(&factor, factors[k], sizeof factor);                                                  \
      type product = (type)(value * factor);                                                       \
      sum = k ? (type)(sum + product) : product;                                                   \
    }                                                                                              \
    memcpy(to, &sum, sizeof sum);                                                                  \
  } while (0)

static bool sum_scaled(nccl_type type, unsigned char *to, unsigned char *const *inputs,
                       const void *const *factors, int n, size_t i) {
  switch (fake_type_size(type) * 2 + (type >= NCCL_TYPE_F16)) {
  case 2:
    SUM_SCALED(uint8_t);
    return true;
  case 8:
    SUM_SCALED(uint32_t);
    return true;
  case 16:
    SUM_SCALED(uint64_t);
    return true;
  case 9:
    SUM_SCALED(float);
    return true;
  case 17:
    SUM_SCALED(double);
    return true;
  default: /* the other reductions are not used */
    return false;
  }
}

/* ---- Floats of 16 and 8 bits, with a factor: every product and every sum is rounded ---- */

static float widen(nccl_type type, const void *at) {
  uint16_t bits = 0;
  memcpy(&bits, at, fake_type_size(type));
  return type == NCCL_TYPE_F16      ? tprt_f16_to_f32(bits)
         : type == NCCL_TYPE_BF16   ? tprt_bf16_to_f32(bits)
         : type == NCCL_TYPE_F8E4M3 ? tprt_f8e4m3_to_f32((uint8_t)bits)
                                    : tprt_f8e5m2_to_f32((uint8_t)bits);
}

static void narrow(nccl_type type, float value, void *at) {
  uint16_t bits = type == NCCL_TYPE_F16      ? tprt_f32_to_f16(value)
                  : type == NCCL_TYPE_BF16   ? tprt_f32_to_bf16(value)
                  : type == NCCL_TYPE_F8E4M3 ? tprt_f32_to_f8e4m3(value)
                                             : tprt_f32_to_f8e5m2(value);
  memcpy(at, &bits, fake_type_size(type));
}

static bool is_small_float(nccl_type type) {
  return type == NCCL_TYPE_F16 || type >= NCCL_TYPE_BF16;
}

static void sum_small(nccl_type type, unsigned char *to, unsigned char *const *inputs,
                      const void *const *factors, int n, size_t i) {
  unsigned char sum[2], product[2];
  for (int k = 0; k < n; k++) {
    narrow(type, widen(type, inputs[k] + i * fake_type_size(type)) * widen(type, factors[k]),
           product);
    if (k)
      narrow(type, widen(type, sum) + widen(type, product), sum);
    else
      memcpy(sum, product, sizeof sum);
  }
  memcpy(to, sum, fake_type_size(type));
}

/* The factor of averages of floats: 1/n in the type of the elements. */
static void make_average(nccl_type type, int n, unsigned char factor[8]) {
  const float single = 1.0f / (float)n;
  const double all = 1.0 / n;
  if (is_small_float(type))
    narrow(type, single, factor);
  else if (type == NCCL_TYPE_F32)
    memcpy(factor, &single, sizeof single);
  else
    memcpy(factor, &all, sizeof all);
}

bool fake_reduce(nccl_type type, nccl_reduction op, void *to, const void *const *from,
                 const void *const *factors, int n, size_t count) {
  unsigned char *inputs[64], element[16], average[8];
  const void *averages[64];
  size_t size = fake_type_size(type);
  tprt_reduction reduction = reduction_of(type, op);
  if (!size || n > 64 || (!factors && !reduction))
    return false;
  make_average(type, n, average);
  for (int k = 0; k < n; k++) {
    inputs[k] = (unsigned char *)(uintptr_t)from[k];
    averages[k] = average;
  }
  if (reduction == TPRT_AVG && type >= NCCL_TYPE_F16)
    factors = averages;
  for (size_t i = 0; i < count; i++) { /* `to` may alias an input */
    if (!factors)
      oracle_reduce(types[type], reduction, inputs, n, NULL, i, element);
    else if (is_small_float(type))
      sum_small(type, element, inputs, factors, n, i);
    else if (!sum_scaled(type, element, inputs, factors, n, i))
      return false;
    memcpy((unsigned char *)to + i * size, element, size);
  }
  return true;
}
