/* Cuts axes of the mesh before partitioning, where the path of a reshard uses parts of one.
 *
 * With objective=bytes, a path may use sub-axes that no annotation names (tp/reshard.h). A
 * per-device program has one mesh, so the cuts of all paths are made first. An axis that splits
 * some tensor unevenly stays whole: the shards of that tensor would change. So do the axes that the
 * plan does not count on cutting (tp.whole_axes). */
#include "passes/partition/partition.h"

typedef struct cuts {
  tp_reshard_cache *reshards;
  const tp_mesh *mesh;
  unsigned uneven; /* axes of `mesh`, as bits */
  tp_mesh cut;     /* with the cuts of all paths */
} cuts;

/* The layouts of one function, as far as they are annotated. What is missing or wrong is reported
 * when the plan is read. */
typedef struct reading {
  cuts *c;
  tp__arena arena;
  tp_func_graph graph;
  tp_spec *specs; /* by value number */
} reading;

static void note(reading *r, MlirValue value, tp_spec spec) {
  int number = tp__func_graph_number(&r->graph, value), rank;
  int64_t shape[TP_MAX_RANK];
  if (number < 0 || !tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return;
  r->specs[number] = spec;
  r->c->uneven |= tp_spec_uneven_axes(r->c->mesh, spec, rank, shape);
}

static void add_cuts(cuts *c, const tp_mesh *mesh) {
  for (int a = 0; a < mesh->n_axes; a++)
    tp_mesh_refine(&c->cut, mesh->axes[a].name, mesh->axes[a].pre, mesh->axes[a].size);
}

static void note_path(reading *r, MlirOperation op, tp_spec to) {
  MlirValue source = mlirOperationGetOperand(op, 0);
  int number = tp__func_graph_number(&r->graph, source), rank;
  int64_t shape[TP_MAX_RANK];
  tp_reshard path;
  if (number >= 0 && tp__static_tensor(mlirValueGetType(source), &rank, shape) &&
      tp_reshard_path(r->c->reshards, r->specs[number], to, rank, shape,
                      tp__element_size(tp__element_type(mlirValueGetType(source))), &path) == TP_OK)
    add_cuts(r->c, &path.mesh);
}

static tp_status note_item(reading *r, const tp_item *item) {
  tp_annotation annotation = {0};
  bool present;
  for (int k = 0; k < item->n_carried; k++) {
    TP_TRY(tp__func_graph_carried(&r->graph, item->op, &item->carried[k], &annotation, &present));
    for (int i = 0; present && i < item->carried[k].n_values; i++)
      note(r, item->carried[k].values[i], annotation.spec);
  }
  if (item->kind != TP_ITEM_OP && item->kind != TP_ITEM_LAYOUT)
    return TP_OK;
  for (int i = 0; i < mlirOperationGetNumResults(item->op); i++) {
    MlirValue result = mlirOperationGetResult(item->op, i);
    if (!tp__is_tensor(mlirValueGetType(result)))
      continue;
    TP_TRY(tp__func_graph_op(&r->graph, item->op, i, &annotation, &present));
    if (present && item->kind == TP_ITEM_LAYOUT)
      note_path(r, item->op, annotation.spec);
    if (present)
      note(r, result, annotation.spec);
  }
  return TP_OK;
}

static tp_status note_func(reading *r, MlirOperation func, tp_func_graph *before,
                           bool unknown_replicate) {
  TP_TRY(
      tp__func_graph_read(func, r->c->mesh, unknown_replicate, before, NULL, &r->arena, &r->graph));
  r->specs = tp__arena_array(&r->arena, (size_t)r->graph.n_values + 1, sizeof *r->specs);
  if (!r->specs)
    return tp__out_of_memory(func);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (int i = 0; i < r->graph.n_args; i++) {
    tp_annotation annotation = {0};
    bool present;
    MlirValue arg = mlirBlockGetArgument(block, i);
    if (!tp__is_tensor(mlirValueGetType(arg)))
      continue;
    TP_TRY(tp__func_graph_arg(&r->graph, i, &annotation, &present));
    if (present)
      note(r, arg, annotation.spec);
  }
  for (int i = 0; i < r->graph.n_items; i++)
    TP_TRY(note_item(r, &r->graph.items[i]));
  return TP_OK;
}

static tp_status note_funcs(tp_pass *pass, cuts *c, bool unknown_replicate) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(pass->module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!tp__is_planned_func(op))
      continue;
    reading r = {.c = c};
    tp_status status =
        note_func(&r, op, tp__func_graphs_find(pass->inherited, op), unknown_replicate);
    tp__func_graph_destroy(&r.graph);
    tp__arena_destroy(&r.arena);
    if (status != TP_OK)
      return status;
  }
  return TP_OK;
}

/* Returns the mesh with the cuts of `cut`, except those of axes in the set `whole`. */
static tp_mesh without_cuts(const tp_mesh *mesh, const tp_mesh *cut, unsigned whole) {
  tp_mesh result = *mesh;
  for (int a = 0; a < cut->n_axes; a++) {
    const tp_axis *part = &cut->axes[a];
    bool stays = false;
    for (int k = 0; k < mesh->n_axes; k++)
      stays |= (whole >> k & 1) && mesh->axes[k].parent == part->parent &&
               mesh->axes[k].pre <= part->pre && part->pre < mesh->axes[k].pre * mesh->axes[k].size;
    if (!stays)
      tp_mesh_refine(&result, part->name, part->pre, part->size);
  }
  return result;
}

tp_status tp__cut_for_paths(tp_pass *pass, tp_reshard_cache *reshards, bool unknown_replicate,
                            tp_mesh *mesh) {
  cuts c = {.reshards = reshards, .mesh = mesh, .cut = *mesh};
  unsigned whole;
  TP_TRY(tp__read_whole_axes(pass->module, mesh, &whole));
  tp_reshard_cache_keep_whole(reshards, whole);
  tp_status status = note_funcs(pass, &c, unknown_replicate);
  if (status == TP_OK)
    *mesh = without_cuts(mesh, &c.cut, c.uneven);
  return status;
}
