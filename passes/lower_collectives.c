/* Communication on tensors -> calls of tprt_abi_collective: shard.* collectives and permutes.
 *
 * The receive buffer is a memref.alloc of its own that becomes the result by to_tensor restrict; the send buffer is what
 * bufferization gives for the operand (to_buffer read_only directly before the call, so that the analysis sees the read where it
 * happens). */
#include "passes/lower.h"

#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* What an op of the shard dialect becomes: a site of `kind` (0: none), then the device's own slice if `slices`. */
typedef struct collective_row {
  const char *name;
  tprt_site_kind kind;
  bool reduces, rooted, slices;
  const char *dim, *split; /* attributes */
} collective_row;

static const collective_row rows[] = {
    {.name = "shard.all_reduce", .kind = TPRT_SITE_ALL_REDUCE, .reduces = true},
    /* The result is undefined off the root, so that the all_... form is a refinement. */
    {.name = "shard.reduce", .kind = TPRT_SITE_ALL_REDUCE, .reduces = true},
    {.name = "shard.all_gather", .kind = TPRT_SITE_ALL_GATHER, .dim = "gather_axis"},
    {.name = "shard.gather", .kind = TPRT_SITE_ALL_GATHER, .dim = "gather_axis"},
    {.name = "shard.reduce_scatter", .kind = TPRT_SITE_REDUCE_SCATTER, .reduces = true, .dim = "scatter_axis"},
    {.name = "shard.all_to_all", .kind = TPRT_SITE_ALL_TO_ALL, .dim = "concat_axis", .split = "split_axis"},
    {.name = "shard.broadcast", .kind = TPRT_SITE_BROADCAST, .rooted = true},
    {.name = "shard.scatter", .kind = TPRT_SITE_BROADCAST, .rooted = true, .slices = true, .dim = "scatter_axis"},
    {.name = "shard.all_slice", .slices = true, .dim = "slice_axis"},
};

typedef struct group {
  int n, axes[TP_MAX_AXES];
  int64_t size;
} group;

static tp_status read_group(tp__lowering *l, MlirOperation op, group *g) {
  tp_status status = tp__read_grid_axes(op, &l->mesh, &g->n, g->axes);
  g->size = 1;
  for (int i = 0; i < g->n && status == TP_OK; i++)
    g->size *= l->mesh.axes[g->axes[i]].size;
  return status;
}

/* ---- reductions ---- */

static void keep_text(MlirStringRef part, void *data) {
  char *text = data;
  size_t n = strlen(text);
  snprintf(text + n, 128 - n, "%.*s", (int)part.length, part.data);
}

/* Upstream's reduction attribute prints as #shard<partial max>. */
static bool read_upstream_reduction(MlirAttribute attr, tp_combiner *combiner) {
  static const struct {
    const char *name;
    tp_combiner combiner;
  } names[] = {{"sum", TP_SUM},         {"max", TP_MAX},         {"min", TP_MIN},       {"product", TP_PRODUCT},
               {"average", TP_AVERAGE}, {"bitwise_and", TP_AND}, {"bitwise_or", TP_OR}, {"bitwise_xor", TP_XOR}};
  char text[128] = "";
  mlirAttributePrint(attr, keep_text, text);
  const char *start = strstr(text, "partial ");
  for (int i = 0; start && i < TP_LEN(names); i++) {
    size_t n = strlen(names[i].name);
    if (strncmp(start + 8, names[i].name, n) == 0 && (start[8 + n] == '>' || start[8 + n] == 0)) {
      *combiner = names[i].combiner;
      return true;
    }
  }
  return false;
}

static tp_status read_combiner(MlirOperation op, tp_combiner *combiner) {
  char name[32];
  MlirAttribute ours = tp__get(op, "tp.combiner"), theirs = tp__inherent(op, "reduction");
  if (!mlirAttributeIsNull(ours)) {
    if (mlirAttributeIsAString(ours) && tp__ref_copy(mlirStringAttrGetValue(ours), name, sizeof name) &&
        tp_combiner_parse(name, combiner))
      return TP_OK;
    return tp__error(op, TP_INVALID_ARGUMENT, "tp.combiner is not the name of a combiner, such as \"sum\" or \"maxnumf\"");
  }
  *combiner = TP_SUM; /* upstream's default */
  if (!mlirAttributeIsNull(theirs) && !read_upstream_reduction(theirs, combiner))
    return tp__error(op, TP_UNSUPPORTED,
                     "a generic reduction has no meaning for the runtime; use one of sum, product, "
                     "max, min, average, bitwise_and, bitwise_or, bitwise_xor");
  return TP_OK;
}

/* ---- building the call ---- */

static tp_status begin_site(MlirOperation op, tprt_site_kind kind, const group *g, MlirValue input, int64_t *site) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  memset(site, 0, TPRT_SITE_WORDS * sizeof *site);
  if (!tp__static_tensor(mlirValueGetType(input), &rank, shape))
    return tp__error(op, TP_UNSUPPORTED, "communication needs a ranked tensor of static shape and at most %d dimensions",
                     TP_MAX_RANK);
  tprt_dtype dtype = tp__runtime_dtype(tp__element_type(mlirValueGetType(input)));
  if (dtype == 0)
    return tp__error(op, TP_UNSUPPORTED,
                     "the runtime has no communication for this element type; it knows f16, bf16, "
                     "f32, f64, i1, i8, i16, i32, i64 and index");
  site[0] = kind;
  site[1] = dtype;
  site[3] = g->n;
  for (int i = 0; i < g->n; i++)
    site[4 + i] = g->axes[i];
  site[12] = rank;
  for (int d = 0; d < rank; d++)
    site[13 + d] = shape[d];
  return TP_OK;
}

static MlirValue emit_site(tp__lowering *l, MlirOperation op, const int64_t *site, int n_extra, const int64_t *extra,
                           MlirValue input, MlirType result) {
  int rank;
  int64_t send_shape[TP_MAX_RANK], shape[TP_MAX_RANK];
  MlirType tensor = mlirValueGetType(input);
  tp__static_tensor(tensor, &rank, send_shape);
  MlirType element = tp__element_type(tensor);
  MlirType send_type = mlirMemRefTypeContiguousGet(element, rank, send_shape, (MlirAttribute){NULL});
  tp__static_tensor(result, &rank, shape);
  MlirType recv_type = mlirMemRefTypeContiguousGet(element, rank, shape, (MlirAttribute){NULL});

  MlirAttribute unit = mlirUnitAttrGet(l->context);
  MlirNamedAttribute segments =
      tp__named(l->context, "operandSegmentSizes", mlirDenseI32ArrayGet(l->context, 2, (const int32_t[]){0, 0}));
  MlirValue recv = mlirOperationGetResult(tp__build(op, "memref.alloc", 0, NULL, 1, &recv_type, 1, &segments), 0);
  MlirNamedAttribute read_only = tp__named(l->context, "read_only", unit);
  MlirValue send = mlirOperationGetResult(tp__build(op, "bufferization.to_buffer", 1, &input, 1, &send_type, 1, &read_only), 0);
  int number = tp__lowering_site(l, site, n_extra, extra);
  MlirValue operands[] = {l->ctx, tp__build_int(op, l->i32, number), tp__build_pointer(l, op, send),
                          tp__build_pointer(l, op, recv)};
  tp__build_call(l, op, "tprt_abi_collective", TP_LEN(operands), operands, l->i32);
  MlirNamedAttribute flags[] = {tp__named(l->context, "restrict", unit), tp__named(l->context, "writable", unit)};
  return mlirOperationGetResult(tp__build(op, "bufferization.to_tensor", 1, &recv, 1, &result, TP_LEN(flags), flags), 0);
}

/* The slice of `input` along `dim` that belongs to this device: piece number = its rank in the group. */
static MlirValue emit_slice(tp__lowering *l, MlirOperation op, const group *g, MlirValue input, int dim, MlirType result) {
  int rank;
  int64_t shape[TP_MAX_RANK], offsets[TP_MAX_RANK] = {0}, strides[TP_MAX_RANK];
  tp__static_tensor(result, &rank, shape);
  for (int d = 0; d < rank; d++)
    strides[d] = 1;
  offsets[dim] = INT64_MIN; /* ShapedType::kDynamic */
  MlirValue offset = tp__build_group_rank(l, op, g->n, g->axes);
  offset = tp__binary(op, "arith.muli", offset, tp__index_constant(op, shape[dim]));
  MlirNamedAttribute attrs[] = {
      tp__named(l->context, "operandSegmentSizes", mlirDenseI32ArrayGet(l->context, 4, (const int32_t[]){1, 1, 0, 0})),
      tp__named(l->context, "static_offsets", tp__attr_i64s(l->context, rank, offsets)),
      tp__named(l->context, "static_sizes", tp__attr_i64s(l->context, rank, shape)),
      tp__named(l->context, "static_strides", tp__attr_i64s(l->context, rank, strides)),
  };
  MlirValue operands[] = {input, offset};
  return mlirOperationGetResult(tp__build(op, "tensor.extract_slice", 2, operands, 1, &result, TP_LEN(attrs), attrs), 0);
}

/* ---- collectives ---- */

/* The rank inside the group of the root, whose coordinates are given along the op's grid_axes. */
static tp_status read_root(tp__lowering *l, MlirOperation op, const group *g, int64_t *root) {
  int64_t coordinates[TP_MAX_AXES];
  int n = tp__int_list(tp__inherent(op, "root"), TP_MAX_AXES, coordinates);
  *root = 0;
  int axis = 0;
  for (int i = 0; i < n; i++) {
    if (coordinates[i] < 0)
      return tp__error(op, TP_UNSUPPORTED, "the root is known only at run time; give it as a constant");
    if (axis >= g->n)
      return tp__error(op, TP_INVALID_ARGUMENT, "the root has %d coordinates, more than there are axes", n);
    /* One coordinate may belong to a whole axis that is several axes of the refined mesh. */
    int64_t size = l->mesh.axes[g->axes[axis]].size;
    int parent = l->mesh.axes[g->axes[axis++]].parent;
    while (axis < g->n && n < g->n && l->mesh.axes[g->axes[axis]].parent == parent)
      size *= l->mesh.axes[g->axes[axis++]].size;
    if (coordinates[i] >= size)
      return tp__error(op, TP_INVALID_ARGUMENT, "root coordinate %lld is outside its axis of size %lld",
                       (long long)coordinates[i], (long long)size);
    *root = *root * size + coordinates[i];
  }
  return TP_OK;
}

static int64_t int_attr(MlirOperation op, const char *name) {
  return name ? mlirIntegerAttrGetValueInt(tp__inherent(op, name)) : 0;
}

static tp_status lower_row(tp__lowering *l, MlirOperation op, const collective_row *row) {
  group g;
  tp_status status = read_group(l, op, &g);
  if (status != TP_OK)
    return status;
  MlirValue value = mlirOperationGetOperand(op, 0);
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsARankedTensor(result))
    return tp__error(op, TP_UNSUPPORTED, "communication on a memref; it is lowered on tensors, before bufferization");
  int64_t site[TPRT_SITE_WORDS];
  status = begin_site(op, row->kind, &g, value, site);
  if (status == TP_OK && row->rooted)
    status = read_root(l, op, &g, &site[29]);
  if (status == TP_OK && row->reduces) {
    tp_combiner combiner;
    status = read_combiner(op, &combiner);
    if (status == TP_OK)
      site[2] = tp__runtime_reduction(combiner, (tprt_dtype)site[1]);
    if (status == TP_OK && site[2] == 0)
      status =
          tp__error(op, TP_UNSUPPORTED, "reduction \"%s\" is not defined for this element type", tp_combiner_name(combiner));
  }
  if (status != TP_OK)
    return status;
  if (g.size > 1) { /* in a group of one everything is its own result */
    bool only_slices = row->kind == 0;
    site[27] = row->slices ? 0 : int_attr(op, row->dim);
    site[28] = int_attr(op, row->split);
    if (!only_slices)
      value = emit_site(l, op, site, 0, NULL, value, row->slices ? mlirValueGetType(value) : result);
    if (row->slices)
      value = emit_slice(l, op, &g, value, (int)int_attr(op, row->dim), result);
  }
  tp__replace_op(op, value);
  return TP_OK;
}

/* ---- permutes ---- */

enum { MAX_DEVICES = 65536 };

/* `source_of[d]` is the device that d receives from, or -1. The group is the set of axes that some pair moves along. */
static tp_status lower_permutation(tp__lowering *l, MlirOperation op, MlirValue input, const int32_t *source_of) {
  int64_t n_devices = tp_mesh_size(&l->mesh), site[TPRT_SITE_WORDS];
  tp__words pairs = {0};
  bool identity = true;
  group g = {.size = 1};
  bool moves[TP_MAX_AXES] = {false};
  for (int64_t d = 0; d < n_devices; d++) {
    identity &= source_of[d] == d;
    for (int a = 0; a < l->mesh.n_axes && source_of[d] >= 0; a++)
      moves[a] |= tp_mesh_coordinate(&l->mesh, d, a) != tp_mesh_coordinate(&l->mesh, source_of[d], a);
  }
  if (identity) {
    tp__replace_op(op, input);
    return TP_OK;
  }
  for (int a = 0; a < l->mesh.n_axes; a++)
    if (moves[a])
      g.axes[g.n++] = a;
  tp_status status = begin_site(op, TPRT_SITE_PERMUTE, &g, input, site);
  for (int64_t d = 0; d < n_devices && status == TP_OK; d++) {
    if (source_of[d] < 0)
      continue;
    status = tp__grow((void **)&pairs.items, &pairs.capacity, pairs.n + 2, sizeof *pairs.items);
    if (status != TP_OK)
      status = tp__error(op, status, "memory ran out");
    else {
      pairs.items[pairs.n++] = source_of[d];
      pairs.items[pairs.n++] = d;
    }
  }
  if (status == TP_OK) {
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    tp__replace_op(op, emit_site(l, op, site, (int)pairs.n, pairs.items, input, result));
  }
  tp__free(pairs.items);
  return status;
}

static tp_status with_sources(tp__lowering *l, MlirOperation op, int32_t **source_of) {
  int64_t n = tp_mesh_size(&l->mesh);
  if (n > MAX_DEVICES)
    return tp__error(op, TP_UNSUPPORTED, "a permute over %lld devices; at most %d", (long long)n, MAX_DEVICES);
  *source_of = tp__calloc((size_t)n, sizeof **source_of);
  if (!*source_of)
    return tp__error(op, TP_NO_MEMORY, "memory ran out");
  for (int64_t d = 0; d < n; d++)
    (*source_of)[d] = -1;
  return TP_OK;
}

static tp_status lower_permute_call(tp__lowering *l, MlirOperation op) {
  MlirAttribute pairs = tp__get(op, "tp.pairs");
  if (mlirAttributeIsNull(pairs) || !mlirAttributeIsAArray(pairs) || mlirOperationGetNumOperands(op) != 1 ||
      mlirOperationGetNumResults(op) != 1)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "a permute takes one tensor, gives one, and has tp.pairs = [[source, destination], ...]");
  int32_t *source_of;
  tp_status status = with_sources(l, op, &source_of);
  if (status != TP_OK)
    return status;
  int64_t n_devices = tp_mesh_size(&l->mesh);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(pairs) && status == TP_OK; i++) {
    int64_t pair[2];
    if (tp__int_list(mlirArrayAttrGetElement(pairs, i), 2, pair) != 2 || pair[0] < 0 || pair[1] < 0 || pair[0] >= n_devices ||
        pair[1] >= n_devices || source_of[pair[1]] >= 0)
      status = tp__error(op, TP_INVALID_ARGUMENT,
                         "pair %lld of tp.pairs is not two device numbers below %lld, or names a destination twice",
                         (long long)i, (long long)n_devices);
    else
      source_of[pair[1]] = (int32_t)pair[0];
  }
  if (status == TP_OK)
    status = lower_permutation(l, op, mlirOperationGetOperand(op, 0), source_of);
  tp__free(source_of);
  return status;
}

static tp_status lower_shift(tp__lowering *l, MlirOperation op) {
  group g;
  tp_status status = read_group(l, op, &g);
  if (status != TP_OK)
    return status;
  /* shift_axis is an axis of the grid; in the refined mesh it may be a run of axes. */
  int64_t axis = int_attr(op, "shift_axis"), offset = int_attr(op, "offset"), size = 1, stride = 0;
  bool refined = !tp__ref_is(mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "grid")), l->mesh.name);
  for (int a = 0; a < l->mesh.n_axes; a++)
    if (refined ? a == axis : l->mesh.axes[a].parent == axis) {
      size *= l->mesh.axes[a].size;
      stride = tp_mesh_stride(&l->mesh, a);
    }
  int32_t *source_of;
  status = with_sources(l, op, &source_of);
  if (status != TP_OK)
    return status;
  bool rotate = !mlirAttributeIsNull(tp__inherent(op, "rotate"));
  int64_t n_devices = tp_mesh_size(&l->mesh);
  for (int64_t source = 0; source < n_devices && stride > 0; source++) {
    int64_t at = source / stride % size, to = at + offset;
    if (rotate)
      to = (to % size + size) % size;
    if (to >= 0 && to < size)
      source_of[source + (to - at) * stride] = (int32_t)source;
  }
  status = lower_permutation(l, op, mlirOperationGetOperand(op, 0), source_of);
  tp__free(source_of);
  return status;
}

static bool is_permute_call(MlirOperation op) {
  static const char prefix[] = "tp.permute";
  if (!tp__op_is(op, "func.call"))
    return false;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee"));
  return callee.length >= sizeof prefix - 1 && memcmp(callee.data, prefix, sizeof prefix - 1) == 0;
}

tp_status tp__lower_collective(tp__lowering *l, MlirOperation op, bool *done) {
  *done = true;
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return lower_row(l, op, rows + i);
  if (tp__op_is(op, "shard.shift"))
    return lower_shift(l, op);
  if (is_permute_call(op))
    return lower_permute_call(l, op);
  *done = false;
  return TP_OK;
}
