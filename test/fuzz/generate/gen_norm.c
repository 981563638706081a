/* Generates the patterns that tp-fuse-collectives matches after an all-reduce: a matmul, followed
 * by a bias, a residual and an RMS or layer norm of the rows, in several forms. The random choices
 * do not guarantee that a pattern matches. */
#include "gen.h"

#include <stdio.h>

/* A tensor's name and range. */
typedef struct rows {
  char name[MAX_NAME];
  range r;
} rows;

typedef struct norm {
  gen *g;
  type whole, row, column; /* [tokens, hidden], [hidden], [tokens] */
  text *out;
} norm;

static rows named(norm *n, const char *what, range r) {
  rows made = {.r = r};
  snprintf(made.name, sizeof made.name, "%%h%d_%s%d", n->g->id, what, ++n->g->serial);
  return made;
}

/* Appends an output tensor, filled with zeros or uninitialized. */
static const char *start_of(norm *n, const type *t, bool zeros) {
  char label[MAX_NAME];
  snprintf(label, sizeof label, "start%d", ++n->g->serial);
  return make_init(n->g, t, label, zeros ? number(F32, 0) : NULL);
}

/* Appends a generic over an element of each operand, which is whole, a row or a column; `body`
 * computes %y from %a and %b. */
static void print_generic(norm *n, const char *result, const rows *a, const type *ta, const rows *b,
                          const type *tb, const char *body) {
  static const int whole[] = {0, 1}, row[] = {1}, column[] = {0};
  const type *types[] = {ta, tb};
  const char *init = start_of(n, &n->whole, false);
  text_add(n->out, "  %s = linalg.generic {indexing_maps = [", result);
  for (int i = 0; i < 2; i++) {
    const type *t = types[i];
    print_map(n->out, 2, t->rank, t->rank == 2 ? whole : t == &n->row ? row : column);
    text_add(n->out, ", ");
  }
  print_map(n->out, 2, 2, whole);
  text_add(n->out, "], ");
  print_iterators(n->out, 2, 0);
  text_add(n->out,
           "} ins(%s, %s : %s, %s) outs(%s : %s) {\n  ^bb0(%%a: f32, %%b: f32, %%o: f32):\n%s    "
           "linalg.yield %%y : f32\n  } "
           "-> %s\n",
           a->name, b->name, type_text(ta), type_text(tb), init, type_text(&n->whole), body,
           type_text(&n->whole));
}

/* Appends the row sum of the values that `body` computes from %a as %y; an empty body sums the
 * elements. */
static rows row_sum(norm *n, const rows *a, const char *body, const char *of) {
  static const int whole[] = {0, 1}, column[] = {0};
  rows sum = named(n, "sum", a->r);
  const char *init = start_of(n, &n->column, true);
  text_add(n->out, "  %s = linalg.generic {indexing_maps = [", sum.name);
  print_map(n->out, 2, 2, whole);
  text_add(n->out, ", ");
  print_map(n->out, 2, 1, column);
  text_add(n->out, "], ");
  print_iterators(n->out, 2, 2);
  text_add(n->out,
           "} ins(%s : %s) outs(%s : %s) {\n  ^bb0(%%a: f32, %%o: f32):\n%s    %%z = arith.addf "
           "%%o, %s : f32\n"
           "    linalg.yield %%z : f32\n  } -> %s\n",
           a->name, type_text(&n->whole), init, type_text(&n->column), body, of,
           type_text(&n->column));
  return sum;
}

/* Appends a computation per row: %y from %a, with the constants %n (hidden) and %e (epsilon). */
static rows of_rows(norm *n, const rows *a, const char *body) {
  static const int column[] = {0};
  rows made = named(n, "row", a->r);
  const char *init = start_of(n, &n->column, false);
  text_add(n->out, "  %s_n = arith.constant %lld.0 : f32\n  %s_e = arith.constant 1.0 : f32\n",
           made.name, (long long)n->whole.shape[1], made.name);
  text_add(n->out, "  %s = linalg.generic {indexing_maps = [", made.name);
  for (int i = 0; i < 2; i++) {
    text_add(n->out, i ? ", " : "");
    print_map(n->out, 1, 1, column);
  }
  text_add(n->out, "], ");
  print_iterators(n->out, 1, 0);
  text_add(n->out, "} ins(%s : %s) outs(%s : %s) {\n  ^bb0(%%a: f32, %%o: f32):\n", a->name,
           type_text(&n->column), init, type_text(&n->column));
  for (const char *c = body; *c; c++) /* @n and @e are the constants */
    if (*c == '@')
      text_add(n->out, "%s_%c", made.name, *++c);
    else
      text_bytes(n->out, c, 1);
  text_add(n->out, "    linalg.yield %%y : f32\n  } -> %s\n", type_text(&n->column));
  return made;
}

/* Picks a weight that is mostly sharded along the contracted dimension, so that an all-reduce
 * follows. */
static int pick_factor(gen *g, const type *t, int split_dim, const char *axis) {
  if (rng_chance(&g->r, 25))
    return pick_typed(g, t);
  int v = new_argument(g, t, -3, 3);
  if (v >= 0)
    snprintf(g->p->values[v].sharding, sizeof g->p->values[v].sharding,
             split_dim ? "[[], [\"%s\"]]" : "[[\"%s\"], []]", axis);
  return v;
}

/* Appends the matmul, which may need an all-reduce; false if its range exceeds all bounds. */
static bool print_product(norm *n, rows *sum) {
  gen *g = n->g;
  type left = {.element = F32, .rank = 2, .shape = {n->whole.shape[0], random_size(g)}};
  type right = {.element = F32, .rank = 2, .shape = {left.shape[1], n->whole.shape[1]}};
  if (!fits(&right))
    return false;
  const char *axis = axis_names[rng_below(&g->r, g->p->mesh.n_axes)];
  int a = use(g, pick_factor(g, &left, 1, axis)), b = use(g, pick_factor(g, &right, 0, axis));
  range start = {0, 0, true, 0};
  if (a < 0 || b < 0 ||
      !contract_range(F32, range_of(g, a), range_of(g, b), left.shape[1], start, &sum->r))
    return false;
  const char *init = start_of(n, &n->whole, true);
  *sum = named(n, "product", sum->r);
  text_add(n->out, "  %s = linalg.matmul ins(%%v%d, %%v%d : %s, %s) outs(%s : %s) -> %s\n",
           sum->name, a, b, type_text(&left), type_text(&right), init, type_text(&n->whole),
           type_text(&n->whole));
  return true;
}

/* Appends sum + operand, which is a row or whole. */
static bool print_add(norm *n, rows *sum, const type *t, const char *name) {
  gen *g = n->g;
  rows operand = {0}, made = *sum;
  int v = use(g, pick_typed(g, t));
  if (v < 0)
    return false;
  operand.r = range_of(g, v);
  snprintf(operand.name, sizeof operand.name, "%%v%d", v);
  made.r = (range){sum->r.low + operand.r.low, sum->r.high + operand.r.high,
                   sum->r.integral && operand.r.integral, sum->r.scale + operand.r.scale};
  made = named(n, "added", made.r);
  if (name)
    snprintf(made.name, sizeof made.name, "%s", name);
  if (!range_settle(F32, &made.r))
    return false;
  if (t->rank == 2 && rng_chance(&g->r, 50))
    text_add(n->out, "  %s = arith.addf %s, %s : %s\n", made.name, operand.name, sum->name,
             type_text(t));
  else
    print_generic(n, made.name, sum, &n->whole, &operand, t, "    %y = arith.addf %a, %b : f32\n");
  *sum = made;
  return true;
}

/* Appends the norm of rows x without a gain. */
static rows print_norm(norm *n, rows x) {
  static const char *const factors[] = {
      "    %m = arith.divf %a, @n : f32\n    %s = arith.addf %m, @e : f32\n    %y = math.rsqrt %s "
      ": f32\n",
      "    %m = arith.divf %a, @n : f32\n    %s = arith.addf %m, @e : f32\n    %q = math.sqrt %s : "
      "f32\n"
      "    %y = arith.divf @e, %q : f32\n", /* epsilon is 1 */
  };
  gen *g = n->g;
  range r = {-1, 1, false, x.r.scale};
  if (rng_chance(&g->r, 40)) { /* layer norm */
    rows sum = row_sum(n, &x, "", "%a"),
         mean = of_rows(n, &sum, "    %y = arith.divf %a, @n : f32\n"),
         centerd = named(n, "centerd", x.r);
    print_generic(n, centerd.name, &x, &n->whole, &mean, &n->column,
                  "    %y = arith.subf %a, %b : f32\n");
    x = centerd;
  }
  rows squares = row_sum(n, &x, "    %q = arith.mulf %a, %a : f32\n", "%q"),
       scale = of_rows(n, &squares, factors[rng_chance(&g->r, 30)]);
  rows y = named(n, "normed", r);
  print_generic(n, y.name, &x, &n->whole, &scale, &n->column, "    %y = arith.mulf %a, %b : f32\n");
  y.r.low = -sqrt((double)n->whole.shape[1]);
  y.r.high = -y.r.low;
  return y;
}

/* Appends y = normed * gain, the result. */
static bool print_gain(norm *n, const rows *y) {
  gen *g = n->g;
  int v = use(g, pick_typed(g, &n->row));
  if (v < 0)
    return false;
  rows gain = {.r = range_of(g, v)};
  range r;
  snprintf(gain.name, sizeof gain.name, "%%v%d", v);
  if (!contract_range(F32, y->r, gain.r, 1, (range){0}, &r))
    return false;
  /* covers roundings of intermediate values */
  r.scale = fmax(r.scale, y->r.scale * fmax(1, gain.r.scale));
  r.integral = false;
  char name[MAX_NAME];
  int w = add_result(g, &n->whole, r);
  snprintf(name, sizeof name, "%%v%d", w);
  print_generic(n, name, y, &n->whole, &gain, &n->row, "    %y = arith.mulf %a, %b : f32\n");
  return w >= 0;
}

bool gen_norm(gen *g) {
  static const int64_t widths[] = {8, 16, 24, 32, 12};
  norm n = {.g = g,
            .out = &g->op->body,
            .whole = {.element = F32, .rank = 2, .shape = {random_size(g), 0}}};
  n.whole.shape[1] = widths[rng_below(&g->r, COUNT(widths))];
  n.row = (type){.element = F32, .rank = 1, .shape = {n.whole.shape[1]}};
  n.column = (type){.element = F32, .rank = 1, .shape = {n.whole.shape[0]}};
  rows sum;
  if (!print_product(&n, &sum) || (rng_chance(&g->r, 40) && !print_add(&n, &sum, &n.row, NULL)))
    return false;
  if (rng_chance(&g->r, 70) && !print_add(&n, &sum, &n.whole, NULL))
    return false;
  rows y = print_norm(&n, sum);
  return print_gain(&n, &y);
}
