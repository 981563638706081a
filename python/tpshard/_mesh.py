"""Axes of a mesh and their sizes."""
import numbers
import re

MAX_AXES = 8  # TP_MAX_AXES of include/tp/mesh.h


_NO_NAME = r"[\s=,:'\"{}()?]"


def _other_name(name):
    """Returns the message about a name that no axis may have."""
    if not name:
        return 'mesh: the name of an axis is empty; give one, such as {"tp": 4}'
    found = re.search(_NO_NAME, name).group()
    return "mesh: the name of an axis, %r, has %r in it; write for example %r" % (name, found, re.sub(_NO_NAME + "+", "_", name))


def mesh_sizes(axes, other):
    """Returns {axis: size} of a dict of axes. `other` says what else may be given, for a message."""
    if not hasattr(axes, "items"):
        raise TypeError("mesh: is %r; give axes with their sizes, such as {\"tp\": 4}, or %s" % (axes, other))
    sizes = dict(axes)
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, numbers.Integral):
            what = "text" if isinstance(size, str) else "no whole number"
            raise TypeError("mesh: axis %r has size %r, which is %s; give a whole number, such as {%r: 4}" % (name, size, what, name))
        if not isinstance(name, str):
            raise TypeError("mesh: %r is no name of an axis; give text, such as {\"tp\": 4}" % (name,))
        if not name or re.search(_NO_NAME, name):
            raise ValueError(_other_name(name))
        if size < 1:
            raise ValueError("mesh: axis %r has size %r; give 1 or more, such as {%r: 1} for an axis that splits nothing" % (name, size, name))
    if len(sizes) > MAX_AXES:
        raise ValueError("mesh: has %d axes; at most %d are possible" % (len(sizes), MAX_AXES))
    if not sizes:
        raise ValueError("mesh: there are no axes; give one such as {\"tp\": 4}")
    return {name: int(size) for name, size in sizes.items()}
