"""Lets operations on narrow and on unsigned whole numbers compute with wider signed ones. torch-mlir takes unsigned numbers for
signed ones in most, and lacks many for narrow numbers."""
import operator

import torch

from ._nodes import cast, insert, turn_into

aten = torch.ops.aten

_WIDER = {**dict.fromkeys((torch.uint8, torch.int8, torch.uint16, torch.int16), torch.int32), torch.uint32: torch.int64}

# operations that are pointwise, but only move numbers
_MOVING = {aten.clone.default, aten.copy.default, aten.where.self, aten._to_copy.default}
# operations that are not pointwise, but compute
_COMPUTING = {
    getattr(getattr(aten, name), overload)
    for name in ("all", "amax", "amin", "any", "argmax", "argmin", "bmm", "cumsum", "cumprod", "max", "min", "mm", "prod", "scatter_add", "scatter_reduce", "sort", "sum", "topk")
    for overload in getattr(aten, name).overloads()
}


def _is_narrow(node):
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in _WIDER


def widen_narrow(graph):
    """Rewrites a graph of ATen operations in place."""
    for node in list(graph.nodes):
        computes = node.target in _COMPUTING or node.target not in _MOVING and torch.Tag.pointwise in getattr(node.target, "tags", ())
        if node.target is aten._to_copy.default and _is_narrow(node) and node.args[0].meta["val"].dtype.is_floating_point:
            turn_into(node, cast(graph, node, node.args[0], _WIDER[node.meta["val"].dtype]))
        if not computes or not any(_is_narrow(x) for x in node.all_input_nodes):
            continue
        wide = {x: cast(graph, node, x, _WIDER[x.meta["val"].dtype]) for x in node.all_input_nodes if _is_narrow(x)}
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda x: wide.get(x, x))
        made = insert(graph, node, node.target, args, kwargs)
        if isinstance(node.meta["val"], torch.Tensor):
            turn_into(node, made)
            continue
        for part in list(node.users):
            assert part.target is operator.getitem
            turn_into(part, insert(graph, part, operator.getitem, (made, part.args[1]), {}))
