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
  int64_t peak;        /* bytes that a device holds */
} planned;

/* The last error of the context that is watched; "" for none since it was
 * cleared. */
const char *last_error(void);
void clear_error(void);

/* The function `main`. */
MlirOperation the_function(MlirModule module);
/* Plans a copy of `source` with options of tp-propagate. Its module is to be
 * destroyed either way. */
bool plan_copy(MlirModule source, const char *options, planned *p);

#endif
