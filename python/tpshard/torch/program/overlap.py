"""Lets collectives run beside other operations of a graph."""
from . import exchange


def overlap(module):
    """Splits each collective of a torch.fx.GraphModule into its start, where it was, and its end, in front of the first node
    that reads the result. All ranks start the same collectives in the same order."""
    graph = module.graph
    places = {node: i for i, node in enumerate(graph.nodes)}
    for node in list(graph.nodes):
        kind = exchange.KINDS.get(node.target) if node.op == "call_function" else None
        if kind is None or not node.users:
            continue
        x, *others = node.args
        first = min(node.users, key=lambda user: places.get(user, 0))
        with graph.inserting_before(node):
            started = graph.call_function(exchange.start, (x, kind, *others))
        with graph.inserting_before(first):
            ended = graph.call_function(exchange.end, (started, kind, *node.meta["of"], *others))
        places[ended] = places[first]
        node.replace_all_uses_with(ended)
        graph.erase_node(node)
    module.recompile()
    return module
