/* Embeds tpshard in a C program: parses a module, runs a pipeline on it, looks at the result.
 *
 *   embed MODEL.mlir dp=2,tp=2 [PIPELINE]
 *
 * Without PIPELINE: builtin.module(tp-spmd{mesh=dp=2,tp=2}). Prints every collective, and what each device holds of the arguments of the
 * functions. The MLIR C API comes from libtpshard itself; nothing else is linked. */
#include <tp/mesh.h>
#include <tp/passes.h>

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

typedef struct totals {
  int n_collectives;
  int64_t argument_elements;
} totals;

static MlirStringRef ref(const char *text) { return mlirStringRefCreateFromCString(text); }

static bool starts_with(MlirStringRef text, const char *prefix) {
  return text.length >= strlen(prefix) && memcmp(text.data, prefix, strlen(prefix)) == 0;
}

static int64_t element_count(MlirType type) {
  int64_t n = 1;
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type))
    return 0;
  for (int64_t d = 0; d < mlirShapedTypeGetRank(type); d++)
    n *= mlirShapedTypeGetDimSize(type, d);
  return n;
}

/* The collectives are the ops of the shard dialect that name the axes they run over. */
static MlirWalkResult visit(MlirOperation op, void *data) {
  totals *t = data;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (starts_with(name, "shard.") && !mlirAttributeIsNull(mlirOperationGetInherentAttributeByName(op, ref("grid_axes")))) {
    printf("collective %d: %.*s\n", t->n_collectives++, (int)name.length, name.data);
  } else if (starts_with(name, "func.func")) {
    MlirType type = mlirTypeAttrGetValue(mlirOperationGetInherentAttributeByName(op, ref("function_type")));
    for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
      t->argument_elements += element_count(mlirFunctionTypeGetInput(type, i));
  }
  return MlirWalkResultAdvance;
}

/* MLIR prints diagnostics to stderr by itself, with the location in the file. */
static int run(MlirContext context, const char *path, const char *pipeline) {
  MlirModule module = mlirModuleCreateParseFromFile(context, ref(path));
  if (mlirModuleIsNull(module))
    return 1;
  MlirOperation op = mlirModuleGetOperation(module);
  totals before = {0}, after = {0};
  mlirOperationWalk(op, visit, &before, MlirWalkPreOrder);
  tp_status status = tp_run_pipeline(module, pipeline);
  if (status == TP_OK) {
    mlirOperationWalk(op, visit, &after, MlirWalkPreOrder);
    printf("collectives: %d; elements of arguments: %lld on each device, %lld in all\n", after.n_collectives,
           (long long)after.argument_elements, (long long)before.argument_elements);
  } else {
    fprintf(stderr, "the pipeline failed: %s\n", tp_status_name(status));
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
