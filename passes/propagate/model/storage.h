/* Buffers of the per-device program. Predicts from the ops what the passes after planning
 * (tp-optimize-local, tp-clone-inits, bufferization) do to memory, before any of them has run.
 *
 * All predicates look at an op and its users as they stand: a reshard between two ops (shard.shard)
 * keeps them separate. */
#ifndef TP_PASSES_PROPAGATE_STORAGE_H
#define TP_PASSES_PROPAGATE_STORAGE_H

#include "passes/propagate/model/memory_model.h"

/* The rule of an op of the plan; NULL for other ops. */
const tp_rule *tp__planned_rule(const tp_planner *planner, MlirOperation op);

/* True if the result is a view of all elements of the operand. */
bool tp__is_view(MlirOperation op);

/* True if the op inserts a slice into a loop-carried value that the loop then yields. The insertion
 * happens in place. */
bool tp__updates_carried(MlirOperation op);

/* True if argument i of the condition of an scf.while shares its memory with the corresponding
 * value of the body. That holds if the condition passes the argument on, and the body yields it
 * unchanged or updated in place. */
bool tp__is_passed_on(MlirOperation loop, intptr_t i);

/* True if each iteration of an scf.for or scf.while updates result i of the loop in place, so that
 * it has one buffer from before the loop on. */
bool tp__is_carried_in_place(MlirOperation loop, intptr_t i);

/* The op, by number, into whose loop nest op number `op` is fused, possibly by way of others; its
 * own number if it is not. */
int tp__fused_root(tp_planner *planner, const tp_timeline *timeline, int op);

/* True if the result of op number `op` has no buffer of its own, provided its layout does not
 * change before its users. The operands of such an op stay live as long as the users need them.
 * This holds for ops fused into their users, views, transposes that contractions read through, and
 * one-element tensors. The answer is cached. */
bool tp__is_unstored(tp_planner *planner, const tp_timeline *timeline, int op);

/* True if the op is a transpose that the contraction in front of it writes, because nothing else
 * reads the product. The product then has the memory of both. */
bool tp__is_written_through(tp_planner *planner, const tp_timeline *timeline, int op);

/* The value, by its index in the timeline, whose buffer the result of an op reuses; -1: none. An
 * elementwise op, with all ops fused into it, overwrites an operand that has no other reader. A
 * reduction accumulates into its initial value. */
int tp__overwritten(tp_planner *planner, tp_timeline *timeline, int op);

/* Bytes of the sums of products of probabilities and values, which are accumulated in f32 over the
 * blocks and converted to the element type at the end; 0 for other ops. */
int64_t tp__carried_bytes(const tp_planner *planner, const tp_rule *rule,
                          const tp_strategy *strategy);

/* Bytes of scratch that a device needs while the op runs, besides operands and results, and with
 * the sums above. */
int64_t tp__workspace(const tp_planner *planner, const tp_rule *rule, const tp_strategy *strategy);

/* Bytes of the remote parts that a device holds during a ring, besides its own part: the current
 * part and the incoming one. They are needed until the op tp_rule.ring.last is done. */
int64_t tp__ring_bytes(const tp_planner *planner, const tp_rule *rule, const tp_strategy *strategy);

#endif
