"""Lets a graph compute with pairs of real numbers in place of complex ones, of which torch-mlir has few operations. Arguments and
results of the graph stay complex."""
import operator

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from .._nodes import inline, insert, turn_into
from .operations import TABLE
from .pair import Pair, fitted

aten = torch.ops.aten


def _is_complex(value):
    return isinstance(value, torch.Tensor) and value.dtype.is_complex


def _touches_complex(node):
    return any(_is_complex(x) for of in (node, *node.all_input_nodes) for x in pytree.tree_leaves(of.meta.get("val")))


def _parts(graph, node, of):
    """Returns the nodes of the real and the imaginary part of a node. of: those known."""
    if node not in of:
        like = node.next
        while like.op == "placeholder":
            like = like.next
        of[node] = Pair(*(insert(graph, like, op.default, (node,), {}) for op in (aten.real, aten.imag)))
    return of[node]


def _computed(graph, node, of, table):
    """Inserts what an operation computes with pairs; returns its results, as pairs and tensors."""
    fake = next(x for x in pytree.tree_leaves(node.meta["val"])).fake_mode
    given = pytree.tree_map(lambda x: _parts(graph, x, of) if isinstance(x, torch.fx.Node) and _is_complex(x.meta["val"]) else x, (node.args, dict(node.kwargs)))
    leaves, tree = pytree.tree_flatten(given)
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.fx.Node)]
    result = []

    def compute(*tensors):
        inner = list(leaves)
        for i, tensor in zip(at, tensors):
            inner[i] = tensor
        args, kwargs = pytree.tree_unflatten(inner, tree)
        found, spec = pytree.tree_flatten(fitted(TABLE[node.target](*args, **kwargs), node.meta["val"]))
        result[:] = [spec]
        return found

    nodes = [leaves[i] for i in at]
    with fake:
        made = make_fx(compute, table)(*(x.meta["val"] for x in nodes)).graph
        return pytree.tree_unflatten(inline(graph, node, made, nodes), result[0])


def _become(node, made, of):
    """Lets a node be what was computed. A pair becomes one complex number, for those who read that."""
    if isinstance(made, Pair):
        of[node] = made
        node.target, node.args, node.kwargs = aten.complex.default, tuple(made), {}
    else:
        turn_into(node, made)


def replace_complex(graph, table):
    """Rewrites the operations of a graph on complex numbers, in place. Those that are not known stay.

    table: decompositions of operations
    """
    of, touched = {}, []
    for node in list(graph.nodes):
        if node.op != "call_function" or not _touches_complex(node):
            continue
        touched.append(node)
        if node.target not in TABLE:
            continue
        made = _computed(graph, node, of, table)
        if isinstance(node.meta["val"], torch.Tensor):
            _become(node, made, of)
            continue
        for part in list(node.users):
            assert part.target is operator.getitem
            _become(part, made[part.args[1]], of)
    for node in reversed(touched):
        if not node.users:
            graph.erase_node(node)
    for node, pair in of.items():
        for part in pair:
            if not part.users and part.target in (aten.real.default, aten.imag.default):
                graph.erase_node(part)
