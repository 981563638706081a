/* The subset of cuDNN that this library uses: graphs of operations. It is loaded when a context may
 * use it for attention. */
#ifndef TPRT_RUNTIME_CUDA_CUDNN_H
#define TPRT_RUNTIME_CUDA_CUDNN_H

#include "cuda/driver/driver.h"

/* ---- types and constants of cudnn_graph.h; if it is installed, a test compares them ---- */

typedef int cudnn_status;
typedef struct cudnnContext *cudnn_handle;
typedef void *cudnn_descriptor;

enum {
  DNN_SUCCESS = 0,
  DNN_BAD_PARAMETER = 2000,
  DNN_NOT_SUPPORTED = 3000, /* the first of a category: status / 1000 * 1000 */
  DNN_NO_DEVICE_MEMORY = 4004,
  DNN_EXECUTION_FAILED = 5000,

  DNN_F32 = 0, /* cudnnDataType_t */
  DNN_F16 = 2,
  DNN_I32 = 4,
  DNN_BF16 = 9,
  DNN_BOOL = 11,

  DNN_MULTIPLY = 1, /* cudnnPointwiseMode_t */
  DNN_ADD = 0,
  DNN_DIVIDE = 6,
  DNN_SUBTRACT = 9,
  DNN_EXP = 13,
  DNN_LOG = 15,
  DNN_GREATER_EQUAL = 303,
  DNN_INDEX = 501,
  DNN_SELECT = 601,

  DNN_REDUCE_ADD = 0, /* cudnnReduceTensorOp_t */
  DNN_REDUCE_MAX = 3,

  DNN_HEURISTIC_FALLBACK = 2, /* cudnnBackendHeurMode_t */
  DNN_HEURISTIC_A = 3,

  DNN_NOTE_NONDETERMINISTIC = 4, /* cudnnBackendNumericalNote_t */

  DNN_POINTWISE = 0, /* cudnnBackendDescriptorType_t */
  DNN_ENGINE = 2,
  DNN_ENGINE_CONFIG = 3,
  DNN_HEURISTIC = 4,
  DNN_PLAN = 5,
  DNN_POINTWISE_OPERATION = 13,
  DNN_GRAPH = 15,
  DNN_VARIANT_PACK = 16,
  DNN_TENSOR = 17,
  DNN_MATMUL = 18,
  DNN_MATMUL_OPERATION = 19,
  DNN_REDUCTION = 21,
  DNN_REDUCTION_OPERATION = 22,
  DNN_DEVICE = 38, /* properties of a device, from 9.8 on */

  DNN_OF_HANDLE = 0, /* cudnnBackendAttributeType_t */
  DNN_OF_DATA_TYPE = 1,
  DNN_OF_BOOL = 2,
  DNN_OF_I64 = 3,
  DNN_OF_POINTER = 6,
  DNN_OF_HEURISTIC = 8,
  DNN_OF_NUMERICAL_NOTE = 11,
  DNN_OF_POINTWISE_MODE = 14,
  DNN_OF_DESCRIPTOR = 15,
  DNN_OF_REDUCTION = 18,
  DNN_OF_CHAR = 24,

  DNN_POINTWISE_MODE = 0, /* cudnnBackendAttributeName_t */
  DNN_POINTWISE_PRECISION = 1,
  DNN_POINTWISE_AXIS = 9,
  DNN_HEURISTIC_MODE = 200,
  DNN_HEURISTIC_GRAPH = 201,
  DNN_HEURISTIC_RESULTS = 202,
  DNN_HEURISTIC_DEVICE = 204,
  DNN_CONFIG_ENGINE = 300,
  DNN_PLAN_HANDLE = 400,
  DNN_PLAN_CONFIG = 401,
  DNN_PLAN_WORKSPACE = 402,
  DNN_OPERATION_POINTWISE = 750,
  DNN_OPERATION_POINTWISE_X = 751,
  DNN_OPERATION_POINTWISE_B = 752,
  DNN_OPERATION_POINTWISE_Y = 753,
  DNN_OPERATION_POINTWISE_T = 758,
  DNN_GRAPH_HANDLE = 800,
  DNN_GRAPH_OPERATIONS = 801,
  DNN_TENSOR_ALIGNMENT = 900,
  DNN_TENSOR_TYPE = 901,
  DNN_TENSOR_SIZES = 902,
  DNN_TENSOR_STRIDES = 903,
  DNN_TENSOR_ID = 906,
  DNN_TENSOR_IS_VIRTUAL = 907,
  DNN_TENSOR_IS_VALUE = 908,
  DNN_PACK_IDS = 1000,
  DNN_PACK_POINTERS = 1001,
  DNN_PACK_WORKSPACE = 1003,
  DNN_ENGINE_NUMERICAL_NOTES = 1303,
  DNN_MATMUL_PRECISION = 1500,
  DNN_OPERATION_MATMUL_A = 1520,
  DNN_OPERATION_MATMUL_B = 1521,
  DNN_OPERATION_MATMUL_C = 1522,
  DNN_OPERATION_MATMUL = 1523,
  DNN_REDUCTION_KIND = 1600,
  DNN_REDUCTION_PRECISION = 1601,
  DNN_OPERATION_REDUCTION_X = 1610,
  DNN_OPERATION_REDUCTION_Y = 1611,
  DNN_OPERATION_REDUCTION = 1612,
  DNN_DEVICE_JSON = 2702,
};

/* ---- functions ---- */

/* X(member, symbol, parameters). All return a cudnn_status. */
#define DNN_CALLS(X)                                                                               \
  X(create, "cudnnCreate", (cudnn_handle * handle))                                                \
  X(destroy, "cudnnDestroy", (cudnn_handle handle))                                                \
  X(set_stream, "cudnnSetStream", (cudnn_handle handle, cuda_stream stream))                       \
  X(descriptor_create, "cudnnBackendCreateDescriptor", (int type, cudnn_descriptor *descriptor))   \
  X(descriptor_destroy, "cudnnBackendDestroyDescriptor", (cudnn_descriptor descriptor))            \
  X(finalize, "cudnnBackendFinalize", (cudnn_descriptor descriptor))                               \
  X(set, "cudnnBackendSetAttribute",                                                               \
    (cudnn_descriptor descriptor, int attribute, int type, int64_t n, const void *elements))       \
  X(get, "cudnnBackendGetAttribute",                                                               \
    (cudnn_descriptor descriptor, int attribute, int type, int64_t n_wanted, int64_t *n,           \
     void *elements))                                                                              \
  X(execute, "cudnnBackendExecute",                                                                \
    (cudnn_handle handle, cudnn_descriptor plan, cudnn_descriptor pack))

typedef struct tprt__cudnn {
  const char *(*text)(cudnn_status status);    /* cudnnGetErrorString */
  void (*reason)(char *message, size_t bytes); /* cudnnGetLastErrorString */
  size_t (*version)(void);                     /* cudnnGetVersion */
#define MEMBER(member, symbol, parameters) cudnn_status(*member) parameters;
  DNN_CALLS(MEMBER)
#undef MEMBER
} tprt__cudnn;

/* Loads the library: TPRT_CUDNN_LIBRARY, or the installed libcudnn.so.9. TPRT_UNSUPPORTED, with the
 * reason, if there is none, or if it is older than 9.10.2; a failed load is tried again by the next
 * call. Callable from any thread. */
tprt_status tprt__cudnn_load(const tprt__cudnn **cudnn);

/* Returns TPRT_OK, or an error with cuDNN's text: TPRT_UNSUPPORTED, TPRT_NO_MEMORY or TPRT_DEVICE.
 * `what` names the call. */
tprt_status tprt__cudnn_check(const tprt__cudnn *cudnn, cudnn_status status, const char *what);

#endif
