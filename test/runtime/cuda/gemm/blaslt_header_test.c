/* Compiled if there is a toolkit: checks that the library's constants, types and function
 * signatures equal those of cublasLt.h. */
#include <cublasLt.h>

#include "cuda/gemm/blaslt.h"

#define SAME_RESULT cublasStatus_t
#include "test/runtime/harness/same_header.h"

SAME(BLASLT_SUCCESS, CUBLAS_STATUS_SUCCESS);
SAME(BLASLT_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(BLASLT_F32, CUDA_R_32F);
SAME(BLASLT_F64, CUDA_R_64F);
SAME(BLASLT_F16, CUDA_R_16F);
SAME(BLASLT_BF16, CUDA_R_16BF);
SAME(BLASLT_F8E4M3, CUDA_R_8F_E4M3);
SAME(BLASLT_F8E5M2, CUDA_R_8F_E5M2);
SAME(BLASLT_COMPUTE_F32, CUBLAS_COMPUTE_32F);
SAME(BLASLT_COMPUTE_F64, CUBLAS_COMPUTE_64F);
SAME(BLASLT_COMPUTE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(BLASLT_PLAIN, CUBLAS_OP_N);
SAME(BLASLT_TRANSPOSED, CUBLAS_OP_T);
SAME(BLASLT_LAYOUT_BATCH, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(BLASLT_LAYOUT_STEP, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(BLASLT_TRANSPOSE_A, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(BLASLT_TRANSPOSE_B, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(BLASLT_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(BLASLT_BIAS, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(BLASLT_AUX, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
SAME(BLASLT_AUX_LEADING, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
SAME(BLASLT_AUX_STEP, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
SAME(BLASLT_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(BLASLT_REDUCTIONS, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(BLASLT_ALIGNMENT_A, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(BLASLT_ALIGNMENT_B, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(BLASLT_ALIGNMENT_C, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(BLASLT_ALIGNMENT_D, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(BLASLT_REDUCTION_F32, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(BLASLT_WITH_NOTHING, CUBLASLT_EPILOGUE_DEFAULT);
SAME(BLASLT_WITH_BIAS, CUBLASLT_EPILOGUE_BIAS);
SAME(BLASLT_WITH_RELU, CUBLASLT_EPILOGUE_RELU);
SAME(BLASLT_WITH_RELU | BLASLT_WITH_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(BLASLT_WITH_RELU | BLASLT_WITH_AUX | BLASLT_WITH_BIAS, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
SAME(BLASLT_WITH_GELU, CUBLASLT_EPILOGUE_GELU);
SAME(BLASLT_WITH_GELU | BLASLT_WITH_AUX, CUBLASLT_EPILOGUE_GELU_AUX);
SAME(BLASLT_WITH_GELU | BLASLT_WITH_AUX | BLASLT_WITH_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
SAME(BLASLT_WITH_RELU_GRADIENT, CUBLASLT_EPILOGUE_DRELU);
SAME(BLASLT_WITH_RELU_GRADIENT | BLASLT_WITH_BIAS_GRADIENT, CUBLASLT_EPILOGUE_DRELU_BGRAD);
SAME(BLASLT_WITH_GELU_GRADIENT, CUBLASLT_EPILOGUE_DGELU);
SAME(BLASLT_WITH_GELU_GRADIENT | BLASLT_WITH_BIAS_GRADIENT, CUBLASLT_EPILOGUE_DGELU_BGRAD);
SAME(BLASLT_WITH_SUM_OF_A, CUBLASLT_EPILOGUE_BGRADA);
SAME(sizeof(blaslt_algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(blaslt_choice), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(blaslt_choice, workspace_bytes),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(blaslt_choice, state), offsetof(cublasLtMatmulHeuristicResult_t, state));

/* Handles are pointers in both, and enums have the size of int. */
SAME(sizeof(cublasStatus_t), sizeof(blaslt_status));
SAME(sizeof(cudaDataType_t), sizeof(int));
SAME(sizeof(cublasComputeType_t), sizeof(int));
SAME(sizeof(cublasLtMatmulDescAttributes_t), sizeof(int));
SAME_PARAMETERS(cublasLtCreate, cublasLtHandle_t *);
SAME_PARAMETERS(cublasLtDestroy, cublasLtHandle_t);
SAME_PARAMETERS(cublasLtMatrixLayoutCreate, cublasLtMatrixLayout_t *, cudaDataType, uint64_t,
                uint64_t, int64_t);
SAME_PARAMETERS(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayout_t);
SAME_PARAMETERS(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayout_t,
                cublasLtMatrixLayoutAttribute_t, const void *, size_t);
SAME_PARAMETERS(cublasLtMatmulDescCreate, cublasLtMatmulDesc_t *, cublasComputeType_t,
                cudaDataType_t);
SAME_PARAMETERS(cublasLtMatmulDescDestroy, cublasLtMatmulDesc_t);
SAME_PARAMETERS(cublasLtMatmulDescSetAttribute, cublasLtMatmulDesc_t,
                cublasLtMatmulDescAttributes_t, const void *, size_t);
SAME_PARAMETERS(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreference_t *);
SAME_PARAMETERS(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreference_t);
SAME_PARAMETERS(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreference_t,
                cublasLtMatmulPreferenceAttributes_t, const void *, size_t);
SAME_PARAMETERS(cublasLtMatmulAlgoGetHeuristic, cublasLtHandle_t, cublasLtMatmulDesc_t,
                cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                cublasLtMatmulHeuristicResult_t *, int *);
SAME_PARAMETERS(cublasLtMatmulAlgoCheck, cublasLtHandle_t, cublasLtMatmulDesc_t,
                cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *,
                cublasLtMatmulHeuristicResult_t *);
SAME_PARAMETERS(cublasLtMatmul, cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
                cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *,
                const void *, cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t,
                const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t);
