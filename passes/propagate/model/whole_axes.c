/* Which axes the paths of a plan may not cut (objective=bytes).
 *
 * A path may use parts of an axis that no annotation names. A per-device program has one mesh, so
 * tp-partition cuts an axis for all of the program, or not at all: not an axis that splits some
 * tensor unevenly, whose shards would change, and not one that two paths cut in different ways. A
 * plan that counts on such a cut would send more than it says. */
#include "passes/propagate/model/planner.h"

typedef struct cuts {
  const tp_planner *p;
  tp_mesh all;     /* with the cuts of all paths so far */
  unsigned uneven; /* axes of the planner's mesh that split some tensor unevenly, as bits */
  unsigned cut;    /* axes that some path cuts */
  unsigned apart;  /* axes that two paths cut in different ways */
} cuts;

static void note_layout(cuts *c, const tp_planned_value *v, tp_spec spec) {
  c->uneven |= tp_spec_uneven_axes(c->p->problem.mesh, spec, v->rank, v->shape);
}

static void note_path(cuts *c, const tp_planned_value *v, tp_spec from, tp_spec to) {
  const tp_mesh *mesh = c->p->problem.mesh;
  tp_reshard path;
  if (tp_spec_equal(from, to) || tp_reshard_path(c->p->problem.reshards, from, to, v->rank,
                                                 v->shape, v->element_size, &path) != TP_OK)
    return;
  for (int a = 0; a < mesh->n_axes; a++) {
    const tp_axis *axis = &mesh->axes[a];
    int first, n = tp_mesh_find(&path.mesh, axis->name, axis->pre, axis->size, &first);
    c->cut |= n > 1 ? 1u << a : 0;
    for (int i = first; n > 1 && i < first + n; i++) {
      const tp_axis *part = &path.mesh.axes[i];
      if (tp_mesh_refine(&c->all, part->name, part->pre, part->size) != TP_OK)
        c->apart |= 1u << a;
    }
  }
}

unsigned tp__wrongly_cut_axes(const tp_planner *p) {
  cuts c = {.p = p, .all = *p->problem.mesh};
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    if (v->node < 0)
      continue;
    tp_spec produced = tp__plan_produced(p, v);
    const tp_node *copy = v->copy < 0 ? NULL : &p->problem.nodes[v->copy];
    tp_spec shared = copy ? copy->out[copy->chosen] : produced;
    note_layout(&c, v, produced);
    note_layout(&c, v, shared);
    note_path(&c, v, produced, shared);
    for (int u = 0; u < v->n_uses; u++) {
      tp_spec wanted = tp__plan_wanted(p, &v->uses[u]);
      note_layout(&c, v, wanted);
      note_path(&c, v, shared, wanted);
    }
  }
  return c.cut & (c.uneven | c.apart);
}
