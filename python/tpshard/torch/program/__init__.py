"""A per-device program in StableHLO, as tp-export-stablehlo writes it, as a graph of PyTorch."""
import re

from torch import fx

from . import attention, collectives, contractions, control, elementwise, lookups, reductions, shapes, sorting  # noqa: F401 their rows
from .attributes import resources_of, type_of
from .graph import Graph, Value, builder


@builder("sdy.manual_computation")
def _manual(g, op, operands, types, known):
    block = op.regions[0].blocks[0]
    own = {argument: Value(v.node, *type_of(str(argument.type))) for argument, v in zip(block.arguments, operands)}
    return [v.node for v in g.block(block, own)]


def graph_of(text, device, number, group_of):
    """Returns a per-device program as a torch.fx.GraphModule that takes and returns local tensors.

    text:     the program as tp-export-stablehlo writes it
    device:   where tensors lie
    number:   that of the device in the mesh, row-major
    group_of: as of `Graph`; group_of(groups, True) may leave devices out, whose group has the name None

    Raises `Refused` for what PyTorch lacks.
    """
    from torch_mlir import ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    # bindings without the dialect sdy do not find a function from inside of its ops
    called = re.sub(r'\bfunc\.call @([\w.$-]+)\(([^)]*)\) :', r'"tp.call"(\2) {callee = "\1"} :', text)
    module = ir.Module.parse(called, context)
    ops = [op.operation for op in module.body.operations]
    functions = {str(op.attributes["sym_name"]).strip('"'): op for op in ops if op.name == "func.func"}
    block, g = functions["main"].regions[0].blocks[0], Graph(device, number, group_of, resources_of(text), functions)
    known = {}
    for i, argument in enumerate(block.arguments):
        known[argument] = Value(g.graph.placeholder("arg%d" % i), *type_of(str(argument.type)))
    g.graph.output(tuple(v.node for v in g.block(block, known)))
    g.graph.eliminate_dead_code()
    return fx.GraphModule(g.root, g.graph)
