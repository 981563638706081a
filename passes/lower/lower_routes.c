/* Lowers exchanges of rows (ir/route_call.h) to calls of the runtime. */
#include "passes/support/lower.h"

#include "ir/route_call.h"

#include <string.h>

static tprt_dtype type_of(MlirOperation op, int operand) {
  return tp__runtime_dtype(
      tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, operand))));
}

static tprt_abi_route words_of(MlirOperation op, const tp_route *route) {
  static const tprt_route_form forms[] = {[TP_ROUTE_GATHER] = TPRT_ROUTE_GATHER,
                                          [TP_ROUTE_ADD] = TPRT_ROUTE_ADD,
                                          [TP_ROUTE_SET] = TPRT_ROUTE_SET};
  MlirValue grouped =
      route->to_groups ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, TP_ROUTE_ROWS);
  return (tprt_abi_route){.form = forms[route->form],
                          .to_groups = route->to_groups,
                          .block_rows = route->blocks,
                          .group_rows = tp__value_size(grouped, 0),
                          .n_groups =
                              tp__value_size(mlirOperationGetOperand(op, TP_ROUTE_STARTS), 0),
                          .position_type = type_of(op, TP_ROUTE_POSITIONS),
                          .group_type = type_of(op, TP_ROUTE_STARTS),
                          .part_axes = route->part_axes};
}

static tp_status lower(tp__lowering *l, MlirOperation op) {
  static const tprt_operand roles[] = {[TP_ROUTE_ROWS] = TPRT_IN_TENSOR,
                                       [TP_ROUTE_POSITIONS] = TPRT_IN_POSITION,
                                       [TP_ROUTE_STARTS] = TPRT_IN_STARTS,
                                       [TP_ROUTE_ENDS] = TPRT_IN_ENDS,
                                       [TP_ROUTE_INIT] = TPRT_IN_INIT};
  tp_route route;
  tprt_abi_site site;
  TP_TRY(tp__route_read(op, &l->mesh, &route));
  TP_TRY(tp__site_begin(op, TPRT_SITE_ROUTE, route.n_axes, route.axes,
                        mlirValueGetType(mlirOperationGetOperand(op, TP_ROUTE_ROWS)), &site));
  tprt_abi_route words = words_of(op, &route);
  int64_t extra[sizeof words / sizeof(int64_t)];
  memcpy(extra, &words, sizeof words);
  const tprt_operand output = TPRT_OUT_TENSOR;
  return tp__fused_call_site(l, op, &site, TP_LEN(extra), extra, roles, &output);
}

tp_status tp__lower_route(tp__lowering *l, MlirOperation op, bool *done) {
  *done = tp__is_route(op);
  return *done ? lower(l, op) : TP_OK;
}
