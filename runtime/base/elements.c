/* Instantiates the loops of elements.h for each kind of vectors and selects the table. */
#include "base/float8.h"
#include "base/half.h"
#include "base/types.h"

#include <math.h>
#include <string.h>

#define TARGET
#define UNFUSED
#define NAMED(name) plain_##name
#include "base/elements.h"
#undef TARGET
#undef UNFUSED
#undef NAMED

#if TPRT__HAS_TARGETS

#define TARGET TPRT__TARGET_AVX2
#define UNFUSED TPRT__TARGET_AVX2
#define NAMED(name) avx2_##name
#include "base/elements.h"
#undef TARGET
#undef UNFUSED
#undef NAMED

/* The AVX-512 target includes fused multiply-add. GCC 12 fuses complex products even if it is told
 * not to, so those functions are compiled for AVX2. */
#define TARGET TPRT__TARGET_AVX512
#define UNFUSED TPRT__TARGET_AVX2
#define NAMED(name) avx512_##name
#include "base/elements.h"

static const tprt__dtype_info *const tables[TPRT__N_VECTORS] = {
    [TPRT__AVX512] = avx512_table, [TPRT__AVX2] = avx2_table, [TPRT__PLAIN] = plain_table};

#else

static const tprt__dtype_info *const tables[TPRT__N_VECTORS] = {
    [TPRT__AVX512] = plain_table, [TPRT__AVX2] = plain_table, [TPRT__PLAIN] = plain_table};

#endif

const tprt__dtype_info *tprt__dtype_info_for(tprt__vectors vectors, int64_t dtype) {
  return dtype > 0 && dtype < TPRT_N_DTYPES ? &tables[vectors][dtype] : NULL;
}

const tprt__dtype_info *tprt__dtype_info_get(int64_t dtype) {
  return tprt__dtype_info_for(tprt__vectors_best(), dtype);
}
