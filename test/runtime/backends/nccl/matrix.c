/* The reductions that NCCL supports, per type. */
#include "matrix.h"

/* Columns are in the order of tprt_reduction: sum product min max minnum maxnum umin umax band bor
 * bxor avg premul_sum. */
static const char *const matrix[TPRT_N_DTYPES] = {
    [TPRT_F32] = "++~~++     ++",  [TPRT_F64] = "++~~++     ++",    [TPRT_F16] = "++~~++     +~",
    [TPRT_BF16] = "++~~++     +~", [TPRT_F8E4M3] = "~~~~~~     ~~", [TPRT_F8E5M2] = "~~~~~~     ~~",
    [TPRT_BOOL] = " +++  ++++-  ", [TPRT_I8] = "++++  ++---++",     [TPRT_U8] = "++++  ++---++",
    [TPRT_I16] = "----  -------",  [TPRT_U16] = "----  -------",    [TPRT_I32] = "++++  ++---++",
    [TPRT_U32] = "++++  ++---++",  [TPRT_I64] = "++++  ++---++",    [TPRT_U64] = "++++  ++---++",
    [TPRT_C64] = "+-         +-",  [TPRT_C128] = "+-         +-",
};

char matrix_entry(tprt_dtype dtype, tprt_reduction reduction) {
  return matrix[dtype][reduction - 1];
}

bool matrix_refuses(const scenario *s) {
  char what = s->reduction ? matrix_entry(s->dtype, s->reduction) : '+';
  return what == '-' || what == '~';
}
