/* Generates nested loops that carry several values of several types. Values are permuted, passed
 * through unused, or computed by a branch. Some loops have no iterations, and some bodies read the
 * counter. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

typedef struct carried {
  int n;
  type types[MAX_OP_RESULTS];
  range ranges[MAX_OP_RESULTS]; /* before the loops */
  char names[MAX_OP_RESULTS][MAX_NAME];
} carried;

static void print_types(text *out, const carried *c) {
  for (int i = 0; i < c->n; i++)
    text_add(out, "%s%s", i ? ", " : "", type_text(c->types + i));
}

static void print_names(text *out, const carried *c) {
  for (int i = 0; i < c->n; i++)
    text_add(out, "%s%s", i ? ", " : "", c->names[i]);
}

static void rename_all(gen *g, carried *c, const char *prefix) {
  int serial = ++g->serial;
  for (int i = 0; i < c->n; i++)
    snprintf(c->names[i], MAX_NAME, "%%h%d_%s%d_%d", g->id, prefix, serial, i);
}

/* Permutes values of the same type. */
static void permute(gen *g, carried *c) {
  for (int i = 0; i < c->n; i++) {
    int j = rng_below(&g->r, c->n);
    if (i == j || !type_equal(c->types + i, c->types + j))
      continue;
    char held[MAX_NAME];
    memcpy(held, c->names[i], sizeof held);
    memcpy(c->names[i], c->names[j], sizeof held);
    memcpy(c->names[j], held, sizeof held);
  }
}

/* Appends an op that cannot increase ranges: max or min of two values of one type, or the negation
 * of a value. */
static void print_step(gen *g, carried *c, int i) {
  int other = i;
  for (int tries = 0; tries < 4; tries++) {
    int j = rng_below(&g->r, c->n);
    if (type_equal(c->types + i, c->types + j))
      other = j;
  }
  bool is_max = rng_chance(&g->r, 50), floats = is_float(c->types[i].element);
  char name[MAX_NAME];
  snprintf(name, sizeof name, "%%h%d_s%d", g->id, ++g->serial);
  text_add(&g->op->body, "  %s = arith.%s%s %s, %s : %s\n", name, is_max ? "max" : "min",
           floats ? "imumf" : "si", c->names[i], c->names[other], type_text(c->types + i));
  memcpy(c->names[i], name, sizeof name);
}

/* Appends the negation of a float, or the complement of an integer. */
static void print_turned(gen *g, carried *c, int i) {
  text *out = &g->op->body;
  const char *t = type_text(c->types + i);
  char name[MAX_NAME];
  snprintf(name, sizeof name, "%%h%d_t%d", g->id, ++g->serial);
  if (is_float(c->types[i].element)) {
    text_add(out, "  %s = arith.negf %s : %s\n", name, c->names[i], t);
  } else {
    text_add(out, "  %s_m = arith.constant dense<-1> : %s\n", name, t);
    text_add(out, "  %s = arith.xori %s, %s_m : %s\n", name, c->names[i], name, t);
  }
  memcpy(c->names[i], name, sizeof name);
}

/* Appends a branch on whether the counter is odd; both sides yield all values. */
static void print_branch(gen *g, carried *c, const char *counter) {
  text *out = &g->op->body;
  carried made = *c, then = *c, otherwise = *c;
  int serial = ++g->serial, id = g->id;
  rename_all(g, &made, "if");
  text_add(out,
           "  %%h%d_two%d = arith.constant 2 : index\n  %%h%d_nil%d = arith.constant 0 : index\n",
           id, serial, id, serial);
  text_add(out, "  %%h%d_rem%d = arith.remui %s, %%h%d_two%d : index\n", id, serial, counter, id,
           serial);
  text_add(out, "  %%h%d_odd%d = arith.cmpi ne, %%h%d_rem%d, %%h%d_nil%d : index\n  ", id, serial,
           id, serial, id, serial);
  print_names(out, &made);
  text_add(out, " = scf.if %%h%d_odd%d -> (", id, serial);
  print_types(out, c);
  text_add(out, ") {\n");
  print_step(g, &then, rng_below(&g->r, c->n));
  permute(g, &then);
  text_add(out, "  scf.yield ");
  print_names(out, &then);
  text_add(out, " : ");
  print_types(out, c);
  text_add(out, "\n  } else {\n");
  permute(g, &otherwise);
  text_add(out, "  scf.yield ");
  print_names(out, &otherwise);
  text_add(out, " : ");
  print_types(out, c);
  text_add(out, "\n  }\n");
  *c = made;
}

/* Appends a loop over the values; `made` are its results. The body has steps, a branch, and in the
 * outer loop one more loop. */
static void print_loop(gen *g, const carried *c, const carried *made, int depth) {
  text *out = &g->op->body;
  carried inside = *c;
  int serial = ++g->serial, id = g->id;
  char counter[MAX_NAME];
  snprintf(counter, sizeof counter, "%%h%d_k%d", id, serial);
  rename_all(g, &inside, "in");
  text_add(
      out,
      "  %%h%d_from%d = arith.constant %d : index\n  %%h%d_step%d = arith.constant %d : index\n",
      id, serial, rng_below(&g->r, 2), id, serial, 1 + rng_below(&g->r, 2));
  text_add(out, "  %%h%d_to%d = arith.constant %d : index\n  ", id, serial, rng_below(&g->r, 5));
  print_names(out, made);
  text_add(out, " = scf.for %s = %%h%d_from%d to %%h%d_to%d step %%h%d_step%d iter_args(", counter,
           id, serial, id, serial, id, serial);
  for (int i = 0; i < c->n; i++)
    text_add(out, "%s%s = %s", i ? ", " : "", inside.names[i], c->names[i]);
  text_add(out, ") -> (");
  print_types(out, c);
  text_add(out, ") {\n");
  for (int n = rng_below(&g->r, 3); n > 0; n--)
    print_step(g, &inside, rng_below(&g->r, c->n));
  if (rng_chance(&g->r, 50))
    print_turned(g, &inside, rng_below(&g->r, c->n));
  if (depth < 1 && rng_chance(&g->r, 60)) {
    carried given = inside;
    rename_all(g, &given, "out");
    print_loop(g, &inside, &given, depth + 1);
    inside = given;
  }
  if (rng_chance(&g->r, 40))
    print_branch(g, &inside, counter);
  permute(g, &inside);
  text_add(out, "  scf.yield ");
  print_names(out, &inside);
  text_add(out, " : ");
  print_types(out, c);
  text_add(out, "\n  }\n");
}

bool gen_nest(gen *g) {
  carried c = {.n = 2 + rng_below(&g->r, MAX_OP_RESULTS - 1)};
  for (int i = 0; i < c.n; i++) {
    int v = i > 0 && rng_chance(&g->r, 60) ? use(g, pick_typed(g, c.types + i - 1))
                                           : use(g, pick(g, 0, 3));
    if (v < 0)
      return false;
    c.types[i] = g->p->values[v].type;
    c.ranges[i] = range_of(g, v);
    snprintf(c.names[i], MAX_NAME, "%%v%d", v);
  }
  carried results = c;
  for (int i = 0; i < c.n; i++) {
    /* each value may end up at any position of its type, negated or not */
    range r = c.ranges[i];
    for (int j = 0; j < c.n; j++)
      if (type_equal(c.types + i, c.types + j))
        r = range_join(r, c.ranges[j]);
    double most = fmax(fabs(r.low), fabs(r.high)) + 1;
    r.low = -most, r.high = most;
    if (!range_settle(c.types[i].element, &r))
      return false;
    snprintf(results.names[i], MAX_NAME, "%%v%d", add_result(g, c.types + i, r));
  }
  print_loop(g, &c, &results, 0);
  return true;
}
