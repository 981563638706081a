/* From a model to an object: the pipelines, in the order that lets the plan be read just before code is made. */
#include "run.h"

#include <string.h>

static bool run(MlirModule module, const char *pipeline) { return tp_run_pipeline(module, pipeline) == TP_OK; }

static bool partition_module(const options *o, MlirModule module) {
  char pipeline[1024];
  int n = snprintf(pipeline, sizeof pipeline, "tp-spmd{strategy=%s%s%s%s%s}", o->strategy, o->mesh ? " mesh=" : "",
                   o->mesh ? o->mesh : "", o->topology ? " topology=" : "", o->topology ? o->topology : "");
  if (n >= (int)sizeof pipeline || strpbrk(o->mesh ? o->mesh : "", " {}'\"") ||
      strpbrk(o->topology ? o->topology : "", " {}'\"")) {
    complain("the mesh or topology is not a name or list of sizes");
    return false;
  }
  return run(module, pipeline);
}

bool build_partition(const options *o, MlirModule source, bool partition, build *b) {
  *b = (build){.module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)))};
  if (partition && !partition_module(o, b->module))
    return false;
  return tp_plan_measure(b->module, o->function, o->topology, &b->shape) == TP_OK;
}

bool build_object(const options *o, build *b) {
  tp_compile_options compile = {.size = sizeof compile, .opt_level = o->opt_level};
  tp_emit emit = o->emit && strcmp(o->emit, "llvm") == 0 ? TP_EMIT_LLVM : TP_EMIT_OBJECT;
  return run(b->module, "tp-optimize-local") && tp_plan_measure(b->module, o->function, o->topology, &b->plan) == TP_OK &&
         run(b->module, "tp-local-to-runtime") && tp_compile(b->module, &compile, emit, &b->object) == TP_OK;
}

void build_clear(build *b) {
  tp_bytes_clear(&b->object);
  tp_plan_destroy(b->shape);
  tp_plan_destroy(b->plan);
  if (!mlirModuleIsNull(b->module))
    mlirModuleDestroy(b->module);
  *b = (build){0};
}
