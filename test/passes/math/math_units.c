/* tp_math_units FUNCTION f32|f64 X Y RESULTS: prints the largest error of results, in units in the
 * last place, and its position. The results are FUNCTION of the numbers in X, and in Y if it takes
 * two. The files are .npy. The exact value is libm's in long double. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct function {
  const char *name;
  long double (*of_one)(long double x);
  long double (*of_two)(long double x, long double y);
} function;

static const function functions[] = {
    {"sin", sinl, NULL},     {"cos", cosl, NULL},     {"tan", tanl, NULL},
    {"asin", asinl, NULL},   {"acos", acosl, NULL},   {"atan", atanl, NULL},
    {"sinh", sinhl, NULL},   {"cosh", coshl, NULL},   {"tanh", tanhl, NULL},
    {"asinh", asinhl, NULL}, {"acosh", acoshl, NULL}, {"atanh", atanhl, NULL},
    {"exp", expl, NULL},     {"exp2", exp2l, NULL},   {"expm1", expm1l, NULL},
    {"log", logl, NULL},     {"log2", log2l, NULL},   {"log10", log10l, NULL},
    {"log1p", log1pl, NULL}, {"cbrt", cbrtl, NULL},   {"erf", erfl, NULL},
    {"erfc", erfcl, NULL},   {"round", roundl, NULL}, {"atan2", NULL, atan2l},
    {"powf", NULL, powl},    {"remf", NULL, fmodl},
};

/* Returns a number rounded to the type, and the distance of its neighbors there. */
static double rounded(long double exact, bool is_f32) {
  return is_f32 ? (double)(float)exact : (double)exact;
}

static long double unit(long double exact, bool is_f32) {
  int exponent, precision = is_f32 ? FLT_MANT_DIG : DBL_MANT_DIG;
  int least = is_f32 ? FLT_MIN_EXP - FLT_MANT_DIG : DBL_MIN_EXP - DBL_MANT_DIG;
  (void)frexpl(exact, &exponent);
  return ldexpl(1, exponent - precision > least ? exponent - precision : least);
}

static double error_of(double value, long double exact, bool is_f32) {
  double nearest = rounded(exact, is_f32);
  if (isnan(value) || isnan(nearest))
    return isnan(value) && isnan(nearest) ? 0 : INFINITY;
  if (value == nearest)
    return signbit(value) == signbit(nearest) ? 0 : INFINITY;
  return isinf(value) || isinf(nearest)
             ? INFINITY
             : (double)(fabsl((long double)value - exact) / unit(exact, is_f32));
}

/* Returns the data after the header of a .npy file. */
static unsigned char *read_numbers(const char *path, size_t *n) {
  FILE *file = fopen(path, "rb");
  unsigned char header[10], *bytes = NULL;
  if (file && fread(header, 1, sizeof header, file) == sizeof header &&
      memcmp(header, "\x93NUMPY", 6) == 0) {
    long start = (long)sizeof header + header[8] + header[9] * 256L;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) >= start) {
      *n = (size_t)(ftell(file) - start);
      bytes = malloc(*n + 1);
      if (bytes && (fseek(file, start, SEEK_SET) != 0 || fread(bytes, 1, *n, file) != *n)) {
        free(bytes);
        bytes = NULL;
      }
    }
  }
  if (!bytes)
    fprintf(stderr, "tp_math_units: %s cannot be read: %s\n", path, strerror(errno));
  if (file)
    fclose(file);
  return bytes;
}

static double number_at(const unsigned char *bytes, size_t i, bool is_f32) {
  float narrow;
  double wide;
  if (!is_f32) {
    memcpy(&wide, bytes + i * sizeof wide, sizeof wide);
    return wide;
  }
  memcpy(&narrow, bytes + i * sizeof narrow, sizeof narrow);
  return (double)narrow;
}

int main(int argc, char **argv) {
  const function *f = NULL;
  for (size_t i = 0; argc == 6 && i < sizeof functions / sizeof functions[0]; i++)
    if (strcmp(functions[i].name, argv[1]) == 0)
      f = functions + i;
  if (!f) {
    fprintf(stderr, "usage: tp_math_units FUNCTION f32|f64 X Y RESULTS\n");
    return 2;
  }
  bool is_f32 = strcmp(argv[2], "f32") == 0;
  unsigned char *files[3] = {NULL, NULL, NULL};
  size_t sizes[3] = {0, 0, 0};
  bool all = true;
  for (int i = 0; i < 3; i++)
    all = (files[i] = read_numbers(argv[3 + i], &sizes[i])) != NULL && sizes[i] == sizes[0] && all;
  double worst = -1, at[3] = {0, 0, 0};
  for (size_t i = 0; all && i < sizes[0] / (is_f32 ? sizeof(float) : sizeof(double)); i++) {
    double x = number_at(files[0], i, is_f32), y = number_at(files[1], i, is_f32),
           value = number_at(files[2], i, is_f32);
    double error = error_of(value, f->of_one ? f->of_one(x) : f->of_two(x, y), is_f32);
    if (error > worst) {
      worst = error;
      at[0] = x, at[1] = y, at[2] = value;
    }
  }
  if (all)
    printf("%.3f (%.17g, %.17g) -> %.17g\n", worst, at[0], at[1], at[2]);
  for (int i = 0; i < 3; i++)
    free(files[i]);
  return !all || worst < 0;
}
