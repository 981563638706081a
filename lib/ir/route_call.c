/* Exchanges of rows: calls with tp.route. */
#include "ir/route_call.h"

#include "ir/annotation.h"
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
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, name)),
      tp__named(context, "function_type", mlirTypeAttrGet(type)),
      tp__named(context, "sym_visibility", tp__attr_string(context, "private")),
  };
  mlirBlockAppendOwnedOperation(block, tp__create(&(tp_build){.name = "func.func",
                                                              .location = location,
                                                              .n_attributes = TP_LEN(attrs),
                                                              .attributes = attrs,
                                                              .n_regions = 1}));
  return mlirFlatSymbolRefAttrGet(context, tp__ref(name));
}

MlirValue tp__route_build(MlirOperation where, MlirOperation module, const tp_mesh *mesh,
                          const tp_route *route, int n_operands, const MlirValue *operands,
                          MlirType result) {
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirAttribute axes[TP_MAX_AXES];
  MlirType types[TP_ROUTE_INIT + 1];
  for (int i = 0; i < route->n_axes; i++) {
    char text[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, route->axes[i], 1, text, sizeof text);
    axes[i] = tp__attr_string(context, text);
  }
  for (int i = 0; i < n_operands; i++)
    types[i] = mlirValueGetType(operands[i]);
  MlirNamedAttribute fields[] = {
      tp__named(context, "axes", mlirArrayAttrGet(context, route->n_axes, axes)),
      tp__named(context, "form", tp__attr_string(context, forms[route->form])),
      tp__named(context, "rows", tp__attr_i64(context, route->blocks)),
      tp__named(context, "to", tp__attr_string(context, sides[route->to_groups])),
  };
  MlirType type = mlirFunctionTypeGet(context, n_operands, types, 1, &result);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "callee", declare(module, location, type)),
      tp__named(context, prefix, mlirDictionaryAttrGet(context, TP_LEN(fields), fields)),
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

/* ---- reading ---- */

/* An entry of tp.route; null if it is missing. */
static MlirAttribute entry_of(MlirAttribute attr, const char *name) {
  bool is_list = mlirAttributeIsADictionary(attr);
  return is_list ? mlirDictionaryAttrGetElementByName(attr, tp__ref(name)) : (MlirAttribute){NULL};
}

static bool read_axes(MlirOperation op, const tp_mesh *mesh, tp_route *route) {
  MlirAttribute list = entry_of(tp__get(op, prefix), "axes");
  bool is_list = !mlirAttributeIsNull(list) && mlirAttributeIsAArray(list);
  route->n_axes = is_list ? (int)mlirArrayAttrGetNumElements(list) : 0;
  if (route->n_axes < 1 || route->n_axes > mesh->n_axes)
    return false;
  for (int i = 0; i < route->n_axes; i++) {
    int a = tp__axis_named(mesh, mlirArrayAttrGetElement(list, i));
    if (a < 0 || (i > 0 && a <= route->axes[i - 1]))
      return false;
    route->axes[i] = a;
  }
  return true;
}

/* True if the operands have the shapes of a route over n devices. */
static bool shapes_fit(MlirOperation op, const tp_route *route, int64_t n) {
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
         shape[TP_ROUTE_STARTS][0] % n == 0 &&
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
              read_axes(op, mesh, route);
  int64_t n = 1;
  for (int i = 0; i < route->n_axes && fits; i++)
    n *= mesh->axes[route->axes[i]].size;
  if (fits) {
    route->form = (tp_route_form)form;
    route->to_groups = to;
    route->blocks = mlirIntegerAttrGetValueInt(rows);
    fits = route->blocks >= 0 && shapes_fit(op, route, n);
  }
  return fits
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT,
                         "tp.route and the types of the call do not fit; tp-partition writes both, "
                         "so run it again");
}
