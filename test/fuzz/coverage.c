/* Measures which families of sharding rules a plan exercises, and prints the table. */
#include "coverage.h"

#include "tp/mesh.h"
#include "tp/passes.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Linalg.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[N_KINDS] = {"whole", "result split", "inner split", "cut split",
                                                "partial in"};
enum kind { WHOLE, RESULT, INNER, CUT, PARTIAL_IN };

/* The op families of lib/rules, with linalg in more detail. The first matching row counts. Poolings
 * have become generics before planning. */
static const struct {
  /* prefix: of the op's name; holds: an op that its region must contain, or NULL */
  const char *prefix, *holds;
  int n_results; /* 0: any */
  const char *family;
} families[N_FAMILIES_SEEN] = {
    {"linalg.generic", "tensor.extract", 0, "generic, reads"},
    {"linalg.generic", NULL, 2, "generic, pairs"},
    {"linalg.generic", NULL, 0, "generic"},
    {"linalg.fill", NULL, 0, "fill"},
    {"linalg.conv", NULL, 0, "convolution"},
    {"linalg.depthwise", NULL, 0, "convolution"},
    {"linalg.", NULL, 0, "linalg named"},
    {"arith.constant", NULL, 0, "constant"},
    {"arith.", NULL, 0, "elementwise"},
    {"math.", NULL, 0, "elementwise math"},
    {"tensor.empty", NULL, 0, "empty"},
    {"tensor.splat", NULL, 0, "splat"},
    {"tensor.expand", NULL, 0, "expand"},
    {"tensor.collapse", NULL, 0, "collapse"},
    {"tensor.extract_slice", NULL, 0, "extract_slice"},
    {"tensor.insert_slice", NULL, 0, "insert_slice"},
    {"tensor.concat", NULL, 0, "concat"},
    {"tensor.pad", NULL, 0, "pad"},
    {"scf.", NULL, 0, "control flow"},
    {"shard.shard", NULL, 0, "layout change"},
};

/* Cells that cannot be covered, and why. */
#define BIT(kind) (1u << (kind))
static const struct {
  const char *family;
  unsigned kinds;
  const char *why;
} impossible[] = {
    {"fill", BIT(INNER) | BIT(CUT) | BIT(PARTIAL_IN), "makes its result from a number"},
    {"constant", BIT(INNER) | BIT(CUT) | BIT(PARTIAL_IN), "has no operand"},
    {"empty", BIT(INNER) | BIT(CUT) | BIT(PARTIAL_IN), "has no operand"},
    {"splat", BIT(INNER) | BIT(CUT) | BIT(PARTIAL_IN), "makes its result from a number"},
    {"elementwise", BIT(INNER) | BIT(CUT), "operands have the shape of the result"},
    {"elementwise math", BIT(INNER) | BIT(CUT) | BIT(PARTIAL_IN),
     "operands have the shape of the result; none is linear"},
    {"generic, pairs", BIT(CUT), "operands are read through plain maps"},
    {"generic, reads", BIT(CUT) | BIT(PARTIAL_IN),
     "operands are read through plain maps, tables at positions; sums are combined before"},
    {"linalg named", BIT(CUT), "no dimension is read at another place"},
    {"expand", BIT(INNER) | BIT(CUT), "splits and joins dimensions, cuts none"},
    {"collapse", BIT(INNER) | BIT(CUT), "splits and joins dimensions, cuts none"},
    {"insert_slice", BIT(INNER), "the result is split as the tensor that it changes"},
    {"concat", BIT(INNER), "the result has all dimensions of its operands"},
    {"pad", BIT(INNER), "the result has all dimensions of its operand"},
    {"control flow", BIT(CUT), "cuts no dimension"},
    {"layout change", BIT(CUT), "cuts no dimension"},
};

/* The number of shards of each dimension under an annotation. */
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
    if (strlen(mesh->axes[a].name) == name.length &&
        memcmp(mesh->axes[a].name, name.data, name.length) == 0)
      return mesh->axes[a].size;
  return 1;
}

static layout read_layout(const tp_mesh *mesh, MlirAttribute attr, MlirType type) {
  layout l = {0};
  if (mlirAttributeIsNull(attr))
    return l;
  if (mlirAttributeIsADictionary(attr)) {
    l.partial = !mlirAttributeIsNull(
        mlirDictionaryAttrGetElementByName(attr, mlirStringRefCreateFromCString("partial")));
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
    l.uneven |=
        d < mlirShapedTypeGetRank(type) && mlirShapedTypeGetDimSize(type, d) % l.shards[d] != 0;
  }
  return l;
}

static int64_t shards_of(const layout *l) {
  int64_t n = 1;
  for (int d = 0; d < l->rank; d++)
    n *= l->shards[d];
  return n;
}

/* Returns the annotation of a function argument. */
static MlirAttribute argument_annotation(MlirValue v) {
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation function = mlirBlockGetParentOperation(block);
  MlirAttribute all =
      mlirOperationGetAttributeByName(function, mlirStringRefCreateFromCString("arg_attrs"));
  intptr_t i = mlirBlockArgumentGetArgNumber(v);
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      i >= mlirArrayAttrGetNumElements(all))
    return (MlirAttribute){NULL};
  return mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, i),
                                            mlirStringRefCreateFromCString("tp.sharding"));
}

static layout operand_layout(const tp_mesh *mesh, MlirValue v) {
  if (!mlirValueIsAOpResult(v))
    return read_layout(mesh, argument_annotation(v), mlirValueGetType(v));
  MlirOperation op = mlirOpResultGetOwner(v);
  MlirAttribute attr = get(op, "tp.sharding");
  if (mlirOperationGetNumResults(op) > 1 && !mlirAttributeIsNull(attr))
    attr = mlirArrayAttrGetElement(attr, mlirOpResultGetResultNumber(v));
  return read_layout(mesh, attr, mlirValueGetType(v));
}

typedef struct search {
  const char *name;
  bool found;
} search;

static MlirWalkResult look_for(MlirOperation op, void *data) {
  search *s = data;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  s->found |= strlen(s->name) == name.length && memcmp(s->name, name.data, name.length) == 0;
  return s->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static int family_of(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (int f = 0; f < N_FAMILIES_SEEN; f++) {
    size_t n = strlen(families[f].prefix);
    if (name.length < n || memcmp(name.data, families[f].prefix, n) != 0 ||
        (families[f].n_results && mlirOperationGetNumResults(op) != families[f].n_results))
      continue;
    search s = {families[f].holds, !families[f].holds};
    if (!s.found)
      mlirOperationWalk(op, look_for, &s, MlirWalkPreOrder);
    if (s.found)
      return f;
  }
  return N_FAMILIES_SEEN;
}

static MlirAttribute inherent(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, mlirStringRefCreateFromCString(name));
}

/* Returns true if dimension d of operand i is read at other positions than the result's. Slices,
 * padding and concatenation: according to their attributes; linalg: if a map has an expression. */
static bool is_cut(MlirOperation op, int i, int d) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
  MlirAttribute sizes = inherent(op, "static_sizes"), low = inherent(op, "static_low"),
                high = inherent(op, "static_high");
  if (!mlirAttributeIsNull(sizes)) {
    return d < mlirDenseArrayGetNumElements(sizes) &&
           mlirDenseI64ArrayGetElement(sizes, d) != mlirShapedTypeGetDimSize(type, d);
  }
  if (!mlirAttributeIsNull(low))
    return mlirDenseI64ArrayGetElement(low, d) != 0 || mlirDenseI64ArrayGetElement(high, d) != 0;
  MlirAttribute along = inherent(op, "dim");
  if (!mlirAttributeIsNull(along) && mlirAttributeIsAInteger(along))
    return mlirIntegerAttrGetValueInt(along) == d;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) || i >= mlirArrayAttrGetNumElements(maps))
    return false;
  MlirAffineExpr at =
      mlirAffineMapGetResult(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)), d);
  return !mlirAffineExprIsADim(at) && !mlirAffineExprIsAConstant(at);
}

/* Returns true if operand i is the start value of a reduction. It is partial if its result is, but
 * does not count as a partial input. */
static bool is_start(MlirOperation op, int i) {
  return !mlirAttributeIsNull(mlirLinalgGetIndexingMapsAttribute(op)) &&
         i >= mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op);
}

static MlirWalkResult note(MlirOperation op, void *data) {
  visit *at = data;
  int f = family_of(op);
  if (f == N_FAMILIES_SEEN || mlirAttributeIsNull(get(op, "tp.sharding")) ||
      mlirOperationGetNumResults(op) == 0)
    return MlirWalkResultAdvance;
  layout result = operand_layout(&at->mesh, mlirOperationGetResult(op, 0));
  bool inner = result.partial, partial_in = false, uneven = result.uneven, cut = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    layout l = operand_layout(&at->mesh, mlirOperationGetOperand(op, i));
    partial_in |= l.partial && !(result.partial && is_start(op, (int)i));
    inner |= shards_of(&l) > shards_of(&result);
    uneven |= l.uneven;
    for (int d = 0; d < l.rank; d++)
      cut |= l.shards[d] > 1 && is_cut(op, (int)i, d);
  }
  int kind = partial_in               ? PARTIAL_IN
             : cut                    ? CUT
             : inner                  ? INNER
             : shards_of(&result) > 1 ? RESULT
                                      : WHOLE;
  at->r->coverage[kind][uneven] |= UINT64_C(1) << f;
  return MlirWalkResultAdvance;
}

static MlirWalkResult find_grid(MlirOperation op, void *data) {
  visit *at = data;
  MlirAttribute axes = get(op, "tp.axes");
  MlirAttribute shape = inherent(op, "shape");
  if (mlirAttributeIsNull(axes) || mlirAttributeIsNull(shape) ||
      !mlirAttributeIsNull(get(op, "tp.of")))
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
  snprintf(pipeline, sizeof pipeline,
           "tp-decompose,tp-inline-calls,tp-raise,tp-propagate{strategy=%s}", strategy);
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

static const char *why_empty(int f, int kind) {
  for (int i = 0; i < COUNT(impossible); i++)
    if (strcmp(impossible[i].family, families[f].family) == 0 && impossible[i].kinds & BIT(kind))
      return impossible[i].why;
  return NULL;
}

static void print_cell(const coverage *c, int f, int kind, FILE *file) {
  const int64_t *n = c->counts[f][kind];
  if (n[0] + n[1] == 0 && why_empty(f, kind))
    fprintf(file, "%15s", "-");
  else if (kind == WHOLE)
    fprintf(file, "%15lld", (long long)n[0]);
  else
    fprintf(file, "%8lld /%5lld", (long long)n[0], (long long)n[1]);
}

/* Merges the rows of one family, which are adjacent, to one row of the table. */
static void join_rows(coverage *c) {
  for (int f = N_FAMILIES_SEEN - 1; f > 0; f--)
    if (strcmp(families[f].family, families[f - 1].family) == 0)
      for (int k = 0; k < N_KINDS; k++)
        for (int u = 0; u < 2; u++)
          c->counts[f - 1][k][u] += c->counts[f][k][u];
}

static void print_reasons(FILE *file) {
  fprintf(file, "- stays empty:\n");
  for (int i = 0; i < COUNT(impossible); i++)
    fprintf(file, "  %-18s%s\n", impossible[i].family, impossible[i].why);
}

void coverage_print(const coverage *counted, bool reasons, FILE *file) {
  coverage c = *counted;
  join_rows(&c);
  fprintf(file, "\nprograms in which a family was split (evenly / unevenly)\n%-18s", "");
  for (int k = 0; k < N_KINDS; k++)
    fprintf(file, "%15s", kind_names[k]);
  fputc('\n', file);
  for (int f = 0; f < N_FAMILIES_SEEN; f++) {
    if (f > 0 && strcmp(families[f].family, families[f - 1].family) == 0)
      continue;
    fprintf(file, "%-18s", families[f].family);
    for (int k = 0; k < N_KINDS; k++)
      print_cell(&c, f, k, file);
    fputc('\n', file);
  }
  if (reasons)
    print_reasons(file);
}
