"""Loops and branches, whose bodies are graphs of their own."""
import operator

import torch

from .graph import builder
from .reductions import module_of


@builder("stablehlo.while")
def _while(g, op, operands, types, known):
    parts = [module_of(g, region.blocks[0], known, len(operands)) for region in op.regions]
    made = g.call(_loop, *(g.held(module) for module, _ in parts), [v.node for v in operands], *(outside for _, outside in parts))
    return [g.call(operator.getitem, made, i) for i in range(len(operands))]


def _loop(condition, body, state, of_condition, of_body):
    state = list(state)
    while bool(condition(*state, *of_condition)[0]):
        state = list(body(*state, *of_body))
    return state


@builder("stablehlo.if", "stablehlo.case")
def _case(g, op, operands, types, known):
    parts = [module_of(g, region.blocks[0], known, 0) for region in op.regions]
    made = g.call(_branch, operands[0].node, [g.held(module) for module, _ in parts], [outside for _, outside in parts])
    return [g.call(operator.getitem, made, i) for i in range(len(types))]


def chosen(index, n):
    """Returns which of n branches is taken; a number without a branch takes the last one."""
    if index.dtype == torch.bool:
        return 0 if bool(index) else 1
    return int(index) if 0 <= int(index) < n else n - 1


def _branch(index, modules, outside):
    k = chosen(index, len(modules))
    return list(modules[k](*outside[k]))
