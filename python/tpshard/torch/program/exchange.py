"""Collectives of a per-device program on tensors of PyTorch.

Each takes the number of devices of a group and the name of its process group, as
torch.ops._c10d_functional does, so that a graph with them can be compiled. A dimension is that of
StableHLO: parts of the devices follow each other along it.

Each consists of a start, which returns at once, and an end, which waits for what the start returned.
"""
import torch

_BACK = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_BITS = {torch.float32: torch.int32, torch.float64: torch.int64}
# Libraries of collectives lack these types; where values only move, their bytes do.
_BYTES = (torch.bool, torch.float8_e4m3fn, torch.float8_e5m2, torch.int16, torch.uint16, torch.uint32, torch.uint64)
# Sums of these are made in 64 bits.
_SUMMED = (torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32)
_BITWISE = {"and": "band", "or": "bor", "xor": "bxor"}


def _ops():
    return torch.ops._c10d_functional


# ---- values that only move ----


def _plain(x):
    """Returns the tensor in a type that every library moves."""
    x = x.contiguous()
    if x.is_complex():
        return torch.view_as_real(x).contiguous()
    if x.dtype not in _BYTES:
        return x
    if x.element_size() == 1:
        return x.view(torch.uint8)
    # a dimension of bytes at the end
    return (x.reshape(1) if x.dim() == 0 else x.unsqueeze(-1)).view(torch.uint8)


def _plain_shape(shape, dtype):
    if dtype.is_complex:
        return (*shape, 2)
    return (*shape, dtype.itemsize) if dtype in _BYTES and dtype.itemsize > 1 else tuple(shape)


def _from_plain(y, dtype):
    if dtype.is_complex:
        return torch.view_as_complex(y.contiguous())
    if dtype not in _BYTES:
        return y
    if dtype.itemsize == 1:
        return y.view(dtype)
    return y.contiguous().view(dtype).squeeze(-1)


def _start_all_gather(x, dim, size, group):
    return _ops().all_gather_into_tensor(_plain(x).unsqueeze(0), size, group)


def _end_all_gather(found, shape, dtype, dim, size, group):
    # device, ...: the device becomes the major part of the dimension
    return _from_plain(found.movedim(0, dim).flatten(dim, dim + 1).contiguous(), dtype)


def _start_all_to_all(x, split, concat, size, group):
    parts = _plain(x).unflatten(split, (size, -1)).movedim(split, 0).contiguous()
    return _ops().all_to_all_single(parts, [1] * size, [1] * size, group)


def _end_all_to_all(found, shape, dtype, split, concat, size, group):
    return _from_plain(found.movedim(0, concat).flatten(concat, concat + 1).contiguous(), dtype)


def _start_permute(x, source, target, size, group):
    flat = _plain(x).reshape(-1)
    sent = [flat.numel() if k == target else 0 for k in range(size)]
    got = [flat.numel() if k == source else 0 for k in range(size)]
    return _ops().all_to_all_single(flat if target is not None else flat[:0], got, sent, group)


def _end_permute(found, shape, dtype, source, target, size, group):
    if source is None:
        return torch.zeros(shape, dtype=dtype, device=found.device)
    return _from_plain(found.reshape(_plain_shape(shape, dtype)), dtype)


# ---- reductions ----


def _flipped(y):
    return torch.where(y < 0, y ^ torch.iinfo(y.dtype).max, y)


def _ordered(x, op):
    """Returns integers that are ordered as the floats are, NaN before all others. Libraries of collectives may drop NaN
    in a maximum or a minimum."""
    wide = x.to(_BACK.get(x.dtype, x.dtype))
    nan = torch.full_like(wide, float("nan"))
    wide = torch.where(wide.isnan(), nan.abs() if op == "max" else -nan.abs(), wide)
    return _flipped(wide.view(_BITS[wide.dtype]))


def _reduced(x, op):
    """Returns (tensor, name of the reduction), which every library has."""
    if x.dtype == torch.bool:
        return x.to(torch.uint8), {"sum": "max", "or": "max", "max": "max", "product": "min", "and": "min", "min": "min"}[op]
    if op in ("max", "min") and x.dtype.is_floating_point:
        return _ordered(x, op), op
    if x.is_complex():
        return torch.view_as_real(x), op
    return x.to(torch.int64) if x.dtype in _SUMMED else x, _BITWISE.get(op, op)


def _from_reduced(y, op, dtype):
    if op in ("max", "min") and dtype.is_floating_point:
        return _flipped(y).view(_BACK.get(dtype, dtype)).to(dtype)
    if dtype.is_complex:
        return torch.view_as_complex(y.contiguous())
    return y.to(dtype)


def _start_all_reduce(x, op, size, group):
    made, name = _reduced(x, op)
    return _ops().all_reduce(made.contiguous(), name, group)


def _end_all_reduce(found, shape, dtype, op, size, group):
    return _from_reduced(found, op, dtype)


def _start_reduce_scatter(x, op, dim, size, group):
    made, name = _reduced(x, op)
    parts = made.unflatten(dim, (size, -1)).movedim(dim, 0).contiguous()
    return _ops().reduce_scatter_tensor(parts, name, size, group)


def _end_reduce_scatter(found, shape, dtype, op, dim, size, group):
    return _from_reduced(found.squeeze(0), op, dtype)


# ---- collectives ----

_PARTS = {
    "all_gather": (_start_all_gather, _end_all_gather),
    "all_reduce": (_start_all_reduce, _end_all_reduce),
    "all_to_all": (_start_all_to_all, _end_all_to_all),
    "permute": (_start_permute, _end_permute),
    "reduce_scatter": (_start_reduce_scatter, _end_reduce_scatter),
}


def start(x, kind, *others):
    """Starts a collective of one kind, with its other arguments, and returns what `end` takes."""
    return _PARTS[kind][0](x, *others)


def end(started, kind, shape, dtype, *others):
    """Waits for a collective and returns its result. shape, dtype: of the tensor that it was started with."""
    return _PARTS[kind][1](_ops().wait_tensor(started), shape, dtype, *others)


def all_gather(x, dim, size, group):
    return end(start(x, "all_gather", dim, size, group), "all_gather", x.shape, x.dtype, dim, size, group)


def all_reduce(x, op, size, group):
    return end(start(x, "all_reduce", op, size, group), "all_reduce", x.shape, x.dtype, op, size, group)


def reduce_scatter(x, op, dim, size, group):
    return end(start(x, "reduce_scatter", op, dim, size, group), "reduce_scatter", x.shape, x.dtype, op, dim, size, group)


def all_to_all(x, split, concat, size, group):
    """Part k of dimension `split` goes to device k; those that come are joined along `concat`."""
    return end(start(x, "all_to_all", split, concat, size, group), "all_to_all", x.shape, x.dtype, split, concat, size, group)


def permute(x, source, target, size, group):
    """Sends the tensor to device `target` of the group, and returns that of `source`; None is nobody, whose
    tensor is zeros."""
    return end(start(x, "permute", source, target, size, group), "permute", x.shape, x.dtype, source, target, size, group)


KINDS = {all_gather: "all_gather", all_reduce: "all_reduce", all_to_all: "all_to_all", permute: "permute", reduce_scatter: "reduce_scatter"}
