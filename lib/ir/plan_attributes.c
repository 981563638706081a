/* Verifies the attributes other than tp.sharding: tp.factors, tp.region_args, tp.global, tp.phase,
 * tp.pairs, tp.whole_axes. */
#include "ir/annotation.h"

#include "support/support.h"

#include <stdio.h>

static tp_status check_factors(MlirOperation op, MlirAttribute attr, const tp_mesh *mesh) {
  if (!mlirAttributeIsADictionary(attr))
    return tp__error(op, TP_INVALID_ARGUMENT, "tp.factors has to be a dictionary, as in {tp = 2}");
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attr); i++) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attr, i);
    MlirStringRef token = mlirIdentifierStr(entry.name);
    char name[TP_MAX_AXIS_NAME];
    int64_t pre, size;
    int first;
    if (!tp__axis_token(token, name, &pre, &size) ||
        tp_mesh_find(mesh, name, pre, size, &first) == 0)
      return tp__error(
          op, TP_NOT_FOUND,
          "tp.factors names axis \"%.*s\", which mesh @%s does not have; name one of its "
          "axes, such as \"%s\"",
          (int)token.length, token.data, mesh->name, mesh->axes[0].name);
    bool factor = mlirAttributeIsAInteger(entry.attribute) &&
                  mlirIntegerAttrGetValueInt(entry.attribute) >= 0;
    if (!factor && !mlirAttributeIsAString(entry.attribute))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "tp.factors: \"%.*s\" needs a factor number, or \"linear k\"",
                       (int)token.length, token.data);
  }
  return TP_OK;
}

/* ---- tp.region_args: one list of shardings per region, one sharding per block argument ---- */

static tp_status region_arg(MlirOperation op, intptr_t r, intptr_t i, MlirAttribute attr,
                            const tp_mesh *mesh, MlirAttribute *canonical) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  MlirType type = mlirValueGetType(mlirBlockGetArgument(block, i));
  char what[64];
  tp_annotation annotation;
  snprintf(what, sizeof what, "region %d, argument %d", (int)r, (int)i);
  int rank = mlirTypeIsARankedTensor(type) ? (int)mlirShapedTypeGetRank(type) : 0;
  TP_TRY(tp__read_sharding(op, what, attr, mesh, type, &annotation));
  *canonical = tp__write_sharding(mlirOperationGetContext(op), mesh, rank, annotation);
  return TP_OK;
}

/* Writes to `canonical` the canonical form of the shardings of a region. */
static tp_status region_list(MlirOperation op, intptr_t r, MlirAttribute list, const tp_mesh *mesh,
                             MlirAttribute *canonical) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  intptr_t n = mlirBlockIsNull(block) ? 0 : mlirBlockGetNumArguments(block);
  if (!mlirAttributeIsAArray(list) || mlirArrayAttrGetNumElements(list) != n)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "tp.region_args: region %d has %d arguments; the list needs as many shardings",
                     (int)r, (int)n);
  MlirAttribute *entries = tp__calloc((size_t)n + 1, sizeof *entries);
  tp_status status = entries ? TP_OK : tp__out_of_memory(op);
  for (intptr_t i = 0; i < n && status == TP_OK; i++)
    status = region_arg(op, r, i, mlirArrayAttrGetElement(list, i), mesh, &entries[i]);
  if (status == TP_OK)
    *canonical = mlirArrayAttrGet(mlirOperationGetContext(op), n, entries);
  tp__free(entries);
  return status;
}

static tp_status check_region_args(MlirOperation op, MlirAttribute attr, const tp_mesh *mesh) {
  intptr_t n = mlirOperationGetNumRegions(op);
  if (!mlirAttributeIsAArray(attr) || mlirArrayAttrGetNumElements(attr) != n)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "tp.region_args has to be a list with one entry for each of the %d regions",
                     (int)n);
  MlirAttribute *lists = tp__calloc((size_t)n + 1, sizeof *lists);
  tp_status status = lists ? TP_OK : tp__out_of_memory(op);
  for (intptr_t r = 0; r < n && status == TP_OK; r++)
    status = region_list(op, r, mlirArrayAttrGetElement(attr, r), mesh, &lists[r]);
  if (status == TP_OK)
    tp__set(op, "tp.region_args", mlirArrayAttrGet(mlirOperationGetContext(op), n, lists));
  tp__free(lists);
  return status;
}

/* ---- tp.global, tp.phase ---- */

static tp_status check_global(MlirOperation op, const char *what, MlirAttribute attr,
                              MlirType local) {
  if (!mlirAttributeIsAType(attr) || !mlirTypeIsARankedTensor(mlirTypeAttrGetValue(attr)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "%s: tp.global has to be a ranked tensor type, the type before partitioning",
                     what);
  MlirType global = mlirTypeAttrGetValue(attr);
  if (!mlirTypeIsARankedTensor(local) ||
      mlirShapedTypeGetRank(local) != mlirShapedTypeGetRank(global) ||
      !mlirTypeEqual(tp__element_type(local), tp__element_type(global)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "%s: tp.global has another rank or element type than the value", what);
  return TP_OK;
}

static tp_status check_boundary_globals(MlirOperation func) {
  MlirType type = tp__func_type(func);
  intptr_t n_in = mlirFunctionTypeGetNumInputs(type), n_out = mlirFunctionTypeGetNumResults(type);
  for (intptr_t i = 0; i < n_in + n_out; i++) {
    bool is_arg = i < n_in;
    int k = (int)(is_arg ? i : i - n_in);
    MlirAttribute attr =
        is_arg ? tp__arg_attr(func, k, "tp.global") : tp__result_attr(func, k, "tp.global");
    char what[32];
    snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", k);
    TP_TRY(mlirAttributeIsNull(attr) ? TP_OK
                                     : check_global(func, what, attr,
                                                    is_arg ? mlirFunctionTypeGetInput(type, k)
                                                           : mlirFunctionTypeGetResult(type, k)));
  }
  return TP_OK;
}

/* ---- permutes ---- */

static tp_status check_pairs(MlirOperation op, MlirAttribute attr, const tp_mesh *mesh) {
  int64_t devices = tp_mesh_size(mesh);
  bool *received = tp__calloc((size_t)devices, sizeof *received);
  tp_status status = received ? TP_OK : tp__out_of_memory(op);
  if (status == TP_OK && !mlirAttributeIsAArray(attr))
    status = tp__error(op, TP_INVALID_ARGUMENT,
                       "tp.pairs has to be a list of [source, destination] devices");
  for (intptr_t i = 0; status == TP_OK && i < mlirArrayAttrGetNumElements(attr); i++) {
    int64_t pair[2];
    if (tp__int_list(mlirArrayAttrGetElement(attr, i), 2, pair) != 2)
      status = tp__error(op, TP_INVALID_ARGUMENT,
                         "tp.pairs: entry %d is not a [source, destination] pair", (int)i);
    else if (pair[0] < 0 || pair[0] >= devices || pair[1] < 0 || pair[1] >= devices)
      status = tp__error(op, TP_INVALID_ARGUMENT,
                         "tp.pairs: entry %d names device [%lld, %lld]; the mesh has %lld devices",
                         (int)i, (long long)pair[0], (long long)pair[1], (long long)devices);
    else if (received[pair[1]])
      status = tp__error(op, TP_INVALID_ARGUMENT,
                         "tp.pairs: device %lld is the destination of more than one pair",
                         (long long)pair[1]);
    else
      received[pair[1]] = true;
  }
  tp__free(received);
  return status;
}

tp_status tp__check_plan_attributes(MlirOperation op, const tp_mesh *mesh) {
  MlirAttribute factors = tp__get(op, "tp.factors"), regions = tp__get(op, "tp.region_args");
  MlirAttribute pairs = tp__get(op, "tp.pairs"), global = tp__get(op, "tp.global");
  if (!mlirAttributeIsNull(factors))
    TP_TRY(check_factors(op, factors, mesh));
  if (!mlirAttributeIsNull(regions))
    TP_TRY(check_region_args(op, regions, mesh));
  if (!mlirAttributeIsNull(pairs))
    TP_TRY(check_pairs(op, pairs, mesh));
  if (!mlirAttributeIsNull(global)) {
    if (mlirOperationGetNumResults(op) != 1)
      return tp__error(op, TP_INVALID_ARGUMENT, "tp.global on an op without exactly one result");
    TP_TRY(check_global(op, "result 0", global, mlirValueGetType(mlirOperationGetResult(op, 0))));
  }
  return tp__op_is(op, "func.func") ? check_boundary_globals(op) : TP_OK;
}

tp_status tp__check_phase(MlirOperation module) {
  MlirAttribute phase = tp__get(module, "tp.phase");
  if (mlirAttributeIsNull(phase) || tp__is_local(module))
    return TP_OK;
  return tp__error(module, TP_INVALID_ARGUMENT, "tp.phase must be \"local\" or absent");
}

tp_status tp__read_whole_axes(MlirOperation module, const tp_mesh *mesh, unsigned *axes) {
  MlirAttribute attr = tp__get(module, "tp.whole_axes");
  *axes = 0;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  if (!mlirAttributeIsAArray(attr))
    return tp__error(module, TP_INVALID_ARGUMENT,
                     "tp.whole_axes has to be a list of axes, as in [\"%s\"]", mesh->axes[0].name);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attr); i++) {
    MlirAttribute entry = mlirArrayAttrGetElement(attr, i);
    MlirStringRef token =
        mlirAttributeIsAString(entry) ? mlirStringAttrGetValue(entry) : tp__ref("");
    char name[TP_MAX_AXIS_NAME];
    int64_t pre, size;
    int first, n = tp__axis_token(token, name, &pre, &size)
                       ? tp_mesh_find(mesh, name, pre, size, &first)
                       : 0;
    if (n == 0)
      return tp__error(
          module, TP_NOT_FOUND,
          "tp.whole_axes names \"%.*s\", which is no axis of mesh @%s; name one of its "
          "axes, such as \"%s\"",
          (int)token.length, token.data, mesh->name, mesh->axes[0].name);
    for (int a = first; a < first + n; a++)
      *axes |= 1u << a;
  }
  return TP_OK;
}

void tp__write_whole_axes(MlirOperation module, const tp_mesh *mesh, unsigned axes) {
  MlirAttribute names[TP_MAX_AXES];
  intptr_t n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    char text[TP_MAX_AXIS_NAME + 64];
    tp_mesh_axis_text(mesh, a, 1, text, sizeof text);
    if (axes >> a & 1)
      names[n++] = tp__attr_string(mlirOperationGetContext(module), text);
  }
  if (n > 0)
    tp__set(module, "tp.whole_axes", mlirArrayAttrGet(mlirOperationGetContext(module), n, names));
  else
    tp__remove(module, "tp.whole_axes");
}
