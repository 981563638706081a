"""Sorts by any comparator, and the largest elements."""
import itertools
import operator
import re

import torch

from .attributes import type_of
from .elementwise import total_order
from .graph import builder
from .reductions import module_of


@builder("stablehlo.sort")
def _sort(g, op, operands, types, known):
    d = int(str(op.attributes["dimension"]).split()[0])
    module, outside = module_of(g, op.regions[0].blocks[0], known, 2 * len(operands))
    key = _simple_key(op.regions[0].blocks[0])
    if key is not None:
        made = g.call(_sorted_by, [v.node for v in operands], d, *key)
    else:
        made = g.call(_sorted, g.held(module), d, len(operands), [v.node for v in operands] + outside)
    return [g.call(operator.getitem, made, i) for i in range(len(operands))]


def _simple_key(block):
    """Returns (operand, descending, total) of a comparator that compares elements of one operand."""
    ops = [op.operation for op in block.operations]
    arguments = list(block.arguments)
    if len(ops) != 2 or ops[0].name != "stablehlo.compare" or any(v not in arguments for v in ops[0].operands):
        return None
    left, right = (arguments.index(v) for v in ops[0].operands)
    direction = re.search(r"comparison_direction (\w+)", str(ops[0].attributes["comparison_direction"]))[1]
    total = "TOTALORDER" in (str(ops[0].attributes["compare_type"]) if "compare_type" in ops[0].attributes else "")
    if left % 2 or right != left + 1 or direction not in ("LT", "GT"):
        return None
    is_float = type_of(str(arguments[left].type))[1].is_floating_point
    return (left // 2, direction == "GT", total) if total or not is_float else None


def _sorted_by(xs, d, key, descending, total):
    by = total_order(xs[key]) if total and xs[key].is_floating_point() else xs[key]
    order = torch.argsort(by, dim=d, descending=descending, stable=True)
    return [x.gather(d, order) for x in xs]


def _sorted(module, d, n, tensors):
    """A stable sort by a comparator: the place of an element is the number of those that go before it."""
    xs, outside = [x.movedim(d, -1) for x in tensors[:n]], tensors[n:]
    left, right = [x.unsqueeze(-1) for x in xs], [x.unsqueeze(-2) for x in xs]
    size = xs[0].shape[-1]
    before = module(*itertools.chain(*zip(left, right)), *outside)[0].expand([*xs[0].shape, size])
    at = torch.arange(size, device=xs[0].device)
    ties = ~before & ~before.transpose(-1, -2) & (at[:, None] < at[None, :])
    place = (before | ties).sum(-2)
    return [torch.empty_like(x).scatter(-1, place, x).movedim(-1, d) for x in xs]


@builder("chlo.top_k")
def _top_k(g, op, operands, types, known):
    made = g.call(_largest, operands[0].node, types[0][0][-1])
    return [g.call(operator.getitem, made, 0), g.method("to", g.call(operator.getitem, made, 1), types[1][1])]


def _largest(x, k):
    by = total_order(x) if x.is_floating_point() else x
    order = torch.argsort(by, dim=-1, descending=True, stable=True)[..., :k]
    return [x.gather(-1, order), order]
