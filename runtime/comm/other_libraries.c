/* Names of other libraries, and of their operations, that tprt does not have, with what to use
 * instead; and the names of operations. */
#include "base/closest.h"
#include "comm/comm.h"

#include <string.h>
#include <strings.h>

#define SPARSE                                                                                     \
  "sparse tensors are not supported; gather indices and values with all_gather_v and add them on " \
  "each rank, or reduce the dense tensor"
#define DYNAMIC                                                                                    \
  "counts in device memory are not supported; exchange them with all_to_all, then call "           \
  "all_to_all_v"

static const struct {
  const char *name, *instead;
} operations[] = {
    {"all_reduce_sparse", SPARSE},
    {"sparse_all_reduce", SPARSE},
    {"reduce_sparse", SPARSE},
    {"sparse_reduce", SPARSE},
    {"all_to_all_v_dynamic", DYNAMIC},
    {"all_to_all_v_dynamic_dispatch", DYNAMIC},
    {"all_to_all_v_dynamic_combine", DYNAMIC},
    {"all_to_all_v_dedup",
     "rows for several experts of a rank are not merged; send each row once a "
     "rank with all_to_all_v, and the indices beside it"},
    {"all_gather_persistent", "record the all_gather in a schedule (tprt_schedule_create), with "
                              "memory registered by tprt_mem_register_all"},
    {"reduce_scatter_quantized",
     "quantize to f8e4m3 or f8e5m2, move the pieces with all_to_all, and "
     "add them in f32"},
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

tprt_op_kind tprt_op_kind_parse(const char *name) {
  TPRT__NEED_OR(name, (tprt_op_kind)0);
  const char *kinds[TPRT_N_OP_KINDS] = {NULL};
  for (int i = 1; i < TPRT_N_OP_KINDS; i++) {
    kinds[i] = tprt_op_kind_name((tprt_op_kind)i);
    if (strcmp(kinds[i], name) == 0)
      return (tprt_op_kind)i;
  }
  for (size_t i = 0; i < N_OPERATIONS; i++) {
    if (strcmp(operations[i].name, name) == 0) {
      tprt__fail(TPRT_UNSUPPORTED, "%s: %s", name, operations[i].instead);
      return (tprt_op_kind)0;
    }
  }
  const char *closest = tprt__closest_word(name, kinds, TPRT_N_OP_KINDS);
  tprt__fail(TPRT_INVALID_ARGUMENT, "there is no operation \"%s\"%s%s%s", name,
             closest ? "; did you mean " : "", closest ? closest : "", closest ? "?" : "");
  return (tprt_op_kind)0;
}

tprt_status tprt__refuse_library(const char *name) {
  static const struct {
    const char *name, *instead;
  } libraries[] = {
      {"ncclx",
       "NCCLX is not supported; backend nccl has the collectives of NCCL, shm, tcp and mpi "
       "have windows with put, get and signals"},
      {"rccl",
       "use backend nccl with TPRT_NCCL_LIBRARY=librccl.so.1, which has the same functions"},
      {"gloo", "use backend tcp, or shm for ranks of one host"},
      {"ofi", "use backend fabric"},
      {"ucc", "use backend fabric, tcp or mpi"},
  };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    if (strcasecmp(libraries[i].name, name) == 0)
      return tprt__fail(TPRT_UNSUPPORTED, "there is no backend \"%s\": %s", name,
                        libraries[i].instead);
  }
  return TPRT_OK;
}
