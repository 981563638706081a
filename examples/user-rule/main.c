/* Shards a program with an op of its own, "my.activation": registers its rule, partitions, lowers
 * the op, compiles.
 *
 *   user-rule MODEL.mlir dp=2,tp=2 */
#include <tp/compile.h>
#include <tp/passes.h>
#include <tp/rules.h>

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>
#include <stdio.h>

enum { MAX_OPS = 64 };

static MlirStringRef ref(const char *text) { return mlirStringRefCreateFromCString(text); }

/* The rule: elementwise, so one factor for each dimension. "([a,b])->([a,b])" for a matrix. */
static tp_status describe(MlirOperation op, char *text, size_t text_size, char *why,
                          size_t why_size, void *data) {
  char dims[64];
  int n = 0;
  int64_t rank = mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  (void)data;
  if (rank > 8) {
    snprintf(why, why_size, "it has %d dimensions, and is meant for at most 8", (int)rank);
    return TP_UNSUPPORTED;
  }
  dims[0] = 0;
  for (int d = 0; d < rank; d++)
    n += snprintf(dims + n, sizeof dims - (size_t)n, "%s%c", d ? "," : "", 'a' + d);
  snprintf(text, text_size, "([%s])->([%s])", dims, dims);
  return TP_OK;
}

typedef struct op_list {
  int n;
  MlirOperation ops[MAX_OPS];
} op_list;

static MlirWalkResult collect(MlirOperation op, void *data) {
  op_list *list = data;
  if (mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), ref("my.activation")) &&
      list->n < MAX_OPS)
    list->ops[list->n++] = op;
  return MlirWalkResultAdvance;
}

/* The lowering: "my.activation" {kind = "tanh"} becomes math.tanh. Types are those of one device
 * here. */
static void lower(MlirOperation op) {
  char name[64];
  MlirStringRef kind = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, ref("kind")));
  snprintf(name, sizeof name, "math.%.*s", (int)kind.length, kind.data);
  MlirValue operand = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(operand);
  MlirOperationState state = mlirOperationStateGet(ref(name), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, 1, &operand);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation with = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, with);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(with, 0));
  mlirOperationDestroy(op);
}

static tp_status shard_and_compile(MlirModule module, const char *mesh, tp_bytes *object) {
  char pipeline[256];
  op_list list = {0};
  snprintf(pipeline, sizeof pipeline, "tp-spmd{mesh=%s}", mesh);
  tp_status status = tp_run_pipeline(module, pipeline);
  if (status != TP_OK)
    return status;
  mlirOperationDump(mlirModuleGetOperation(module));
  mlirOperationWalk(mlirModuleGetOperation(module), collect, &list, MlirWalkPostOrder);
  for (int i = 0; i < list.n; i++)
    lower(list.ops[i]);
  printf("%d lowered\n", list.n);
  status = tp_run_pipeline(module, "tp-to-runtime");
  return status == TP_OK ? tp_compile(module, NULL, TP_EMIT_OBJECT, object) : status;
}

static int run(MlirContext context, const char *path, const char *mesh) {
  tp_bytes object = {0};
  MlirModule module = mlirModuleCreateParseFromFile(context, ref(path));
  if (mlirModuleIsNull(module))
    return 1;
  tp_status status = shard_and_compile(module, mesh, &object);
  printf("%s\n", status == TP_OK ? "compiled" : tp_status_name(status));
  tp_bytes_clear(&object);
  mlirModuleDestroy(module);
  return status == TP_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  char why[256];
  const tp_rule_registration rule = {
      .size = sizeof rule, .op = "my.activation", .describe = describe};
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.mlir MESH\n", argv[0]);
    return 2;
  }
  if (tp_rule_register(&rule, why, sizeof why) != TP_OK) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  tp_register_passes();
  MlirContext context = mlirContextCreate();
  tp_context_prepare(context);
  mlirContextSetAllowUnregisteredDialects(context, true);
  int code = run(context, argv[1], argv[2]);
  mlirContextDestroy(context);
  tp_rule_unregister("my.activation");
  return code;
}
