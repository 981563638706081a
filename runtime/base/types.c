/* Names and sizes of element types, names of reductions, and the supported combinations. All
 * information about types comes from the table of elements.h. */
#include "base/types.h"

#include <string.h>

static const char *const reduction_names[TPRT_N_REDUCTIONS] = {
    [TPRT_NO_REDUCTION] = "none", [TPRT_SUM] = "sum",
    [TPRT_PRODUCT] = "product",   [TPRT_MIN] = "min",
    [TPRT_MAX] = "max",           [TPRT_MINNUM] = "minnum",
    [TPRT_MAXNUM] = "maxnum",     [TPRT_UMIN] = "umin",
    [TPRT_UMAX] = "umax",         [TPRT_BAND] = "band",
    [TPRT_BOR] = "bor",           [TPRT_BXOR] = "bxor",
    [TPRT_AVG] = "avg",           [TPRT_PREMUL_SUM] = "premul_sum",
};

const char *tprt_dtype_name(tprt_dtype dtype) {
  const tprt__dtype_info *info = tprt__dtype_info_get((int64_t)dtype);
  return info ? info->name : NULL;
}

size_t tprt_dtype_size(tprt_dtype dtype) {
  const tprt__dtype_info *info = tprt__dtype_info_get((int64_t)dtype);
  return info ? info->size : 0;
}

const char *tprt_reduction_name(tprt_reduction reduction) {
  return (size_t)reduction < TPRT_N_REDUCTIONS ? reduction_names[reduction] : NULL;
}

tprt_dtype tprt_dtype_parse(const char *name) {
  TPRT__NEED_OR(name, (tprt_dtype)0);
  for (int i = 1; i < TPRT_N_DTYPES; i++) {
    if (strcmp(name, tprt_dtype_name((tprt_dtype)i)) == 0)
      return (tprt_dtype)i;
  }
  return (tprt_dtype)0;
}

tprt_reduction tprt_reduction_parse(const char *name) {
  TPRT__NEED_OR(name, TPRT_NO_REDUCTION);
  for (int i = 1; i < TPRT_N_REDUCTIONS; i++) {
    if (strcmp(name, reduction_names[i]) == 0)
      return (tprt_reduction)i;
  }
  return TPRT_NO_REDUCTION;
}

bool tprt_reduction_supports(tprt_reduction reduction, tprt_dtype dtype) {
  const tprt__dtype_info *info = tprt__dtype_info_get((int64_t)dtype);
  return info && (size_t)reduction < TPRT_N_REDUCTIONS && info->combine[reduction];
}
