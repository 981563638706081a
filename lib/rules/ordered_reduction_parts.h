/* Gathers the results that each device computes for its part of ordered loops, and iterates over
 * them once more. */
#ifndef TP_RULES_ORDERED_REDUCTION_PARTS_H
#define TP_RULES_ORDERED_REDUCTION_PARTS_H

#include "rules/rule.h"

/* Lists the axes that split ordered loops: those of the outermost loop first, those of one loop
 * major to minor. The parts follow each other in this order. */
int tp__ordered_axes_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                        int *axes);

/* Returns the modeled time of gathering result k from all parts. */
tp_cost tp__parts_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy,
                       int k);

/* Gathers a value with the sharding and the local type of result k from all parts, along a new
 * first dimension, before `where`. `type` is the local type, which the value itself may get only
 * later. */
MlirValue tp__gather_parts(const tp_local *local, MlirOperation where, int k, MlirValue value,
                           MlirType type);

/* Builds a linalg.generic over the parts, in order, and over the points of the outputs. It has n
 * inputs (the gathered parts) and n initial values. The caller fills the block, which ends in a
 * linalg.yield without operands. */
MlirOperation tp__parts_op(MlirOperation where, int n, const MlirValue *parts,
                           const MlirValue *inits);

#endif
