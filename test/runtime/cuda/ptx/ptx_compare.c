/* Comparison and selection instructions. */
#include "ptx_inside.h"

#include <math.h>

void ptx_set_predicates(ptx_warp *w, const ptx_instruction *i, uint32_t mask, uint32_t holds) {
  uint32_t given = ptx_predicate(w, i, 0);
  for (int k = 0; k < 2; k++) {
    uint32_t result = k == 0 ? holds : ~holds;
    result = i->modifiers & PTX_M_AND   ? result & given
             : i->modifiers & PTX_M_OR  ? result | given
             : i->modifiers & PTX_M_XOR ? result ^ given
                                        : result;
    if (i->to_p[k] != PTX_NONE)
      w->predicates[i->to_p[k]] = (w->predicates[i->to_p[k]] & ~mask) | (result & mask);
  }
}

bool ptx_compare(double a, double b, int comparison) {
  bool unordered = isnan(a) || isnan(b);
  switch (comparison & ~PTX_UNORDERED) {
  case PTX_NUM: /* with PTX_UNORDERED: at least one is NaN */
    return comparison & PTX_UNORDERED ? unordered : !unordered;
  case PTX_EQ:
    return unordered ? comparison & PTX_UNORDERED : a == b;
  case PTX_NE:
    return unordered ? comparison & PTX_UNORDERED : a != b;
  case PTX_LT:
    return unordered ? comparison & PTX_UNORDERED : a < b;
  case PTX_LE:
    return unordered ? comparison & PTX_UNORDERED : a <= b;
  case PTX_GT:
    return unordered ? comparison & PTX_UNORDERED : a > b;
  default:
    return unordered ? comparison & PTX_UNORDERED : a >= b;
  }
}

#define HOLDS(mask, expression)                                                                    \
  PTX_EACH_LANE(mask, l, { holds |= (uint32_t)(expression) << l; })                                \
  break

#define SETP_INTEGER(name, bits, type)                                                             \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    const uint##bits##_t *x = ptx_from##bits(w, i, 0), *y = ptx_from##bits(w, i, 1);               \
    uint32_t holds = 0;                                                                            \
    switch (i->comparison) {                                                                       \
    case PTX_EQ:                                                                                   \
      HOLDS(mask, (type)x[l] == (type)y[l]);                                                       \
    case PTX_NE:                                                                                   \
      HOLDS(mask, (type)x[l] != (type)y[l]);                                                       \
    case PTX_LT:                                                                                   \
      HOLDS(mask, (type)x[l] < (type)y[l]);                                                        \
    case PTX_LE:                                                                                   \
      HOLDS(mask, (type)x[l] <= (type)y[l]);                                                       \
    case PTX_GT:                                                                                   \
      HOLDS(mask, (type)x[l] > (type)y[l]);                                                        \
    default:                                                                                       \
      HOLDS(mask, (type)x[l] >= (type)y[l]);                                                       \
    }                                                                                              \
    ptx_set_predicates(w, i, mask, holds);                                                         \
  }
SETP_INTEGER(setp_s16, 32, int16_t)
SETP_INTEGER(setp_u16, 32, uint16_t)
SETP_INTEGER(setp_s32, 32, int32_t)
SETP_INTEGER(setp_u32, 32, uint32_t)
SETP_INTEGER(setp_s64, 64, int64_t)
SETP_INTEGER(setp_u64, 64, uint64_t)

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static void setp_f32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const float *a = (const void *)ptx_from32(w, i, 0), *b = (const void *)ptx_from32(w, i, 1);
  bool flush = i->modifiers & PTX_M_FTZ;
  uint32_t holds = 0;
  PTX_EACH_LANE(mask, l, {
    float x = flush ? flushed(a[l]) : a[l];
    float y = flush ? flushed(b[l]) : b[l];
    holds |= (uint32_t)ptx_compare(x, y, i->comparison) << l;
  })
  ptx_set_predicates(w, i, mask, holds);
}

static void setp_f64(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const double *a = (const void *)ptx_from64(w, i, 0), *b = (const void *)ptx_from64(w, i, 1);
  uint32_t holds = 0;
  PTX_EACH_LANE(mask, l, { holds |= (uint32_t)ptx_compare(a[l], b[l], i->comparison) << l; })
  ptx_set_predicates(w, i, mask, holds);
}

static void setp_half(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *a = ptx_from32(w, i, 0), *b = ptx_from32(w, i, 1);
  uint32_t holds = 0;
  PTX_EACH_LANE(mask, l, {
    bool one = ptx_compare(ptx_of_half(i->type, a[l]), ptx_of_half(i->type, b[l]), i->comparison);
    holds |= (uint32_t)one << l;
  })
  ptx_set_predicates(w, i, mask, holds);
}

/* Of pairs, the first predicate is that of the low halves, the second that of the high ones. */
static void setp_pair(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *a = ptx_from32(w, i, 0), *b = ptx_from32(w, i, 1);
  ptx_type half = i->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
  for (int k = 0; k < 2; k++) {
    ptx_instruction one = *i;
    uint32_t holds = 0;
    PTX_EACH_LANE(mask, l, {
      double x = ptx_of_half(half, a[l] >> 16 * k & 0xffff);
      holds |= (uint32_t)ptx_compare(x, ptx_of_half(half, b[l] >> 16 * k & 0xffff), i->comparison)
               << l;
    })
    one.to_p[0] = i->to_p[k];
    one.to_p[1] = PTX_NONE;
    ptx_set_predicates(w, &one, mask, holds);
  }
}

/* ---- Selection ---- */

static void selp_32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t chosen = ptx_predicate(w, i, 0), *to = ptx_to32(w, i, 0);
  const uint32_t *a = ptx_from32(w, i, 0), *b = ptx_from32(w, i, 1);
  PTX_EACH_LANE(mask, l, { to[l] = chosen >> l & 1 ? a[l] : b[l]; })
}

static void selp_64(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t chosen = ptx_predicate(w, i, 0);
  uint64_t *to = ptx_to64(w, i, 0);
  const uint64_t *a = ptx_from64(w, i, 0), *b = ptx_from64(w, i, 1);
  PTX_EACH_LANE(mask, l, { to[l] = chosen >> l & 1 ? a[l] : b[l]; })
}

#define OF_PREDICATES(name, expression)                                                            \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    uint32_t a = ptx_predicate(w, i, 0), b = ptx_predicate(w, i, 1);                               \
    (void)b;                                                                                       \
    w->predicates[i->to_p[0]] = (w->predicates[i->to_p[0]] & ~mask) | ((expression) & mask);       \
  }
OF_PREDICATES(mov_pred, a)
OF_PREDICATES(not_pred, ~a)
OF_PREDICATES(and_pred, a &b)
OF_PREDICATES(or_pred, a | b)
OF_PREDICATES(xor_pred, a ^ b)

#define COMPARED (PTX_M_AND | PTX_M_OR | PTX_M_XOR)
/* clang-format off */
PTX_TABLE(compare,
  {"setp", "s16", 0, COMPARED, "Qaa", setp_s16, PTX_PLAIN}, {"setp", "u16 b16", 0, COMPARED, "Qaa", setp_u16, PTX_PLAIN},
  {"setp", "s32", 0, COMPARED, "Qaa", setp_s32, PTX_PLAIN}, {"setp", "u32 b32", 0, COMPARED, "Qaa", setp_u32, PTX_PLAIN},
  {"setp", "s64", 0, COMPARED, "Qaa", setp_s64, PTX_PLAIN}, {"setp", "u64 b64", 0, COMPARED, "Qaa", setp_u64, PTX_PLAIN},
  {"setp", "f32", 0, COMPARED | PTX_M_FTZ, "Qaa", setp_f32, PTX_PLAIN}, {"setp", "f64", 0, COMPARED, "Qaa", setp_f64, PTX_PLAIN},
  {"setp", "f16 bf16", 0, COMPARED, "Qaa", setp_half, PTX_PLAIN}, {"setp", "f16x2 bf16x2", 0, COMPARED, "Qaa", setp_pair, PTX_PLAIN},
  {"mov", "pred", 0, 0, "Pp", mov_pred, PTX_PLAIN}, {"not", "pred", 0, 0, "Pp", not_pred, PTX_PLAIN},
  {"and", "pred", 0, 0, "Ppp", and_pred, PTX_PLAIN}, {"or", "pred", 0, 0, "Ppp", or_pred, PTX_PLAIN},
  {"xor", "pred", 0, 0, "Ppp", xor_pred, PTX_PLAIN},
  {"selp", "b16 u16 s16 b32 u32 s32 f32 f16 bf16 f16x2 bf16x2", 0, 0, "daap", selp_32, PTX_PLAIN},
  {"selp", "b64 u64 s64 f64", 0, 0, "daap", selp_64, PTX_PLAIN})
/* clang-format on */
