/* Moves of values and addresses between registers, including packing and unpacking. */
#include "ptx_inside.h"

static void mov_32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t *to = ptx_to32(w, i, 0);
  const uint32_t *from = ptx_from32(w, i, 0);
  PTX_EACH_LANE(mask, l, { to[l] = from[l]; })
}

static void mov_64(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint64_t *to = ptx_to64(w, i, 0);
  const uint64_t *from = ptx_from64(w, i, 0);
  PTX_EACH_LANE(mask, l, { to[l] = from[l]; })
}

/* Ignores register bits above those of a part: signed operations leave sign bits there. */
static void pack(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  int bits = ptx_types[i->type].bits / i->n_from;
  PTX_EACH_LANE(mask, l, {
    uint64_t value = 0;
    for (int k = 0; k < i->n_from; k++)
      value |= (ptx_read(w, i, k, l) & ((UINT64_C(1) << bits) - 1)) << (bits * k);
    ptx_write(w, i, 0, l, value);
  })
}

static void unpack(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  int bits = ptx_types[i->type].bits / i->n_to;
  PTX_EACH_LANE(mask, l, {
    uint64_t value = ptx_read(w, i, 0, l);
    for (int k = 0; k < i->n_to; k++)
      ptx_write(w, i, k, l, value >> (bits * k) & ((UINT64_C(1) << bits) - 1));
  })
}

static uint64_t window_of(uint64_t modifiers) {
  return (uint64_t)(modifiers & PTX_M_SHARED  ? PTX_WINDOW_SHARED
                    : modifiers & PTX_M_LOCAL ? PTX_WINDOW_LOCAL
                    : modifiers & PTX_M_PARAM ? PTX_WINDOW_PARAM
                                              : 0)
         << PTX_WINDOW_SHIFT;
}

/* Converts addresses. Global addresses are generic already; for other spaces, the bits of their
 * window are set or cleared. */
static void cvta(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint64_t window = window_of(i->modifiers);
  PTX_EACH_LANE(mask, l, {
    uint64_t address = ptx_read(w, i, 0, l);
    ptx_write(w, i, 0, l, i->modifiers & PTX_M_TO ? address & ~window : address | window);
  })
}

#define SPACES (PTX_M_GLOBAL | PTX_M_SHARED | PTX_M_LOCAL | PTX_M_PARAM | PTX_M_CONST | PTX_M_CTA)
/* clang-format off */
PTX_TABLE(move,
  {"mov", "b16 u16 s16 f16 bf16 b32 u32 s32 f32 f16x2 bf16x2", 0, 0, "da", mov_32, PTX_PLAIN},
  {"mov", "b64 u64 s64 f64", 0, 0, "da", mov_64, PTX_PLAIN},
  {"mov", "b32 b64", 0, 0, "dh", pack, PTX_PLAIN}, {"mov", "b32 b64", 0, 0, "Ha", unpack, PTX_PLAIN},
  {"cvta", "u64 u32", 0, SPACES | PTX_M_TO, "lm", cvta, PTX_PLAIN})
/* clang-format on */
