"""Layouts of arguments and results.

A layout is a list with one list of axes for each dimension, major to minor. "?" at the end of
a list leaves the dimension open; "tp:(1)2" is a part of an axis.
"""
import json

from ._names import suggestion


def checked_layout(layout, given, rank, sizes, name):
    """Returns a layout that a user gave for the value `name` with an entry for each of its dimensions.
    `given` is what the user wrote. Raises ValueError for a layout that no value of this rank has on a
    mesh of these sizes."""
    if len(layout) > rank:
        raise ValueError("pin of \"%s\": %s has %d entr%s, but the value has %d dimension%s" % (name, given, len(layout), "y" if len(layout) == 1 else "ies", rank, "" if rank == 1 else "s"))
    for axis in (a for axes in layout for a in axes):
        if axis != "?" and axis.split(":")[0] not in sizes:
            raise ValueError("pin of \"%s\": the mesh has no axis \"%s\"%s" % (name, axis, suggestion(axis, list(sizes))))
    names = [a for axes in layout for a in axes if a != "?" and ":" not in a]
    for axis in names:
        if names.count(axis) > 1:
            raise ValueError("pin of \"%s\": %s has axis \"%s\" twice; an axis splits one dimension" % (name, given, axis))
    return layout + [[] for _ in range(rank - len(layout))]


def attribute(layout):
    """Returns tp.sharding as text."""
    return json.dumps(layout)
