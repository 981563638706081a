"""Changes of graphs of ATen operations, whose nodes have their shapes and types as meta["val"]."""
import torch

aten = torch.ops.aten


def values_of(value):
    return torch.fx.map_arg(value, lambda node: node.meta["val"])


def insert(graph, like, target, args, kwargs):
    """Inserts a node of the same place in the user's code in front of `like`."""
    with graph.inserting_before(like):
        node = graph.call_function(target, args, kwargs)
    node.meta = {key: value for key, value in like.meta.items() if key not in ("val", "tensor_meta")}
    node.meta["val"] = target(*values_of(args), **values_of(kwargs))
    return node


def inline(graph, like, made, given):
    """Inserts the nodes of another graph, which takes the nodes `given`, in front of `like`. Returns its results, as nodes."""
    of = dict(zip(made.find_nodes(op="placeholder"), given))
    for inner in made.nodes:
        if inner.op == "call_function":
            of[inner] = insert(graph, like, inner.target, *torch.fx.map_arg((inner.args, inner.kwargs), of.__getitem__))
    (end,) = made.find_nodes(op="output")
    return torch.fx.map_arg(end.args[0], of.__getitem__)


def cast(graph, like, node, dtype):
    return insert(graph, like, aten._to_copy.default, (node,), {"dtype": dtype})


def turn_into(node, of):
    """Lets a node, which keeps its name, be another one, cast to its type."""
    dtype = node.meta["val"].dtype
    if of.meta["val"].dtype != dtype:
        node.target, node.args, node.kwargs = aten._to_copy.default, (of,), {"dtype": dtype}
    else:
        node.target, node.args, node.kwargs = of.target, of.args, of.kwargs


def needed(nodes):
    """Returns these nodes and all that they depend on."""
    found, left = set(nodes), list(nodes)
    while left:
        for other in left.pop().all_input_nodes:
            if other not in found:
                found.add(other)
                left.append(other)
    return found
