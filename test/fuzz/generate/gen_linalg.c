/* Generates linalg.generic: contractions, and elementwise ops with all kinds of maps. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

static const char *element_of(const type *t) { return element_names[t->element]; }

static scalar operand(const gen *g, int v) {
  scalar s = {.r = range_of(g, v)};
  snprintf(s.name, sizeof s.name, "%%v%d", v);
  return s;
}

bool gen_elementwise(gen *g) {
  int v = use(g, pick(g, 0, 4));
  type t = g->p->values[v].type;
  int n = 1 + rng_below(&g->r, 3);
  scalar operands[3] = {operand(g, v)}, result;
  for (int i = 1; i < n; i++)
    operands[i] = operand(g, use(g, pick_typed(g, &t)));
  const char *on = type_text(&t);
  char bit[96];
  snprintf(bit, sizeof bit, "%.*si1>", (int)(strrchr(on, 'x') ? strrchr(on, 'x') + 1 - on : 7), on);
  char name[MAX_NAME];
  snprintf(name, sizeof name, "%%v%d", g->p->n_values);
  return random_expression(g, &g->op->body, t.element, on, bit, n, operands, n, name, &result) &&
         add_result(g, &t, result.r) >= 0;
}

bool contract_range(element_kind e, range a, range b, int64_t k, range init, range *r) {
  double m = fmax(fabs(a.low), fabs(a.high)) * fmax(fabs(b.low), fabs(b.high)) * (double)k;
  *r = (range){init.low - m, init.high + m, a.integral && b.integral && init.integral,
               init.scale + a.scale * b.scale * (double)k};
  return range_settle(e, r);
}

const char *sum_init(gen *g, const type *t, range *r) {
  static char name[MAX_NAME];
  int dice = rng_below(&g->r, 4);
  *r = (range){0, 0, true, 0};
  if (dice == 0) {
    *r = (range){2, 2, true, 2};
    return make_init(g, t, "init", number(t->element, 2));
  }
  if (dice == 1) {
    int v = use(g, pick_typed(g, t));
    *r = range_of(g, v);
    snprintf(name, sizeof name, "%%v%d", v);
    return name;
  }
  return make_init(g, t, "init", number(t->element, 0));
}

static void print_contraction_body(gen *g, const type *out) {
  const char *e = element_of(out), *kind = is_float(out->element) ? "f" : "i";
  text_add(&g->op->body,
           "  ^bb0(%%a: %s, %%b: %s, %%c: %s):\n    %%p = arith.mul%s %%a, %%b : %s\n", e, e, e,
           kind, e);
  text_add(&g->op->body,
           "    %%s = arith.add%s %%c, %%p : %s\n    linalg.yield %%s : %s\n  } -> %s\n", kind, e,
           e, type_text(out));
}

static type type_of_dims(element_kind e, int n, const int *dims, const int64_t *sizes) {
  type t = {.element = e, .rank = n};
  for (int d = 0; d < n; d++)
    t.shape[d] = sizes[dims[d]];
  return t;
}

/* A contraction: each loop occurs in lhs, rhs or both, and possibly in out; the dimensions of each
 * operand are in random order. */
bool gen_contraction(gen *g) {
  int n = 2 + rng_below(&g->r, 4), lists[3][MAX_DIMS], ranks[3] = {0};
  int64_t sizes[MAX_DIMS], contracted = 1, points = 1;
  unsigned reduced = 0;
  static const int roles[] = {7, 5, 6, 3, 3}; /* bits: lhs, rhs, out; batch, m, n, k, k */
  for (int f = 0; f < n; f++) {
    int role = f == 0 ? 3 : roles[rng_below(&g->r, COUNT(roles))];
    sizes[f] = random_size(g);
    points *= sizes[f];
    reduced |= (unsigned)!(role & 4) << f;
    contracted *= role & 4 ? 1 : sizes[f];
    for (int i = 0; i < 3; i++)
      if (role >> i & 1)
        lists[i][ranks[i]++] = f;
  }
  if (points > 60000 || ranks[2] > 4 || ranks[0] > 4 || ranks[1] > 4)
    return false;
  static const element_kind kinds[] = {F32, F32, F32, I32, F64, F16, BF16, I8};
  element_kind e = kinds[rng_below(&g->r, COUNT(kinds))];
  type types[3];
  for (int i = 0; i < 3; i++) {
    shuffle(g, ranks[i], lists[i]);
    types[i] = type_of_dims(e, ranks[i], lists[i], sizes);
    if (!fits(types + i))
      return false;
  }
  int a = use(g, pick_typed(g, types)), b = use(g, pick_typed(g, types + 1));
  range start, r;
  const char *init = sum_init(g, types + 2, &start);
  if (!contract_range(e, range_of(g, a), range_of(g, b), contracted, start, &r))
    return false;
  int w = add_result(g, types + 2, r);
  text *out = &g->op->body;
  text_add(out, "  %%v%d = linalg.generic {indexing_maps = [", w);
  for (int i = 0; i < 3; i++) {
    text_add(out, i ? ", " : "");
    print_map(out, n, ranks[i], lists[i]);
  }
  text_add(out, "], ");
  print_iterators(out, n, reduced);
  text_add(out, "} ins(%%v%d, %%v%d : %s, %s) outs(%s : %s) {\n", a, b, type_text(types),
           type_text(types + 1), init, type_text(types + 2));
  print_contraction_body(g, types + 2);
  return true;
}

/* Picks an operand of a generic over loops of these sizes: some of the loops in some order, and
 * constants for the other dimensions. */
static int pick_operand(gen *g, const type *loops, int *map, int *n) {
  int dims[MAX_DIMS];
  type t = {.element = loops->element};
  for (int d = 0; d < loops->rank; d++)
    dims[d] = d;
  if (rng_chance(&g->r, 40))
    shuffle(g, loops->rank, dims);
  bool all = rng_chance(&g->r, 50);
  for (int d = 0; d < loops->rank; d++) {
    if (all || rng_chance(&g->r, 60)) {
      map[t.rank] = dims[d];
      t.shape[t.rank++] = loops->shape[dims[d]];
    } else if (rng_chance(&g->r, 40)) {
      t.shape[t.rank] = random_size(g);
      map[t.rank] = -1 - rng_below(&g->r, (int)t.shape[t.rank]);
      t.rank++;
    }
  }
  *n = t.rank;
  return fits(&t) ? pick_typed(g, &t) : -1;
}

/* linalg.index as a number of the element type; its range is the loop's. */
static void print_index(gen *g, text *body, const type *loops, scalar *s) {
  int d = rng_below(&g->r, loops->rank);
  const char *e = element_of(loops), *width = is_float(loops->element) ? "i32" : e;
  snprintf(s->name, sizeof s->name, "%%h%d_ix%d", g->id, ++g->serial);
  s->r = (range){0, (double)loops->shape[d] - 1, true, (double)loops->shape[d]};
  bool cast = is_float(loops->element);
  text_add(body, "    %s_i = linalg.index %d : index\n", s->name, d);
  text_add(body, "    %s%s = arith.index_cast %s_i : index to %s\n", s->name, cast ? "_n" : "",
           s->name, width);
  if (cast)
    text_add(body, "    %s = arith.sitofp %s_n : i32 to %s\n", s->name, s->name, e);
}

/* An elementwise op: permuted, broadcast and constant maps, indices, one or two results. */
bool gen_parallel(gen *g) {
  type loops = random_type(g, 1, 4);
  int n_in = rng_below(&g->r, 4), n_out = 1 + rng_chance(&g->r, 20), maps[6][MAX_DIMS], ranks[6],
      ins[3];
  scalar known[5], yields[2];
  text body = {0};
  for (int i = 0; i < n_in; i++) {
    ins[i] = use(g, pick_operand(g, &loops, maps[i], ranks + i));
    if (ins[i] < 0)
      return false;
    known[i] = (scalar){.r = range_of(g, ins[i])};
    snprintf(known[i].name, MAX_NAME, "%%in%d", i);
  }
  int n = n_in;
  if (n_in == 0 || rng_chance(&g->r, 40))
    print_index(g, &body, &loops, known + n++);
  const char *e = element_of(&loops);
  bool ok = true;
  for (int k = 0; k < n_out && ok; k++)
    ok = random_expression(g, &body, loops.element, e, "i1", n, known, n + rng_below(&g->r, 2),
                           NULL, yields + k);
  type outs[2];
  const char *inits[2];
  for (int k = 0; k < n_out && ok; k++) {
    int order[MAX_DIMS];
    for (int d = 0; d < loops.rank; d++)
      order[d] = d;
    if (rng_chance(&g->r, 25))
      shuffle(g, loops.rank, order);
    memcpy(maps[n_in + k], order, sizeof order);
    ranks[n_in + k] = loops.rank;
    outs[k] = type_of_dims(loops.element, loops.rank, order, loops.shape);
    inits[k] = make_init(g, outs + k, k ? "out1" : "out0", NULL);
  }
  if (!ok) {
    text_clear(&body);
    return false;
  }
  text *out = &g->op->body;
  int w = add_result(g, outs, yields[0].r);
  text_add(out, "  %%v%d", w);
  if (n_out == 2)
    text_add(out, ", %%v%d", add_result(g, outs + 1, yields[1].r));
  text_add(out, " = linalg.generic {indexing_maps = [");
  for (int i = 0; i < n_in + n_out; i++) {
    text_add(out, i ? ", " : "");
    print_map(out, loops.rank, ranks[i], maps[i]);
  }
  text_add(out, "], ");
  print_iterators(out, loops.rank, 0);
  text_add(out, "}");
  for (int i = 0; i < n_in; i++)
    text_add(out, "%s%%v%d", i ? ", " : " ins(", ins[i]);
  for (int i = 0; i < n_in; i++)
    text_add(out, "%s%s", i ? ", " : " : ", type_text(&g->p->values[ins[i]].type));
  text_add(out, "%s outs(%s", n_in ? ")" : "", inits[0]);
  if (n_out == 2)
    text_add(out, ", %s", inits[1]);
  text_add(out, " : %s", type_text(outs));
  if (n_out == 2)
    text_add(out, ", %s", type_text(outs + 1));
  text_add(out, ") {\n  ^bb0(");
  for (int i = 0; i < n_in; i++)
    text_add(out, "%%in%d: %s, ", i, e);
  text_add(out, "%%o0: %s%s%s):\n%s", e, n_out == 2 ? ", %o1: " : "", n_out == 2 ? e : "",
           body.chars ? body.chars : "");
  text_clear(&body);
  if (n_out == 1) {
    text_add(out, "    linalg.yield %s : %s\n  } -> %s\n", yields[0].name, e, type_text(outs));
    return true;
  }
  text_add(out, "    linalg.yield %s, %s : %s, %s\n  } -> (%s, %s)\n", yields[0].name,
           yields[1].name, e, e, type_text(outs), type_text(outs + 1));
  return true;
}
