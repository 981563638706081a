/* Plan report: memory, communication and compute of a per-device program, measured on a module
 * before it is compiled.
 *
 * Works on partitioned modules (tp.phase = "local": shapes are per device) and on unpartitioned
 * ones, which count as a program for one device. The module is not changed. All figures come from
 * the planner's cost model (tp/cost.h).
 *
 * Ownership: a plan owns everything it points to. Thread rule: measuring uses the module's context;
 * a plan is read-only. */
#ifndef TP_PLAN_H
#define TP_PLAN_H

#include "tp/cost.h"
#include "tp/layout.h"

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An argument or a result. */
typedef struct tp_plan_value {
  /* tp.name; else of an argument the name in the source, "w2" for %w2, if that is a file that can
   * be read again; else "" */
  const char *name;
  const char *role; /* tp.role, "" if it has none; "param" for weights */
  /* element type as MLIR prints it: "f32", "i64", "i1", "index", ...; "ui32" for integers without
   * sign whose tp.unsigned says that they were unsigned */
  const char *element;
  int64_t element_size; /* bytes */
  bool is_scalar;       /* not a tensor; rank is 0 */
  int rank;
  int64_t shape[TP_MAX_RANK]; /* global shape */
  int64_t local[TP_MAX_RANK]; /* shape of one device's buffer */
  tp_spec spec;               /* on the plan's mesh */
  const char *sharding;       /* the spec as text */
} tp_plan_value;

typedef struct tp_plan_collective {
  tp_collective kind;
  int n_axes;
  int axes[TP_MAX_AXES]; /* axes of the plan's mesh, major to minor */
  const char *axes_text; /* "dp,tp" */
  int64_t group;         /* number of devices in a group */
  const char *tensor;    /* type of the operand */
  const char *combiner;  /* "" for kinds that do not reduce */
  int64_t bytes;         /* sent per device and execution (tp_cost_bytes) */
  tp_cost cost;          /* modeled time per execution */
  const char *location;  /* source location, as MLIR prints it */
  bool in_loop;          /* executed once per iteration of a loop */
  /* an exchange of rows of groups: what it sends depends on values. `bytes` and `cost` are those
   * for groups of equal size whose rows come from all devices alike */
  bool varies;
} tp_plan_collective;

typedef struct tp_plan {
  const char *function;
  bool is_local;
  tp_mesh mesh; /* one axis of size 1 if the module is not partitioned */
  int64_t n_devices;
  int n_arguments;
  const tp_plan_value *arguments;
  /* The last arguments are constants of the program that the plan splits (tp-lift-constants). A
   * caller passes their shards like those of other arguments; tp_plan_constant has the data. */
  int n_constants;
  int n_results;
  const tp_plan_value *results;
  /* In program order. If the module comes from tp-optimize-local, this is the order of the sites of
   * the compiled program. Collectives over a single device are omitted. A function that
   * tp-fuse-collectives creates counts as one collective, of the kind of its first one. */
  int n_collectives;
  const tp_plan_collective *collectives;
  int64_t bytes;         /* sent per device, with each collective executed once */
  tp_cost communication; /* modeled time, with each collective executed once */
  tp_cost compute;       /* modeled time */
  /* 2 per iteration of a contraction, 1 per scalar op; a loop body counts once if its trip count is
   * unknown */
  double flops;
  /* on one device; and on one device that holds the whole program */
  int64_t argument_bytes, argument_bytes_global;
  int64_t param_bytes, param_bytes_global; /* the same for arguments with role "param" */
  /* of constants in the program whose elements differ; every device holds them whole, equal ones
   * once. Those that are arguments do not count here */
  int64_t constant_bytes;
  /* Modeled time of one execution: that of tp.plan, which tp-propagate writes, on the topology of
   * the plan. Without a plan `communication` and `compute` together, which count every op of the
   * program as it is now, fused or not. */
  tp_cost step;
} tp_plan;

/* Reads the mesh of a module, with the sizes that `binding` gives its axes as the option mesh of
 * passes does; NULL: its own sizes. A module without a mesh has that of the binding, or n_axes 0.
 * Errors are diagnostics on the module's context. */
TP_API tp_status tp_module_mesh(MlirModule module, const char *binding, tp_mesh *mesh);
/* Measures the public function `function`; NULL means the only one, or "main". `topology` NULL: the
 * default one. Errors are diagnostics on the module's context; TP_NOT_FOUND if there is no such
 * function or topology. */
TP_API tp_status tp_plan_measure(MlirModule module, const char *function, const char *topology,
                                 tp_plan **plan);
/* Copies the whole value of argument `i` of the measured function, one of the last n_constants, to
 * `data`: row-major elements, i1 as bytes, complex numbers as two parts. `size` is their bytes. The
 * module must not be lowered yet. TP_INVALID_ARGUMENT with a diagnostic if the argument is no
 * constant, or its data are missing or have another size. */
TP_API tp_status tp_plan_constant(MlirModule module, const tp_plan *plan, int i, size_t size,
                                  void *data);
TP_API void tp_plan_destroy(tp_plan *plan);

/* Reads the layouts of a planned module, that is after tp-propagate and before tp-partition. Errors
 * are diagnostics on the module's context; TP_INVALID_ARGUMENT if the module is not planned. Free
 * with tp_layouts_destroy. */
TP_API tp_status tp_layouts_read(MlirModule module, tp_layouts **layouts);

#ifdef __cplusplus
}
#endif
#endif
