/* Meshes and shardings in the IR: shard.grid + tp.axes, and tp.sharding in its short and full form.
 *
 * All functions that read emit a diagnostic when the IR is wrong; each violation has a message of
 * its own. */
#ifndef TP_IR_ANNOTATION_H
#define TP_IR_ANNOTATION_H

#include "ir/diagnostics.h"
#include "ir/ir.h"

#include "tp/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sharding as written: a spec and the dimensions left open ("?"). */
typedef struct tp_annotation {
  tp_spec spec;
  uint32_t open; /* bit d: dimension d is open, the planner may add axes */
} tp_annotation;

/* The mesh of the module, from its shard.grid ops; refined by every sub-axis that an annotation in
 * the module spells. When the module has no grid: TP_OK and mesh->n_axes == 0. `binding` (may be
 * NULL or "") overrides sizes: "dp=2,tp=2" by name, "2x4" or "2,4" in order, a single bare size the
 * last axis; axes not named get size 1. A module without grid takes the binding's axes (bare sizes
 * are named by position: "tp", "dp,tp", "x,y,z,..."). */
tp_status tp__module_mesh(MlirOperation module, const char *binding, tp_mesh *mesh);

/* tp_topology_load, with its message on `module`. */
tp_status tp__load_topology(MlirOperation module, const char *name, const tp_mesh *mesh,
                            tp_topology *topology);
/* The same with the prices of the objective `objective`, by its name. */
tp_status tp__load_prices(MlirOperation module, const char *name, const char *objective,
                          const tp_mesh *mesh, tp_topology *topology);

/* Writes the grid(s) of `mesh` into the module: `@mesh`, and `@mesh.sub` when refined. Replaces
 * what is there. */
void tp__write_grids(MlirOperation module, const tp_mesh *mesh);

/* Reads a tp.sharding for a value of `type`, a ranked tensor or a scalar. `at` and `what`
 * ("argument 2", "result 0") are for messages. */
tp_status tp__read_sharding(MlirOperation at, const char *what, MlirAttribute attr,
                            const tp_mesh *mesh, MlirType type, tp_annotation *annotation);

/* The attribute, canonical: short form unless there is a partial. */
MlirAttribute tp__write_sharding(MlirContext context, const tp_mesh *mesh, int rank,
                                 tp_annotation annotation);

/* Splits "axis" or "axis:(pre)size"; pre and size are 0 for a whole axis. `name` has room for
 * TP_MAX_AXIS_NAME. */
bool tp__axis_token(MlirStringRef token, char *name, int64_t *pre, int64_t *size);

/* The tp.sharding of result `i` of an op (not of a function). An op with one result carries the
 * sharding itself, others a list with one entry per result. */
tp_status tp__op_sharding(MlirOperation op, int i, const tp_mesh *mesh, tp_annotation *annotation,
                          bool *present);
void tp__set_op_sharding(MlirOperation op, const tp_mesh *mesh, int n,
                         const tp_annotation *annotations);

/* How many of the `n` axes, from the first on, are adjacent sub-axes of one parent, which print
 * joined. */
int tp__joined_axes(const tp_mesh *mesh, int n, const int *axes);

/* True if the module says tp.phase = "local": it is partitioned, shapes are per device. */
bool tp__is_local(MlirOperation module);

/* Verifies tp.factors, tp.region_args, tp.pairs and tp.global of an op (of a function: of its
 * arguments and results), and writes region_args canonically. */
tp_status tp__check_plan_attributes(MlirOperation op, const tp_mesh *mesh);
/* tp.phase of the module is absent or "local". */
tp_status tp__check_phase(MlirOperation module);

/* For collectives: the grid symbol ("mesh" or "mesh.sub") and the grid_axes attribute
 * (DenseI16Array) for the given axes of the refined mesh. Prefers the unrefined grid where the axes
 * are whole. */
void tp__grid_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes,
                   MlirAttribute *grid, MlirAttribute *grid_axes);

#ifdef __cplusplus
}
#endif
#endif
