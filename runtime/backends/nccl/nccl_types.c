/* Tables of the reductions that NCCL supports, and the NCCL types and operators that implement
 * them. Combinations without an entry are refused. */
#include "backends/nccl/nccl.h"

typedef enum type_class { NONE, FLOAT, HALF, F8, INTEGER, BOOLEAN, COMPLEX, N_CLASSES } type_class;

static const struct {
  type_class class; /* NONE: NCCL has no such type */
  nccl_type type, as_unsigned;
  int units; /* elements of NCCL's type per element of ours */
} types[TPRT_N_DTYPES] = {
    [TPRT_F32] = {FLOAT, NCCL_TYPE_F32, 0, 1},
    [TPRT_F64] = {FLOAT, NCCL_TYPE_F64, 0, 1},
    [TPRT_F16] = {HALF, NCCL_TYPE_F16, 0, 1},
    [TPRT_BF16] = {HALF, NCCL_TYPE_BF16, 0, 1},
    [TPRT_F8E4M3] = {F8, NCCL_TYPE_F8E4M3, 0, 1},
    [TPRT_F8E5M2] = {F8, NCCL_TYPE_F8E5M2, 0, 1},
    [TPRT_BOOL] = {BOOLEAN, NCCL_TYPE_U8, NCCL_TYPE_U8, 1},
    [TPRT_I8] = {INTEGER, NCCL_TYPE_I8, NCCL_TYPE_U8, 1},
    [TPRT_U8] = {INTEGER, NCCL_TYPE_U8, NCCL_TYPE_U8, 1},
    [TPRT_I32] = {INTEGER, NCCL_TYPE_I32, NCCL_TYPE_U32, 1},
    [TPRT_U32] = {INTEGER, NCCL_TYPE_U32, NCCL_TYPE_U32, 1},
    [TPRT_I64] = {INTEGER, NCCL_TYPE_I64, NCCL_TYPE_U64, 1},
    [TPRT_U64] = {INTEGER, NCCL_TYPE_U64, NCCL_TYPE_U64, 1},
    [TPRT_C64] = {COMPLEX, NCCL_TYPE_F32, 0, 2},
    [TPRT_C128] = {COMPLEX, NCCL_TYPE_F64, 0, 2},
};

/* How closely NCCL's reduction matches ours. */
typedef enum likeness {
  NOT = 0,
  ALIKE,
  NEARLY, /* except for NaN, the sign of zero, overflow, or the precision of a factor */
} likeness;

typedef struct rule {
  likeness likeness;
  nccl_reduction reduction; /* premul_sum: created at each use */
  bool as_unsigned;
} rule;

/* The order of NCCL's sums is unspecified, as its header says; sums of f16 and bf16 are rounded at
 * every rank that they pass. NCCL's min and max are minnum and maxnum. Its f8 saturates where ours
 * becomes NaN. Its factor of premul_sum has the type of the elements. */
static const rule rules[TPRT_N_REDUCTIONS][N_CLASSES] = {
    [TPRT_SUM] = {[FLOAT] = {ALIKE, NCCL_REDUCE_SUM, false},
                  [HALF] = {ALIKE, NCCL_REDUCE_SUM, false},
                  [F8] = {NEARLY, NCCL_REDUCE_SUM, false},
                  [INTEGER] = {ALIKE, NCCL_REDUCE_SUM, false},
                  [COMPLEX] = {ALIKE, NCCL_REDUCE_SUM, false}},
    [TPRT_PRODUCT] = {[FLOAT] = {ALIKE, NCCL_REDUCE_PRODUCT, false},
                      [HALF] = {ALIKE, NCCL_REDUCE_PRODUCT, false},
                      [F8] = {NEARLY, NCCL_REDUCE_PRODUCT, false},
                      [INTEGER] = {ALIKE, NCCL_REDUCE_PRODUCT, false},
                      [BOOLEAN] = {ALIKE, NCCL_REDUCE_MIN, true}},
    [TPRT_MIN] = {[FLOAT] = {NEARLY, NCCL_REDUCE_MIN, false},
                  [HALF] = {NEARLY, NCCL_REDUCE_MIN, false},
                  [F8] = {NEARLY, NCCL_REDUCE_MIN, false},
                  [INTEGER] = {ALIKE, NCCL_REDUCE_MIN, false},
                  [BOOLEAN] = {ALIKE, NCCL_REDUCE_MIN, true}},
    [TPRT_MAX] = {[FLOAT] = {NEARLY, NCCL_REDUCE_MAX, false},
                  [HALF] = {NEARLY, NCCL_REDUCE_MAX, false},
                  [F8] = {NEARLY, NCCL_REDUCE_MAX, false},
                  [INTEGER] = {ALIKE, NCCL_REDUCE_MAX, false},
                  [BOOLEAN] = {ALIKE, NCCL_REDUCE_MAX, true}},
    [TPRT_MINNUM] = {[FLOAT] = {ALIKE, NCCL_REDUCE_MIN, false},
                     [HALF] = {ALIKE, NCCL_REDUCE_MIN, false},
                     [F8] = {NEARLY, NCCL_REDUCE_MIN, false}},
    [TPRT_MAXNUM] = {[FLOAT] = {ALIKE, NCCL_REDUCE_MAX, false},
                     [HALF] = {ALIKE, NCCL_REDUCE_MAX, false},
                     [F8] = {NEARLY, NCCL_REDUCE_MAX, false}},
    [TPRT_UMIN] = {[INTEGER] = {ALIKE, NCCL_REDUCE_MIN, true},
                   [BOOLEAN] = {ALIKE, NCCL_REDUCE_MIN, true}},
    [TPRT_UMAX] = {[INTEGER] = {ALIKE, NCCL_REDUCE_MAX, true},
                   [BOOLEAN] = {ALIKE, NCCL_REDUCE_MAX, true}},
    [TPRT_BAND] = {[BOOLEAN] = {ALIKE, NCCL_REDUCE_MIN, true}},
    [TPRT_BOR] = {[BOOLEAN] = {ALIKE, NCCL_REDUCE_MAX, true}},
    [TPRT_AVG] = {[FLOAT] = {ALIKE, NCCL_REDUCE_AVG, false},
                  [HALF] = {ALIKE, NCCL_REDUCE_AVG, false},
                  [F8] = {NEARLY, NCCL_REDUCE_AVG, false},
                  [INTEGER] = {ALIKE, NCCL_REDUCE_AVG, false},
                  [COMPLEX] = {ALIKE, NCCL_REDUCE_AVG, false}},
    [TPRT_PREMUL_SUM] = {[FLOAT] = {ALIKE, 0, false},
                         [HALF] = {NEARLY, 0, false},
                         [F8] = {NEARLY, 0, false},
                         [INTEGER] = {ALIKE, 0, false}},
};

tprt_status tprt__nccl_map_reduction(const nccl_transport *nccl, const tprt__plan *plan,
                                     nccl_mapping *mapping) {
  tprt_dtype dtype = plan->dtype;
  const char *kind = tprt_op_kind_name(plan->kind), *name = tprt_reduction_name(plan->reduction);
  type_class class = types[dtype].class;
  rule found = rules[plan->reduction][class];
  if (found.likeness == NOT)
    return tprt__fail(TPRT_UNSUPPORTED, "%s: NCCL does not support %s of %s%s", kind, name,
                      plan->type->name,
                      class == NONE ? "; convert it to a type of 32 bits, or move the data with "
                                      "all_to_all or all_gather, and reduce it yourself"
                                    : "");
  if (class == F8 && !tprt__nccl_since(nccl->library, NCCL_SINCE_F8))
    return tprt__fail(TPRT_UNSUPPORTED, "%s: NCCL supports %s from 2.24 on; this is %d.%d", kind,
                      plan->type->name, nccl->library->version / 10000,
                      nccl->library->version / 100 % 100);
  if (found.likeness == NEARLY && !nccl->relaxed)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "%s: NCCL's %s of %s differs from tprt for NaN, signed zeros, overflow, or "
                      "factors that do not fit the type; set TPRT_NCCL_RELAXED=1 to accept it",
                      kind, name, plan->type->name);
  bool rounds = class != INTEGER && class != BOOLEAN && found.reduction != NCCL_REDUCE_MIN &&
                found.reduction != NCCL_REDUCE_MAX;
  if (plan->deterministic && rounds)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "%s: hint deterministic: NCCL does not say in which order it adds, so %s of "
                      "%s may differ from run to run; use integers, or another backend",
                      kind, name, plan->type->name);
  *mapping =
      (nccl_mapping){.type = found.as_unsigned ? types[dtype].as_unsigned : types[dtype].type,
                     .units = types[dtype].units,
                     .reduction = found.reduction};
  return TPRT_OK;
}
