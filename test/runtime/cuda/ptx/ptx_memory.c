/* Loads, stores and atomic operations. Checks every access: it is inside of memory and aligned, and
 * in shared memory there is a barrier between it and conflicting accesses of other threads. */
#include "ptx_inside.h"

/* ---- Addresses ---- */

unsigned char *ptx_reach_global(ptx_warp *w, int lane, uint64_t address, size_t bytes) {
  ptx_cta *c = w->cta;
  for (int r = 0; r < PTX_KNOWN_RANGES; r++)
    if (address >= c->known[r].begin && address < c->known[r].end &&
        bytes <= c->known[r].end - address)
      return (unsigned char *)(uintptr_t)address;
  uint64_t begin, end;
  const ptx_memory *m = &c->launch->memory;
  bool found = ptx_in_module(c->kernel->module, address, &begin, &end) ||
               m->find(m->user, address, &begin, &end);
  if (!found) {
    ptx_fail(w, lane, PTX_BAD_ADDRESS, "address 0x%llx is in no allocation",
             (unsigned long long)address);
    return NULL;
  }
  if (bytes > end - address) {
    ptx_fail(w, lane, PTX_BAD_ADDRESS, "%zu bytes at 0x%llx pass the end of an allocation of %llu",
             bytes, (unsigned long long)address, (unsigned long long)(end - begin));
    return NULL;
  }
  c->known[c->next_known].begin = begin;
  c->known[c->next_known].end = end;
  c->next_known = (c->next_known + 1) % PTX_KNOWN_RANGES;
  return (unsigned char *)(uintptr_t)address;
}

static int window_of(const ptx_instruction *i, uint64_t *address) {
  if (i->modifiers & (PTX_M_GLOBAL | PTX_M_CONST))
    return 0;
  if (i->modifiers & PTX_M_SHARED)
    return PTX_WINDOW_SHARED;
  if (i->modifiers & PTX_M_LOCAL)
    return PTX_WINDOW_LOCAL;
  if (i->modifiers & PTX_M_PARAM)
    return PTX_WINDOW_PARAM;
  int window = (int)(*address >> PTX_WINDOW_SHIFT);
  if (window >= PTX_WINDOW_SHARED && window <= PTX_WINDOW_PARAM) {
    *address &= (UINT64_C(1) << PTX_WINDOW_SHIFT) - 1;
    return window;
  }
  return 0;
}

static uint64_t address_of(const ptx_warp *w, const ptx_instruction *i, int lane) {
  uint64_t base = ptx_read(w, i, 0, lane), address = base + (uint64_t)i->offset;
  return ptx_is_wide(i, 4) ? address : (uint32_t)address;
}

/* Returns the memory of an access; NULL after a failure. `new_bytes`: the data to write, NULL for a
 * read. */
static unsigned char *reach(ptx_warp *w, const ptx_instruction *i, int lane, size_t bytes,
                            const unsigned char *new_bytes) {
  uint64_t address = address_of(w, i, lane), place = address;
  int window = window_of(i, &place);
  size_t size;
  if (place & (bytes - 1)) { /* bytes is a power of two */
    ptx_fail(w, lane, PTX_MISALIGNED, "address 0x%llx is no multiple of %zu",
             (unsigned long long)address, bytes);
    return NULL;
  }
  switch (window) {
  case 0:
    return ptx_reach_global(w, lane, place, bytes);
  case PTX_WINDOW_SHARED:
    return ptx_reach_shared(w, lane, place, bytes, new_bytes);
  case PTX_WINDOW_LOCAL:
    size = w->cta->kernel->local_bytes;
    break;
  default:
    size = w->cta->kernel->parameter_bytes;
  }
  if (place > size || bytes > size - place) {
    ptx_fail(w, lane, PTX_BAD_ADDRESS, "%zu bytes at %llu of %s memory, which has %zu", bytes,
             (unsigned long long)place, window == PTX_WINDOW_LOCAL ? "local" : "parameter", size);
    return NULL;
  }
  if (window == PTX_WINDOW_LOCAL)
    return w->local + (size_t)lane * size + place;
  if (new_bytes) {
    ptx_fail(w, lane, PTX_BAD_ADDRESS, "parameters are not written");
    return NULL;
  }
  return (unsigned char *)(uintptr_t)w->cta->launch->parameters + place;
}

/* The same for reads by all threads of a mask; false after a failure. */
static bool reach_all(ptx_warp *w, const ptx_instruction *i, uint32_t mask, size_t bytes,
                      const unsigned char *from[PTX_WARP]) {
  uint64_t address[PTX_WARP], any = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest);
    any |= address[l] = address_of(w, i, l);
  }
  if (i->modifiers & PTX_M_SHARED && !(any & (bytes - 1)))
    return ptx_read_shared(w, mask, address, bytes, from);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest);
    from[l] = reach(w, i, l, bytes, NULL);
    if (!from[l])
      return false;
  }
  return true;
}

/* ---- Loads and stores ---- */

static int elements(const ptx_instruction *i) {
  return i->modifiers & PTX_M_V4 ? 4 : i->modifiers & PTX_M_V2 ? 2 : 1;
}

/* Single values with memory order are atomic; other accesses are atomic per byte, as a GPU
 * guarantees. */
static uint64_t load(const unsigned char *from, size_t size, bool orders) {
  uint64_t value = 0;
  if (orders && size == 4)
    return __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_SEQ_CST);
  if (orders && size == 8)
    return __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_SEQ_CST);
  switch (size) { /* with constant sizes, each is one instruction */
  case 4:
    memcpy(&value, from, 4);
    break;
  case 8:
    memcpy(&value, from, 8);
    break;
  case 2:
    memcpy(&value, from, 2);
    break;
  default:
    value = *from;
  }
  return value;
}

static void store(unsigned char *to, uint64_t value, size_t size, bool orders) {
  if (orders && size == 4)
    __atomic_store_n((uint32_t *)(void *)to, (uint32_t)value, __ATOMIC_SEQ_CST);
  else if (orders && size == 8)
    __atomic_store_n((uint64_t *)(void *)to, value, __ATOMIC_SEQ_CST);
  else if (size == 4)
    memcpy(to, &value, 4);
  else if (size == 8)
    memcpy(to, &value, 8);
  else
    memcpy(to, &value, size);
}

#define ORDERS                                                                                     \
  (PTX_M_ACQUIRE | PTX_M_RELEASE | PTX_M_ACQ_REL | PTX_M_RELAXED | PTX_M_VOLATILE | PTX_M_SC)

static uint64_t in_register(const ptx_instruction *i, uint64_t value) {
  int bits = ptx_types[i->type].bits;
  if (i->type == PTX_S8 || i->type == PTX_S16 || i->type == PTX_S32)
    value = (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
  return i->register_bits == 64 ? value : value & ((UINT64_C(1) << i->register_bits) - 1);
}

/* Counts sectors, the transfer unit of a GPU's memory. Sectors that the lanes of a warp access by
 * one instruction count once. */
static void count_sectors(ptx_warp *w, const ptx_instruction *i, uint32_t mask, size_t bytes) {
  uint64_t seen[2 * PTX_WARP];
  int n = 0;
  if (!w->cta->launch->sectors)
    return;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint64_t place = address_of(w, i, __builtin_ctz(rest));
    if (window_of(i, &place) != 0)
      continue;
    for (uint64_t sector = place / PTX_SECTOR; sector <= (place + bytes - 1) / PTX_SECTOR;
         sector++) {
      int k = n; /* neighbors share sectors, so search from the last */
      while (k > 0 && seen[k - 1] != sector)
        k--;
      if (k == 0)
        seen[n++] = sector;
    }
  }
  __atomic_fetch_add(w->cta->launch->sectors, (uint64_t)n, __ATOMIC_RELAXED);
}

static void ld(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  size_t size = (size_t)ptx_types[i->type].bits / 8, n = (size_t)elements(i);
  bool orders = i->modifiers & ORDERS;
  count_sectors(w, i, mask, n * size);
  const unsigned char *from[PTX_WARP];
  if (!reach_all(w, i, mask, n * size, from))
    return;
  for (int k = 0; k < (int)n; k++) {
    bool is_word = size == 4 && i->register_bits == 32 && !orders && !ptx_is_wide(i, k);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      int l = __builtin_ctz(rest);
      const unsigned char *at = from[l] + (size_t)k * size;
      if (is_word) /* most are */
        memcpy(ptx_to32(w, i, k) + l, at, 4);
      else
        ptx_write(w, i, k, l, in_register(i, load(at, size, orders)));
    }
  }
}

static void st(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  size_t size = (size_t)ptx_types[i->type].bits / 8, n = (size_t)elements(i);
  bool orders = i->modifiers & ORDERS;
  count_sectors(w, i, mask, n * size);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest);
    unsigned char bytes[32];
    for (size_t k = 0; k < n; k++) {
      uint64_t value = ptx_read(w, i, 1 + (int)k, l);
      memcpy(bytes + k * size, &value, size);
    }
    unsigned char *to = reach(w, i, l, n * size, bytes);
    if (!to)
      return;
    if (n == 1)
      store(to, ptx_read(w, i, 1, l), size, orders);
    else
      memcpy(to, bytes, n * size);
  }
}

/* ---- Atomic operations ---- */

static uint64_t combined(const ptx_instruction *i, uint64_t old, uint64_t a, uint64_t b) {
  uint64_t m = i->modifiers;
  float x, y;
  double u, v;
  uint32_t word;
  if (m & PTX_M_EXCH)
    return a;
  if (m & PTX_M_CAS)
    return old == a ? b : old;
  if (m & PTX_M_AND)
    return old & a;
  if (m & PTX_M_OR)
    return old | a;
  if (m & PTX_M_XOR)
    return old ^ a;
  switch (i->type) {
  case PTX_F32:
    word = (uint32_t)old;
    memcpy(&x, &word, sizeof x);
    word = (uint32_t)a;
    memcpy(&y, &word, sizeof y);
    x += y;
    memcpy(&word, &x, sizeof x);
    return x == x ? word : 0x7fffffff;
  case PTX_F64:
    memcpy(&u, &old, sizeof u);
    memcpy(&v, &a, sizeof v);
    u += v;
    memcpy(&old, &u, sizeof u);
    return old;
  case PTX_S32:
    if (m & (PTX_M_MIN | PTX_M_MAX))
      return ((int32_t)a < (int32_t)old) == !!(m & PTX_M_MIN) ? a : old;
    return old + a;
  case PTX_S64:
    if (m & (PTX_M_MIN | PTX_M_MAX))
      return ((int64_t)a < (int64_t)old) == !!(m & PTX_M_MIN) ? a : old;
    return old + a;
  default:
    if (m & (PTX_M_MIN | PTX_M_MAX))
      return (a < old) == !!(m & PTX_M_MIN) ? a : old;
    return old + a;
  }
}

/* atom returns the old value, red returns nothing. In shared memory they count as reads: they race
 * with stores, not with each other. */
static void atom(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  size_t size = (size_t)ptx_types[i->type].bits / 8;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest);
    uint64_t a = ptx_read(w, i, 1, l), b = i->n_from > 2 ? ptx_read(w, i, 2, l) : 0;
    unsigned char *at = reach(w, i, l, size, NULL);
    if (!at)
      return;
    uint64_t old = load(at, size, true), new;
    for (bool done = false; !done;) {
      new = combined(i, old, a, b);
      if (size == 4) {
        uint32_t expected = (uint32_t)old;
        done = __atomic_compare_exchange_n((uint32_t *)(void *)at, &expected, (uint32_t)new, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        old = expected;
      } else {
        done = __atomic_compare_exchange_n((uint64_t *)(void *)at, &old, new, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      }
    }
    if (i->n_to)
      ptx_write(w, i, 0, l, old);
  }
}

static void fence(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  static uint32_t all; /* target of all fences, because ThreadSanitizer does not support fences */
  (void)w, (void)i, (void)mask;
  __atomic_fetch_add(&all, 0, __ATOMIC_SEQ_CST);
}

static void nothing(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  (void)w, (void)i, (void)mask;
}

#define SPACES (PTX_M_GLOBAL | PTX_M_SHARED | PTX_M_LOCAL | PTX_M_PARAM | PTX_M_CONST)
#define SCOPES (PTX_M_CTA | PTX_M_GPU | PTX_M_SYS)
#define VECTORS (PTX_M_V2 | PTX_M_V4)
#define ANY_TYPE "b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 f16x2 bf16x2 b64 u64 s64 f64"
#define ATOMIC(types, modifier, last)                                                              \
  {"atom", types, PTX_M_##modifier, ATOMIC_ALLOWED, "l@" last, atom, PTX_MEMORY}, {                \
    "red", types, PTX_M_##modifier, ATOMIC_ALLOWED, "@" last, atom, PTX_MEMORY                     \
  }
#define ATOMIC_ALLOWED                                                                             \
  (PTX_M_GLOBAL | PTX_M_SHARED | SCOPES | PTX_M_RELAXED | PTX_M_ACQUIRE | PTX_M_RELEASE |          \
   PTX_M_ACQ_REL)
/* clang-format off */
PTX_TABLE(memory,
  {"ld", ANY_TYPE, 0, SPACES | SCOPES | VECTORS | PTX_M_ACQUIRE | PTX_M_RELAXED | PTX_M_VOLATILE | PTX_M_WEAK | PTX_M_NC | PTX_M_CACHED,
   "V@", ld, PTX_MEMORY},
  {"st", ANY_TYPE, 0, SPACES | SCOPES | VECTORS | PTX_M_RELEASE | PTX_M_RELAXED | PTX_M_VOLATILE | PTX_M_WEAK | PTX_M_CACHED,
   "@v", st, PTX_MEMORY},
  ATOMIC("u32 s32 u64 s64 f32 f64", ADD, "m"), ATOMIC("u32 s32 u64 s64", MIN, "m"), ATOMIC("u32 s32 u64 s64", MAX, "m"),
  ATOMIC("b32 b64", AND, "m"), ATOMIC("b32 b64", OR, "m"), ATOMIC("b32 b64", XOR, "m"), ATOMIC("b32 b64", EXCH, "m"),
  ATOMIC("b32 b64", CAS, "mm"),
  {"fence", "", 0, SCOPES | PTX_M_ACQ_REL | PTX_M_SC | PTX_M_ACQUIRE | PTX_M_RELEASE, "", fence, PTX_PLAIN},
  {"membar", "", 0, SCOPES, "", fence, PTX_PLAIN},
  {"prefetch", "", 0, SPACES | PTX_M_CACHED, "@", nothing, PTX_PLAIN})
/* clang-format on */
