/* Reads the layouts of a planned module (tp/layout.h). */
#include "ir/annotation.h"
#include "ir/location.h"
#include "ir/source_names.h"
#include "support/support.h"

#include "tp/plan.h"

#include <stdio.h>
#include <string.h>

/* Layouts with what owns them. `layouts` stands first, so that a pointer to it is one to this. */
typedef struct reading {
  tp_layouts layouts;
  tp__arena arena;
  tp_layout *items;
  size_t n, capacity;
  MlirOperation func;
  tp_source source;
  const char *function;
  int32_t n_op;
  bool failed; /* memory ran out */
} reading;

/* Keeps a text; "" if memory runs out, which the end of the reading reports. */
static const char *keep(reading *r, MlirStringRef text) {
  const char *copy = tp__arena_strndup(&r->arena, text.data, text.length);
  r->failed |= !copy;
  return copy ? copy : "";
}

static const char *name_of(reading *r, MlirAttribute name) {
  return mlirAttributeIsNull(name) || !mlirAttributeIsAString(name)
             ? ""
             : keep(r, mlirStringAttrGetValue(name));
}

static const char *argument_name(reading *r, int i) {
  char name[TP_BOUNDARY_TEXT];
  tp__argument_name(&r->source, r->func, i, sizeof name, name);
  return keep(r, tp__ref(name));
}

static const char *element_text(reading *r, MlirType type) {
  char text[64];
  tp__type_text(type, sizeof text, text);
  return keep(r, tp__ref(text));
}

/* Adds a value whose kind, op, name and spec are known. */
static tp_status add(reading *r, MlirOperation at, MlirType type, tp_layout layout) {
  const tp_mesh *mesh = &r->layouts.mesh;
  char text[512];
  int rank = 0;
  MlirType element = tp__number_type(type);
  if (tp__is_tensor(type) && !tp__static_tensor(type, &rank, layout.shape))
    return tp__check_tensor(at, layout.kind == TP_LAYOUT_ARGUMENT ? "argument" : "result",
                            layout.index, type);
  layout.rank = rank;
  layout.function = r->function;
  layout.location = tp__location_text(&r->arena, mlirOperationGetLocation(at));
  layout.element = element_text(r, element);
  layout.element_size = tp__element_size(element);
  tp_spec_local_shape(mesh, layout.spec, rank, layout.shape, layout.local);
  layout.bytes = layout.element_size;
  for (int d = 0; d < rank; d++)
    layout.bytes *= layout.local[d];
  tp_spec_text(mesh, layout.spec, rank, text, sizeof text);
  layout.sharding = keep(r, tp__ref(text));
  if (tp__grow((void **)&r->items, &r->capacity, r->n + 1, sizeof *r->items) != TP_OK)
    return tp__out_of_memory(at);
  r->items[r->n++] = layout;
  return TP_OK;
}

static tp_status add_boundary(reading *r, tp_layout_kind kind, int i, MlirType type) {
  bool is_argument = kind == TP_LAYOUT_ARGUMENT;
  MlirAttribute (*attr)(MlirOperation, int, const char *) =
      is_argument ? tp__arg_attr : tp__result_attr;
  MlirAttribute sharding = attr(r->func, i, "tp.sharding");
  tp_annotation annotation = {0};
  char what[32];
  snprintf(what, sizeof what, "%s %d", is_argument ? "argument" : "result", i);
  if (!mlirAttributeIsNull(sharding))
    TP_TRY(tp__read_sharding(r->func, what, sharding, &r->layouts.mesh, type, &annotation));
  else if (tp__is_tensor(type))
    return tp__error(r->func, TP_INVALID_ARGUMENT,
                     "%s has no tp.sharding, so the program is not planned; run tp-propagate",
                     what);
  return add(r, r->func, type,
             (tp_layout){.kind = kind,
                         .op = "",
                         .index = i,
                         .name = is_argument ? argument_name(r, i)
                                             : name_of(r, attr(r->func, i, "tp.name")),
                         .spec = annotation.spec});
}

static tp_status visit(MlirOperation op, void *data) {
  reading *r = data;
  int32_t number = r->n_op++;
  int n = mlirAttributeIsNull(tp__get(op, "tp.sharding")) ? 0 : (int)mlirOperationGetNumResults(op);
  const char *name = n > 0 ? keep(r, tp__op_name(op)) : "";
  for (int i = 0; i < n; i++) {
    tp_annotation annotation;
    bool present;
    TP_TRY(tp__op_sharding(op, i, &r->layouts.mesh, &annotation, &present));
    if (present)
      TP_TRY(add(r, op, mlirValueGetType(mlirOperationGetResult(op, i)),
                 (tp_layout){.kind = TP_LAYOUT_OP_RESULT,
                             .op = name,
                             .n_op = number,
                             .index = i,
                             .name = name_of(r, tp__get(op, "tp.name")),
                             .spec = annotation.spec}));
  }
  return TP_OK;
}

static tp_status read_function(reading *r, MlirOperation func) {
  MlirType type = tp__func_type(func);
  r->func = func;
  r->function = name_of(r, tp__inherent(func, "sym_name"));
  r->n_op = 0;
  for (int i = 0; i < (int)mlirFunctionTypeGetNumInputs(type); i++)
    TP_TRY(add_boundary(r, TP_LAYOUT_ARGUMENT, i, mlirFunctionTypeGetInput(type, i)));
  for (int i = 0; i < (int)mlirFunctionTypeGetNumResults(type); i++)
    TP_TRY(add_boundary(r, TP_LAYOUT_RESULT, i, mlirFunctionTypeGetResult(type, i)));
  return tp__walk_outside(func, visit, r);
}

static tp_status read_module(reading *r, MlirOperation module) {
  if (tp__is_local(module))
    return tp__error(module, TP_INVALID_ARGUMENT,
                     "the module is already partitioned (tp.phase = \"local\"); read the layouts "
                     "before tp-partition, or those of arguments and results with tp_plan_measure");
  TP_TRY(tp__module_mesh(module, NULL, &r->layouts.mesh));
  if (r->layouts.mesh.n_axes == 0)
    return tp__error(module, TP_INVALID_ARGUMENT,
                     "the module has no mesh, so the program is not planned; run tp-propagate");
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tp__is_planned_func(op))
      TP_TRY(read_function(r, op));
  if (r->failed)
    return tp__out_of_memory(module);
  r->layouts.n = (int32_t)r->n;
  r->layouts.items = r->items;
  return TP_OK;
}

tp_status tp_layouts_read(MlirModule module, tp_layouts **layouts) {
  MlirOperation op = mlirModuleGetOperation(module);
  reading *r = tp__calloc(1, sizeof *r);
  if (!r)
    return tp__out_of_memory(op);
  tp_status status = read_module(r, op);
  tp__source_close(&r->source);
  if (status == TP_OK)
    *layouts = &r->layouts;
  else
    tp_layouts_destroy(&r->layouts);
  return status;
}

void tp_layouts_destroy(tp_layouts *layouts) {
  reading *r = (reading *)layouts;
  if (!r)
    return;
  tp__arena_destroy(&r->arena);
  tp__free(r->items);
  tp__free(r);
}
