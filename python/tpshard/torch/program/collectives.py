"""Collectives, as calls of exchange.py."""
import torch

from . import exchange
from .attributes import table
from .graph import builder, refuse
from .reductions import REDUCTIONS, body_op


def _call(g, value, function, *others):
    """Calls a collective with a node whose shape and type are known, as `overlap.overlap` needs."""
    node = g.call(function, value.node, *others)
    node.meta["of"] = value.shape, value.dtype
    return node


def _group(g, op):
    return g.group_of(table(op, "replica_groups"))


def _combined(op):
    name = body_op(op.regions[0].blocks[0])
    if name not in REDUCTIONS:
        refuse(op, "has a reduction that libraries of collectives lack")
    return REDUCTIONS[name][0]


@builder("stablehlo.all_gather")
def _all_gather(g, op, operands, types, known):
    size, name, _ = _group(g, op)
    d = int(str(op.attributes["all_gather_dim"]).split()[0])
    return [_call(g, v, exchange.all_gather, d, size, name) for v in operands]


@builder("stablehlo.all_reduce")
def _all_reduce(g, op, operands, types, known):
    size, name, _ = _group(g, op)
    return [_call(g, v, exchange.all_reduce, _combined(op), size, name) for v in operands]


@builder("stablehlo.reduce_scatter")
def _reduce_scatter(g, op, operands, types, known):
    size, name, _ = _group(g, op)
    d = int(str(op.attributes["scatter_dimension"]).split()[0])
    return _call(g, operands[0], exchange.reduce_scatter, _combined(op), d, size, name)


@builder("stablehlo.all_to_all")
def _all_to_all(g, op, operands, types, known):
    size, name, _ = _group(g, op)
    split, concat = (int(str(op.attributes[of]).split()[0]) for of in ("split_dimension", "concat_dimension"))
    return [_call(g, v, exchange.all_to_all, split, concat, size, name) for v in operands]


@builder("stablehlo.collective_permute")
def _permute(g, op, operands, types, known):
    pairs = table(op, "source_target_pairs")
    groups = _connected(pairs)
    size, name, members = g.group_of(groups, True)
    if name is None:  # this device neither sends nor gets
        return g.call(torch.zeros_like, operands[0].node)
    source = next((members.index(a) for a, b in pairs if b == g.number), None)
    target = next((members.index(b) for a, b in pairs if a == g.number), None)
    return _call(g, operands[0], exchange.permute, source, target, size, name)


def _connected(pairs):
    """Returns the sets of devices that pairs connect, as sorted lists."""
    of = {}
    for a, b in pairs:
        joined = sorted({*of.get(a, [a]), *of.get(b, [b])})
        for device in joined:
            of[device] = joined
    return sorted({tuple(group) for group in of.values()})


@builder("stablehlo.partition_id", "stablehlo.replica_id")
def _partition_id(g, op, operands, types, known):
    return g.full((), g.number, types[0][1])
