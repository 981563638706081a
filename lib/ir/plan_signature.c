/* Measures arguments and results: names, types, shapes on a device, layouts, bytes. */
#include "ir/plan_measure.h"

#include "ir/annotation.h"
#include "ir/parse_hints.h"

#include <stdio.h>
#include <string.h>

static const char *unsigned_text(tp_measure *m, const char *element) {
  const char *text = tp__arena_printf(&m->arena, "u%s", element);
  return text ? text : element;
}

static const char *argument_name(tp_measure *m, int i) {
  char name[TP_BOUNDARY_TEXT];
  tp__argument_name(&m->source, m->func, i, sizeof name, name);
  const char *copy = tp__arena_strdup(&m->arena, name);
  return copy ? copy : "";
}

/* How programs with types of another project's dialect, such as !torch.vtensor, are imported; NULL:
 * it is no such type. */
static const char *hint_of_type(const char *text) {
  return text[0] == '!'
             ? tp__foreign_dialect_hint(mlirStringRefCreate(text + 1, strcspn(text + 1, ".")))
             : NULL;
}

static tp_status measure_value(tp_measure *m, bool is_argument, int i, MlirType type,
                               tp_plan_value *value) {
  MlirAttribute (*attr)(MlirOperation, int, const char *) =
      is_argument ? tp__arg_attr : tp__result_attr;
  char what[32];
  snprintf(what, sizeof what, "%s %d", is_argument ? "argument" : "result", i);
  value->name =
      is_argument ? argument_name(m, i) : tp__measure_string_attr(m, attr(m->func, i, "tp.name"));
  value->role = tp__measure_string_attr(m, attr(m->func, i, "tp.role"));
  value->is_scalar = !tp__is_tensor(type);
  MlirType element = value->is_scalar ? type : tp__element_type(type);
  value->element = tp__measure_type_text(m, element);
  if (mlirTypeIsAInteger(element) && !mlirAttributeIsNull(attr(m->func, i, "tp.unsigned")))
    value->element = unsigned_text(m, value->element);
  value->element_size = tp__element_size(element);
  value->sharding = "[]";
  if (value->element_size == 0 && mlirTypeIsAMemRef(type))
    return tp__error(m->func, TP_UNSUPPORTED,
                     "%s is a memref, %s; programs compute with tensors: write tensor<8x16xf32>",
                     what, value->element);
  const char *foreign = hint_of_type(value->element);
  if (value->element_size == 0 && foreign)
    return tp__error(m->func, TP_UNSUPPORTED, "%s is of type %s: %s", what, value->element,
                     foreign);
  if (value->element_size == 0)
    return tp__error(m->func, TP_UNSUPPORTED,
                     "%s %s of type %s; programs run with " TP_ELEMENT_TYPES, what,
                     value->is_scalar ? "is" : "has elements", value->element);
  if (value->is_scalar)
    return TP_OK;
  tp_status checked = tp__check_tensor(m->func, is_argument ? "argument" : "result", i, type);
  if (checked != TP_OK)
    return checked;
  (void)tp__static_tensor(type, &value->rank, value->local);
  memcpy(value->shape, value->local, sizeof value->shape);
  if (m->plan.is_local) {
    MlirAttribute sharding = attr(m->func, i, "tp.sharding"),
                  global = attr(m->func, i, "tp.global");
    tp_annotation annotation = {0};
    tp_status status =
        mlirAttributeIsNull(sharding)
            ? TP_OK
            : tp__read_sharding(m->func, what, sharding, &m->plan.mesh, type, &annotation);
    if (status != TP_OK)
      return status;
    value->spec = annotation.spec;
    int rank = value->rank;
    if (!mlirAttributeIsNull(global) &&
        (!mlirAttributeIsAType(global) ||
         !tp__static_tensor(mlirTypeAttrGetValue(global), &rank, value->shape) ||
         rank != value->rank))
      return tp__error(m->func, TP_INVALID_ARGUMENT,
                       "%s has an invalid tp.global: expected the type of a tensor of rank %d",
                       what, value->rank);
    for (int d = 0; mlirAttributeIsNull(global) && d < rank; d++)
      value->shape[d] = value->local[d] * tp_spec_dim_shards(&m->plan.mesh, value->spec, d);
    int64_t local[TP_MAX_RANK];
    tp_spec_local_shape(&m->plan.mesh, value->spec, rank, value->shape, local);
    for (int d = 0; d < rank; d++)
      if (local[d] != value->local[d])
        return tp__error(
            m->func, TP_INVALID_ARGUMENT,
            "%s: dimension %d of the local type is %lld, but its sharding makes it %lld", what, d,
            (long long)value->local[d], (long long)local[d]);
  }
  char text[512];
  tp_spec_text(&m->plan.mesh, value->spec, value->rank, text, sizeof text);
  const char *copy = tp__arena_strdup(&m->arena, text);
  value->sharding = copy ? copy : "";
  return TP_OK;
}

static int64_t value_bytes(const tp_plan_value *value, const int64_t *shape) {
  int64_t bytes = value->element_size;
  for (int d = 0; d < value->rank; d++)
    bytes *= shape[d];
  return bytes;
}

tp_status tp__measure_signature(tp_measure *m) {
  MlirType type = tp__func_type(m->func);
  int n_arguments = (int)mlirFunctionTypeGetNumInputs(type),
      n_results = (int)mlirFunctionTypeGetNumResults(type);
  tp_plan_value *arguments = tp__arena_array(&m->arena, (size_t)n_arguments + 1, sizeof *arguments);
  tp_plan_value *results = tp__arena_array(&m->arena, (size_t)n_results + 1, sizeof *results);
  if (!arguments || !results)
    return tp__out_of_memory(m->func);
  m->plan.n_arguments = n_arguments;
  m->plan.arguments = arguments;
  m->plan.n_results = n_results;
  m->plan.results = results;
  tp_status status = TP_OK;
  for (int i = 0; i < n_arguments && status == TP_OK; i++) {
    status = measure_value(m, true, i, mlirFunctionTypeGetInput(type, i), arguments + i);
    int64_t local = value_bytes(arguments + i, arguments[i].local),
            global = value_bytes(arguments + i, arguments[i].shape);
    bool param = strcmp(arguments[i].role, "param") == 0;
    m->plan.argument_bytes += local;
    m->plan.argument_bytes_global += global;
    m->plan.param_bytes += param ? local : 0;
    m->plan.param_bytes_global += param ? global : 0;
  }
  while (m->plan.n_constants < n_arguments &&
         !mlirAttributeIsNull(
             tp__arg_attr(m->func, n_arguments - 1 - m->plan.n_constants, "tp.constant")))
    m->plan.n_constants++;
  for (int i = 0; i < n_results && status == TP_OK; i++)
    status = measure_value(m, false, i, mlirFunctionTypeGetResult(type, i), results + i);
  if (status == TP_OK)
    status = tp__constant_bytes(m->func, &m->plan.constant_bytes);
  return status;
}
