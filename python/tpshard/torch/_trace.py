"""Traces a module or a function of PyTorch to one graph of ATen ops, over shapes alone."""
import contextlib
import copy
import dataclasses
import os
import sys
import typing
import warnings

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.fx import traceback as meta_of_nodes
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .. import _names
from ..errors import Diagnostic, error_of

# Frames in these folders are not the user's.
_OTHERS = (*(os.path.dirname(os.path.abspath(file)) + os.sep for file in (torch.__file__, __file__)), "<eval_with_key>", "<frozen ")


@dataclasses.dataclass
class Value:
    """An argument or a result of a program.

    kind: of an argument "parameter", "buffer", "constant" (a tensor that the program closes over) or
          "input"; of a result "update" or "output"
    path: of a parameter or a buffer its name in the module; of an update that of the argument whose
          new value it is
    """

    name: str
    shape: tuple
    dtype: torch.dtype
    kind: str
    path: str = ""


@dataclasses.dataclass
class Traced:
    """A program as a graph, and what its arguments and results are."""

    graph: torch.fx.Graph
    arguments: list  # Value, in the order of the graph
    results: list
    constants: dict  # {name: tensor}
    heads: list  # names of the arguments of the user
    leaves: list  # (name, leaf) of the user's arguments; a leaf that is no tensor is part of the program
    tree: typing.Any  # their structure: (args, kwargs)
    result_leaves: list  # (True, number of a result), or (False, a value that is no tensor)
    result_tree: typing.Any


def _path(keys):
    """Returns the path of a leaf as text: "layers/0/w"."""
    parts = (getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))) for key in keys)
    return "/".join(map(str, parts))


def leaf_names(head, tree):
    """Returns the names of the leaves of one argument or result, in order."""
    return _names.leaf_names(head, [_path(keys) for keys, _ in pytree.tree_flatten_with_path(tree)[0]])


def _user_frames():
    """Returns the frames of the user on the stack of calls, as text, the innermost one last."""
    lines, frame = [], sys._getframe(2)
    while frame:
        code = frame.f_code
        if not code.co_filename.startswith(_OTHERS):
            lines.append('  File "%s", line %d, in %s\n' % (code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return lines[::-1]


class _Places(TorchDispatchMode):
    """Notes with each node that is traced which lines of the user it is of; those of gradients are of
    the line that asks for the gradient."""

    def __init__(self, outer):
        super().__init__()
        self._outer = outer  # number of frames around the function

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        meta_of_nodes.set_stack_trace(_user_frames()[self._outer :])
        return func(*args, **(kwargs or {}))


class _Attention(TorchFunctionMode):
    """Writes attention without a mask as products and a plain softmax. PyTorch makes rows 0 whose scores are all
    hidden; here no row is, and the gradient is one that kernels compute."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.nn.functional.scaled_dot_product_attention:
            function = _attention
        return function(*args, **(kwargs or {}))


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if attn_mask is not None or dropout_p > 0 or query.dim() < 3 or key.shape[-2] == 0:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    dtype, scale = query.dtype, query.shape[-1] ** -0.5 if scale is None else scale
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    if dtype in (torch.float16, torch.bfloat16):  # as PyTorch's own products and softmax
        query, key, value = query.float(), key.float(), value.float()
    scores = query @ key.transpose(-2, -1) * scale
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return (scores.softmax(-1) @ value).to(dtype)


class _Program(torch.nn.Module):
    """What torch.export takes: a call on flat tensors."""

    def __init__(self, module, call):
        super().__init__()
        self.module, self._call = module, call

    def forward(self, *tensors):
        return self._call(self.module, tensors)


def _fake(mode, tensor):
    """Returns a tensor without storage of the same shape and type, on the CPU."""
    with mode:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")


def _fake_module(mode, module):
    """Returns a copy of the module whose parameters and buffers have no storage."""
    memo = {}
    for tensor in [*module.parameters(), *module.buffers()]:
        fake = _fake(mode, tensor)
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        memo[id(tensor)] = torch.nn.Parameter(fake, requires_grad=False) if is_parameter else fake
    return copy.deepcopy(module, memo)


def _check_tensor(name, tensor):
    if hasattr(tensor, "placements"):
        raise ValueError('"%s" is a DTensor; plan with the whole tensor, or with one of its shape on torch.device("meta")' % name)
    if tensor.layout != torch.strided:
        raise ValueError('"%s" has the layout %s; give a dense tensor' % (name, tensor.layout))


def _place(error):
    """Returns (file, line) of the user's code that raised an error; ("", 0) if there is none."""
    found, trace = ("", 0), error.__traceback__
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_OTHERS):
            found = file, trace.tb_lineno
        trace = trace.tb_next
    return found


@contextlib.contextmanager
def _refusing():
    """Raises `Refused` for a program whose operations depend on values of tensors."""
    try:
        yield
    except (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode) as error:
        what = "the program branches on a value of a tensor, or makes a shape of one; a plan is for all values: write torch.where"
        file, line = _place(error)
        raise error_of("unsupported", (Diagnostic("error", what, str(getattr(error, "func", "")), file, line),)) from None


def _sorted(x, *, stable=None, dim=-1, descending=False):
    """torch-mlir has no sort that is said to be stable; how it writes the other one, it is."""
    return torch.ops.aten.sort.default(x, dim, descending)


def _largest(x, k, dim=-1, largest=True, sorted=True):
    """torch-mlir lacks the one whose order does not matter."""
    return NotImplemented if sorted else torch.ops.aten.topk.default(x, k, dim, largest, True)


def _export(program, tensors):
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    table = {**get_decomposition_table(), torch.ops.aten.sort.stable: _sorted, torch.ops.aten.topk.default: _largest}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tensors that modules set as plain attributes
        exported = torch.export.export(program, tensors)
        return exported.run_decompositions(table)


def _check_random(graph):
    """Refuses ops that draw random numbers, which torch-mlir would turn into a generator of its own."""
    for node in graph.nodes:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            file, line = innermost(node)
            what = "draws random numbers, which a plan does not have; call eval() of the module, or pass them as an argument"
            raise error_of("unsupported", (Diagnostic("error", what, str(node.target), file, line),))


def _frames(node):
    """Returns the user's lines that a node is of, as (file, line), the innermost one last."""
    found = []
    for text in (node.meta.get("stack_trace") or "").splitlines():
        parts = text.strip().split('"')
        if len(parts) >= 3 and parts[0] == "File " and not parts[1].startswith(_OTHERS):
            found.append((parts[1], int(parts[2].split()[2].rstrip(","))))
    return found


def innermost(node):
    """Returns (file, line) of the user's code that a node is of; ("", 0) if it is unknown."""
    return next(iter(_frames(node)[::-1]), ("", 0))


def _keep_user_frames(graph):
    for node in graph.nodes:
        lines = ['  File "%s", line %d, in forward' % frame for frame in _frames(node)]
        if "stack_trace" in node.meta:
            node.meta["stack_trace"] = "\n".join(lines)


def trace(function, args, kwargs):
    """Returns the `Traced` of function(*args, **kwargs). Values of tensors do not matter, so they may
    lie on torch.device("meta"). Raises `Refused`, with the user's file and line, for what depends on
    values or draws random numbers."""
    module = function if isinstance(function, torch.nn.Module) else None
    positional = _names.parameter_names(module.forward if module else function, len(args))
    heads = positional + list(kwargs)
    names = [name for head, arg in zip(heads, [*args, *kwargs.values()]) for name in leaf_names(head, arg)]
    leaves, tree = pytree.tree_flatten((tuple(args), dict(kwargs)))
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    for i in at:
        _check_tensor(names[i], leaves[i])
    if module:
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            _check_tensor(name, tensor)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    tensors = tuple(_fake(mode, leaves[i]) for i in at)
    results = {}

    def call(function, tensors):
        given = list(leaves)
        for i, tensor in zip(at, tensors):
            given[i] = tensor
        args, kwargs = pytree.tree_unflatten(given, tree)
        found = function(*args, **kwargs)
        results["names"] = leaf_names(_names.result_head(heads), found)
        results["leaves"], results["tree"] = pytree.tree_flatten(found)
        return [leaf for leaf in results["leaves"] if isinstance(leaf, torch.Tensor)]

    with _refusing(), sdpa_kernel(SDPBackend.MATH), _Attention():
        if module:
            program = _Program(_fake_module(mode, module), call)
        else:
            outer = len(_user_frames())

            def flat(*tensors):
                with _Places(outer):
                    return call(function, tensors)

            with meta_of_nodes.preserve_node_meta():
                program = make_fx(flat, tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors)
        if not any(isinstance(leaf, torch.Tensor) for leaf in results.get("leaves", ())) and not module:
            raise ValueError("the function returns no tensor")
        exported = _export(program, tensors)
    _check_random(exported.graph)
    _keep_user_frames(exported.graph)
    return _described(exported, [names[i] for i in at], heads, list(zip(names, leaves)), tree, results, module)


def _without_duplicates(exported, module):
    """Lets parameters that are one tensor under several names be one argument, the first of them.
    Returns the input specs that are left."""
    first, same = {}, {}
    for name, tensor in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
        same["module." + name] = first.setdefault(id(tensor), "module." + name)
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    at, left = {}, []
    for spec in exported.graph_signature.input_specs:
        own = same.get(spec.target, spec.target)
        if own is not None and own in at:
            nodes[spec.arg.name].replace_all_uses_with(nodes[at[own]])
            exported.graph.erase_node(nodes[spec.arg.name])
        else:
            at[own] = spec.arg.name
            left.append(spec)
    return left


def _described(exported, names, heads, leaves, tree, found, module):
    """Returns the `Traced` of an exported program. `names` are those of its tensors, `found` has the
    results of the call as leaves."""
    inputs = _without_duplicates(exported, module) if module else exported.graph_signature.input_specs
    nodes = {node.name: node for node in exported.graph.nodes}
    arguments, constants, of_node = [], {}, {}
    rest = iter(names)
    for spec in inputs:
        kind, path = spec.kind.name, (spec.target or "").removeprefix("module.")
        if kind == "USER_INPUT":
            name, kind = next(rest), "input"
        elif module and kind in ("PARAMETER", "BUFFER"):
            name, kind = path, kind.lower()
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            name, kind = _names.free("constant/%d" % len(constants), names), "constant"
            constants[name] = exported.constants[spec.target] if spec.target in exported.constants else exported.state_dict[spec.target]
        else:
            what = "the program has an operation with effects, or an object that is no tensor (%s), which a plan does not have" % kind
            raise error_of("unsupported", (Diagnostic("error", what),))
        value = nodes[spec.arg.name].meta["val"]
        of_node[spec.arg.name] = name
        arguments.append(Value(name, tuple(value.shape), value.dtype, kind, path if kind in ("parameter", "buffer") else ""))
    result_names = [name for name, leaf in zip(found["names"], found["leaves"]) if isinstance(leaf, torch.Tensor)]
    of_target = {a.path: a.name for a in arguments if a.path}
    results, rest = [], iter(result_names)
    for spec in exported.graph_signature.output_specs:
        value = nodes[spec.arg.name].meta["val"]
        if spec.kind.name == "USER_OUTPUT":
            name, kind, path = next(rest), "output", ""
        else:
            target = spec.target or ""
            path = of_node.get(target) or of_target.get(target.removeprefix("module."))
            name, kind = _names.free("new/" + path, names), "update"
        results.append(Value(name, tuple(value.shape), value.dtype, kind, path))
    first = len(results) - len(result_names)
    numbers = iter(range(first, len(results)))
    result_leaves = [next(numbers) if isinstance(leaf, torch.Tensor) else leaf for leaf in found["leaves"]]
    is_tensor = [isinstance(leaf, torch.Tensor) for leaf in found["leaves"]]
    return Traced(exported.graph, arguments, results, constants, heads, leaves, tree, list(zip(is_tensor, result_leaves)), found["tree"])
