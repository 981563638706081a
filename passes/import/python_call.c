/* Custom calls whose target is an object of the Python process that traced the program. No other
 * process has it, and the text of the program names only its address or number. */
#include "passes/import/python_call.h"

#include "ir/diagnostics.h"

/* Parts of names, for all platforms. */
static const struct callee {
  const char *part, *why;
} callees[] = {
    {"_python_cpu_callback", NULL},
    {"_python_gpu_callback", NULL},
    {"_python_tpu_callback", NULL},
    {"CustomSPMDPartitioning",
     "is a function of jax.custom_partitioning, whose partition function is in the Python process "
     "that traced the program; trace for one device, where JAX inlines the function, or lower "
     "it by jax.ffi.ffi_lowering, whose extra_attributes take an sdy.sharding_rule"},
};

static const struct callee *callee_of(MlirOperation op) {
  char name[128];
  MlirAttribute attr = tp__op_is(op, "stablehlo.custom_call") ? tp__property(op, "call_target_name")
                                                              : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr) ||
      !tp__ref_copy(mlirStringAttrGetValue(attr), name, sizeof name))
    return NULL;
  for (int i = 0; i < TP_LEN(callees); i++)
    if (strstr(name, callees[i].part))
      return &callees[i];
  return NULL;
}

bool tp__is_python_call(MlirOperation op) { return callee_of(op) != NULL; }

/* The other results are tokens, which order the calls. */
static bool computes_tensor(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, i))))
      return true;
  return false;
}

tp_status tp__refuse_python_call(MlirOperation op) {
  const struct callee *callee = callee_of(op);
  if (callee->why)
    return tp__error(op, TP_UNSUPPORTED, "%s", callee->why);
  bool computes = computes_tensor(op);
  return tp__error(op, TP_UNSUPPORTED,
                   "is a callback into Python, of %s: the function exists only in the process that "
                   "traced the program, and each device would call it; remove it, and %s",
                   computes ? "jax.pure_callback or io_callback"
                            : "jax.debug.print, jax.debug.callback or io_callback",
                   computes ? "pass what it computes as an argument"
                            : "return what it prints as a result");
}
