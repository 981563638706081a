"""Traces a call together with its gradients to one graph, by AOTAutograd, as torch.compile does."""
import contextlib
import warnings

import torch
from torch._functorch._aot_autograd import descriptors as roles
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

from ..errors import Diagnostic, error_of

NEW, RESULT, GRADIENT = "new", "result", "gradient"


class _Flat(torch.nn.Module):
    """What AOTAutograd takes."""

    def __init__(self, call):
        super().__init__()
        self._call = call

    def forward(self, *tensors):
        # Results that share memory with others would be left out of the graph.
        return [x.clone() for x in self._call(tensors)]


def _role(of):
    """Returns (NEW, RESULT or GRADIENT, number of a tensor or a result) of a result of the graph."""
    if isinstance(of, roles.InputMutationAOTOutput):
        return NEW, of.mutated_input.idx
    if isinstance(of, roles.GradAOTOutput):
        return GRADIENT, of.grad_of.idx
    if isinstance(of, roles.PlainAOTOutput):
        return RESULT, of.idx
    what = "the program has an operation with effects, such as a check of values, which a plan does not have"
    raise error_of("unsupported", (Diagnostic("error", what),))


def _result_of(argument):
    """Returns the number of the result at which an argument of the graph is the gradient."""
    if isinstance(argument.output, roles.PlainAOTOutput):
        return argument.output.idx
    what = "the program writes a buffer or an argument with a value that has a gradient; write value.detach()"
    raise error_of("unsupported", (Diagnostic("error", what),))


def joint_graph(call, tensors, table):
    """Returns (graph, at, made) of call(tensors), which returns a list of tensors.

    graph: a torch.fx.GraphModule. It takes the tensors, and gradients at results.
    at:    numbers of the results whose gradients it takes, in order
    made:  what it returns: (NEW, i) is the new value of tensor i that the call writes, (RESULT, i) is result i, and (GRADIENT, i)
           the gradient of tensor i

    table: decompositions of operations

    Tensors whose requires_grad is set have gradients. Raises `Refused` for what has no such graph.
    """
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = aot_export_joint_with_descriptors(stack, _Flat(call), tuple(tensors), decompositions=table).graph_module
    graph = found.graph
    at = [_result_of(n.meta["desc"]) for n in graph.find_nodes(op="placeholder") if isinstance(n.meta["desc"], roles.TangentAOTInput)]
    (end,) = graph.find_nodes(op="output")
    kept = [(node, _role(of)) for node, of in zip(end.args[0], end.meta["desc"]) if node is not None]
    if not any(kind == GRADIENT for _, (kind, _) in kept):
        raise ValueError("backward: no result depends on a tensor with requires_grad; give a module with parameters, or set it on an argument")
    nodes = [node.args[0] if node.target is torch.ops.aten.clone.default and kind == RESULT else node for node, (kind, _) in kept]
    end.args = (tuple(nodes),)
    graph.eliminate_dead_code()
    graph.set_codegen(torch.fx.graph.CodeGen())  # flat arguments and results
    found.recompile()
    return found, at, [role for _, role in kept]
