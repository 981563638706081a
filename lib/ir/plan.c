/* Measures a program: signature, collectives, arithmetic. */
#include "tp/plan.h"

#include "ir/annotation.h"
#include "ir/location.h"
#include "ir/place.h"
#include "ir/source_names.h"
#include "ir/work.h"
#include "sharding/sharding.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALL_DEPTH = 1000 };

typedef struct measure {
  tp_plan plan; /* must be first: the public part of this struct */
  tp__arena arena;
  MlirOperation module, func;
  tp_source source;
  tp_topology topology;
  tp_plan_collective *collectives;
  size_t capacity;
  /* Nesting depth around the current op: calls, loops, and loops over blocks that stay in the cache
   * (tp.blocks). */
  int depth, loops, blocks;
  MlirOperation called[MAX_CALL_DEPTH]; /* the functions whose bodies are being measured */
  double times;         /* the number of executions of the current op, as far as known */
  int64_t n_called_ops; /* ops visited inside of called functions */
} measure;

/* ---- texts ---- */

typedef struct text_sink {
  measure *m;
  tp__string string;
} text_sink;

static void sink(MlirStringRef part, void *data) {
  tp__string_append_bytes(&((text_sink *)data)->string, part.data, part.length);
}

static const char *keep(measure *m, tp__string *string) {
  const char *text = tp__arena_strdup(&m->arena, tp__string_text(string));
  tp__string_destroy(string);
  return text ? text : "";
}

static const char *type_text(measure *m, MlirType type) {
  text_sink s = {.m = m};
  mlirTypePrint(type, sink, &s);
  return keep(m, &s.string);
}

static const char *string_attr(measure *m, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return "";
  MlirStringRef text = mlirStringAttrGetValue(attr);
  const char *copy = tp__arena_strndup(&m->arena, text.data, text.length);
  return copy ? copy : "";
}

static const char *unsigned_text(measure *m, const char *element) {
  const char *text = tp__arena_printf(&m->arena, "u%s", element);
  return text ? text : element;
}

/* ---- signature ---- */

static const char *argument_name(measure *m, int i) {
  char name[TP_BOUNDARY_TEXT];
  tp__argument_name(&m->source, m->func, i, sizeof name, name);
  const char *copy = tp__arena_strdup(&m->arena, name);
  return copy ? copy : "";
}

static tp_status measure_value(measure *m, bool is_argument, int i, MlirType type,
                               tp_plan_value *value) {
  MlirAttribute (*attr)(MlirOperation, int, const char *) =
      is_argument ? tp__arg_attr : tp__result_attr;
  char what[32];
  snprintf(what, sizeof what, "%s %d", is_argument ? "argument" : "result", i);
  value->name = is_argument ? argument_name(m, i) : string_attr(m, attr(m->func, i, "tp.name"));
  value->role = string_attr(m, attr(m->func, i, "tp.role"));
  value->is_scalar = !tp__is_tensor(type);
  MlirType element = value->is_scalar ? type : tp__element_type(type);
  value->element = type_text(m, element);
  if (mlirTypeIsAInteger(element) && !mlirAttributeIsNull(attr(m->func, i, "tp.unsigned")))
    value->element = unsigned_text(m, value->element);
  value->element_size = tp__element_size(element);
  value->sharding = "[]";
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

static tp_status measure_signature(measure *m) {
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

/* ---- collectives ---- */

static const char *axes_text(measure *m, int n, const int *axes) {
  tp__string text = {0};
  for (int i = 0; i < n;) {
    int run = 1; /* adjacent sub-axes print as one axis */
    while (i + run < n && axes[i + run] == axes[i] + run &&
           m->plan.mesh.axes[axes[i + run]].parent == m->plan.mesh.axes[axes[i]].parent)
      run++;
    char name[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(&m->plan.mesh, axes[i], run, name, sizeof name);
    tp__string_printf(&text, "%s%s", i ? "," : "", name);
    i += run;
  }
  return keep(m, &text);
}

/* Returns tp.combiner, or the combiner of upstream's reduction attribute, which prints as
 * #shard<partial max>. */
static const char *combiner_text(measure *m, MlirOperation op) {
  const char *ours = string_attr(m, tp__get(op, "tp.combiner"));
  MlirAttribute theirs = tp__inherent(op, "reduction");
  if (*ours || mlirAttributeIsNull(theirs))
    return ours;
  text_sink s = {.m = m};
  mlirAttributePrint(theirs, sink, &s);
  const char *start = strstr(tp__string_text(&s.string), "partial ");
  const char *kept =
      start ? tp__arena_strndup(&m->arena, start + 8, strcspn(start + 8, ">")) : NULL;
  tp__string_destroy(&s.string);
  return kept ? kept : "";
}

static tp_status add_collective(measure *m, MlirOperation op, tp_collective kind, int n_axes,
                                const int *axes) {
  const tp_mesh *mesh = &m->plan.mesh;
  int64_t group = 1;
  for (int i = 0; i < n_axes; i++)
    group *= mesh->axes[axes[i]].size;
  if (group == 1)
    return TP_OK;
  MlirType operand = mlirValueGetType(mlirOperationGetOperand(op, 0)),
           result = mlirValueGetType(mlirOperationGetResult(op, 0));
  int64_t elements = tp__n_elements(kind == TP_ALL_GATHER ? result : operand);
  int64_t size = tp__element_size(tp__element_type(operand));
  size_t n = (size_t)m->plan.n_collectives;
  if (tp__grow((void **)&m->collectives, &m->capacity, n + 1, sizeof *m->collectives) != TP_OK)
    return tp__out_of_memory(op);
  tp_plan_collective *c = m->collectives + n;
  *c = (tp_plan_collective){
      .kind = kind,
      .n_axes = n_axes,
      .axes_text = axes_text(m, n_axes, axes),
      .group = group,
      .tensor = type_text(m, operand),
      .combiner = combiner_text(m, op),
      .bytes = tp_cost_bytes(kind, group, elements, size),
      .cost = tp_cost_flat(&m->topology, mesh, kind, n_axes, axes, elements, size),
      .location = tp__location_text(&m->arena, mlirOperationGetLocation(op)),
      .in_loop = m->loops > 0};
  memcpy(c->axes, axes, (size_t)n_axes * sizeof *axes);
  m->plan.n_collectives++;
  m->plan.bytes += c->bytes;
  m->plan.communication = tp_cost_add(m->plan.communication, c->cost);
  return TP_OK;
}

/* Adds a permute. Its group consists of the axes along which some pair moves data. */
static tp_status add_permute(measure *m, MlirOperation op) {
  const tp_mesh *mesh = &m->plan.mesh;
  MlirAttribute pairs = tp__get(op, "tp.pairs");
  int n = 0, axes[TP_MAX_AXES];
  bool moves[TP_MAX_AXES] = {false};
  int64_t n_identical = 0, n_devices = tp_mesh_size(mesh);
  for (intptr_t i = 0; mlirAttributeIsAArray(pairs) && i < mlirArrayAttrGetNumElements(pairs);
       i++) {
    int64_t pair[2];
    if (tp__int_list(mlirArrayAttrGetElement(pairs, i), 2, pair) != 2 || pair[0] < 0 ||
        pair[1] < 0 || pair[0] >= n_devices || pair[1] >= n_devices)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "tp.pairs: entry %lld is not a pair of device numbers below %lld",
                       (long long)i, (long long)n_devices);
    n_identical += pair[0] == pair[1];
    for (int a = 0; a < mesh->n_axes; a++)
      moves[a] |= tp_mesh_coordinate(mesh, pair[0], a) != tp_mesh_coordinate(mesh, pair[1], a);
  }
  if (n_identical == n_devices)
    return TP_OK;
  for (int a = 0; a < mesh->n_axes; a++)
    if (moves[a])
      axes[n++] = a;
  bool nothing = n == 0; /* only zeros arrive: count the whole mesh */
  for (int a = 0; nothing && a < mesh->n_axes; a++)
    axes[a] = a;
  return add_collective(m, op, TP_PERMUTE, nothing ? mesh->n_axes : n, axes);
}

static tp_status measure_collective(measure *m, MlirOperation op) {
  static const struct {
    const char *name;
    tp_collective kind;
  } kinds[] = {
      {"shard.all_reduce", TP_ALL_REDUCE},         {"shard.reduce", TP_ALL_REDUCE},
      {"shard.all_gather", TP_ALL_GATHER},         {"shard.gather", TP_ALL_GATHER},
      {"shard.reduce_scatter", TP_REDUCE_SCATTER}, {"shard.all_to_all", TP_ALL_TO_ALL},
      {"shard.broadcast", TP_BROADCAST},           {"shard.scatter", TP_BROADCAST},
  };
  if (!m->plan.is_local) /* a user wrote the op; a program for one device does not communicate */
    return TP_OK;
  if (!mlirAttributeIsNull(tp__get(op, "tp.pairs")))
    return add_permute(m, op);
  for (int i = 0; i < TP_LEN(kinds); i++) {
    if (!tp__op_is(op, kinds[i].name))
      continue;
    int axes[TP_MAX_AXES];
    tp__axis_runs runs;
    TP_TRY(tp__read_axis_runs(op, "grid_axes", &m->plan.mesh, &runs));
    return add_collective(m, op, kinds[i].kind, tp__axes_of_runs(&runs, axes), axes);
  }
  return TP_OK;
}

/* ---- arithmetic ---- */

static void measure_compute(measure *m, MlirOperation op) {
  tp_work work;
  if (!tp__op_work(op, &work))
    return;
  if (m->blocks > 0)
    work.memory_bytes = 0;
  m->plan.flops += (work.contraction_flops + work.scalar_ops) * m->times;
  double cost = (double)tp_cost_compute(&m->topology, &work) * m->times;
  m->plan.compute = tp_cost_add(
      m->plan.compute, cost < (double)TP_COST_FORBIDDEN ? (tp_cost)cost : TP_COST_FORBIDDEN);
}

/* ---- walking ---- */

/* Merges the collectives of a fused function into one, because one call of the runtime executes
 * them all. */
static void join_collectives(measure *m, int first) {
  tp_plan_collective *c = m->collectives + first;
  for (int i = first + 1; i < m->plan.n_collectives; i++) {
    c->bytes += m->collectives[i].bytes;
    c->cost = tp_cost_add(c->cost, m->collectives[i].cost);
  }
  if (m->plan.n_collectives > first)
    m->plan.n_collectives = first + 1;
}

/* Replaces the collectives of a fused softmax by its actual communication: an all-gather of 16
 * bytes per row. Its results have one number per row. */
static void gather_parts(measure *m, MlirOperation call, int first) {
  enum { NUMBERS = 4 };
  if (m->plan.n_collectives == first)
    return;
  tp_plan_collective *c = m->collectives + first;
  int64_t rows = tp__n_elements(mlirValueGetType(mlirOperationGetResult(call, 0)));
  int64_t elements = tp__multiply(tp__multiply(rows, NUMBERS), c->group), size = sizeof(float);
  m->plan.bytes -= c->bytes;
  m->plan.communication -= c->cost;
  c->kind = TP_ALL_GATHER;
  c->combiner = "";
  c->bytes = tp_cost_bytes(c->kind, c->group, elements, size);
  c->cost = tp_cost_flat(&m->topology, &m->plan.mesh, c->kind, c->n_axes, c->axes, elements, size);
  m->plan.bytes += c->bytes;
  m->plan.communication = tp_cost_add(m->plan.communication, c->cost);
}

static bool is_softmax(MlirAttribute fused) {
  MlirAttribute kind = mlirAttributeIsADictionary(fused)
                           ? mlirDictionaryAttrGetElementByName(fused, tp__ref("kind"))
                           : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(kind) && mlirAttributeIsAString(kind) &&
         tp__ref_is(mlirStringAttrGetValue(kind), "softmax_rows");
}

static tp_status enter_call(measure *m, MlirOperation call, MlirOperation callee) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee"));
  for (int i = 0; i < m->depth; i++)
    if (mlirOperationEqual(m->called[i], callee))
      return tp__error(call, TP_UNSUPPORTED,
                       "@%.*s calls itself; a recursive program cannot be sharded, use a "
                       "loop instead",
                       (int)name.length, name.data);
  if (m->depth == MAX_CALL_DEPTH)
    return tp__error(call, TP_UNSUPPORTED, "calls nest more than %d deep; inline some of them",
                     MAX_CALL_DEPTH);
  m->called[m->depth++] = callee;
  return TP_OK;
}

static tp_status measure_ops(measure *m, MlirOperation parent) {
  bool structured = tp__op_has_dialect(parent, "linalg");
  bool loop = tp__op_is(parent, "scf.for") || tp__op_is(parent, "scf.while");
  bool blocks = loop && !mlirAttributeIsNull(tp__get(parent, "tp.blocks"));
  double before = m->times, trips;
  tp_status status = TP_OK;
  m->loops += loop;
  m->blocks += blocks;
  if (tp__loop_trips(parent, &trips))
    m->times *= trips;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(parent) && !structured; r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation op = mlirBlockGetFirstOperation(block);
           !mlirOperationIsNull(op) && status == TP_OK; op = mlirOperationGetNextInBlock(op)) {
        measure_compute(m, op);
        status = measure_collective(m, op);
        if (status == TP_OK && m->depth > 0 && ++m->n_called_ops > TP_MAX_INLINED_OPS)
          status = tp__error(m->func, TP_UNSUPPORTED,
                             "has more than %d ops, including the bodies of the functions that it "
                             "calls; make fewer calls, or call in a loop",
                             TP_MAX_INLINED_OPS);
        if (status == TP_OK && tp__op_is(op, "func.call")) {
          MlirOperation callee = tp__callee(m->module, op);
          int before_call = m->plan.n_collectives;
          if (!mlirOperationIsNull(callee))
            status = enter_call(m, op, callee);
          if (!mlirOperationIsNull(callee) && status == TP_OK)
            status = measure_ops(m, callee);
          MlirAttribute fused =
              mlirOperationIsNull(callee) ? (MlirAttribute){NULL} : tp__get(callee, "tp.fused");
          if (!mlirAttributeIsNull(fused))
            join_collectives(m, before_call);
          if (!mlirAttributeIsNull(fused) && is_softmax(fused))
            gather_parts(m, op, before_call);
          m->depth -= mlirOperationIsNull(callee) ? 0 : 1;
        }
        if (status == TP_OK)
          status = measure_ops(m, op);
      }
  m->loops -= loop;
  m->blocks -= blocks;
  m->times = before;
  return status;
}

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
static tp_status refuse_functions(measure *m, const char *name) {
  enum { SHOWN = 400 };
  tp__string names = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(m->module, 0));
       !mlirOperationIsNull(op) && names.length < SHOWN; op = mlirOperationGetNextInBlock(op)) {
    if (!may_run(op))
      continue;
    MlirStringRef own = mlirStringAttrGetValue(tp__inherent(op, "sym_name"));
    tp__string_printf(&names, "%s@%.*s", names.length ? ", " : "", (int)own.length, own.data);
  }
  const char *dots = names.length < SHOWN ? "" : ", ...", *list = tp__string_text(&names);
  tp_status status =
      name ? tp__error(m->module, TP_NOT_FOUND,
                       "has no public function @%s with a body; it has %s%s", name, list, dots)
           : tp__error(m->module, TP_NOT_FOUND,
                       "has several public functions and none is @main; name one of %s%s", list,
                       dots);
  tp__string_destroy(&names);
  return status;
}

static tp_status choose_function(measure *m, const char *name) {
  int n = 0;
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirModuleGetBody(mlirModuleFromOperation(m->module)));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!may_run(op))
      continue;
    bool wanted =
        tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), name ? name : "main");
    if (wanted || (!name && n == 0))
      m->func = op;
    n++;
    if (wanted)
      return TP_OK;
  }
  if (n == 1 && !name)
    return TP_OK;
  return n == 0 ? tp__error(m->module, TP_NOT_FOUND, "has no public function with a body")
                : refuse_functions(m, name);
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

static tp_status prepare(measure *m, const char *function, const char *topology) {
  static const char *const one[] = {"all"};
  m->plan.is_local = tp__is_local(m->module);
  TP_TRY(choose_function(m, function));
  if (m->plan.is_local)
    TP_TRY(tp__module_mesh(m->module, NULL, &m->plan.mesh));
  if (m->plan.mesh.n_axes == 0)
    TP_TRY(tp_mesh_create("mesh", 1, one, (const int64_t[]){1}, &m->plan.mesh));
  m->plan.n_devices = tp_mesh_size(&m->plan.mesh);
  m->plan.function = string_attr(m, tp__inherent(m->func, "sym_name"));
  topology = topology && *topology ? topology : tp_topology_names()[0];
  return tp__load_topology(m->module, topology, &m->plan.mesh, &m->topology);
}

tp_status tp_module_mesh(MlirModule module, const char *binding, tp_mesh *mesh) {
  return tp__module_mesh(mlirModuleGetOperation(module), binding, mesh);
}

tp_status tp_plan_measure(MlirModule module, const char *function, const char *topology,
                          tp_plan **plan) {
  measure *m = tp__calloc(1, sizeof *m);
  if (!m)
    return tp__out_of_memory(mlirModuleGetOperation(module));
  m->module = mlirModuleGetOperation(module);
  m->times = 1;
  tp_status status = prepare(m, function, topology);
  if (status == TP_OK)
    status = measure_signature(m);
  tp__source_close(&m->source);
  if (status == TP_OK)
    status = measure_ops(m, m->func);
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
  measure *m = (measure *)plan;
  tp__free(m->collectives);
  tp__arena_destroy(&m->arena);
  tp__free(m);
}
