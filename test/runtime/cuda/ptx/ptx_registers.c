/* Register packing. PTX has one register per value; a kernel has thousands, of which few are live
 * at a time. Live ranges are intervals of instructions, from a liveness analysis over basic blocks.
 * A linear scan (Poletto and Sarkar, 1999) assigns them to as many rows as needed. Divergent
 * threads of a warp use different columns of a row, so each needs to be correct along its own path
 * only. Registers of products of warpgroups, which are written later than the instruction that
 * names them, have rows of their own, the first ones. */
#include "ptx_inside.h"

#include <stdlib.h>

typedef struct block {
  int32_t first, end, next[2]; /* -1: none; those of a table are a list */
  const ptx_table *table;
  uint64_t *in, *out, *used, *defined;
} block;

typedef struct life {
  int32_t begin, end; /* instructions; begin > end: unused */
} life;

static void *zeroed(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);
  if (!memory)
    abort();
  return memory;
}

static bool ends_block(const ptx_instruction *i) {
  return i->kind == PTX_BRANCH || i->kind == PTX_CHOOSE || i->kind == PTX_EXIT;
}

/* Numbers the basic blocks: block_of[i] of their first instructions. */
static int number_blocks(const ptx_kernel *k, int32_t *block_of) {
  bool *leads = zeroed((size_t)k->n_code + 1, sizeof *leads);
  int n = 0;
  for (int i = 0; i < k->n_code; i++) {
    const ptx_instruction *c = &k->code[i];
    leads[i + 1] |= ends_block(c);
    if (c->kind == PTX_BRANCH)
      leads[c->target] = true;
    for (int t = 0; c->kind == PTX_CHOOSE && t < c->table->n; t++)
      leads[c->table->targets[t]] = true;
  }
  leads[0] = true;
  for (int i = 0; i < k->n_code; i++) {
    n += leads[i];
    block_of[i] = n - 1;
  }
  block_of[k->n_code] = -1;
  free(leads);
  return n;
}

static bool has(const uint64_t *set, int32_t r) { return set[r / 64] >> (r % 64) & 1; }
static void put(uint64_t *set, int32_t r) { set[r / 64] |= UINT64_C(1) << (r % 64); }

/* A guarded result keeps the old value in some threads, so it does not end the earlier live
 * range. */
static void note_block(const ptx_kernel *k, block *b) {
  for (int i = b->first; i < b->end; i++) {
    const ptx_instruction *c = &k->code[i];
    for (int j = 0; j < c->n_from; j++)
      if (c->from[j] >= 0 && !has(b->defined, c->from[j]))
        put(b->used, c->from[j]);
    for (int j = 0; j < c->n_to; j++)
      if (c->to[j] >= 0 && c->guard == PTX_NONE)
        put(b->defined, c->to[j]);
      else if (c->to[j] >= 0 && !has(b->defined, c->to[j]))
        put(b->used, c->to[j]);
  }
}

static bool merge(uint64_t *to, const uint64_t *from, size_t n) {
  uint64_t changed = 0;
  for (size_t j = 0; j < n; j++) {
    changed |= from[j] & ~to[j];
    to[j] |= from[j];
  }
  return changed != 0;
}

static void solve(block *blocks, int n_blocks, const int32_t *block_of, size_t words) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int n = n_blocks - 1; n >= 0; n--) {
      block *b = &blocks[n];
      for (int j = 0; j < 2; j++)
        if (b->next[j] >= 0)
          changed |= merge(b->out, blocks[b->next[j]].in, words);
      for (int t = 0; b->table && t < b->table->n; t++)
        changed |= merge(b->out, blocks[block_of[b->table->targets[t]]].in, words);
      for (size_t j = 0; j < words; j++)
        b->in[j] |= b->used[j] | (b->out[j] & ~b->defined[j]);
    }
  }
}

static void extend(life *l, int32_t at) {
  l->begin = at < l->begin ? at : l->begin;
  l->end = at > l->end ? at : l->end;
}

/* Few of the registers are live at a place, so whole words of a set are empty. */
static void extend_all(life *lives, const uint64_t *set, size_t words, int32_t at) {
  for (size_t j = 0; j < words; j++)
    for (uint64_t rest = set[j]; rest; rest &= rest - 1)
      extend(&lives[j * 64 + (size_t)__builtin_ctzll(rest)], at);
}

static life *lives_of(const ptx_kernel *k) {
  size_t words = ((size_t)k->n_virtual + 63) / 64;
  int32_t *block_of = zeroed((size_t)k->n_code + 1, sizeof *block_of);
  int n_blocks = number_blocks(k, block_of);
  block *blocks = zeroed((size_t)n_blocks, sizeof *blocks);
  uint64_t *sets = zeroed((size_t)n_blocks * 4 * words, sizeof *sets);
  for (int i = k->n_code - 1; i >= 0; i--) {
    block *b = &blocks[block_of[i]];
    b->first = i;
    if (b->end == 0) {
      const ptx_instruction *last = &k->code[i];
      b->end = i + 1;
      bool goes_on = last->kind != PTX_EXIT && last->kind != PTX_BRANCH && last->kind != PTX_CHOOSE;
      b->next[0] = goes_on || last->guard != PTX_NONE ? block_of[i + 1] : -1;
      b->next[1] = last->kind == PTX_BRANCH ? block_of[last->target] : -1;
      b->table = last->kind == PTX_CHOOSE ? last->table : NULL;
    }
  }
  for (int n = 0; n < n_blocks; n++) {
    block *b = &blocks[n];
    b->in = sets + (size_t)n * 4 * words;
    b->out = b->in + words;
    b->used = b->out + words;
    b->defined = b->used + words;
    note_block(k, b);
  }
  solve(blocks, n_blocks, block_of, words);
  life *lives = zeroed((size_t)k->n_virtual, sizeof *lives);
  for (int32_t r = 0; r < k->n_virtual; r++)
    lives[r] = (life){INT32_MAX, -1};
  for (int n = 0; n < n_blocks; n++) {
    extend_all(lives, blocks[n].in, words, blocks[n].first);
    extend_all(lives, blocks[n].out, words, blocks[n].end);
  }
  for (int i = 0; i < k->n_code; i++) {
    const ptx_instruction *c = &k->code[i];
    for (int j = 0; j < c->n_from; j++)
      if (c->from[j] >= 0)
        extend(&lives[c->from[j]], i);
    for (int j = 0; j < c->n_to; j++)
      if (c->to[j] >= 0)
        extend(&lives[c->to[j]], i);
  }
  free(sets);
  free(blocks);
  free(block_of);
  return lives;
}

/* Rows of one width. */
typedef struct rows {
  int n_rows;
  int32_t *ends; /* per row: the end of the value in it */
} rows;

/* Sorts registers by the start of their live range: buckets per instruction, chained. */
static int32_t *in_order(const life *lives, int n, int n_code) {
  int32_t *first = zeroed((size_t)n_code + 2, sizeof *first),
          *order = zeroed((size_t)n, sizeof *order);
  for (int r = 0; r < n; r++)
    if (lives[r].end >= 0)
      first[lives[r].begin + 1]++;
  for (int i = 0; i <= n_code; i++)
    first[i + 1] += first[i];
  for (int r = 0; r < n; r++)
    if (lives[r].end >= 0)
      order[first[lives[r].begin]++] = r;
  free(first);
  return order;
}

/* Assigns different rows to a result and an operand whose live range ends there, because operands
 * are read while results are written. */
static ptx_place take_row(rows *set, const life *l) {
  for (int r = 0; r < set->n_rows; r++)
    if (set->ends[r] < l->begin) {
      set->ends[r] = l->end;
      return r;
    }
  set->ends = realloc(set->ends, (size_t)(set->n_rows + 1) * sizeof *set->ends);
  if (!set->ends)
    abort();
  set->ends[set->n_rows] = l->end;
  return set->n_rows++;
}

/* Gives the registers of products rows of their own, the first of `narrow`. */
static void pin(const ptx_kernel *k, life *lives, ptx_place *places, rows *narrow) {
  for (int i = 0; i < k->n_code; i++) {
    const ptx_instruction *c = &k->code[i];
    for (int j = 0; c->accumulators && j < c->accumulators->n + c->n_from; j++) {
      ptx_place r =
          j < c->accumulators->n ? c->accumulators->of[j] : c->from[j - c->accumulators->n];
      if (r < 0 || k->virtual_bits[r] == 64 || places[r] >= 0)
        continue;
      lives[r] = (life){0, -1};
      places[r] = narrow->n_rows++;
    }
  }
  narrow->ends = zeroed((size_t)narrow->n_rows, sizeof *narrow->ends);
  for (int r = 0; r < narrow->n_rows; r++)
    narrow->ends[r] = INT32_MAX;
}

static void put_lists(const ptx_kernel *k, const ptx_place *places) {
  for (int l = 0; l < k->n_lists; l++)
    for (int j = 0; j < k->lists[l]->n; j++)
      k->lists[l]->of[j] = places[k->lists[l]->of[j]];
}

void ptx_pack_registers(ptx_kernel *k) {
  life *lives = lives_of(k);
  int n_used = 0;
  rows narrow = {0}, wide = {0};
  ptx_place *places = zeroed((size_t)k->n_virtual, sizeof *places);
  for (int r = 0; r < k->n_virtual; r++)
    places[r] = -1;
  pin(k, lives, places, &narrow);
  k->n_pinned_words = (size_t)narrow.n_rows * PTX_WARP;
  for (int s = 0; s < PTX_N_SPECIALS; s++)
    if (k->special[s] != PTX_NONE && places[k->special[s]] < 0)
      lives[k->special[s]] = (life){0, k->n_code};
  for (int r = 0; r < k->n_virtual; r++)
    n_used += lives[r].end >= 0;
  int32_t *order = in_order(lives, k->n_virtual, k->n_code);
  for (int n = 0; n < n_used; n++) {
    int32_t r = order[n];
    places[r] = take_row(k->virtual_bits[r] == 64 ? &wide : &narrow, &lives[r]);
  }
  for (int r = 0; r < k->n_virtual; r++)
    places[r] = k->virtual_bits[r] == 64 ? places[r] * 2 * PTX_WARP
                                         : (wide.n_rows * 2 + places[r]) * PTX_WARP;
  for (int i = 0; i < k->n_code; i++) {
    ptx_instruction *c = &k->code[i];
    for (int j = 0; j < c->n_from; j++)
      c->from[j] = c->from[j] >= 0 ? places[c->from[j]] : c->from[j];
    for (int j = 0; j < c->n_to; j++)
      c->to[j] = c->to[j] >= 0 ? places[c->to[j]] : c->to[j];
  }
  put_lists(k, places);
  for (int s = 0; s < PTX_N_SPECIALS; s++)
    if (k->special[s] != PTX_NONE)
      k->special[s] = places[k->special[s]];
  k->pinned_at = wide.n_rows * 2 * PTX_WARP;
  k->n_words = (size_t)(wide.n_rows * 2 + narrow.n_rows) * PTX_WARP;
  free(narrow.ends);
  free(wide.ends);
  free(places);
  free(order);
  free(lives);
}
