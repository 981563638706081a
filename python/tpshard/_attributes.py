"""Attributes of arguments and results of a program: names, layouts, roles, and which result is the new
value or the gradient of which argument."""
from ._names import matches
from .errors import a_type


def by_role(params, state, numbers, names):
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


def main_of(module):
    """Returns the function main of a module (an operation)."""
    return next(op for op in module.regions[0].blocks[0].operations if str(op.attributes["sym_name"]) == '"main"')


def _write(ir, func, kind, rows):
    """Adds attributes to arguments or results: rows has a dict for each."""
    old = func.attributes[kind] if kind in func.attributes else [{}] * len(rows)
    made = []
    for before, new in zip(old, rows):
        kept = {a.name: a.attr for a in before if not a.name.startswith("tf.")} if len(before) else {}
        made.append(ir.DictAttr.get({**kept, **new}))
    func.attributes[kind] = ir.ArrayAttr.get(made)


def annotate(ir, func, names, result_names, roles, layouts, updates, gradients=None):
    """Writes attributes on the arguments and results of a function.

    ir:           the bindings of MLIR that the function is of; its context must be the current one
    names, result_names: of arguments and results, in order
    roles:        {number of an argument: role}
    layouts:      {number of an argument, or of a result behind them: layout as text}
    updates:      {number of a result: that of the argument whose new value it is}
    gradients:    {number of an argument: that of the result at which it is the gradient}, and the same of results behind
                  the arguments: {number of arguments + number of a result: number of the argument whose gradient it is}
    """
    rows = [{"tp.name": ir.StringAttr.get(name)} for name in names + result_names]
    for i, layout in layouts.items():
        rows[i]["tp.sharding"] = ir.Attribute.parse(layout)
    for i, role in roles.items():
        rows[i]["tp.role"] = ir.StringAttr.get(role)
    n = len(names)
    for result, argument in updates.items():
        rows[n + result]["tp.updates"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), argument)
    for i, other in (gradients or {}).items():
        rows[i]["tp.gradient"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), other)
    _write(ir, func, "arg_attrs", rows[:n])
    _write(ir, func, "res_attrs", rows[n:])
