/* tp-fuse-nests: fuses consecutive loop nests on buffers into one GPU kernel.
 *
 * A softmax is a max, a difference, a sum and a quotient over the rows of a matrix; a norm is
 * similar. Unfused, each nest reads and writes rows. Fused, they read a row once, keep it in
 * registers, and write the final result. The pass runs before buffers get addresses, so that a
 * buffer used only between fused nests needs no memory. */
#include "passes/gpu/nests/fuse_nests.h"
#include "passes/gpu/outline.h"
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <mlir-c/AffineMap.h>

enum { STAT_GROUPS, STAT_NESTS, STAT_BUFFERS };

typedef struct fusing {
  tp_pass *pass;
  tp__outliner outliner;
  tp__memory_classes classes; /* alias classes of the function */
  char prefix[128];
} fusing;

/* ---- ops ---- */

static bool is_copy(MlirOperation op) {
  return tp__op_is(op, "memref.copy") &&
         mlirShapedTypeHasStaticShape(mlirValueGetType(mlirOperationGetOperand(op, 0)));
}

/* Builds a nest before the copy that does the same. An unfused dense copy is better left to the GPU
 * driver. */
static MlirOperation build_copy(MlirOperation copy) {
  MlirContext context = mlirOperationGetContext(copy);
  MlirValue operands[] = {mlirOperationGetOperand(copy, 0), mlirOperationGetOperand(copy, 1)};
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(operands[0]));
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank)),
                maps[] = {map, map};
  MlirOperation op = tp__build_generic(&(tp_generic){.where = copy,
                                                     .location = mlirOperationGetLocation(copy),
                                                     .n_inputs = 1,
                                                     .n_inits = 1,
                                                     .operands = operands,
                                                     .maps = maps});
  MlirOperation end = tp__build_generic_body(op);
  MlirValue element = mlirBlockGetArgument(mlirOperationGetBlock(end), 0);
  mlirOperationSetOperands(end, 1, &element);
  return op;
}

/* ---- groups ---- */

static tp_status add_nest(tp__nest_group *g, MlirOperation op, size_t at) {
  tp__map_nest *n = tp__calloc(1, sizeof *n);
  if (!n)
    return tp__out_of_memory(op);
  g->at[g->map.n_nests] = at;
  g->map.nests[g->map.n_nests++] = n;
  return tp__map_read(op, n);
}

static void drop_nests(tp__nest_group *g, int n) {
  while (g->map.n_nests > n)
    tp__free(g->map.nests[--g->map.n_nests]);
}

/* True if `last` initializes a buffer that `behind`, a reduction, accumulates into. Such nests
 * should stay together. */
static bool begins(const tp__map_nest *last, const tp__map_nest *behind) {
  for (int i = last->n_inputs; i < last->n_operands; i++)
    for (int k = behind->n_inputs; k < behind->n_operands; k++)
      if (tp__group_reduces(behind) &&
          mlirValueEqual(last->operands[i].memref, behind->operands[k].memref))
        return true;
  return false;
}

/* Keeps the nest form of copies that join other nests, and the copy op of the others. */
static void settle_copies(tp__nest_block *b, const tp__nest_group *g, int n) {
  bool joins = n > 1;
  for (int i = 0; i < g->map.n_nests; i++) {
    MlirOperation copy = b->ops.items[g->at[i]], nest = g->map.nests[i]->op;
    if (mlirOperationEqual(copy, nest))
      continue;
    if (joins && i < n)
      b->ops.items[g->at[i]] = nest;
    mlirOperationDestroy(joins && i < n ? copy : nest);
  }
}

/* Collects as many nests as can form one kernel, starting with op number `first`, a nest or a
 * copy. */
static tp_status grow_group(tp__nest_block *b, size_t first, tp__nest_group *g) {
  *g = (tp__nest_group){.map = {.n_nests = 0}};
  tp_status status = TP_OK;
  int n = 1; /* number of nests that stay in the group */
  for (size_t i = first; i < b->ops.n && g->map.n_nests < TP_GROUP_NESTS && status == TP_OK; i++) {
    MlirOperation op = b->ops.items[i];
    if (tp__map_is_pure(op))
      continue;
    if (!tp__map_is_nest(op) && !is_copy(op))
      break;
    status = add_nest(g, is_copy(op) ? build_copy(op) : op, i);
    int last = g->map.n_nests - 1;
    if (status == TP_OK && !tp__nests_are_legal(b, &g->map)) {
      while (n > 1 && begins(g->map.nests[n - 1], g->map.nests[last]))
        n--;
      if (tp__nests_are_begun(b, &g->map))
        n = 2;
      break;
    }
    if (status == TP_OK && !tp__nests_are_narrow(&g->map))
      n = last + 1;
  }
  settle_copies(b, g, n);
  drop_nests(g, n);
  return status;
}

static tp_status outline_group(fusing *f, const tp__nest_block *b, tp__nest_group *g) {
  int n = g->map.n_nests;
  MlirOperation first = b->ops.items[g->at[0]];
  for (size_t i = g->at[0]; i < g->at[n - 1]; i++)
    if (tp__map_is_pure(b->ops.items[i]))
      mlirOperationMoveBefore(b->ops.items[i], first);
  tp_op_list made = {0};
  /* false for a fill with a reduction that is not over rows */
  bool keeps = tp__nests_are_legal(b, &g->map);
  tp_status status = keeps ? tp__nests_own_buffers(b, g, first, &made) : TP_OK;
  if (status == TP_OK) {
    MlirOperation group = tp__create(&(tp_build){
        .name = "scf.execute_region", .location = mlirOperationGetLocation(first), .n_regions = 1});
    MlirOperation end =
        tp__create(&(tp_build){.name = "scf.yield", .location = mlirOperationGetLocation(first)});
    MlirBlock block = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(mlirOperationGetRegion(group, 0), block);
    mlirBlockAppendOwnedOperation(block, end);
    tp__insert_before(first, group);
    for (size_t i = 0; i < made.n; i++)
      mlirOperationMoveBefore(made.items[i], end);
    for (int i = 0; i < n; i++)
      mlirOperationMoveBefore(g->map.nests[i]->op, end);
    status = tp__outline(&f->outliner, group, f->prefix);
    f->pass->statistics[STAT_GROUPS]++;
    f->pass->statistics[STAT_NESTS] += n;
    f->pass->statistics[STAT_BUFFERS] += (int64_t)made.n;
  }
  tp__free(made.items);
  return status;
}

/* ---- blocks ---- */

typedef struct uses {
  tp__nest_block *block;
  size_t at;
} uses;

static tp_status note_uses(MlirOperation op, void *data) {
  uses *u = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int64_t class = tp__memory_class(u->block->classes, mlirOperationGetOperand(op, i));
    if (class >= 0)
      u->block->last_use[class] = u->at;
  }
  return TP_OK;
}

static tp_status read_block(fusing *f, MlirBlock block, tp__nest_block *b) {
  *b = (tp__nest_block){.block = block, .classes = &f->classes};
  b->last_use = tp__calloc(f->classes.n_nodes + 1, sizeof *b->last_use);
  if (!b->last_use)
    return tp__out_of_memory(f->pass->module);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    uses u = {b, b->ops.n};
    TP_TRY(tp__op_list_add(&b->ops, op));
    (void)note_uses(op, &u); /* the visitor does not fail */
    (void)tp__walk(op, note_uses, &u);
  }
  return TP_OK;
}

static tp_status fuse_in(fusing *f, MlirBlock block);

static tp_status fuse_inside(fusing *f, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      TP_TRY(fuse_in(f, b));
  return TP_OK;
}

static tp_status fuse_in(fusing *f, MlirBlock block) {
  tp__nest_block b;
  tp__nest_group g;
  tp_status status = read_block(f, block, &b);
  for (size_t i = 0; i < b.ops.n && status == TP_OK;) {
    if (!tp__map_is_nest(b.ops.items[i]) && !is_copy(b.ops.items[i])) {
      if (!tp__op_has_dialect(b.ops.items[i], "linalg"))
        status = fuse_inside(f, b.ops.items[i]);
      i++;
      continue;
    }
    status = grow_group(&b, i, &g);
    i = g.map.n_nests > 0 ? g.at[g.map.n_nests - 1] + 1 : i + 1;
    if (status == TP_OK && g.map.n_nests > 1)
      status = outline_group(f, &b, &g);
    drop_nests(&g, 0);
  }
  tp__free(b.ops.items);
  tp__free(b.last_use);
  return status;
}

/* ---- the pass ---- */

static tp_status collect_unused(MlirOperation op, void *data) {
  return tp__op_is(op, "memref.alloc") && !tp__is_used(mlirOperationGetResult(op, 0))
             ? tp__op_list_add(data, op)
             : TP_OK;
}

static tp_status fuse_function(MlirOperation func, void *data) {
  fusing *f = data;
  tp_op_list unused = {0};
  if (!tp__ref_copy(mlirStringAttrGetValue(tp__inherent(func, "sym_name")), f->prefix,
                    sizeof f->prefix))
    return TP_OK; /* the name is too long; tp-outline-kernels skips such functions too */
  f->classes = (tp__memory_classes){0};
  (void)tp__walk(func, tp__memory_classes_visit, &f->classes); /* the visitor does not fail */
  tp_status status = f->classes.no_memory ? tp__out_of_memory(func) : fuse_inside(f, func);
  if (status == TP_OK)
    status = tp__walk(func, collect_unused, &unused);
  for (size_t i = 0; i < unused.n && status == TP_OK; i++)
    mlirOperationDestroy(unused.items[i]);
  tp__free(unused.items);
  tp__memory_classes_destroy(&f->classes);
  return status;
}

static tp_status run(tp_pass *pass) {
  fusing f = {.pass = pass, .outliner = {.module = pass->module, .kind = "fused"}};
  tp_status status = tp__each_entry(pass->module, fuse_function, &f);
  tp__outliner_destroy(&f.outliner);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"groups", "kernels that compute several nests"},
    {"nests", "loop nests in these kernels"},
    {"buffers", "values that no longer need memory"},
};

const tp_pass_row tp__fuse_nests_row = {
    .name = "tp-fuse-nests",
    .summary = "Group loop nests that one GPU kernel can compute into a function",
    .description =
        "Requires: linalg.generic on buffers without assigned addresses, tp-order-loops. "
        "Establishes: consecutive nests in which no row reads what another row writes are a "
        "private function, marked tp.kernel, which tp-map-kernels turns into one kernel; values "
        "that only these nests read need no buffer of the program. A nest stays alone if it shares "
        "no rows or elements with others, if its body reads memory or asserts, or if the kernel "
        "would keep more of a row than the registers of a block hold; longer rows are read once "
        "for each reduction and once for the stores. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
