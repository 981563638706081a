/* Picks values to read and creates results. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

int64_t random_size(gen *g) { return g->sizes[rng_below(&g->r, g->n_sizes)]; }

bool fits(const type *t) { return type_elements(t) <= 4096; }

type random_type(gen *g, int min_rank, int max_rank) {
  static const element_kind kinds[] = {F32, F32, F32, F32, F32, F32, F32, F32, F32, F32,  F32, F32,
                                       I32, I32, I32, I32, F64, F64, I64, I64, F16, BF16, I8,  I1};
  type t = {.element = kinds[rng_below(&g->r, COUNT(kinds))],
            .rank = min_rank + rng_below(&g->r, max_rank - min_rank + 1)};
  for (int d = 0; d < t.rank; d++)
    t.shape[d] = random_size(g);
  while (!fits(&t))
    t.shape[rng_below(&g->r, t.rank)] = 2;
  return t;
}

static int new_value(gen *g, const type *t, int from, range r) {
  program *p = g->p;
  if (p->n_values == MAX_VALUES)
    return -1;
  range_settle(t->element, &r); /* rounds to the type's few bits, like the constant */
  p->values[p->n_values] = (value){.type = *t,
                                   .op = from,
                                   .low = r.low,
                                   .high = r.high,
                                   .integral = r.integral,
                                   .scale = r.scale,
                                   .alias = p->n_values};
  return p->n_values++;
}

int new_argument(gen *g, const type *t, double low, double high) {
  int v = new_value(g, t, -1, (range){low, high, true, fmax(fabs(low), fabs(high))});
  if (v >= 0 && rng_chance(&g->r, 55))
    random_sharding(g, t, false, g->p->values[v].sharding, sizeof g->p->values[v].sharding);
  return v;
}

static int new_random_argument(gen *g, const type *t) {
  int dice = rng_below(&g->r, 10);
  double low = dice < 3 ? 1 : -3; /* 1 .. 3 can be a divisor */
  return new_argument(g, t, low, dice == 4 ? -1 : 3);
}

/* Prefers recent values, so that programs become deep. */
static int pick_where(gen *g, bool (*accept)(const value *v, const void *data), const void *data) {
  int found[MAX_VALUES], n = 0;
  for (int v = 0; v < g->p->n_values; v++)
    if (g->p->values[v].op < g->id && accept(g->p->values + v, data))
      found[n++] = v;
  if (n == 0)
    return -1;
  int last = n > 4 && rng_chance(&g->r, 60) ? 4 : n;
  return found[n - 1 - rng_below(&g->r, last)];
}

static bool has_rank(const value *v, const void *data) {
  const int *ranks = data;
  return v->type.rank >= ranks[0] && v->type.rank <= ranks[1];
}

int pick(gen *g, int min_rank, int max_rank) {
  int ranks[2] = {min_rank, max_rank};
  int v = rng_chance(&g->r, 80) ? pick_where(g, has_rank, ranks) : -1;
  if (v >= 0)
    return v;
  type t = random_type(g, min_rank, max_rank);
  return new_random_argument(g, &t);
}

static bool has_type(const value *v, const void *data) { return type_equal(&v->type, data); }

int pick_typed(gen *g, const type *t) {
  int v = rng_chance(&g->r, 80) ? pick_where(g, has_type, t) : -1;
  return v >= 0 ? v : new_random_argument(g, t);
}

int use(gen *g, int v) {
  for (int i = 0; i < g->op->n_uses; i++)
    if (g->op->uses[i] == v)
      return v;
  if (v >= 0 && g->op->n_uses < MAX_USES)
    g->op->uses[g->op->n_uses++] = v;
  return v;
}

range range_of(const gen *g, int v) {
  const value *x = g->p->values + v;
  return (range){x->low, x->high, x->integral, x->scale};
}

int add_result(gen *g, const type *t, range r) {
  int v = new_value(g, t, g->id, r);
  if (v >= 0)
    g->op->results[g->op->n_results++] = v;
  return v;
}

/* ---- Text fragments ---- */

const char *make_init(gen *g, const type *t, const char *name, const char *fill) {
  static char ring[4][MAX_NAME];
  static unsigned next;
  char *at = ring[next++ % 4];
  text *out = &g->op->body;
  const char *e = element_names[t->element];
  snprintf(at, MAX_NAME, "%%h%d_%s", g->id, name);
  if (!fill) {
    text_add(out, "  %s = tensor.empty() : %s\n", at, type_text(t));
    return at;
  }
  text_add(out, "  %s_c = arith.constant %s : %s\n  %s_e = tensor.empty() : %s\n", at, fill, e, at,
           type_text(t));
  text_add(out, "  %s = linalg.fill ins(%s_c : %s) outs(%s_e : %s) -> %s\n", at, at, e, at,
           type_text(t), type_text(t));
  return at;
}

void print_map(text *out, int n_loops, int n, const int *expressions) {
  text_add(out, "affine_map<(");
  for (int i = 0; i < n_loops; i++)
    text_add(out, "%sd%d", i ? ", " : "", i);
  text_add(out, ") -> (");
  for (int i = 0; i < n; i++)
    if (expressions[i] >= 0)
      text_add(out, "%sd%d", i ? ", " : "", expressions[i]);
    else
      text_add(out, "%s%d", i ? ", " : "", -1 - expressions[i]);
  text_add(out, ")>");
}

void print_iterators(text *out, int n_loops, unsigned reduced) {
  text_add(out, "iterator_types = [");
  for (int i = 0; i < n_loops; i++)
    text_add(out, "%s\"%s\"", i ? ", " : "", reduced >> i & 1 ? "reduction" : "parallel");
  text_add(out, "]");
}

void shuffle(gen *g, int n, int *list) {
  for (int i = n - 1; i > 0; i--) {
    int j = rng_below(&g->r, i + 1), t = list[i];
    list[i] = list[j];
    list[j] = t;
  }
}
