/* Creates, accesses and copies dense arrays; the table of element types. */
#include "array.h"

#include "tprt/tprt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const element *element_find(const char *name) {
  static const element table[] = {
      {"f32", "<f4", 4, 'f', false, 1},          {"f64", "<f8", 8, 'f', false, 1},
      {"f16", "<f2", 2, 'f', true, 1},           {"bf16", "<f4", 2, 'f', true, 1},
      {"complex<f32>", "<c8", 8, 'f', false, 2}, {"complex<f64>", "<c16", 16, 'f', false, 2},
      {"i1", "|b1", 1, 'b', false, 1},           {"i8", "|i1", 1, 'i', false, 1},
      {"i16", "<i2", 2, 'i', false, 1},          {"i32", "<i4", 4, 'i', false, 1},
      {"i64", "<i8", 8, 'i', false, 1},          {"si8", "|i1", 1, 'i', false, 1},
      {"si16", "<i2", 2, 'i', false, 1},         {"si32", "<i4", 4, 'i', false, 1},
      {"si64", "<i8", 8, 'i', false, 1},         {"ui8", "|u1", 1, 'i', false, 1},
      {"ui16", "<u2", 2, 'i', false, 1},         {"ui32", "<u4", 4, 'i', false, 1},
      {"ui64", "<u8", 8, 'i', false, 1},         {"index", "<i8", 8, 'i', false, 1},
      {"f8E4M3FN", "<f4", 1, 'f', true, 1},      {"f8E5M2", "<f4", 1, 'f', true, 1},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].name, name) == 0)
      return table + i;
  return NULL;
}

int64_t array_count(const array *a) {
  int64_t n = 1;
  for (int d = 0; d < a->rank; d++)
    n *= a->shape[d];
  return n;
}

int64_t array_numbers(const array *a) { return array_count(a) * a->type->parts; }

size_t array_bytes(const array *a) { return (size_t)(array_count(a) * a->type->size); }

bool array_create(array *a, const element *type, int rank, const int64_t *shape) {
  array made = {.type = type, .rank = rank}; /* `shape` may alias a->shape */
  memcpy(made.shape, shape, (size_t)rank * sizeof *shape);
  /* aligned to cache lines, as in other frameworks */
  size_t bytes = array_bytes(&made) / 64 * 64 + 64;
  made.data = aligned_alloc(64, bytes);
  if (made.data)
    memset(made.data, 0, bytes);
  *a = made;
  return made.data != NULL;
}

void array_clear(array *a) {
  free(a->data);
  a->data = NULL;
}

static bool is_e5m2(const element *type) { return strcmp(type->name, "f8E5M2") == 0; }
static float f8_to_f32(const element *type, uint8_t bits) {
  return is_e5m2(type) ? tprt_f8e5m2_to_f32(bits) : tprt_f8e4m3_to_f32(bits);
}
static uint8_t f32_to_f8(const element *type, float value) {
  return is_e5m2(type) ? tprt_f32_to_f8e5m2(value) : tprt_f32_to_f8e4m3(value);
}

double array_get(const array *a, int64_t i) {
  int64_t size = a->type->size / a->type->parts;
  const char *at = (const char *)a->data + i * size;
  union {
    float f4;
    double f8;
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
    int8_t i1;
    int16_t i2;
    int32_t i4;
    int64_t i8;
  } v = {0};
  memcpy(&v, at, (size_t)size);
  bool is_unsigned = a->type->name[0] == 'u' || a->type->kind == 'b';
  if (a->type->kind == 'f')
    return size == 8                 ? v.f8
           : size == 4               ? (double)v.f4
           : size == 1               ? (double)f8_to_f32(a->type, v.u1)
           : a->type->name[0] == 'b' ? (double)tprt_bf16_to_f32(v.u2)
                                     : (double)tprt_f16_to_f32(v.u2);
  switch (size) {
  case 1:
    return is_unsigned ? (double)v.u1 : (double)v.i1;
  case 2:
    return is_unsigned ? (double)v.u2 : (double)v.i2;
  case 4:
    return is_unsigned ? (double)v.u4 : (double)v.i4;
  default:
    return is_unsigned ? (double)v.u8 : (double)v.i8;
  }
}

int64_t array_count_nan(const array *a, char *first, size_t size) {
  int64_t count = 0, at = 0, n = a->type->kind == 'f' ? array_numbers(a) : 0;
  for (int64_t i = 0; i < n; i++)
    if (isnan(array_get(a, i)) && count++ == 0)
      at = i / a->type->parts;
  int64_t stride = array_count(a);
  size_t end = 0;
  first[0] = 0;
  for (int d = 0; d < a->rank && count > 0 && end < size; d++) {
    stride /= a->shape[d];
    end += (size_t)snprintf(first + end, size - end, "%s%lld", d ? ", " : "",
                            (long long)(at / stride));
    at %= stride;
  }
  return count;
}

void array_set(array *a, int64_t i, double value) {
  int64_t size = a->type->size / a->type->parts;
  char *at = (char *)a->data + i * size;
  if (a->type->kind != 'f') {
    int64_t number = (int64_t)value; /* little-endian: the low bytes are the narrow number */
    memcpy(at, &number, (size_t)size);
  } else if (size == 8) {
    memcpy(at, &value, sizeof value);
  } else if (size == 4) {
    float number = (float)value;
    memcpy(at, &number, sizeof number);
  } else if (size == 1) {
    uint8_t bits = f32_to_f8(a->type, (float)value);
    memcpy(at, &bits, sizeof bits);
  } else {
    uint16_t bits =
        a->type->name[0] == 'b' ? tprt_f32_to_bf16((float)value) : tprt_f32_to_f16((float)value);
    memcpy(at, &bits, sizeof bits);
  }
}
