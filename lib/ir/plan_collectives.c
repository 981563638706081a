/* Measures collectives: groups, bytes, modelled times. */
#include "ir/plan_measure.h"

#include "ir/location.h"
#include "ir/place.h"
#include "ir/route_call.h"
#include "ir/work.h"

#include <string.h>

static const char *axes_text(tp_measure *m, int n, const int *axes) {
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
  return tp__measure_keep(m, &text);
}

/* Returns tp.combiner, or the combiner of upstream's reduction attribute, which prints as
 * #shard<partial max>. */
static const char *combiner_text(tp_measure *m, MlirOperation op) {
  const char *ours = tp__measure_string_attr(m, tp__get(op, "tp.combiner"));
  MlirAttribute theirs = tp__inherent(op, "reduction");
  if (*ours || mlirAttributeIsNull(theirs))
    return ours;
  tp__string text = {0};
  mlirAttributePrint(theirs, tp__append_part, &text);
  const char *start = strstr(tp__string_text(&text), "partial ");
  const char *kept =
      start ? tp__arena_strndup(&m->arena, start + 8, strcspn(start + 8, ">")) : NULL;
  tp__string_destroy(&text);
  return kept ? kept : "";
}

/* `elements` as in tp_cost_collective. */
static tp_status add_sent(tp_measure *m, MlirOperation op, tp_collective kind, int n_axes,
                          const int *axes, int64_t elements) {
  const tp_mesh *mesh = &m->plan.mesh;
  int64_t group = 1;
  for (int i = 0; i < n_axes; i++)
    group *= mesh->axes[axes[i]].size;
  if (group == 1)
    return TP_OK;
  MlirType operand = mlirValueGetType(mlirOperationGetOperand(op, 0));
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
      .tensor = tp__measure_type_text(m, operand),
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

static tp_status add_collective(tp_measure *m, MlirOperation op, tp_collective kind, int n_axes,
                                const int *axes) {
  MlirValue counted =
      kind == TP_ALL_GATHER ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 0);
  return add_sent(m, op, kind, n_axes, axes, tp__n_elements(mlirValueGetType(counted)));
}

/* Adds a permute. Its group consists of the axes along which some pair moves data. */
static tp_status add_permute(tp_measure *m, MlirOperation op) {
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

/* Adds an exchange of rows. How many a device sends is known at run time; with groups of equal
 * size, each device has an equal share of all rows that travel, and sends it to all devices
 * alike. */
static tp_status add_route(tp_measure *m, MlirOperation op) {
  tp_route route;
  TP_TRY(tp__route_read(op, &m->plan.mesh, &route));
  int64_t group = 1;
  for (int i = 0; i < route.n_axes; i++)
    group *= m->plan.mesh.axes[route.axes[i]].size;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, TP_ROUTE_ROWS));
  int64_t rows = tp__value_size(mlirOperationGetOperand(op, TP_ROUTE_POSITIONS), 0),
          of_tensor = mlirShapedTypeGetDimSize(type, 0),
          all = of_tensor > 0 ? tp__multiply(rows, tp__n_elements(type) / of_tensor) : 0;
  TP_TRY(
      add_sent(m, op, TP_ALL_TO_ALL, route.n_axes, route.axes, all / group + (all % group != 0)));
  if (group > 1)
    m->collectives[m->plan.n_collectives - 1].varies = true;
  return TP_OK;
}

tp_status tp__measure_collective(tp_measure *m, MlirOperation op) {
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
  if (tp__is_route(op))
    return add_route(m, op);
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

void tp__measure_join(tp_measure *m, int first) {
  tp_plan_collective *c = m->collectives + first;
  for (int i = first + 1; i < m->plan.n_collectives; i++) {
    c->bytes += m->collectives[i].bytes;
    c->cost = tp_cost_add(c->cost, m->collectives[i].cost);
  }
  if (m->plan.n_collectives > first)
    m->plan.n_collectives = first + 1;
}

void tp__measure_gather_parts(tp_measure *m, MlirOperation call, int first) {
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
