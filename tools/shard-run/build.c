/* Compiles a model to an object: runs the pipelines in an order that allows reading the plan just
 * before code generation. */
#include "run.h"

#include <string.h>

static bool run(MlirModule module, const char *pipeline) {
  return tp_run_pipeline(module, pipeline) == TP_OK;
}

static bool is_plain(const char *text) { return !text || !strpbrk(text, " {}'\""); }

static bool partition_module(const options *o, MlirModule module, const char *strategy,
                             const char *limit, const char *fuse, const char *report) {
  char pipeline[8192];
  int n = snprintf(
      pipeline, sizeof pipeline,
      "tp-spmd{strategy=%s objective=%s unknown-ops=%s fuse=%s%s%s%s%s%s%s%s%s%s%s}", strategy,
      o->objective, o->unknown_ops, fuse,
      strcmp(o->overlap, "plan") == 0 && strcmp(strategy, "plan") == 0 ? " overlap=true" : "",
      o->mesh ? " mesh=" : "", o->mesh ? o->mesh : "", o->topology ? " topology=" : "",
      o->topology ? o->topology : "", limit ? " memory-limit=" : "", limit ? limit : "",
      report ? " report='" : "", report ? report : "", report ? "'" : "");
  if (report && strpbrk(report, "'\"{}")) {
    complain("the name of the plan report has quotes or braces: %s", report);
    return false;
  }
  if (n >= (int)sizeof pipeline || !is_plain(o->mesh) || !is_plain(o->topology) ||
      !is_plain(limit)) {
    complain(!is_plain(limit)    ? "the memory limit is not a size"
             : is_plain(o->mesh) ? "the topology is not a name or a path of less than 900 bytes "
                                   "without blanks, quotes and braces"
                                 : "the mesh is not a list of sizes");
    return false;
  }
  return run(module, pipeline);
}

bool build_partition(const options *o, MlirModule source, build_kind kind, build *b) {
  *b = (build){.module =
                   mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)))};
  if (kind == BUILD_SHARDED &&
      !partition_module(o, b->module, o->strategy, o->memory_limit, o->fuse, o->plan_report))
    return false;
  if (kind == BUILD_WHOLE && !(run(b->module, "tp-drop-shardings") &&
                               partition_module(o, b->module, "follow", NULL, "no", NULL)))
    return false;
  return tp_plan_measure(b->module, o->function, o->topology, &b->shape) == TP_OK;
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

static bool lower_module(const options *o, run_target target, MlirModule module) {
  char pipeline[4096];
  snprintf(pipeline, sizeof pipeline, "%s{overlap=%s%s%s%s%s}",
           target == TARGET_CUDA ? "tp-local-to-cuda" : "tp-local-to-runtime",
           strcmp(o->overlap, "no") == 0 ? "false" : "true", o->topology ? " topology=" : "",
           o->topology ? o->topology : "", o->memory_limit ? " memory-limit=" : "",
           o->memory_limit ? o->memory_limit : ""); /* partition_module has validated these texts */
  return run(module, pipeline);
}

bool build_object(const options *o, run_target target, const char *form, build *b) {
  char name[256];
  bool is_library = form && strcmp(form, "so") == 0;
  if (is_library && (!library_name(o->output, name, sizeof name) || !library_rename(b, name)))
    return false;
  const char *function = is_library ? name : o->function;
  tp_compile_options compile = {
      .size = sizeof compile, .opt_level = o->opt_level, .generic = o->generic};
  tp_emit emit = form && strcmp(form, "llvm") == 0  ? TP_EMIT_LLVM
                 : form && strcmp(form, "ptx") == 0 ? TP_EMIT_PTX
                                                    : TP_EMIT_OBJECT;
  return run(b->module,
             target == TARGET_CUDA ? "tp-optimize-local{fused=keep}" : "tp-optimize-local") &&
         tp_plan_measure(b->module, function, o->topology, &b->plan) == TP_OK &&
         lower_module(o, target, b->module) &&
         tp_compile(b->module, &compile, emit, &b->object) == TP_OK;
}

void build_clear(build *b) {
  tp_bytes_clear(&b->object);
  tp_plan_destroy(b->shape);
  tp_plan_destroy(b->plan);
  if (!mlirModuleIsNull(b->module))
    mlirModuleDestroy(b->module);
  *b = (build){0};
}
