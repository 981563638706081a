/* Tests the real cuBLASLt, if installed: it has every function that this library uses, and accepts
 * every attribute with the size that this library passes. Needs no GPU. Exit status 77 without
 * cuBLASLt. */
#define _GNU_SOURCE 1
#include "cuda/gemm/blaslt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int errors;

static void expect(blaslt_status status, const char *what) {
  if (status == BLASLT_SUCCESS)
    return;
  fprintf(stderr, "wrong: %s: %d\n", what, status);
  errors++;
}

static void *opened(void) {
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                      "libcublasLt.so.11"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return library;
}

#define SET(function, object, attribute, type, number)                                             \
  do {                                                                                             \
    type value_ = (type)(number);                                                                  \
    expect(lt.function(object, attribute, &value_, sizeof value_), #attribute);                    \
  } while (0)

int main(void) {
  tprt__blaslt lt;
#define ROW(member, symbol, parameters) {symbol, &lt.member},
  const struct {
    const char *name;
    void *slot;
  } symbols[] = {{"cublasLtGetStatusString", &lt.text},
                 {"cublasLtGetVersion", &lt.version},
                 BLASLT_CALLS(ROW)};
#undef ROW
  void *library = opened();
  if (!library) {
    fprintf(stderr, "no cuBLASLt: %s\n", dlerror());
    return 77;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *found = dlsym(library, symbols[i].name);
    memcpy(symbols[i].slot, &found, sizeof found);
    if (!found) {
      fprintf(stderr, "wrong: it has no %s\n", symbols[i].name);
      return 1;
    }
  }
  if (lt.version() < 110000) {
    fprintf(stderr, "wrong: version %zu\n", lt.version());
    errors++;
  }
  blaslt_layout layout;
  blaslt_operation operation;
  blaslt_preference preference;
  expect(lt.layout_create(&layout, BLASLT_BF16, 8, 16, 8), "a layout");
  SET(layout_set, layout, BLASLT_LAYOUT_BATCH, int32_t, 3);
  SET(layout_set, layout, BLASLT_LAYOUT_STEP, int64_t, 128);
  expect(lt.operation_create(&operation, BLASLT_COMPUTE_F32, BLASLT_F32), "an operation");
  SET(operation_set, operation, BLASLT_TRANSPOSE_A, int32_t, BLASLT_TRANSPOSED);
  SET(operation_set, operation, BLASLT_TRANSPOSE_B, int32_t, BLASLT_PLAIN);
  SET(operation_set, operation, BLASLT_EPILOGUE, uint32_t,
      BLASLT_WITH_GELU | BLASLT_WITH_AUX | BLASLT_WITH_BIAS);
  SET(operation_set, operation, BLASLT_BIAS, void *, NULL);
  SET(operation_set, operation, BLASLT_AUX, void *, NULL);
  SET(operation_set, operation, BLASLT_AUX_LEADING, int64_t, 8);
  SET(operation_set, operation, BLASLT_AUX_STEP, int64_t, 64);
  expect(lt.preference_create(&preference), "preferences");
  SET(preference_set, preference, BLASLT_WORKSPACE_BYTES, uint64_t, 4096);
  SET(preference_set, preference, BLASLT_REDUCTIONS, uint32_t, BLASLT_REDUCTION_F32);
  SET(preference_set, preference, BLASLT_ALIGNMENT_A, uint32_t, 16);
  SET(preference_set, preference, BLASLT_ALIGNMENT_B, uint32_t, 16);
  SET(preference_set, preference, BLASLT_ALIGNMENT_C, uint32_t, 16);
  SET(preference_set, preference, BLASLT_ALIGNMENT_D, uint32_t, 16);
  blaslt_layout of_f8;
  blaslt_operation of_f64;
  expect(lt.layout_create(&of_f8, BLASLT_F8E4M3, 32, 16, 32), "a layout of f8");
  expect(lt.operation_create(&of_f64, BLASLT_COMPUTE_F64, BLASLT_F64), "an operation of f64");
  expect(lt.layout_destroy(of_f8), "the end of a layout");
  expect(lt.operation_destroy(of_f64), "the end of an operation");
  expect(lt.layout_destroy(layout), "the end of a layout");
  expect(lt.operation_destroy(operation), "the end of an operation");
  expect(lt.preference_destroy(preference), "the end of preferences");
  return errors != 0;
}
