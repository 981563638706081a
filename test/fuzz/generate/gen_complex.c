/* Generates complex numbers: combines two real operands to one complex value, multiplies or sums
 * it, and returns the real part. */
#include "gen.h"

static const int identity[MAX_DIMS] = {0, 1, 2, 3, 4};

static void print_generic(gen *g, const char *name, const type *t, const char *ins,
                          const char *in_types, int n_in, const char *out_type, unsigned reduced,
                          const char *body) {
  text *out = &g->op->body;
  int kept[MAX_DIMS], n = 0;
  for (int d = 0; d < t->rank; d++)
    if (!(reduced >> d & 1))
      kept[n++] = d;
  text_add(out, "  %s = linalg.generic {indexing_maps = [", name);
  for (int i = 0; i < n_in; i++) {
    print_map(out, t->rank, t->rank, identity);
    text_add(out, ", ");
  }
  print_map(out, t->rank, n, kept);
  text_add(out, "], ");
  print_iterators(out, t->rank, reduced);
  text_add(out, "} ins(%s : %s) outs(%s_init : %s) {\n%s  } -> %s\n", ins, in_types, name, out_type,
           body, out_type);
}

/* Writes a type like "tensor<4x8xcomplex<f32>>". */
static void complex_type(const type *t, text *out) {
  text_add(out, "tensor<");
  for (int d = 0; d < t->rank; d++)
    text_add(out, "%lldx", (long long)t->shape[d]);
  text_add(out, "complex<%s>>", element_names[t->element]);
}

static void print_numbers(gen *g, const type *t, const char *complex, int a, int b) {
  const char *e = element_names[t->element];
  text ins = {0}, types = {0}, body = {0}, name = {0};
  text_add(&name, "%%h%d_c", g->id);
  text_add(&g->op->body, "  %s_init = tensor.empty() : %s\n", name.chars, complex);
  text_add(&ins, "%%v%d, %%v%d", a, b);
  text_add(&types, "%s, %s", type_text(t), type_text(t));
  text_add(&body,
           "  ^bb0(%%re: %s, %%im: %s, %%o: complex<%s>):\n    %%z = complex.create %%re, %%im : "
           "complex<%s>\n",
           e, e, e, e);
  if (rng_chance(&g->r, 50))
    text_add(&body, "    %%y = complex.mul %%z, %%z : complex<%s>\n", e);
  else
    text_add(&body, "    %%y = complex.add %%z, %%z : complex<%s>\n", e);
  text_add(&body, "    linalg.yield %%y : complex<%s>\n", e);
  print_generic(g, name.chars, t, ins.chars, types.chars, 2, complex, 0, body.chars);
  text_clear(&ins);
  text_clear(&types);
  text_clear(&body);
  text_clear(&name);
}

/* Appends the sum over `reduced` (none: the numbers themselves) and its real part. */
static void print_real(gen *g, const type *t, const char *complex, unsigned reduced,
                       const type *result, int w) {
  const char *e = element_names[t->element];
  text types = {0}, body = {0}, from = {0}, name = {0};
  text_add(&from, "%%h%d_c", g->id);
  complex_type(result, &types);
  if (reduced) {
    text_add(&g->op->body, "  %%h%d_zero = complex.constant [0.0 : %s, 0.0 : %s] : complex<%s>\n",
             g->id, e, e, e);
    text_add(&g->op->body,
             "  %%h%d_se = tensor.empty() : %s\n  %%h%d_s_init = linalg.fill ins(%%h%d_zero : "
             "complex<%s>) "
             "outs(%%h%d_se : %s) -> %s\n",
             g->id, types.chars, g->id, g->id, e, g->id, types.chars, types.chars);
    text_add(&name, "%%h%d_s", g->id);
    text_add(&body,
             "  ^bb0(%%in: complex<%s>, %%o: complex<%s>):\n    %%y = complex.add %%o, %%in : "
             "complex<%s>\n"
             "    linalg.yield %%y : complex<%s>\n",
             e, e, e, e);
    print_generic(g, name.chars, t, from.chars, complex, 1, types.chars, reduced, body.chars);
    text_clear(&from);
    from = name;
    name = (text){0};
    text_clear(&body);
  }
  text_add(&name, "%%v%d", w);
  text_add(&g->op->body, "  %%v%d_init = tensor.empty() : %s\n", w, type_text(result));
  text_add(&body,
           "  ^bb0(%%in: complex<%s>, %%o: %s):\n    %%y = complex.re %%in : complex<%s>\n    "
           "linalg.yield %%y : %s\n",
           e, e, e, e);
  print_generic(g, name.chars, result, from.chars, types.chars, 1, type_text(result), 0,
                body.chars);
  text_clear(&types);
  text_clear(&body);
  text_clear(&from);
  text_clear(&name);
}

bool gen_complex(gen *g) {
  int a = use(g, pick(g, 1, 3));
  type t = g->p->values[a].type, result = {.element = t.element};
  if (t.element != F32 && t.element != F64)
    return false;
  int b = use(g, pick_typed(g, &t));
  unsigned reduced = 0;
  double n = 1;
  for (int d = 0; d < t.rank; d++)
    if (rng_chance(&g->r, 30)) {
      reduced |= 1u << d;
      n *= (double)t.shape[d];
    } else {
      result.shape[result.rank++] = t.shape[d];
    }
  range x = range_of(g, a), y = range_of(g, b), r;
  double most = fmax(fmax(fabs(x.low), fabs(x.high)), fmax(fabs(y.low), fabs(y.high))),
         bound = n * fmax(2, 2 * most * most);
  r = (range){-bound, bound, x.integral && y.integral,
              n * fmax(2, 2 * x.scale * x.scale + 2 * y.scale * y.scale)};
  bound = fmax(bound, n * 2 * most);
  r.low = -bound, r.high = bound;
  if (!range_settle(t.element, &r))
    return false;
  text complex = {0};
  complex_type(&t, &complex);
  print_numbers(g, &t, complex.chars, a, b);
  print_real(g, &t, complex.chars, reduced, &result, add_result(g, &result, r));
  text_clear(&complex);
  return true;
}
