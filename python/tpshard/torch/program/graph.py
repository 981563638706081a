"""The graph that is built, and the table of ops. Other files of this folder add their rows to it."""
import itertools

import torch
from torch import fx

from ...errors import Diagnostic, error_of
from .attributes import type_of


class Value:
    """A value of the program: its node, and what it is known to be."""

    def __init__(self, node, shape, dtype):
        self.node, self.shape, self.dtype = node, shape, dtype

    @property
    def rank(self):
        return len(self.shape)


class Graph:
    """Builds a graph of PyTorch.

    device:  where tensors lie
    number:  that of the device in the mesh
    group_of: group_of(groups) returns (size, name, numbers of the group's devices) of the process group of this device among
             `groups`, lists of numbers of devices
    resources: {name: bytes in hexadecimal} of constants that stand at the end of the text
    functions: {name: op} of the functions of the program
    """

    def __init__(self, device, number, group_of, resources, functions):
        self.graph, self.root = fx.Graph(), torch.nn.Module()
        self.device, self.number, self.group_of = device, number, group_of
        self.resources, self.functions = resources, functions
        self._constants = itertools.count()
        self._numbers = {}  # {node of a tensor whose elements are all equal: the element}

    def call(self, function, *args, **kwargs):
        return self.graph.call_function(function, args, kwargs)

    def method(self, name, *args):
        return self.graph.call_method(name, args)

    def held(self, value):
        """Returns a node of a tensor or a module that the graph holds."""
        name = "_%s%d" % ("module" if isinstance(value, torch.nn.Module) else "constant", next(self._constants))
        if isinstance(value, torch.nn.Module):
            self.root.add_module(name, value)
        else:
            self.root.register_buffer(name, value.to(self.device), persistent=False)
        return self.graph.get_attr(name)

    def full(self, shape, value, dtype):
        made = self.call(torch.full, (), value, dtype=dtype, device=self.device)
        return self.equal(self.method("expand", made, list(shape)) if shape else made, value)

    def equal(self, node, number):
        """Notes that all elements of a node are this number, if it is not None. Returns the node."""
        if number is not None:
            self._numbers[node] = number
        return node

    def element(self, node):
        """Returns the element of a tensor whose elements are known to be equal, else None."""
        return self._numbers.get(node)

    def plain(self, nodes, places):
        """Returns the nodes of an op with the same shape, of which one at these places is a number if it can be. It
        saves the tensor."""
        at = [i for i in places if i < len(nodes) and self.element(nodes[i]) is not None]
        return [self.element(node) if i == at[0] else node for i, node in enumerate(nodes)] if at else nodes

    def arange(self, n, dtype=torch.int64):
        return self.call(torch.arange, n, dtype=dtype, device=self.device)

    def block(self, block, outer):
        """Builds the ops of a block whose arguments are in `outer`, {value: Value}; returns what its
        end returns."""
        known = outer
        for op in block.operations:
            op = op.operation
            operands = [known[v] for v in op.operands]
            if op.name in ("stablehlo.return", "sdy.return", "func.return"):
                return operands
            types = [type_of(str(result.type)) for result in op.results]
            made = build(self, op, operands, types, known)
            for result, node, (shape, dtype) in zip(op.results, made, types):
                known[result] = Value(node, shape, dtype)
        raise AssertionError("a block without an end")


def refuse(op, what):
    raise error_of("unsupported", (Diagnostic("error", what, op.name),))


def build(g, op, operands, types, known):
    """Returns the nodes of an op."""
    if op.name not in BUILDERS and op.name not in SIMPLE:
        refuse(op, "is not translated to PyTorch")
    known_element = _folded(g, op, operands, types)
    if known_element is not None:
        return [g.full(types[0][0], known_element, types[0][1])]
    narrow = [t for _, t in types]
    if op.name in SIMPLE or op.name in COMPUTED:  # PyTorch stores floats of 8 bits, but does not compute with them
        operands = [Value(g.method("to", v.node, torch.float32), v.shape, torch.float32) if v.dtype in FLOATS_8 else v for v in operands]
        types = [(shape, torch.float32 if t in FLOATS_8 else t) for shape, t in types]
    if op.name in SIMPLE:
        made = [g.call(SIMPLE[op.name], *g.plain([v.node for v in operands], NUMBERS.get(op.name, ())))]
    else:
        made = BUILDERS[op.name](g, op, operands, types, known)
        made = made if isinstance(made, list) else [made]
    return [g.method("to", node, t) if t != now else node for node, t, (_, now) in zip(made, narrow, types)]


# {op: function of numbers}, whose operands have one sign: indices, as of the device
FOLDED = {
    "stablehlo.add": lambda a, b: a + b, "stablehlo.subtract": lambda a, b: a - b, "stablehlo.multiply": lambda a, b: a * b,
    "stablehlo.divide": lambda a, b: a // b, "stablehlo.remainder": lambda a, b: a % b,
}


def _folded(g, op, operands, types):
    """Returns the element of the result, if it follows from elements that are known, all of them small indices; else
    None."""
    if op.name not in FOLDED or types[0][1] not in (torch.int32, torch.int64):
        return None
    elements = [g.element(v.node) for v in operands]
    if any(e is None or not 0 <= e < 1 << 30 for e in elements) or (elements[1] == 0 and op.name in ("stablehlo.divide", "stablehlo.remainder")):
        return None
    made = FOLDED[op.name](*elements)
    return made if abs(made) < 1 << 31 and (types[0][1] == torch.int64 or abs(made) < 1 << 30) else None


FLOATS_8 = (torch.float8_e4m3fn, torch.float8_e5m2)

# ops with a builder that compute with elements
COMPUTED = {
    "stablehlo.add", "stablehlo.multiply", "stablehlo.divide", "stablehlo.maximum", "stablehlo.minimum", "stablehlo.remainder",
    "stablehlo.clamp", "stablehlo.dot_general", "stablehlo.convolution",
}


# operands that may be numbers in place of tensors
NUMBERS = {
    "stablehlo.subtract": (1,), "stablehlo.power": (1,), "stablehlo.and": (1,), "stablehlo.or": (1,), "stablehlo.xor": (1,),
    "stablehlo.select": (1, 2),
}
SIMPLE = {}  # {op: function of the operands}
BUILDERS = {}  # {op: function(graph, op, operands, types of results, known values) that returns the nodes of the results}


def builder(*names):
    def note(function):
        BUILDERS.update(dict.fromkeys(names, function))
        return function

    return note
