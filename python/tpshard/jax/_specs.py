"""PartitionSpec to tp.sharding and back.

_layouts.py says what a layout is.
"""
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from .. import _mesh
from .._layouts import checked_layout
from ..errors import Error


def mesh_sizes(mesh):
    """Returns {axis: size} of a dict or of a mesh of JAX."""
    return _mesh.mesh_sizes(getattr(mesh, "shape", mesh), "a mesh of JAX")


def mesh_devices(mesh):
    """Returns the devices of a mesh of JAX as a list, in its order; None of axes without devices."""
    return list(mesh.devices.flat) if isinstance(mesh, Mesh) else None


def _axes_of(entry, name):
    """Returns the axes of one entry of a PartitionSpec."""
    if entry is P.UNCONSTRAINED:
        return ["?"]
    axes = [] if entry is None else [entry] if isinstance(entry, str) else entry
    if not isinstance(axes, (list, tuple)) or not all(isinstance(axis, str) for axis in axes):
        raise TypeError("pin of \"%s\": has the entry %r; an entry is None, the name of an axis, or several names" % (name, entry))
    return list(axes)


def layout_of(spec, rank, sizes, name):
    """Returns the layout of a PartitionSpec for a value of this rank. A list of lists is a layout already."""
    if isinstance(spec, str):
        raise TypeError("pin of \"%s\": is the text %r; give an entry for each dimension, such as P(%r, None)" % (name, spec, spec))
    is_layout = isinstance(spec, list) and all(isinstance(axes, list) for axes in spec)
    if spec is not None and not is_layout and not isinstance(spec, (P, tuple)):
        raise TypeError("pin of \"%s\": is %r; give a PartitionSpec, such as P(\"tp\", None)" % (name, spec))
    layout = [list(axes) for axes in spec] if is_layout else [_axes_of(entry, name) for entry in spec or ()]
    return checked_layout(layout, spec, rank, sizes, name)


def _check_reduced(entry, name):
    if entry["is_partial"]:
        raise Error("\"%s\" has the layout %s, and a PartitionSpec cannot say partial sums; pin it" % (name, entry["sharding"]))


def partition_spec(entry, name, rank):
    """Returns the PartitionSpec of an argument or result of the report. Raises `Error` if it has
    none: for a part of an axis, and for partial sums."""
    _check_reduced(entry, name)
    for axis in (a for axes in entry["dims"] for a in axes):
        if ":" in axis:
            raise Error(
                "\"%s\" has the layout %s, and a PartitionSpec cannot name a part of an axis; split axis \"%s\" of the mesh "
                "into two axes, or pin \"%s\"" % (name, entry["sharding"], axis.split(":")[0], name)
            )
    dims = entry["dims"][:rank]
    return P(*(None if not axes else axes[0] if len(axes) == 1 else tuple(axes) for axes in dims))


def _part(axis, sizes):
    """Returns (name, size in front of it, size) of an axis or a part of one, "tp:(1)2"."""
    name, _, part = axis.partition(":")
    if not part:
        return name, 1, sizes[name]
    before, _, size = part[1:].partition(")")
    return name, int(before), int(size)


def boundary_mesh(entries, sizes):
    """Returns {axis: [(size in front, size), ...]}: the axes of the mesh, cut where layouts name parts."""
    cuts = {name: {1, size} for name, size in sizes.items()}
    for axis in (a for e in entries for axes in e["dims"] for a in axes):
        name, before, size = _part(axis, sizes)
        cuts[name] |= {before, before * size}
    return {name: [(a, b // a) for a, b in zip(sorted(at), sorted(at)[1:])] or [(1, 1)] for name, at in cuts.items()}


def boundary_names(mesh):
    """Returns {name of an axis of `boundary_mesh`: its size}: "tp", or "tp:(1)2" of one that is cut."""
    return {
        name if len(parts) == 1 else "%s:(%d)%d" % (name, before, size): size
        for name, parts in mesh.items()
        for before, size in parts
    }


def boundary_spec(entry, rank, sizes, mesh):
    """Returns the PartitionSpec over `boundary_names` with which an argument or result crosses the
    boundary. A dimension that its axes do not divide is whole there. Raises `Error` for partial sums."""
    spec = []
    _check_reduced(entry, entry["name"])
    for d, axes in enumerate(entry["dims"][:rank]):
        names, parts = [], 1
        for axis in axes:
            name, before, size = _part(axis, sizes)
            parts *= size
            inside = [p for p in mesh[name] if before <= p[0] < before * size or p == (1, 1)]
            names += [name if len(mesh[name]) == 1 else "%s:(%d)%d" % (name, *p) for p in inside]
        spec.append(tuple(names) if names and entry["shape"][d] % parts == 0 else None)
    return P(*spec)
