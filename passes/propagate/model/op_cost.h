/* The cost of an op under a strategy: local work and the communication that the op itself needs. */
#ifndef TP_PASSES_PROPAGATE_OP_COST_H
#define TP_PASSES_PROPAGATE_OP_COST_H

#include "passes/propagate/model/planner.h"

/* Which operands an op reads from memory, and which results it writes there. The cost of the op
 * depends on this, on its rule and on its strategy. Each mask has a bit per operand or result. */
typedef struct tp_op_memory {
  uint64_t fused;  /* operands in registers */
  uint64_t stored; /* results that are stored besides */
  /* updated operands (tp_value_map.is_updated) whose update is TP_UPDATE_NEW or TP_UPDATE_COPY */
  uint64_t made, copied;
  bool is_view; /* a slice that moves nothing, where the dimensions that it cuts are whole */
} tp_op_memory;

tp_op_memory tp__op_memory_of(const tp_planner *planner, const tp_rule *rule);

/* Returns which values of the op are computed in blocks, as bits: operands first, then results. */
uint64_t tp__op_in_blocks(const tp_rule *rule);

tp_cost tp__op_cost(const tp_planner *planner, const tp_rule *rule, const tp_strategy *strategy,
                    tp_op_memory memory);

#endif
