/* tp-restore-constants: makes those arguments constants again that tp-lift-constants lifted and the
 * plan leaves whole. Such an argument would only burden the caller. */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "support/support.h"

enum { STAT_RESTORED };

/* The elements of argument `i`, if it is a constant and whole; null otherwise. */
static MlirAttribute whole_constant(MlirOperation func, int i) {
  MlirAttribute value = tp__arg_attr(func, i, "tp.constant");
  MlirType type = mlirFunctionTypeGetInput(tp__func_type(func), i);
  bool is_whole = !mlirAttributeIsNull(value) && mlirTypeEqual(mlirAttributeGetType(value), type);
  return is_whole ? value : (MlirAttribute){NULL};
}

static tp_status restore(MlirOperation func, void *data) {
  tp_pass *pass = data;
  if (!tp__is_defined_func(func))
    return TP_OK;
  MlirBlock body = tp__region_block(func, 0);
  int n = (int)mlirBlockGetNumArguments(body);
  int64_t restored = 0;
  bool *erased = tp__calloc((size_t)n + 1, sizeof *erased);
  if (!erased)
    return tp__out_of_memory(func);
  MlirOperation where = mlirBlockGetFirstOperation(body);
  for (int i = 0; i < n; i++) {
    MlirAttribute value = whole_constant(func, i);
    erased[i] = !mlirAttributeIsNull(value);
    restored += erased[i];
    if (erased[i])
      mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i),
                                    tp__constant(where, mlirAttributeGetType(value), value));
  }
  tp_status status = restored > 0 ? tp__erase_arguments(func, erased) : TP_OK;
  pass->statistics[STAT_RESTORED] += restored;
  tp__free(erased);
  return status;
}

static tp_status run(tp_pass *pass) {
  if (!tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is not partitioned (no tp.phase = \"local\"); run tp-partition "
                     "first");
  return tp__walk(pass->module, restore, pass);
}

static const tp_statistic_row statistics[] = {
    [STAT_RESTORED] = {"restored", "arguments that are constants again"}};

const tp_pass_row tp__restore_constants_row = {
    .name = "tp-restore-constants",
    .summary = "Make lifted constants that the plan leaves whole constants again",
    .description = "Requires: tp.phase = \"local\", as tp-partition leaves it. Establishes: an "
                   "argument with tp.constant is split over devices; any other is a constant of "
                   "the program. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
