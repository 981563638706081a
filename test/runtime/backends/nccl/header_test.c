/* Compiled if nccl.h is available: checks that the backend's constants and types equal those of the
 * header. */
#include <nccl.h>

#include "backends/nccl/nccl_library.h"

#include <stddef.h>

#define SAME_RESULT ncclResult_t
#include "test/runtime/harness/same_header.h"

SAME(NCCL_RESULT_SUCCESS, ncclSuccess);
SAME(NCCL_RESULT_INTERNAL, ncclInternalError);
SAME(NCCL_RESULT_INVALID_ARGUMENT, ncclInvalidArgument);
SAME(NCCL_RESULT_INVALID_USAGE, ncclInvalidUsage);
SAME(NCCL_RESULT_REMOTE, ncclRemoteError);
SAME(NCCL_RESULT_IN_PROGRESS, ncclInProgress);
SAME(NCCL_TYPE_I8, ncclInt8);
SAME(NCCL_TYPE_U8, ncclUint8);
SAME(NCCL_TYPE_I32, ncclInt32);
SAME(NCCL_TYPE_U32, ncclUint32);
SAME(NCCL_TYPE_I64, ncclInt64);
SAME(NCCL_TYPE_U64, ncclUint64);
SAME(NCCL_TYPE_F16, ncclFloat16);
SAME(NCCL_TYPE_F32, ncclFloat32);
SAME(NCCL_TYPE_F64, ncclFloat64);
SAME(NCCL_TYPE_BF16, ncclBfloat16);
#if NCCL_VERSION_CODE >= 22400
SAME(NCCL_TYPE_F8E4M3, ncclFloat8e4m3);
SAME(NCCL_TYPE_F8E5M2, ncclFloat8e5m2);
#endif
SAME(NCCL_REDUCE_SUM, ncclSum);
SAME(NCCL_REDUCE_PRODUCT, ncclProd);
SAME(NCCL_REDUCE_MAX, ncclMax);
SAME(NCCL_REDUCE_MIN, ncclMin);
SAME(NCCL_REDUCE_AVG, ncclAvg);
SAME(NCCL_SCALAR_ON_HOST, ncclScalarHostImmediate);
SAME(NCCL_SPLIT_NO_COLOR, NCCL_SPLIT_NOCOLOR);
SAME(NCCL_ID_BYTES, NCCL_UNIQUE_ID_BYTES);
SAME(sizeof(nccl_id), sizeof(ncclUniqueId));
SAME(NCCL_MIN_VERSION, NCCL_VERSION(2, 18, 0));
SAME(offsetof(nccl_config, magic), offsetof(ncclConfig_t, magic));
SAME(offsetof(nccl_config, version), offsetof(ncclConfig_t, version));
SAME(offsetof(nccl_config, blocking), offsetof(ncclConfig_t, blocking));
SAME(offsetof(nccl_config, cga_cluster_size), offsetof(ncclConfig_t, cgaClusterSize));
SAME(offsetof(nccl_config, min_ctas), offsetof(ncclConfig_t, minCTAs));
SAME(offsetof(nccl_config, max_ctas), offsetof(ncclConfig_t, maxCTAs));
SAME(offsetof(nccl_config, net_name), offsetof(ncclConfig_t, netName));
SAME(offsetof(nccl_config, split_share), offsetof(ncclConfig_t, splitShare));
#if NCCL_VERSION_CODE >= 22700
SAME(offsetof(nccl_config, traffic_class), offsetof(ncclConfig_t, trafficClass));
SAME(offsetof(nccl_config, comm_name), offsetof(ncclConfig_t, commName));
#endif

#if NCCL_VERSION_CODE >= 22800
SAME(NCCL_WINDOW_ALIGNMENT, NCCL_WIN_REQUIRED_ALIGNMENT);
#endif
#if NCCL_VERSION_CODE >= 22700
SAME(NCCL_WINDOW_SYMMETRIC, NCCL_WIN_COLL_SYMMETRIC);
#endif

/* The header has enums for results and element types, so only functions with otherwise equal
 * parameters are compared. */
#if NCCL_VERSION_CODE >= 22800
SAME_PARAMETERS(ncclAlltoAll, const void *, void *, size_t, ncclDataType_t, ncclComm_t,
                cudaStream_t);
SAME_PARAMETERS(ncclGather, const void *, void *, size_t, ncclDataType_t, int, ncclComm_t,
                cudaStream_t);
SAME_PARAMETERS(ncclScatter, const void *, void *, size_t, ncclDataType_t, int, ncclComm_t,
                cudaStream_t);
#endif
