"""Images of another size, each element of which is a mean over as many as the image shrinks by (antialias=True)."""
import torch

aten = torch.ops.aten


def _linear(x):
    return (1 - x.abs()).clamp(min=0)


def _cubic(x, a=-0.5):
    """The kernel of Keys (1981), with the parameter of Pillow."""
    x = x.abs()
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return torch.where(x < 1, near, torch.where(x < 2, far, torch.zeros_like(x)))


def _weights(n, out, scale, align_corners, kernel, reach, like):
    """Returns how much of each of n elements each of `out` elements is: a matrix (n, out)."""
    dtype = torch.float64 if like.dtype == torch.float64 else torch.float32
    if align_corners:
        step = (n - 1) / (out - 1) if out > 1 else 0.0
    else:
        step = 1 / scale if scale is not None and scale > 0 else n / out
    width = max(step, 1.0)
    center = step * (torch.arange(out, device=like.device).to(dtype) + 0.5)
    first, last = ((center + side * reach * width + 0.5).to(torch.int64) for side in (-1, 1))
    at = torch.arange(n, device=like.device).unsqueeze(-1)
    weights = kernel((at.to(dtype) - center + 0.5) / width)
    weights = torch.where((at >= first.clamp(min=0)) & (at < last.clamp(max=n)), weights, torch.zeros((), dtype=dtype, device=like.device))
    return (weights / weights.sum(0)).to(like.dtype)


def _both(n, out, align_corners, scales, kernel, reach, like):
    return [_weights(a, b, s, align_corners, kernel, reach, like) for a, b, s in zip(n, out, scales)]


def _resized(kernel, reach):
    def made(image, size, align_corners, scale_h=None, scale_w=None):
        rows, columns = _both(image.shape[-2:], size, align_corners, (scale_h, scale_w), kernel, reach, image)
        return rows.t() @ (image @ columns)

    return made


def _backward(kernel, reach):
    def made(gradient, size, shape, align_corners, scale_h=None, scale_w=None):
        rows, columns = _both(shape[-2:], size, align_corners, (scale_h, scale_w), kernel, reach, gradient)
        return rows @ (gradient @ columns.t())

    return made


TABLE = {aten._upsample_bilinear2d_aa.default: _resized(_linear, 1), aten._upsample_bicubic2d_aa.default: _resized(_cubic, 2)}
GRADIENTS = {aten._upsample_bilinear2d_aa_backward.default: _backward(_linear, 1), aten._upsample_bicubic2d_aa_backward.default: _backward(_cubic, 2)}
