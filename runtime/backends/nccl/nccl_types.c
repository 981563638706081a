/* Tables of the reductions that NCCL supports, and the NCCL types and operators that implement
 * them. This library reduces combinations without an entry itself; see nccl_reduce.c. */
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
  NEARLY, /* except for NaN, the sign of zero, overflow, underflow, or the precision of a factor */
} likeness;

typedef struct rule {
  likeness likeness;
  nccl_reduction reduction; /* premul_sum: created at each use */
  bool as_unsigned;
} rule;

/* The order of NCCL's sums is unspecified, as its header says; sums of f16 and bf16 are rounded at
 * every rank that they pass. NCCL's min and max are minnum and maxnum. Its f8 saturates where ours
 * becomes NaN. Its factor of premul_sum, and 1/n of an average, have the type of the elements. */
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
                  [HALF] = {NEARLY, NCCL_REDUCE_AVG, false},
                  [F8] = {NEARLY, NCCL_REDUCE_AVG, false},
                  [INTEGER] = {ALIKE, NCCL_REDUCE_AVG, false},
                  [COMPLEX] = {ALIKE, NCCL_REDUCE_AVG, false}},
    [TPRT_PREMUL_SUM] = {[FLOAT] = {ALIKE, 0, false},
                         [HALF] = {NEARLY, 0, false},
                         [F8] = {NEARLY, 0, false},
                         [INTEGER] = {ALIKE, 0, false}},
};

static bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

/* True with one rank, where NCCL before 2.29.7 has a fault: its kernel that multiplies by a factor
 * leaves out the last elements for some counts, such as the last one of 4099 doubles. It runs for
 * pre-multiplied sums, and for averages, with factor 1. */
static bool is_alone(const tprt__plan *plan) { return plan->n_ranks == 1; }

/* How the reduction of a plan runs: as NCCL's sum, divided afterwards; as NCCL's reduction; or by
 * this library. NCCL's average multiplies by 1/n in the type of the elements, which is exact for
 * powers of two only. */
static bool is_ours(const nccl_transport *nccl, const tprt__plan *plan, rule found,
                    type_class class) {
  bool rounds = class != INTEGER && class != BOOLEAN && found.reduction != NCCL_REDUCE_MIN &&
                found.reduction != NCCL_REDUCE_MAX;
  bool lacks = class == F8 && !tprt__nccl_since(nccl->library, NCCL_SINCE_F8);
  return found.likeness == NOT || (found.likeness == NEARLY && !nccl->relaxed) || lacks ||
         (plan->deterministic && rounds) || (is_alone(plan) && plan->reduction == TPRT_PREMUL_SUM);
}

nccl_mapping tprt__nccl_map_reduction(const nccl_transport *nccl, const tprt__plan *plan) {
  tprt_dtype dtype = plan->dtype;
  type_class class = types[dtype].class;
  rule found = rules[plan->reduction][class];
  bool divides = plan->reduction == TPRT_AVG && (class == FLOAT || class == COMPLEX) &&
                 !is_power_of_two(plan->n_ranks);
  bool sums = divides || (plan->reduction == TPRT_AVG && is_alone(plan));
  return (nccl_mapping){.is_ours = is_ours(nccl, plan, found, class),
                        .divides = divides,
                        .type = found.as_unsigned ? types[dtype].as_unsigned : types[dtype].type,
                        .units = types[dtype].units,
                        .reduction = sums ? NCCL_REDUCE_SUM : found.reduction};
}
