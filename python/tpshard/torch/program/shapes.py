"""Constants, and ops that move elements."""
import operator
import re

import torch

from .attributes import array, dense, of_bytes
from .graph import builder


@builder("stablehlo.constant")
def _constant(g, op, operands, types, known):
    (shape, dtype), text = types[0], op.get_asm(large_elements_limit=None)
    resource = re.search(r"value = dense_resource<(.*?)>\s*:", text)
    if resource:
        return g.held(of_bytes(g.resources[resource[1]], shape, dtype))
    made = dense(re.search(r"value = (dense<.*)", text, re.DOTALL)[1], shape, dtype)
    is_one = made.numel() > 0 and all(stride == 0 for stride, size in zip(made.stride(), shape) if size > 1)
    is_plain = dtype.itemsize > 1 or dtype in (torch.bool, torch.int8, torch.uint8)
    return g.full(shape, made.reshape(-1)[0].item(), dtype) if is_one and is_plain else g.held(made.contiguous())


@builder("stablehlo.iota")
def _iota(g, op, operands, types, known):
    (shape, dtype), d = types[0], int(str(op.attributes["iota_dimension"]).split()[0])
    if dtype.is_floating_point or dtype in (torch.uint16, torch.uint32, torch.uint64):
        made = g.method("to", g.arange(shape[d]), dtype)
    else:
        made = g.arange(shape[d], dtype)
    return g.method("expand", g.method("view", made, [shape[d] if i == d else 1 for i in range(len(shape))]), list(shape))


@builder("stablehlo.broadcast_in_dim")
def _broadcast(g, op, operands, types, known):
    x, shape, dims = operands[0], types[0][0], array(op, "broadcast_dimensions")
    number = g.element(x.node)
    if number is not None:
        return g.full(shape, number, types[0][1])
    order = sorted(range(x.rank), key=lambda i: dims[i])
    node = x.node if order == list(range(x.rank)) else g.method("permute", x.node, order)
    spread = [1] * len(shape)
    for i in order:
        spread[dims[i]] = x.shape[i]
    if spread != [x.shape[i] for i in order]:
        node = g.method("reshape", node, spread)
    return node if spread == list(shape) else g.method("expand", node, list(shape))


@builder("stablehlo.reshape")
def _reshape(g, op, operands, types, known):
    number = g.element(operands[0].node)
    return g.method("reshape", operands[0].node, list(types[0][0])) if number is None else g.full(types[0][0], number, types[0][1])


@builder("stablehlo.transpose")
def _transpose(g, op, operands, types, known):
    return g.method("permute", operands[0].node, array(op, "permutation"))


@builder("stablehlo.reverse")
def _reverse(g, op, operands, types, known):
    return g.call(torch.flip, operands[0].node, array(op, "dimensions"))


@builder("stablehlo.concatenate")
def _concatenate(g, op, operands, types, known):
    return g.call(torch.cat, [v.node for v in operands], int(str(op.attributes["dimension"]).split()[0]))


@builder("stablehlo.slice")
def _slice(g, op, operands, types, known):
    starts, limits, strides = (array(op, name) for name in ("start_indices", "limit_indices", "strides"))
    at = tuple(slice(*of) for of in zip(starts, limits, strides))
    whole = tuple(slice(0, size, 1) for size in operands[0].shape)
    return operands[0].node if at == whole else g.call(operator.getitem, operands[0].node, at)


@builder("stablehlo.pad")
def _pad(g, op, operands, types, known):
    x, filled = operands[0], operands[1].node
    low, high, inside = (array(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    shape = [max(n + (n - 1) * i, 0) if n else 0 for n, i in zip(x.shape, inside)]
    return g.call(padded, x.node, filled, shape, low, high, inside)


def padded(x, value, shape, low, high, inside):
    if any(inside):
        spread = value.to(x.dtype).expand(shape).clone()
        spread[tuple(slice(0, None, i + 1) for i in inside)] = x
        x = spread
    x = x[tuple(slice(max(-l, 0), n - max(-h, 0)) for n, l, h in zip(x.shape, low, high))]
    sizes = [max(l, 0) + n + max(h, 0) for n, l, h in zip(x.shape, low, high)]
    if sizes == list(x.shape):
        return x
    made = value.to(x.dtype).expand(sizes).clone()
    made[tuple(slice(max(l, 0), max(l, 0) + n) for n, l in zip(x.shape, low))] = x
    return made


@builder("stablehlo.optimization_barrier")
def _barrier(g, op, operands, types, known):
    return [v.node for v in operands]
