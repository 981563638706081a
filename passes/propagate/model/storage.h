/* Where the program of one device keeps what its ops make: what the passes behind planning
 * (tp-optimize-local, tp-clone-inits, bufferization) do to memory, read off the ops before any of
 * them has run. Shared by propagate_*.c.
 *
 * All of it is about an op and its users as they stand: a change of layout that stands between two
 * of them (shard.shard) keeps them apart. */
#ifndef TP_PASSES_PROPAGATE_STORAGE_H
#define TP_PASSES_PROPAGATE_STORAGE_H

#include "passes/propagate/model/memory_model.h"

/* The rule of an op of the plan; NULL for other ops. */
const tp_rule *tp__planned_rule(const tp_planner *planner, MlirOperation op);

/* Is the result another name of the operand's elements, all of them? */
bool tp__is_view(MlirOperation op);

/* Does the op put a slice into what a loop carries, which it then hands on? That happens where it
 * lies. */
bool tp__updates_carried(MlirOperation op);

/* Is argument i of the condition of a while the same memory as what its body works on? So it is
 * where the condition passes it on, and the body changes a part of it, or nothing. */
bool tp__is_passed_on(MlirOperation loop, intptr_t i);

/* Has what the op makes no memory of its own, if its layout does not change on the way to its
 * users? Then what the op reads is needed for as long as they need it. So it is with ops that
 * become a part of their users, other names of the same data, transposes that contractions read
 * through, and tensors of one number. `op` is the number of the op; the answer is remembered. */
bool tp__is_unstored(tp_planner *planner, const tp_timeline *timeline, int op);

/* The value, by its place in the timeline, whose memory the result of an op takes over: an
 * elementwise op, with all that are fused into it, overwrites an operand that nothing else reads; a
 * reduction adds to what it starts from. -1: none. */
int tp__overwritten(tp_planner *planner, const tp_timeline *timeline, int op);

/* Bytes that a device needs within the op, beside operands and results, while it runs. */
int64_t tp__workspace(const tp_planner *planner, const tp_rule *rule, const tp_strategy *strategy);

/* Bytes of the parts that are with a device while they travel in a ring, beside its own: that at
 * hand and the one that comes in. It needs them until the op tp_rule.ring.last is done. */
int64_t tp__ring_bytes(const tp_planner *planner, const tp_rule *rule, const tp_strategy *strategy);

#endif
