"""Reads and writes at positions that are values."""
import torch

from .attributes import array, number, numbers
from .elementwise import FEW, in_order, out_of_order
from .graph import builder, refuse
from .reductions import REDUCTIONS, body_op


@builder("stablehlo.gather")
def _gather(g, op, operands, types, known):
    text, (x, at) = str(op.attributes["dimension_numbers"]), operands
    names = ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map")
    dims = {name: numbers(text, name) for name in names}
    dims["index_vector_dim"] = number(text, "index_vector_dim")
    return g.call(_gathered, x.node, at.node, list(types[0][0]), array(op, "slice_sizes"), dims)


def _index_parts(at, dims, shape, batch_dims, limits):
    """Returns {dimension of the operand: positions}, which spread to `shape`, whose dimensions `batch_dims` are
    those of the indices. Starts are clamped to `limits`, or left if these are None."""
    vector, at = dims["index_vector_dim"], at.to(torch.int64)
    of_indices = [d for d in range(at.dim()) if d != vector]
    at = at.unsqueeze(-1) if vector == at.dim() else at.movedim(vector, -1)
    view, parts = [1] * len(shape), {}
    for d in batch_dims:
        view[d] = shape[d]
    for k, d in enumerate(dims["start_index_map"]):
        start = at[..., k]
        parts[d] = (start.clamp(0, limits[d]) if limits else start).reshape(view)
    for d, of in zip(dims["operand_batching_dims"], dims["start_indices_batching_dims"]):
        parts[d] = _along(batch_dims[of_indices.index(of)], shape, at.device)
    return parts


def _along(d, shape, device):
    """Returns the positions along a dimension, which spread to `shape`."""
    return torch.arange(shape[d], device=device).reshape([n if i == d else 1 for i, n in enumerate(shape)])


def _offsets(parts, kept, window_dims, shape, device):
    """Adds the positions within a window. `kept` are the dimensions of the operand that have one in the result,
    `window_dims` these, in order."""
    for d, of in zip(kept, window_dims):
        parts[d] = parts.get(d, 0) + _along(of, shape, device)
    return parts


def _gathered(x, at, shape, sizes, dims):
    offset_dims = dims["offset_dims"]
    batch_dims = [d for d in range(len(shape)) if d not in offset_dims]
    gone = dims["collapsed_slice_dims"] + dims["operand_batching_dims"]
    mapped = dims["start_index_map"]
    if len(mapped) == 1 and gone == mapped and offset_dims == sorted(offset_dims) and not any(s == 0 for s in x.shape):
        whole = all(sizes[d] == n for d, n in enumerate(x.shape) if d != mapped[0])
        if whole:  # rows, as of an embedding
            rows = at.reshape([shape[d] for d in batch_dims]).to(torch.int64).clamp(0, x.shape[mapped[0]] - 1)
            found = x.movedim(mapped[0], 0)[rows]
            order = batch_dims + offset_dims
            return found.permute([order.index(d) for d in range(len(shape))])
    limits = [n - s for n, s in zip(x.shape, sizes)]
    parts = _index_parts(at, dims, shape, batch_dims, limits)
    kept = [d for d in range(x.dim()) if d not in gone]
    parts = _offsets(parts, kept, offset_dims, shape, x.device)
    for d in range(x.dim()):
        parts.setdefault(d, torch.zeros([1] * len(shape), dtype=torch.int64, device=x.device))
    return x[tuple(parts[d] for d in range(x.dim()))].expand(shape) if x.dim() else x.expand(shape)


@builder("stablehlo.dynamic_slice")
def _dynamic_slice(g, op, operands, types, known):
    sizes, node = array(op, "slice_sizes"), operands[0].node
    for d, (size, n) in enumerate(zip(sizes, operands[0].shape)):
        if size != n:
            node = g.call(_taken, node, operands[1 + d].node, d, size)
    return node


def _at(start, n, size):
    return start.to(torch.int64).clamp(0, n - size) + torch.arange(size, device=start.device)


def _taken(x, start, d, size):
    return x.index_select(d, _at(start, x.shape[d], size))


@builder("stablehlo.dynamic_update_slice")
def _dynamic_update(g, op, operands, types, known):
    x, part = operands[:2]
    return g.call(_updated, x.node, part.node, [v.node for v in operands[2:]])


def _updated(x, part, starts):
    dims = [d for d in range(x.dim()) if part.shape[d] != x.shape[d]]
    if not dims:
        return part
    if len(dims) == 1:
        return x.index_copy(dims[0], _at(starts[dims[0]], x.shape[dims[0]], part.shape[dims[0]]), part)
    at = []
    for d in range(x.dim()):
        view = [1] * x.dim()
        view[d] = part.shape[d]
        at.append(_at(starts[d], x.shape[d], part.shape[d]).reshape(view))
    return x.index_put(tuple(at), part)


@builder("stablehlo.scatter")
def _scatter(g, op, operands, types, known):
    text, block = str(op.attributes["scatter_dimension_numbers"]), op.regions[0].blocks[0]
    if len(operands) != 3:
        refuse(op, "of several operands is not translated to PyTorch")
    body, ends = body_op(block), list(block.operations)[-1].operation.operands
    if body not in REDUCTIONS and not (len(list(block.operations)) == 1 and ends[0] == block.arguments[1]):
        refuse(op, "has a body of several ops, which is not translated to PyTorch")
    names = ("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims")
    of = {name: numbers(text, name) for name in names}
    dims = {
        "index_vector_dim": number(text, "index_vector_dim"), "start_index_map": of["scatter_dims_to_operand_dims"],
        "operand_batching_dims": of["input_batching_dims"], "start_indices_batching_dims": of["scatter_indices_batching_dims"],
        "window": of["update_window_dims"], "gone": of["inserted_window_dims"] + of["input_batching_dims"],
    }
    return g.call(_scattered, *(v.node for v in operands), dims, body)


def _to_int64(x):
    return x.to(torch.int64)


# {op of a body: reduction of Tensor.scatter_reduce}
SCATTERS = {"stablehlo.add": "sum", "stablehlo.multiply": "prod", "stablehlo.maximum": "amax", "stablehlo.minimum": "amin"}


def _scattered(x, at, updates, dims, name):
    if x.dtype in FEW and name is not None:
        to, back = (in_order, out_of_order) if name in ("stablehlo.maximum", "stablehlo.minimum") else (_to_int64, torch.Tensor.to)
        return back(_scattered(to(x), at, to(updates), dims, name), x.dtype)
    shape = list(updates.shape)
    batch_dims = [d for d in range(len(shape)) if d not in dims["window"]]
    parts = _index_parts(at, dims, shape, batch_dims, None)
    kept = [d for d in range(x.dim()) if d not in dims["gone"]]
    window = [shape[d] for d in dims["window"]]
    # a window that does not lie inside as a whole is left out
    inside = torch.ones([1] * len(shape), dtype=torch.bool, device=x.device)
    for d in dims["start_index_map"]:
        size = window[kept.index(d)] if d in kept else 1
        inside = inside & (parts[d] >= 0) & (parts[d] <= x.shape[d] - size)
    parts = _offsets(parts, kept, dims["window"], shape, x.device)
    flat, factor = torch.zeros([1] * len(shape), dtype=torch.int64, device=x.device), 1
    for d in reversed(range(x.dim())):
        flat, factor = flat + parts.get(d, 0) * factor, factor * x.shape[d]
    n = x.numel()
    flat = torch.where(inside, flat, n).expand(shape).reshape(-1)
    is_bool = x.dtype == torch.bool
    held = torch.cat([x.reshape(-1), x.new_zeros(1)])
    given = updates.reshape(-1)
    if is_bool:
        held, given = held.to(torch.uint8), given.to(torch.uint8)
        name = {"stablehlo.or": "stablehlo.maximum", "stablehlo.and": "stablehlo.minimum", "stablehlo.add": "stablehlo.maximum", "stablehlo.multiply": "stablehlo.minimum"}.get(name, name)
    if name is None:
        made = held.scatter(0, flat, given)
    elif name == "stablehlo.add":
        made = held.index_add(0, flat, given)
    elif name in SCATTERS:
        made = held.scatter_reduce(0, flat, given, SCATTERS[name], include_self=True)
    else:
        raise NotImplementedError("scatter by %s of %s" % (name, x.dtype))
    return made[:n].reshape(x.shape).to(x.dtype)
