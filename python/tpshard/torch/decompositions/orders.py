"""Sorts, and what depends on the order of elements."""
import math

import torch

from .numbers import log_of_sum

aten = torch.ops.aten


def _sorted(x, *, stable=None, dim=-1, descending=False):
    """torch-mlir has no sort that is said to be stable; how it writes the other one, it is."""
    return aten.sort.default(x, dim, descending)


def _largest(x, k, dim=-1, largest=True, sorted=True):
    """torch-mlir lacks the one whose order does not matter."""
    return NotImplemented if sorted else aten.topk.default(x, k, dim, largest, True)


def _place(values, index, dim, k, keepdim):
    """Returns the element at one place of a sorted dimension, and where it was."""
    values, index = values.select(dim, k), index.select(dim, k)
    return (values.unsqueeze(dim), index.unsqueeze(dim)) if keepdim else (values, index)


def _kth_value(x, k, dim=-1, keepdim=False):
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    return _place(*aten.sort.default(x, dim), dim, k - 1, keepdim)


def _median(x, dim, keepdim=False):
    """NaN is the median where it is among the elements: the last one then is."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    values, index = aten.sort.default(x, dim)
    found = _place(values, index, dim, (x.shape[dim] - 1) // 2, keepdim)
    if not x.is_floating_point():
        return found
    last = values.select(dim, -1)
    last = last.unsqueeze(dim) if keepdim else last
    first_nan = torch.argmax((x != x).to(torch.int32), dim, keepdim)
    return torch.where(last != last, last, found[0]), torch.where(last != last, first_nan, found[1])


def _median_of_all(x):
    return _median(x.reshape(-1), 0)[0]


def _moved(x, dim, by, value):
    """The elements `by` places further, behind as many of one value."""
    n = x.shape[dim]
    begin = torch.full([by if d == dim else size for d, size in enumerate(x.shape)], value, dtype=x.dtype, device=x.device)
    return torch.cat([begin, x.narrow(dim, 0, n - by)], dim)


def _steps(x, dim):
    """Distances 1, 2, 4, ...: what is combined at these covers all elements before."""
    return [1 << k for k in range(max(x.shape[dim] - 1, 0).bit_length())]


def _running_sum_of_exponents(x, dim):
    if x.dim() == 0 or not x.is_floating_point():
        return NotImplemented
    dim = dim % x.dim()
    for by in _steps(x, dim):
        x = log_of_sum(x, _moved(x, dim, by, -math.inf))
    return x


def _running_extreme(is_beyond, least):
    """The extreme of all elements up to each, and the place of the last one that is equal."""

    def made(x, dim):
        if x.dim() == 0:
            return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
        dim = dim % x.dim()
        shape = [-1 if d == dim else 1 for d in range(x.dim())]
        index = torch.arange(x.shape[dim], device=x.device).reshape(shape).expand(x.shape)
        for by in _steps(x, dim):
            before, place = _moved(x, dim, by, least(x.dtype)), _moved(index, dim, by, 0)
            # places at the begin have no elements before them
            is_first = torch.arange(x.shape[dim], device=x.device).reshape(shape) < by
            stays = is_first | is_beyond(x, before) | (x != x)
            x, index = torch.where(stays, x, before), torch.where(stays, index, place)
        return x, index

    return made


def _limit(sign):
    return lambda dtype: sign * math.inf if dtype.is_floating_point else getattr(torch.iinfo(dtype), "max" if sign > 0 else "min")


def _search_sorted(sequence, values, *, out_int32=False, right=False, side=None, sorter=None):
    """The number of elements below each value."""
    sequence = sequence if sorter is None else sequence.gather(-1, sorter)
    dtype = torch.int32 if out_int32 else torch.int64
    rows, wanted = sequence.unsqueeze(-2), values.unsqueeze(-1)
    below = rows <= wanted if right or side == "right" else rows < wanted
    if sequence.is_floating_point() and values.is_floating_point():
        below = below | (wanted != wanted) & (rows == rows) if not (right or side == "right") else below | (wanted != wanted)
    return below.sum(-1).to(dtype)


TABLE = {
    aten.sort.stable: _sorted,
    aten.topk.default: _largest,
    aten.kthvalue.default: _kth_value,
    aten.median.dim: _median,
    aten.median.default: _median_of_all,
    aten.logcumsumexp.default: _running_sum_of_exponents,
    aten.cummax.default: _running_extreme(torch.ge, _limit(-1)),
    aten.cummin.default: _running_extreme(torch.le, _limit(1)),
    aten.searchsorted.Tensor: _search_sorted,
}
