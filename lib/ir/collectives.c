/* Builds ops of the shard dialect: reshards, device coordinates, collectives and permutes. */
#include "ir/collective_op.h"

#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reshards ---- */

static MlirAttribute split_axes(MlirContext context, const tp_mesh *mesh, int rank, tp_spec spec) {
  char text[512] = "#shard<axisarray[";
  size_t n = strlen(text);
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES];
    int count = tp_spec_dim_axes(mesh, spec, d, axes);
    MlirAttribute grid, list;
    tp__grid_axes(context, mesh, count, axes, &grid, &list);
    bool whole = tp__ref_is(mlirFlatSymbolRefAttrGetValue(grid), mesh->name);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s[", d ? ", " : "");
    for (intptr_t i = 0; whole && i < mlirDenseArrayGetNumElements(list); i++)
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", i ? ", " : "",
                            mlirDenseI16ArrayGetElement(list, i));
    n += (size_t)snprintf(text + n, sizeof text - n, "]");
  }
  /* upstream cannot parse an empty list */
  snprintf(text + n, sizeof text - n, "%s]>", rank == 0 ? "[]" : "");
  return tp__parse_attr(context, text);
}

tp_reshard_attrs tp__reshard_attrs(MlirContext context, const tp_mesh *mesh, int rank,
                                   tp_annotation annotation) {
  return (tp_reshard_attrs){
      .type = mlirTypeParseGet(context, tp__ref("!shard.sharding")),
      .layout = {tp__named(context, "grid", mlirFlatSymbolRefAttrGet(context, tp__ref(mesh->name))),
                 tp__named(context, "split_axes", split_axes(context, mesh, rank, annotation.spec)),
                 tp__named(context, "operandSegmentSizes",
                           mlirDenseI32ArrayGet(context, 2, (int32_t[]){0, 0}))},
      .note =
          tp__named(context, "tp.sharding", tp__write_sharding(context, mesh, rank, annotation))};
}

MlirValue tp__insert_reshard(MlirOperation where, MlirLocation location, MlirValue value,
                             const tp_reshard_attrs *to) {
  MlirType type = mlirValueGetType(value);
  MlirOperation layout = tp__create(&(tp_build){.name = "shard.sharding",
                                                .location = location,
                                                .n_results = 1,
                                                .results = &to->type,
                                                .n_attributes = TP_LEN(to->layout),
                                                .attributes = to->layout});
  tp__insert_before(where, layout);
  MlirOperation change =
      tp__create(&(tp_build){.name = "shard.shard",
                             .location = location,
                             .n_operands = 2,
                             .operands = (MlirValue[]){value, mlirOperationGetResult(layout, 0)},
                             .n_results = 1,
                             .results = &type,
                             .n_attributes = 1,
                             .attributes = &to->note});
  tp__insert_before(where, change);
  return mlirOperationGetResult(change, 0);
}

MlirValue tp__build_reshard(MlirOperation where, MlirLocation location, MlirValue value,
                            const tp_mesh *mesh, tp_annotation annotation) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(value));
  tp_reshard_attrs to = tp__reshard_attrs(mlirOperationGetContext(where), mesh, rank, annotation);
  return tp__insert_reshard(where, location, value, &to);
}

/* ---- device coordinates ---- */

MlirValue tp__build_group_index(MlirOperation where, const tp_mesh *mesh, int n, const int *axes) {
  MlirContext context = mlirOperationGetContext(where);
  MlirAttribute grid, grid_axes;
  MlirType types[TP_MAX_AXES];
  tp__grid_axes(context, mesh, n, axes, &grid, &grid_axes);
  int count = (int)mlirDenseArrayGetNumElements(grid_axes);
  tp_mesh parent = tp_mesh_parent(mesh);
  const tp_mesh *of = tp__ref_is(mlirFlatSymbolRefAttrGetValue(grid), mesh->name) ? &parent : mesh;
  for (int i = 0; i < count; i++)
    types[i] = mlirIndexTypeGet(context);
  MlirNamedAttribute attrs[] = {tp__named(context, "grid", grid),
                                tp__named(context, "axes", grid_axes)};
  MlirOperation op = tp__create(&(tp_build){.name = "shard.process_multi_index",
                                            .location = mlirOperationGetLocation(where),
                                            .n_results = count,
                                            .results = types,
                                            .n_attributes = 2,
                                            .attributes = attrs});
  tp__insert_before(where, op);
  MlirValue index = mlirOperationGetResult(op, 0);
  for (int i = 1; i < count; i++) {
    int64_t size = of->axes[mlirDenseI16ArrayGetElement(grid_axes, i)].size;
    index = tp__binary(where, "arith.muli", index, tp__index_constant(where, size));
    index = tp__binary(where, "arith.addi", index, mlirOperationGetResult(op, i));
  }
  return index;
}

/* ---- collectives ---- */

/* Upstream's name of each combiner. If several combiners share a name (exact is false), the op also
 * carries tp.combiner. */
static const struct {
  const char *kind;
  bool exact;
} kinds[TP_N_COMBINERS] = {
    [TP_SUM] = {"sum", true},         [TP_PRODUCT] = {"product", true},
    [TP_MAX] = {"max", true},         [TP_MIN] = {"min", true},
    [TP_MAXNUM] = {"max", false},     [TP_MINNUM] = {"min", false},
    [TP_MAXU] = {"max", false},       [TP_MINU] = {"min", false},
    [TP_AND] = {"bitwise_and", true}, [TP_OR] = {"bitwise_or", true},
    [TP_XOR] = {"bitwise_xor", true}, [TP_AVERAGE] = {"average", true},
};

MlirOperation tp__create_border(MlirLocation location, const tp_mesh *mesh, bool cuts,
                                MlirValue value, int dim, int n, const int *axes) {
  MlirContext context = mlirLocationGetContext(location);
  MlirAttribute grid, grid_axes;
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  for (int i = 0; i < n; i++)
    shape[dim] =
        cuts ? shape[dim] / mesh->axes[axes[i]].size : shape[dim] * mesh->axes[axes[i]].size;
  MlirType type = tp__tensor_like(mlirValueGetType(value), rank, shape);
  tp__grid_axes(context, mesh, n, axes, &grid, &grid_axes);
  MlirNamedAttribute attributes[] = {
      tp__named(context, "grid", grid),
      tp__named(context, "grid_axes", grid_axes),
      tp__named(context, cuts ? "slice_axis" : "gather_axis", tp__attr_index(context, dim)),
  };
  return tp__create(&(tp_build){.name = cuts ? "shard.all_slice" : "shard.all_gather",
                                .location = location,
                                .n_operands = 1,
                                .operands = &value,
                                .n_results = 1,
                                .results = &type,
                                .n_attributes = TP_LEN(attributes),
                                .attributes = attributes});
}

MlirValue tp__build_collective(const tp__collective *c, const char *name, MlirValue value,
                               const char *index_name, int64_t index, const char *index2_name,
                               int64_t index2, bool reduces) {
  MlirNamedAttribute attrs[6];
  int n = 0;
  MlirAttribute grid, grid_axes;
  tp__grid_axes(c->context, c->mesh, c->step->n_axes, c->step->axes, &grid, &grid_axes);
  attrs[n++] = tp__named(c->context, "grid", grid);
  attrs[n++] = tp__named(c->context, "grid_axes", grid_axes);
  if (index_name)
    attrs[n++] = tp__named(c->context, index_name, tp__attr_index(c->context, index));
  if (index2_name)
    attrs[n++] = tp__named(c->context, index2_name, tp__attr_index(c->context, index2));
  if (reduces) {
    char text[64];
    snprintf(text, sizeof text, "#shard<partial %s>", kinds[c->step->combiner].kind);
    attrs[n++] = tp__named(c->context, "reduction", tp__parse_attr(c->context, text));
    if (!kinds[c->step->combiner].exact)
      attrs[n++] = tp__named(c->context, "tp.combiner",
                             tp__attr_string(c->context, tp_combiner_name(c->step->combiner)));
  }
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = c->location,
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &c->result,
                                            .n_attributes = n,
                                            .attributes = attrs});
  tp__insert_before(c->where, op);
  return mlirOperationGetResult(op, 0);
}

/* ---- mask: keeps the value at index 0, and is the identity on all other devices ---- */

MlirAttribute tp__identity_attr(MlirType type, tp_combiner combiner) {
  MlirContext context = mlirTypeGetContext(type);
  static const double floats[TP_N_COMBINERS] = {
      [TP_SUM] = 0,
      [TP_PRODUCT] = 1,
      [TP_MAX] = -INFINITY,
      [TP_MIN] = INFINITY,
      /* -infinity would replace a NaN */
      [TP_MAXNUM] = NAN,
      [TP_MINNUM] = NAN,
  };
  static const double f8[TP_N_COMBINERS] = {/* f8E4M3FN has no infinity */
                                            [TP_PRODUCT] = 1,
                                            [TP_MAX] = -448,
                                            [TP_MIN] = 448,
                                            [TP_MAXNUM] = NAN,
                                            [TP_MINNUM] = NAN};
  if (mlirTypeIsAFloat8E4M3FN(type))
    return combiner <= TP_MINNUM ? mlirFloatAttrDoubleGet(context, type, f8[combiner])
                                 : (MlirAttribute){NULL};
  if (mlirTypeIsAFloat(type))
    return combiner <= TP_MINNUM ? mlirFloatAttrDoubleGet(context, type, floats[combiner])
                                 : (MlirAttribute){NULL};
  if (mlirTypeIsAComplex(type) && combiner <= TP_PRODUCT) {
    MlirType part = mlirComplexTypeGetElementType(type);
    return mlirArrayAttrGet(context, 2,
                            (MlirAttribute[]){tp__identity_attr(part, combiner),
                                              mlirFloatAttrDoubleGet(context, part, 0)});
  }
  bool is_float_only = combiner == TP_MAXNUM || combiner == TP_MINNUM;
  if ((!mlirTypeIsAInteger(type) && !mlirTypeIsAIndex(type)) || is_float_only)
    return (MlirAttribute){NULL};
  unsigned width = mlirTypeIsAIndex(type) ? 64 : mlirIntegerTypeGetWidth(type);
  int64_t least = width >= 64 ? INT64_MIN : -((int64_t)1 << (width - 1));
  int64_t greatest = width >= 64 ? INT64_MAX : ((int64_t)1 << (width - 1)) - 1;
  const int64_t integers[TP_N_COMBINERS] = {
      [TP_PRODUCT] = 1, [TP_MAX] = least, [TP_MIN] = greatest, [TP_MINU] = -1, [TP_AND] = -1,
  };
  return mlirIntegerAttrGet(type, integers[combiner]);
}

static MlirValue build_mask(const tp__collective *c, MlirValue value) {
  MlirValue index = tp__build_group_index(c->where, c->mesh, c->step->n_axes, c->step->axes);
  MlirValue first = tp__compare(c->where, TP_EQ, index, tp__index_constant(c->where, 0));
  MlirAttribute identity = tp__identity_attr(tp__element_type(c->result), c->step->combiner);
  MlirValue other =
      tp__constant(c->where, c->result, mlirDenseElementsAttrSplatGet(c->result, identity));
  return tp__select(c->where, first, value, other);
}

/* ---- permutes: calls of private declarations ---- */

/* Returns the symbol of the permute declaration for a tensor type, such as @tp.permute.4x8xf32, and
 * adds the declaration if it is missing. The pairs are on the call. Null if memory runs out. */
static MlirAttribute permute_symbol(MlirOperation module, MlirLocation location, MlirType tensor) {
  MlirContext context = mlirOperationGetContext(module);
  tp__string name = {0};
  tp__string_append(&name, "tp.permute");
  for (int d = 0; d < mlirShapedTypeGetRank(tensor); d++)
    tp__string_printf(&name, "%c%lld", d ? 'x' : '.',
                      (long long)mlirShapedTypeGetDimSize(tensor, d));
  tp__string_append(&name, mlirShapedTypeGetRank(tensor) ? "x" : ".");
  mlirTypePrint(tp__element_type(tensor), tp__append_part, &name);
  MlirAttribute symbol = {NULL};
  if (name.failed)
    goto done;
  symbol = mlirFlatSymbolRefAttrGet(context, tp__ref(name.text));
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func") &&
        tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), name.text))
      goto done;
  MlirType type = mlirFunctionTypeGet(context, 1, &tensor, 1, &tensor);
  mlirBlockAppendOwnedOperation(block, tp__create_private_func(location, name.text, type));
done:
  tp__string_destroy(&name);
  return symbol;
}

bool tp__is_permute(MlirOperation op) {
  return tp__op_is(op, "func.call") && !mlirAttributeIsNull(tp__get(op, "tp.pairs"));
}

MlirValue tp__build_permute(MlirOperation where, MlirOperation module, MlirValue value,
                            int64_t n_pairs, const int64_t (*pairs)[2]) {
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirType type = mlirValueGetType(value);
  MlirAttribute symbol = permute_symbol(module, location, type);
  MlirAttribute *list = tp__calloc((size_t)n_pairs, sizeof *list);
  if (!list || mlirAttributeIsNull(symbol)) {
    tp__free(list);
    return (MlirValue){NULL};
  }
  for (int64_t i = 0; i < n_pairs; i++) {
    MlirAttribute pair[] = {tp__attr_i64(context, pairs[i][0]), tp__attr_i64(context, pairs[i][1])};
    list[i] = mlirArrayAttrGet(context, 2, pair);
  }
  MlirNamedAttribute attrs[] = {
      tp__named(context, "callee", symbol),
      tp__named(context, "tp.pairs", mlirArrayAttrGet(context, n_pairs, list))};
  tp__free(list);
  MlirOperation op = tp__create(&(tp_build){.name = "func.call",
                                            .location = location,
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

static MlirValue permute_step(const tp__collective *c, MlirOperation module, MlirValue value) {
  int64_t devices = tp_mesh_size(c->mesh);
  int64_t (*pairs)[2] = tp__calloc((size_t)devices, sizeof *pairs),
          *sources = tp__calloc((size_t)devices, sizeof *sources);
  MlirValue result = {NULL};
  if (pairs && sources && tp_step_permute_sources(c->mesh, c->step, sources) == TP_OK) {
    for (int64_t to = 0; to < devices; to++) {
      pairs[to][0] = sources[to];
      pairs[to][1] = to;
    }
    result = tp__build_permute(c->where, module, value, devices, (const int64_t (*)[2])pairs);
  }
  tp__free(pairs);
  tp__free(sources);
  return result;
}

/* ---- steps ---- */

/* Builds the communication of a step, on shards of equal size. The result has type c->result. */
static MlirValue move(const tp__collective *c, MlirOperation module, MlirValue value) {
  const tp_step *step = c->step;
  switch (step->kind) {
  case TP_STEP_ALL_GATHER:
    return tp__build_collective(c, "shard.all_gather", value, "gather_axis", step->dim, NULL, 0,
                                false);
  case TP_STEP_REDUCE_SCATTER:
    return tp__build_collective(c, "shard.reduce_scatter", value, "scatter_axis", step->dim, NULL,
                                0, true);
  case TP_STEP_ALL_REDUCE:
    return tp__build_collective(c, "shard.all_reduce", value, NULL, 0, NULL, 0, true);
  case TP_STEP_ALL_TO_ALL:
    return tp__build_collective(c, "shard.all_to_all", value, "concat_axis", step->dim,
                                "split_axis", step->to_dim, false);
  case TP_STEP_SLICE:
    return tp__is_even_slice(c, value)
               ? tp__build_collective(c, "shard.all_slice", value, "slice_axis", step->dim, NULL, 0,
                                      false)
               : tp__uneven_slice(c, value);
  case TP_STEP_PERMUTE:
    return permute_step(c, module, value);
  case TP_STEP_MASK:
    return tp_combiner_is_rows(step->combiner) ? value : build_mask(c, value);
  }
  return value;
}

MlirValue tp__build_step(MlirOperation where, MlirOperation module, MlirValue value,
                         const tp_mesh *mesh, const tp_step *step, int rank,
                         const int64_t *global_shape) {
  int64_t before[TP_MAX_RANK], after[TP_MAX_RANK], moved[TP_MAX_RANK],
      n = tp_step_group_size(mesh, step);
  bool gathers = step->kind == TP_STEP_ALL_GATHER || step->kind == TP_STEP_ALL_TO_ALL;
  bool pads = step->kind == TP_STEP_REDUCE_SCATTER || step->kind == TP_STEP_ALL_TO_ALL;
  tp_spec_local_shape(mesh, step->from, rank, global_shape, before);
  tp_spec_local_shape(mesh, step->to, rank, global_shape, after);
  for (int d = 0; d < rank; d++)
    moved[d] = gathers && d == step->dim ? n * before[d] : after[d];
  tp__collective c = {where,
                      mlirOperationGetContext(where),
                      mlirOperationGetLocation(where),
                      mesh,
                      step,
                      tp__tensor_like(mlirValueGetType(value), rank, moved)};
  /* an exchange between several dimensions, whose sizes divide exactly */
  if (step->kind == TP_STEP_ALL_TO_ALL && (step->dim < 0 || step->to_dim < 0))
    return tp__build_exchange(&c, value, rank, before, after);
  int split_dim = step->kind == TP_STEP_ALL_TO_ALL ? step->to_dim : step->dim;
  if (pads)
    value = tp__fill_up(&c, value, split_dim, before[split_dim]);
  value = move(&c, module, value);
  const int64_t zeros[TP_MAX_RANK] = {0};
  if (mlirValueIsNull(value))
    return value;
  if (gathers)
    value = tp__strip(&c, value, step->dim, after[step->dim]);
  return tp__extract_slice(where, value, zeros, after);
}

/* ---- the combiner of a collective ---- */

static void keep_text(MlirStringRef part, void *data) {
  char *text = data;
  size_t n = strlen(text);
  snprintf(text + n, 128 - n, "%.*s", (int)part.length, part.data);
}

/* Parses upstream's reduction attribute from its printed form, #shard<partial max>. False if the
 * reduction is not in the table. */
static bool read_upstream_reduction(MlirAttribute attr, tp_combiner *combiner) {
  static const struct {
    const char *name;
    tp_combiner combiner;
  } names[] = {{"sum", TP_SUM},         {"max", TP_MAX},         {"min", TP_MIN},
               {"product", TP_PRODUCT}, {"average", TP_AVERAGE}, {"bitwise_and", TP_AND},
               {"bitwise_or", TP_OR},   {"bitwise_xor", TP_XOR}};
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

tp_status tp__collective_combiner(MlirOperation op, tp_combiner *combiner) {
  char name[32];
  MlirAttribute ours = tp__get(op, "tp.combiner"), theirs = tp__inherent(op, "reduction");
  if (!mlirAttributeIsNull(ours)) {
    if (mlirAttributeIsAString(ours) &&
        tp__ref_copy(mlirStringAttrGetValue(ours), name, sizeof name) &&
        tp_combiner_parse(name, combiner))
      return TP_OK;
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "tp.combiner is not the name of a combiner, such as \"sum\" or \"maxnumf\"");
  }
  *combiner = TP_SUM; /* default of upstream */
  if (!mlirAttributeIsNull(theirs) && !read_upstream_reduction(theirs, combiner))
    return tp__error(op, TP_UNSUPPORTED,
                     "the runtime has no generic reductions; use one of sum, product, max, min, "
                     "average, bitwise_and, bitwise_or, bitwise_xor");
  return TP_OK;
}
