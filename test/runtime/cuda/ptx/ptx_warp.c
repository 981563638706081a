/* Warp-level instructions and control flow. */
#include "ptx_inside.h"

/* Returns the source lane of `lane`, and whether it is in its segment; if not, the source is the
 * lane itself. */
static bool source(uint64_t modifiers, int lane, uint32_t b, uint32_t c, int *from) {
  int segment = (int)(c >> 8) & 31, clamp = (int)c & 31, step = (int)b & 31;
  int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int j = modifiers & PTX_M_UP     ? lane - step
          : modifiers & PTX_M_DOWN ? lane + step
          : modifiers & PTX_M_BFLY ? lane ^ step
                                   : least | (step & ~segment);
  bool inside = modifiers & PTX_M_UP ? j >= most : j <= most;
  *from = inside ? j : lane;
  return inside;
}

static void shfl(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *a = ptx_from32(w, i, 0), *b = ptx_from32(w, i, 1), *c = ptx_from32(w, i, 2);
  uint32_t values[PTX_WARP], inside = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest), from;
    inside |= (uint32_t)source(i->modifiers, l, b[l], c[l], &from) << l;
    if (!(mask >> from & 1)) {
      ptx_fail(w, l, PTX_FAULT, "reads from thread %d of the warp, which does not take part", from);
      return;
    }
    values[l] = a[from];
  }
  PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = values[l]; })
  if (i->to_p[0] != PTX_NONE)
    w->predicates[i->to_p[0]] = (w->predicates[i->to_p[0]] & ~mask) | inside;
}

static void ballot(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t votes = ptx_predicate(w, i, 0) & mask;
  PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = votes; })
}

static void vote(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t votes = ptx_predicate(w, i, 0) & mask;
  bool holds = i->modifiers & PTX_M_ALL   ? votes == mask
               : i->modifiers & PTX_M_ANY ? votes != 0
                                          : votes == mask || votes == 0;
  w->predicates[i->to_p[0]] = (w->predicates[i->to_p[0]] & ~mask) | (holds ? mask : 0);
}

static void activemask(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = mask; })
}

static void redux(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *a = ptx_from32(w, i, 0);
  uint64_t m = i->modifiers;
  uint32_t result = a[__builtin_ctz(mask)];
  for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
    uint32_t x = a[__builtin_ctz(rest)];
    bool less = i->type == PTX_S32 ? (int32_t)x < (int32_t)result : x < result;
    result = m & PTX_M_AND   ? result & x
             : m & PTX_M_OR  ? result | x
             : m & PTX_M_XOR ? result ^ x
             : m & PTX_M_ADD ? result + x
             : m & PTX_M_MIN ? (less ? x : result)
                             : (less ? result : x);
  }
  PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = result; })
}

/* Returns the threads of the mask that have the same value. */
static void match_any(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t same[PTX_WARP];
  PTX_EACH_LANE(mask, l, {
    same[l] = 0;
    for (int j = 0; j < PTX_WARP; j++)
      same[l] |= (uint32_t)(mask >> j & 1 && ptx_read(w, i, 0, j) == ptx_read(w, i, 0, l)) << j;
  })
  PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = same[l]; })
}

static void warp_sync(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  (void)i, (void)mask;
  w->epoch++;
}

static void trap(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  (void)i;
  ptx_fail(w, __builtin_ctz(mask), PTX_FAULT, "the program stops itself");
}

static void doze(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  (void)w, (void)i, (void)mask;
}

#define TOGETHER(operation, types, required, operands, run)                                        \
  {operation, types, PTX_M_SYNC | (required), 0, operands, run, PTX_TOGETHER}
#define REDUX(types, modifier) TOGETHER("redux", types, PTX_M_##modifier, "daw", redux)
#define BARRIER_WORDS (PTX_M_CTA | PTX_M_ALIGNED)
/* With a number of threads, and without. */
#define REDUCES(operation, types, modifier, to)                                                    \
  {operation, types, PTX_M_RED | PTX_M_##modifier, BARRIER_WORDS, to "wp", NULL, PTX_BARRIER}, {   \
    operation, types, PTX_M_RED | PTX_M_##modifier, BARRIER_WORDS, to "wwp", NULL, PTX_BARRIER     \
  }
#define BARRIERS(operation)                                                                        \
  {operation, "", PTX_M_SYNC, BARRIER_WORDS, "wo", NULL, PTX_BARRIER},                             \
      {operation, "", PTX_M_ARRIVE, BARRIER_WORDS, "ww", NULL, PTX_BARRIER},                       \
      REDUCES(operation, "pred", AND, "P"), REDUCES(operation, "pred", OR, "P"),                   \
      REDUCES(operation, "u32", POPC, "x")
/* clang-format off */
PTX_TABLE(warp,
  TOGETHER("shfl", "b32", PTX_M_BFLY, "rawww", shfl), TOGETHER("shfl", "b32", PTX_M_UP, "rawww", shfl),
  TOGETHER("shfl", "b32", PTX_M_DOWN, "rawww", shfl), TOGETHER("shfl", "b32", PTX_M_IDX, "rawww", shfl),
  TOGETHER("vote", "b32", PTX_M_BALLOT, "xpw", ballot), TOGETHER("vote", "pred", PTX_M_ALL, "Ppw", vote),
  TOGETHER("vote", "pred", PTX_M_ANY, "Ppw", vote), TOGETHER("vote", "pred", PTX_M_UNI, "Ppw", vote),
  {"activemask", "b32", 0, 0, "x", activemask, PTX_PLAIN},
  REDUX("u32 s32", ADD), REDUX("u32 s32", MIN), REDUX("u32 s32", MAX), REDUX("b32", AND), REDUX("b32", OR), REDUX("b32", XOR),
  TOGETHER("match", "b32 b64", PTX_M_ANY, "xaw", match_any),
  TOGETHER("bar", "", PTX_M_WARP, "w", warp_sync),
  BARRIERS("bar"), BARRIERS("barrier"),
  {"setmaxnreg", "u32", PTX_M_INC | PTX_M_SYNC | PTX_M_ALIGNED, 0, "i", NULL, PTX_RESIZE},
  {"setmaxnreg", "u32", PTX_M_DEC | PTX_M_SYNC | PTX_M_ALIGNED, 0, "i", NULL, PTX_RESIZE},
  {"bra", "", 0, PTX_M_UNI, "L", NULL, PTX_BRANCH}, {"brx", "", PTX_M_IDX, PTX_M_UNI, "wL", NULL, PTX_CHOOSE},
  {"ret", "", 0, PTX_M_UNI, "", NULL, PTX_EXIT}, {"exit", "", 0, 0, "", NULL, PTX_EXIT},
  {"nanosleep", "u32", 0, 0, "w", doze, PTX_MEMORY}, {"trap", "", 0, 0, "", trap, PTX_MEMORY})
/* clang-format on */
