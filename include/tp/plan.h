/* What a program of one device holds, communicates and computes: read off a module, before it is
 * compiled.
 *
 * Works on partitioned modules (tp.phase = "local": shapes are per device) and on plain ones (then
 * it is a program for one device). Nothing is changed. All figures are of the model that the
 * planner uses (tp/cost.h).
 *
 * Ownership: a plan owns everything it points to. Thread rule: measuring uses the module's context;
 * a plan is read-only. */
#ifndef TP_PLAN_H
#define TP_PLAN_H

#include "tp/cost.h"

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An argument or a result. */
typedef struct tp_plan_value {
  const char *name;     /* tp.name, "" if it has none */
  const char *role;     /* tp.role, "" if it has none; "param" for weights */
  const char *element;  /* element type as MLIR prints it: "f32", "i64", "i1", "index", ... */
  int64_t element_size; /* bytes */
  bool is_scalar;       /* not a tensor; rank is 0 */
  int rank;
  int64_t shape[TP_MAX_RANK]; /* of the whole value */
  int64_t local[TP_MAX_RANK]; /* buffer of one device */
  tp_spec spec;               /* on the mesh of the plan */
  const char *sharding;       /* its text */
} tp_plan_value;

typedef struct tp_plan_collective {
  tp_collective kind;
  int n_axes;
  int axes[TP_MAX_AXES]; /* of the plan's mesh, major to minor */
  const char *axes_text; /* "dp,tp" */
  int64_t group;         /* devices in a group */
  const char *tensor;    /* type of the operand */
  const char *combiner;  /* "" for kinds that do not reduce */
  int64_t bytes;         /* sent per device and execution, tp_cost_bytes */
  tp_cost cost;          /* modelled, per execution */
  const char *location;  /* where it comes from, as MLIR prints it */
  bool in_loop;          /* executed once per iteration of some loop */
} tp_plan_collective;

typedef struct tp_plan {
  const char *function;
  bool is_local;
  tp_mesh mesh; /* of one axis of size 1 when the module is not partitioned */
  int64_t n_devices;
  int n_arguments;
  const tp_plan_value *arguments;
  int n_results;
  const tp_plan_value *results;
  /* In program order, which is the order of the sites of the compiled program when the module comes
   * from tp-optimize-local. Groups of one device do not count. What a function of
   * tp-fuse-collectives sends is one of them, of the kind of its first. */
  int n_collectives;
  const tp_plan_collective *collectives;
  int64_t bytes;         /* sent per device, all collectives once */
  tp_cost communication; /* modelled, all collectives once */
  tp_cost compute;       /* modelled */
  double
      /* 2 per iteration of a contraction, 1 per scalar op; a body of a loop counts once where it is
       * not known how often it runs */
      flops;
  /* of one device; of one device that holds everything */
  int64_t argument_bytes, argument_bytes_global;
  int64_t param_bytes, param_bytes_global; /* those with role "param" */
} tp_plan;

/* Measures the public function `function`, or, when it is NULL, the only one or "main". `topology`
 * NULL: the default one. Errors are diagnostics on the module's context; TP_NOT_FOUND when there is
 * no such function or topology. */
TP_API tp_status tp_plan_measure(MlirModule module, const char *function, const char *topology,
                                 tp_plan **plan);
TP_API void tp_plan_destroy(tp_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
