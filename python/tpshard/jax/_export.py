"""Lowers a function to StableHLO in generic form, with names, roles and pins on its arguments and
results."""
import dataclasses
import typing

import jax
import jax.export
from jax import tree_util
from jaxlib.mlir import ir

from .._attributes import annotate, by_role, main_of
from .._layouts import attribute
from .._names import matches, parameter_names, result_head, updated_arguments
from ..errors import a_type
from ._leaves import leaf_names
from ._specs import layout_of

# True while a function is traced for a plan; planned functions inside of it are then what they were before. JAX keeps what
# it traces for each value apart.
is_planning = jax.make_user_context(False)


@dataclasses.dataclass
class Export:
    """A function as text, and what its arguments and results are."""

    text: str
    names: list  # of the leaves of the arguments
    avals: list  # their shapes and types
    tree: typing.Any  # structure of the arguments, a tuple
    result_names: list
    result_avals: list
    result_tree: typing.Any
    heads: list  # names of the arguments, static ones too


def _numbers(value):
    return [] if value is None else [value] if isinstance(value, int) else list(value)


def is_key(aval):
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def _pins(pin, names, avals, ranks, sizes):
    """Returns {index: layout}; of two patterns that match a name, the last one counts."""
    layouts = {}
    if pin and not hasattr(pin, "items"):
        raise TypeError("pin: is %s; give {name: PartitionSpec}, such as {\"%s\": P()}" % (a_type(pin), names[0]))
    for pattern, spec in (pin or {}).items():
        for i in matches(pattern, names, "pin"):
            layouts[i] = layout_of(spec, len(avals[i].shape), sizes, names[i])
    for i, aval in enumerate(avals):
        if is_key(aval):  # the words of a key stay together
            layouts.setdefault(i, [["?"] for _ in aval.shape])
    return {i: layout + [[] for _ in range(ranks[i] - len(layout))] for i, layout in layouts.items()}


def _annotate(module, export, roles, pins, updates):
    with module.context:
        func = main_of(module)
        function_type = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)
        if any("token" in str(t) for t in function_type.inputs):
            return  # of a callback with effects, which the plan refuses with its line
        if len(function_type.inputs) != len(export.names):
            raise ValueError(
                "the program has %d arguments, but there are %d leaves; pass arrays that the function closes over as "
                "arguments" % (len(function_type.inputs), len(export.names))
            )
        names = export.names + export.result_names
        ranks = [ir.RankedTensorType(t).rank for t in list(function_type.inputs) + list(function_type.results)]
        layouts = pins(names, export.avals + export.result_avals, ranks)
        layouts = {i: attribute(layout) for i, layout in layouts.items()}
        annotate(ir, func, export.names, export.result_names, roles, layouts, updates)


def _check_arguments(names, leaves, sizes):
    """Refuses arrays of another mesh, and sizes that are symbols."""
    for name, leaf in zip(names, leaves):
        symbols = [str(n) for n in getattr(leaf, "shape", ()) if jax.export.is_symbolic_dim(n)]
        if symbols:
            raise ValueError('"%s" has the symbolic size "%s", and a plan is for sizes that are known; give a number' % (name, symbols[0]))
        mesh = getattr(getattr(leaf, "sharding", None), "mesh", None)
        if mesh is not None and not set(mesh.axis_names) <= set(sizes):
            axes = ",".join("%s=%d" % axis for axis in mesh.shape.items())
            raise ValueError('"%s" is an array on another mesh, %s; give its shape, jax.ShapeDtypeStruct(x.shape, x.dtype)' % (name, axes))


def export(function, args, sizes, params, state, pin, donate_argnums, static_argnums):
    """Returns the `Export` of function(*args), planned for a mesh of these sizes."""
    static, donated = set(_numbers(static_argnums)), set(_numbers(donate_argnums))
    heads = parameter_names(function, len(args))
    dynamic = [(i, arg) for i, arg in enumerate(args) if i not in static]
    names, numbers = [], []
    for i, arg in dynamic:
        own = leaf_names(heads[i], arg)
        names += own
        numbers += [i] * len(own)
    _check_arguments(names, tree_util.tree_leaves([arg for _, arg in dynamic]), sizes)
    with is_planning(True):
        traced = jax.jit(function, keep_unused=True, static_argnums=tuple(static)).trace(*args)
        lowered = traced.lower()
    avals = tree_util.tree_leaves(lowered.args_info)
    results = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in traced.jaxpr.out_avals]
    head = result_head([heads[i] for i, _ in dynamic])
    made = Export(
        "", names, avals, tree_util.tree_structure(tuple(arg for _, arg in dynamic)), leaf_names(head, lowered.out_info),
        results, tree_util.tree_structure(lowered.out_info), heads,
    )
    kinds = [[(n, (a.shape, a.dtype)) for n, a in zip(*pair)] for pair in ((names, avals), (made.result_names, made.result_avals))]
    updates = updated_arguments(kinds[0], [i for i, n in enumerate(numbers) if n in donated], kinds[1])
    module = lowered.compiler_ir("stablehlo").operation.clone()  # JAX keeps and reuses the module itself
    roles = by_role(params, state, numbers, names)
    _annotate(module, made, roles, lambda n, a, r: _pins(pin, n, a, r, sizes), updates)
    made.text = module.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return made
