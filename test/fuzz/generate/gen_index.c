/* Generates indexed reads: rows of a table at computed indices, masks and tables captured by a
 * body, tensors computed from their indices. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

static const int identity[MAX_DIMS] = {0, 1, 2, 3, 4};

/* Reads rows of a table at indices of the program; the body captures the table. */
bool gen_lookup(gen *g) {
  int t = use(g, pick(g, 1, 2));
  type table = g->p->values[t].type, index = {.element = I32, .rank = 1 + rng_below(&g->r, 2)},
       result = {.element = table.element};
  for (int d = 0; d < index.rank; d++)
    index.shape[d] = result.shape[d] = random_size(g);
  result.rank = index.rank + table.rank - 1;
  if (table.rank == 2)
    result.shape[index.rank] = table.shape[1];
  if (!fits(&result))
    return false;
  /* The value of an argument is in range by construction; any other value is clamped, as in real
   * programs. */
  bool clamp = rng_chance(&g->r, 50);
  int i = use(g, clamp ? pick_typed(g, &index)
                       : new_argument(g, &index, 0, (double)table.shape[0] - 1));
  const char *init = make_init(g, &result, "init", NULL), *e = element_names[table.element];
  text *out = &g->op->body;
  text_add(out, "  %%h%d_lo = arith.constant 0 : index\n  %%h%d_hi = arith.constant %lld : index\n",
           g->id, g->id, (long long)table.shape[0] - 1);
  text_add(out, "  %%v%d = linalg.generic {indexing_maps = [",
           add_result(g, &result, range_of(g, t)));
  print_map(out, result.rank, index.rank, identity);
  text_add(out, ", ");
  print_map(out, result.rank, result.rank, identity);
  text_add(out, "], ");
  print_iterators(out, result.rank, 0);
  text_add(out, "} ins(%%v%d : %s) outs(%s : %s) {\n  ^bb0(%%in: i32, %%o: %s):\n", i,
           type_text(&index), init, type_text(&result), e);
  text_add(out, "    %%i = arith.index_cast %%in : i32 to index\n");
  if (clamp)
    text_add(out,
             "    %%l = arith.maxsi %%i, %%h%d_lo : index\n    %%r = arith.minsi %%l, %%h%d_hi : "
             "index\n",
             g->id, g->id);
  if (table.rank == 2)
    text_add(out, "    %%j = linalg.index %d : index\n", index.rank);
  text_add(out, "    %%x = tensor.extract %%v%d[%s%s] : %s\n    linalg.yield %%x : %s\n  } -> %s\n",
           t, clamp ? "%r" : "%i", table.rank == 2 ? ", %j" : "", type_text(&table), e,
           type_text(&result));
  return true;
}

/* Selects between an operand and a number by elements of a captured tensor, read at the loop
 * indices, like PyTorch's masks. */
bool gen_mask(gen *g) {
  int v = use(g, pick(g, 1, 3)), m = -1, loops[MAX_DIMS], n = 0;
  type t = g->p->values[v].type, mask = {.element = I32};
  for (int d = 0; d < t.rank; d++)
    if (rng_chance(&g->r, 60) || (d == t.rank - 1 && n == 0))
      loops[n++] = d;
  if (rng_chance(&g->r, 30))
    shuffle(g, n, loops);
  for (int d = 0; d < n; d++)
    mask.shape[d] = t.shape[loops[d]];
  mask.rank = n;
  m = use(g, pick_typed(g, &mask));
  const char *init = make_init(g, &t, "init", NULL), *e = element_names[t.element];
  text *out = &g->op->body;
  text_add(out, "  %%h%d_z = arith.constant 0 : i32\n  %%h%d_f = arith.constant %s : %s\n", g->id,
           g->id, number(t.element, -2), e);
  text_add(out, "  %%v%d = linalg.generic {indexing_maps = [",
           add_result(g, &t, range_join(range_of(g, v), (range){-2, -2, true, 2})));
  print_map(out, t.rank, t.rank, identity);
  text_add(out, ", ");
  print_map(out, t.rank, t.rank, identity);
  text_add(out, "], ");
  print_iterators(out, t.rank, 0);
  text_add(out, "} ins(%%v%d : %s) outs(%s : %s) {\n  ^bb0(%%in: %s, %%o: %s):\n", v, type_text(&t),
           init, type_text(&t), e, e);
  for (int d = 0; d < n; d++)
    text_add(out, "    %%i%d = linalg.index %d : index\n", d, loops[d]);
  text_add(out, "    %%m = tensor.extract %%v%d[", m);
  for (int d = 0; d < n; d++)
    text_add(out, "%s%%i%d", d ? ", " : "", d);
  text_add(out, "] : %s\n    %%c = arith.cmpi sgt, %%m, %%h%d_z : i32\n", type_text(&mask), g->id);
  text_add(out,
           "    %%x = arith.select %%c, %%in, %%h%d_f : %s\n    linalg.yield %%x : %s\n  } -> %s\n",
           g->id, e, e, type_text(&t));
  return true;
}

/* tensor.generate: a sum of its indices, and sometimes an element of the program. */
bool gen_generate(gen *g) {
  type t = random_type(g, 1, 3);
  t.element = rng_chance(&g->r, 50) ? I32 : I64;
  int v = rng_chance(&g->r, 50) ? use(g, pick_typed(g, &t)) : -1;
  const char *e = element_names[t.element];
  range r = {0, 0, true, 0};
  text *out = &g->op->body;
  text_add(out, "  %%v%d = tensor.generate {\n  ^bb0(", g->p->n_values);
  for (int d = 0; d < t.rank; d++)
    text_add(out, "%s%%i%d: index", d ? ", " : "", d);
  text_add(out, "):\n    %%s0 = arith.index_cast %%i0 : index to %s\n", e);
  for (int d = 0; d < t.rank; d++)
    r.high += (double)t.shape[d] - 1;
  for (int d = 1; d < t.rank; d++)
    text_add(out,
             "    %%n%d = arith.index_cast %%i%d : index to %s\n    %%s%d = arith.addi %%s%d, "
             "%%n%d : %s\n",
             d, d, e, d, d - 1, d, e);
  if (v >= 0) {
    range w = range_of(g, v);
    r = (range){r.low + w.low, r.high + w.high, true, 0};
    text_add(out, "    %%x = tensor.extract %%v%d[", v);
    for (int d = 0; d < t.rank; d++)
      text_add(out, "%s%%i%d", d ? ", " : "", d);
    text_add(out, "] : %s\n    %%y = arith.addi %%x, %%s%d : %s\n    tensor.yield %%y : %s\n",
             type_text(&t), t.rank - 1, e, e);
  } else {
    text_add(out, "    tensor.yield %%s%d : %s\n", t.rank - 1, e);
  }
  text_add(out, "  } : %s\n", type_text(&t));
  return range_settle(t.element, &r) && add_result(g, &t, r) >= 0;
}

/* tensor.gather of whole rows or columns of a matrix. */
bool gen_gather(gen *g) {
  int v = use(g, pick(g, 2, 2)), along = rng_below(&g->r, 2);
  type t = g->p->values[v].type, index = {.element = I32, .rank = 2},
       result = {.element = t.element, .rank = 2};
  index.shape[0] = result.shape[0] = random_size(g);
  index.shape[1] = 1;
  result.shape[1] = t.shape[1 - along];
  if (!fits(&result))
    return false;
  int i = use(g, new_argument(g, &index, 0, (double)t.shape[along] - 1));
  text_add(&g->op->body,
           "  %%v%d = tensor.gather %%v%d[%%v%d] gather_dims([%d]) : (%s, %s) -> %s\n",
           add_result(g, &result, range_of(g, v)), v, i, along, type_text(&t), type_text(&index),
           type_text(&result));
  return true;
}

/* tensor.scatter of whole rows to distinct positions: every second one, starting from the last. */
bool gen_scatter(gen *g) {
  int v = use(g, pick(g, 1, 3));
  type t = g->p->values[v].type, part = t, index = {.element = I32, .rank = 2};
  part.shape[0] = index.shape[0] = (t.shape[0] + 1) / 2;
  index.shape[1] = 1;
  int w = use(g, pick_typed(g, &part));
  text *out = &g->op->body;
  text_add(out, "  %%h%d_at = arith.constant dense<[", g->id);
  for (int64_t i = 0; i < index.shape[0]; i++)
    text_add(out, "%s[%lld]", i ? ", " : "", (long long)(t.shape[0] - 1 - 2 * i));
  text_add(out, "]> : %s\n", type_text(&index));
  text_add(out,
           "  %%v%d = tensor.scatter %%v%d into %%v%d[%%h%d_at] scatter_dims([0]) unique : (%s, "
           "%s, %s) -> %s\n",
           add_result(g, &t, range_join(range_of(g, v), range_of(g, w))), w, v, g->id,
           type_text(&part), type_text(&t), type_text(&index), type_text(&t));
  return true;
}
