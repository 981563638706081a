/* Generates loops, branches, calls, and intermediate sharding annotations. */
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *suffix(const type *t) { return is_float(t->element) ? "f" : "i"; }

/* Appends one op of a body: computes %result from a and b, and its range; keeps the shape. Sums
 * grow with every iteration. */
static bool print_body_op(gen *g, const type *t, const char *result, const char *a, const char *b,
                          range ra, range rb, int trips, range *r) {
  static const char *const names[] = {"add", "max", "min", "sub"};
  int i = rng_below(&g->r, 4);
  const char *tail = i == 1 || i == 2 ? (is_float(t->element) ? "imum" : "s") : "";
  double m = fmax(fabs(rb.low), fabs(rb.high)) * trips;
  *r = range_join(ra, rb);
  if (i == 0 || i == 3)
    r->low = ra.low - m, r->high = ra.high + m;
  r->scale = fmax(r->scale, ra.scale + trips * rb.scale);
  text_add(&g->op->body, "    %%%s = arith.%s%s%s %%%s, %%%s : %s\n", result, names[i], tail,
           suffix(t), a, b, type_text(t));
  return range_settle(t->element, r);
}

static void print_transposed(gen *g, const char *name, const char *of, const type *t) {
  text_add(&g->op->body, "    %%%s_e = tensor.empty() : %s\n", name, type_text(t));
  text_add(&g->op->body,
           "    %%%s = linalg.transpose ins(%%%s : %s) outs(%%%s_e : %s) permutation = [1, 0]\n",
           name, of, type_text(t), name, type_text(t));
}

/* A loop that carries one or two tensors; two of one type may be swapped, a square one may be
 * transposed in each iteration. */
bool gen_for(gen *g) {
  int v = use(g, pick(g, 0, 3));
  type t = g->p->values[v].type;
  int w = use(g, pick_typed(g, &t)), x = use(g, pick_typed(g, &t)), trips = 1 + rng_below(&g->r, 4);
  bool two = rng_chance(&g->r, 40),
       turned = t.rank == 2 && t.shape[0] == t.shape[1] && rng_chance(&g->r, 50);
  range all = range_join(range_of(g, v), range_join(range_of(g, w), range_of(g, x))), r;
  const char *name = type_text(&t);
  text *out = &g->op->body;
  text_add(out, "  %%h%d_0 = arith.constant 0 : index\n  %%h%d_1 = arith.constant 1 : index\n",
           g->id, g->id);
  text_add(out, "  %%h%d_n = arith.constant %d : index\n", g->id, trips);
  int result = g->p->n_values;
  text_add(out, "  %%v%d", result);
  if (two)
    text_add(out, ", %%v%d", result + 1);
  text_add(out, " = scf.for %%i = %%h%d_0 to %%h%d_n step %%h%d_1 iter_args(%%a = %%v%d", g->id,
           g->id, g->id, v);
  if (two)
    text_add(out, ", %%b = %%v%d) -> (%s, %s) {\n", w, name, name);
  else
    text_add(out, ") -> (%s) {\n", name);
  char captured[16];
  snprintf(captured, sizeof captured, "v%d", x);
  if (turned)
    print_transposed(g, "t", "a", &t);
  if (!print_body_op(g, &t, "y", turned ? "t" : "a", captured, all, all, trips, &r))
    return false;
  text_add(out, "    scf.yield %s%%y : %s", two ? "%b, " : "", name);
  if (two)
    text_add(out, ", %s", name);
  text_add(out, "\n  }\n");
  add_result(g, &t, r);
  return !two || add_result(g, &t, r) >= 0;
}

/* A while loop whose counter is a carried tensor. */
bool gen_while(gen *g) {
  int v = use(g, pick(g, 0, 3)), trips = 1 + rng_below(&g->r, 3);
  type t = g->p->values[v].type;
  int x = use(g, pick_typed(g, &t)), id = g->id;
  range r, all = range_join(range_of(g, v), range_of(g, x));
  const char *name = type_text(&t);
  text *out = &g->op->body;
  text_add(out,
           "  %%h%d_0 = arith.constant dense<0> : tensor<i32>\n  %%h%d_1 = arith.constant dense<1> "
           ": tensor<i32>\n",
           id, id);
  text_add(out, "  %%h%d_n = arith.constant dense<%d> : tensor<i32>\n", id, trips);
  text_add(out,
           "  %%h%d_k, %%v%d = scf.while (%%k = %%h%d_0, %%a = %%v%d) : (tensor<i32>, %s) -> "
           "(tensor<i32>, %s) {\n",
           id, g->p->n_values, id, v, name, name);
  text_add(out,
           "    %%lt = arith.cmpi slt, %%k, %%h%d_n : tensor<i32>\n    %%go = tensor.extract "
           "%%lt[] : tensor<i1>\n",
           id);
  text_add(out,
           "    scf.condition(%%go) %%k, %%a : tensor<i32>, %s\n  } do {\n  ^bb0(%%k: tensor<i32>, "
           "%%a: %s):\n",
           name, name);
  text_add(out, "    %%next = arith.addi %%k, %%h%d_1 : tensor<i32>\n", id);
  char captured[16];
  snprintf(captured, sizeof captured, "v%d", x);
  if (!print_body_op(g, &t, "y", "a", captured, all, all, trips, &r))
    return false;
  text_add(out, "    scf.yield %%next, %%y : tensor<i32>, %s\n  }\n", name);
  return add_result(g, &t, r) >= 0;
}

/* A branch on an element of a small tensor, or a switch; sometimes the branches shard their values
 * differently. */
bool gen_if(gen *g) {
  int v = use(g, pick(g, 0, 3));
  type t = g->p->values[v].type, flag = {.element = I32};
  int x = use(g, pick_typed(g, &t)), c = use(g, new_argument(g, &flag, 0, 1)), id = g->id;
  range then, otherwise = range_of(g, v);
  const char *name = type_text(&t);
  text *out = &g->op->body;
  text_add(out,
           "  %%h%d_x = tensor.extract %%v%d[] : tensor<i32>\n  %%h%d_1 = arith.constant 1 : i32\n",
           id, c, id);
  bool is_switch = rng_chance(&g->r, 40);
  if (is_switch) {
    text_add(out, "  %%h%d_c = arith.index_cast %%h%d_x : i32 to index\n", id, id);
    text_add(out, "  %%v%d = scf.index_switch %%h%d_c -> %s\n  case 1 {\n", g->p->n_values, id,
             name);
  } else {
    text_add(out, "  %%h%d_c = arith.cmpi eq, %%h%d_x, %%h%d_1 : i32\n", id, id, id);
    text_add(out, "  %%v%d = scf.if %%h%d_c -> (%s) {\n", g->p->n_values, id, name);
  }
  char a[16], b[16];
  snprintf(a, sizeof a, "v%d", v);
  snprintf(b, sizeof b, "v%d", x);
  if (!print_body_op(g, &t, "y", a, b, range_of(g, v), range_of(g, x), 1, &then))
    return false;
  text_add(out, "    scf.yield %%y : %s\n  }%s", name, is_switch ? "\n" : " else {\n");
  if (is_switch && rng_chance(&g->r, 50))
    text_add(out, "  case 0 {\n    scf.yield %%v%d : %s\n  }\n", v, name);
  if (is_switch)
    text_add(out, "  default {\n");
  if (t.rank == 2 && t.shape[0] == t.shape[1] && rng_chance(&g->r, 60)) {
    print_transposed(g, "z", a, &t);
    text_add(out, "    scf.yield %%z : %s\n  }\n", name);
  } else {
    text_add(out, "    scf.yield %%v%d : %s\n  }\n", v, name);
  }
  return add_result(g, &t, range_join(then, otherwise)) >= 0;
}

/* A private function that is called once or twice, or through another function. */
bool gen_call(gen *g) {
  int v = use(g, pick(g, 0, 3));
  type t = g->p->values[v].type;
  int w = use(g, pick_typed(g, &t)), n_calls = 1 + rng_below(&g->r, 2);
  const char *name = type_text(&t);
  range all = range_join(range_of(g, v), range_of(g, w)), r;
  text main_body = g->op->body;
  g->op->body = (text){0};
  bool ok = print_body_op(g, &t, "y", "a", "b", all, all, 2, &r);
  g->op->functions = g->op->body;
  g->op->body = main_body;
  if (!ok)
    return false;
  text function = {0};
  text_add(&function,
           "func.func private @f%d(%%a: %s, %%b: %s) -> %s {\n%s    return %%y : %s\n}\n", g->id,
           name, name, name, g->op->functions.chars, name);
  text_clear(&g->op->functions);
  g->op->functions = function;
  bool nested = rng_chance(&g->r, 30);
  if (nested)
    text_add(&g->op->functions,
             "func.func private @g%d(%%a: %s, %%b: %s) -> %s {\n    %%y = call @f%d(%%a, %%b) : "
             "(%s, %s) -> %s\n"
             "    return %%y : %s\n}\n",
             g->id, name, name, name, g->id, name, name, name, name);
  text *out = &g->op->body;
  int first = add_result(g, &t, r);
  text_add(out, "  %%v%d = call @%c%d(%%v%d, %%v%d) : (%s, %s) -> %s\n", first, nested ? 'g' : 'f',
           g->id, v, w, name, name, name);
  if (n_calls == 2)
    text_add(out, "  %%v%d = call @f%d(%%v%d, %%v%d) : (%s, %s) -> %s\n", add_result(g, &t, r),
             g->id, first, v, name, name, name);
  return true;
}

/* ---- Shardings ---- */

static int axis_size(const mesh *m, const char *name) {
  for (int a = 0; a < m->n_axes; a++)
    if (strcmp(axis_names[a], name) == 0)
      return m->sizes[a];
  return 1;
}

/* Distributes axes, whole or split in two, over the dimensions; mostly to those that they
 * divide. */
void random_sharding(gen *g, const type *t, bool partial, char *chars, size_t size) {
  int rank = t->rank;
  bool even = rng_chance(&g->r, 60);
  int64_t left[MAX_DIMS];
  memcpy(left, t->shape, sizeof left);
  const mesh *m = &g->p->mesh;
  char tokens[2 * MAX_MESH_AXES][24], partials[120] = "";
  int order[2 * MAX_MESH_AXES], n = 0;
  for (int a = 0; a < m->n_axes; a++) {
    int s = m->sizes[a], cut = s == 4 || s == 6 || s == 8 ? 2 : 0;
    if (cut && rng_chance(&g->r, 15)) {
      snprintf(tokens[n++], 24, "%s:(1)%d", axis_names[a], cut);
      snprintf(tokens[n++], 24, "%s:(%d)%d", axis_names[a], cut, s / cut);
    } else {
      snprintf(tokens[n++], 24, "%s", axis_names[a]);
    }
  }
  for (int i = 0; i < n; i++)
    order[i] = i;
  shuffle(g, n, order);
  int dim_of[2 * MAX_MESH_AXES];
  static const char *const kinds[] = {"sum", "sum", "max", "min"};
  const char *kind = kinds[rng_below(&g->r, COUNT(kinds))];
  for (int i = 0; i < n; i++) {
    const char *sub = strchr(tokens[order[i]], ')');
    int shards = sub ? atoi(sub + 1) : axis_size(m, tokens[order[i]]);
    int d = rng_below(&g->r, rank);
    bool fit = rank > 0 && (!even || left[d] % shards == 0);
    dim_of[i] = fit && rng_chance(&g->r, 75) ? d : -1;
    if (dim_of[i] >= 0)
      left[d] /= shards;
    if (partial && dim_of[i] < 0 && rng_chance(&g->r, 40)) {
      size_t used = strlen(partials);
      const char *quote = strchr(tokens[order[i]], ':') ? "\"" : "";
      snprintf(partials + used, sizeof partials - used, "%s%s%s%s = \"%s\"", used ? ", " : "",
               quote, tokens[order[i]], quote, kind);
    }
  }
  text out = {0};
  text_add(&out, "%s[", partials[0] ? "{dims = " : "");
  for (int d = 0; d < rank; d++) {
    bool any = false;
    text_add(&out, d ? ", [" : "[");
    for (int i = 0; i < n; i++)
      if (dim_of[i] == d) {
        text_add(&out, "%s\"%s\"", any ? ", " : "", tokens[order[i]]);
        any = true;
      }
    if (rng_chance(&g->r, 10))
      text_add(&out, "%s\"?\"", any ? ", " : "");
    text_add(&out, "]");
  }
  text_add(&out, "]");
  if (partials[0])
    text_add(&out, ", partial = {%s}}", partials);
  snprintf(chars, size, "%s", out.chars);
  text_clear(&out);
}

bool gen_layout(gen *g) {
  int v = use(g, pick(g, 1, 4));
  type t = g->p->values[v].type;
  char sharding[200];
  random_sharding(g, &t, true, sharding, sizeof sharding);
  text *out = &g->op->body;
  text_add(out, "  %%h%d_s = shard.sharding @mesh split_axes = [", g->id);
  for (int d = 0; d < t.rank; d++)
    text_add(out, d ? ", []" : "[]");
  text_add(out,
           "] : !shard.sharding\n  %%v%d = shard.shard %%v%d to %%h%d_s {tp.sharding = %s} : %s\n",
           add_result(g, &t, range_of(g, v)), v, g->id, sharding, type_text(&t));
  return true;
}
