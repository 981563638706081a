#include "coverage.h"

#include "tp/mesh.h"
#include "tp/passes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[N_KINDS] = {"whole", "result split", "inner split", "partial in"};

/* By name, the first row that is a prefix counts: the families of lib/rules, linalg in more detail. */
static const struct {
  const char *prefix, *family;
} families[N_FAMILIES_SEEN] = {
    {"linalg.generic", "linalg.generic"},
    {"linalg.fill", "linalg.fill"},
    {"linalg.", "linalg named"},
    {"arith.constant", "constant"},
    {"arith.", "elementwise"},
    {"math.", "elementwise math"},
    {"tensor.empty", "empty"},
    {"tensor.splat", "splat"},
    {"tensor.expand", "expand"},
    {"tensor.collapse", "collapse"},
    {"tensor.extract_slice", "extract_slice"},
    {"tensor.insert_slice", "insert_slice"},
    {"tensor.concat", "concat"},
    {"tensor.pad", "pad"},
    {"scf.", "control flow"},
    {"shard.shard", "layout change"},
};

/* The device counts by which an annotation splits each dimension. */
typedef struct layout {
  int rank;
  int64_t shards[16];
  bool partial, uneven;
} layout;

typedef struct visit {
  report *r;
  tp_mesh mesh;
} visit;

static MlirAttribute get(MlirOperation op, const char *name) {
  return mlirOperationGetDiscardableAttributeByName(op, mlirStringRefCreateFromCString(name));
}

static int64_t token_size(const tp_mesh *mesh, MlirAttribute token) {
  MlirStringRef name = mlirStringAttrGetValue(token);
  const char *sub = memchr(name.data, ')', name.length);
  if (sub)
    return strtol(sub + 1, NULL, 10);
  for (int a = 0; a < mesh->n_axes; a++)
    if (strlen(mesh->axes[a].name) == name.length && memcmp(mesh->axes[a].name, name.data, name.length) == 0)
      return mesh->axes[a].size;
  return 1;
}

static layout read_layout(const tp_mesh *mesh, MlirAttribute attr, MlirType type) {
  layout l = {0};
  if (mlirAttributeIsNull(attr))
    return l;
  if (mlirAttributeIsADictionary(attr)) {
    l.partial = !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(attr, mlirStringRefCreateFromCString("partial")));
    attr = mlirDictionaryAttrGetElementByName(attr, mlirStringRefCreateFromCString("dims"));
  }
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAArray(attr) || !mlirTypeIsAShaped(type))
    return l;
  l.rank = (int)mlirArrayAttrGetNumElements(attr);
  for (int d = 0; d < l.rank && d < 16; d++) {
    MlirAttribute axes = mlirArrayAttrGetElement(attr, d);
    l.shards[d] = 1;
    for (intptr_t i = 0; mlirAttributeIsAArray(axes) && i < mlirArrayAttrGetNumElements(axes); i++)
      l.shards[d] *= token_size(mesh, mlirArrayAttrGetElement(axes, i));
    l.uneven |= d < mlirShapedTypeGetRank(type) && mlirShapedTypeGetDimSize(type, d) % l.shards[d] != 0;
  }
  return l;
}

static int64_t shards_of(const layout *l) {
  int64_t n = 1;
  for (int d = 0; d < l->rank; d++)
    n *= l->shards[d];
  return n;
}

/* The layout of an operand, if an op made it. */
static layout operand_layout(const tp_mesh *mesh, MlirValue v) {
  if (!mlirValueIsAOpResult(v))
    return (layout){0};
  MlirOperation op = mlirOpResultGetOwner(v);
  MlirAttribute attr = get(op, "tp.sharding");
  if (mlirOperationGetNumResults(op) > 1 && !mlirAttributeIsNull(attr))
    attr = mlirArrayAttrGetElement(attr, mlirOpResultGetResultNumber(v));
  return read_layout(mesh, attr, mlirValueGetType(v));
}

static MlirWalkResult note(MlirOperation op, void *data) {
  visit *at = data;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  int f = 0;
  while (f < N_FAMILIES_SEEN && strncmp(name.data, families[f].prefix, strlen(families[f].prefix)) != 0)
    f++;
  if (f == N_FAMILIES_SEEN || mlirAttributeIsNull(get(op, "tp.sharding")) || mlirOperationGetNumResults(op) == 0)
    return MlirWalkResultAdvance;
  layout result = operand_layout(&at->mesh, mlirOperationGetResult(op, 0));
  bool inner = result.partial, partial_in = false, uneven = result.uneven;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    layout l = operand_layout(&at->mesh, mlirOperationGetOperand(op, i));
    partial_in |= l.partial;
    inner |= shards_of(&l) > shards_of(&result);
    uneven |= l.uneven;
  }
  int kind = partial_in ? 3 : inner ? 2 : shards_of(&result) > 1 ? 1 : 0;
  at->r->coverage[kind][uneven] |= UINT64_C(1) << f;
  return MlirWalkResultAdvance;
}

static MlirWalkResult find_grid(MlirOperation op, void *data) {
  visit *at = data;
  MlirAttribute axes = get(op, "tp.axes");
  MlirAttribute shape = mlirOperationGetInherentAttributeByName(op, mlirStringRefCreateFromCString("shape"));
  if (mlirAttributeIsNull(axes) || mlirAttributeIsNull(shape) || !mlirAttributeIsNull(get(op, "tp.of")))
    return MlirWalkResultAdvance;
  at->mesh.n_axes = (int)mlirArrayAttrGetNumElements(axes);
  for (int a = 0; a < at->mesh.n_axes; a++) {
    MlirStringRef name = mlirStringAttrGetValue(mlirArrayAttrGetElement(axes, a));
    snprintf(at->mesh.axes[a].name, TP_MAX_AXIS_NAME, "%.*s", (int)name.length, name.data);
    at->mesh.axes[a].size = mlirDenseI64ArrayGetElement(shape, a);
  }
  return MlirWalkResultInterrupt;
}

void coverage_measure(MlirModule module, const char *strategy, report *r) {
  char pipeline[96];
  snprintf(pipeline, sizeof pipeline, "tp-inline-calls,tp-raise,tp-propagate{strategy=%s}", strategy);
  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(module)));
  visit at = {.r = r};
  if (tp_run_pipeline(copy, pipeline) == TP_OK) {
    mlirOperationWalk(mlirModuleGetOperation(copy), find_grid, &at, MlirWalkPreOrder);
    mlirOperationWalk(mlirModuleGetOperation(copy), note, &at, MlirWalkPreOrder);
  }
  mlirModuleDestroy(copy);
}

void coverage_add(coverage *c, const report *r) {
  for (int f = 0; f < N_FAMILIES_SEEN; f++)
    for (int k = 0; k < N_KINDS; k++)
      for (int u = 0; u < 2; u++)
        c->counts[f][k][u] += r->coverage[k][u] >> f & 1;
}

void coverage_print(const coverage *c, FILE *file) {
  fprintf(file, "\nprograms in which a family was (even / uneven shards)\n%-18s", "");
  for (int k = 0; k < N_KINDS; k++)
    fprintf(file, "%16s", kind_names[k]);
  fputc('\n', file);
  for (int f = 0; f < N_FAMILIES_SEEN; f++) {
    fprintf(file, "%-18s", families[f].family);
    for (int k = 0; k < N_KINDS; k++)
      fprintf(file, "%9lld /%5lld", (long long)c->counts[f][k][0], (long long)c->counts[f][k][1]);
    fputc('\n', file);
  }
}
