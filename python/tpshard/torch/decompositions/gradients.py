"""Other gradients."""
import torch
from torch.nn import functional


def _diagonal_backward(gradient, shape, offset, dim1, dim2):
    """A matrix that is 0 beside the diagonal, by a mask."""
    rows, columns = (torch.arange(shape[d], device=gradient.device) for d in (dim1, dim2))
    # an element of the diagonal for each row, or for each column if the diagonal begins in a row below the first one
    n = shape[dim1] if offset >= 0 else shape[dim2]
    values = functional.pad(gradient, (0, n - gradient.shape[-1]))
    values = values.unsqueeze(-1 if offset >= 0 else -2)
    mask = columns - rows.unsqueeze(-1) == offset
    made = torch.where(mask, values, torch.zeros((), dtype=gradient.dtype, device=gradient.device))
    return made.movedim((-2, -1), (dim1, dim2))


def _weight_norm_backward(gradient, direction, length, norms, dim):
    others = [d for d in range(direction.dim()) if d != dim]
    along = (gradient * direction).sum(others, keepdim=True)
    norms = norms.reshape(along.shape)
    scale = length.reshape(along.shape) / norms
    return scale * (gradient - direction * along / norms**2), (along / norms).reshape(length.shape)


TABLE = {
    torch.ops.aten._weight_norm_interface_backward.default: _weight_norm_backward,
    torch.ops.aten.diagonal_backward.default: _diagonal_backward,
}
