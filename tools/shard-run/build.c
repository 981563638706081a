/* Compiles a model to an object: runs the pipelines in an order that allows reading the plan just
 * before code generation. */
#include "run.h"

#include <string.h>

static bool run(MlirModule module, const char *pipeline) {
  return tp_run_pipeline(module, pipeline) == TP_OK;
}

/* Runs a pipeline with the options of the command line. */
static bool run_with(const options *o, MlirModule module, const char *pipeline, bool overlap) {
  char text[8192];
  return cli_pipeline(o, pipeline, overlap, text, sizeof text) && run(module, text);
}

/* Partitions a module in which every value is whole on every device: the options that choose a plan
 * do not count. */
static bool partition_whole(const options *o, MlirModule module) {
  options whole = *o;
  whole.strategy = "follow";
  whole.memory_limit = whole.fuse = whole.plan_report = whole.plan_diff = whole.frontier =
      whole.explain = NULL;
  return run(module, "tp-drop-shardings") && run_with(&whole, module, "tp-spmd", false);
}

bool build_partition(const options *o, MlirModule source, build_kind kind, build *b) {
  *b = (build){.module =
                   mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)))};
  bool follows = o->strategy && strcmp(o->strategy, "follow") == 0;
  if (kind == BUILD_SHARDED &&
      !run_with(o, b->module, "tp-spmd", o->overlap == OVERLAP_PLAN && !follows))
    return false;
  if (kind == BUILD_WHOLE && !partition_whole(o, b->module))
    return false;
  /* upstream's canonicalization of shard.shard may use a value where it is not defined */
  if (kind == BUILD_ALONE && !run(b->module, "tp-drop-shardings"))
    return false;
  if (tp_plan_measure(b->module, o->function, o->topology, &b->shape) != TP_OK)
    return false;
  b->constants = constants_load(b->module, b->shape); /* lowering drops them from the module */
  return b->constants != NULL;
}

static MlirWalkResult find_communication(MlirOperation op, void *found) {
  static const char *const layouts[] = {"shard.grid", "shard.shard", "shard.sharding"};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool is_layout = name.length < 6 || memcmp(name.data, "shard.", 6) != 0;
  for (int i = 0; i < 3; i++)
    is_layout |= mlirStringRefEqual(name, mlirStringRefCreateFromCString(layouts[i]));
  *(bool *)found |= !is_layout;
  return is_layout ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool build_communicates(MlirModule source) {
  bool found = false;
  mlirOperationWalk(mlirModuleGetOperation(source), find_communication, &found, MlirWalkPreOrder);
  return found;
}

bool build_object(const options *o, run_target target, emit_form form, build *b) {
  bool on_gpu = target == TARGET_CUDA;
  char name[256];
  bool is_library = form == EMIT_LIBRARY;
  if (is_library && (!library_name(o->output, name, sizeof name) || !library_rename(b, name)))
    return false;
  const char *function = is_library ? name : o->function;
  tp_compile_options compile = {
      .size = sizeof compile, .opt_level = o->opt_level, .generic = o->generic};
  static const tp_emit emits[] = {[EMIT_NOTHING] = TP_EMIT_OBJECT,
                                  [EMIT_LIBRARY] = TP_EMIT_OBJECT,
                                  [EMIT_OBJECT] = TP_EMIT_OBJECT,
                                  [EMIT_LLVM] = TP_EMIT_LLVM,
                                  [EMIT_KERNELS] = TP_EMIT_PTX};
  return run(b->module, on_gpu ? "tp-optimize-local{fused=keep}" : "tp-optimize-local") &&
         tp_plan_measure(b->module, function, o->topology, &b->plan) == TP_OK &&
         run_with(o, b->module, on_gpu ? "tp-local-to-cuda" : "tp-local-to-runtime",
                  o->overlap != OVERLAP_NO) &&
         tp_compile(b->module, &compile, emits[form], &b->object) == TP_OK;
}

void build_clear(build *b) {
  tp_bytes_clear(&b->object);
  arrays_clear(b->constants, b->shape ? b->shape->n_constants : 0);
  tp_plan_destroy(b->shape);
  tp_plan_destroy(b->plan);
  if (!mlirModuleIsNull(b->module))
    mlirModuleDestroy(b->module);
  *b = (build){0};
}
