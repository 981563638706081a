"""Convolutions, pooling and other operations on windows, and their gradients."""
import torch
from torch.nn import functional

aten = torch.ops.aten


def _spread(x, steps):
    """Puts steps[d] - 1 zeros between the elements of each spatial dimension."""
    for d, step in enumerate(steps, 2):
        if step > 1:
            n = x.shape[d]
            x = functional.pad(x.unsqueeze(d + 1), (0, 0) * (x.dim() - 1 - d) + (0, step - 1))
            x = x.flatten(d, d + 1).narrow(d, 0, (n - 1) * step + 1)
    return x


def _resized(x, d, low, high):
    """Adds zeros at both ends of a dimension, or cuts it where the number is negative."""
    cut = max(-low, 0), max(-high, 0)
    x = x.narrow(d, cut[0], x.shape[d] - cut[0] - cut[1])
    padding = (0, 0) * (x.dim() - 1 - d) + (max(low, 0), max(high, 0))
    return functional.pad(x, padding) if any(padding) else x


def _gradient_of_image(gradient, weight, sizes, strides, padding, dilation, groups):
    """The gradient of the image of a convolution: a convolution of what comes from behind, spread by the strides, with the
    kernel in reverse."""
    n = len(sizes)
    x = _spread(gradient, strides)
    for d in range(n):
        reach = dilation[d] * (weight.shape[2 + d] - 1)
        low = reach - padding[d]
        x = _resized(x, 2 + d, low, sizes[d] + reach - low - x.shape[2 + d])
    kernel = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
    kernel = kernel.flip(list(range(2, 2 + n)))
    return aten.convolution(x, kernel, None, [1] * n, [0] * n, dilation, False, [0] * n, groups)


def _gradient_of_kernel(gradient, image, sizes, strides, padding, dilation, groups):
    """The gradient of the kernel of a convolution: a convolution of the image with what comes from behind, over the batch."""
    n = len(sizes)
    batch = image.shape[0]
    # feature of a group, group and batch, ...
    x = image.unflatten(1, (groups, -1)).permute(2, 1, 0, *range(3, 3 + n)).flatten(1, 2)
    kernel = gradient.transpose(0, 1)
    for d in range(n):
        used = (sizes[d] - 1) * dilation[d] + (gradient.shape[2 + d] - 1) * strides[d] + 1
        x = _resized(x, 2 + d, padding[d], used - padding[d] - x.shape[2 + d])
    assert kernel.shape[1] == batch
    return aten.convolution(x, kernel, None, dilation, [0] * n, strides, False, [0] * n, groups).transpose(0, 1)


def _convolution_backward(gradient, image, weight, bias_sizes, strides, padding, dilation, transposed, output_padding, groups, wanted):
    """torch-mlir has no gradients of convolutions in groups, and of transposed ones."""
    if groups == 1 and not transposed:
        return NotImplemented
    n = weight.dim() - 2
    strides, padding, dilation = ([x[0]] * n if len(x) == 1 else list(x) for x in (strides, padding, dilation))
    rest = strides, padding, dilation, groups
    made = [None, None, gradient.sum([0, *range(2, 2 + n)]) if wanted[2] else None]
    if transposed:  # the gradient of an image, whose gradient is the convolution
        if wanted[0]:
            made[0] = aten.convolution(gradient, weight, None, strides, padding, dilation, False, [0] * n, groups)
        if wanted[1]:
            made[1] = _gradient_of_kernel(image, gradient, weight.shape[2:], *rest)
    else:
        if wanted[0]:
            made[0] = _gradient_of_image(gradient, weight, image.shape[2:], *rest)
        if wanted[1]:
            made[1] = _gradient_of_kernel(gradient, image, weight.shape[2:], *rest)
    return tuple(made)


def _pool_counts(n, out, kernel, stride, padding, with_padding, device):
    """Returns how many elements each window of a dimension has."""
    first = torch.arange(out, device=device) * stride - padding
    last = (first + kernel).clamp(max=n + padding)
    return last - first if with_padding else last.clamp(max=n) - first.clamp(min=0)


def _average_backward(gradient, image, kernel, strides, padding, ceil_mode, with_padding, divisor=None):
    """What comes from behind, divided by the sizes of windows, spread by the strides and added up over windows."""
    n = len(kernel)
    strides, padding = strides or kernel, list(padding) * (n if len(padding) == 1 else 1)
    front = image.dim() - n  # batch and features, or only features
    if divisor is None:
        divisor = 1
        for d in range(n):
            sizes = image.shape[front + d], gradient.shape[front + d], kernel[d], strides[d], padding[d]
            counts = _pool_counts(*sizes, with_padding, gradient.device).to(gradient.dtype)
            divisor = divisor * counts.reshape([-1] + [1] * (n - 1 - d))
    x = _spread((gradient / divisor).reshape(-1, 1, *gradient.shape[front:]), strides)
    for d in range(n):
        low = kernel[d] - 1 - padding[d]
        x = _resized(x, 2 + d, low, image.shape[front + d] + kernel[d] - 1 - low - x.shape[2 + d])
    pool = functional.avg_pool2d if n == 2 else functional.avg_pool3d
    return (pool(x, kernel, [1] * n) * torch.Size(kernel).numel()).reshape(image.shape)


def _adaptive_average_backward(gradient, image):
    """A product with a matrix for each spatial dimension."""
    for d in (-1, -2):
        n, out = image.shape[d], gradient.shape[d]
        window, place = (torch.arange(k, device=gradient.device) for k in (out, n))
        first, last = window * n // out, ((window + 1) * n + out - 1) // out
        inside = (place.unsqueeze(-1) >= first) & (place.unsqueeze(-1) < last)
        weights = inside.to(gradient.dtype) / (last - first).to(gradient.dtype)
        gradient = weights @ gradient if d == -2 else gradient @ weights.t()
    return gradient


def _largest_backward(n):
    """What comes from behind goes to the places of the largest elements, which are the last argument."""

    def made(gradient, image, *others):
        places, whole = others[-1].flatten(-n), torch.zeros(image.shape, dtype=gradient.dtype, device=gradient.device)
        whole = whole.flatten(-n)
        return whole.scatter_add(whole.dim() - 1, places, gradient.flatten(-n)).reshape(image.shape)

    return made


def _replicated_backward(n):
    """What comes from behind where a border was repeated is added to the border, one dimension after the other."""

    def made(gradient, image, padding):
        for d in range(1, n + 1):
            low, high = padding[2 * d - 2 : 2 * d]
            size, x = image.shape[-d], gradient.movedim(-d, -1)
            place = (torch.arange(x.shape[-1], device=x.device) - low).clamp(0, size - 1)
            inside = torch.arange(size, device=x.device) == place.unsqueeze(-1)
            gradient = (x @ inside.to(x.dtype)).movedim(-1, -d)
        return gradient

    return made


def _unfold_backward(gradient, shape, dim, size, step):
    """The sum of what each place in a window gives."""
    dim, made = dim % max(len(shape), 1), 0
    for k in range(size):
        x = gradient.select(-1, k).movedim(dim, -1)
        x = _spread(x.reshape(-1, 1, x.shape[-1]), [step]).reshape(*x.shape[:-1], -1)
        made = made + _resized(x, x.dim() - 1, k, shape[dim] - k - x.shape[-1])
    return made.movedim(-1, dim)


GRADIENTS = {
    aten.convolution_backward.default: _convolution_backward,
    aten.avg_pool2d_backward.default: _average_backward,
    aten.avg_pool3d_backward.default: _average_backward,
    aten._adaptive_avg_pool2d_backward.default: _adaptive_average_backward,
    aten.unfold_backward.default: _unfold_backward,
    aten.adaptive_max_pool2d_backward.default: _largest_backward(2),
    aten.adaptive_max_pool3d_backward.default: _largest_backward(3),
    aten.max_pool3d_with_indices_backward.default: _largest_backward(3),
    aten.replication_pad1d_backward.default: _replicated_backward(1),
    aten.replication_pad2d_backward.default: _replicated_backward(2),
    aten.replication_pad3d_backward.default: _replicated_backward(3),
}


def _convolution(image, weight, bias, strides, padding, dilation, transposed, output_padding, groups):
    """torch-mlir lacks transposed convolutions in groups, which are gradients of convolutions."""
    if groups == 1 or not transposed:
        return NotImplemented
    n = weight.dim() - 2
    if image.dim() == n + 1:
        return _convolution(image.unsqueeze(0), weight, bias, strides, padding, dilation, transposed, output_padding, groups).squeeze(0)
    strides, padding, dilation, more = ([x[0]] * n if len(x) == 1 else list(x) for x in (strides, padding, dilation, output_padding))
    sizes = [(image.shape[2 + d] - 1) * strides[d] - 2 * padding[d] + dilation[d] * (weight.shape[2 + d] - 1) + more[d] + 1 for d in range(n)]
    made = _gradient_of_image(image, weight, sizes, strides, padding, dilation, groups)
    return made if bias is None else made + bias.reshape([-1] + [1] * n)


def _batched(op, n):
    """torch-mlir pools batches of images alone."""

    def made(image, *others, **named):
        if image.dim() != n + 1:
            return NotImplemented
        found = op(image.unsqueeze(0), *others, **named)
        return tuple(x.squeeze(0) for x in found) if isinstance(found, (tuple, list)) else found.squeeze(0)

    return made


TABLE = {
    aten.convolution.default: _convolution,
    **{op: _batched(op, 2) for op in (aten.max_pool2d_with_indices.default, aten.avg_pool2d.default)},
    **{op: _batched(op, 3) for op in (aten.max_pool3d_with_indices.default, aten.avg_pool3d.default)},
}
