"""Lets operations on narrow and on unsigned whole numbers compute with wider signed ones. torch-mlir takes unsigned numbers for
signed ones in most, and lacks many for narrow numbers."""
import operator

import torch

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


def _values(value):
    return torch.fx.map_arg(value, lambda node: node.meta["val"])


def _insert(graph, like, target, args, kwargs):
    """Inserts a node of the same place in the user's code in front of `like`."""
    with graph.inserting_before(like):
        node = graph.call_function(target, args, kwargs)
    node.meta = {key: value for key, value in like.meta.items() if key not in ("val", "tensor_meta")}
    node.meta["val"] = target(*_values(args), **_values(kwargs))
    return node


def _cast(graph, like, node, dtype):
    return _insert(graph, like, aten._to_copy.default, (node,), {"dtype": dtype})


def _turn_into(node, of):
    """Lets a node, which keeps its name, be another one, cast to its type."""
    dtype = node.meta["val"].dtype
    if of.meta["val"].dtype != dtype:
        node.target, node.args, node.kwargs = aten._to_copy.default, (of,), {"dtype": dtype}
    else:
        node.target, node.args, node.kwargs = of.target, of.args, of.kwargs


def _is_narrow(node):
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in _WIDER


def widen_narrow(graph):
    """Rewrites a graph of ATen operations in place."""
    for node in list(graph.nodes):
        computes = node.target in _COMPUTING or node.target not in _MOVING and torch.Tag.pointwise in getattr(node.target, "tags", ())
        if node.target is aten._to_copy.default and _is_narrow(node) and node.args[0].meta["val"].dtype.is_floating_point:
            _turn_into(node, _cast(graph, node, node.args[0], _WIDER[node.meta["val"].dtype]))
        if not computes or not any(_is_narrow(x) for x in node.all_input_nodes):
            continue
        wide = {x: _cast(graph, node, x, _WIDER[x.meta["val"].dtype]) for x in node.all_input_nodes if _is_narrow(x)}
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda x: wide.get(x, x))
        made = _insert(graph, node, node.target, args, kwargs)
        if isinstance(node.meta["val"], torch.Tensor):
            _turn_into(node, made)
            continue
        for part in list(node.users):
            assert part.target is operator.getitem
            _turn_into(part, _insert(graph, part, operator.getitem, (made, part.args[1]), {}))
