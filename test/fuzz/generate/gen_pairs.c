/* Generates reductions with two coupled results: a best value and its index, or a max and the sum
 * of exponentials relative to it. */
#include "gen.h"

#include <string.h>

static const int identity[MAX_DIMS] = {0, 1, 2, 3, 4};

/* Returns the type of `in` without dimension `along`, and its map. */
static type without(const type *in, int along, int *map) {
  type t = {.element = in->element};
  for (int d = 0; d < in->rank; d++)
    if (d != along) {
      map[t.rank] = d;
      t.shape[t.rank++] = in->shape[d];
    }
  return t;
}

static void print_head(gen *g, const type *in, int n, const int *map, int along) {
  text *out = &g->op->body;
  text_add(out, " = linalg.generic {indexing_maps = [");
  print_map(out, in->rank, in->rank, identity);
  for (int k = 0; k < 2; k++) {
    text_add(out, ", ");
    print_map(out, in->rank, n, map);
  }
  text_add(out, "], ");
  print_iterators(out, in->rank, 1u << along);
}

/* Appends the comparison of %in with the best value so far, in the forms that exporters use:
 * strict; or also if equal, so that the last one wins; or as in JAX, with NaN as the greatest value
 * and ties decided by index. */
static void print_choice(text *out, bool is_max, bool is_last, bool as_jax, const type *in,
                         const char *index) {
  const char *e = element_names[in->element],
             *compare = is_float(in->element) ? "arith.cmpf o" : "arith.cmpi s";
  const char *predicate = is_max ? (is_last ? "ge" : "gt") : (is_last ? "le" : "lt");
  text_add(out, "    %%better = %s%s, %%in, %%b : %s\n", compare, predicate, e);
  if (!as_jax) {
    text_add(out,
             "    %%nb = arith.select %%better, %%in, %%b : %s\n    %%ni = arith.select %%better, "
             "%%k, %%i : %s\n",
             e, index);
    return;
  }
  text_add(
      out,
      "    %%nan = arith.cmpf une, %%in, %%in : %s\n    %%wins = arith.ori %%better, %%nan : i1\n",
      e);
  text_add(
      out,
      "    %%tie = arith.cmpf oeq, %%in, %%b : %s\n    %%front = arith.cmpi slt, %%k, %%i : %s\n",
      e, index);
  text_add(
      out,
      "    %%both = arith.andi %%tie, %%front : i1\n    %%moves = arith.ori %%wins, %%both : i1\n");
  text_add(out,
           "    %%nb = arith.select %%wins, %%in, %%b : %s\n    %%ni = arith.select %%moves, %%k, "
           "%%i : %s\n",
           e, index);
}

/* Start values that every value beats; none for types that are too small. */
static const double worst_of[N_ELEMENTS] = {[F32] = 1e5, [F64] = 1e5, [F16] = 1e3, [BF16] = 64,
                                            [I32] = 1e5, [I64] = 1e5, [I8] = 100};

bool gen_arg_reduction(gen *g) {
  int v = use(g, pick(g, 1, 3)), map[MAX_DIMS];
  type in = g->p->values[v].type;
  range r = range_of(g, v);
  if (!r.integral || r.low < -worst_of[in.element] || r.high > worst_of[in.element])
    return false;
  bool is_max = rng_chance(&g->r, 70),
       as_jax = is_float(in.element) && is_max && rng_chance(&g->r, 35);
  bool is_last = !as_jax && rng_chance(&g->r, 25);
  int along = rng_below(&g->r, in.rank);
  double worst = is_max ? -worst_of[in.element] : worst_of[in.element];
  type outer = without(&in, along, map), index = outer;
  index.element = rng_chance(&g->r, 70) ? I32 : I64;
  const char *e = element_names[in.element], *i = element_names[index.element];
  const char *best = make_init(g, &outer, "best", number(in.element, worst)),
             *at = make_init(g, &index, "at", "0");
  text *out = &g->op->body;
  range joined = range_join(r, (range){worst, worst, true, fabs(worst)});
  text_add(out, "  %%v%d", add_result(g, &outer, joined));
  text_add(out, ", %%v%d", add_result(g, &index, (range){0, (double)in.shape[along] - 1, true, 0}));
  print_head(g, &in, outer.rank, map, along);
  text_add(out, "} ins(%%v%d : %s) outs(%s, %s : %s, %s) {\n  ^bb0(%%in: %s, %%b: %s, %%i: %s):\n",
           v, type_text(&in), best, at, type_text(&outer), type_text(&index), e, e, i);
  text_add(out, "    %%j = linalg.index %d : index\n    %%k = arith.index_cast %%j : index to %s\n",
           along, i);
  print_choice(out, is_max, is_last, as_jax, &in, i);
  text_add(out, "    linalg.yield %%nb, %%ni : %s, %s\n  } -> (%s, %s)\n", e, i, type_text(&outer),
           type_text(&index));
  return true;
}

/* Online softmax: the running max, and the sum of exp(x - max), rescaled when the max increases. */
bool gen_max_sum(gen *g) {
  int v = use(g, pick(g, 1, 3)), map[MAX_DIMS];
  type in = g->p->values[v].type;
  range r = range_of(g, v);
  if (!is_float(in.element) || r.low < -1e4 || r.high > 1e4)
    return false;
  int along = rng_below(&g->r, in.rank);
  double n = (double)in.shape[along];
  type outer = without(&in, along, map);
  const char *e = element_names[in.element];
  const char *most = make_init(g, &outer, "most",
                               combiner_identity(combiner_of(in.element, COMBINE_MAX), in.element));
  const char *sum = make_init(g, &outer, "sum", number(in.element, 0));
  text *out = &g->op->body;
  text_add(out, "  %%v%d", add_result(g, &outer, r));
  text_add(out, ", %%v%d", add_result(g, &outer, (range){0, n, false, n * fmax(1, r.scale)}));
  print_head(g, &in, outer.rank, map, along);
  text_add(out, "} ins(%%v%d : %s) outs(%s, %s : %s, %s) {\n  ^bb0(%%in: %s, %%m: %s, %%s: %s):\n",
           v, type_text(&in), most, sum, type_text(&outer), type_text(&outer), e, e, e);
  text_add(out, "    %%nm = arith.maximumf %%m, %%in : %s\n    %%dm = arith.subf %%m, %%nm : %s\n",
           e, e);
  text_add(out, "    %%em = math.exp %%dm : %s\n    %%sm = arith.mulf %%s, %%em : %s\n", e, e);
  text_add(out, "    %%dx = arith.subf %%in, %%nm : %s\n    %%ex = math.exp %%dx : %s\n", e, e);
  text_add(out,
           "    %%ns = arith.addf %%sm, %%ex : %s\n    linalg.yield %%nm, %%ns : %s, %s\n  } -> "
           "(%s, %s)\n",
           e, e, e, type_text(&outer), type_text(&outer));
  return true;
}
