/* tp-lift-constants: makes large constants arguments, so that the planner may shard them.
 *
 * A constant lies in the program, whole on every device. An argument lies on each device as its
 * shard, and a caller passes the shards. The planner knows all about arguments: their layouts,
 * their memory and their reshards. So large constants are arguments while a program is planned and
 * partitioned. tp-restore-constants then turns those that the plan leaves whole into constants
 * again. */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "ir/diagnostics.h"
#include "ir/work.h"
#include "support/support.h"

#include <stdio.h>

enum { STAT_LIFTED };

typedef struct settings {
  int64_t least; /* bytes of the smallest constant that is lifted */
} settings;

typedef struct lifter {
  int64_t least;
  tp_op_list constants;
  tp_op_list first; /* of each set of equal constants the first */
} lifter;

/* ---- finding constants ---- */

static bool is_large(MlirOperation op, int64_t least) {
  if (!tp__is_stored_constant(op) || !tp__is_used(mlirOperationGetResult(op, 0)))
    return false;
  MlirAttribute value = tp__inherent(op, "value");
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  int rank;
  int64_t shape[TP_MAX_RANK];
  return (mlirAttributeIsADenseElements(value) || mlirAttributeIsADenseResourceElements(value)) &&
         tp__static_tensor(type, &rank, shape) &&
         tp__n_elements(type) * tp__element_size(tp__element_type(type)) >= least;
}

/* Equal constants that are annotated differently stay apart. */
static bool is_equal(MlirOperation a, MlirOperation b) {
  return mlirAttributeEqual(tp__inherent(a, "value"), tp__inherent(b, "value")) &&
         mlirAttributeEqual(tp__get(a, "tp.sharding"), tp__get(b, "tp.sharding"));
}

/* The index in `first` of the constant that this one equals; -1: none. */
static int find_equal(const lifter *l, MlirOperation op) {
  for (size_t i = 0; i < l->first.n; i++)
    if (is_equal(l->first.items[i], op))
      return (int)i;
  return -1;
}

static tp_status collect(MlirOperation op, void *data) {
  lifter *l = data;
  if (!is_large(op, l->least))
    return TP_OK;
  TP_TRY(tp__op_list_add(&l->constants, op));
  return find_equal(l, op) < 0 ? tp__op_list_add(&l->first, op) : TP_OK;
}

/* ---- lifting them ---- */

static tp_status describe_arguments(const lifter *l, MlirOperation func, int first) {
  MlirContext context = mlirOperationGetContext(func);
  tp_boundary boundary;
  if (tp__boundary_begin(func, true, &boundary) != TP_OK)
    return tp__out_of_memory(func);
  for (int i = first; i < boundary.n; i++) {
    MlirOperation op = l->first.items[i - first];
    char name[32];
    snprintf(name, sizeof name, "constant %d", i - first);
    tp__boundary_set(&boundary, i, "tp.name", tp__attr_string(context, name));
    tp__boundary_set(&boundary, i, "tp.role", tp__attr_string(context, "param"));
    tp__boundary_set(&boundary, i, "tp.constant", tp__inherent(op, "value"));
    tp__boundary_set(&boundary, i, "tp.sharding", tp__get(op, "tp.sharding"));
  }
  tp__boundary_end(&boundary);
  return TP_OK;
}

static tp_status lift(const lifter *l, MlirOperation func) {
  MlirBlock body = tp__region_block(func, 0);
  int first = (int)mlirBlockGetNumArguments(body);
  if (l->first.n == 0)
    return TP_OK;
  TP_TRY(tp__add_arguments(func, &l->first));
  TP_TRY(describe_arguments(l, func, first));
  for (size_t i = 0; i < l->constants.n; i++) {
    MlirOperation op = l->constants.items[i];
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                  mlirBlockGetArgument(body, first + find_equal(l, op)));
  }
  for (size_t i = 0; i < l->constants.n; i++)
    mlirOperationDestroy(l->constants.items[i]);
  return TP_OK;
}

static bool is_private(MlirOperation func) {
  MlirAttribute visibility = tp__inherent(func, "sym_visibility");
  return !mlirAttributeIsNull(visibility) &&
         !tp__ref_is(mlirStringAttrGetValue(visibility), "public");
}

static tp_status visit(MlirOperation func, void *data) {
  tp_pass *pass = data;
  const settings *given = pass->options;
  lifter l = {.least = given->least};
  if (!tp__is_defined_func(func) || is_private(func)) /* private functions are called */
    return TP_OK;
  tp_status status = tp__walk_outside(func, collect, &l);
  if (status == TP_OK)
    status = lift(&l, func);
  pass->statistics[STAT_LIFTED] += (int64_t)l.first.n;
  tp__free(l.constants.items);
  tp__free(l.first.items);
  return status;
}

static tp_status run(tp_pass *pass) {
  if (tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is already partitioned (tp.phase = \"local\"); start from "
                     "the program that tp-partition or tp-spmd has not seen");
  return tp__walk(pass->module, visit, pass);
}

static const tp_option_row options[] = {
    {"shard-constants", "1MiB", "constants of at least this size, whole, are lifted; never: none",
     TP_BYTES_OR(settings, least, "never", INT64_MAX)},
};

static const tp_statistic_row statistics[] = {
    [STAT_LIFTED] = {"lifted", "arguments that were constants"}};

const tp_pass_row tp__lift_constants_row = {
    .name = "tp-lift-constants",
    .summary = "Make large constants arguments, so that they can be sharded",
    .description =
        "Requires: tp-inline-calls, no plan yet. Establishes: a constant of a public function "
        "whose elements differ, and that takes at least shard-constants bytes, is an argument "
        "behind those of the function, one for equal constants, with tp.role = \"param\" and the "
        "elements as tp.constant. Breaks: the signature, until tp-restore-constants.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
