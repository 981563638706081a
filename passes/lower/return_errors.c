/* tp-return-errors: makes a program return at the first runtime call that fails.
 *
 * Each call that returns a status is followed by a branch to an exit block that returns this
 * status. So data left behind by a failed collective are never used as an index or a condition.
 * cf.assert becomes tprt_abi_fail instead of abort. */
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "support/support.h"

#include <stdio.h>
#include <string.h>

typedef struct exits {
  tp__lowering l;
  MlirRegion body;
  MlirBlock exit;     /* takes a status as block argument and returns it */
  MlirValue pointers; /* array of operands for calls of fused sites; null: none */
  int *n_messages;    /* messages of all functions */
} exits;

static bool gives_status(MlirOperation op) {
  tp__call call = tp__runtime_call(op);
  return call == TP_CALL_ENTER || call == TP_CALL_COLLECTIVE || call == TP_CALL_CONTRACT ||
         call == TP_CALL_FUSED || call == TP_CALL_DEVICE;
}

/* ---- calls of fused sites ---- */

/* Returns the address of element `i` of the array that the fused calls of the function share. */
static MlirValue build_slot(exits *e, MlirOperation where, int i) {
  const int32_t index = i;
  MlirNamedAttribute attrs[] = {
      tp__named(e->l.context, "elem_type", mlirTypeAttrGet(e->l.ptr)),
      tp__named(e->l.context, "rawConstantIndices", mlirDenseI32ArrayGet(e->l.context, 1, &index))};
  return mlirOperationGetResult(
      tp__build(where, "llvm.getelementptr", 1, &e->pointers, 1, &e->l.ptr, TP_LEN(attrs), attrs),
      0);
}

/* Passes the operands of a call in arrays; returns the new call. */
static MlirOperation pack_fused(exits *e, MlirOperation call) {
  enum { FIRST = 2 /* after the context and the site */ };
  int n_outputs = tp__fused_outputs(call), n = (int)mlirOperationGetNumOperands(call) - FIRST;
  for (int i = 0; i < n; i++) {
    MlirValue stored[] = {mlirOperationGetOperand(call, FIRST + i), build_slot(e, call, i)};
    tp__build(call, "llvm.store", TP_LEN(stored), stored, 0, NULL, 0, NULL);
  }
  MlirValue given[] = {mlirOperationGetOperand(call, 0), mlirOperationGetOperand(call, 1),
                       e->pointers, build_slot(e, call, n - n_outputs)};
  MlirValue status = tp__build_call(&e->l, call, "tprt_abi_fused", TP_LEN(given), given, e->l.i32);
  tp__replace_op(call, status);
  return mlirOpResultGetOwner(status);
}

static bool is_unpacked(MlirOperation op) {
  return tp__runtime_call(op) == TP_CALL_FUSED && tp__fused_outputs(op) > 0;
}

/* Packs all calls of fused sites. The array can lie on the stack, because a call reads it before it
 * returns. */
static void pack_calls(exits *e, tp_op_list *list) {
  int most = 0;
  for (size_t i = 0; i < list->n; i++) {
    int n = is_unpacked(list->items[i]) ? (int)mlirOperationGetNumOperands(list->items[i]) : 0;
    most = n > most ? n : most;
  }
  if (most == 0)
    return;
  MlirOperation head = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(e->body));
  MlirValue size = tp__build_int(head, e->l.i32, most);
  MlirNamedAttribute element = tp__named(e->l.context, "elem_type", mlirTypeAttrGet(e->l.ptr));
  e->pointers = mlirOperationGetResult(
      tp__build(head, "llvm.alloca", 1, &size, 1, &e->l.ptr, 1, &element), 0);
  for (size_t i = 0; i < list->n; i++)
    if (is_unpacked(list->items[i]))
      list->items[i] = pack_fused(e, list->items[i]);
}

/* Erases the declarations of callees that packing has replaced. */
static void drop_unpacked(MlirOperation module) {
  MlirOperation next,
      op = mlirBlockGetFirstOperation(mlirModuleGetBody(mlirModuleFromOperation(module)));
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    int n_inputs, n_outputs;
    if (tp__op_is(op, "func.func") &&
        tp__fused_counts(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), &n_inputs,
                         &n_outputs))
      mlirOperationDestroy(op);
  }
}

/* ---- exits ---- */

static tp_status collect(MlirOperation op, void *data) {
  tp_op_list *list = data;
  if (!gives_status(op) && !tp__op_is(op, "cf.assert"))
    return TP_OK;
  return tp__op_list_add(list, op);
}

static void append_branch(MlirBlock block, MlirLocation location, const char *name, int n_operands,
                          const MlirValue *operands, int n_targets, const MlirBlock *targets,
                          const int32_t *segments) {
  MlirOperationState state = mlirOperationStateGet(tp__ref(name), location);
  mlirOperationStateAddOperands(&state, n_operands, operands);
  mlirOperationStateAddSuccessors(&state, n_targets, targets);
  if (segments) {
    MlirContext context = mlirLocationGetContext(location);
    MlirNamedAttribute attr =
        tp__named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 3, segments));
    mlirOperationStateAddAttributes(&state, 1, &attr);
  }
  mlirBlockAppendOwnedOperation(block, mlirOperationCreate(&state));
}

/* Moves all ops after `op` to a new block and returns it. The block of `op` is left without a
 * terminator. */
static MlirBlock split_after(MlirRegion body, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op), rest = mlirBlockCreate(0, NULL, NULL);
  mlirRegionInsertOwnedBlockAfter(body, block, rest);
  for (MlirOperation o = mlirOperationGetNextInBlock(op); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(op)) {
    mlirOperationRemoveFromParent(o);
    mlirBlockAppendOwnedOperation(rest, o);
  }
  return rest;
}

static MlirValue append_int(exits *e, MlirBlock block, MlirLocation location, int64_t value) {
  MlirNamedAttribute attr = tp__named(e->l.context, "value", mlirIntegerAttrGet(e->l.i32, value));
  MlirOperation op = tp__create(&(tp_build){.name = "arith.constant",
                                            .location = location,
                                            .n_results = 1,
                                            .results = &e->l.i32,
                                            .n_attributes = 1,
                                            .attributes = &attr});
  mlirBlockAppendOwnedOperation(block, op);
  return mlirOperationGetResult(op, 0);
}

static void check_call(exits *e, MlirOperation call) {
  MlirLocation location = mlirOperationGetLocation(call);
  MlirBlock block = mlirOperationGetBlock(call), rest = split_after(e->body, call);
  MlirValue status = mlirOperationGetResult(call, 0),
            zero = append_int(e, block, location, TPRT_OK);
  MlirType i1 = mlirIntegerTypeGet(e->l.context, 1);
  MlirNamedAttribute equal = tp__named(e->l.context, "predicate", mlirIntegerAttrGet(e->l.i64, 0));
  MlirOperation compare = tp__create(&(tp_build){.name = "arith.cmpi",
                                                 .location = location,
                                                 .n_operands = 2,
                                                 .operands = (MlirValue[]){status, zero},
                                                 .n_results = 1,
                                                 .results = &i1,
                                                 .n_attributes = 1,
                                                 .attributes = &equal});
  mlirBlockAppendOwnedOperation(block, compare);
  append_branch(block, location, "cf.cond_br", 2,
                (MlirValue[]){mlirOperationGetResult(compare, 0), status}, 2,
                (MlirBlock[]){rest, e->exit}, (const int32_t[]){1, 0, 1});
}

/* Adds the message to the module as a zero-terminated constant and appends its address to `block`.
 * The message is cut to 511 characters. */
static MlirValue append_message(exits *e, MlirBlock block, MlirLocation location,
                                MlirStringRef text) {
  char name[64], type[64], message[512];
  snprintf(name, sizeof name, "tp.message.%d", (*e->n_messages)++);
  int n = snprintf(message, sizeof message, "%.*s", (int)text.length, text.data);
  n = n < (int)sizeof message ? n + 1 : (int)sizeof message;
  snprintf(type, sizeof type, "!llvm.array<%d x i8>", n);
  MlirNamedAttribute attrs[] = {
      tp__named(e->l.context, "sym_name", tp__attr_string(e->l.context, name)),
      tp__named(e->l.context, "global_type",
                mlirTypeAttrGet(mlirTypeParseGet(e->l.context, tp__ref(type)))),
      tp__named(e->l.context, "linkage", tp__parse_attr(e->l.context, "#llvm.linkage<internal>")),
      tp__named(e->l.context, "constant", mlirUnitAttrGet(e->l.context)),
      tp__named(e->l.context, "value",
                mlirStringAttrGet(e->l.context, mlirStringRefCreate(message, (size_t)n))),
      tp__named(e->l.context, "addr_space", mlirIntegerAttrGet(e->l.i32, 0)),
  };
  tp__insert_before(e->l.func, tp__create(&(tp_build){.name = "llvm.mlir.global",
                                                      .location = location,
                                                      .n_attributes = TP_LEN(attrs),
                                                      .attributes = attrs,
                                                      .n_regions = 1}));
  MlirNamedAttribute symbol =
      tp__named(e->l.context, "global_name", mlirFlatSymbolRefAttrGet(e->l.context, tp__ref(name)));
  MlirOperation address = tp__create(&(tp_build){.name = "llvm.mlir.addressof",
                                                 .location = location,
                                                 .n_results = 1,
                                                 .results = &e->l.ptr,
                                                 .n_attributes = 1,
                                                 .attributes = &symbol});
  mlirBlockAppendOwnedOperation(block, address);
  return mlirOperationGetResult(address, 0);
}

static void replace_assert(exits *e, MlirOperation assertion) {
  MlirLocation location = mlirOperationGetLocation(assertion);
  MlirBlock block = mlirOperationGetBlock(assertion), rest = split_after(e->body, assertion);
  MlirBlock fail = mlirBlockCreate(0, NULL, NULL);
  mlirRegionInsertOwnedBlockBefore(e->body, e->exit, fail);
  append_branch(block, location, "cf.cond_br", 1,
                (MlirValue[]){mlirOperationGetOperand(assertion, 0)}, 2, (MlirBlock[]){rest, fail},
                (const int32_t[]){1, 0, 0});
  MlirValue program = append_int(e, fail, location, TPRT_PROGRAM);
  MlirValue message =
      append_message(e, fail, location, mlirStringAttrGetValue(tp__inherent(assertion, "msg")));
  append_branch(fail, location, "cf.br", 1, &program, 1, &e->exit, NULL);
  MlirOperation branch = mlirBlockGetTerminator(fail);
  MlirValue status = tp__build_call(&e->l, branch, "tprt_abi_fail", 3,
                                    (MlirValue[]){e->l.ctx, program, message}, e->l.i32);
  mlirOperationSetOperand(branch, 0, status);
  mlirOperationDestroy(assertion);
}

typedef struct run_data {
  tp_pass *pass;
  int n_messages;
} run_data;

static tp_status check_entry(MlirOperation func, void *data) {
  run_data *run = data;
  tp_pass *pass = run->pass;
  tp_op_list list = {0};
  exits e = {.body = mlirOperationGetRegion(func, 0), .n_messages = &run->n_messages};
  tp__lowering_begin(&e.l, pass->module, func);
  tp_status status = tp__walk(func, collect, &list);
  if (status == TP_OK)
    pack_calls(&e, &list);
  if (status == TP_OK && list.n > 0) {
    MlirLocation location = mlirOperationGetLocation(func);
    e.exit = mlirBlockCreate(1, &e.l.i32, &location);
    mlirRegionAppendOwnedBlock(e.body, e.exit);
    MlirValue value = mlirBlockGetArgument(e.exit, 0);
    append_branch(e.exit, location, "func.return", 1, &value, 0, NULL, NULL);
  }
  /* backwards, so that each op moves only once */
  for (size_t i = list.n; i-- > 0 && status == TP_OK;) {
    MlirOperation op = list.items[i], parent = mlirOperationGetParentOperation(op);
    if (!mlirOperationEqual(parent, func))
      status =
          tp__error(op, TP_INVALID_ARGUMENT, "stands inside '%.*s'; run convert-scf-to-cf first",
                    (int)tp__op_name(parent).length, tp__op_name(parent).data);
    else
      (tp__op_is(op, "cf.assert") ? replace_assert : check_call)(&e, op);
  }
  pass->statistics[0] += (int64_t)list.n;
  tp__free(list.items);
  tp__free(e.l.sites.items);
  tp__free(e.l.extra.items);
  return status;
}

static tp_status run(tp_pass *pass) {
  run_data data = {.pass = pass};
  TP_TRY(tp__each_entry(pass->module, check_entry, &data));
  drop_unpacked(pass->module);
  return TP_OK;
}

static const tp_statistic_row statistics[] = {{"exits", "early returns added"}};

const tp_pass_row tp__return_errors_row = {
    .name = "tp-return-errors",
    .summary =
        "Return from the program at the first runtime call that fails, and at failed assertions",
    .description =
        "Requires: tp-assign-buffers, control flow by branches (convert-scf-to-cf). Establishes: "
        "after every runtime call that returns a status, the program returns this status unless it "
        "is 0; cf.assert is a call of tprt_abi_fail and a return. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
