"""Collectives of a per-device program on tensors of PyTorch.

Each takes the number of devices of a group and the name of its process group, as
torch.ops._c10d_functional does, so that a graph with them can be compiled. A dimension is that of
StableHLO: parts of the devices follow each other along it.
"""
import torch

_BACK = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_BITS = {torch.float32: torch.int32, torch.float64: torch.int64}
# Libraries of collectives lack these types; where values only move, their bytes do.
_BYTES = (torch.bool, torch.float8_e4m3fn, torch.float8_e5m2, torch.int16, torch.uint16, torch.uint32, torch.uint64)


def _ops():
    return torch.ops._c10d_functional


def _wait(x):
    return _ops().wait_tensor(x)


def _plain(x):
    """Returns (tensor, function back) of a type that every library moves."""
    x = x.contiguous()
    if x.is_complex():
        return torch.view_as_real(x).contiguous(), lambda y: torch.view_as_complex(y.contiguous())
    if x.dtype not in _BYTES:
        return x, lambda y: y
    shape, dtype, size = x.shape, x.dtype, x.element_size()
    if size == 1 or x.dim() == 0:
        made = x.view(torch.uint8) if x.dim() > 0 or size == 1 else x.reshape(1).view(torch.uint8)
        return made, lambda y: y.view(dtype) if len(shape) > 0 or size == 1 else y.view(dtype).reshape(())
    # a dimension of bytes at the end
    made = x.unsqueeze(-1).view(torch.uint8)
    return made, lambda y: y.contiguous().view(dtype).squeeze(-1)


def all_gather(x, dim, size, group):
    moved, back = _plain(x)
    found = _wait(_ops().all_gather_into_tensor(moved.unsqueeze(0), size, group))
    # device, ...: the device becomes the major part of the dimension
    return back(found.movedim(0, dim).flatten(dim, dim + 1).contiguous())


def _ordered(x, op):
    """Returns integers that are ordered as the floats are, NaN before all others, and the function back.
    Libraries of collectives may drop NaN in a maximum or a minimum."""
    dtype, wide = x.dtype, x.to(_BACK.get(x.dtype, x.dtype))
    bits = _BITS[wide.dtype]
    nan = torch.full_like(wide, float("nan"))
    wide = torch.where(wide.isnan(), nan.abs() if op == "max" else -nan.abs(), wide)
    flip = torch.iinfo(bits).max

    def map_(y):
        return torch.where(y < 0, y ^ flip, y)

    return map_(wide.view(bits)), lambda y: map_(y).view(wide.dtype).to(dtype)


def _reduced(x, op):
    """Returns (tensor, name of the reduction, function back) for a reduction that every library has."""
    dtype = x.dtype
    if dtype == torch.bool:
        name = {"sum": "max", "or": "max", "max": "max", "product": "min", "and": "min", "min": "min"}[op]
        return x.to(torch.uint8), name, lambda y: y.to(dtype)
    if op in ("max", "min") and dtype.is_floating_point:
        made, back = _ordered(x, op)
        return made, op, back
    if x.is_complex():
        return torch.view_as_real(x), op, lambda y: torch.view_as_complex(y.contiguous())
    if dtype in (torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32):
        return x.to(torch.int64), {"and": "band", "or": "bor", "xor": "bxor"}.get(op, op), lambda y: y.to(dtype)
    return x, {"and": "band", "or": "bor", "xor": "bxor"}.get(op, op), lambda y: y


def all_reduce(x, op, size, group):
    made, name, back = _reduced(x, op)
    return back(_wait(_ops().all_reduce(made.contiguous(), name, group)))


def reduce_scatter(x, op, dim, size, group):
    made, name, back = _reduced(x, op)
    parts = made.unflatten(dim, (size, -1)).movedim(dim, 0).contiguous()
    return back(_wait(_ops().reduce_scatter_tensor(parts, name, size, group)).squeeze(0))


def all_to_all(x, split, concat, size, group):
    """Part k of dimension `split` goes to device k; those that come are joined along `concat`."""
    moved, back = _plain(x)
    parts = moved.unflatten(split, (size, -1)).movedim(split, 0).contiguous()
    found = _wait(_ops().all_to_all_single(parts, [1] * size, [1] * size, group))
    return back(found.movedim(0, concat).flatten(concat, concat + 1).contiguous())


def permute(x, source, target, size, group):
    """Sends the tensor to device `target` of the group, and returns that of `source`; None is nobody, whose
    tensor is zeros."""
    moved, back = _plain(x)
    shape, flat = moved.shape, moved.reshape(-1)
    sent = [flat.numel() if k == target else 0 for k in range(size)]
    got = [flat.numel() if k == source else 0 for k in range(size)]
    found = _wait(_ops().all_to_all_single(flat if target is not None else flat[:0], got, sent, group))
    return back(found.reshape(shape) if source is not None else torch.zeros_like(moved))
