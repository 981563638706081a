/* Generates linalg.generic whose maps are not projections: diagonals, strides, sums, reversals,
 * quotients and remainders, on operands and on results. An element of a result may be written by no
 * point or by several; inits are read or not. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

/* scale * first + scale2 * second + shift, or its quotient or remainder by `by`. */
typedef struct term {
  int first, second; /* loops; -1: none */
  int64_t scale, scale2, shift, by;
  bool is_remainder;
} term;

typedef struct place {
  int n;
  term terms[MAX_DIMS];
} place;

typedef struct space {
  int n;
  int64_t sizes[MAX_DIMS];
  unsigned reduced; /* bit l: iterator "reduction" */
} space;

static void print_term(text *out, const term *t) {
  if (t->first < 0) {
    text_add(out, "%lld", (long long)t->shift);
    return;
  }
  text_add(out, t->by ? "(d%d * %lld" : "d%d * %lld", t->first, (long long)t->scale);
  if (t->second >= 0)
    text_add(out, " + d%d * %lld", t->second, (long long)t->scale2);
  if (t->shift)
    text_add(out, " + %lld", (long long)t->shift);
  if (t->by)
    text_add(out, ") %s %lld", t->is_remainder ? "mod" : "floordiv", (long long)t->by);
}

static void print_place(text *out, const space *s, const place *p) {
  text_add(out, "affine_map<(");
  for (int l = 0; l < s->n; l++)
    text_add(out, "%sd%d", l ? ", " : "", l);
  text_add(out, ") -> (");
  for (int d = 0; d < p->n; d++) {
    text_add(out, d ? ", " : "");
    print_term(out, p->terms + d);
  }
  text_add(out, ")>");
}

static term loop_term(int l) { return (term){.first = l, .second = -1, .scale = 1}; }

/* Returns the largest value of a term; the smallest is 0 or the constant shift. */
static int64_t largest(const space *s, const term *t) {
  int64_t most = t->shift;
  if (t->first >= 0)
    most += t->scale > 0 ? t->scale * (s->sizes[t->first] - 1) : 0;
  if (t->second >= 0)
    most += t->scale2 * (s->sizes[t->second] - 1);
  return t->by == 0 ? most : t->is_remainder ? (most < t->by ? most : t->by - 1) : most / t->by;
}

/* Returns a term that is injective in the loop. */
static term injective_term(gen *g, const space *s, int l) {
  term t = loop_term(l);
  int dice = rng_below(&g->r, 10);
  if (dice < 3) {
    t.scale = 1 + rng_below(&g->r, 3);
    t.shift = rng_below(&g->r, 3);
  } else if (dice == 3) {
    t.scale = -1;
    t.shift = s->sizes[l] - 1 + rng_below(&g->r, 2);
  }
  return t;
}

static term any_term(gen *g, const space *s) {
  term t = injective_term(g, s, rng_below(&g->r, s->n));
  int dice = rng_below(&g->r, 10);
  if (dice < 3 && t.scale > 0) {
    t.second = rng_below(&g->r, s->n);
    t.scale2 = 1 + rng_below(&g->r, 2);
  } else if (dice == 3) {
    t = (term){.first = -1, .second = -1, .shift = rng_below(&g->r, 3)};
  } else if (dice == 4) {
    t.scale = 1; /* scale 1, because quotient and remainder of a multiple may not be injective */
    t.shift = rng_below(&g->r, 3);
    t.by = 2 + rng_below(&g->r, 2);
    t.is_remainder = rng_chance(&g->r, 50);
  }
  return t;
}

/* Computes a shape that contains all accesses of a place; except for plain loops it may be
 * larger. */
static bool shape_of(gen *g, const space *s, const place *p, type *t) {
  t->rank = p->n;
  for (int d = 0; d < p->n; d++) {
    const term *x = p->terms + d;
    bool plain = x->first >= 0 && x->second < 0 && x->scale == 1 && x->shift == 0 && x->by == 0;
    t->shape[d] = largest(s, x) + 1 + (plain ? 0 : rng_below(&g->r, 3));
  }
  return fits(t);
}

/* Returns a place with every loop by itself, in some order, which determines the sizes of the
 * loops. */
static place all_loops(gen *g, const space *s) {
  place p = {.n = s->n};
  int order[MAX_DIMS];
  for (int l = 0; l < s->n; l++)
    order[l] = l;
  if (rng_chance(&g->r, 40))
    shuffle(g, s->n, order);
  for (int l = 0; l < s->n; l++)
    p.terms[l] = loop_term(order[l]);
  return p;
}

/* Returns a place for results: every parallel loop once, in a form that distinguishes its points,
 * followed by terms that may repeat them. With `folds`, reduced loops may occur too: several points
 * write one element, as in a transposed convolution. */
static place result_place(gen *g, const space *s, bool folds) {
  place p = {0};
  for (int l = 0; l < s->n && p.n < 4; l++)
    if (!(s->reduced >> l & 1))
      p.terms[p.n++] = injective_term(g, s, l);
  for (int extra = 0; extra < 2 && p.n < 4; extra++) {
    int l = rng_below(&g->r, s->n), at = rng_below(&g->r, p.n + 1);
    term t = {.first = -1, .second = -1, .shift = rng_below(&g->r, 3)};
    if (rng_chance(&g->r, 50))
      continue;
    if (!(s->reduced >> l & 1) && rng_chance(&g->r, 60))
      t = injective_term(g, s, l); /* a diagonal */
    else if (folds && (s->reduced >> l & 1))
      t = any_term(g, s);
    memmove(p.terms + at + 1, p.terms + at, (size_t)(p.n - at) * sizeof *p.terms);
    p.terms[at] = t;
    p.n++;
  }
  return p;
}

/* Returns an init with values, because elements that no point writes keep those of the init. */
static const char *init_of(gen *g, const combiner *c, const type *t, const char *label, range *r) {
  return combiner_init(g, c ? c : combiner_of(t->element, COMBINE_SUM), t, label, r);
}

typedef struct result {
  place place;
  type type;
  const combiner *combiner; /* NULL: the element is overwritten */
  const char *init;
  range start, r;
  scalar made;
} result;

/* Appends the body of one result, after the operands in `known`. */
static bool print_result(gen *g, text *body, result *x, int k, int n, const scalar *known,
                         int64_t times) {
  element_kind e = x->type.element;
  scalar operands[6], y = {0};
  memcpy(operands, known, (size_t)n * sizeof *known);
  if (!x->combiner && rng_chance(&g->r, 75)) { /* the init is used as one more operand */
    operands[n].r = x->start;
    snprintf(operands[n++].name, MAX_NAME, "%%o%d", k);
  }
  if (!random_expression(g, body, e, element_names[e], "i1", n, operands, n + rng_below(&g->r, 2),
                         NULL, &y))
    return false;
  x->made = y;
  x->r = range_join(y.r, x->start);
  if (!x->combiner)
    return true;
  snprintf(x->made.name, MAX_NAME, "%%y%d", k);
  text_add(body, "    %%y%d = %s %%o%d, %s : %s\n", k, x->combiner->op, k, y.name,
           element_names[e]);
  return combine_range(x->combiner, e, times, y.r, x->start, &x->r);
}

static void print_list(text *out, const char *separator, int n, const result *x, bool types) {
  for (int k = 0; k < n; k++)
    text_add(out, "%s%s", k ? separator : "", types ? type_text(&x[k].type) : x[k].init);
}

bool gen_maps(gen *g) {
  type seed = random_type(g, 1, 3);
  space s = {.n = seed.rank};
  element_kind e = seed.element;
  memcpy(s.sizes, seed.shape, sizeof s.sizes);
  bool combines = rng_chance(&g->r, 40);
  int64_t times = 1;
  for (int l = 0; l < s.n; l++)
    if (combines && rng_chance(&g->r, 60)) {
      s.reduced |= 1u << l;
      times *= s.sizes[l];
    }
  int n_in = 1 + rng_below(&g->r, 3), n_out = 1 + rng_chance(&g->r, 25), ins[4];
  place places[4];
  type types[4];
  scalar known[4];
  result results[2] = {0};
  for (int i = 0; i < n_in; i++) {
    places[i] = i == 0 ? all_loops(g, &s) : (place){.n = 1 + rng_below(&g->r, 3)};
    for (int d = 0; d < places[i].n && i > 0; d++)
      places[i].terms[d] = any_term(g, &s);
    types[i].element = e;
    ins[i] = shape_of(g, &s, places + i, types + i) ? use(g, pick_typed(g, types + i)) : -1;
    if (ins[i] < 0)
      return false;
    known[i].r = range_of(g, ins[i]);
    snprintf(known[i].name, MAX_NAME, "%%in%d", i);
  }
  text body = {0};
  bool ok = true;
  for (int k = 0; k < n_out && ok; k++) {
    result *x = results + k;
    x->place = result_place(g, &s, combines);
    x->combiner = s.reduced ? random_combiner(g, e) : NULL;
    x->type.element = e;
    ok = shape_of(g, &s, &x->place, &x->type);
    if (ok) {
      x->init = init_of(g, x->combiner, &x->type, k ? "start1" : "start0", &x->start);
      ok = print_result(g, &body, x, k, n_in, known, times);
    }
  }
  if (!ok) {
    text_clear(&body);
    return false;
  }
  text *out = &g->op->body;
  const char *name = element_names[e];
  text_add(out, "  %%v%d", add_result(g, &results[0].type, results[0].r));
  if (n_out == 2)
    text_add(out, ", %%v%d", add_result(g, &results[1].type, results[1].r));
  text_add(out, " = linalg.generic {indexing_maps = [");
  for (int i = 0; i < n_in; i++) {
    print_place(out, &s, places + i);
    text_add(out, ", ");
  }
  for (int k = 0; k < n_out; k++) {
    text_add(out, k ? ", " : "");
    print_place(out, &s, &results[k].place);
  }
  text_add(out, "], ");
  print_iterators(out, s.n, s.reduced);
  text_add(out, "} ins(");
  for (int i = 0; i < n_in; i++)
    text_add(out, "%s%%v%d", i ? ", " : "", ins[i]);
  for (int i = 0; i < n_in; i++)
    text_add(out, "%s%s", i ? ", " : " : ", type_text(types + i));
  text_add(out, ") outs(");
  print_list(out, ", ", n_out, results, false);
  text_add(out, " : ");
  print_list(out, ", ", n_out, results, true);
  text_add(out, ") {\n  ^bb0(");
  for (int i = 0; i < n_in; i++)
    text_add(out, "%%in%d: %s, ", i, name);
  text_add(out, n_out == 2 ? "%%o0: %s, %%o1: %s):\n" : "%%o0: %s):\n", name, name);
  text_bytes(out, body.chars, body.length);
  text_clear(&body);
  if (n_out == 2)
    text_add(out, "    linalg.yield %s, %s : %s, %s\n  } -> (%s, %s)\n", results[0].made.name,
             results[1].made.name, name, name, type_text(&results[0].type),
             type_text(&results[1].type));
  else
    text_add(out, "    linalg.yield %s : %s\n  } -> %s\n", results[0].made.name, name,
             type_text(&results[0].type));
  return true;
}
