"""Runs the graphs of all devices of a per-device program in one process, from collective to collective, and moves data
between them itself."""
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


def _execute(module, inputs):
    """Yields each collective as (function, arguments), is sent its result, and returns the results."""
    env, rest = {}, iter(inputs)
    for node in module.graph.nodes:
        args, kwargs = (fx.node.map_arg(a, lambda n: env[n]) for a in (node.args, node.kwargs))
        if node.op == "output":
            return args[0]
        if node.op == "placeholder":
            env[node] = next(rest)
        elif node.op == "get_attr":
            env[node] = getattr(module, node.target)
        elif node.op == "call_method":
            env[node] = getattr(args[0], node.target)(*args[1:], **kwargs)
        elif node.target in FUNCTIONS:
            env[node] = yield node.target, args
        elif node.target is control._loop:
            condition, body, state, of_condition, of_body = args
            while bool((yield from _execute(condition, [*state, *of_condition]))[0]):
                state = yield from _execute(body, [*state, *of_body])
            env[node] = list(state)
        elif node.target is control._branch:
            index, modules, outside = args
            k = control.chosen(index, len(modules))
            env[node] = list((yield from _execute(modules[k], outside[k])))
        else:
            env[node] = node.target(*args, **kwargs)
    raise AssertionError("no output")


def run(modules, inputs):
    """Returns the results of each device. inputs: a list of tensors for each."""
    devices = [_execute(module, given) for module, given in zip(modules, inputs)]
    waiting, results = {}, [None] * len(devices)

    def go_on(i, value):
        try:
            waiting[i] = devices[i].send(value)
        except StopIteration as end:
            results[i] = end.value

    for i in range(len(devices)):
        go_on(i, None)
    while waiting:
        groups = {(function, args[-1]) for function, args in waiting.values()}
        met = [(f, name) for f, name in groups if all(m in waiting and (waiting[m][0], waiting[m][1][-1]) == (f, name) for m in json.loads(name))]
        assert met, "devices wait for others: %s" % waiting
        for function, name in met:
            args = {m: waiting.pop(m)[1] for m in json.loads(name)}
            for m in args:
                go_on(m, _collective(function, m, args[m], args))
    return results
