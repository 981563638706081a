"""Reductions of dimensions and of windows."""
import operator

import torch
from torch import fx

from .attributes import array, table, type_of
from .elementwise import FEW, in_order, out_of_order
from .graph import FLOATS_8, Graph, Value, builder, refuse
from .shapes import padded

# {op of a body: (name of a reduction, function over dimensions, function of two)}
REDUCTIONS = {
    "stablehlo.add": ("sum", lambda x, dims: x.sum(dims, dtype=x.dtype), torch.add),
    "stablehlo.multiply": ("product", None, torch.mul),
    "stablehlo.maximum": ("max", torch.amax, torch.maximum),
    "stablehlo.minimum": ("min", torch.amin, torch.minimum),
    "stablehlo.and": ("and", None, torch.bitwise_and),
    "stablehlo.or": ("or", None, torch.bitwise_or),
    "stablehlo.xor": ("xor", None, torch.bitwise_xor),
}


def body_op(block):
    """Returns the name of the one op of the body of a reduction of two numbers, or None."""
    ops = [op.operation for op in block.operations]
    arguments = list(block.arguments)
    if len(ops) != 2 or len(arguments) != 2 or sorted(arguments.index(v) if v in arguments else 9 for v in ops[0].operands) != [0, 1]:
        return None
    return ops[0].name if list(ops[1].operands) == list(ops[0].results) else None


def module_of(g, block, known, n_own):
    """Returns a module whose forward takes the arguments of the block, and the values from outside that it
    uses; and these values."""
    inner = Graph(g.device, g.number, g.group_of, g.resources, g.functions)
    outside, seen, own = [], {}, {}

    def uses(block):
        inside = set(block.arguments)
        for op in block.operations:
            for v in op.operation.operands:
                if v in known and v not in seen and v not in inside:
                    seen[v] = len(outside)
                    outside.append(v)
            for region in op.operation.regions:
                for nested in region.blocks:
                    uses(nested)

    uses(block)
    for i, argument in enumerate(block.arguments):
        own[argument] = Value(inner.graph.placeholder("a%d" % i), *type_of(str(argument.type)))
    for i, v in enumerate(outside):
        own[v] = Value(inner.graph.placeholder("b%d" % i), known[v].shape, known[v].dtype)
    inner.graph.output(tuple(v.node for v in inner.block(block, own)))
    inner.graph.eliminate_dead_code()
    return fx.GraphModule(inner.root, inner.graph), [known[v].node for v in outside]


def _fold(x, dims, function):
    """Reduces one tensor along dimensions by a function of two, in pairs of neighbours."""
    return _fold_all([x], dims, lambda a, b: [function(a[0], b[0])])[0]


def _fold_all(xs, dims, function):
    """Reduces tensors along dimensions by function(earlier, later), in pairs of neighbours. No dimension is empty."""
    rank = xs[0].dim()
    kept = [d for d in range(rank) if d not in dims]
    xs = [x.permute(list(dims) + kept).flatten(0, len(dims) - 1) for x in xs]
    while xs[0].shape[0] > 1:
        n = xs[0].shape[0]
        made = function([x[0 : n - n % 2 : 2] for x in xs], [x[1::2] for x in xs])
        xs = [torch.cat([y, x[n - 1 :]]) if n % 2 else y for x, y in zip(xs, made)]
    return [x[0] for x in xs]


def _reduced_by(x, start, dims, name):
    if x.dtype in FEW and name in ("stablehlo.maximum", "stablehlo.minimum"):
        return out_of_order(_reduced_by(in_order(x), in_order(start), dims, name), x.dtype)
    if x.dtype in FEW or x.dtype in FLOATS_8:
        wide = torch.float32 if x.dtype in FLOATS_8 else torch.int64
        return _reduced_by(x.to(wide), start.to(wide), dims, name).to(x.dtype)
    of_dims, of_two = REDUCTIONS[name][1:]
    if x.dtype == torch.bool and name in ("stablehlo.add", "stablehlo.multiply"):
        of_dims, of_two = None, torch.bitwise_or if name == "stablehlo.add" else torch.bitwise_and
    if not dims:
        return of_two(x, start)
    if any(x.shape[d] == 0 for d in dims):
        return start.expand([n for d, n in enumerate(x.shape) if d not in dims]).clone()
    return of_two(of_dims(x, dims) if of_dims else _fold(x, dims, of_two), start)


def _reduced_by_module(module, n, dims, tensors):
    xs, starts, outside = tensors[:n], tensors[n : 2 * n], tensors[2 * n :]
    kept = [size for d, size in enumerate(xs[0].shape) if d not in dims]
    starts = [start.expand(kept) for start in starts]
    if any(xs[0].shape[d] == 0 for d in dims):
        return starts
    found = _fold_all(xs, dims, lambda a, b: module(*a, *b, *outside)) if dims else xs
    return list(module(*starts, *found, *outside))


@builder("stablehlo.reduce")
def _reduce(g, op, operands, types, known):
    dims, block, n = array(op, "dimensions"), op.regions[0].blocks[0], len(operands) // 2
    name = body_op(block) if n == 1 else None
    if name in REDUCTIONS:
        return g.call(_reduced_by, operands[0].node, operands[1].node, dims, name)
    module, outside = module_of(g, block, known, 2 * n)
    made = g.call(_reduced_by_module, g.held(module), n, dims, [v.node for v in operands] + outside)
    return [g.call(operator.getitem, made, i) for i in range(n)]


@builder("stablehlo.reduce_window")
def _reduce_window(g, op, operands, types, known):
    rank, block = operands[0].rank, op.regions[0].blocks[0]
    ones, name = [1] * rank, body_op(op.regions[0].blocks[0]) if len(operands) == 2 else None
    if name not in REDUCTIONS:
        refuse(op, "has a body of several ops or operands, which is not translated to PyTorch")
    del block
    size, strides, spread, dilation = (
        array(op, of) or ones for of in ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    )
    padding = table(op, "padding") if "padding" in op.attributes else [[0, 0]] * rank
    return g.call(_windows, operands[0].node, operands[1].node, size, strides, spread, dilation, padding, name)


def _windows(x, start, size, strides, spread, dilation, padding, name):
    inside = [s - 1 for s in spread]
    shape = [max(n + (n - 1) * i, 0) for n, i in zip(x.shape, inside)]
    x = padded(x, start, shape, [p[0] for p in padding], [p[1] for p in padding], inside)
    rank, dims = x.dim(), []
    for d in range(rank):
        if size[d] == 1 and dilation[d] == 1:
            x = x[(slice(None),) * d + (slice(None, None, strides[d]),)]
            continue
        reach = (size[d] - 1) * dilation[d] + 1
        x = x.unfold(d, reach, strides[d])[..., :: dilation[d]]
        dims.append(x.dim() - 1)
    return _reduced_by(x, start, dims, name)
