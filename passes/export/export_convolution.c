/* Contractions with windows, as stablehlo.convolution: one operand, the image, is read at
 * stride * (a loop of the result) + dilation * (a loop of the kernel). */
#include "passes/export/export_window.h"

#include <mlir-c/AffineMap.h>

/* What a dimension is; spatial dimension i is SPATIAL + i. */
enum { BATCH, FEATURE, OUT, GROUP, SPATIAL };
enum { MAX_DIMS = TP_MAX_RANK };

typedef struct convolution {
  int image, kernel;   /* operands */
  int loops[SPATIAL];  /* of batch, input feature, output feature and group; -1: none */
  tp_windows w;        /* of the dimensions of the image */
  int roles[MAX_DIMS]; /* of the dimensions of the image */
  const tp_window *spatial[MAX_DIMS];
  int n_spatial;
  bool groups_batch; /* the groups split the batch, else the features */
} convolution;

/* A value, or the result, by what its dimensions are. */
typedef struct arranged {
  MlirValue value;
  int rank, roles[MAX_DIMS];
} arranged;

/* ---- reading ---- */

/* Finds what a dimension of the image is. One without a loop, and a second batch or input feature,
 * is spatial. */
static bool read_dim(const tp_nest *n, convolution *c, int d, uint32_t kernel) {
  const tp_window *w = &c->w.dims[d];
  bool has_point = w->point >= 0, has_element = w->element >= 0;
  bool point_in_kernel = has_point && (kernel >> w->point & 1);
  int loop = has_point ? w->point : w->element;
  int role = SPATIAL;
  if (has_element && (!(kernel >> w->element & 1) || point_in_kernel))
    return false;
  if (has_point != has_element) {
    int64_t step = has_point ? w->stride : w->dilation;
    int64_t size =
        mlirShapedTypeGetDimSize(mlirValueGetType(mlirOperationGetOperand(n->op, c->image)), d);
    role = has_element ? FEATURE : point_in_kernel ? GROUP : BATCH;
    if (w->at != 0 || step != 1 || n->sizes[loop] != size || c->loops[role] >= 0)
      role = SPATIAL;
  }
  if (role == SPATIAL && point_in_kernel)
    return false;
  c->roles[d] = role;
  if (role == SPATIAL) {
    c->roles[d] += c->n_spatial;
    c->spatial[c->n_spatial++] = w;
  } else {
    c->loops[role] = loop;
  }
  return true;
}

/* Matches the op with this operand as image. */
static bool match(const tp_nest *n, int image, convolution *c) {
  *c = (convolution){.image = image, .kernel = 1 - image, .loops = {-1, -1, -1, -1}};
  uint32_t of_image = tp__nest_loops_of(n, n->maps[image]);
  uint32_t kernel = tp__nest_loops_of(n, n->maps[1 - image]);
  uint32_t result = tp__nest_loops_of(n, n->maps[2]);
  bool has_window = false;
  if (!tp__windows_read(n, image, result, &c->w))
    return false;
  for (int d = 0; d < c->w.rank; d++) {
    if (!read_dim(n, c, d, kernel))
      return false;
    has_window |= c->w.dims[d].point >= 0 && c->w.dims[d].element >= 0;
    c->groups_batch |= d > 0 && c->roles[d - 1] == GROUP && c->roles[d] == BATCH;
  }
  for (int l = 0; l < n->n_loops; l++) {
    if (of_image >> l & 1)
      continue;
    if (!(kernel >> l & 1) || !(result >> l & 1) || c->loops[OUT] >= 0)
      return false; /* a second output feature, or a sum over the kernel alone */
    c->loops[OUT] = l;
  }
  c->groups_batch &= c->loops[FEATURE] >= 0;
  return has_window && c->n_spatial + 3 <= MAX_DIMS;
}

static int role_of_loop(const convolution *c, int64_t loop) {
  for (int role = 0; role < SPATIAL; role++)
    if (c->loops[role] == loop)
      return role;
  for (int i = 0; i < c->n_spatial; i++)
    if (c->spatial[i]->point == loop || c->spatial[i]->element == loop)
      return SPATIAL + i;
  return -1;
}

/* ---- operands ---- */

static int find_role(const arranged *a, int role) {
  for (int d = 0; d < a->rank; d++)
    if (a->roles[d] == role)
      return d;
  return -1;
}

/* Adds a dimension of size 1 at the end if there is none for this role. */
static void need(tp_export *x, arranged *a, int role) {
  int64_t sizes[MAX_DIMS];
  int rank = 0;
  if (find_role(a, role) >= 0)
    return;
  (void)tp__static_tensor(mlirValueGetType(a->value), &rank, sizes);
  sizes[rank] = 1;
  a->roles[a->rank++] = role;
  a->value = tp__export_reshape(x, a->value, a->rank, sizes);
}

/* Makes the dimension of the groups and that of `role` one, which is of `role`. */
static void merge_groups(tp_export *x, arranged *a, int role) {
  int64_t sizes[MAX_DIMS], permutation[MAX_DIMS];
  int group = find_role(a, GROUP), to = find_role(a, role), rank = 0, n = 0, roles[MAX_DIMS];
  if (group < 0)
    return;
  if (to < 0) {
    a->roles[group] = role;
    return;
  }
  for (int d = 0; d < a->rank; d++) {
    if (d == to)
      permutation[n++] = group;
    if (d != group)
      permutation[n++] = d;
  }
  a->value = tp__export_transpose(x, a->value, permutation);
  (void)tp__static_tensor(mlirValueGetType(a->value), &rank, sizes);
  n = 0;
  for (int d = 0; d < rank; d++) {
    if (permutation[d] == group) {
      sizes[d + 1] *= sizes[d];
      continue;
    }
    sizes[n] = sizes[d];
    roles[n++] = a->roles[permutation[d]];
  }
  a->rank = n;
  memcpy(a->roles, roles, (size_t)n * sizeof *roles);
  a->value = tp__export_reshape(x, a->value, n, sizes);
}

static arranged arrange_image(tp_export *x, const tp_nest *n, convolution *c) {
  arranged a = {tp__windows_operand(x, n, c->image, TP_SUM, &c->w), c->w.rank, {0}};
  memcpy(a.roles, c->roles, sizeof a.roles);
  merge_groups(x, &a, c->groups_batch ? BATCH : FEATURE);
  need(x, &a, BATCH);
  need(x, &a, FEATURE);
  return a;
}

static arranged arrange_kernel(tp_export *x, const tp_nest *n, const convolution *c) {
  arranged a = {n->operands[c->kernel], tp__value_rank(n->operands[c->kernel]), {0}};
  for (int d = 0; d < a.rank; d++)
    a.roles[d] = role_of_loop(c, n->loops[c->kernel][d]);
  merge_groups(x, &a, OUT);
  need(x, &a, FEATURE);
  need(x, &a, OUT);
  for (int i = 0; i < c->n_spatial; i++)
    need(x, &a, SPATIAL + i);
  return a;
}

/* ---- the op ---- */

static void append_dims(tp__string *text, const arranged *a, const char *letters) {
  for (int d = 0; d < a->rank; d++) {
    tp__string_append(text, d ? ", " : "[");
    if (a->roles[d] < SPATIAL)
      tp__string_printf(text, "%c", letters[a->roles[d]]);
    else
      tp__string_printf(text, "%d", a->roles[d] - SPATIAL);
  }
  tp__string_append(text, "]");
}

static MlirAttribute dimension_numbers(tp_export *x, const arranged *image, const arranged *kernel,
                                       const arranged *result) {
  tp__string text = {0};
  tp__string_append(&text, "#stablehlo.conv<");
  append_dims(&text, image, "bf");
  tp__string_append(&text, "x");
  append_dims(&text, kernel, " io");
  tp__string_append(&text, "->");
  append_dims(&text, result, "b f");
  tp__string_append(&text, ">");
  MlirAttribute attr = tp__parse_attr(x->context, text.failed ? "unit" : text.text);
  tp__string_destroy(&text);
  return attr;
}

static MlirNamedAttribute number(tp_export *x, const char *name, int64_t value) {
  return tp__named(x->context, name, tp__attr_i64(x->context, value));
}

static MlirValue build(tp_export *x, const tp_nest *n, const convolution *c, const arranged *image,
                       const arranged *kernel, const arranged *result, MlirType type) {
  int64_t strides[MAX_DIMS], image_dilation[MAX_DIMS], kernel_dilation[MAX_DIMS];
  int64_t groups = c->loops[GROUP] < 0 ? 1 : n->sizes[c->loops[GROUP]];
  for (int i = 0; i < c->n_spatial; i++) {
    strides[i] = c->spatial[i]->stride;
    image_dilation[i] = c->spatial[i]->between + 1;
    kernel_dilation[i] = c->spatial[i]->dilation;
  }
  MlirNamedAttribute attrs[] = {
      number(x, "batch_group_count", c->groups_batch ? groups : 1),
      tp__named(x->context, "dimension_numbers", dimension_numbers(x, image, kernel, result)),
      number(x, "feature_group_count", c->groups_batch ? 1 : groups),
      tp__export_list(x, "lhs_dilation", c->n_spatial, image_dilation),
      tp__windows_padding(x, c->n_spatial, c->spatial),
      tp__export_precision(x, tp__element_type(type)),
      tp__export_list(x, "rhs_dilation", c->n_spatial, kernel_dilation),
      tp__export_list(x, "window_strides", c->n_spatial, strides),
  };
  MlirValue operands[] = {image->value, kernel->value};
  MlirType element = tp__element_type(mlirValueGetType(operands[0]));
  bool same = mlirTypeEqual(element, tp__element_type(mlirValueGetType(operands[1])));
  /* StableHLO wants operands of one element type: convert both to the result's if they differ. */
  for (int i = 0; i < 2 && !same; i++)
    operands[i] = tp__export_convert(x, operands[i], tp__element_type(type));
  return tp__export_build(x, "stablehlo.convolution", type, 2, operands, TP_LEN(attrs), attrs);
}

/* The dimensions of the op's result are those of the nest's result without groups, then those that
 * it lacks; afterwards the output features are split into groups again. */
static MlirValue convolve(tp_export *x, const tp_nest *n, convolution *c, const int64_t *loops,
                          int count, MlirType element) {
  arranged image = arrange_image(x, n, c), kernel = arrange_kernel(x, n, c), result = {0};
  int64_t sizes[MAX_DIMS], split[MAX_DIMS], permutation[MAX_DIMS];
  bool is_grouped = c->loops[GROUP] >= 0;
  int at[SPATIAL + MAX_DIMS] = {0}, n_split = 0;
  for (int d = 0; d < count; d++) {
    int role = role_of_loop(c, loops[d]);
    if (role == GROUP && c->loops[OUT] >= 0)
      continue;
    role = role == GROUP ? OUT : role;
    result.roles[result.rank] = role;
    sizes[result.rank++] = n->sizes[loops[d]];
    if (role == OUT && is_grouped && c->loops[OUT] >= 0) {
      sizes[result.rank - 1] *= n->sizes[c->loops[GROUP]];
      at[GROUP] = n_split;
      split[n_split++] = n->sizes[c->loops[GROUP]];
    }
    at[role == OUT && c->loops[OUT] < 0 ? GROUP : role] = n_split;
    split[n_split++] = n->sizes[loops[d]];
  }
  for (int role = 0; role < SPATIAL + c->n_spatial; role++)
    if (role != FEATURE && role != GROUP && find_role(&result, role) < 0) {
      sizes[result.rank] = 1;
      result.roles[result.rank++] = role;
    }
  MlirType type = tp__export_tensor(element, result.rank, sizes);
  MlirValue value = build(x, n, c, &image, &kernel, &result, type);
  value = tp__export_reshape(x, value, n_split, split);
  for (int d = 0; d < count; d++)
    permutation[d] = at[role_of_loop(c, loops[d])];
  return tp__export_transpose(x, value, permutation);
}

tp_status tp__nest_convolve(tp_export *x, tp_nest *n, bool *done) {
  int64_t loops[TP_NEST_MAX_LOOPS];
  int count;
  convolution c;
  if (!tp__nest_is_contraction(n) || (!match(n, 0, &c) && !match(n, 1, &c)))
    return TP_OK;
  MlirValue old = mlirOperationGetOperand(n->op, 2);
  MlirType element = tp__element_type(mlirValueGetType(old));
  if (mlirTypeIsAComplex(element)) /* XLA has no complex convolution on all platforms */
    return TP_OK;
  *done = true;
  TP_TRY(tp__nest_result_loops(n, 0, loops, &count));
  TP_TRY(tp__nest_flatten(x, n, c.kernel));
  MlirValue value = tp__nest_add_units(x, n, 0, convolve(x, n, &c, loops, count, element));
  if (!tp__is_zero_tensor(old))
    value = tp__export_combine(x, TP_SUM, tp__export_operand(x, n->op, 2), value);
  return tp__export_map(x, n->op, mlirOperationGetResult(n->op, 0), value);
}
