/* tp-order-globals: names and orders the globals that bufferization creates by their first use.
 *
 * One-shot bufferization visits functions in the order of a hash table over their addresses and
 * numbers constant globals on the way. Without this pass, the same program would compile to
 * different bytes in every run. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/value_table.h"

#include <stdio.h>
#include <string.h>

enum { STAT_GLOBALS };

typedef struct orderer {
  MlirSymbolTable symbols;
  tp_op_list uses, globals; /* memref.get_global ops; memref.global ops in the order of first use */
  tp_value_table number;    /* global -> index in `globals` */
} orderer;

/* True if bufferization gave this name to a constant global. All other globals belong to the
 * program. */
static bool is_constant_name(MlirStringRef name) {
  static const char prefix[] = "__constant_";
  return name.length >= sizeof prefix - 1 && memcmp(name.data, prefix, sizeof prefix - 1) == 0;
}

static MlirOperation global_of(const orderer *o, MlirOperation use) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tp__inherent(use, "name"));
  return is_constant_name(name) ? mlirSymbolTableLookup(o->symbols, name) : (MlirOperation){NULL};
}

static tp_status visit(MlirOperation op, void *data) {
  orderer *o = data;
  if (!tp__op_is(op, "memref.get_global"))
    return TP_OK;
  MlirOperation global = global_of(o, op);
  if (mlirOperationIsNull(global))
    return TP_OK;
  TP_TRY(tp__op_list_add(&o->uses, op));
  if (tp__table_get(&o->number, global.ptr) >= 0)
    return TP_OK;
  if (tp__table_put(&o->number, global.ptr, (int)o->globals.n) != TP_OK)
    return tp__out_of_memory(op);
  return tp__op_list_add(&o->globals, global);
}

/* Returns a name that no symbol of the program has. Names of the program do not change between
 * runs. */
static MlirAttribute fresh_name(const orderer *o, MlirContext context, int *next) {
  char name[32];
  do
    snprintf(name, sizeof name, "tp.constant.%d", (*next)++);
  while (!mlirOperationIsNull(
      mlirSymbolTableLookup(o->symbols, mlirStringRefCreateFromCString(name))));
  return mlirStringAttrGet(context, mlirStringRefCreateFromCString(name));
}

static void rename_and_move(const orderer *o, MlirOperation module) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirContext context = mlirOperationGetContext(module);
  int next = 0;
  for (size_t i = 0; i < o->globals.n; i++)
    mlirOperationSetInherentAttributeByName(o->globals.items[i], tp__ref("sym_name"),
                                            fresh_name(o, context, &next));
  for (size_t i = 0; i < o->uses.n; i++) {
    /* The symbol table still maps the old name, which the uses have, to the global. */
    MlirAttribute name = tp__inherent(global_of(o, o->uses.items[i]), "sym_name");
    mlirOperationSetInherentAttributeByName(
        o->uses.items[i], tp__ref("name"),
        mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(name)));
  }
  for (size_t i = o->globals.n; i > 0; i--) {
    MlirOperation first = mlirBlockGetFirstOperation(body);
    if (!mlirOperationEqual(first, o->globals.items[i - 1]))
      mlirOperationMoveBefore(o->globals.items[i - 1], first);
  }
}

static tp_status run(tp_pass *pass) {
  orderer o = {.symbols = mlirSymbolTableCreate(pass->module)};
  tp_status status = tp__walk(pass->module, visit, &o);
  if (status == TP_OK)
    rename_and_move(&o, pass->module);
  pass->statistics[STAT_GLOBALS] += (int64_t)o.globals.n;
  mlirSymbolTableDestroy(o.symbols);
  tp__table_destroy(&o.number);
  tp__free(o.uses.items);
  tp__free(o.globals.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_GLOBALS] = {"globals", "globals of constants that are used"}};

const tp_pass_row tp__order_globals_row = {
    .name = "tp-order-globals",
    .summary = "Name and order constant globals by their first use, so that every run gives the "
               "same bytes",
    .description = "Requires: bufferized functions. Establishes: globals that bufferization made "
                   "(`__constant_...`) are called "
                   "`tp.constant.N` and stand in the order of their first use, in front of "
                   "everything else. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
