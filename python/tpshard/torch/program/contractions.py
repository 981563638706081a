"""Products of matrices, and convolutions."""
import math
import re

import torch

from .attributes import array, numbers, table
from .graph import builder
from .shapes import padded


@builder("stablehlo.dot_general")
def _dot(g, op, operands, types, known):
    text, (shape, dtype) = str(op.attributes["dot_dimension_numbers"]), types[0]
    sides = []
    for v, side in zip(operands, ("lhs", "rhs")):
        batch, contracted = (numbers(text, "%s_%s_dimensions" % (side, kind)) for kind in ("batching", "contracting"))
        free = [d for d in range(v.rank) if d not in batch + contracted]
        sizes = [math.prod(v.shape[d] for d in dims) for dims in (batch, free, contracted)]
        order = batch + (free + contracted if side == "lhs" else contracted + free)
        node = v.node if v.dtype == dtype else g.method("to", v.node, dtype)
        node = node if order == sorted(order) else g.method("permute", node, order)
        matrix = [sizes[1], sizes[2]] if side == "lhs" else [sizes[2], sizes[1]]
        matrix = [sizes[0]] + matrix if batch else matrix
        sides.append(node if [v.shape[d] for d in order] == matrix else g.method("reshape", node, matrix))
    function = _product if dtype == torch.bool or not (dtype.is_floating_point or dtype.is_complex) else torch.matmul
    return g.method("reshape", g.call(function, *sides), list(shape))


def _product(a, b):
    """A product of integers, or of truth values; matrix units have neither."""
    if a.device.type == "cpu" and a.dtype != torch.bool:
        return torch.matmul(a, b)
    found = (a.unsqueeze(-1).to(torch.int64) * b.unsqueeze(-3).to(torch.int64)).sum(-2)
    return found.to(a.dtype)


@builder("stablehlo.convolution")
def _convolution(g, op, operands, types, known):
    text, spatial = str(op.attributes["dimension_numbers"]), operands[0].rank - 2
    roles = [part.split(",") for part in re.findall(r"\[([^\]]*)\]", text)]  # of image, kernel, result
    roles = [[role.strip() for role in part] for part in roles]
    order = lambda names, first: [names.index(r) for r in first] + [names.index(str(i)) for i in range(spatial)]
    image = g.method("permute", operands[0].node, order(roles[0], ("b", "f")))
    kernel = g.method("permute", operands[1].node, order(roles[1], ("o", "i")))
    ones = [1] * spatial
    padding = table(op, "padding") if "padding" in op.attributes else [[0, 0]] * spatial
    image_shape = [operands[0].shape[d] for d in order(roles[0], ("b", "f"))]
    spread = array(op, "lhs_dilation") or ones
    inside = [0, 0] + [s - 1 for s in spread]
    low, high = ([0, 0] + [p[k] for p in padding] for k in (0, 1))
    if any(inside) or any(low) or any(high):
        shape = [n + (n - 1) * i for n, i in zip(image_shape, inside)]
        zero = g.full((), 0.0, operands[0].dtype)
        image = g.call(padded, image, zero, shape, low, high, inside)
    reversed_ = [2 + d for d, r in enumerate(array(op, "window_reversal")) if r]
    if reversed_:
        kernel = g.call(torch.flip, kernel, reversed_)
    number = lambda name: int(str(op.attributes[name]).split()[0]) if name in op.attributes else 1
    arguments = array(op, "window_strides") or ones, array(op, "rhs_dilation") or ones, number("feature_group_count"), number("batch_group_count")
    result = order(roles[2], ("b", "f"))
    back = sorted(range(len(result)), key=lambda i: result[i])
    made = g.call(_convolved, *(x if v.dtype == types[0][1] else g.method("to", x, types[0][1]) for x, v in ((image, operands[0]), (kernel, operands[1]))), *arguments)
    return g.method("permute", made, back)


def _convolved(image, kernel, strides, dilation, groups, batch_groups):
    if batch_groups > 1:  # parts of the batch are groups of features
        image = image.unflatten(0, (batch_groups, -1)).movedim(0, 1).flatten(1, 2)
        groups = batch_groups
    n = len(strides)
    if n == 0:
        return torch.einsum("bf,of->bo", image, kernel)
    return (torch.conv1d, torch.conv2d, torch.conv3d)[n - 1](image, kernel, None, strides, 0, dilation, groups)
