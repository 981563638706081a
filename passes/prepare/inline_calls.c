/* tp-inline-calls: replaces every call by the body of its callee, so that the planner can choose
 * layouts per call.
 *
 * Annotations are preserved. Those of the callee's ops are cloned; those of its arguments and
 * results become shard.shard constraints. (MLIR's inliner drops annotations and does not support
 * ops of unregistered dialects.) */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "ir/collectives.h"
#include "ir/location.h"
#include "ir/value_table.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 1000 };

typedef struct inliner {
  tp_pass *pass;
  const tp_mesh *mesh;
  bool keeps_fused;
  tp_value_table done; /* fully inlined function -> its number of ops */
  MlirOperation stack[MAX_DEPTH];
  int depth;
  tp_value_table called; /* functions inlined at least once */
  int64_t n_ops;         /* total number of ops inlined so far */
} inliner;

enum { STAT_CALLS };

/* ---- cloning ---- */

typedef struct mapping {
  tp_value_table table;
  MlirValue *values;
  size_t n, capacity;
} mapping;

static tp_status map_value(mapping *map, MlirValue from, MlirValue to) {
  if (tp__grow((void **)&map->values, &map->capacity, map->n + 1, sizeof *map->values) != TP_OK ||
      tp__table_put(&map->table, from.ptr, (int)map->n) != TP_OK)
    return TP_NO_MEMORY;
  map->values[map->n++] = to;
  return TP_OK;
}

static MlirValue mapped(const mapping *map, MlirValue value) {
  int i = tp__table_get(&map->table, value.ptr);
  return i < 0 ? value : map->values[i];
}

static tp_status map_operands(MlirOperation op, void *data) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(op, i, mapped(data, mlirOperationGetOperand(op, i)));
  return TP_OK;
}

/* Constrains *value to the annotated layout of argument or result `i` of the callee, if there is
 * one. */
static tp_status constrain(const inliner *in, MlirOperation callee, bool is_arg, int i,
                           MlirOperation where, MlirValue *value) {
  MlirAttribute attr =
      is_arg ? tp__arg_attr(callee, i, "tp.sharding") : tp__result_attr(callee, i, "tp.sharding");
  if (mlirAttributeIsNull(attr) || !mlirTypeIsARankedTensor(mlirValueGetType(*value)))
    return TP_OK;
  char what[32];
  tp_annotation annotation;
  snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", i);
  tp_status status =
      tp__read_sharding(callee, what, attr, in->mesh, mlirValueGetType(*value), &annotation);
  if (status == TP_OK)
    *value =
        tp__build_reshard(where, mlirOperationGetLocation(where), *value, in->mesh, annotation);
  return status;
}

/* An op without a file gets that of the call, below its name: tools that trace a function once, and
 * call it from several places, know the file only there. */
static tp_status locate(MlirOperation op, void *data) {
  const MlirOperation *call = data;
  MlirLocation location = mlirOperationGetLocation(op), at = mlirOperationGetLocation(*call), file;
  if (tp__location_file(location, &file) || !tp__location_file(at, &file))
    return TP_OK;
  if (mlirLocationIsAName(location))
    at = mlirLocationNameGet(mlirOperationGetContext(op),
                             mlirIdentifierStr(mlirLocationNameGetName(location)), at);
  mlirOperationSetLocation(op, at);
  return TP_OK;
}

static tp_status clone_body(const inliner *in, MlirOperation call, MlirOperation callee,
                            mapping *map) {
  MlirBlock body = tp__region_block(callee, 0);
  for (int i = 0; i < mlirBlockGetNumArguments(body); i++) {
    MlirValue value = mlirOperationGetOperand(call, i);
    TP_TRY(constrain(in, callee, true, i, call, &value));
    TP_TRY(map_value(map, mlirBlockGetArgument(body, i), value));
  }
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation clone = mlirOperationClone(op);
    tp__insert_before(call, clone);
    map_operands(clone, map);
    tp__walk(clone, map_operands, map);
    locate(clone, &call);
    tp__walk_outside(clone, locate, &call);
    for (int i = 0; i < mlirOperationGetNumResults(op); i++)
      if (map_value(map, mlirOperationGetResult(op, i), mlirOperationGetResult(clone, i)) != TP_OK)
        return TP_NO_MEMORY;
  }
  for (int i = 0; i < mlirOperationGetNumResults(call); i++) {
    MlirValue value = mapped(map, mlirOperationGetOperand(end, i));
    TP_TRY(constrain(in, callee, false, i, call, &value));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, i), value);
  }
  return TP_OK;
}

/* ---- calls, callees first ---- */

static tp_status inline_in_function(inliner *in, MlirOperation func);

static tp_status inline_call(inliner *in, MlirOperation call) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee"));
  MlirOperation callee = tp__callee(in->pass->module, call);
  if (mlirOperationIsNull(callee)) /* a declaration, such as a permute */
    return TP_OK;
  if (in->keeps_fused && !mlirAttributeIsNull(tp__get(callee, "tp.fused")))
    return TP_OK;
  TP_TRY(tp__check_rule_place(call));
  TP_TRY(tp__check_rule_place(callee));
  for (int i = 0; i < in->depth; i++)
    if (mlirOperationEqual(in->stack[i], callee))
      return tp__error(
          call, TP_UNSUPPORTED,
          "@%.*s calls itself; a recursive program cannot be sharded, use a loop instead",
          (int)name.length, name.data);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(tp__region_block(callee, 0))))
    return tp__error(call, TP_UNSUPPORTED,
                     "@%.*s has several blocks; sharding needs structured control flow (scf)",
                     (int)name.length, name.data);
  tp_status status = inline_in_function(in, callee);
  if (status != TP_OK)
    return status;
  in->n_ops += tp__table_get(&in->done, callee.ptr);
  /* the program may grow exponentially if functions call others twice */
  if (in->n_ops > TP_MAX_INLINED_OPS)
    return tp__error(
        call, TP_UNSUPPORTED,
        "inlining @%.*s here makes the program larger than %d ops; use fewer calls, or a loop",
        (int)name.length, name.data, TP_MAX_INLINED_OPS);
  mapping map = {0};
  status = clone_body(in, call, callee, &map);
  tp__table_destroy(&map.table);
  tp__free(map.values);
  if (status == TP_NO_MEMORY ||
      (status == TP_OK && tp__table_put(&in->called, callee.ptr, 1) != TP_OK))
    return tp__out_of_memory(call);
  if (status != TP_OK)
    return status;
  mlirOperationDestroy(call);
  in->pass->statistics[STAT_CALLS]++;
  return TP_OK;
}

static tp_status inline_in_region_of(inliner *in, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      MlirOperation next;
      for (MlirOperation child = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(child);
           child = next) {
        next = mlirOperationGetNextInBlock(child);
        tp_status status =
            tp__op_is(child, "func.call") ? inline_call(in, child) : inline_in_region_of(in, child);
        if (status != TP_OK)
          return status;
      }
    }
  return TP_OK;
}

static tp_status inline_in_function(inliner *in, MlirOperation func) {
  if (tp__table_get(&in->done, func.ptr) >= 0)
    return TP_OK;
  if (in->depth == MAX_DEPTH)
    return tp__error(func, TP_UNSUPPORTED, "calls nest deeper than %d", MAX_DEPTH);
  in->stack[in->depth++] = func;
  tp_status status = inline_in_region_of(in, func);
  in->depth--;
  if (status == TP_OK && tp__table_put(&in->done, func.ptr, tp__n_ops(func)) != TP_OK)
    return tp__out_of_memory(func);
  return status;
}

/* ---- erasing inlined callees ---- */

static tp_status find_reference(MlirOperation op, void *data) {
  MlirStringRef name = *(MlirStringRef *)data;
  static const char *const attrs[] = {"callee", "value"};
  for (int i = 0; i < TP_LEN(attrs); i++) {
    MlirAttribute attr = tp__inherent(op, attrs[i]);
    if (!mlirAttributeIsNull(attr) && mlirAttributeIsAFlatSymbolRef(attr) &&
        mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(attr), name))
      return TP_UNSUPPORTED;
  }
  return TP_OK;
}

static void erase_inlined(const inliner *in) {
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(in->pass->module, 0));
       !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    MlirAttribute visibility = tp__inherent(op, "sym_visibility");
    if (tp__table_get(&in->called, op.ptr) < 0 || mlirAttributeIsNull(visibility) ||
        !tp__ref_is(mlirStringAttrGetValue(visibility), "private"))
      continue;
    MlirStringRef name = mlirStringAttrGetValue(tp__inherent(op, "sym_name"));
    if (tp__walk(in->pass->module, find_reference, &name) == TP_OK)
      mlirOperationDestroy(op);
  }
}

typedef struct settings {
  const char *mesh;
  enum { FUSED_INLINE, FUSED_KEEP } fused;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  tp_mesh mesh;
  tp_status status = tp__module_mesh(pass->module, given->mesh, &mesh);
  inliner in = {.pass = pass, .mesh = &mesh, .keeps_fused = given->fused == FUSED_KEEP};
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(pass->module, 0));
       !mlirOperationIsNull(op) && status == TP_OK; op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func"))
      status = inline_in_function(&in, op);
  if (status == TP_OK)
    erase_inlined(&in);
  tp__table_destroy(&in.done);
  tp__table_destroy(&in.called);
  return status;
}

static const tp_option_row options[] = {
    {"mesh", "", "sizes of the mesh, see tp-propagate; needed to read the annotations of callees",
     TP_TEXT(settings, mesh, "SIZES")},
    {"fused", "inline",
     "functions of tp-fuse-collectives: inline, or keep, for machines that have kernels for them",
     TP_CHOICE(settings, fused, "inline|keep")},
};

static const tp_statistic_row statistics[] = {
    {"calls", "calls replaced"},
};

const tp_pass_row tp__inline_calls_row = {
    .name = "tp-inline-calls",
    .summary = "Replace calls by the bodies of their callees, keeping annotations",
    .description = "Requires: callees of one block. Establishes: no function that has a body is "
                   "called (fused=keep: except those with tp.fused); private callees are gone; "
                   "shardings of a callee's arguments and results are shard.shard constraints. "
                   "Recursion is rejected. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
