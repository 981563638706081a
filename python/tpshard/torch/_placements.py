"""Placements of DTensor to layouts (_layouts.py) and back. There is one placement for each axis of the
mesh, in its order."""
import torch
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.placement_types import Placement

from .. import _mesh
from .._layouts import checked_layout
from ..errors import Error


def mesh_sizes(mesh):
    """Returns {axis: size} of a dict or of a DeviceMesh, whose dimensions have names."""
    if isinstance(mesh, torch.distributed.device_mesh.DeviceMesh):
        if not mesh.mesh_dim_names:
            raise ValueError("mesh: the dimensions of this DeviceMesh have no names; give mesh_dim_names, such as (\"dp\", \"tp\"), to init_device_mesh")
        mesh = dict(zip(mesh.mesh_dim_names, mesh.mesh.shape))
    return _mesh.mesh_sizes(mesh, "a DeviceMesh of PyTorch")


def _of_placements(given, rank, sizes, name):
    """Returns the layout of placements."""
    if len(given) != len(sizes):
        axes = ", ".join(sizes)
        raise ValueError('pin of "%s": has %d placement%s, but the mesh has %d ax%s: %s' % (name, len(given), "s" * (len(given) != 1), len(sizes), "is" if len(sizes) == 1 else "es", axes))
    layout = [[] for _ in range(rank)]
    for axis, placement in zip(sizes, given):
        if isinstance(placement, Replicate):
            continue
        if type(placement) is not Shard:
            raise TypeError('pin of "%s": has the placement %r; there are Shard(dim) and Replicate()' % (name, placement))
        if not -rank <= placement.dim < rank:
            raise ValueError('pin of "%s": Shard(%d), but the value has %d dimension%s' % (name, placement.dim, rank, "" if rank == 1 else "s"))
        layout[placement.dim].append(axis)
    return layout


def layout_of(given, rank, sizes, name):
    """Returns the layout that a user pins the value `name` to: placements, or an entry for each dimension,
    which is None, the name of an axis, "?" (open), or a list of names."""
    example = 'such as [Shard(0), Replicate()], or ("tp", None) with an entry for each dimension'
    if isinstance(given, Placement):
        raise TypeError('pin of "%s": is one placement; give a list with one for each axis of the mesh, %s' % (name, example))
    if not isinstance(given, (list, tuple)):
        raise TypeError('pin of "%s": is %r; give placements, %s' % (name, given, example))
    if given and all(isinstance(entry, Placement) for entry in given):
        return _of_placements(given, rank, sizes, name)
    layout = []
    for entry in given:
        axes = [] if entry is None else [entry] if isinstance(entry, str) else entry
        if not isinstance(axes, (list, tuple)) or not all(isinstance(axis, str) for axis in axes):
            raise TypeError('pin of "%s": has the entry %r; give placements, %s' % (name, entry, example))
        layout.append(list(axes))
    return checked_layout(layout, given, rank, sizes, name)


def placements_of(entry, sizes):
    """Returns the placements of an argument or a result of the report, a tuple. Raises `Error` if
    DTensor has none."""
    name, dims = entry["name"], entry["dims"]
    what = '"%s" has the layout %s, and placements of DTensor cannot say ' % (name, entry["sharding"])
    if entry["is_partial"]:
        raise Error(what + "partial sums of a plan; pin it")
    order, found = list(sizes), dict.fromkeys(sizes, Replicate())
    for d, axes in enumerate(dims):
        for axis in axes:
            if ":" in axis:
                raise Error(what + "a part of an axis; split axis \"%s\" of the mesh into two axes, or pin it" % axis.split(":")[0])
            found[axis] = Shard(d)
        if [order.index(axis) for axis in axes] != sorted(order.index(axis) for axis in axes):
            raise Error(what + "another order of the axes of a dimension than that of the mesh; pin it")
    return tuple(found.values())
