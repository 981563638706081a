/* The subset of cuBLASLt that this library uses. It is loaded when a handle for GEMMs is
 * created. */
#ifndef TPRT_RUNTIME_CUDA_BLASLT_H
#define TPRT_RUNTIME_CUDA_BLASLT_H

#include "cuda/driver/driver.h"

/* ---- types and constants of cublasLt.h; if the header is installed, a test compares them ---- */

typedef int blaslt_status;
typedef struct cublasLtContext *blaslt_handle;
typedef struct blaslt_layout *blaslt_layout;         /* of a matrix; columns are contiguous */
typedef struct blaslt_operation *blaslt_operation;   /* describes a GEMM without its matrices */
typedef struct blaslt_preference *blaslt_preference; /* for the choice of an algorithm */

typedef struct blaslt_algorithm {
  uint64_t data[8];
} blaslt_algorithm;

typedef struct blaslt_choice {
  blaslt_algorithm algorithm;
  size_t workspace_bytes;
  blaslt_status state;
  float waves;
  int reserved[4];
} blaslt_choice;

enum {
  BLASLT_SUCCESS = 0,
  BLASLT_NOT_SUPPORTED = 15,

  BLASLT_F32 = 0, /* cudaDataType */
  BLASLT_F64 = 1,
  BLASLT_F16 = 2,
  BLASLT_BF16 = 14,
  BLASLT_F8E4M3 = 28,
  BLASLT_F8E5M2 = 29,

  BLASLT_COMPUTE_F32 = 68, /* cublasComputeType_t */
  BLASLT_COMPUTE_F64 = 70,
  BLASLT_COMPUTE_TF32 = 77,

  BLASLT_PLAIN = 0, /* cublasOperation_t */
  BLASLT_TRANSPOSED = 1,

  BLASLT_LAYOUT_BATCH = 5, /* attributes of layouts */
  BLASLT_LAYOUT_STEP = 6,

  BLASLT_TRANSPOSE_A = 3, /* attributes of operations */
  BLASLT_TRANSPOSE_B = 4,
  BLASLT_EPILOGUE = 7,
  BLASLT_BIAS = 8,
  BLASLT_AUX = 11,
  BLASLT_AUX_LEADING = 12,
  BLASLT_AUX_STEP = 13,

  BLASLT_WORKSPACE_BYTES = 1, /* attributes of preferences */
  BLASLT_REDUCTIONS = 3,
  BLASLT_ALIGNMENT_A = 5,
  BLASLT_ALIGNMENT_B = 6,
  BLASLT_ALIGNMENT_C = 7,
  BLASLT_ALIGNMENT_D = 8,

  BLASLT_REDUCTION_F32 = 2, /* of partial sums in the workspace, unrounded */

  BLASLT_WITH_NOTHING = 1, /* epilogues */
  BLASLT_WITH_RELU = 2,
  BLASLT_WITH_BIAS = 4,
  BLASLT_WITH_RELU_GRADIENT = 8 | 128,
  BLASLT_WITH_BIAS_GRADIENT = 16, /* with a gradient */
  BLASLT_WITH_GELU = 32,
  BLASLT_WITH_GELU_GRADIENT = 64 | 128,
  BLASLT_WITH_AUX = 128,
  BLASLT_WITH_SUM_OF_A = 256,
};

/* ---- functions ---- */

/* X(member, symbol, parameters). All return a blaslt_status. */
#define BLASLT_CALLS(X)                                                                            \
  X(create, "cublasLtCreate", (blaslt_handle * handle))                                            \
  X(destroy, "cublasLtDestroy", (blaslt_handle handle))                                            \
  X(layout_create, "cublasLtMatrixLayoutCreate",                                                   \
    (blaslt_layout * layout, int type, uint64_t rows, uint64_t columns, int64_t leading))          \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", (blaslt_layout layout))                         \
  X(layout_set, "cublasLtMatrixLayoutSetAttribute",                                                \
    (blaslt_layout layout, int attribute, const void *value, size_t bytes))                        \
  X(operation_create, "cublasLtMatmulDescCreate",                                                  \
    (blaslt_operation * operation, int compute, int scale))                                        \
  X(operation_destroy, "cublasLtMatmulDescDestroy", (blaslt_operation operation))                  \
  X(operation_set, "cublasLtMatmulDescSetAttribute",                                               \
    (blaslt_operation operation, int attribute, const void *value, size_t bytes))                  \
  X(preference_create, "cublasLtMatmulPreferenceCreate", (blaslt_preference * preference))         \
  X(preference_destroy, "cublasLtMatmulPreferenceDestroy", (blaslt_preference preference))         \
  X(preference_set, "cublasLtMatmulPreferenceSetAttribute",                                        \
    (blaslt_preference preference, int attribute, const void *value, size_t bytes))                \
  X(choose, "cublasLtMatmulAlgoGetHeuristic",                                                      \
    (blaslt_handle handle, blaslt_operation operation, blaslt_layout a, blaslt_layout b,           \
     blaslt_layout c, blaslt_layout d, blaslt_preference preference, int n_wanted,                 \
     blaslt_choice *choices, int *n_found))                                                        \
  X(check, "cublasLtMatmulAlgoCheck",                                                              \
    (blaslt_handle handle, blaslt_operation operation, blaslt_layout a, blaslt_layout b,           \
     blaslt_layout c, blaslt_layout d, const blaslt_algorithm *algorithm, blaslt_choice *result))  \
  X(multiply, "cublasLtMatmul",                                                                    \
    (blaslt_handle handle, blaslt_operation operation, const void *alpha, const void *a,           \
     blaslt_layout of_a, const void *b, blaslt_layout of_b, const void *beta, const void *c,       \
     blaslt_layout of_c, void *d, blaslt_layout of_d, const blaslt_algorithm *algorithm,           \
     void *workspace, size_t workspace_bytes, cuda_stream stream))

typedef struct tprt__blaslt {
  const char *(*text)(blaslt_status status); /* cublasLtGetStatusString */
  size_t (*version)(void);                   /* cublasLtGetVersion */
#define MEMBER(member, symbol, parameters) blaslt_status(*member) parameters;
  BLASLT_CALLS(MEMBER)
#undef MEMBER
} tprt__blaslt;

/* Loads the library: TPRT_BLASLT_LIBRARY, or the first installed libcublasLt of CUDA 13, 12 or 11.
 * TPRT_UNSUPPORTED, with the reason, if there is none; a failed load is tried again by the next
 * call. Callable from any thread. */
tprt_status tprt__blaslt_load(const tprt__blaslt **blaslt);

/* Returns TPRT_OK, or TPRT_DEVICE with cuBLASLt's text. `what` names the call. */
tprt_status tprt__blaslt_check(blaslt_status status, const char *what);

#endif
