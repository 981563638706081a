/* Asynchronous copies from global to shared memory (cp.async). A copy happens at the latest moment
 * that the program allows: when its thread waits for it. Until then the bytes are 0xff, so a
 * missing wait, or a wait for too few groups, gives wrong results. Both the start and the end of a
 * copy count as writes of the thread, so a read by another thread in between, without a barrier, is
 * a race. */
#include "ptx_inside.h"

#include <stdlib.h>

enum { BYTES = 16, UNCOMMITTED = UINT32_MAX };

static void start(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  static const unsigned char unknown[BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                               0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest);
    uint64_t to = (uint32_t)(ptx_read(w, i, 0, l) + (uint64_t)i->offset),
             from = ptx_read(w, i, 1, l) + (uint64_t)i->second_offset;
    uint32_t bytes = ptx_from32(w, i, 2)[l], n = i->n_from > 3 ? ptx_from32(w, i, 3)[l] : bytes;
    if (bytes != BYTES || n > bytes) {
      ptx_fail(w, l, PTX_FAULT, "%u of %u bytes; at most 16 of 16 are supported", n, bytes);
      return;
    }
    if (to % BYTES || from % BYTES) {
      ptx_fail(w, l, PTX_MISALIGNED, "address 0x%llx or 0x%llx is no multiple of 16",
               (unsigned long long)to, (unsigned long long)from);
      return;
    }
    const unsigned char *source = n == 0 ? NULL : ptx_reach_global(w, l, from, n);
    unsigned char *target = w->cta->result ? NULL : ptx_reach_shared(w, l, to, BYTES, unknown);
    if (!target)
      return;
    memcpy(target, unknown, BYTES);
    if (w->n_copies == w->copies_capacity) {
      w->copies_capacity = w->copies_capacity ? 2 * w->copies_capacity : 64;
      w->copies = realloc(w->copies, (size_t)w->copies_capacity * sizeof *w->copies);
      if (!w->copies)
        abort();
    }
    w->copies[w->n_copies++] = (ptx_copy){
        .lane = l, .group = UNCOMMITTED, .to = to, .from = source, .n_from = n, .bytes = bytes};
  }
  if (w->cta->launch->sectors) /* 16 bytes of each thread, which share sectors in pairs */
    __atomic_fetch_add(w->cta->launch->sectors, (uint64_t)(__builtin_popcount(mask) + 1) / 2,
                       __ATOMIC_RELAXED);
}

static void commit(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  (void)i;
  for (int k = 0; k < w->n_copies; k++)
    if (mask >> w->copies[k].lane & 1 && w->copies[k].group == UNCOMMITTED)
      w->copies[k].group = w->n_committed[w->copies[k].lane];
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    w->n_committed[__builtin_ctz(rest)]++;
}

/* Waits until at most as many groups of each thread as the operand says are not complete. */
static void await(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *most = ptx_from32(w, i, 0);
  int n_left = 0;
  for (int k = 0; k < w->n_copies; k++) {
    const ptx_copy copy = w->copies[k];
    bool ends = mask >> copy.lane & 1 && copy.group != UNCOMMITTED &&
                copy.group + most[copy.lane] < w->n_committed[copy.lane];
    unsigned char data[BYTES] = {0};
    if (!ends) {
      w->copies[n_left++] = copy;
      continue;
    }
    if (copy.from)
      memcpy(data, copy.from, copy.n_from);
    unsigned char *to = ptx_reach_shared(w, copy.lane, copy.to, copy.bytes, data);
    if (!to)
      return;
    memcpy(to, data, copy.bytes);
  }
  w->n_copies = n_left;
}

/* clang-format off */
PTX_TABLE(async,
  {"cp.async.cg.shared.global", "", 0, 0, "@@wo", start, PTX_MEMORY}, {"cp.async.ca.shared.global", "", 0, 0, "@@wo", start, PTX_MEMORY},
  {"cp.async.commit_group", "", 0, 0, "", commit, PTX_MEMORY}, {"cp.async.wait_group", "", 0, 0, "w", await, PTX_MEMORY})
/* clang-format on */
