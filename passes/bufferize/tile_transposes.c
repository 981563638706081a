/* tp-tile-transposes: computes elementwise ops that transpose an operand in square tiles.
 *
 * The innermost loop of such an op writes a row, and reads a column of the transposed operand. Each
 * element of a column is in another cache line, and a column of many lines replaces them in the
 * cache before the next column reads the rest of each. In a tile of 16 x 16 elements, all that a
 * line holds is read while it is there. */
#include "passes/bufferize/assign.h"
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum {
  MAX_OPERANDS = 64,
  MAX_LOOPS = 12,
  MIN_TILE = 8,
  BEST_TILE = 16, /* elements of f32 in a cache line */
  MAX_TILE = 32,
  CACHED_BYTES = 16384, /* an operand of this size stays in the first cache */
  STAT_TILED = 0
};

typedef struct nest {
  MlirOperation op;
  MlirContext context;
  int n_operands, n_loops;
  MlirAffineMap maps[MAX_OPERANDS];
  int64_t size[MAX_LOOPS]; /* number of iterations; 0: unknown */
} nest;

/* A loop that is cut into tiles of `tile` elements. */
typedef struct cut {
  int loop;
  int64_t tile;
} cut;

/* ---- reading ---- */

static bool has_static_strides(MlirType type) {
  int64_t strides[TP_MAX_RANK], base;
  if (!mlirTypeIsAMemRef(type) || !mlirShapedTypeHasStaticShape(type) ||
      mlirShapedTypeGetRank(type) + 2 > TP_MAX_RANK ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &base)))
    return false;
  for (int64_t d = 0; d < mlirShapedTypeGetRank(type); d++)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return false;
  return true;
}

static tp_status find_index(MlirOperation op, void *found) {
  if (tp__op_is(op, "linalg.index"))
    *(bool *)found = true;
  return TP_OK;
}

/* False if the op is not elementwise, or uses the numbers of its iterations. */
static bool read_nest(MlirOperation op, nest *n) {
  bool uses_index = false;
  MlirAttribute maps = tp__inherent(op, "indexing_maps"),
                iterators = tp__inherent(op, "iterator_types");
  *n = (nest){.op = op,
              .context = mlirOperationGetContext(op),
              .n_operands = (int)mlirOperationGetNumOperands(op),
              .n_loops = (int)mlirArrayAttrGetNumElements(iterators)};
  if (mlirOperationGetNumResults(op) != 0 || n->n_operands > MAX_OPERANDS || n->n_loops < 2 ||
      n->n_loops + 2 > MAX_LOOPS || mlirArrayAttrGetNumElements(maps) != n->n_operands)
    return false;
  MlirAttribute parallel = tp__parse_attr(n->context, "#linalg.iterator_type<parallel>");
  for (int l = 0; l < n->n_loops; l++)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel))
      return false;
  for (int i = 0; i < n->n_operands; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    n->maps[i] = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    intptr_t rank = mlirAffineMapGetNumResults(n->maps[i]);
    if (!mlirAffineMapIsProjectedPermutation(n->maps[i]) || (rank && !has_static_strides(type)))
      return false;
    for (intptr_t d = 0; d < rank; d++)
      n->size[mlirAffineDimExprGetPosition(mlirAffineMapGetResult(n->maps[i], d))] =
          mlirShapedTypeGetDimSize(type, d);
  }
  tp__walk(op, find_index, &uses_index);
  return !uses_index;
}

/* Returns the dimension of operand i that runs along the loop; -1: none. */
static int dim_along(const nest *n, int i, int loop) {
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(n->maps[i]); d++)
    if (mlirAffineDimExprGetPosition(mlirAffineMapGetResult(n->maps[i], d)) == loop)
      return (int)d;
  return -1;
}

static bool is_large(MlirType type) { return tp__memref_bytes(type) > CACHED_BYTES; }

/* Returns the loop along which a large operand is contiguous that the innermost loop reads with a
 * stride; -1: there is none. */
static int transposed_loop(const nest *n) {
  for (int i = 0; i < n->n_operands; i++) {
    int rank = (int)mlirAffineMapGetNumResults(n->maps[i]), dim = dim_along(n, i, n->n_loops - 1);
    if (dim >= 0 && dim < rank - 1 && is_large(mlirValueGetType(mlirOperationGetOperand(n->op, i))))
      return (int)mlirAffineDimExprGetPosition(mlirAffineMapGetResult(n->maps[i], rank - 1));
  }
  return -1;
}

/* Returns the number of elements of a tile that divides the loop; 0: none does. */
static int64_t tile_of(int64_t size) {
  if (size > BEST_TILE && size % BEST_TILE == 0)
    return BEST_TILE;
  for (int64_t tile = MAX_TILE; tile >= MIN_TILE; tile--)
    if (size > tile && size % tile == 0)
      return tile;
  return 0;
}

/* ---- tiling ---- */

/* The loops over tiles keep their places. Those inside of a tile come last. */
static void tile(const nest *n, const cut cuts[2]) {
  MlirAttribute maps[MAX_OPERANDS], iterators[MAX_LOOPS];
  for (int i = 0; i < n->n_operands; i++) {
    MlirAffineExpr results[TP_MAX_RANK];
    MlirValue operand = mlirOperationGetOperand(n->op, i);
    intptr_t rank = mlirAffineMapGetNumResults(n->maps[i]), count = 0;
    for (intptr_t d = 0; d < rank; d++) {
      MlirAffineExpr loop = mlirAffineMapGetResult(n->maps[i], d);
      results[count++] = loop;
      for (int c = 0; c < 2; c++)
        if (mlirAffineDimExprGetPosition(loop) == cuts[c].loop) {
          operand =
              tp__build_parts(n->op, operand, (int)count - 1, n->size[cuts[c].loop] / cuts[c].tile);
          results[count++] = mlirAffineDimExprGet(n->context, n->n_loops + c);
        }
    }
    mlirOperationSetOperand(n->op, i, operand);
    maps[i] = mlirAffineMapAttrGet(mlirAffineMapGet(n->context, n->n_loops + 2, 0, count, results));
  }
  for (int l = 0; l < n->n_loops + 2; l++)
    iterators[l] = tp__parse_attr(n->context, "#linalg.iterator_type<parallel>");
  mlirOperationSetInherentAttributeByName(n->op, tp__ref("indexing_maps"),
                                          mlirArrayAttrGet(n->context, n->n_operands, maps));
  mlirOperationSetInherentAttributeByName(n->op, tp__ref("iterator_types"),
                                          mlirArrayAttrGet(n->context, n->n_loops + 2, iterators));
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, tp__collect_generic, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    nest n;
    int other = read_nest(list.items[i], &n) ? transposed_loop(&n) : -1;
    if (other < 0)
      continue;
    cut cuts[] = {{other, tile_of(n.size[other])}, {n.n_loops - 1, tile_of(n.size[n.n_loops - 1])}};
    if (cuts[0].tile == 0 || cuts[1].tile == 0)
      continue;
    tile(&n, cuts);
    pass->statistics[STAT_TILED]++;
  }
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"tiled", "loop nests that are computed in tiles"},
};

const tp_pass_row tp__tile_transposes_row = {
    .name = "tp-tile-transposes",
    .summary = "Compute elementwise ops that transpose an operand in tiles",
    .description =
        "Requires: structured ops on buffers, tp-order-loops. Establishes: an elementwise "
        "linalg.generic whose innermost loop reads an operand of more than 16 KiB along another "
        "dimension than its last has two more loops, over the rows and columns of a tile of 16 x "
        "16 elements. A size that 16 does not divide has tiles of its largest divisor from 8 to "
        "32. "
        "Ops that use the numbers of their iterations, sizes without such a divisor, and operands "
        "with dynamic strides stay as they are. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
