/* Plans copies of programs and reads the result. */
#include "planned.h"

#include "ir/annotation.h"
#include "ir/ir.h"

#include "tp/passes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <string.h>

/* ---- Diagnostics ---- */

static char error[1200];

static void append(MlirStringRef part, void *data) {
  (void)data;
  size_t n = strlen(error);
  snprintf(error + n, sizeof error - n, "%.*s", (int)part.length, part.data);
}

static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError) {
    error[0] = 0;
    mlirDiagnosticPrint(diagnostic, append, NULL);
  }
  return mlirLogicalResultSuccess();
}

void watch(MlirContext context) { mlirContextAttachDiagnosticHandler(context, handle, NULL, NULL); }

const char *last_error(void) { return error; }

void clear_error(void) { error[0] = 0; }

/* ---- Plans ---- */

MlirOperation the_function(MlirModule module) {
  MlirOperation found = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func") &&
        tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), "main"))
      found = op;
  return found;
}

static int64_t entry(MlirAttribute plan, const char *name) {
  return mlirIntegerAttrGetValueInt(mlirDictionaryAttrGetElementByName(plan, tp__ref(name)));
}

bool plan_copy(MlirModule source, const char *options, planned *p) {
  char pipeline[200];
  snprintf(pipeline, sizeof pipeline, "tp-propagate{%s}", options);
  *p = (planned){.cost = -1,
                 .bound = -1,
                 .module =
                     mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)))};
  if (tp_run_pipeline(p->module, pipeline) != TP_OK ||
      tp__module_mesh(mlirModuleGetOperation(p->module), "", &p->mesh) != TP_OK)
    return false;
  p->func = the_function(p->module);
  MlirAttribute attr = tp__get(p->func, "tp.plan");
  p->cost = entry(attr, "cost_ps");
  p->bound = entry(attr, "bound_ps");
  p->peak = entry(attr, "peak_memory");
  return true;
}
