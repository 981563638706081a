/* Integer arithmetic of a given width. Values are stored in 64 bits, sign-extended. Each function
 * clears *defined where the operation is undefined, such as a division by zero. */
#ifndef TP_REFERENCE_INTEGER_H
#define TP_REFERENCE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct integers {
  int bits;
  int64_t a, b;
} integers;

static inline uint64_t unsigned_of(int bits, int64_t x) {
  return bits == 64 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << bits) - 1);
}

int64_t tp__int_add(const integers *x, bool *defined);
int64_t tp__int_sub(const integers *x, bool *defined);
int64_t tp__int_mul(const integers *x, bool *defined);
int64_t tp__int_divs(const integers *x, bool *defined);
int64_t tp__int_divu(const integers *x, bool *defined);
int64_t tp__int_rems(const integers *x, bool *defined);
int64_t tp__int_remu(const integers *x, bool *defined);
int64_t tp__int_floordiv(const integers *x, bool *defined);
int64_t tp__int_ceildiv(const integers *x, bool *defined);
int64_t tp__int_ceildivu(const integers *x, bool *defined);
int64_t tp__int_maxs(const integers *x, bool *defined);
int64_t tp__int_mins(const integers *x, bool *defined);
int64_t tp__int_maxu(const integers *x, bool *defined);
int64_t tp__int_minu(const integers *x, bool *defined);
int64_t tp__int_xor(const integers *x, bool *defined);
int64_t tp__int_shl(const integers *x, bool *defined);
int64_t tp__int_shrs(const integers *x, bool *defined);
int64_t tp__int_shru(const integers *x, bool *defined);
int64_t tp__int_abs(const integers *x, bool *defined);
int64_t tp__int_ctlz(const integers *x, bool *defined);
int64_t tp__int_cttz(const integers *x, bool *defined);
int64_t tp__int_ctpop(const integers *x, bool *defined);
int64_t tp__int_pow(const integers *x, bool *defined);

#endif
