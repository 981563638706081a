"""Splits the graph of a program with gradients into the one that computes results and the one that computes gradients."""
import operator

from torch import fx

from .._nodes import needed

# Methods that return a view, mostly. The backward pass calls them again, so that the forward pass keeps only what they read.
_FREE = {"reshape", "expand", "permute"}


def _is_free(node):
    return node.op == "get_attr" or node.op == "call_method" and node.target in _FREE or node.op == "call_function" and not node.all_input_nodes


def _built(module, kept, inputs, outputs):
    """Returns a GraphModule of the nodes `kept`, in their order, which takes `inputs` and returns `outputs`."""
    graph, copies = fx.Graph(), {}
    for i, node in enumerate(inputs):
        copies[node] = graph.placeholder("arg%d" % i)
    for node in module.graph.nodes:
        if node in kept and node not in copies:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in outputs))
    return fx.GraphModule(module, graph)


def split(module, n_arguments, n_results):
    """Returns (forward, backward) of a graph whose first arguments and results are those of the forward pass.

    forward takes these arguments and returns these results, and behind them what the backward pass reads. backward takes
    that, and the other arguments, and returns the other results.
    """
    (end,) = module.graph.find_nodes(op="output")
    arguments = list(module.graph.find_nodes(op="placeholder"))
    results = list(end.args[0])
    forward = needed(results[:n_results]) | set(arguments[:n_arguments])
    for node in module.graph.nodes:  # an op with several results gives a tuple, which cannot be kept: its parts are
        if node.target is operator.getitem and node.args[0] in forward:
            forward.add(node)
    if not forward.isdisjoint(arguments[n_arguments:]):
        raise AssertionError("a result depends on a gradient")
    backward, saved, left = set(), {}, list(results[n_results:])
    while left:
        node = left.pop()
        if node in backward or node in saved or node in arguments[n_arguments:]:
            continue
        if node in forward and not _is_free(node):
            saved[node] = None
            continue
        backward.add(node)
        left += node.all_input_nodes
    saved = [node for node in module.graph.nodes if node in saved]
    first = _built(module, forward, arguments[:n_arguments], results[:n_results] + saved)
    return first, _built(module, backward, saved + arguments[n_arguments:], results[n_results:])
