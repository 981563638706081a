/* Fetching: each device gets the run of elements that it reads along one dimension, from the
 * devices that hold them.
 *
 * What is read is a tp__reading; the plan of hops for it gives the price and the code. Windows
 * (window.h) and dimensions that several factors make up (regroup.h) are fetched in this way. */
#ifndef TP_RULES_FETCH_H
#define TP_RULES_FETCH_H

#include "rules/rule.h"
#include "sharding/hops.h"

/* A reading along one dimension of a value, and the axes that split it. */
typedef struct tp_run {
  int dim;
  int n_axes, axes[TP_MAX_AXES]; /* of the mesh, major to minor */
  tp__reading reading;
} tp_run;

/* Modelled time of the permutes. `shape`: of the local value; becomes that of the fetched one.
 * TP_COST_FORBIDDEN where there is no plan. */
tp_cost tp__fetch_cost(const tp_run *run, const tp_pricing *pricing, int rank, int64_t *shape,
                       int64_t element_size);

/* The run of this device as a value in front of `where`; a null value when there is no plan, or
 * memory runs out. */
MlirValue tp__fetch(const tp_local *local, MlirOperation where, MlirValue value, const tp_run *run);

#endif
