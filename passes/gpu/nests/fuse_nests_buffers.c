/* Private buffers of a group.
 *
 * Bufferization reuses buffers where it can: the input, the intermediate results and the output of
 * a softmax may be one buffer. Each time a nest of the group overwrites a whole buffer, it starts a
 * new version. If the group overwrites the buffer again, or if no op after the group reads it, the
 * version gets a private buffer, which is never stored in memory. */
#include "passes/gpu/nests/fuse_nests.h"

#include "passes/support/lower.h"

#include "support/support.h"

/* True if the nest accesses every element of the operand. */
static bool covers(const tp__map_group *g, const tp__map_nest *n, int operand) {
  int place[TP_MAX_RANK];
  if (tp__group_access_of(g, n, operand, place) == TP_ACCESS_OTHER)
    return false;
  for (int d = 0; d < n->operands[operand].rank; d++)
    if (n->operands[operand].sizes[d] != (place[d] < 0 ? 1 : g->size[place[d]]))
      return false;
  return true;
}

/* True if the nest overwrites the operand without reading it. */
static bool begins_version(const tp__map_nest *n, int operand) {
  return operand >= n->n_inputs && !tp__body_reads(&n->body, operand);
}

static bool is_overwritten(const tp__map_group *g, int from, MlirValue memref) {
  for (int i = from; i < g->n_nests; i++)
    for (int k = 0; k < g->nests[i]->n_operands; k++)
      if (mlirValueEqual(g->nests[i]->operands[k].memref, memref) && begins_version(g->nests[i], k))
        return true;
  return false;
}

/* True if no op after the group reads it. */
static bool is_dead(const tp__nest_block *b, const tp__nest_group *g, MlirValue memref) {
  MlirOperation alloc = tp__defining_op(memref);
  int64_t class = tp__memory_class(b->classes, memref);
  return mlirBlockEqual(mlirOperationGetBlock(alloc), b->block) && class >= 0 &&
         b->last_use[class] <= g->at[g->map.n_nests - 1];
}

static MlirValue build_alloca(MlirOperation where, MlirType type) {
  MlirContext context = mlirOperationGetContext(where);
  MlirNamedAttribute segments = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (const int32_t[]){0, 0}));
  return mlirOperationGetResult(tp__build(where, "memref.alloca", 0, NULL, 1, &type, 1, &segments),
                                0);
}

/* Replaces `memref` in the nests by private buffers. `current` is the buffer that holds the current
 * version. */
static tp_status split_versions(const tp__nest_block *b, const tp__nest_group *g, MlirValue memref,
                                MlirOperation where, tp_op_list *made) {
  MlirValue current = memref;
  bool dead = is_dead(b, g, memref);
  for (int i = 0; i < g->map.n_nests; i++) {
    const tp__map_nest *n = g->map.nests[i];
    for (int k = 0; k < n->n_operands; k++) {
      if (!mlirValueEqual(n->operands[k].memref, memref))
        continue;
      if (begins_version(n, k)) {
        bool own = covers(&g->map, n, k) && (dead || is_overwritten(&g->map, i + 1, memref));
        current = own ? build_alloca(where, mlirValueGetType(memref)) : memref;
        if (own && tp__op_list_add(made, tp__defining_op(current)) != TP_OK)
          return TP_NO_MEMORY;
      }
      mlirOperationSetOperand(n->op, k, current);
    }
  }
  return TP_OK;
}

tp_status tp__nests_own_buffers(const tp__nest_block *b, const tp__nest_group *g,
                                MlirOperation where, tp_op_list *made) {
  for (int i = 0; i < g->map.n_nests; i++)
    for (int k = g->map.nests[i]->n_inputs; k < g->map.nests[i]->n_operands; k++) {
      MlirValue memref = g->map.nests[i]->operands[k].memref;
      MlirOperation alloc = tp__defining_op(memref);
      bool seen = false;
      for (int j = 0; j < i && !seen; j++)
        for (int m = g->map.nests[j]->n_inputs; m < g->map.nests[j]->n_operands && !seen; m++)
          seen = mlirValueEqual(g->map.nests[j]->operands[m].memref, memref);
      if (seen || mlirOperationIsNull(alloc) || !tp__op_is(alloc, "memref.alloc"))
        continue;
      TP_TRY(split_versions(b, g, memref, where, made));
    }
  return TP_OK;
}
