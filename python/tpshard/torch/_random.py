"""Lets a graph draw its random numbers from a seed that is an argument, and the user's own module draw the same ones."""
import operator

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from ._draws import IN_PLACE, TABLE, Draw, arguments_of, draws_nothing, offset_of
from ._nodes import inline, insert, turn_into, values_of


def _computing(op, named, seed, table, known):
    """Returns the graph of what an operation computes, of the key of a draw and its tensors. known: graphs made before."""
    tensors = {name: value.meta["val"] for name, value in named.items() if isinstance(value, torch.fx.Node)}
    rest = {name: value for name, value in named.items() if name not in tensors}
    kind = op, str(rest), *((name, value.shape, value.dtype) for name, value in tensors.items())

    def compute(key, *given):
        return TABLE[op](Draw(key), **rest, **dict(zip(tensors, given)))

    if kind not in known:
        known[kind] = make_fx(compute, table)(seed.meta["val"], *tensors.values()).graph
    return known[kind]


def _inlined(graph, node, seed, number, named, table, known):
    """Inserts what an operation computes; returns its results, as nodes."""
    at = [x for x in named.values() if isinstance(x, torch.fx.Node)]
    with seed.meta["val"].fake_mode:
        made = _computing(node.target, named, seed, table, known)
        key = insert(graph, node, torch.ops.aten.add.Tensor, (seed, offset_of(number)), {})
        return inline(graph, node, made, (key, *at))


def replace_random(graph, before, table):
    """Rewrites the operations of a graph that draw random numbers, in place.

    before: of the arguments, the one in front of which the seed becomes an argument; None: behind all of them
    table:  decompositions of operations

    Returns the node of the seed; None if nothing is drawn."""
    drawing = []
    for node in graph.nodes:
        named = arguments_of(node.target, node.args, node.kwargs) if node.target in TABLE else None
        if named is not None:
            drawing.append((node, named))
    if not drawing:
        return None
    first = next(node for node in graph.nodes if node.op != "placeholder")
    with graph.inserting_before(before or first):
        seed = graph.placeholder("random_seed")
    with torch.utils._pytree.tree_leaves(drawing[0][0].meta["val"])[0].fake_mode:
        seed.meta["val"] = torch.empty((), dtype=torch.int64, device="cpu")
    number, known = 0, {}
    for node, named in drawing:
        made = _inlined(graph, node, seed, number, named, table, known)
        number += not draws_nothing(node.target, values_of(named))
        if isinstance(made, torch.fx.Node):
            turn_into(node, made)
            continue
        for part in list(node.users):
            assert part.target is operator.getitem
            turn_into(part, made[part.args[1]])
        graph.erase_node(node)
    return seed


def new_seed(generator=None):
    """Returns a seed, drawn from a torch.Generator or from that of PyTorch."""
    return torch.randint(-(2**63), 2**63 - 1, (), dtype=torch.int64, device="cpu", generator=generator)


class Drawn(TorchDispatchMode):
    """Lets operations that draw random numbers take those of a plan."""

    def __init__(self, seed):
        super().__init__()
        self._seed, self._number = seed, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        op = IN_PLACE.get(func, func)
        named = arguments_of(func, args, kwargs) if op in TABLE else None
        if named is None:
            return func(*args, **kwargs)
        found = TABLE[op](Draw(self._seed + offset_of(self._number)), **named)
        self._number += not draws_nothing(op, named)
        return args[0].copy_(found) if op is not func else found
