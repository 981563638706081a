"""PartitionSpec to tp.sharding and back.

A layout here is a list with one list of axes for each dimension, major to minor. "?" at the end of
a list leaves the dimension open; "tp:(1)2" is a part of an axis.
"""
import json
import re

from jax.sharding import PartitionSpec as P

from ..errors import Error
from ._names import suggestion


def mesh_sizes(mesh):
    """Returns {axis: size} of a dict or of a mesh of JAX."""
    sizes = dict(getattr(mesh, "shape", mesh))
    for name, size in sizes.items():
        if not isinstance(name, str) or not re.fullmatch(r"[^\s=,:'\"{}?]+", name) or int(size) < 1:
            raise ValueError(
                "mesh: axis %r has size %r; give positive sizes, and names without spaces and punctuation" % (name, size)
            )
    if not sizes:
        raise ValueError("mesh: there are no axes; give one such as {\"tp\": 4}")
    return {name: int(size) for name, size in sizes.items()}


def layout_of(spec, rank, sizes, name):
    """Returns the layout of a PartitionSpec for a value of this rank. A list is a layout already."""
    if isinstance(spec, list):
        layout = [list(axes) for axes in spec]
    else:
        entries = list(spec) if spec is not None else []
        layout = [
            ["?"] if e is P.UNCONSTRAINED else [] if e is None else [e] if isinstance(e, str) else list(e) for e in entries
        ]
    if len(layout) > rank:
        raise ValueError("pin of \"%s\": %s has %d entries, but the value has %d dimensions" % (name, spec, len(layout), rank))
    for axis in (a for axes in layout for a in axes):
        if axis != "?" and axis.split(":")[0] not in sizes:
            raise ValueError("pin of \"%s\": the mesh has no axis \"%s\"%s" % (name, axis, suggestion(axis, list(sizes))))
    return layout + [[] for _ in range(rank - len(layout))]


def attribute(layout):
    """Returns tp.sharding as text."""
    return json.dumps(layout)


def partition_spec(entry, name, rank):
    """Returns the PartitionSpec of an argument or result of the report. Raises `Error` if it has
    none: for a part of an axis, and for partial sums."""
    if entry["is_partial"]:
        raise Error("\"%s\" has the layout %s, and a PartitionSpec cannot say partial sums; pin it" % (name, entry["sharding"]))
    for axis in (a for axes in entry["dims"] for a in axes):
        if ":" in axis:
            raise Error(
                "\"%s\" has the layout %s, and a PartitionSpec cannot name a part of an axis; split axis \"%s\" of the mesh "
                "into two axes, or pin \"%s\"" % (name, entry["sharding"], axis.split(":")[0], name)
            )
    dims = entry["dims"][:rank]
    return P(*(None if not axes else axes[0] if len(axes) == 1 else tuple(axes) for axes in dims))


def uneven(entry, sizes):
    """Returns (dimension, its size, number of parts) of the first dimension that its axes do not
    divide, or None."""
    for d, axes in enumerate(entry["dims"]):
        parts = 1
        for axis in axes:
            name, _, part = axis.partition(":")
            parts *= int(part.partition(")")[2]) if part else sizes[name]
        if entry["shape"][d] % parts:
            return d, entry["shape"][d], parts
    return None
