"""Lowers a function to StableHLO in generic form, with names, roles and pins on its arguments and
results."""
import dataclasses
import typing

import jax
import jax.export
from jax import tree_util
from jaxlib.mlir import ir

from ..errors import a_type
from ._names import leaf_names, matches, parameter_names, result_head, updated_arguments
from ._specs import attribute, layout_of

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


def _by_role(params, state, numbers, names):
    """Returns {leaf: role}. `numbers` has the number of the argument of each leaf."""
    roles = {}
    for role, what, chosen in (("param", "params", params), ("state", "state", state)):
        if chosen is not None and (isinstance(chosen, bool) or not isinstance(chosen, (str, int, list, tuple, set))):
            raise TypeError("%s: is %s; give a pattern, the number of an argument, or a list of these" % (what, a_type(chosen)))
        for pattern in [chosen] if isinstance(chosen, (str, int)) else chosen or ():
            if isinstance(pattern, int):
                found = [i for i, n in enumerate(numbers) if n == pattern]
                if not found:
                    raise ValueError("%s: there is no argument %d with leaves" % (what, pattern))
            else:
                found = matches(pattern, names, what)
            both = [names[i] for i in found if roles.get(i, role) != role]
            if both:
                raise ValueError('params and state both have "%s"; an argument is one of them' % both[0])
            roles.update(dict.fromkeys(found, role))
    return roles


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


def _write(func, kind, rows):
    """Adds attributes to arguments or results: rows has a dict for each."""
    old = func.attributes[kind] if kind in func.attributes else [{}] * len(rows)
    made = []
    for before, new in zip(old, rows):
        kept = {a.name: a.attr for a in before if not a.name.startswith("tf.")} if len(before) else {}
        made.append(ir.DictAttr.get({**kept, **new}))
    func.attributes[kind] = ir.ArrayAttr.get(made)


def _annotate(module, export, roles, pins, updates):
    with module.context:
        func = next(op for op in module.regions[0].blocks[0].operations if str(op.attributes["sym_name"]) == '"main"')
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
        rows = []
        for i, name in enumerate(names):
            row = {"tp.name": ir.StringAttr.get(name)}
            if i in layouts:
                row["tp.sharding"] = ir.Attribute.parse(attribute(layouts[i]))
            rows.append(row)
        for i, role in roles.items():
            rows[i]["tp.role"] = ir.StringAttr.get(role)
        n = len(export.names)
        for result, argument in updates.items():
            rows[n + result]["tp.updates"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), argument)
        _write(func, "arg_attrs", rows[:n])
        _write(func, "res_attrs", rows[n:])


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
    roles = _by_role(params, state, numbers, names)
    _annotate(module, made, roles, lambda n, a, r: _pins(pin, n, a, r, sizes), updates)
    made.text = module.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return made
