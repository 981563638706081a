/* Fetches the run of elements that each device reads along one dimension from the devices that hold
 * them.
 *
 * A tp__window_read describes the elements that are read. The hop plan for it determines both the
 * cost and the code. Used for windows (window.h) and for dimensions that consist of several factors
 * (regroup.h). */
#ifndef TP_RULES_HALO_FETCH_H
#define TP_RULES_HALO_FETCH_H

#include "rules/rule.h"
#include "sharding/hops.h"

/* A reading along one dimension of a value, and the mesh axes that split the dimension. */
typedef struct tp_halo_run {
  int dim;
  int n_axes, axes[TP_MAX_AXES]; /* of the mesh, major to minor */
  tp__window_read reading;
} tp_halo_run;

/* Returns the modeled time of the permutes. `shape` is the local shape of the value, and becomes
 * that of the fetched value. TP_COST_FORBIDDEN if there is no plan. */
tp_cost tp__halo_fetch_cost(const tp_halo_run *run, const tp_pricing *pricing, int rank,
                            int64_t *shape, int64_t element_size);

/* Builds the run of this device before `where`. Null if there is no plan, or if memory runs out. */
MlirValue tp__halo_fetch(const tp_local *local, MlirOperation where, MlirValue value,
                         const tp_halo_run *run);

#endif
