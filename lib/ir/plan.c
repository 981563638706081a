/* Measures a program: which function, on which mesh and topology. */
#include "ir/plan_measure.h"

#include "ir/annotation.h"

static bool is_public(MlirOperation func) {
  MlirAttribute visibility = tp__inherent(func, "sym_visibility");
  return mlirAttributeIsNull(visibility) ||
         tp__ref_is(mlirStringAttrGetValue(visibility), "public");
}

static bool may_run(MlirOperation op) {
  return tp__op_is(op, "func.func") &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))) && is_public(op);
}

/* Refuses a name, or NULL, with the functions that there are. */
static tp_status refuse_functions(MlirOperation module, const char *name) {
  enum { SHOWN = 400 };
  tp__string names = {0};
  MlirStringRef first = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
       !mlirOperationIsNull(op) && names.length < SHOWN; op = mlirOperationGetNextInBlock(op)) {
    if (!may_run(op))
      continue;
    MlirStringRef own = mlirStringAttrGetValue(tp__inherent(op, "sym_name"));
    first = names.length ? first : own;
    tp__string_printf(&names, "%s@%.*s", names.length ? ", " : "", (int)own.length, own.data);
  }
  const char *dots = names.length < SHOWN ? "" : ", ...", *list = tp__string_text(&names);
  tp_status status =
      name ? tp__error(module, TP_NOT_FOUND,
                       "has no public function @%s with a body; it has %s%s; choose one, as in "
                       "--function %.*s",
                       name, list, dots, (int)first.length, first.data)
           : tp__error(module, TP_NOT_FOUND,
                       "has several public functions and none is @main: %s%s; choose one, as in "
                       "--function %.*s",
                       list, dots, (int)first.length, first.data);
  tp__string_destroy(&names);
  return status;
}

tp_status tp__choose_function(MlirOperation module, const char *name, MlirOperation *func) {
  int n = 0;
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirModuleGetBody(mlirModuleFromOperation(module)));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!may_run(op))
      continue;
    bool wanted =
        tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), name ? name : "main");
    if (wanted || (!name && n == 0))
      *func = op;
    n++;
    if (wanted)
      return TP_OK;
  }
  if (n == 1 && !name)
    return TP_OK;
  return n == 0 ? tp__error(module, TP_NOT_FOUND,
                            "has no public function with a body; write one, such as func.func "
                            "@main(%%x: tensor<8x16xf32>) -> tensor<8x16xf32> {...}")
                : refuse_functions(module, name);
}

/* The modelled time of the plan of the function; TP_COST_FORBIDDEN if it has none. */
static tp_cost planned_step(MlirOperation func) {
  static const char *const keys[] = {"step_ps", "cost_ps"};
  MlirAttribute plan = tp__get(func, "tp.plan");
  for (int i = 0; i < TP_LEN(keys); i++) {
    MlirAttribute time = mlirAttributeIsNull(plan) || !mlirAttributeIsADictionary(plan)
                             ? (MlirAttribute){NULL}
                             : mlirDictionaryAttrGetElementByName(plan, tp__ref(keys[i]));
    if (!mlirAttributeIsNull(time) && mlirAttributeIsAInteger(time) &&
        mlirIntegerAttrGetValueInt(time) >= 0)
      return mlirIntegerAttrGetValueInt(time);
  }
  return TP_COST_FORBIDDEN;
}

static tp_status prepare(tp_measure *m, const char *function, const char *topology) {
  static const char *const one[] = {"all"};
  m->plan.is_local = tp__is_local(m->module);
  TP_TRY(tp__choose_function(m->module, function, &m->func));
  if (m->plan.is_local)
    TP_TRY(tp__module_mesh(m->module, NULL, &m->plan.mesh));
  if (m->plan.mesh.n_axes == 0)
    TP_TRY(tp_mesh_create("mesh", 1, one, (const int64_t[]){1}, &m->plan.mesh));
  m->plan.n_devices = tp_mesh_size(&m->plan.mesh);
  m->plan.function = tp__measure_string_attr(m, tp__inherent(m->func, "sym_name"));
  topology = topology && *topology ? topology : tp_topology_names()[0];
  return tp__load_topology(m->module, topology, &m->plan.mesh, &m->topology);
}

tp_status tp_module_mesh(MlirModule module, const char *binding, tp_mesh *mesh) {
  return tp__module_mesh(mlirModuleGetOperation(module), binding, mesh);
}

tp_status tp_plan_measure(MlirModule module, const char *function, const char *topology,
                          tp_plan **plan) {
  tp_measure *m = tp__calloc(1, sizeof *m);
  if (!m)
    return tp__out_of_memory(mlirModuleGetOperation(module));
  m->module = mlirModuleGetOperation(module);
  m->times = 1;
  tp_status status = prepare(m, function, topology);
  if (status == TP_OK)
    status = tp__measure_signature(m);
  tp__source_close(&m->source);
  if (status == TP_OK)
    status = tp__measure_ops(m, m->func);
  m->plan.collectives = m->collectives;
  m->plan.step = m->func.ptr ? planned_step(m->func) : TP_COST_FORBIDDEN;
  if (m->plan.step == TP_COST_FORBIDDEN)
    m->plan.step = tp_cost_add(m->plan.communication, m->plan.compute);
  if (status == TP_OK)
    *plan = &m->plan;
  else
    tp_plan_destroy(&m->plan);
  return status;
}

tp_status tp_plan_constant(MlirModule module, const tp_plan *plan, int i, size_t size, void *data) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(mlirModuleGetOperation(module));
  MlirOperation func = mlirSymbolTableLookup(symbols, tp__ref(plan->function));
  mlirSymbolTableDestroy(symbols);
  MlirAttribute value =
      mlirOperationIsNull(func) ? (MlirAttribute){NULL} : tp__arg_attr(func, i, "tp.constant");
  if (mlirAttributeIsNull(value))
    return tp__error(mlirModuleGetOperation(module), TP_INVALID_ARGUMENT,
                     "argument %d of @%s is no constant of the program (no tp.constant)", i,
                     plan->function);
  if (!tp__constant_data(value, size, data))
    return tp__error(func, TP_INVALID_ARGUMENT,
                     "argument %d: its tp.constant has no data, or not the %zu bytes that its type "
                     "needs",
                     i, size);
  return TP_OK;
}

void tp_plan_destroy(tp_plan *plan) {
  if (!plan)
    return;
  tp_measure *m = (tp_measure *)plan;
  tp__free(m->collectives);
  tp__arena_destroy(&m->arena);
  tp__free(m);
}
