/* A copy of a program, planned. */
#ifndef PLANNER_PLANNED_H
#define PLANNER_PLANNED_H

#include "tp/cost.h"
#include "tp/mesh.h"

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct planned {
  MlirModule module;
  MlirOperation func;
  tp_mesh mesh;
  tp_cost cost, bound; /* -1: not planned */
  int64_t peak;        /* peak bytes per device */
} planned;

/* Records the diagnostics of the context without printing; the last one is printed with a
 * defect. */
void watch(MlirContext context);
/* Returns the last error of the watched context; "" if none since it was cleared. */
const char *last_error(void);
void clear_error(void);

/* The function `main`. */
MlirOperation the_function(MlirModule module);
/* Plans a copy of `source` with options of tp-propagate. The caller destroys its module in any
 * case. */
bool plan_copy(MlirModule source, const char *options, planned *p);

#endif
