/* tp-keep-original and tp-export-constraints: the plan as sdy.sharding_constraint ops in the
 * original StableHLO program.
 *
 * The first pass keeps the text of the program, and gives each of its ops a number, which is part
 * of the op's location: passes give the ops that they make the locations of those that these
 * replace. The second pass reads the kept text, and looks the layout of each value up in the
 * planned program: it is that of the last op with the number and the type of the value. */
#include "ir/annotation.h"
#include "passes/registry.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kept[] = "tp.original", prefix[] = "tp.op:";

/* ---- tp-keep-original ---- */

static tp_status number_op(MlirOperation op, void *data) {
  int64_t *n = data;
  char name[32];
  snprintf(name, sizeof name, "%s%lld", prefix, (long long)(*n)++);
  mlirOperationSetLocation(op, mlirLocationNameGet(mlirOperationGetContext(op), tp__ref(name),
                                                   mlirOperationGetLocation(op)));
  return TP_OK;
}

static tp_status keep_original(tp_pass *pass) {
  tp__string text = {0};
  int64_t n = 0;
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(pass->module, flags, tp__append_part, &text);
  mlirOpPrintingFlagsDestroy(flags);
  tp_status status = text.failed ? tp__out_of_memory(pass->module) : TP_OK;
  if (status == TP_OK)
    tp__set(pass->module, kept, tp__attr_string(pass->context, text.text));
  tp__string_destroy(&text);
  return status == TP_OK ? tp__walk(pass->module, number_op, &n) : status;
}

const tp_pass_row tp__keep_original_row = {
    .name = "tp-keep-original",
    .summary = "Keep the text of a program for tp-export-constraints",
    .description = "Requires: nothing. Establishes: tp.original of the module is its text, and the "
                   "location of each op has its number. Breaks: nothing; diagnostics name the "
                   "numbers, too.",
    .run = keep_original,
};

/* ---- the planned program ---- */

/* What the planned program says about the results of an op of the original one. */
typedef struct planned {
  int64_t number;
  size_t order; /* in the planned program */
  MlirOperation op;
} planned;

typedef struct state {
  tp_pass *pass;
  MlirOperation original;
  tp_mesh mesh;
  planned *ops; /* sorted by number, then order */
  size_t n, capacity;
  int64_t n_constraints;
} state;

enum { MAX_DEPTH = 64 };

/* The number in a location; -1: none. What is inlined has that of the callee. */
static int64_t number_of(MlirLocation location, int depth) {
  if (depth == 0)
    return -1;
  if (mlirLocationIsAName(location)) {
    MlirStringRef name = mlirIdentifierStr(mlirLocationNameGetName(location));
    size_t n = strlen(prefix);
    return name.length > n && strncmp(name.data, prefix, n) == 0
               ? strtoll(name.data + n, NULL, 10)
               : number_of(mlirLocationNameGetChildLoc(location), depth - 1);
  }
  if (mlirLocationIsACallSite(location))
    return number_of(mlirLocationCallSiteGetCallee(location), depth - 1);
  return -1;
}

/* Layouts of constants, fills and changes of layout say nothing about the op itself. */
static tp_status collect(MlirOperation op, void *data) {
  static const char *const skipped[] = {"arith.constant", "linalg.fill", "tensor.empty",
                                        "tensor.splat",   "shard.shard", "func.func"};
  state *s = data;
  int64_t number = number_of(mlirOperationGetLocation(op), MAX_DEPTH);
  for (int i = 0; i < TP_LEN(skipped); i++)
    if (tp__op_is(op, skipped[i]))
      return TP_OK;
  if (number < 0 || mlirAttributeIsNull(tp__get(op, "tp.sharding")))
    return TP_OK;
  if (tp__grow((void **)&s->ops, &s->capacity, s->n + 1, sizeof *s->ops) != TP_OK)
    return tp__out_of_memory(op);
  s->ops[s->n] = (planned){number, s->n, op};
  s->n++;
  return TP_OK;
}

static int by_number(const void *a, const void *b) {
  const planned *x = a, *y = b;
  return x->number != y->number ? (x->number < y->number ? -1 : 1)
                                : (x->order < y->order ? -1 : x->order > y->order);
}

/* A value of partial sums counts as what it is reduced to, if that is one layout. */
static bool settle(const state *s, MlirValue value, tp_annotation *layout) {
  bool present = false;
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (!tp_spec_has_partial(layout->spec))
    return true;
  if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return false;
  MlirOperation user = mlirOpOperandGetOwner(use);
  return tp__op_is(user, "shard.shard") &&
         tp__op_sharding(user, 0, &s->mesh, layout, &present) == TP_OK && present &&
         !tp_spec_has_partial(layout->spec);
}

/* Finds the layout of result k of an original op, whose type has no sign in the planned program.
 * False if there is none, or several ops of one kind differ (of a function that is called
 * twice). */
static bool find_layout(const state *s, int64_t number, int n_results, int k, MlirType type,
                        tp_annotation *layout) {
  size_t from = 0, to = s->n;
  MlirOperation last = {NULL};
  while (from < to) {
    size_t middle = (from + to) / 2;
    if (s->ops[middle].number < number)
      from = middle + 1;
    else
      to = middle;
  }
  for (size_t i = from; i < s->n && s->ops[i].number == number; i++) {
    MlirOperation op = s->ops[i].op;
    bool present = false;
    tp_annotation own;
    if (mlirOperationGetNumResults(op) != n_results ||
        !mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(op, k)), type) ||
        tp__op_sharding(op, k, &s->mesh, &own, &present) != TP_OK || !present ||
        !settle(s, mlirOperationGetResult(op, k), &own))
      continue;
    if (!mlirOperationIsNull(last) && !tp_spec_equal(own.spec, layout->spec) &&
        mlirIdentifierEqual(mlirOperationGetName(op), mlirOperationGetName(last)))
      return false;
    *layout = own;
    last = op;
  }
  return !mlirOperationIsNull(last);
}

/* ---- shardings of Shardy ---- */

/* Appends {"dp", "tp":(1)2} for the axes of a dimension. */
static void append_axes(tp__string *text, const tp_mesh *mesh, int n, const int *axes) {
  tp__string_append(text, "{");
  for (int i = 0; i < n;) {
    int run = tp__ordered_axes(mesh, n - i, axes + i);
    const tp_axis *axis = &mesh->axes[axes[i]];
    int64_t size = 1;
    for (int k = 0; k < run; k++)
      size *= mesh->axes[axes[i + k]].size;
    tp__string_printf(text, "%s\"%s\"", i ? ", " : "", axis->name);
    if (size != axis->parent_size)
      tp__string_printf(text, ":(%lld)%lld", (long long)axis->pre, (long long)size);
    i += run;
  }
  tp__string_append(text, "}");
}

/* Where `is_boundary`, dimensions of uneven shards are whole. */
static MlirAttribute sharding_of(const state *s, tp_spec spec, MlirType type, bool is_boundary) {
  tp__string text = {0};
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(type, &rank, sizes);
  tp__string_printf(&text, "#sdy.sharding<@%s, [", s->mesh.name);
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&s->mesh, spec, d, axes);
    int64_t parts = 1;
    for (int i = 0; i < n; i++)
      parts *= s->mesh.axes[axes[i]].size;
    tp__string_append(&text, d ? ", " : "");
    append_axes(&text, &s->mesh, is_boundary && sizes[d] % parts != 0 ? 0 : n, axes);
  }
  tp__string_append(&text, "]>");
  MlirAttribute attr = tp__parse_attr(s->pass->context, text.failed ? "unit" : text.text);
  tp__string_destroy(&text);
  return attr;
}

/* ---- the original program ---- */

static MlirType signless(MlirType type) {
  MlirType element = tp__element_type(type);
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  if (!mlirTypeIsAInteger(element) || !tp__static_tensor(type, &rank, sizes))
    return type;
  element = mlirIntegerTypeGet(mlirTypeGetContext(type), mlirIntegerTypeGetWidth(element));
  return mlirRankedTensorTypeGet(rank, sizes, element, (MlirAttribute){NULL});
}

/* Creates a constraint of the value. The caller inserts it. */
static MlirOperation create_constraint(state *s, MlirLocation location, MlirValue value,
                                       tp_spec spec) {
  MlirType type = mlirValueGetType(value);
  MlirNamedAttribute attr =
      tp__named(s->pass->context, "sharding", sharding_of(s, spec, type, false));
  s->n_constraints++;
  return tp__create(&(tp_build){.name = "sdy.sharding_constraint",
                                .location = location,
                                .n_operands = 1,
                                .operands = &value,
                                .n_results = 1,
                                .results = &type,
                                .n_attributes = 1,
                                .attributes = &attr});
}

static void constrain(state *s, MlirOperation op, int k, tp_spec spec) {
  MlirValue value = mlirOperationGetResult(op, k);
  MlirOperation constraint = create_constraint(s, mlirOperationGetLocation(op), value, spec);
  tp__insert_after(op, constraint);
  tp__replace_uses_except(value, mlirOperationGetResult(constraint, 0), constraint);
}

static bool is_branching(MlirOperation op) {
  return tp__op_is(op, "stablehlo.if") || tp__op_is(op, "stablehlo.case");
}

/* Constrains what each branch returns to the layout of the result: XLA requires that they agree. */
static void constrain_branches(state *s, int64_t number, MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirOperation end = tp__last_op(tp__region_block(op, (int)r));
    for (int k = 0; k < n && k < mlirOperationGetNumOperands(end); k++) {
      MlirValue value = mlirOperationGetOperand(end, k);
      tp_annotation layout = {0};
      if (!tp__is_tensor(mlirValueGetType(value)) || tp__value_rank(value) == 0 ||
          !find_layout(s, number, n, k, signless(mlirValueGetType(value)), &layout))
        continue;
      MlirOperation constraint =
          create_constraint(s, mlirOperationGetLocation(op), value, layout.spec);
      tp__insert_before(end, constraint);
      mlirOperationSetOperand(end, k, mlirOperationGetResult(constraint, 0));
    }
  }
}

/* Constants and broadcasts take the layout that their users need; loops and branches that of the
 * values in them. */
static bool is_constrained(MlirOperation op) {
  static const char *const free_ops[] = {
      "stablehlo.constant", "stablehlo.iota", "stablehlo.broadcast_in_dim",
      "stablehlo.while",    "stablehlo.if",   "stablehlo.case"};
  for (int i = 0; i < TP_LEN(free_ops); i++)
    if (tp__op_is(op, free_ops[i]))
      return false;
  return tp__op_has_dialect(op, "stablehlo") || tp__op_has_dialect(op, "chlo");
}

static void constrain_results(state *s, int64_t number, MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op);
  for (int k = 0; k < n && is_constrained(op); k++) {
    MlirValue value = mlirOperationGetResult(op, k);
    tp_annotation layout = {0};
    if (tp__is_tensor(mlirValueGetType(value)) && tp__value_rank(value) > 0 &&
        find_layout(s, number, n, k, signless(mlirValueGetType(value)), &layout))
      constrain(s, op, k, layout.spec);
  }
}

/* Gives arguments or results the layouts of the planned function. */
static tp_status mark_boundary(state *s, MlirOperation func, MlirOperation from, bool is_args) {
  static const char *const ours[] = {"tp.sharding", "tp.role", "tp.updates", "tp.gradient"};
  MlirType type = tp__func_type(func);
  tp_boundary attrs;
  if (tp__boundary_begin(func, is_args, &attrs) != TP_OK)
    return tp__out_of_memory(func);
  for (int i = 0; i < attrs.n; i++) {
    MlirAttribute layout = (is_args ? tp__arg_attr : tp__result_attr)(from, i, "tp.sharding");
    MlirType value =
        is_args ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i);
    tp_annotation annotation = {0};
    for (int k = 0; k < TP_LEN(ours); k++)
      tp__boundary_set(&attrs, i, ours[k], (MlirAttribute){NULL});
    if (!mlirAttributeIsNull(layout) &&
        tp__read_sharding(from, is_args ? "argument" : "result", layout, &s->mesh, value,
                          &annotation) == TP_OK &&
        !tp_spec_has_partial(annotation.spec))
      tp__boundary_set(&attrs, i, "sdy.sharding", sharding_of(s, annotation.spec, value, true));
  }
  tp__boundary_end(&attrs);
  return TP_OK;
}

static tp_status list_op(MlirOperation op, void *data) { return tp__op_list_add(data, op); }

static bool has_name(MlirOperation op, MlirStringRef name) {
  MlirAttribute symbol = tp__property(op, "sym_name");
  return !mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name);
}

/* The function of the planned program with the name of this one; null if it is inlined. */
static MlirOperation planned_func(const state *s, MlirOperation func) {
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  MlirBlock body = tp__region_block(s->pass->module, 0);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func") && has_name(op, name))
      return op;
  return (MlirOperation){NULL};
}

static MlirAttribute mesh_attr(const state *s) {
  tp__string text = {0};
  tp_mesh whole = tp_mesh_parent(&s->mesh);
  tp__string_append(&text, "#sdy.mesh<[");
  for (int a = 0; a < whole.n_axes; a++)
    tp__string_printf(&text, "%s\"%s\"=%lld", a ? ", " : "", whole.axes[a].name,
                      (long long)whole.axes[a].size);
  tp__string_append(&text, "]>");
  MlirAttribute attr = tp__parse_attr(s->pass->context, text.failed ? "unit" : text.text);
  tp__string_destroy(&text);
  return attr;
}

/* Adds an sdy.mesh to the original program, unless it has the mesh that was planned. */
static void add_mesh(const state *s) {
  MlirBlock body = tp__region_block(s->original, 0);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "sdy.mesh") && has_name(op, tp__ref(s->mesh.name)))
      return;
  MlirNamedAttribute attrs[] = {
      tp__named(s->pass->context, "mesh", mesh_attr(s)),
      tp__named(s->pass->context, "sym_name", tp__attr_string(s->pass->context, s->mesh.name))};
  mlirBlockInsertOwnedOperation(
      body, 0,
      tp__create(&(tp_build){.name = "sdy.mesh",
                             .location = mlirOperationGetLocation(s->original),
                             .n_attributes = TP_LEN(attrs),
                             .attributes = attrs}));
}

static tp_status constrain_all(state *s) {
  tp_op_list ops = {0};
  tp_status status = tp__walk(s->original, list_op, &ops);
  if (status == TP_OK)
    status = tp__walk(s->pass->module, collect, s);
  if (status == TP_OK && s->n > 0)
    qsort(s->ops, s->n, sizeof *s->ops, by_number);
  if (status == TP_OK)
    add_mesh(s);
  for (size_t i = 0; i < ops.n && status == TP_OK; i++) {
    MlirOperation op = ops.items[i];
    constrain_results(s, (int64_t)i, op);
    if (is_branching(op))
      constrain_branches(s, (int64_t)i, op);
    MlirOperation from = tp__op_is(op, "func.func") ? planned_func(s, op) : (MlirOperation){NULL};
    if (mlirOperationIsNull(from))
      continue;
    status = mark_boundary(s, op, from, true);
    if (status == TP_OK)
      status = mark_boundary(s, op, from, false);
  }
  for (size_t i = 0; i < ops.n && status == TP_OK; i++)
    if (tp__op_is(ops.items[i], "shard.grid"))
      mlirOperationDestroy(ops.items[i]);
  tp__free(ops.items);
  return status;
}

/* Puts the ops of the original module in place of the planned ones. */
static void replace_module(state *s) {
  MlirType i32 = mlirIntegerTypeGet(s->pass->context, 32);
  MlirBlock body = tp__region_block(s->pass->module, 0);
  MlirBlock from = tp__region_block(s->original, 0);
  MlirOperation op;
  while (op = mlirBlockGetFirstOperation(body), !mlirOperationIsNull(op))
    mlirOperationDestroy(op);
  while (op = mlirBlockGetFirstOperation(from), !mlirOperationIsNull(op)) {
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(body, op);
  }
  tp__remove(s->pass->module, kept);
  tp__set(s->pass->module, "mhlo.num_partitions", mlirIntegerAttrGet(i32, tp_mesh_size(&s->mesh)));
  tp__set(s->pass->module, "mhlo.num_replicas", mlirIntegerAttrGet(i32, 1));
}

enum { STAT_CONSTRAINTS };

static tp_status export_constraints(tp_pass *pass) {
  state s = {.pass = pass};
  MlirAttribute text = tp__get(pass->module, kept);
  if (mlirAttributeIsNull(text) || tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "is not a planned program whose text was kept; run "
                     "tp-keep-original, tp-plan and tp-export-constraints");
  TP_TRY(tp__module_mesh(pass->module, "", &s.mesh));
  mlirContextSetAllowUnregisteredDialects(pass->context, true);
  MlirModule original = mlirModuleCreateParse(pass->context, mlirStringAttrGetValue(text));
  if (mlirModuleIsNull(original))
    return tp__error(pass->module, TP_INTERNAL, "its kept text is not MLIR; please report this");
  s.original = mlirModuleGetOperation(original);
  tp_status status = constrain_all(&s);
  if (status == TP_OK)
    replace_module(&s);
  mlirModuleDestroy(original);
  tp__free(s.ops);
  pass->statistics[STAT_CONSTRAINTS] += s.n_constraints;
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_CONSTRAINTS] = {"constraints", "values constrained"},
};

const tp_pass_row tp__export_constraints_row = {
    .name = "tp-export-constraints",
    .summary = "Write the plan of a StableHLO program as sdy.sharding_constraint ops in it",
    .description =
        "Requires: tp-keep-original, then tp-plan. Establishes: the original program; arguments "
        "and "
        "results have sdy.sharding, and values that ops compute a sdy.sharding_constraint with the "
        "layout of the plan: none of constants and broadcasts, and of partial sums what they are "
        "reduced to. Print it with --mlir-print-op-generic. Whoever partitions it chooses the "
        "collectives. Breaks: the planned program is gone.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = export_constraints,
};
