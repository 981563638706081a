/* Reads and writes meshes and shardings in the IR: shard.grid with tp.axes, and tp.sharding in its
 * short and full form.
 *
 * All reading functions emit a diagnostic if the IR is invalid. Each kind of violation has its own
 * message. */
#ifndef TP_IR_ANNOTATION_H
#define TP_IR_ANNOTATION_H

#include "ir/diagnostics.h"
#include "ir/ir.h"

#include "tp/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sharding as written in the IR: a spec, and the set of open dimensions ("?"). */
typedef struct tp_annotation {
  tp_spec spec;
  uint32_t open; /* bit d: dimension d is open, so the planner may add axes to it */
} tp_annotation;

/* Reads the mesh of the module from its shard.grid ops, and refines it by every sub-axis that an
 * annotation in the module names. If the module has no grid and there is no binding, returns TP_OK
 * with mesh->n_axes == 0.
 *
 * `binding` (may be NULL or "") overrides the sizes: "dp=2,tp=2" by name; "2x4" or "2,4" in order;
 * a single size sets the last axis. Axes that the binding omits get size 1. In a module without a
 * grid, the binding defines the axes; sizes without names are named by position ("tp"; "dp,tp";
 * "x,y,z,..."). */
tp_status tp__module_mesh(MlirOperation module, const char *binding, tp_mesh *mesh);

/* Like tp_mesh_create, for a mesh that `op` states. Errors: one diagnostic says which axis is
 * wrong. */
tp_status tp__mesh_of_axes(MlirOperation op, const char *name, int n, const char *const *names,
                           const int64_t *sizes, tp_mesh *mesh);

/* True for an op that states a mesh; *symbol is its name. */
typedef bool (*tp__mesh_reader)(MlirOperation op, MlirStringRef *symbol);
/* Of the ops at module level for which `is_mesh` holds, chooses the mesh of the module: the only
 * one, or the only one that ops of the shard dialect or annotations name; null if there is none. A
 * tp.sharding without a mesh entry names none. Fails with a diagnostic if several are named, or
 * none of several. */
tp_status tp__choose_mesh(MlirOperation module, tp__mesh_reader is_mesh, MlirOperation *chosen);
/* A tp__mesh_reader: shard.grid ops, except refinements of others. */
bool tp__is_main_grid(MlirOperation op, MlirStringRef *symbol);

/* Calls tp_topology_load and reports its message on `module`. */
tp_status tp__load_topology(MlirOperation module, const char *name, const tp_mesh *mesh,
                            tp_topology *topology);
/* Like tp__load_topology, with the prices of the objective; `byte_flops` is that of
 * tp_topology_count_bytes, TP_BYTE_FLOPS where only changes of layout are priced. */
tp_status tp__load_prices(MlirOperation module, const char *name, tp_objective objective,
                          double byte_flops, const tp_mesh *mesh, tp_topology *topology);

/* The value of an option memory-limit=topology. */
enum { TP_LIMIT_OF_TOPOLOGY = -2 };
/* Sets `bytes` to the limit that an option memory-limit gives; TP_NO_VALUE: none. Fails at `op` if
 * the limit is that of a topology that does not have one. */
tp_status tp__memory_limit(MlirOperation op, int64_t option, const tp_topology *topology,
                           int64_t *bytes);

/* Writes the grids of `mesh` into the module: `@mesh`, and `@mesh.sub` if it is refined. Replaces
 * all existing grids. */
void tp__write_grids(MlirOperation module, const tp_mesh *mesh);

/* Reads a tp.sharding for a value of `type`, a ranked tensor or a scalar. `at` and `what`
 * ("argument 2", "result 0") are used in messages. */
tp_status tp__read_sharding(MlirOperation at, const char *what, MlirAttribute attr,
                            const tp_mesh *mesh, MlirType type, tp_annotation *annotation);

/* Returns the canonical tp.sharding attribute. It has the short form unless an axis is partial. */
MlirAttribute tp__write_sharding(MlirContext context, const tp_mesh *mesh, int rank,
                                 tp_annotation annotation);

/* Returns the axis, or the part of one, that a string attribute names, such as "tp" or "tp:(1)2".
 * Returns -1 if the mesh has none of that name. */
int tp__axis_named(const tp_mesh *mesh, MlirAttribute name);

/* Writes the name and the axes of a mesh, as @mesh(dp=2, tp=4). */
void tp__mesh_text(const tp_mesh *mesh, char *text, size_t size);

/* Splits "axis" or "axis:(pre)size". `pre` and `size` are 0 for a whole axis. `name` has a capacity
 * of TP_MAX_AXIS_NAME bytes. */
bool tp__axis_token(MlirStringRef token, char *name, int64_t *pre, int64_t *size);

/* Read and write the tp.sharding of result `i` of an op that is not a function. An op with one
 * result carries the sharding itself, an op with several results a list with one entry per
 * result. */
tp_status tp__op_sharding(MlirOperation op, int i, const tp_mesh *mesh, tp_annotation *annotation,
                          bool *present);
tp_status tp__set_op_sharding(MlirOperation op, const tp_mesh *mesh, int n,
                              const tp_annotation *annotations);

/* True if the op, not a function, has tp.sharding or tp.factors: the user chose a layout. */
bool tp__is_annotated(MlirOperation op);
/* The same, or the user wrote its rule: the op is a decision of the plan and stays a value. */
bool tp__has_decision(MlirOperation op);

/* True if the op is a pad or a slice with tp.in_place: its user reads it in place
 * (rules/in_place.h). */
bool tp__is_in_place(MlirOperation op);
/* Returns the pad or the slice that `op` reads in place as operand i; null: none. */
MlirOperation tp__read_in_place(MlirOperation op, int i);

/* Returns how many of the `n` axes, starting with the first, are adjacent sub-axes of one parent.
 * They print as one axis. */
int tp__ordered_axes(const tp_mesh *mesh, int n, const int *axes);

/* True if the module says tp.phase = "local": it is partitioned, and its shapes are per device. */
bool tp__is_local(MlirOperation module);

/* Verifies tp.factors, tp.region_args, tp.pairs and tp.global of an op (for a function also
 * tp.global of its arguments and results), and rewrites tp.region_args in canonical form. */
tp_status tp__check_plan_attributes(MlirOperation op, const tp_mesh *mesh);
/* Refuses attributes tp.* that do not exist, or stand where none reads them. attribute_names.c has
 * the table. */
tp_status tp__check_attribute_names(MlirOperation module);
/* Refuses tp.rule on a function with a body, or on a call of one: it is inlined, and needs none. A
 * rule describes what a function without a body does, or an op that no family knows. */
tp_status tp__check_rule_place(MlirOperation op);
/* Verifies that tp.phase of the module is absent or "local". */
tp_status tp__check_phase(MlirOperation module);
/* tp.whole_axes of a module: the axes that no path of a reshard cuts, as bits of the axes of
 * `mesh`. Reading fails with a diagnostic if the list names another axis. */
tp_status tp__read_whole_axes(MlirOperation module, const tp_mesh *mesh, unsigned *axes);
void tp__write_whole_axes(MlirOperation module, const tp_mesh *mesh, unsigned axes);

/* Returns the grid symbol ("mesh" or "mesh.sub") and the grid_axes attribute (DenseI16Array) of a
 * collective over the given axes of the refined mesh. Prefers the unrefined grid if the axes form
 * whole parent axes. */
void tp__grid_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes,
                   MlirAttribute *grid, MlirAttribute *grid_axes);

#ifdef __cplusplus
}
#endif
#endif
