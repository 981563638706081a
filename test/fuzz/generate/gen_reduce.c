/* Generates reductions with every combiner and with bodies that are not reductions, with all kinds
 * of inits and two results; also transposes and broadcasts. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

static const char *element_of(const type *t) { return element_names[t->element]; }

const char *combiner_init(gen *g, const combiner *c, const type *t, const char *label, range *r) {
  static char ring[2][MAX_NAME];
  static unsigned next;
  int dice = rng_below(&g->r, 4);
  if (dice == 0) {
    char *name = ring[next++ % 2];
    int v = use(g, pick_typed(g, t));
    *r = range_of(g, v);
    snprintf(name, MAX_NAME, "%%v%d", v);
    return name;
  }
  if (dice == 1) {
    *r = (range){2, 2, true, 2};
    return make_init(g, t, label, number(t->element, 2));
  }
  *r = (range){c->number, c->number, true, fabs(c->number)};
  return make_init(g, t, label, combiner_identity(c, t->element));
}

/* Selects the dimensions of `in` that are kept, and their order. */
static type split_dims(gen *g, const type *in, int *map, unsigned *reduced, int64_t *count) {
  type out = {.element = in->element};
  *reduced = 0;
  *count = 1;
  for (int d = 0; d < in->rank; d++)
    if (rng_chance(&g->r, 50) || (d == in->rank - 1 && *reduced == 0)) {
      *reduced |= 1u << d;
      *count *= in->shape[d];
    } else {
      map[out.rank++] = d;
    }
  if (rng_chance(&g->r, 20))
    shuffle(g, out.rank, map);
  for (int d = 0; d < out.rank; d++)
    out.shape[d] = in->shape[map[d]];
  return out;
}

static const int identity[MAX_DIMS] = {0, 1, 2, 3, 4};

/* Appends the preprocessing of an element before it is combined; sometimes a body that is no
 * combiner. */
static bool print_step(gen *g, text *body, element_kind e, const combiner *c, int k, range r,
                       int64_t n, range init, range *result) {
  scalar in = {"%in", r}, x = in;
  const char *name = element_names[e];
  if (rng_chance(&g->r, 40) &&
      !random_expression(g, body, e, name, "i1", 1, &in, 1 + rng_below(&g->r, 2), NULL, &x))
    return false;
  if (!combine_range(c, e, n, x.r, init, result))
    return false;
  bool is_sum = c->kind == COMBINE_SUM;
  if (is_sum && rng_chance(&g->r, 15)) {
    /* acc - x: a sum of negated values, but not a combiner by itself */
    text_add(body, "    %%y%d = arith.sub%s %%o%d, %s : %s\n", k, is_float(e) ? "f" : "i", k,
             x.name, name);
    result->low = init.low - (double)n * fmax(fabs(x.r.low), fabs(x.r.high));
    result->high = init.high + (double)n * fmax(fabs(x.r.low), fabs(x.r.high));
    return range_settle(e, result);
  }
  bool swap = rng_chance(&g->r, 30);
  text_add(body, swap ? "    %%y%d = %s %s, %%o%d : %s\n" : "    %%y%d = %s ", k, c->op, x.name, k,
           name);
  if (!swap)
    text_add(body, "%%o%d, %s : %s\n", k, x.name, name);
  return true;
}

bool gen_reduction(gen *g) {
  int v = use(g, pick(g, 1, 4)), map[MAX_DIMS], n_out = 1 + rng_chance(&g->r, 25);
  type in = g->p->values[v].type;
  unsigned reduced;
  int64_t count;
  type outer = split_dims(g, &in, map, &reduced, &count);
  text body = {0};
  const char *inits[2], *e = element_of(&in);
  range results[2];
  bool ok = true;
  for (int k = 0; k < n_out && ok; k++) {
    const combiner *c = random_combiner(g, in.element);
    range init;
    inits[k] = combiner_init(g, c, &outer, k ? "init1" : "init0", &init);
    ok = print_step(g, &body, in.element, c, k, range_of(g, v), count, init, results + k);
  }
  if (!ok) {
    text_clear(&body);
    return false;
  }
  text *out = &g->op->body;
  text_add(out, "  %%v%d", add_result(g, &outer, results[0]));
  if (n_out == 2)
    text_add(out, ", %%v%d", add_result(g, &outer, results[1]));
  text_add(out, " = linalg.generic {indexing_maps = [");
  print_map(out, in.rank, in.rank, identity);
  for (int k = 0; k < n_out; k++) {
    text_add(out, ", ");
    print_map(out, in.rank, outer.rank, map);
  }
  text_add(out, "], ");
  print_iterators(out, in.rank, reduced);
  const char *t = type_text(&outer);
  if (n_out == 1)
    text_add(out,
             "} ins(%%v%d : %s) outs(%s : %s) {\n  ^bb0(%%in: %s, %%o0: %s):\n%s    linalg.yield "
             "%%y0 : %s\n  } -> %s\n",
             v, type_text(&in), inits[0], t, e, e, body.chars, e, t);
  else
    text_add(out,
             "} ins(%%v%d : %s) outs(%s, %s : %s, %s) {\n  ^bb0(%%in: %s, %%o0: %s, %%o1: %s):\n%s"
             "    linalg.yield %%y0, %%y1 : %s, %s\n  } -> (%s, %s)\n",
             v, type_text(&in), inits[0], inits[1], t, t, e, e, e, body.chars, e, e, t, t);
  text_clear(&body);
  return true;
}

/* ---- named ops ---- */

bool gen_transpose(gen *g) {
  int v = use(g, pick(g, 2, 4)), order[MAX_DIMS];
  type in = g->p->values[v].type, t = in;
  memcpy(order, identity, sizeof order);
  shuffle(g, in.rank, order);
  for (int d = 0; d < in.rank; d++)
    t.shape[d] = in.shape[order[d]];
  const char *init = make_init(g, &t, "init", NULL);
  text *out = &g->op->body;
  text_add(out, "  %%v%d = linalg.transpose ins(%%v%d : %s) outs(%s : %s) permutation = [",
           add_result(g, &t, range_of(g, v)), v, type_text(&in), init, type_text(&t));
  for (int d = 0; d < in.rank; d++)
    text_add(out, "%s%d", d ? ", " : "", order[d]);
  text_add(out, "]\n");
  return true;
}

bool gen_broadcast(gen *g) {
  int v = use(g, pick(g, 0, 3));
  type in = g->p->values[v].type, t = {.element = in.element, .rank = in.rank + 1};
  int at = rng_below(&g->r, t.rank);
  for (int d = 0; d < t.rank; d++)
    t.shape[d] = d == at ? random_size(g) : in.shape[d - (d > at)];
  if (!fits(&t))
    return false;
  const char *init = make_init(g, &t, "init", NULL);
  text_add(&g->op->body,
           "  %%v%d = linalg.broadcast ins(%%v%d : %s) outs(%s : %s) dimensions = [%d]\n",
           add_result(g, &t, range_of(g, v)), v, type_text(&in), init, type_text(&t), at);
  return true;
}

bool gen_reduce(gen *g) {
  int v = use(g, pick(g, 1, 4));
  type in = g->p->values[v].type;
  int at = rng_below(&g->r, in.rank), n = 0;
  type t = {.element = in.element, .rank = in.rank - 1};
  for (int d = 0; d < in.rank; d++)
    if (d != at)
      t.shape[n++] = in.shape[d];
  const combiner *c = random_combiner(g, in.element);
  range init, r;
  const char *name = combiner_init(g, c, &t, "init", &init);
  if (!combine_range(c, in.element, in.shape[at], range_of(g, v), init, &r))
    return false;
  text_add(&g->op->body,
           "  %%v%d = linalg.reduce { %s } ins(%%v%d : %s) outs(%s : %s) dimensions = [%d]\n",
           add_result(g, &t, r), c->op, v, type_text(&in), name, type_text(&t), at);
  return true;
}
