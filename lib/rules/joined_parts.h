/* Joined loops: what each device has computed on its part of them, gathered and gone through once
 * more. */
#ifndef TP_RULES_JOINED_PARTS_H
#define TP_RULES_JOINED_PARTS_H

#include "rules/rule.h"

/* The axes that split joined loops: those of the outermost loop first, those of one loop major to
 * minor. In this order the parts follow each other. */
int tp__joined_axes_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                       int *axes);

/* Modelled time of gathering result k from all parts. */
tp_cost tp__parts_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *strategy,
                       int k);

/* A value of the layout and the local type of result k, gathered from all parts along a new first
 * dimension, in front of `where`. `type`: the local type, which the value itself may get later. */
MlirValue tp__gather_parts(const tp_local *local, MlirOperation where, int k, MlirValue value,
                           MlirType type);

/* linalg.generic over the parts, in order, and the points of the outputs: n inputs of gathered
 * parts, n initial values. The caller fills the block, whose last op is a linalg.yield without
 * operands. */
MlirOperation tp__parts_op(MlirOperation where, int n, const MlirValue *parts,
                           const MlirValue *inits);

#endif
