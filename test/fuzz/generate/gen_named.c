/* Generates named matmuls, convolutions and poolings of linalg. A letter stands for each loop. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

/* A named op. A dimension H of the input is read at stride * h + dilation * x, W at stride * w +
 * dilation * y; any other letter is the loop itself. */
typedef struct named {
  const char *op, *input, *kernel, *output;
  enum { PRODUCT, POOL_SUM, POOL_MAX, POOL_MIN } what;
  bool has_strides;
} named;

static const named products[] = {
    {"matmul", "mk", "kn", "mn", PRODUCT, false},
    {"matmul", "mk", "kn", "mn", PRODUCT, false},
    {"batch_matmul", "bmk", "bkn", "bmn", PRODUCT, false},
    {"batch_reduce_matmul", "bmk", "bkn", "mn", PRODUCT, false},
    {"matvec", "mk", "k", "m", PRODUCT, false},
    {"vecmat", "k", "kn", "n", PRODUCT, false},
    {"batch_matvec", "bmk", "bk", "bm", PRODUCT, false},
    {"batch_vecmat", "bk", "bkn", "bn", PRODUCT, false},
    {"dot", "k", "k", "", PRODUCT, false},
};

static const named convolutions[] = {
    {"conv_1d", "H", "x", "h", PRODUCT, false},
    {"conv_2d", "HW", "xy", "hw", PRODUCT, false},
    {"conv_1d_nwc_wcf", "nHc", "xcf", "nhf", PRODUCT, true},
    {"conv_1d_ncw_fcw", "ncH", "fcx", "nfh", PRODUCT, true},
    {"conv_2d_nhwc_hwcf", "nHWc", "xycf", "nhwf", PRODUCT, true},
    {"conv_2d_nhwc_fhwc", "nHWc", "fxyc", "nhwf", PRODUCT, true},
    {"conv_2d_nchw_fchw", "ncHW", "fcxy", "nfhw", PRODUCT, true},
    {"depthwise_conv_1d_nwc_wc", "nHc", "xc", "nhc", PRODUCT, true},
    {"depthwise_conv_2d_nhwc_hwc", "nHWc", "xyc", "nhwc", PRODUCT, true},
    {"depthwise_conv_2d_nchw_chw", "ncHW", "cxy", "nchw", PRODUCT, true},
};

static const named poolings[] = {
    {"pooling_nwc_sum", "nHc", "x", "nhc", POOL_SUM, true},
    {"pooling_nwc_max", "nHc", "x", "nhc", POOL_MAX, true},
    {"pooling_ncw_sum", "ncH", "x", "nch", POOL_SUM, true},
    {"pooling_ncw_max", "ncH", "x", "nch", POOL_MAX, true},
    {"pooling_nhwc_sum", "nHWc", "xy", "nhwc", POOL_SUM, true},
    {"pooling_nhwc_max", "nHWc", "xy", "nhwc", POOL_MAX, true},
    {"pooling_nhwc_min", "nHWc", "xy", "nhwc", POOL_MIN, true},
    {"pooling_nchw_sum", "ncHW", "xy", "nchw", POOL_SUM, true},
    {"pooling_nchw_max", "ncHW", "xy", "nchw", POOL_MAX, true},
};

typedef struct loops {
  int64_t sizes[128]; /* by letter; 0: not known yet */
  int64_t strides[2], dilations[2];
} loops;

/* Draws stride and dilation of each window so that the dimension of size n has at least one point;
 * false if there are none. */
static bool draw_window(gen *g, const named *row, int which, int64_t n, loops *l) {
  int64_t k = 1 + rng_below(&g->r, 3), stride = 1, dilation = 1;
  if (row->has_strides) {
    stride = 1 + rng_chance(&g->r, 40) + rng_chance(&g->r, 10);
    dilation = 1 + rng_chance(&g->r, 25);
  }
  int64_t last = n - 1 - (k - 1) * dilation;
  l->strides[which] = stride, l->dilations[which] = dilation;
  l->sizes[which ? 'y' : 'x'] = k;
  l->sizes[which ? 'w' : 'h'] = last < 0 ? 0 : last / stride + 1;
  return last >= 0;
}

/* Draws the loop sizes: those of the input come from its shape; the others are random, and small if
 * the product is large already. */
static bool draw_loops(gen *g, const named *row, const type *input, loops *l) {
  memset(l, 0, sizeof *l);
  for (int d = 0; d < input->rank; d++) {
    char c = row->input[d];
    if (c == 'H' || c == 'W') {
      if (!draw_window(g, row, c == 'W', input->shape[d], l))
        return false;
    } else {
      l->sizes[(int)c] = input->shape[d];
    }
  }
  for (const char *c = row->kernel; *c; c++)
    if (l->sizes[(int)*c] == 0)
      l->sizes[(int)*c] = random_size(g);
  return true;
}

static type type_of(const loops *l, element_kind e, const char *letters) {
  type t = {.element = e, .rank = (int)strlen(letters)};
  for (int d = 0; d < t.rank; d++)
    t.shape[d] = l->sizes[(int)letters[d]];
  return t;
}

/* Returns the number of kernel points that one output element combines. */
static int64_t combined(const named *row, const loops *l) {
  int64_t n = 1;
  for (int c = 0; c < 128; c++)
    if (l->sizes[c] && !strchr(row->output, c))
      n *= l->sizes[c];
  return n;
}

static void print_pair(text *out, const char *name, int n, const int64_t *values) {
  text_add(out, "%s = dense<", name);
  if (n == 2)
    text_add(out, "[%lld, %lld]", (long long)values[0], (long long)values[1]);
  else
    text_add(out, "%lld", (long long)values[0]);
  text_add(out, "> : tensor<%dxi64>", n);
}

/* Often pads the dimensions that the window moves over, and sometimes others. `name`, `in` and `r`
 * become those of the padded value. */
static void draw_padding(gen *g, const named *row, char *name, type *in, range *r) {
  int64_t low[MAX_DIMS] = {0}, high[MAX_DIMS] = {0};
  type t = *in;
  bool any = strpbrk(row->input, "HW") && rng_chance(&g->r, 50);
  double x = rng_chance(&g->r, 30) ? 2 : 0;
  for (int d = 0; d < in->rank && any; d++)
    if (strchr("HW", row->input[d]) || rng_chance(&g->r, 10)) {
      low[d] = rng_below(&g->r, 4), high[d] = rng_below(&g->r, 4);
      t.shape[d] += low[d] + high[d];
    }
  if (!any || !fits(&t))
    return;
  char padded[MAX_NAME];
  snprintf(padded, sizeof padded, "%%h%d_padded", g->id);
  print_pad(g, padded, name, in, low, high, x, &t);
  memcpy(name, padded, sizeof padded);
  *in = t;
  *r = range_join(*r, (range){x, x, true, x});
}

static bool print_named(gen *g, const named *row) {
  int rank = (int)strlen(row->input), v = use(g, pick(g, rank, rank));
  loops l;
  if (v < 0)
    return false;
  char read[MAX_NAME];
  type in = g->p->values[v].type;
  range of_read = range_of(g, v);
  snprintf(read, sizeof read, "%%v%d", v);
  draw_padding(g, row, read, &in, &of_read);
  if (!draw_loops(g, row, &in, &l))
    return false;
  type kernel = type_of(&l, in.element, row->kernel), result = type_of(&l, in.element, row->output);
  int64_t count = combined(row, &l);
  if (!fits(&kernel) || !fits(&result) || count * type_elements(&result) > 60000)
    return false;
  range start, r;
  const char *kernel_name, *init;
  char name[MAX_NAME];
  if (row->what == PRODUCT) {
    int w = use(g, pick_typed(g, &kernel));
    if (w < 0)
      return false;
    snprintf(name, sizeof name, "%%v%d", w);
    kernel_name = name;
    init = sum_init(g, &result, &start);
    if (!contract_range(in.element, of_read, range_of(g, w), count, start, &r))
      return false;
  } else { /* only the shape of the window matters */
    static const int kinds[] = {
        [POOL_SUM] = COMBINE_SUM, [POOL_MAX] = COMBINE_MAX, [POOL_MIN] = COMBINE_MIN};
    const combiner *c = combiner_of(in.element, kinds[row->what]);
    kernel_name = make_init(g, &kernel, "window", NULL);
    init = combiner_init(g, c, &result, "init", &start);
    if (!combine_range(c, in.element, count, of_read, start, &r))
      return false;
  }
  text *out = &g->op->body;
  text_add(out, "  %%v%d = linalg.%s ", add_result(g, &result, r), row->op);
  if (row->has_strides) {
    int n = strchr(row->input, 'W') ? 2 : 1;
    text_add(out, "{");
    print_pair(out, "dilations", n, l.dilations);
    print_pair(out, ", strides", n, l.strides);
    text_add(out, "} ");
  }
  text_add(out, "ins(%s, %s : %s, %s) outs(%s : %s) -> %s\n", read, kernel_name, type_text(&in),
           type_text(&kernel), init, type_text(&result), type_text(&result));
  return true;
}

bool gen_product(gen *g) { return print_named(g, products + rng_below(&g->r, COUNT(products))); }

bool gen_convolution(gen *g) {
  return print_named(g, convolutions + rng_below(&g->r, COUNT(convolutions)));
}

bool gen_pooling(gen *g) { return print_named(g, poolings + rng_below(&g->r, COUNT(poolings))); }

/* Reads every dimension at shifted, strided or reversed positions, sometimes plainly, together with
 * another operand elementwise. */
bool gen_stencil(gen *g) {
  int v = use(g, pick(g, 1, 3));
  type in = g->p->values[v].type, t = in;
  text map = {0}, body = {0};
  for (int d = 0; d < in.rank; d++) {
    int64_t n = in.shape[d], offset = rng_below(&g->r, n < 3 ? (int)n : 3),
            stride = 1 + rng_chance(&g->r, 30);
    text_add(&map, d ? ", " : "");
    if (rng_chance(&g->r, 25)) {
      text_add(&map, "-d%d + %lld", d, (long long)(n - 1));
    } else if (rng_chance(&g->r, 30)) {
      text_add(&map, "d%d", d);
    } else {
      t.shape[d] = (n - 1 - offset) / stride + 1;
      text_add(&map, "d%d * %lld + %lld", d, (long long)stride, (long long)offset);
    }
  }
  int w = use(g, pick_typed(g, &t));
  scalar operands[] = {{"%a", range_of(g, v)}, {"%b", range_of(g, w)}}, result;
  const char *e = element_names[t.element], *init = make_init(g, &t, "init", NULL);
  bool ok = random_expression(g, &body, t.element, e, "i1", 2, operands, 2, NULL, &result);
  if (ok) {
    static const int identity[MAX_DIMS] = {0, 1, 2, 3, 4};
    text *out = &g->op->body;
    text_add(out, "  %%v%d = linalg.generic {indexing_maps = [affine_map<(",
             add_result(g, &t, result.r));
    for (int d = 0; d < t.rank; d++)
      text_add(out, "%sd%d", d ? ", " : "", d);
    text_add(out, ") -> (%s)>, ", map.chars);
    print_map(out, t.rank, t.rank, identity);
    text_add(out, ", ");
    print_map(out, t.rank, t.rank, identity);
    text_add(out, "], ");
    print_iterators(out, t.rank, 0);
    text_add(out,
             "} ins(%%v%d, %%v%d : %s, %s) outs(%s : %s) {\n  ^bb0(%%a: %s, %%b: %s, %%o: %s):\n%s",
             v, w, type_text(&in), type_text(&t), init, type_text(&t), e, e, e, body.chars);
    text_add(out, "    linalg.yield %s : %s\n  } -> %s\n", result.name, e, type_text(&t));
  }
  text_clear(&map);
  text_clear(&body);
  return ok;
}
