"""Traces a module or a function of PyTorch to one graph of ATen ops, over shapes alone."""
import contextlib
import copy
import dataclasses
import functools
import inspect
import os
import sys
import typing
import warnings

import torch
from torch._export.utils import _compiling_state_context
from torch._inductor import config as inductor
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensor, FakeTensorMode
from torch.fx import traceback as meta_of_nodes
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .. import _names
from ..errors import Diagnostic, a_type, error_of
from .decompositions import gradient_table, table
from ._joint import GRADIENT, NEW, joint_graph
from ._narrow import widen_narrow
from ._random import replace_random
from ._recomputed import checkpoints_as_calls, recompute
from ._rewritten import Rewritten
from ._uniform import fold_uniform
from .pairs import replace_complex

# Frames in these folders are not the user's.
_OTHERS = (*(os.path.dirname(os.path.abspath(file)) + os.sep for file in (torch.__file__, __file__)), "<eval_with_key>", "<frozen ")


TENSOR = object()


@dataclasses.dataclass
class Value:
    """An argument or a result of a program.

    kind: of an argument "parameter", "buffer", "constant" (a tensor that the program closes over), "input", "seed" of
          random numbers, or "gradient" at a result; of a result "update", "output", or "gradient" of an argument
    path: of a parameter or a buffer its name in the module; of an update the name of the argument whose
          new value it is; of a gradient the name of the result or the argument
    leaf: of an input, which of the tensors of the user's arguments it is
    """

    name: str
    shape: tuple
    dtype: torch.dtype
    kind: str
    path: str = ""
    leaf: int = -1


@dataclasses.dataclass
class Traced:
    """A program as a graph, and what its arguments and results are."""

    graph: torch.fx.Graph
    arguments: list  # Value, in the order of the graph
    results: list
    constants: dict  # {name: tensor}
    heads: list  # names of the arguments of the user
    leaves: list  # (name, leaf) of the user's arguments; a leaf that is no tensor is part of the program, TENSOR stands for one
    tree: typing.Any  # their structure: (args, kwargs)
    signature: typing.Any  # inspect.Signature of the function, or None
    modes: tuple  # (name, training) of the module and those in it
    autocast: typing.Any  # the dtype of torch.autocast in which it was planned, or None
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


class _Lines(TorchFunctionMode):
    """Notes which lines of the user a function of PyTorch is called by. The gradient of what it does remembers them."""

    def __init__(self, outer):
        super().__init__()
        self._outer = outer  # number of frames around the user's call

    def __torch_function__(self, function, types, args=(), kwargs=None):
        meta_of_nodes.set_stack_trace(_user_frames()[self._outer :])
        return function(*args, **(kwargs or {}))


class _Places(TorchDispatchMode):
    """Notes with each node that is traced which lines of the user it is of; those of gradients that a function asks for
    are of the line that asks."""

    supports_higher_order_operators = True

    def __init__(self, outer):
        super().__init__()
        self._outer = outer
        self.closed_over = {}  # {id: tensor}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        frames = _user_frames()[self._outer :]
        meta_of_nodes.set_stack_trace(frames)
        written = [a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments] if hasattr(func, "_schema") else []
        for i, arg in enumerate(args):
            if type(arg) in (torch.Tensor, torch.nn.Parameter):  # not one that is traced
                self.closed_over[id(arg)] = arg
                if i < len(written) and written[i]:
                    _refuse_write(func, frames)
        return func(*args, **(kwargs or {}))


def _refuse_write(func, frames=()):
    file, line = next(iter(_places_in("".join(frames))[::-1]), ("", 0))
    what = "the function writes a tensor that it closes over, such as a buffer or a gradient of a module; make it an argument"
    raise error_of("unsupported", (Diagnostic("error", what, str(func), file, line),))


class _Program(torch.nn.Module):
    """What torch.export takes: a call on flat tensors. Buffers that the module sets to other tensors are written."""

    def __init__(self, module, call):
        super().__init__()
        self.module, self._call = module, call

    def forward(self, *tensors):
        before = dict(self.module.named_buffers())
        found = self._call(self.module, tensors)
        for name, now in self.module.named_buffers():
            if now is not before.get(name, now):
                before[name].copy_(now)
        return found


def _fake(mode, tensor):
    """Returns a tensor without storage of the same shape and type, on the CPU."""
    with mode:
        made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
        return made.requires_grad_(tensor.requires_grad)


def copied_module(module, made):
    """Returns a copy of a module that has the tensors made(name, tensor) as parameters and buffers. Tensors that are other
    attributes are those of the module. Raises ValueError if it cannot be copied."""
    memo = {}
    for part in module.modules():
        memo.update((id(value), value) for value in vars(part).values() if isinstance(value, torch.Tensor))
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        new = made(name, tensor)
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        memo[id(tensor)] = torch.nn.Parameter(new, requires_grad=tensor.requires_grad) if is_parameter else new
    try:
        return copy.deepcopy(module, memo)
    except Exception as error:  # of any attribute, by its own
        raise ValueError("the module has an attribute that cannot be copied: %s" % error) from error


def modes_of(module):
    return tuple((name, part.training) for name, part in module.named_modules())


def _tensors_in(value, depth=4):
    """True if an object that is no container of PyTorch has tensors in it."""
    if isinstance(value, torch.Tensor):
        return True
    if depth == 0 or isinstance(value, (str, bytes, int, float, complex, type, torch.nn.Module)):
        return False
    if isinstance(value, dict):
        return any(_tensors_in(v, depth - 1) for v in value.values())
    if isinstance(value, (list, tuple, set)):
        return any(_tensors_in(v, depth - 1) for v in value)
    return any(_tensors_in(v, depth - 1) for v in getattr(value, "__dict__", {}).values())


def _check_leaf(name, leaf):
    """Refuses what is neither a tensor nor a part of a program."""
    if type(leaf).__module__ == "numpy" and getattr(leaf, "ndim", 0) > 0:
        raise ValueError('"%s" is an array of numpy; give torch.from_numpy(...)' % name)
    if not isinstance(leaf, torch.Tensor) and _tensors_in(leaf):
        raise ValueError(
            '"%s" is %s with tensors in it, which a plan does not see; use tuples, lists, dicts or named tuples, register the class '
            "by torch.utils._pytree, or do without (models of transformers: use_cache=False)" % (name, a_type(leaf))
        )


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
    except Exception as error:
        of_values = isinstance(error, (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode))
        if not of_values and "its data is not allocated yet" not in str(error):
            raise
        what = "the program branches on a value of a tensor, or makes a shape of one; a plan is for all values: write torch.where"
        file, line = _place(error)
        raise error_of("unsupported", (Diagnostic("error", what, str(getattr(error, "func", "")), file, line),)) from None


def _export(program, tensors, given, wanted):
    """Returns the exported program, and whether it has a seed of random numbers as an argument: in front of gradients at
    results.

    given: what tensors are: (name, kind, path, leaf); wanted: what results are: (name, kind, path), or None without gradients
    """
    n_gradients = sum(kind == "gradient" for _, kind, *_ in given)
    # A graph with gradients has them as operations, some of which have no gradients themselves.
    with warnings.catch_warnings(), torch.set_grad_enabled(torch.is_grad_enabled() and wanted is None):
        warnings.simplefilter("ignore")
        exported = torch.export.export(program, tensors)
    _check_nodes(exported.graph, False)
    _check_shared(exported)
    with warnings.catch_warnings(), torch.set_grad_enabled(torch.is_grad_enabled() and wanted is None):
        warnings.simplefilter("ignore")  # about tensors that modules set as plain attributes
        exported = exported.run_decompositions(table())
    arguments = exported.graph.find_nodes(op="placeholder")
    seed = replace_random(exported.graph, arguments[-n_gradients] if n_gradients else None, table())
    replace_complex(exported.graph, table())
    fold_uniform(exported.graph)
    widen_narrow(exported.graph)
    if wanted is not None:  # behind what folds, as it adds products that are none
        kinds = zip(arguments[-len(given) :], given)
        inputs = {node for node, (_, kind, *_) in kinds if kind == "input"}
        recompute(exported.graph, [kind == "gradient" for _, kind, _ in wanted], inputs)
    _check_nodes(exported.graph, True)
    return exported, seed is not None


def _check_shared(exported):
    """Refuses a module that writes a tensor which has several names, with which PyTorch ends the process."""
    of = {}
    for spec in exported.graph_signature.input_specs:
        tensor = exported.state_dict.get(spec.target, exported.constants.get(spec.target)) if spec.target else None
        if tensor is not None:
            of.setdefault(id(tensor), []).append(spec)
    shared = {spec.arg.name: specs for specs in of.values() for spec in specs if len(specs) > 1}
    views = {node: shared[node.name] for node in exported.graph.nodes if node.name in shared}
    for node in exported.graph.nodes:
        for argument, value in zip(getattr(getattr(node.target, "_schema", None), "arguments", ()), node.args):
            if argument.alias_info is None or not isinstance(value, torch.fx.Node) or value not in views:
                continue
            if argument.alias_info.is_write:
                file, line = innermost(node)
                names = " and ".join('"%s"' % spec.target.removeprefix("module.") for spec in views[value])
                what = "the module writes a tensor that has several names, %s; give it copies" % names
                raise error_of("unsupported", (Diagnostic("error", what, str(node.target), file, line),))
            views[node] = views[value]


def _check_nodes(graph, decomposed):
    """Refuses operations that draw random numbers in other ways than `replace_random` knows, which torch-mlir would turn into a
    generator of its own; those whose result has a shape that depends on values; and those of functions, such as torch.cond."""
    for node in graph.nodes:
        values = node.meta.get("val")
        values = values if isinstance(values, (tuple, list)) else (values,)
        if decomposed and torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            what = "draws random numbers in a way that a plan does not have; pass them as an argument, or call eval() of the module"
        elif any(isinstance(v, torch.SymInt) or isinstance(v, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in v.shape) for v in values):
            what = "makes a shape of a value of a tensor; a plan is for all values: write torch.where"
        elif isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.__name__ in _CONTROL:
            what = "is not lowered by torch-mlir; write torch.where, or a loop of Python"
        else:
            continue
        file, line = innermost(node)
        raise error_of("unsupported", (Diagnostic("error", what, str(node.target), file, line),))


_CONTROL = ("cond", "while_loop", "scan", "map_impl", "associative_scan", "flex_attention")


def _frames(node):
    """Returns the user's lines that a node is of, as (file, line), the innermost one last."""
    return _places_in(node.meta.get("stack_trace") or "")


def _places_in(stack):
    """Returns the user's lines in a stack of calls as text."""
    found = []
    for text in stack.splitlines():
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


def bound(signature, args, kwargs):
    """Returns (args, kwargs) of a call in one form: by position what can be."""
    if signature is None:
        return tuple(args), dict(kwargs)
    call = signature.bind(*args, **kwargs)
    return call.args, call.kwargs


def _signature(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def trace(function, args, kwargs, backward=False):
    """Returns the `Traced` of function(*args, **kwargs), and of its gradients if `backward`. Values of tensors do not matter,
    so they may lie on torch.device("meta"). Raises `Refused`, with the user's file and line, for what depends on
    values."""
    module = function if isinstance(function, torch.nn.Module) else None
    own = function if module is None else module.forward
    signature = _signature(own)
    args, kwargs = bound(signature, args, kwargs)
    heads = _names.parameter_names(own, len(args)) + list(kwargs)
    names = [name for head, arg in zip(heads, [*args, *kwargs.values()]) for name in leaf_names(head, arg)]
    leaves, tree = pytree.tree_flatten((args, kwargs))
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    for name, leaf in zip(names, leaves):
        _check_leaf(name, leaf)
    state = {} if module is None else dict([*module.named_parameters(), *module.named_buffers()])
    for name, tensor in [*state.items(), *((names[i], leaves[i]) for i in at)]:
        _check_tensor(name, tensor)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    tensors = tuple(_fake(mode, leaves[i]) for i in at)
    given = [(names[i], "input", "", leaf) for leaf, i in enumerate(at)]
    results, wanted, autocast = {}, None, _autocast()

    def call(function, tensors):
        given = list(leaves)
        for i, tensor in zip(at, tensors):
            given[i] = tensor
        args, kwargs = pytree.tree_unflatten(given, tree)
        found = function(*args, **kwargs)
        results["names"] = leaf_names(_names.result_head(heads), found)
        results["leaves"], results["tree"] = pytree.tree_flatten(found)
        for name, leaf in zip(results["names"], results["leaves"]):
            _check_leaf(name, leaf)
        return [leaf for leaf in results["leaves"] if isinstance(leaf, torch.Tensor)]

    def fake(_, tensor):
        return _fake(mode, tensor)

    with _refusing(), sdpa_kernel(SDPBackend.MATH), _without_mkldnn(), torch.device("cpu"), cast(autocast), Rewritten(), checkpoints_as_calls(), _with_all_draws():
        if backward:
            program, tensors, given, wanted = _with_gradient(function, call, state, fake, tensors, given, results)
        elif module is not None:
            program = _Program(copied_module(module, fake), call)
        else:
            program = _flat(function, call, tensors)
        if module is None and not any(isinstance(leaf, torch.Tensor) for leaf in results["leaves"]):
            raise ValueError("the function returns no tensor")
        exported, has_seed = _export(program, tensors, given, wanted)
    _keep_user_frames(exported.graph)
    if not backward:
        wanted = [(name, "output", "") for name in _tensor_names(results)]
    made = _described(exported, has_seed, given, wanted, heads, tree, results, module if not backward else None)
    made.leaves = [(name, TENSOR if isinstance(leaf, torch.Tensor) else leaf) for name, leaf in zip(names, leaves)]
    made.signature, made.modes, made.autocast = signature, () if module is None else modes_of(module), autocast
    _check_memory(made, {**state, **{a.name: leaves[at[a.leaf]] for a in made.arguments if a.kind == "input"}})
    return made


def _with_all_draws():
    """PyTorch keeps operations that draw random numbers nobody reads, so that the others have the numbers that they have where
    the module itself runs."""
    return inductor.patch(fallback_random=True)


@contextlib.contextmanager
def _without_mkldnn():
    """Its layers of recurrent networks are one operation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about TF32, where there is none
        with torch.backends.mkldnn.flags(enabled=False):
            yield


def _autocast():
    """Returns the dtype of torch.autocast around the call, or None."""
    return next((torch.get_autocast_dtype(device) for device in ("cuda", "cpu") if torch.is_autocast_enabled(device)), None)


def cast(dtype):
    """The program is traced and compared on the CPU, with the casts of torch.autocast for a GPU."""
    return torch.autocast("cpu", dtype=dtype, enabled=dtype is not None)


def _tensor_names(results):
    return [name for name, leaf in zip(results["names"], results["leaves"]) if isinstance(leaf, torch.Tensor)]


def _with_gradient(function, call, state, fake, tensors, given, results):
    """Returns (graph, tensors that it takes, what they are, what its results are) of a call and its gradients. `state` has
    the parameters and buffers of a module."""
    fakes = {}
    if isinstance(function, torch.nn.Module):
        fakes = {name: fake(name, tensor) for name, tensor in state.items()}
        program = _Program(copied_module(function, lambda name, tensor: fakes[name]), call)

        def run(tensors):
            named = zip(("module." + name for name in fakes), tensors)
            return torch.func.functional_call(program, dict(named), tuple(tensors[len(fakes) :]))

    else:
        run = functools.partial(call, function)
    outer = len(_user_frames()) - 1
    places = _Places(outer)

    def flat(tensors):
        with _Lines(outer), places, _compiling_state_context():  # as torch.export does: modules look whether they are compiled
            found = run(tensors)
        lost = next((t for t in places.closed_over.values() if t.requires_grad), None)
        if lost is not None:
            raise ValueError("backward: a tensor of shape %s is read, and would get no gradient: it is no argument, and no parameter or buffer of a module that is planned; make it one of these" % list(lost.shape))
        return found

    parameters = dict(function.named_parameters()) if fakes else {}
    given = [(name, "parameter" if name in parameters else "buffer", name, -1) for name in fakes] + [(_names.free(row[0], fakes), *row[1:]) for row in given]
    tensors = (*fakes.values(), *tensors)
    graph, at, made = joint_graph(flat, tensors, gradient_table())
    outputs = _tensor_names(results)
    values = graph.graph.find_nodes(op="placeholder")
    with_gradient = [values[i].meta["val"] for i in range(len(tensors), len(values))]
    names = {row[0] for row in given} | set(outputs)
    given += [(_names.free("gradient/" + outputs[i], names), "gradient", outputs[i], -1) for i in at]
    of = {NEW: lambda i: ("new/" + given[i][0], "update", given[i][0]), GRADIENT: lambda i: ("gradient/" + given[i][0], "gradient", given[i][0])}
    wanted = [of[kind](i) if kind in of else (outputs[i], "output", "") for kind, i in made]
    taken = names | {row[0] for row in given}
    wanted = [(name if kind == "output" else _names.free(name, taken), kind, path) for name, kind, path in wanted]
    return graph, (*tensors, *with_gradient), given, wanted


def _flat(function, call, tensors):
    """Returns the graph of a function of flat tensors. Raises `Refused` if it writes what it closes over."""
    places = _Places(len(_user_frames()) - 1)

    def flat(*tensors):
        with places, _compiling_state_context():
            return call(function, tensors)

    with meta_of_nodes.preserve_node_meta():
        made = make_fx(flat, gradient_table(), tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors)
    left = [t for t in places.closed_over.values() if isinstance(t.grad, FakeTensor)]
    for tensor in left:
        tensor.grad = None
    if left:
        _refuse_write("backward")
    return made


def _check_memory(traced, tensors):
    """Refuses a program that writes an argument which shares its memory with another one."""
    of = {}
    for name, tensor in tensors.items():
        if not tensor.is_meta and tensor.numel() > 0:
            of.setdefault(tensor.untyped_storage().data_ptr(), []).append(name)
    for names in of.values():
        written = [r.path for r in traced.results if r.kind == "update" and r.path in names]
        if written and len(names) > 1:
            other = next(name for name in names if name != written[0])
            raise ValueError('"%s" is written, and shares its memory with "%s", of which a plan does not know; give a copy' % (written[0], other))


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


def _described(exported, has_seed, given, wanted, heads, tree, found, module):
    """Returns the `Traced` of an exported program. has_seed: as of `_export`; given: (name, kind, path, leaf) of the tensors that it takes; wanted: (name,
    kind, path) of its results; found: the results of the call as leaves; module: of which `exported` has the state."""
    inputs = exported.graph_signature.input_specs if module is None else _without_duplicates(exported, module)
    state = {spec.target.removeprefix("module.") for spec in inputs if module is not None and spec.kind.name in ("PARAMETER", "BUFFER")}
    taken = {*(name for name, *_ in given), *state}
    nodes = {node.name: node for node in exported.graph.nodes}
    arguments, constants, of_node = [], {}, {}
    rest = iter(given)
    for spec in inputs:
        kind, path, leaf = spec.kind.name, (spec.target or "").removeprefix("module."), -1
        if kind == "USER_INPUT":
            name, kind, path, leaf = next(rest)
            name = _names.free(name, state)
        elif module is not None and kind in ("PARAMETER", "BUFFER"):
            name, kind = path, kind.lower()
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            name, kind, path = _names.free("constant/%d" % len(constants), taken), "constant", ""
            constants[name] = exported.constants[spec.target] if spec.target in exported.constants else exported.state_dict[spec.target]
        else:
            what = "the program has an operation with effects, or an object that is no tensor (%s), which a plan does not have" % kind
            raise error_of("unsupported", (Diagnostic("error", what),))
        value = nodes[spec.arg.name].meta["val"]
        of_node[spec.arg.name] = name
        arguments.append(Value(name, tuple(value.shape), value.dtype, kind, path, leaf))
    if has_seed:
        at = next((i for i, a in enumerate(arguments) if a.kind == "gradient"), len(arguments))
        arguments.insert(at, Value(_names.free("random/seed", taken), (), torch.int64, "seed"))
    of_target = {a.path: a.name for a in arguments if a.kind in ("parameter", "buffer")}
    results, rest = [], iter(wanted)
    for spec in exported.graph_signature.output_specs:
        value = nodes[spec.arg.name].meta["val"]
        if spec.kind.name == "USER_OUTPUT":
            name, kind, path = next(rest)
        else:
            target = spec.target or ""
            path = of_node.get(target) or of_target.get(target.removeprefix("module."))
            if path is None:
                _refuse_write(target)
            name, kind = _names.free("new/" + path, {name for name, *_ in given}), "update"
        results.append(Value(name, tuple(value.shape), value.dtype, kind, path))
    numbers = (i for i, result in enumerate(results) if result.kind == "output")
    result_leaves = [(True, next(numbers)) if isinstance(leaf, torch.Tensor) else (False, leaf) for leaf in found["leaves"]]
    return Traced(exported.graph, arguments, results, constants, heads, [], tree, None, (), None, result_leaves, found["tree"])
