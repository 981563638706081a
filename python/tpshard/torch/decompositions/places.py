"""Operations that read and write elements at places given by numbers."""
import torch

aten = torch.ops.aten


def _counted_from_the_front(op):
    """torch-mlir runs out of memory where a dimension is negative, and has no numbers without dimensions."""

    def made(x, dim, *others, **named):
        if x.dim() == 0:
            others = [y.reshape(1) if isinstance(y, torch.Tensor) else y for y in others]
            return op(x.reshape(1), 0, *others, **named).reshape(())
        return NotImplemented if dim >= 0 else op(x, dim + x.dim(), *others, **named)

    return made


def _index_put(x, indices, values, accumulate=False):
    """torch-mlir leaves places out whose numbers count from the end, and makes a shape of a mask."""
    if any(i is not None and i.dtype == torch.bool for i in indices):
        if len(indices) > 1 or accumulate or values.numel() > 1:
            return NotImplemented
        (mask,) = indices
        return torch.where(mask.reshape([*mask.shape] + [1] * (x.dim() - mask.dim())), values.reshape(()), x)
    at = [d for d, i in enumerate(indices) if i is not None]
    wrapped = [torch.where(indices[d] < 0, indices[d] + x.shape[d], indices[d]) for d in at]
    rest = [d for d in range(x.dim()) if d not in at]
    shape = torch.broadcast_shapes(*(i.shape for i in wrapped))
    # where values have the dimensions of the indices: in front, if others are between those that are indexed
    first = at[0] if at == list(range(at[0], at[0] + len(at))) else 0
    sizes = [x.shape[d] for d in rest]
    values = values.expand([*sizes[:first], *shape, *sizes[first:]])
    if not shape:
        wrapped, values, shape = [i.unsqueeze(0) for i in wrapped], values.unsqueeze(first), (1,)
    values = values.movedim(list(range(first, first + len(shape))), list(range(len(shape))))
    made = aten._unsafe_index_put.default(x.permute(at + rest), wrapped, values, accumulate)
    return made.permute([(at + rest).index(d) for d in range(x.dim())])


def _index(x, indices):
    """torch-mlir lacks indices of other types."""
    if all(i is None or i.dtype in (torch.int64, torch.bool) for i in indices):
        return NotImplemented
    return aten.index.Tensor(x, [i if i is None or i.dtype == torch.bool else i.to(torch.int64) for i in indices])


def _unsafe_index_put(x, indices, values, accumulate=False):
    """What _index_put makes, which torch-mlir has with indices for the first dimensions."""
    return _index_put(x, indices, values, accumulate) if any(i is None for i in indices) else NotImplemented


def _pad(x, padding, value=0):
    """torch-mlir adds nothing where another number is negative, which cuts."""
    if min(padding, default=0) >= 0:
        return NotImplemented
    for k in range(0, len(padding), 2):
        cut = [max(-n, 0) for n in padding[k : k + 2]]
        d = x.dim() - 1 - k // 2
        x = x.narrow(d, cut[0], x.shape[d] - sum(cut))
    padding = [max(n, 0) for n in padding]
    return aten.constant_pad_nd.default(x, padding, value) if any(padding) else x.clone()


def _scatter_reduce(x, dim, index, source, *, reduce):
    name = {"add": "sum", "multiply": "prod"}[reduce]
    return aten.scatter_reduce.two(x, dim, index, source, name)


def _scatter_value(x, dim, index, value, *, reduce):
    return _scatter_reduce(x, dim, index, torch.full(index.shape, value, dtype=x.dtype, device=x.device), reduce=reduce)


def _index_reduce(x, dim, index, source, reduce, *, include_self=True):
    if x.dim() == 0 or reduce == "mean" and not x.is_floating_point():
        return NotImplemented
    shape = [1] * x.dim()
    shape[dim] = -1
    return aten.scatter_reduce.two(x, dim % x.dim(), index.reshape(shape).expand(source.shape), source, reduce, include_self=include_self)


def _put(x, index, source, accumulate=False):
    return _index_put(x.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate).reshape(x.shape)


def _as_strided(x, size, stride, storage_offset=None):
    """Elements by their places, of a tensor that fills its memory. Of others it is not known here what lies between."""
    if not x.is_contiguous() or x.storage_offset() != 0:
        return NotImplemented
    place = torch.full((), storage_offset or 0, dtype=torch.int64, device=x.device)
    for n, step in zip(size, stride):
        place = place.unsqueeze(-1) + torch.arange(n, device=x.device) * step
    return x.reshape(-1)[place]


def _masked_scatter_backward(gradient, mask, shape):
    """The k-th element that was taken gets what comes from behind at the k-th place of the mask."""
    mask = mask.expand(gradient.shape).reshape(-1)
    n = torch.Size(shape).numel()
    taken = torch.where(mask, gradient.reshape(-1), torch.zeros((), dtype=gradient.dtype, device=gradient.device))
    place = (mask.to(torch.int64).cumsum(0) - 1).clamp(0, n - 1)
    return torch.zeros(n, dtype=gradient.dtype, device=gradient.device).scatter_add(0, place, taken).reshape(shape)


TABLE = {
    aten.put.default: _put,
    aten.as_strided.default: _as_strided,
    aten.masked_scatter_backward.default: _masked_scatter_backward,
    aten.gather.default: _counted_from_the_front(aten.gather.default),
    aten.scatter.reduce: _scatter_reduce,
    aten.scatter.value_reduce: _scatter_value,
    aten.index_reduce.default: _index_reduce,
    aten.index.Tensor: _index,
    aten.index_put.default: _index_put,
    aten._unsafe_index_put.default: _unsafe_index_put,
    aten.constant_pad_nd.default: _pad,
    **{op: _counted_from_the_front(op) for op in (aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_reduce.two)},
}
