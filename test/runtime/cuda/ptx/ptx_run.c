/* Executes warps and CTAs.
 *
 * The threads of a warp form groups at the same instruction. The group that is furthest behind
 * runs. When it reaches the position of another group, they merge: compilers place reconvergence
 * points after divergent paths. Threads that may be waiting for others of their warp (a load with
 * memory order, a pause) let those run first. Warps of a CTA take turns. */
#include "ptx_inside.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- Failures ---- */

void ptx_fail(ptx_warp *w, int lane, ptx_result result, const char *format, ...) {
  ptx_cta *c = w->cta;
  const ptx_instruction *i = c->executing;
  int n = 0, length = (int)strcspn(i->text, ";");
  char thread[64] = "";
  if (c->result)
    return;
  c->result = result;
  if (lane >= 0) {
    uint32_t t = w->number * PTX_WARP + (uint32_t)lane, x = c->launch->block[0],
             y = c->launch->block[1];
    snprintf(thread, sizeof thread, ", thread (%u,%u,%u)", t % x, t / x % y, t / x / y);
  }
  n = snprintf(c->error, PTX_TEXT, "%s, CTA (%u,%u,%u)%s, line %d: `%.*s`: ", c->kernel->name,
               c->index[0], c->index[1], c->index[2], thread, i->line, length < 200 ? length : 200,
               i->text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->error + n, PTX_TEXT - (size_t)n, format, arguments);
  va_end(arguments);
}

bool ptx_has_all(ptx_warp *w, uint32_t mask) {
  if (mask == UINT32_MAX)
    return true;
  ptx_fail(w, __builtin_ctz(mask), PTX_FAULT,
           "only threads 0x%x of the warp take part; all are needed", mask);
  return false;
}

/* ---- Groups of threads ---- */

static void add_group(ptx_warp *w, int32_t at, uint32_t mask) {
  w->groups[w->n_groups++] = (ptx_group){.at = at, .mask = mask};
}

static void remove_group(ptx_warp *w, int g) { w->groups[g] = w->groups[--w->n_groups]; }

static void merge_groups(ptx_warp *w) {
  for (int g = 0; g < w->n_groups; g++)
    for (int h = w->n_groups - 1; h > g; h--)
      if (w->groups[h].at == w->groups[g].at && w->groups[h].state == w->groups[g].state) {
        w->groups[g].mask |= w->groups[h].mask;
        remove_group(w, h);
      }
}

/* Returns true if all threads in the masks of these threads are present. Threads that have ended do
 * not count. */
static bool together(const ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t members = ptx_from32(w, i, i->n_from - 1)[__builtin_ctz(rest)] & w->live;
    if ((members & mask) != members)
      return false;
  }
  return true;
}

/* Returns the group to run; -1: all wait. */
static int choose_group(ptx_warp *w) {
  int chosen = -1, put_off = -1;
  const ptx_instruction *code = w->cta->kernel->code;
  if (w->n_groups > 1)
    merge_groups(w);
  for (int g = 0; g < w->n_groups; g++) {
    ptx_group *s = &w->groups[g];
    if (s->state == PTX_AT_TOGETHER && together(w, &code[s->at], s->mask))
      s->state = PTX_RUNS;
    if (s->state != PTX_RUNS)
      continue;
    if (s->at == w->after)
      put_off = g;
    else if (chosen < 0 || s->at < w->groups[chosen].at)
      chosen = g;
  }
  w->after = chosen < 0 ? -1 : w->after;
  return chosen < 0 ? put_off : chosen;
}

/* Returns the position of the nearest group ahead. */
static int32_t horizon_of(const ptx_warp *w, int g, int32_t at) {
  int32_t horizon = INT32_MAX;
  for (int h = 0; h < w->n_groups; h++)
    if (h != g && w->groups[h].state == PTX_RUNS && w->groups[h].at > at &&
        w->groups[h].at < horizon)
      horizon = w->groups[h].at;
  return horizon;
}

/* ---- Instructions that need more than a handler ---- */

/* Runs each set of threads that a mask names separately. */
static void run_together(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *masks = ptx_from32(w, i, i->n_from - 1);
  for (uint32_t rest = mask; rest && !w->cta->result;) {
    int lane = __builtin_ctz(rest);
    uint32_t members = masks[lane] & w->live;
    if (!(members >> lane & 1)) {
      ptx_fail(w, lane, PTX_FAULT, "the thread is not in its own mask 0x%x", masks[lane]);
      return;
    }
    i->run(w, i, members);
    rest &= ~members;
  }
}

static bool choose_targets(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const uint32_t *index = ptx_from32(w, i, 0);
  for (uint32_t rest = mask; rest;) {
    int lane = __builtin_ctz(rest);
    uint32_t same = 0;
    if (index[lane] >= (uint32_t)i->table->n) {
      ptx_fail(w, lane, PTX_FAULT, "entry %u of %d targets", index[lane], i->table->n);
      return false;
    }
    for (uint32_t others = rest; others; others &= others - 1)
      same |= (uint32_t)(index[__builtin_ctz(others)] == index[lane]) << __builtin_ctz(others);
    add_group(w, i->table->targets[index[lane]], same);
    rest &= ~same;
  }
  return true;
}

/* Some threads of a group wait at its instruction; the others have executed it. */
static void stop_group(ptx_warp *w, int g, int32_t at, uint32_t active, ptx_state state) {
  ptx_group *s = &w->groups[g];
  uint32_t others = s->mask & ~active;
  s->at = at;
  s->mask = active;
  s->state = state;
  if (others)
    add_group(w, at + 1, others);
}

/* ---- Warps ---- */

/* Returns true if this CTA or another one has failed. */
static bool is_over(const ptx_cta *c) {
  return c->result || __atomic_load_n(c->stop, __ATOMIC_RELAXED);
}

/* Runs a group until it waits, ends, merges with another or yields; true in the last case. */
static bool run_group(ptx_warp *w, int g) {
  ptx_cta *c = w->cta;
  const ptx_instruction *code = c->kernel->code;
  int32_t at = w->groups[g].at, n_code = c->kernel->n_code, horizon = horizon_of(w, g, at);
  uint32_t mask = w->groups[g].mask;
  for (;; c->n_rounds++) {
    if (at >= horizon)
      break;
    if (at == n_code) {
      w->live &= ~mask;
      remove_group(w, g);
      return false;
    }
    const ptx_instruction *i = &code[at];
    uint32_t active = mask;
    if (i->guard != PTX_NONE)
      active &= w->predicates[i->guard] ^ (i->guard_not ? UINT32_MAX : 0);
    if (!active) {
      at++;
      continue;
    }
    c->executing = i;
    switch ((ptx_kind)i->kind) {
    case PTX_PLAIN:
      i->run(w, i, active);
      at++;
      continue;
    case PTX_MEMORY:
      i->run(w, i, active);
      at++;
      if (c->result)
        return false;
      if (i->yields) {
        w->after = w->groups[g].at = at;
        return true;
      }
      continue;
    case PTX_TOGETHER:
      if (!together(w, i, active)) {
        stop_group(w, g, at, active, PTX_AT_TOGETHER);
        return false;
      }
      run_together(w, i, active);
      at++;
      if (c->result)
        return false;
      continue;
    case PTX_BRANCH:
      mask &= ~active;
      if (mask == 0) {
        mask = active;
        at = i->target;
      } else {
        add_group(w, i->target, active);
        at++;
      }
      break;
    case PTX_CHOOSE:
      if (!choose_targets(w, i, active))
        return false;
      mask &= ~active;
      at++;
      break;
    case PTX_BARRIER:
      if (i->modifiers & PTX_M_ARRIVE) {
        ptx_reach_barrier(w, i, active, NULL);
        at++;
        if (c->result)
          return false;
        continue;
      }
      stop_group(w, g, at, active, PTX_AT_BARRIER);
      ptx_reach_barrier(w, i, active, &w->groups[g]);
      return false;
    case PTX_RESIZE:
      if (!ptx_resize(w, i, active)) {
        stop_group(w, g, at, active, PTX_AT_REGISTERS);
        return false;
      }
      at++;
      if (c->result)
        return false;
      continue;
    case PTX_EXIT:
      w->live &= ~active;
      mask &= ~active;
      at++;
      break;
    }
    if (mask == 0) {
      remove_group(w, g);
      return false;
    }
    w->groups[g].mask = mask;
    if (c->launch->most_rounds && c->n_rounds > c->launch->most_rounds) {
      ptx_fail(w, -1, PTX_FAULT, "no end after %llu instructions of warps",
               (unsigned long long)c->launch->most_rounds);
      return false;
    }
    if (w->n_groups > 1 || is_over(c)) /* other groups may be behind now */
      break;
  }
  w->groups[g].at = at;
  return false;
}

/* Runs a warp until its threads wait or yield to other warps. Returns true if any thread ran; sets
 * *paused if they yielded. */
static bool run_warp(ptx_warp *w, bool *paused) {
  bool ran = false;
  for (int g; !is_over(w->cta) && (g = choose_group(w)) >= 0;) {
    ran = true;
    if (run_group(w, g)) {
      *paused = true;
      break;
    }
  }
  return ran;
}

/* ---- CTAs ---- */

static void fail_waiting(ptx_cta *c) {
  for (uint32_t n = 0; n < c->n_warps; n++) {
    ptx_warp *w = &c->warps[n];
    if (w->n_groups == 0)
      continue;
    const ptx_group *s = &w->groups[0];
    const ptx_barrier *b = &c->barriers[s->barrier];
    int lane = __builtin_ctz(s->mask);
    c->executing = &c->kernel->code[s->at];
    if (s->state == PTX_AT_REGISTERS)
      ptx_fail(w, lane, PTX_FAULT, "waits for registers that no warp gives back");
    else if (s->state == PTX_AT_BARRIER && b->expected)
      ptx_fail(w, lane, PTX_FAULT, "waits for threads that never come: %u of %u are at barrier %u",
               b->arrived, b->expected, s->barrier);
    else
      ptx_fail(w, lane, PTX_FAULT, "waits for threads that never come");
    return;
  }
}

static void set_special(ptx_warp *w, ptx_special which, int lane, uint32_t value) {
  ptx_place at = w->cta->kernel->special[which];
  if (at != PTX_NONE)
    w->rows[at + lane] = value;
}

static void begin_warp(ptx_warp *w) {
  const ptx_cta *c = w->cta;
  const ptx_kernel *k = c->kernel;
  const uint32_t *grid = c->launch->grid, *block = c->launch->block;
  uint32_t first = w->number * PTX_WARP, n = c->n_threads - first;
  w->live = n < PTX_WARP ? (1u << n) - 1 : UINT32_MAX;
  w->epoch = 0;
  w->after = -1;
  w->n_groups = w->n_copies = 0;
  memset(w->n_committed, 0, sizeof w->n_committed);
  add_group(w, 0, w->live);
  memset(w->rows, 0, k->n_words * sizeof *w->rows);
  memset(w->predicates, 0, (size_t)k->n_predicates * sizeof *w->predicates);
  for (int l = 0; l < PTX_WARP; l++) {
    uint32_t t = first + (uint32_t)l, bit = 1u << l;
    const uint32_t values[PTX_N_SPECIALS] = {
        [PTX_TID_X] = t % block[0],
        [PTX_TID_Y] = t / block[0] % block[1],
        [PTX_TID_Z] = t / block[0] / block[1],
        [PTX_NTID_X] = block[0],
        [PTX_NTID_Y] = block[1],
        [PTX_NTID_Z] = block[2],
        [PTX_CTAID_X] = c->index[0],
        [PTX_CTAID_Y] = c->index[1],
        [PTX_CTAID_Z] = c->index[2],
        [PTX_NCTAID_X] = grid[0],
        [PTX_NCTAID_Y] = grid[1],
        [PTX_NCTAID_Z] = grid[2],
        [PTX_LANEID] = (uint32_t)l,
        [PTX_WARPID] = w->number,
        [PTX_LANEMASK_EQ] = bit,
        [PTX_LANEMASK_LT] = bit - 1,
        [PTX_LANEMASK_LE] = bit | (bit - 1),
        [PTX_LANEMASK_GT] = ~(bit | (bit - 1)),
        [PTX_LANEMASK_GE] = ~(bit - 1),
        [PTX_DYNAMIC_SHARED_SIZE] = c->launch->shared_bytes,
    };
    for (int s = 0; s < PTX_N_SPECIALS; s++)
      set_special(w, (ptx_special)s, l, values[s]);
  }
}

/* Yields to the CTAs that this one waits for. A long wait yields less often: next to busy processes
 * a yield takes milliseconds, and waits give up after a number of polls, which must happen within
 * seconds. */
static void let_others(uint32_t n_pauses) {
  enum { OFTEN = 1024, SELDOM = 256 };
  if (n_pauses < OFTEN || n_pauses % SELDOM == 0)
    sched_yield();
}

void ptx_run_cta(ptx_cta *c) {
  uint32_t n_pauses = 0;
  c->epoch = 0;
  c->n_rounds = 0;
  if (c->is_used) { /* that of the first one is new: what it does not reach is never touched */
    memset(c->words, 0, c->n_words * sizeof *c->words);
    memset(c->marks, 0, c->n_words * sizeof *c->marks);
    memset(c->apart, 0, c->n_words * sizeof *c->apart);
  }
  c->is_used = true;
  for (uint32_t n = 0; n < c->n_warps; n++)
    begin_warp(&c->warps[n]);
  ptx_begin_barriers(c);
  ptx_begin_products(c);
  for (;;) {
    bool ran = false, paused = false, live = false;
    for (uint32_t n = 0; n < c->n_warps && !c->result; n++) {
      live |= c->warps[n].live != 0;
      ran |= c->warps[n].live && run_warp(&c->warps[n], &paused);
    }
    if (!live)
      ptx_end_products(c);
    if (is_over(c) || !live)
      return;
    bool opened = ptx_open_barriers(c) | ptx_find_registers(c);
    if (!ran && !opened && !c->result)
      fail_waiting(c);
    if (paused)
      let_others(++n_pauses);
  }
}
