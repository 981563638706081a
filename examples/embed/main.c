/* Embeds tpshard in a C program: parses a module, shards it, and walks the plan of what each device
 * does.
 *
 *   embed MODEL.mlir dp=2,tp=2 [PIPELINE]
 *
 * Without PIPELINE: builtin.module(tp-spmd{mesh=dp=2,tp=2}). The MLIR C API comes from libtpshard
 * itself; nothing else is linked. */
#include <tp/mesh.h>
#include <tp/passes.h>
#include <tp/plan.h>

#include <mlir-c/IR.h>
#include <stdio.h>

static void print_shape(const char *title, int rank, const int64_t *shape) {
  printf("%s", title);
  for (int d = 0; d < rank; d++)
    printf("%s%lld", d ? "x" : " ", (long long)shape[d]);
}

static void print_plan(const tp_plan *plan) {
  for (int i = 0; i < plan->n_arguments; i++) {
    const tp_plan_value *value = plan->arguments + i;
    printf("argument %d %s", i, value->sharding);
    print_shape(":", value->rank, value->shape);
    print_shape(", on a device", value->rank, value->local);
    printf("%s%s\n", *value->role ? ", role " : "", value->role);
  }
  for (int i = 0; i < plan->n_collectives; i++) {
    const tp_plan_collective *c = plan->collectives + i;
    printf("%s over %s of %s: %lld bytes sent by a device\n", tp_collective_name(c->kind),
           c->axes_text, c->tensor, (long long)c->bytes);
  }
  printf("arguments: %lld bytes on a device, %lld in all\n", (long long)plan->argument_bytes,
         (long long)plan->argument_bytes_global);
}

/* MLIR prints diagnostics to stderr by itself, with the location in the file. */
static int run(MlirContext context, const char *path, const char *pipeline) {
  MlirModule module = mlirModuleCreateParseFromFile(context, mlirStringRefCreateFromCString(path));
  if (mlirModuleIsNull(module))
    return 1;
  tp_plan *plan;
  tp_status status = tp_run_pipeline(module, pipeline);
  if (status == TP_OK)
    status = tp_plan_measure(module, NULL, NULL, &plan);
  if (status == TP_OK) {
    print_plan(plan);
    tp_plan_destroy(plan);
  } else {
    fprintf(stderr, "failed: %s\n", tp_status_name(status));
  }
  mlirModuleDestroy(module);
  return status == TP_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  char why[256], pipeline[1024];
  tp_mesh mesh;
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: %s MODEL.mlir MESH [PIPELINE]\n", argv[0]);
    return 2;
  }
  if (tp_mesh_parse("mesh", argv[2], why, sizeof why, &mesh) != TP_OK) {
    fprintf(stderr, "%s\n", why);
    return 2;
  }
  printf("tpshard %s on %lld devices\n", tp_version(), (long long)tp_mesh_size(&mesh));
  snprintf(pipeline, sizeof pipeline, "builtin.module(tp-spmd{mesh=%s})", argv[2]);
  tp_register_passes();
  MlirContext context = mlirContextCreate();
  tp_context_prepare(context);
  int code = run(context, argv[1], argc == 4 ? argv[3] : pipeline);
  mlirContextDestroy(context);
  return code;
}
