"""torch.utils.checkpoint in plans: what it calls is computed again in the backward pass."""
import contextlib
import itertools
from unittest import mock

import torch
import torch.utils.checkpoint
from torch.fx import traceback as meta_of_nodes

from ._nodes import insert, needed

_REGION = "tpshard_checkpoint"
BARRIER = "tpshard.barrier"  # the file that a barrier is of


@contextlib.contextmanager
def checkpoints_as_calls():
    """Lets torch.utils.checkpoint call its function once. The nodes of it that are traced, and those of its gradient, know which
    call they are of. A checkpoint inside of another one is a part of that; one with a policy of its own (context_fn) is a plain
    call."""
    numbers, is_inside = itertools.count(), False

    def call(function, args, kwargs, context_fn=torch.utils.checkpoint.noop_context_fn, **_):
        nonlocal is_inside
        if is_inside or context_fn is not torch.utils.checkpoint.noop_context_fn:
            return function(*args, **kwargs)
        is_inside = True
        try:
            with meta_of_nodes.annotate({_REGION: next(numbers)}):
                return function(*args, **kwargs)
        finally:
            is_inside = False

    with mock.patch.object(torch.utils.checkpoint, "_checkpoint_impl", call):
        yield


def _region(node):
    return node.meta.get("custom", {}).get(_REGION)


class _Again:
    """The nodes of the forward pass that are computed again."""

    def __init__(self, graph, forward, inputs):
        self._graph, self._forward, self._inputs = graph, forward, inputs
        self._copies, self._barriers, self._number = {}, {}, itertools.count()

    def of(self, node, region, before):
        """Returns the copy of a node of a region, in front of `before`; other nodes are returned."""
        if node not in self._forward or node.op != "call_function" or _region(node) != region:
            return node  # an argument may be a constant of the region
        if node not in self._copies:
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda x: self._argument(x, region, before))
            with self._graph.inserting_before(before):
                made = self._graph.call_function(node.target, args, kwargs)
            made.meta = dict(node.meta)
            self._copies[node] = made
        return self._copies[node]

    def _argument(self, node, region, before):
        found = self.of(node, region, before)
        value, is_held = node.meta.get("val"), node.op != "call_function" and node not in self._inputs or node.target is torch.ops.aten.full.default
        if found is not node or is_held or not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return found
        if (region, node) not in self._barriers:
            # a number that no other barrier of this node has, so that they are not joined
            number = 2.0 + sum(of is node for _, of in self._barriers)
            made = insert(self._graph, before, torch.ops.aten.mul.Tensor, (node, number), {})
            made.meta["stack_trace"] = '  File "%s", line %d, in forward' % (BARRIER, next(self._number) + 1)
            self._barriers[region, node] = made
        return self._barriers[region, node]


def recompute(graph, is_gradient, inputs):
    """Rewrites a graph with gradients in place: those of what torch.utils.checkpoint calls read copies of its nodes.

    is_gradient: for each result whether it is a gradient
    inputs:      those arguments that are not held anyway, as parameters, buffers and constants are

    What the copies read is behind a barrier, without which equal ops would be joined: a product, of whose file `BARRIER` is the
    name. `lower_barriers` makes it one.
    """
    (end,) = graph.find_nodes(op="output")
    forward = needed([node for node, skip in zip(end.args[0], is_gradient) if not skip])
    again = _Again(graph, forward, inputs)
    for node in list(graph.nodes):
        region = _region(node)
        if region is not None and node not in forward and node.op == "call_function":
            node.args, node.kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda x: again.of(x, region, node))
    graph.eliminate_dead_code()


def lower_barriers(ir, module, graph):
    """Replaces the products that `recompute` made by barriers, in a module of torch-mlir. Raises ValueError if torch-mlir has
    folded one, as the program would then compute something else."""

    def visit(op):
        found.append(op)
        return ir.WalkResult.ADVANCE

    found, wanted = [], sum('"%s"' % BARRIER in (node.meta.get("stack_trace") or "") for node in graph.nodes)
    module.walk(visit)
    for op in found:
        if '"%s"' % BARRIER not in str(op.location) or op.name != "linalg.generic":
            continue
        value = op.operands[0]
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])}  # no sizes, one tensor that is copied, no hint
        with ir.Location.unknown():
            made = ir.Operation.create("bufferization.alloc_tensor", [value.type], [value], segments, ip=ir.InsertionPoint(op))
        op.results[0].replace_all_uses_with(made.results[0])
        op.erase()
        wanted -= 1
    if wanted != 0:
        raise ValueError("torch.utils.checkpoint: torch-mlir has folded what it was called with; call the function without it")
