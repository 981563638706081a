/* Function boundaries: a per-device program becomes one sdy.manual_computation in a function on
 * global tensors.
 *
 * StableHLO's arguments and results have no uneven shards. A value with such shards crosses the
 * boundary whole along that dimension; inside the function it is padded to equal shards in front of
 * the manual computation, and cut behind it. */
#include "passes/export/export.h"

#include <stdio.h>

/* An argument or a result. */
typedef struct crossing {
  MlirType local, global, padded; /* types of a shard, of the value, and in equal shards */
  int rank;
  int64_t sizes[TP_MAX_RANK], padded_sizes[TP_MAX_RANK];
  int n_axes[TP_MAX_RANK];
  int axes[TP_MAX_RANK][TP_MAX_AXES];
} crossing;

typedef struct boundary {
  MlirOperation func;
  int n_in, n_out;
  crossing *values; /* arguments, then results */
} boundary;

/* ---- reading ---- */

static MlirAttribute value_attr(const boundary *b, int i, const char *name) {
  return i < b->n_in ? tp__arg_attr(b->func, i, name) : tp__result_attr(b->func, i - b->n_in, name);
}

static void name_of(const boundary *b, int i, char what[32]) {
  snprintf(what, 32, "%s %d", i < b->n_in ? "argument" : "result", i < b->n_in ? i : i - b->n_in);
}

static void read_types(const boundary *b, int i, crossing *c) {
  MlirType type = tp__func_type(b->func);
  MlirAttribute global = value_attr(b, i, "tp.global");
  MlirType old = i < b->n_in ? mlirFunctionTypeGetInput(type, i)
                             : mlirFunctionTypeGetResult(type, i - b->n_in);
  c->local = tp__export_type(old);
  c->global =
      mlirAttributeIsNull(global) ? c->local : tp__export_type(mlirTypeAttrGetValue(global));
  (void)tp__static_tensor(c->global, &c->rank, c->sizes);
  if (!mlirAttributeIsNull(value_attr(b, i, "tp.unsigned")))
    c->global = mlirRankedTensorTypeGet(
        c->rank, c->sizes, tp__export_unsigned(tp__element_type(c->global)), (MlirAttribute){NULL});
  c->padded = c->global;
}

static int64_t round_up(int64_t size, int64_t parts) { return (size + parts - 1) / parts * parts; }

/* Reads how dimension d is split: axis by axis, each into equal shards of what the one before
 * leaves. */
static tp_status read_dim(const tp_export *x, const boundary *b, int i, tp_spec spec, int d,
                          crossing *c) {
  int64_t parts = 1, shard = c->sizes[d], have = mlirShapedTypeGetDimSize(c->local, d);
  char what[32];
  c->n_axes[d] = tp_spec_dim_axes(&x->mesh, spec, d, c->axes[d]);
  for (int k = 0; k < c->n_axes[d]; k++) {
    int64_t size = x->mesh.axes[c->axes[d][k]].size;
    shard = round_up(shard, size) / size;
    parts *= size;
  }
  name_of(b, i, what);
  if (shard != have)
    return tp__error(b->func, TP_UNSUPPORTED,
                     "%s: the shards of dimension %d have %lld elements, but equal shards of its "
                     "%lld elements on %lld devices have %lld; annotate it otherwise",
                     what, d, (long long)have, (long long)c->sizes[d], (long long)parts,
                     (long long)shard);
  c->padded_sizes[d] = shard * parts;
  return TP_OK;
}

static tp_status read_layout(const tp_export *x, const boundary *b, int i, crossing *c) {
  MlirAttribute attr = value_attr(b, i, "tp.sharding");
  tp_annotation annotation = {0};
  char what[32];
  name_of(b, i, what);
  if (!mlirAttributeIsNull(attr))
    TP_TRY(tp__read_sharding(b->func, what, attr, &x->mesh, c->global, &annotation));
  if (tp_spec_has_partial(annotation.spec))
    return tp__error(b->func, TP_UNSUPPORTED,
                     "%s is partial, which StableHLO cannot say; annotate it otherwise", what);
  for (int d = 0; d < c->rank; d++)
    TP_TRY(read_dim(x, b, i, annotation.spec, d, c));
  c->padded = tp__tensor_like(c->global, c->rank, c->padded_sizes);
  return TP_OK;
}

/* ---- shardings as text ---- */

/* Appends [{"a0"}, {}]; `whole`: without dimensions of uneven shards. */
static void append_sharding(tp__string *text, const crossing *c, bool whole) {
  tp__string_append(text, "<@mesh, [");
  for (int d = 0; d < c->rank; d++) {
    bool is_split = !whole || c->padded_sizes[d] == c->sizes[d];
    tp__string_append(text, d ? ", {" : "{");
    for (int k = 0; is_split && k < c->n_axes[d]; k++)
      tp__string_printf(text, "%s\"a%d\"", k ? ", " : "", c->axes[d][k]);
    tp__string_append(text, "}");
  }
  tp__string_append(text, "]>");
}

static MlirAttribute parsed(tp_export *x, tp__string *text) {
  MlirAttribute attr = tp__parse_attr(x->context, text->failed ? "unit" : text->text);
  tp__string_destroy(text);
  return attr;
}

static MlirAttribute sharding_per_value(tp_export *x, int n, const crossing *values) {
  tp__string text = {0};
  tp__string_append(&text, "#sdy.sharding_per_value<[");
  for (int i = 0; i < n; i++) {
    tp__string_append(&text, i ? ", " : "");
    append_sharding(&text, &values[i], false);
  }
  tp__string_append(&text, "]>");
  return parsed(x, &text);
}

static MlirAttribute manual_axes(tp_export *x) {
  tp__string text = {0};
  tp__string_append(&text, "#sdy<manual_axes{");
  for (int a = 0; a < x->mesh.n_axes; a++)
    tp__string_printf(&text, "%s\"a%d\"", a ? ", " : "", a);
  tp__string_append(&text, "}>");
  return parsed(x, &text);
}

/* ---- equal shards ---- */

static MlirValue pad_end(tp_export *x, MlirValue value, int d, int64_t to) {
  int64_t zeros[TP_MAX_RANK] = {0}, high[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK];
  int rank = 0;
  MlirType type = mlirValueGetType(value);
  (void)tp__static_tensor(type, &rank, sizes);
  if (sizes[d] == to)
    return value;
  high[d] = to - sizes[d];
  sizes[d] = to;
  MlirType number = tp__tensor_like(type, 0, NULL);
  MlirAttribute zero = tp__export_identity(tp__element_type(type), TP_SUM);
  MlirNamedAttribute attrs[] = {tp__export_list(x, "edge_padding_high", rank, high),
                                tp__export_list(x, "edge_padding_low", rank, zeros),
                                tp__export_list(x, "interior_padding", rank, zeros)};
  return tp__export_build(x, "stablehlo.pad", tp__tensor_like(type, rank, sizes), 2,
                          (MlirValue[]){value, tp__export_splat(x, number, zero)}, TP_LEN(attrs),
                          attrs);
}

/* Splits dimension d into `parts` and the rest; with parts < 0, merges it with the next one. */
static MlirValue resplit(tp_export *x, MlirValue value, int d, int64_t parts) {
  int64_t sizes[TP_MAX_RANK + 1];
  int rank = 0;
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  if (parts > 0) {
    memmove(sizes + d + 1, sizes + d, (size_t)(rank - d) * sizeof *sizes);
    sizes[d] = parts;
    sizes[d + 1] /= parts;
    return tp__export_reshape(x, value, rank + 1, sizes);
  }
  sizes[d] *= sizes[d + 1];
  memmove(sizes + d + 1, sizes + d + 2, (size_t)(rank - d - 2) * sizeof *sizes);
  return tp__export_reshape(x, value, rank - 1, sizes);
}

/* The value in equal shards, or back. Along a dimension of several axes each one's shards are
 * padded: 10 elements on 2 x 4 devices are two runs of 5, each padded to 8. */
static MlirValue pad_dim(tp_export *x, const crossing *c, MlirValue value, int d) {
  int last = c->n_axes[d] - 1;
  int64_t size = c->sizes[d];
  for (int k = 0; k <= last; k++) {
    int64_t parts = x->mesh.axes[c->axes[d][k]].size;
    value = pad_end(x, value, d + k, round_up(size, parts));
    size = round_up(size, parts) / parts;
    if (k < last)
      value = resplit(x, value, d + k, parts);
  }
  for (int k = last; k > 0; k--)
    value = resplit(x, value, d + k - 1, -1);
  return value;
}

static MlirValue cut_dim(tp_export *x, const crossing *c, MlirValue value, int d) {
  int last = c->n_axes[d] - 1, rank = 0;
  int64_t size[TP_MAX_AXES + 1] = {c->sizes[d]};
  int64_t sizes[TP_MAX_RANK], zeros[TP_MAX_RANK] = {0}, ones[TP_MAX_RANK];
  for (int k = 0; k <= last; k++) {
    int64_t parts = x->mesh.axes[c->axes[d][k]].size;
    size[k + 1] = round_up(size[k], parts) / parts;
    if (k < last)
      value = resplit(x, value, d + k, parts);
  }
  for (int k = last; k >= 0; k--) {
    (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
    for (int i = 0; i < rank; i++)
      ones[i] = 1;
    sizes[d + k] = size[k];
    value = tp__export_slice(x, value, zeros, sizes, ones);
    if (k > 0)
      value = resplit(x, value, d + k - 1, -1);
  }
  return value;
}

static MlirValue each_uneven_dim(tp_export *x, const crossing *c, MlirValue value,
                                 MlirValue (*run)(tp_export *, const crossing *, MlirValue, int)) {
  for (int d = 0; d < c->rank; d++)
    if (c->padded_sizes[d] != c->sizes[d])
      value = run(x, c, value, d);
  return value;
}

/* Every dimension of uneven shards may become a dimension per axis for a while. */
static tp_status check_rank(const boundary *b) {
  for (int i = 0; i < b->n_in + b->n_out; i++)
    for (int d = 0; d < b->values[i].rank; d++) {
      char what[32];
      name_of(b, i, what);
      if (b->values[i].rank + b->values[i].n_axes[d] > TP_MAX_RANK)
        return tp__error(b->func, TP_UNSUPPORTED, "%s has too many dimensions and axes", what);
    }
  return TP_OK;
}

/* ---- the manual computation ---- */

/* Casts unsigned arguments to integers without sign, in which the body computes; results back. */
static void cast_values(tp_export *x, const boundary *b, MlirBlock block) {
  MlirOperation first = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (int i = 0; i < b->n_in + b->n_out; i++) {
    bool is_arg = i < b->n_in;
    if (mlirAttributeIsNull(value_attr(b, i, "tp.unsigned")))
      continue;
    MlirValue value =
        is_arg ? mlirBlockGetArgument(block, i) : mlirOperationGetOperand(end, i - b->n_in);
    MlirType plain = mlirValueGetType(value);
    int rank = 0;
    int64_t sizes[TP_MAX_RANK];
    (void)tp__static_tensor(plain, &rank, sizes);
    MlirType type = mlirRankedTensorTypeGet(
        rank, sizes, tp__export_unsigned(tp__element_type(plain)), (MlirAttribute){NULL});
    x->where = is_arg ? first : end;
    if (is_arg)
      mlirValueSetType(value, type);
    MlirValue cast =
        tp__export_build(x, "stablehlo.bitcast_convert", is_arg ? plain : type, 1, &value, 0, NULL);
    if (is_arg)
      tp__replace_uses_except(value, cast, tp__defining_op(cast));
    else
      mlirOperationSetOperand(end, i - b->n_in, cast);
  }
}

/* Replaces the terminator of a block by `name`. */
static void end_with(tp_export *x, MlirBlock block, const char *name) {
  MlirOperation old = mlirBlockGetTerminator(block);
  intptr_t n = mlirOperationGetNumOperands(old);
  MlirOperation end = tp__create(&(tp_build){.name = name, .location = x->location});
  MlirValue *values = tp__calloc((size_t)n + 1, sizeof *values);
  for (intptr_t i = 0; values && i < n; i++)
    values[i] = mlirOperationGetOperand(old, i);
  mlirBlockAppendOwnedOperation(block, end);
  mlirOperationSetOperands(end, values ? n : 0, values);
  mlirOperationDestroy(old);
  tp__free(values);
}

static MlirOperation build_manual(tp_export *x, const boundary *b, const MlirValue *values,
                                  const MlirType *types) {
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "in_shardings", sharding_per_value(x, b->n_in, b->values)),
      tp__named(x->context, "manual_axes", manual_axes(x)),
      tp__named(x->context, "out_shardings", sharding_per_value(x, b->n_out, b->values + b->n_in))};
  return tp__export_build_op(x, &(tp_build){.name = "sdy.manual_computation",
                                            .n_operands = b->n_in,
                                            .operands = values,
                                            .n_results = b->n_out,
                                            .results = types,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs,
                                            .n_regions = 1});
}

/* Moves the body into a manual computation on the global arguments. `types` and `values` have a
 * place per argument and result. */
static void wrap_body(tp_export *x, const boundary *b, MlirType *types, MlirLocation *locations,
                      MlirValue *values) {
  MlirBlock body = tp__region_block(b->func, 0);
  cast_values(x, b, body);
  end_with(x, body, "sdy.return");
  mlirBlockDetach(body);
  for (int i = 0; i < b->n_in; i++) {
    types[i] = b->values[i].global;
    locations[i] = x->location;
  }
  MlirBlock block = mlirBlockCreate(b->n_in, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(b->func, 0), block);
  MlirOperation end = tp__create(&(tp_build){.name = "func.return", .location = x->location});
  mlirBlockAppendOwnedOperation(block, end);
  x->where = end;
  for (int i = 0; i < b->n_in; i++)
    values[i] = each_uneven_dim(x, &b->values[i], mlirBlockGetArgument(block, i), pad_dim);
  for (int i = 0; i < b->n_out; i++)
    types[i] = b->values[b->n_in + i].padded;
  MlirOperation manual = build_manual(x, b, values, types);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(manual, 0), body);
  for (int i = 0; i < b->n_out; i++)
    values[i] =
        each_uneven_dim(x, &b->values[b->n_in + i], mlirOperationGetResult(manual, i), cut_dim);
  mlirOperationSetOperands(end, b->n_out, values);
}

static tp_status wrap(tp_export *x, const boundary *b) {
  size_t n = (size_t)(b->n_in + b->n_out) + 1;
  MlirType *types = tp__calloc(n, sizeof *types);
  MlirLocation *locations = tp__calloc(n, sizeof *locations);
  MlirValue *values = tp__calloc(n, sizeof *values);
  bool ok = types && locations && values;
  if (ok)
    wrap_body(x, b, types, locations, values);
  tp__free(types);
  tp__free(locations);
  tp__free(values);
  return ok ? TP_OK : tp__out_of_memory(b->func);
}

/* ---- the function ---- */

static tp_status set_type(const boundary *b, bool is_entry) {
  int n = b->n_in + b->n_out;
  MlirType *types = tp__calloc((size_t)n + 1, sizeof *types);
  if (!types)
    return tp__out_of_memory(b->func);
  for (int i = 0; i < n; i++)
    types[i] = is_entry ? b->values[i].global : b->values[i].local;
  MlirType type = mlirFunctionTypeGet(mlirOperationGetContext(b->func), b->n_in, types, b->n_out,
                                      types + b->n_in);
  mlirOperationSetInherentAttributeByName(b->func, tp__ref("function_type"), mlirTypeAttrGet(type));
  tp__free(types);
  return TP_OK;
}

/* Writes sdy.sharding on arguments or results, and removes what only this library knows. */
static tp_status mark(tp_export *x, const boundary *b, bool is_args, bool has_shardings) {
  static const char *const ours[] = {"tp.sharding", "tp.global",  "tp.unsigned",
                                     "tp.role",     "tp.updates", "tp.gradient"};
  tp_boundary attrs;
  int n = is_args ? b->n_in : b->n_out;
  const crossing *values = b->values + (is_args ? 0 : b->n_in);
  if (tp__boundary_begin(b->func, is_args, &attrs) != TP_OK)
    return tp__out_of_memory(b->func);
  for (int i = 0; i < n; i++) {
    tp__string text = {0};
    for (int k = 0; k < TP_LEN(ours); k++)
      tp__boundary_set(&attrs, i, ours[k], (MlirAttribute){NULL});
    if (!has_shardings)
      continue;
    tp__string_append(&text, "#sdy.sharding");
    append_sharding(&text, &values[i], true);
    tp__boundary_set(&attrs, i, "sdy.sharding", parsed(x, &text));
  }
  tp__boundary_end(&attrs);
  return TP_OK;
}

static tp_status export_boundary(tp_export *x, const boundary *b, bool is_entry) {
  bool is_split = is_entry && tp__export_is_split(x);
  for (int i = 0; i < b->n_in + b->n_out; i++) {
    read_types(b, i, &b->values[i]);
    if (is_split)
      TP_TRY(read_layout(x, b, i, &b->values[i]));
  }
  x->location = mlirOperationGetLocation(b->func);
  if (is_split) {
    TP_TRY(check_rank(b));
    TP_TRY(wrap(x, b));
  } else if (is_entry) {
    cast_values(x, b, tp__region_block(b->func, 0));
  }
  TP_TRY(set_type(b, is_entry));
  TP_TRY(mark(x, b, true, is_split));
  return mark(x, b, false, is_split);
}

tp_status tp__export_boundary(tp_export *x, MlirOperation func, bool is_entry) {
  MlirType type = tp__func_type(func);
  boundary b = {.func = func,
                .n_in = (int)mlirFunctionTypeGetNumInputs(type),
                .n_out = (int)mlirFunctionTypeGetNumResults(type)};
  b.values = tp__calloc((size_t)(b.n_in + b.n_out) + 1, sizeof *b.values);
  tp_status status = b.values ? export_boundary(x, &b, is_entry) : tp__out_of_memory(func);
  tp__free(b.values);
  return status;
}
