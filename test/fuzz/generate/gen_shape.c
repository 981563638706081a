/* Generates constants, reshapes, slices, concatenation, padding and single elements. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

static void print_list(text *out, int n, const int64_t *list) {
  text_add(out, "[");
  for (int i = 0; i < n; i++)
    text_add(out, "%s%lld", i ? ", " : "", (long long)list[i]);
  text_add(out, "]");
}

static void print_nested(gen *g, text *out, const type *t, int d) {
  if (d == t->rank) {
    text_add(out, "%s", number(t->element, rng_below(&g->r, 7) - 3));
    return;
  }
  text_add(out, "[");
  for (int64_t i = 0; i < t->shape[d]; i++) {
    text_add(out, i ? ", " : "");
    print_nested(g, out, t, d + 1);
  }
  text_add(out, "]");
}

bool gen_constant(gen *g) {
  type t = random_type(g, 0, 3);
  bool splat = rng_chance(&g->r, 30) || type_elements(&t) > 64;
  text *out = &g->op->body;
  text_add(out, "  %%v%d = arith.constant dense<",
           add_result(g, &t, splat ? (range){2, 2, true, 2} : (range){-3, 3, true, 3}));
  if (splat)
    text_add(out, "%s", number(t.element, 2));
  else
    print_nested(g, out, &t, 0);
  text_add(out, "> : %s\n", type_text(&t));
  return true;
}

/* Appends the reassociation of `large` into `n` groups of sizes[i] dimensions. */
static void print_groups(text *out, int n, const int *sizes) {
  text_add(out, "[");
  for (int i = 0, d = 0; i < n; i++) {
    text_add(out, i ? ", [" : "[");
    for (int k = 0; k < sizes[i]; k++)
      text_add(out, "%s%d", k ? ", " : "", d++);
    text_add(out, "]");
  }
  text_add(out, "]");
}

bool gen_expand(gen *g) {
  int v = use(g, pick(g, 1, 3)), groups[MAX_DIMS];
  type in = g->p->values[v].type, t = {.element = in.element};
  int which = rng_below(&g->r, in.rank);
  for (int d = 0; d < in.rank; d++) {
    groups[d] = 1;
    if (d == which) {
      int64_t n = in.shape[d];
      int64_t first = 1 + rng_below(&g->r, (int)n);
      while (n % first)
        first--;
      t.shape[t.rank++] = first;
      t.shape[t.rank++] = n / first;
      groups[d] = 2;
    } else {
      t.shape[t.rank++] = in.shape[d];
    }
  }
  text *out = &g->op->body;
  text_add(out, "  %%v%d = tensor.expand_shape %%v%d ", add_result(g, &t, range_of(g, v)), v);
  print_groups(out, in.rank, groups);
  text_add(out, " output_shape ");
  print_list(out, t.rank, t.shape);
  text_add(out, " : %s into %s\n", type_text(&in), type_text(&t));
  return true;
}

bool gen_collapse(gen *g) {
  int v = use(g, pick(g, 2, 4)), groups[MAX_DIMS], n = 0;
  type in = g->p->values[v].type, t = {.element = in.element};
  int which = rng_below(&g->r, in.rank - 1);
  for (int d = 0; d < in.rank; d++) {
    groups[n] = 1;
    t.shape[t.rank] = in.shape[d];
    if (d == which) {
      t.shape[t.rank] *= in.shape[++d];
      groups[n] = 2;
    }
    t.rank++;
    n++;
  }
  text *out = &g->op->body;
  text_add(out, "  %%v%d = tensor.collapse_shape %%v%d ", add_result(g, &t, range_of(g, v)), v);
  print_groups(out, n, groups);
  text_add(out, " : %s into %s\n", type_text(&in), type_text(&t));
  return true;
}

typedef struct slice {
  int64_t offsets[MAX_DIMS], sizes[MAX_DIMS], strides[MAX_DIMS];
  unsigned dynamic; /* bit d: the offset is dynamic */
} slice;

static slice random_slice(gen *g, const type *t) {
  slice s = {.dynamic = 0};
  for (int d = 0; d < t->rank; d++) {
    s.offsets[d] = 0, s.sizes[d] = t->shape[d], s.strides[d] = 1;
    if (rng_chance(&g->r, 50))
      continue;
    s.sizes[d] = 1 + rng_below(&g->r, (int)t->shape[d]);
    if (s.sizes[d] * 2 <= t->shape[d] && rng_chance(&g->r, 25))
      s.strides[d] = 2;
    s.offsets[d] = rng_below(&g->r, (int)(t->shape[d] - (s.sizes[d] - 1) * s.strides[d]));
    if (rng_chance(&g->r, 35) && s.strides[d] == 1 && g->op->n_uses < 4)
      s.dynamic |= 1u << d;
  }
  return s;
}

/* Appends an offset read from a tensor of the program: one that is in range by construction, or any
 * number, clamped as exporters do. */
static void print_offset(gen *g, const type *t, const slice *s, int d) {
  type scalar_type = {.element = I32};
  double last = (double)(t->shape[d] - s->sizes[d]);
  bool clamp = rng_chance(&g->r, 50);
  int v = use(g, clamp ? pick_typed(g, &scalar_type) : new_argument(g, &scalar_type, 0, last)),
      id = g->id;
  text *out = &g->op->body;
  text_add(out, "  %%h%d_o%d = tensor.extract %%v%d[] : tensor<i32>\n", id, d, v);
  if (clamp) {
    text_add(out, "  %%h%d_z%d = arith.constant 0 : i32\n  %%h%d_n%d = arith.constant %.0f : i32\n",
             id, d, id, d, last);
    text_add(out, "  %%h%d_l%d = arith.maxsi %%h%d_o%d, %%h%d_z%d : i32\n", id, d, id, d, id, d);
    text_add(out, "  %%h%d_c%d = arith.minsi %%h%d_l%d, %%h%d_n%d : i32\n", id, d, id, d, id, d);
  }
  text_add(out, "  %%h%d_at%d = arith.index_cast %%h%d_%c%d : i32 to index\n", id, d, id,
           clamp ? 'c' : 'o', d);
}

static void print_offsets(gen *g, const type *t, const slice *s) {
  for (int d = 0; d < t->rank; d++)
    if (s->dynamic >> d & 1)
      print_offset(g, t, s, d);
}

static void print_slice(gen *g, int rank, const slice *s) {
  text *out = &g->op->body;
  text_add(out, "[");
  for (int d = 0; d < rank; d++) {
    text_add(out, d ? ", " : "");
    if (s->dynamic >> d & 1)
      text_add(out, "%%h%d_at%d", g->id, d);
    else
      text_add(out, "%lld", (long long)s->offsets[d]);
  }
  text_add(out, "] ");
  print_list(out, rank, s->sizes);
  text_add(out, " ");
  print_list(out, rank, s->strides);
}

bool gen_extract_slice(gen *g) {
  int v = use(g, pick(g, 1, 4));
  type in = g->p->values[v].type, t = {.element = in.element};
  slice s = random_slice(g, &in);
  print_offsets(g, &in, &s);
  for (int d = 0; d < in.rank; d++)
    if (s.sizes[d] != 1 || !rng_chance(&g->r, 40)) /* a dimension of size 1 may be dropped */
      t.shape[t.rank++] = s.sizes[d];
  text_add(&g->op->body, "  %%v%d = tensor.extract_slice %%v%d", add_result(g, &t, range_of(g, v)),
           v);
  print_slice(g, in.rank, &s);
  text_add(&g->op->body, " : %s to %s\n", type_text(&in), type_text(&t));
  return true;
}

bool gen_insert_slice(gen *g) {
  int v = use(g, pick(g, 1, 4));
  type in = g->p->values[v].type, t = in;
  slice s = random_slice(g, &in);
  memcpy(t.shape, s.sizes, sizeof t.shape);
  int w = use(g, pick_typed(g, &t));
  print_offsets(g, &in, &s);
  text_add(&g->op->body, "  %%v%d = tensor.insert_slice %%v%d into %%v%d",
           add_result(g, &in, range_join(range_of(g, v), range_of(g, w))), w, v);
  print_slice(g, in.rank, &s);
  text_add(&g->op->body, " : %s into %s\n", type_text(&t), type_text(&in));
  return true;
}

bool gen_concat(gen *g) {
  int n = 2 + rng_below(&g->r, 2), parts[3];
  parts[0] = use(g, pick(g, 1, 3));
  type t = g->p->values[parts[0]].type, result = t;
  int along = rng_below(&g->r, t.rank);
  range r = range_of(g, parts[0]);
  for (int i = 1; i < n; i++) {
    type part = t;
    if (rng_chance(&g->r, 40))
      part.shape[along] = random_size(g);
    parts[i] = use(g, pick_typed(g, &part));
    r = range_join(r, range_of(g, parts[i]));
    result.shape[along] += part.shape[along];
  }
  if (!fits(&result))
    return false;
  text *out = &g->op->body;
  text_add(out, "  %%v%d = tensor.concat dim(%d) ", add_result(g, &result, r), along);
  for (int i = 0; i < n; i++)
    text_add(out, "%s%%v%d", i ? ", " : "", parts[i]);
  for (int i = 0; i < n; i++)
    text_add(out, "%s%s", i ? ", " : " : (", type_text(&g->p->values[parts[i]].type));
  text_add(out, ") -> %s\n", type_text(&result));
  return true;
}

void print_pad(gen *g, const char *result, const char *operand, const type *in, const int64_t *low,
               const int64_t *high, double x, const type *t) {
  const char *e = element_names[t->element];
  text *out = &g->op->body;
  text_add(out, "  %%h%d_p = arith.constant %s : %s\n", g->id, number(t->element, x), e);
  text_add(out, "  %s = tensor.pad %s low", result, operand);
  print_list(out, in->rank, low);
  text_add(out, " high");
  print_list(out, in->rank, high);
  text_add(out, " {\n  ^bb0(");
  for (int d = 0; d < in->rank; d++)
    text_add(out, "%s%%i%d: index", d ? ", " : "", d);
  text_add(out, "):\n    tensor.yield %%h%d_p : %s\n  } : %s to %s\n", g->id, e, type_text(in),
           type_text(t));
}

bool gen_pad(gen *g) {
  int v = use(g, pick(g, 1, 3));
  type in = g->p->values[v].type, t = in;
  int64_t low[MAX_DIMS] = {0}, high[MAX_DIMS] = {0};
  char operand[MAX_NAME], result[MAX_NAME];
  for (int d = 0; d < in.rank; d++)
    if (rng_chance(&g->r, 50)) {
      low[d] = rng_below(&g->r, 3), high[d] = rng_below(&g->r, 3);
      t.shape[d] += low[d] + high[d];
    }
  if (!fits(&t))
    return false;
  /* zero padding, so that partial sums can pass through */
  double x = rng_chance(&g->r, 50) ? 2 : 0;
  snprintf(operand, sizeof operand, "%%v%d", v);
  snprintf(result, sizeof result, "%%v%d",
           add_result(g, &t, range_join(range_of(g, v), (range){x, x, true, x})));
  print_pad(g, result, operand, &in, low, high, x, &t);
  return true;
}

/* Reads one element at constant indices and broadcasts it, or writes it into another tensor. */
bool gen_scalar(gen *g) {
  int v = use(g, pick(g, 0, 3));
  type in = g->p->values[v].type, t = in;
  bool insert = rng_chance(&g->r, 40);
  if (!insert) {
    t = random_type(g, 0, 2);
    t.element = in.element;
  }
  text *out = &g->op->body;
  int64_t at[MAX_DIMS];
  for (int d = 0; d < in.rank; d++) {
    at[d] = rng_below(&g->r, (int)in.shape[d]);
    text_add(out, "  %%h%d_i%d = arith.constant %lld : index\n", g->id, d, (long long)at[d]);
  }
  text_add(out, "  %%h%d_x = tensor.extract %%v%d[", g->id, v);
  for (int d = 0; d < in.rank; d++)
    text_add(out, "%s%%h%d_i%d", d ? ", " : "", g->id, d);
  text_add(out, "] : %s\n", type_text(&in));
  if (insert) {
    int w = use(g, pick_typed(g, &t));
    text_add(out, "  %%v%d = tensor.insert %%h%d_x into %%v%d[",
             add_result(g, &t, range_join(range_of(g, v), range_of(g, w))), g->id, w);
    for (int d = 0; d < in.rank; d++)
      text_add(out, "%s%%h%d_i%d", d ? ", " : "", g->id, d);
    text_add(out, "] : %s\n", type_text(&t));
  } else if (rng_chance(&g->r, 50) || t.rank == 0) {
    text_add(out, "  %%v%d = tensor.splat %%h%d_x : %s\n", add_result(g, &t, range_of(g, v)), g->id,
             type_text(&t));
  } else {
    t.rank = 1, t.shape[0] = 2;
    text_add(out, "  %%v%d = tensor.from_elements %%h%d_x, %%h%d_x : %s\n",
             add_result(g, &t, range_of(g, v)), g->id, g->id, type_text(&t));
  }
  return true;
}
