"""Runs the graphs of all devices of a per-device program in one process, node by node, and moves data between them itself."""
import json

import torch
from torch import fx

from tpshard.torch import program
from tpshard.torch.program import control, exchange


def group_of(number):
    """Returns group_of of device `number`, whose names of groups list the devices."""

    def find(groups, some=False):
        for group in groups:
            if number in group:
                return len(group), json.dumps(list(group)), list(group)
        assert some
        return 0, None, []

    return find


def graphs(text, n):
    return [program.graph_of(text, "cpu", number, group_of(number)) for number in range(n)]


def _two(name, x, y):
    functions = {"sum": torch.add, "product": torch.mul, "max": torch.maximum, "min": torch.minimum}
    functions.update({"and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor})
    if x.dtype == torch.bool and name in ("sum", "product"):
        name = {"sum": "or", "product": "and"}[name]
    return functions[name](x, y)


def _reduce(name, tensors):
    made = tensors[0]
    for x in tensors[1:]:
        made = _two(name, made, x)
    return made


def _collective(function, number, args, all_args):
    """The result of device `number`. all_args: the arguments of all devices."""
    if function is exchange.permute:
        x, source, _, _, name = args
        return all_args[json.loads(name)[source]][0] if source is not None else torch.zeros_like(x)
    name = args[-1]
    members = json.loads(name)
    xs, me = [all_args[m][0] for m in members], members.index(number)
    if function is exchange.all_gather:
        return torch.cat(xs, args[1])
    if function is exchange.all_reduce:
        return _reduce(args[1], xs)
    if function is exchange.reduce_scatter:
        return _reduce(args[1], xs).chunk(len(members), args[2])[me]
    assert function is exchange.all_to_all
    return torch.cat([x.chunk(len(members), args[1])[me] for x in xs], args[2])


FUNCTIONS = (exchange.permute, exchange.all_gather, exchange.all_reduce, exchange.reduce_scatter, exchange.all_to_all)


def run(modules, inputs):
    """Returns the results of each device. inputs: a list of tensors for each."""
    n = len(modules)
    envs = [{} for _ in modules]
    rest = [iter(i) for i in inputs]
    for nodes in zip(*(m.graph.nodes for m in modules)):
        first = nodes[0]
        assert len({(node.op, str(node.target)) for node in nodes}) == 1 or first.op == "call_function", nodes
        args = [fx.node.map_arg(node.args, lambda a, env=env: env[a]) for node, env in zip(nodes, envs)]
        kwargs = [fx.node.map_arg(node.kwargs, lambda a, env=env: env[a]) for node, env in zip(nodes, envs)]
        if first.op == "output":
            return [a[0] for a in args]
        if first.op == "placeholder":
            made = [next(r) for r in rest]
        elif first.op == "get_attr":
            made = [getattr(m, node.target) for m, node in zip(modules, nodes)]
        elif first.op == "call_method":
            made = [getattr(a[0], node.target)(*a[1:], **k) for node, a, k in zip(nodes, args, kwargs)]
        elif any(node.target in FUNCTIONS for node in nodes):
            made = [
                _collective(node.target, i, args[i], args) if node.target in FUNCTIONS else node.target(*args[i], **kwargs[i])
                for i, node in enumerate(nodes)
            ]
        elif first.target is control._loop:
            state = [list(a[2]) for a in args]
            while True:
                goes = [bool(r[0]) for r in run([a[0] for a in args], [[*s, *a[3]] for s, a in zip(state, args)])]
                assert len(set(goes)) == 1
                if not goes[0]:
                    break
                state = [list(r) for r in run([a[1] for a in args], [[*s, *a[4]] for s, a in zip(state, args)])]
            made = state
        elif first.target is control._branch:
            which = [(0 if bool(a[0]) else 1) if a[0].dtype == torch.bool else int(a[0]) for a in args]
            which = [k if 0 <= k < len(a[1]) else len(a[1]) - 1 for k, a in zip(which, args)]
            assert len(set(which)) == 1
            made = [list(r) for r in run([a[1][which[0]] for a in args], [a[2][which[0]] for a in args])]
        else:
            made = [node.target(*a, **k) for node, a, k in zip(nodes, args, kwargs)]
        for env, node, value in zip(envs, nodes, made):
            env[node] = value
    raise AssertionError("no output")
