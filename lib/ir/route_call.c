/* Exchanges of rows: calls with tp.route. */
#include "ir/route_call.h"

#include "ir/annotation.h"
#include "ir/collectives.h"
#include "ir/diagnostics.h"

#include <stdio.h>

static const char prefix[] = "tp.route";
static const char *const forms[] = {
    [TP_ROUTE_GATHER] = "gather", [TP_ROUTE_ADD] = "add", [TP_ROUTE_SET] = "set"};
static const char *const sides[] = {"blocks", "groups"};

bool tp__is_route(MlirOperation op) {
  return tp__op_is(op, "func.call") && !mlirAttributeIsNull(tp__get(op, prefix));
}

bool tp__is_route_symbol(MlirOperation func) {
  if (!tp__op_is(func, "func.func") || tp__is_defined_func(func))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  size_t n = sizeof prefix - 1;
  return name.length >= n && memcmp(name.data, prefix, n) == 0 &&
         (name.length == n || name.data[n] == '.');
}

/* ---- building ---- */

/* The symbol of a declaration of this type, which is added to the module if there is none. */
static MlirAttribute declare(MlirOperation module, MlirLocation location, MlirType type) {
  MlirContext context = mlirOperationGetContext(module);
  MlirBlock block = tp__region_block(module, 0);
  char name[64];
  int n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!tp__is_route_symbol(op))
      continue;
    n++;
    if (mlirTypeEqual(tp__func_type(op), type))
      return mlirFlatSymbolRefAttrGet(context,
                                      mlirStringAttrGetValue(tp__inherent(op, "sym_name")));
  }
  snprintf(name, sizeof name, n ? "%s.%d" : "%s", prefix, n);
  mlirBlockAppendOwnedOperation(block, tp__create_private_func(location, name, type));
  return mlirFlatSymbolRefAttrGet(context, tp__ref(name));
}

MlirValue tp__route_build(MlirOperation where, MlirOperation module, const tp_mesh *mesh,
                          const tp_route *route, int n_operands, const MlirValue *operands,
                          MlirType result) {
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirAttribute axes[TP_MAX_AXES], parts[TP_MAX_AXES];
  int n_parts = 0;
  MlirType types[TP_ROUTE_INIT + 1];
  for (int i = 0; i < route->n_axes; i++) {
    char text[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, route->axes[i], 1, text, sizeof text);
    axes[i] = tp__attr_string(context, text);
    if (route->part_axes >> i & 1)
      parts[n_parts++] = axes[i];
  }
  for (int i = 0; i < n_operands; i++)
    types[i] = mlirValueGetType(operands[i]);
  MlirNamedAttribute fields[] = {
      tp__named(context, "axes", mlirArrayAttrGet(context, route->n_axes, axes)),
      tp__named(context, "form", tp__attr_string(context, forms[route->form])),
      tp__named(context, "rows", tp__attr_i64(context, route->blocks)),
      tp__named(context, "to", tp__attr_string(context, sides[route->to_groups])),
      tp__named(context, "parts", mlirArrayAttrGet(context, n_parts, parts)),
  };
  int n_fields = TP_LEN(fields) - (n_parts == 0);
  MlirType type = mlirFunctionTypeGet(context, n_operands, types, 1, &result);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "callee", declare(module, location, type)),
      tp__named(context, prefix, mlirDictionaryAttrGet(context, n_fields, fields)),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "func.call",
                                            .location = location,
                                            .n_operands = n_operands,
                                            .operands = operands,
                                            .n_results = 1,
                                            .results = &result,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

/* Row first + rows * part / n, rounded down. */
static MlirValue row_of_part(MlirOperation where, MlirValue first, MlirValue rows, MlirValue part,
                             int64_t n) {
  MlirValue before = tp__binary(where, "arith.divui", tp__binary(where, "arith.muli", rows, part),
                                tp__index_constant(where, n));
  return tp__binary(where, "arith.addi", first, before);
}

void tp__route_build_part(MlirOperation where, const tp_mesh *mesh, int n_axes, const int *axes,
                          MlirValue *first, MlirValue *last) {
  int64_t n = 1;
  for (int i = 0; i < n_axes; i++)
    n *= mesh->axes[axes[i]].size;
  MlirValue part = tp__build_group_index(where, mesh, n_axes, axes);
  MlirValue next = tp__binary(where, "arith.addi", part, tp__index_constant(where, 1));
  MlirValue rows = tp__binary(where, "arith.subi", *last, *first), begin = *first;
  *first = row_of_part(where, begin, rows, part, n);
  *last = row_of_part(where, begin, rows, next, n);
}

/* ---- reading ---- */

/* An entry of tp.route; null if it is missing. */
static MlirAttribute entry_of(MlirAttribute attr, const char *name) {
  bool is_list = mlirAttributeIsADictionary(attr);
  return is_list ? mlirDictionaryAttrGetElementByName(attr, tp__ref(name)) : (MlirAttribute){NULL};
}

/* Reads the axes of an entry, in the order of the mesh. Returns their number; -1: a mistake. */
static int read_axes(MlirOperation op, const tp_mesh *mesh, const char *name, int *axes) {
  MlirAttribute list = entry_of(tp__get(op, prefix), name);
  if (mlirAttributeIsNull(list))
    return 0;
  int n = mlirAttributeIsAArray(list) ? (int)mlirArrayAttrGetNumElements(list) : -1;
  if (n > mesh->n_axes)
    return -1;
  for (int i = 0; i < n; i++) {
    axes[i] = tp__axis_named(mesh, mlirArrayAttrGetElement(list, i));
    if (axes[i] < 0 || (i > 0 && axes[i] <= axes[i - 1]))
      return -1;
  }
  return n;
}

static bool read_all_axes(MlirOperation op, const tp_mesh *mesh, tp_route *route) {
  int parts[TP_MAX_AXES], n_parts = read_axes(op, mesh, "parts", parts), n_found = 0;
  route->n_axes = read_axes(op, mesh, "axes", route->axes);
  for (int i = 0; i < route->n_axes; i++)
    for (int k = 0; k < n_parts; k++)
      if (parts[k] == route->axes[i]) {
        route->part_axes |= UINT32_C(1) << i;
        n_found++;
      }
  return route->n_axes > 0 && n_parts >= 0 && n_found == n_parts;
}

int tp__route_axes(const tp_route *route, const tp_mesh *mesh, bool of_parts, int *axes,
                   int64_t *n) {
  int n_axes = 0;
  *n = 1;
  for (int i = 0; i < route->n_axes; i++) {
    if ((route->part_axes >> i & 1) != of_parts)
      continue;
    axes[n_axes++] = route->axes[i];
    *n *= mesh->axes[route->axes[i]].size;
  }
  return n_axes;
}

/* True if the operands have the shapes of a route over n devices, n_holders of which divide the
 * groups. */
static bool shapes_fit(MlirOperation op, const tp_route *route, int64_t n, int64_t n_holders) {
  int rank[TP_ROUTE_INIT + 1], result_rank;
  int64_t shape[TP_ROUTE_INIT + 1][TP_MAX_RANK], result[TP_MAX_RANK];
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)), &rank[i], shape[i]))
      return false;
  MlirType type = tp__result_type(op);
  if (!tp__static_tensor(type, &result_rank, result))
    return false;
  MlirType element = tp__element_type(type);
  bool fits =
      rank[TP_ROUTE_ROWS] == result_rank && result_rank > 0 &&
      mlirTypeEqual(element,
                    tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, TP_ROUTE_ROWS))));
  for (int d = 1; d < result_rank && fits; d++)
    fits = shape[TP_ROUTE_ROWS][d] == result[d];
  bool is_gather = route->form == TP_ROUTE_GATHER;
  int64_t n_positions = rank[TP_ROUTE_POSITIONS] > 0 ? shape[TP_ROUTE_POSITIONS][0] : -1,
          block = (route->to_groups ? shape[TP_ROUTE_ROWS] : result)[0],
          groups = (route->to_groups ? result : shape[TP_ROUTE_ROWS])[0];
  /* there is a position for each row of y in a gather, and of `rows` otherwise */
  bool counts_blocks = is_gather != route->to_groups;
  return fits && block == route->blocks / n + (route->blocks % n != 0) &&
         n_positions == (counts_blocks ? route->blocks : groups) && rank[TP_ROUTE_STARTS] == 1 &&
         rank[TP_ROUTE_ENDS] == 1 && shape[TP_ROUTE_STARTS][0] == shape[TP_ROUTE_ENDS][0] &&
         shape[TP_ROUTE_STARTS][0] % n_holders == 0 &&
         (is_gather ||
          mlirTypeEqual(type, mlirValueGetType(mlirOperationGetOperand(op, TP_ROUTE_INIT))));
}

tp_status tp__route_read(MlirOperation op, const tp_mesh *mesh, tp_route *route) {
  *route = (tp_route){.form = TP_ROUTE_GATHER};
  MlirAttribute attr = tp__get(op, prefix);
  int form = tp__attr_which(entry_of(attr, "form"), TP_LEN(forms), forms),
      to = tp__attr_which(entry_of(attr, "to"), TP_LEN(sides), sides);
  MlirAttribute rows = entry_of(attr, "rows");
  bool fits = form >= 0 && to >= 0 && !mlirAttributeIsNull(rows) && mlirAttributeIsAInteger(rows) &&
              mlirOperationGetNumResults(op) == 1 &&
              mlirOperationGetNumOperands(op) == TP_ROUTE_INIT + (form != TP_ROUTE_GATHER) &&
              read_all_axes(op, mesh, route);
  if (fits) {
    int axes[TP_MAX_AXES];
    int64_t n_holders, n_parts;
    tp__route_axes(route, mesh, false, axes, &n_holders);
    tp__route_axes(route, mesh, true, axes, &n_parts);
    route->form = (tp_route_form)form;
    route->to_groups = to;
    route->blocks = mlirIntegerAttrGetValueInt(rows);
    fits = route->blocks >= 0 && shapes_fit(op, route, n_holders * n_parts, n_holders);
  }
  return fits
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT,
                         "tp.route and the types of the call do not fit; tp-partition writes both, "
                         "so run it again");
}
