/* Barriers of a CTA, and the registers that its warps exchange.
 *
 * A barrier counts the threads that arrive. Those of bar.sync and bar.red wait until as many have
 * arrived as the barrier is for; those of bar.arrive go on. Then it counts anew at once, as in the
 * PTX manual ("bar, barrier"). What threads did before they arrived happens before what those that
 * waited do: warps have vector clocks, which a barrier joins. */
#include "ptx_inside.h"

enum { CTA_REGISTERS = 65536, REGISTER_UNIT = 8, LEAST_REGISTERS = 24, MOST_REGISTERS = 256 };

static void join(uint32_t *clock, const uint32_t *with, uint32_t n) {
  for (uint32_t o = 0; o < n; o++)
    clock[o] = clock[o] > with[o] ? clock[o] : with[o];
}

/* Checks that all threads of a warp execute bar, and barrier with .aligned, together. */
static bool check_aligned(ptx_warp *w, uint32_t barrier) {
  const ptx_kernel *k = w->cta->kernel;
  int32_t at = -1;
  for (int g = 0; g < w->n_groups; g++) {
    const ptx_group *s = &w->groups[g];
    if (s->state != PTX_AT_BARRIER || s->barrier != barrier)
      continue;
    const ptx_instruction *i = &k->code[s->at];
    bool aligned =
        i->modifiers & PTX_M_ALIGNED || strncmp(i->text + strcspn(i->text, "b"), "barrier", 7) != 0;
    if (at >= 0 && at != s->at && aligned) {
      w->cta->executing = i;
      ptx_fail(w, __builtin_ctz(s->mask), PTX_FAULT,
               "threads of one warp wait at different barriers: others at line %d",
               k->code[at].line);
      return false;
    }
    at = s->at;
  }
  return true;
}

/* Gives the result of a reduction to threads that go on. */
static void give_result(ptx_warp *w, const ptx_instruction *i, uint32_t mask,
                        const ptx_barrier *b) {
  bool holds = i->modifiers & PTX_M_AND ? b->n_true == b->arrived : b->n_true > 0;
  if (i->to_p[0] != PTX_NONE)
    w->predicates[i->to_p[0]] = (w->predicates[i->to_p[0]] & ~mask) | (holds ? mask : 0);
  if (i->n_to) {
    PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = b->n_true; })
  }
}

static void open(ptx_cta *c, uint32_t number) {
  ptx_barrier *b = &c->barriers[number];
  c->epoch++;
  for (uint32_t n = 0; n < c->n_warps; n++) {
    ptx_warp *w = &c->warps[n];
    if (!check_aligned(w, number))
      return;
    for (int g = 0; g < w->n_groups; g++) {
      ptx_group *s = &w->groups[g];
      if (s->state != PTX_AT_BARRIER || s->barrier != number)
        continue;
      if (b->reduces)
        give_result(w, &c->kernel->code[s->at], s->mask, b);
      join(w->clock, b->clock, c->n_warps);
      s->state = PTX_RUNS;
      s->at++;
    }
  }
  *b = (ptx_barrier){.arrived = 0};
}

/* Fails unless a barrier may be used in this way. */
static bool check_use(ptx_warp *w, const ptx_instruction *i, int lane, uint32_t number,
                      uint32_t expected) {
  const ptx_barrier *b = number < PTX_MOST_BARRIERS ? &w->cta->barriers[number] : NULL;
  if (!b)
    ptx_fail(w, lane, PTX_FAULT, "barrier %u of %d", number, PTX_MOST_BARRIERS);
  else if (expected % PTX_WARP)
    ptx_fail(w, lane, PTX_FAULT, "%u threads are no whole warps", expected);
  else if (!expected && i->modifiers & PTX_M_ARRIVE)
    ptx_fail(w, lane, PTX_FAULT, "bar.arrive needs a number of threads");
  else if (b->arrived && b->expected != expected)
    ptx_fail(w, lane, PTX_FAULT,
             "barrier %u is for %u threads here, and for %u where others have arrived", number,
             expected, b->expected);
  else if (b->arrived && b->reduces != !!(i->modifiers & PTX_M_RED))
    ptx_fail(w, lane, PTX_FAULT, "barrier %u reduces here or where others have arrived, not both",
             number);
  return !w->cta->result;
}

void ptx_reach_barrier(ptx_warp *w, const ptx_instruction *i, uint32_t mask, ptx_group *s) {
  ptx_cta *c = w->cta;
  int lane = __builtin_ctz(mask);
  uint32_t number = ptx_from32(w, i, 0)[lane],
           expected = i->n_from > 1 ? ptx_from32(w, i, 1)[lane] : 0;
  if (!check_use(w, i, lane, number, expected))
    return;
  ptx_barrier *b = &c->barriers[number];
  b->expected = expected;
  b->reduces = i->modifiers & PTX_M_RED;
  b->arrived += (uint32_t)__builtin_popcount(mask);
  b->n_true += (uint32_t)__builtin_popcount(ptx_predicate(w, i, 0) & mask);
  join(b->clock, w->clock, c->n_warps);
  w->clock[w->number]++;
  if (s)
    s->barrier = number;
  if (expected && b->arrived > expected)
    ptx_fail(w, lane, PTX_FAULT, "%u threads arrive at barrier %u, which is for %u", b->arrived,
             number, expected);
  else if (b->arrived == expected)
    open(c, number);
}

bool ptx_open_barriers(ptx_cta *c) {
  uint32_t live = 0;
  bool opened = false;
  for (uint32_t n = 0; n < c->n_warps; n++)
    live += (uint32_t)__builtin_popcount(c->warps[n].live);
  for (uint32_t b = 0; b < PTX_MOST_BARRIERS && !c->result; b++)
    if (c->barriers[b].arrived && !c->barriers[b].expected && c->barriers[b].arrived >= live) {
      open(c, b);
      opened = true;
    }
  return opened;
}

/* ---- Registers ---- */

/* Moves registers between a warp and what others have given back. The PTX manual allows from 24 to
 * 256, by 8, and less or more than the warp has. */
bool ptx_resize(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  ptx_cta *c = w->cta;
  bool more = i->modifiers & PTX_M_INC;
  uint32_t n = ptx_from32(w, i, 0)[__builtin_ctz(mask)];
  if (!ptx_has_all(w, mask))
    return true;
  if (n < LEAST_REGISTERS || n > MOST_REGISTERS || n % REGISTER_UNIT)
    ptx_fail(w, -1, PTX_FAULT, "%u registers; from %d to %d, by %d, are possible", n,
             LEAST_REGISTERS, MOST_REGISTERS, REGISTER_UNIT);
  else if (!w->n_registers)
    ptx_fail(w, -1, PTX_FAULT, "needs .maxntid or .maxnreg");
  else if (more ? n < w->n_registers : n > w->n_registers)
    ptx_fail(w, -1, PTX_FAULT, "the warp has %u registers", w->n_registers);
  if (c->result)
    return true;
  if (more && (n - w->n_registers) * PTX_WARP > c->n_registers)
    return false;
  c->n_registers += (w->n_registers - n) * PTX_WARP;
  w->n_registers = n;
  return true;
}

bool ptx_find_registers(ptx_cta *c) {
  bool found = false;
  for (uint32_t n = 0; n < c->n_warps; n++)
    for (int g = 0; g < c->warps[n].n_groups; g++) {
      ptx_warp *w = &c->warps[n];
      ptx_group *s = &w->groups[g];
      if (s->state != PTX_AT_REGISTERS)
        continue;
      uint32_t more = ptx_from32(w, &c->kernel->code[s->at], 0)[0] - w->n_registers;
      if (more * PTX_WARP > c->n_registers)
        continue;
      s->state = PTX_RUNS;
      found = true;
    }
  return found;
}

/* ---- Beginning ---- */

/* The most registers of a thread with which as many CTAs as the kernel wants fit. */
static uint32_t registers_of(const ptx_kernel *k) {
  uint32_t n_threads = (k->most_threads + PTX_WARP - 1) / PTX_WARP * PTX_WARP,
           n_ctas = k->least_ctas ? k->least_ctas : 1;
  if (k->most_registers || !n_threads)
    return k->most_registers;
  uint32_t most = CTA_REGISTERS / n_ctas / n_threads / REGISTER_UNIT * REGISTER_UNIT;
  return most < MOST_REGISTERS ? most : MOST_REGISTERS;
}

void ptx_begin_barriers(ptx_cta *c) {
  memset(c->barriers, 0, sizeof c->barriers);
  c->n_registers = 0;
  for (uint32_t n = 0; n < c->n_warps; n++) {
    ptx_warp *w = &c->warps[n];
    memset(w->clock, 0, sizeof w->clock);
    memset(w->proxied, 0, sizeof w->proxied);
    w->clock[n] = 1;
    w->n_fences = 0;
    w->n_registers = registers_of(c->kernel);
  }
}
