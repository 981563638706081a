"""Folds operations on tensors all of whose elements are equal, as `torch.full` makes them. torch-mlir folds them, too, but has
comparisons with a number the wrong way round, takes the remainder of C, and ends the process at a sum."""
import torch

aten = torch.ops.aten

# operations that only move elements, or make a tensor of them
_MOVING = {
    aten.alias.default, aten.clone.default, aten.detach.default, aten.expand.default, aten.permute.default, aten.repeat.default,
    aten.select.int, aten.slice.Tensor, aten.squeeze.dim, aten.squeeze.dims, aten.unsqueeze.default, aten.view.default,
}
_MAKING = {aten.full.default, aten.full_like.default}
# what nobody has written is 0, on all devices
_EMPTY = {aten.empty.memory_format, aten.empty_permuted.default, aten.empty_strided.default, aten.new_empty_strided.default}


def _value(node, of):
    """Returns the element of a node as a tensor of rank 0, or None. `of` has those of the nodes that are known."""
    if node.target in _EMPTY:
        return torch.zeros((), dtype=node.meta["val"].dtype, device="cpu")
    if node.target in _MAKING:
        return torch.full((), node.args[1], dtype=node.meta["val"].dtype, device="cpu")
    tensors = node.all_input_nodes
    if not tensors or any(x not in of for x in tensors):
        return None
    if node.target in _MOVING:
        return of[node.args[0]]
    if torch.Tag.pointwise not in getattr(node.target, "tags", ()):
        return None
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), of.__getitem__)
    return node.target(*args, **{k: v for k, v in kwargs.items() if k != "memory_format"})


def fold_uniform(graph):
    """Writes each such node of a graph of ATen operations as aten.full of its element. Nodes keep their names."""
    of = {}
    for node in graph.nodes:
        made = node.meta.get("val")
        if node.op != "call_function" or not isinstance(made, torch.Tensor) or made.dtype.is_complex:
            continue
        value = _value(node, of)
        if value is None or value.shape != () or value.dtype != made.dtype:
            continue
        of[node] = value
        node.target = aten.full.default
        node.args, node.kwargs = (list(made.shape), value.item()), {"dtype": made.dtype, "device": torch.device("cpu"), "pin_memory": False}
