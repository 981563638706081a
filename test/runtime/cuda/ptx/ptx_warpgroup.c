/* Products of warpgroups (wgmma). A warpgroup is four warps, of which warp w computes rows 16 w to
 * 16 w + 15 of the 64. Elements are where the PTX manual says, "Asynchronous Warpgroup Level Matrix
 * Multiply-Accumulate Instructions". With g = lane / 4, t = lane % 4, and rows of the warp:
 *   A, 16 x 16: register r has columns 2t + 8 (r / 2) and the next of row g + 8 (r % 2)
 *   D, 16 x n:  register r has column 8 (r / 4) + 2t + r % 2 of row g + 8 (r / 2 % 2)
 *
 * A product reads its operands when it is issued, and writes its accumulators when the program
 * waits for its group. In between, this machine fills the accumulators with a NaN of its own. At
 * the wait it checks that this NaN is still there, and that the registers of A have not changed: a
 * program must leave both alone. When a product is issued, the machine checks that nothing but
 * other products has written these registers since the last wgmma.fence. */
#include "ptx_inside.h"

#include <stdlib.h>

enum {
  WARPS = 4,
  ROWS = 16, /* of a warp */
  MOST_UNITS = (ROWS + PTX_MOST_ACROSS) * PTX_DEPTH / PTX_OF_UNIT,
  A_REGISTERS = 4,
  UNCOMMITTED = UINT32_MAX,
  NOT_YET = 0x7fdead01, /* NaN */
};

/* Accumulators that products write, and when. */
typedef struct sums {
  const ptx_list *registers;
  uint32_t group; /* of the last product */
  uint32_t values[PTX_MOST_LIST][PTX_WARP];
} sums;

/* A product that is not waited for. */
typedef struct product {
  uint32_t group;
  const ptx_instruction *instruction; /* its registers of A; NULL: A is in shared memory */
  uint32_t a[A_REGISTERS][PTX_WARP];
  int n_units;
  uint16_t units[MOST_UNITS]; /* of shared memory, that it reads */
} product;

typedef struct ptx_products {
  sums *sums;
  product *running;
  int n_sums, n_running;
  uint32_t n_committed; /* groups */
  uint32_t *fenced;     /* the registers at the last wgmma.fence, and what products wrote since */
  bool has_fenced;
  int n_steps;
} ptx_products;

/* What the warps of a group execute together. */
typedef struct step {
  const ptx_instruction *instruction;
  uint64_t a, b; /* descriptors */
} step;
struct ptx_sequence {
  step *steps;
  int n;
};

/* ---- What a CTA has ---- */

static void *zeroed(size_t n, size_t size) {
  void *memory = calloc(n, size);
  if (!memory)
    abort();
  return memory;
}

void ptx_make_products(ptx_cta *c) {
  size_t n_units = c->shared_bytes / PTX_UNIT + 1;
  if (!c->kernel->n_lists)
    return;
  c->n_reading = zeroed(n_units, sizeof *c->n_reading);
  c->read_by = zeroed(n_units * c->n_warps, sizeof *c->read_by);
  c->sequences = zeroed(c->n_warps, sizeof *c->sequences);
  for (uint32_t n = 0; n < c->n_warps; n++) {
    ptx_products *p = c->warps[n].products = zeroed(1, sizeof *p);
    p->fenced = zeroed(c->kernel->n_pinned_words, sizeof *p->fenced);
  }
}

void ptx_free_products(ptx_cta *c) {
  if (!c->n_reading)
    return;
  for (uint32_t n = 0; n < c->n_warps; n++) {
    free(c->warps[n].products->fenced);
    free(c->warps[n].products->sums);
    free(c->warps[n].products->running);
    free(c->warps[n].products);
    free(c->sequences[n].steps);
  }
  free(c->sequences);
  free(c->read_by);
  free(c->n_reading);
}

void ptx_begin_products(ptx_cta *c) {
  size_t n_units = c->shared_bytes / PTX_UNIT + 1;
  if (!c->n_reading)
    return;
  memset(c->n_reading, 0, n_units * sizeof *c->n_reading);
  memset(c->read_by, 0, n_units * c->n_warps * sizeof *c->read_by);
  for (uint32_t n = 0; n < c->n_warps; n++) {
    ptx_products *p = c->warps[n].products;
    c->sequences[n].n = p->n_steps = p->n_sums = p->n_running = 0;
    p->n_committed = 0;
    p->has_fenced = false;
  }
}

void ptx_end_products(ptx_cta *c) {
  for (uint32_t n = 0; n < c->n_warps && c->n_reading && !c->result; n++) {
    ptx_warp *w = &c->warps[n];
    const struct ptx_sequence *sequence = &c->sequences[n / WARPS];
    if (w->products->n_running) {
      c->executing = &c->kernel->code[c->kernel->n_code - 1];
      ptx_fail(w, 0, PTX_FAULT, "the warp ends before its products, which it does not wait for");
    } else if (w->products->n_steps != sequence->n) {
      c->executing = sequence->steps[w->products->n_steps].instruction;
      ptx_fail(w, 0, PTX_FAULT, "others of the warpgroup execute this, this warp does not");
    }
  }
}

/* Fails unless the other warps of the group execute the same; all threads must. */
static bool note_step(ptx_warp *w, const ptx_instruction *i, uint32_t mask, uint64_t a,
                      uint64_t b) {
  ptx_cta *c = w->cta;
  struct ptx_sequence *sequence = c->sequences ? &c->sequences[w->number / WARPS] : NULL;
  if (!ptx_has_all(w, mask))
    return false;
  if (!sequence || c->n_threads % (WARPS * PTX_WARP)) {
    ptx_fail(w, -1, PTX_FAULT, "%u threads are no whole warpgroups, or have no products",
             c->n_threads);
    return false;
  }
  int n = w->products->n_steps++;
  if (n == sequence->n) {
    if ((n & (n - 1)) == 0) {
      sequence->steps = realloc(sequence->steps, (size_t)(n ? 2 * n : 1) * sizeof *sequence->steps);
      if (!sequence->steps)
        abort();
    }
    sequence->steps[sequence->n++] = (step){i, a, b};
  }
  const step *s = &sequence->steps[n];
  if (s->instruction != i)
    ptx_fail(w, -1, PTX_FAULT, "others of the warpgroup execute line %d instead",
             s->instruction->line);
  else if (s->a != a || s->b != b)
    ptx_fail(w, -1, PTX_FAULT, "others of the warpgroup have other descriptors");
  return !c->result;
}

/* ---- Registers ---- */

static uint32_t *fenced(ptx_warp *w, ptx_place place) {
  return w->products->fenced + (place - w->cta->kernel->pinned_at);
}

/* Fails if a register was written after the last fence. */
static bool check_fenced(ptx_warp *w, ptx_place place) {
  if (place >= 0 && memcmp(fenced(w, place), w->rows + place, PTX_WARP * sizeof *w->rows) != 0)
    ptx_fail(w, -1, PTX_FAULT, "a register of the product was written after the last wgmma.fence");
  return !w->cta->result;
}

/* Returns the sums of the same registers, new ones if none are pending; NULL after a failure. */
static sums *find_sums(ptx_warp *w, const ptx_list *registers) {
  ptx_products *p = w->products;
  for (int s = 0; s < p->n_sums; s++) {
    const ptx_list *other = p->sums[s].registers;
    if (other->n == registers->n &&
        memcmp(other->of, registers->of, (size_t)other->n * sizeof *other->of) == 0)
      return &p->sums[s];
    for (int r = 0; r < registers->n; r++)
      for (int o = 0; o < other->n; o++)
        if (registers->of[r] == other->of[o]) {
          ptx_fail(w, -1, PTX_FAULT, "another product that runs writes some of these registers");
          return NULL;
        }
  }
  for (int r = 0; r < registers->n; r++)
    if (!check_fenced(w, registers->of[r]))
      return NULL;
  p->sums = realloc(p->sums, (size_t)(p->n_sums + 1) * sizeof *p->sums);
  if (!p->sums)
    abort();
  sums *made = &p->sums[p->n_sums++];
  made->registers = registers;
  for (int r = 0; r < registers->n; r++) {
    uint32_t *row = w->rows + registers->of[r];
    memcpy(made->values[r], row, sizeof made->values[r]);
    for (int l = 0; l < PTX_WARP; l++)
      row[l] = NOT_YET;
  }
  return made;
}

/* ---- Products ---- */

static void read_registers(const ptx_warp *w, const ptx_instruction *i, int type,
                           double (*a)[PTX_MOST_ACROSS], product *p) {
  p->instruction = i;
  for (int r = 0; r < A_REGISTERS; r++) {
    memcpy(p->a[r], ptx_from32(w, i, r), sizeof p->a[r]);
    for (int l = 0; l < PTX_WARP; l++)
      for (int part = 0; part < 2; part++)
        a[2 * (l % 4) + 8 * (r / 2) + part][l / 4 + 8 * (r % 2)] =
            ptx_of_half(type, p->a[r][l] >> (16 * part) & 0xffff);
  }
}

static void read_shared(ptx_warp *w, uint64_t descriptor, bool mn_major, uint32_t first, uint32_t n,
                        uint32_t all, int type, double (*to)[PTX_MOST_ACROSS], product *p) {
  if (!w->cta->result)
    p->n_units +=
        ptx_read_matrix(w, descriptor, mn_major, first, n, all, type, to, p->units + p->n_units);
}

/* Each sum is rounded once. */
static void add_products(sums *s, double (*a)[PTX_MOST_ACROSS], double (*b)[PTX_MOST_ACROSS],
                         double scale, bool adds) {
  int n = s->registers->n * 2;
  for (int row = 0; row < ROWS; row++) {
    double sum[PTX_MOST_ACROSS] = {0};
    for (int k = 0; k < PTX_DEPTH; k++)
      for (int column = 0; column < n; column++)
        sum[column] += a[k][row] * b[k][column];
    for (int column = 0; column < n; column++) {
      int r = column / 8 * 4 + row / 8 * 2 + column % 2, l = row % 8 * 4 + column % 8 / 2;
      float before;
      memcpy(&before, &s->values[r][l], sizeof before);
      float rounded = (float)(scale * sum[column] + (adds ? (double)before : 0));
      memcpy(&s->values[r][l], &rounded, sizeof rounded);
      if (rounded != rounded)
        s->values[r][l] = 0x7fffffff;
    }
  }
}

/* A scale of -1 negates the operand. */
static double scale_of(ptx_warp *w, uint32_t bits) {
  if (bits != 1 && bits != UINT32_MAX)
    ptx_fail(w, -1, PTX_FAULT, "a scale is 1 or -1");
  return bits == 1 ? 1 : -1;
}

static void multiply(ptx_warp *w, const ptx_instruction *i, uint32_t mask, int type,
                     bool a_in_shared) {
  double a[PTX_DEPTH][PTX_MOST_ACROSS], b[PTX_DEPTH][PTX_MOST_ACROSS];
  int at = a_in_shared ? 1 : A_REGISTERS; /* the descriptor of b, and what follows */
  uint64_t a_bits = a_in_shared ? ptx_from64(w, i, 0)[0] : 0, b_bits = ptx_from64(w, i, at)[0];
  uint32_t adds = ptx_predicate(w, i, 0), n = (uint32_t)i->accumulators->n * 2;
  bool a_mn = a_in_shared && ptx_from32(w, i, at + 3)[0],
       b_mn = ptx_from32(w, i, at + (a_in_shared ? 4 : 3))[0];
  ptx_products *p = w->products;
  if (!note_step(w, i, mask, a_bits, b_bits))
    return;
  for (int l = 1; l < PTX_WARP; l++)
    if ((a_in_shared && ptx_from64(w, i, 0)[l] != a_bits) || ptx_from64(w, i, at)[l] != b_bits ||
        (adds && adds != UINT32_MAX)) {
      ptx_fail(w, l, PTX_FAULT, "threads have different descriptors or predicates");
      return;
    }
  if (!p->has_fenced) {
    ptx_fail(w, -1, PTX_FAULT, "there is no wgmma.fence before the first product");
    return;
  }
  double scale =
      scale_of(w, ptx_from32(w, i, at + 1)[0]) * scale_of(w, ptx_from32(w, i, at + 2)[0]);
  p->running = realloc(p->running, (size_t)(p->n_running + 1) * sizeof *p->running);
  if (!p->running)
    abort();
  product *made = &p->running[p->n_running];
  made->group = UNCOMMITTED;
  made->instruction = NULL;
  made->n_units = 0;
  for (int r = 0; r < A_REGISTERS && !a_in_shared; r++)
    if (!check_fenced(w, i->from[r]))
      return;
  if (!a_in_shared)
    read_registers(w, i, type, a, made);
  else
    read_shared(w, a_bits, a_mn, w->number % WARPS * ROWS, ROWS, WARPS * ROWS, type, a, made);
  read_shared(w, b_bits, b_mn, 0, n, n, type, b, made);
  sums *s = w->cta->result ? NULL : find_sums(w, i->accumulators);
  if (!s)
    return;
  s->group = UNCOMMITTED;
  add_products(s, a, b, scale, adds);
  for (int u = 0; u < made->n_units; u++)
    w->cta->n_reading[made->units[u]]++;
  p->n_running++;
}

static void multiply_f16(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  multiply(w, i, mask, PTX_F16, true);
}
static void multiply_bf16(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  multiply(w, i, mask, PTX_BF16, true);
}
static void multiply_registers_f16(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  multiply(w, i, mask, PTX_F16, false);
}
static void multiply_registers_bf16(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  multiply(w, i, mask, PTX_BF16, false);
}

static void fence(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  const ptx_kernel *k = w->cta->kernel;
  if (!note_step(w, i, mask, 0, 0))
    return;
  memcpy(w->products->fenced, w->rows + k->pinned_at, k->n_pinned_words * sizeof *w->rows);
  w->products->has_fenced = true;
}

static void commit(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  if (!note_step(w, i, mask, 0, 0))
    return;
  ptx_products *p = w->products;
  for (int r = 0; r < p->n_running; r++)
    if (p->running[r].group == UNCOMMITTED)
      p->running[r].group = p->n_committed;
  for (int s = 0; s < p->n_sums; s++)
    if (p->sums[s].group == UNCOMMITTED)
      p->sums[s].group = p->n_committed;
  p->n_committed++;
}

static void end_product(ptx_warp *w, const product *p) {
  ptx_cta *c = w->cta;
  for (int u = 0; u < p->n_units; u++) {
    c->n_reading[p->units[u]]--;
    c->read_by[p->units[u] * c->n_warps + w->number] = w->clock[w->number];
  }
  for (int r = 0; r < A_REGISTERS && p->instruction; r++)
    if (memcmp(p->a[r], ptx_from32(w, p->instruction, r), sizeof p->a[r]) != 0)
      ptx_fail(w, -1, PTX_FAULT,
               "a register of the product at line %d was written before this wait",
               p->instruction->line);
}

static void end_sums(ptx_warp *w, const sums *s) {
  for (int r = 0; r < s->registers->n; r++) {
    uint32_t *row = w->rows + s->registers->of[r];
    for (int l = 0; l < PTX_WARP; l++)
      if (row[l] != NOT_YET) {
        ptx_fail(w, l, PTX_FAULT, "an accumulator was written before this wait");
        return;
      }
    memcpy(row, s->values[r], sizeof s->values[r]);
    memcpy(fenced(w, s->registers->of[r]), s->values[r], sizeof s->values[r]);
  }
}

/* Ends all groups but as many of the last ones as the operand says. */
static void await(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t most = ptx_from32(w, i, 0)[0];
  if (!note_step(w, i, mask, 0, 0))
    return;
  ptx_products *p = w->products;
  int n_running = 0, n_sums = 0;
  for (int r = 0; r < p->n_running; r++)
    if (p->running[r].group != UNCOMMITTED && p->running[r].group + most < p->n_committed)
      end_product(w, &p->running[r]);
    else
      p->running[n_running++] = p->running[r];
  for (int s = 0; s < p->n_sums; s++)
    if (p->sums[s].group != UNCOMMITTED && p->sums[s].group + most < p->n_committed)
      end_sums(w, &p->sums[s]);
    else
      p->sums[n_sums++] = p->sums[s];
  p->n_running = n_running;
  p->n_sums = n_sums;
}

/* ---- The async proxy: see ptx_shadow.c ---- */

static void fence_proxy(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  (void)i;
  if ((w->n_fences & (w->n_fences - 1)) == 0) {
    size_t n = w->n_fences ? 2 * (size_t)w->n_fences : 1;
    w->fences = realloc(w->fences, n * sizeof *w->fences);
    if (!w->fences)
      abort();
  }
  w->fences[w->n_fences++] = (ptx_proxy_fence){mask, w->clock[w->number]};
  if (mask == UINT32_MAX)
    memcpy(w->proxied, w->clock, sizeof w->proxied);
}

#define WGMMA(n, type, c, run, run_registers)                                                      \
  {"wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type,                                 \
   "",                                                                                             \
   0,                                                                                              \
   0,                                                                                              \
   c "qqpiiii*",                                                                                   \
   run,                                                                                            \
   PTX_TOGETHER},                                                                                  \
  {                                                                                                \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type, "", 0, 0, c "fqpiii*",         \
        run_registers, PTX_TOGETHER                                                                \
  }
/* clang-format off */
PTX_TABLE(warpgroup,
  WGMMA("64", "f16", "c", multiply_f16, multiply_registers_f16), WGMMA("64", "bf16", "c", multiply_bf16, multiply_registers_bf16),
  WGMMA("128", "f16", "C", multiply_f16, multiply_registers_f16), WGMMA("128", "bf16", "C", multiply_bf16, multiply_registers_bf16),
  {"wgmma.fence.sync.aligned", "", 0, 0, "*", fence, PTX_TOGETHER}, {"wgmma.commit_group.sync.aligned", "", 0, 0, "*", commit, PTX_TOGETHER},
  {"wgmma.wait_group.sync.aligned", "", 0, 0, "i*", await, PTX_TOGETHER},
  {"fence.proxy.async", "", 0, 0, "", fence_proxy, PTX_PLAIN}, {"fence.proxy.async.shared::cta", "", 0, 0, "", fence_proxy, PTX_PLAIN})
/* clang-format on */
