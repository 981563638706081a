"""Fourier transforms as products with matrices: one of n = a * b numbers is b of a numbers, a product with n roots of unity, and a
of b numbers (Cooley and Tukey 1965)."""
import math

import torch

from .pair import Pair, filled

aten = torch.ops.aten

# Up to this length a transform is one product, which costs less than what moves the elements of two.
_DIRECT = 64


def _roots(places, n, like):
    """Returns exp(2 pi i places / n), from angles of 64 bits below pi / 4 beside whole quarters of the circle."""
    angle = (places % n).to(torch.float64) * (2 * math.pi / n)
    return Pair(angle.cos().to(like.dtype), angle.sin().to(like.dtype))


def _along(n, like):
    return torch.arange(n, device=like.device)


def _times(x, y, sign):
    """x * y, or x * conj(y) if sign is -1."""
    if x.imag is None:
        return Pair(x.real * y.real, x.real * y.imag * sign)
    return Pair(x.real * y.real - sign * (x.imag * y.imag), sign * (x.real * y.imag) + x.imag * y.real)


def _by_matrix(x, sign):
    n = x.real.shape[-1]
    at = _along(n, x.real)
    matrix = _roots(at.unsqueeze(-1) * at, n, x.real)
    if x.imag is None:
        return Pair(x.real @ matrix.real, sign * (x.real @ matrix.imag))
    return Pair(x.real @ matrix.real - sign * (x.imag @ matrix.imag), sign * (x.real @ matrix.imag) + x.imag @ matrix.real)


def _map(function, x):
    return Pair(*(None if part is None else function(part) for part in x))


def _transform(x, sign):
    """The transform of the last dimension. sign: of the exponent. An imaginary part that is None is 0."""
    n = x.real.shape[-1]
    a = max(d for d in range(1, math.isqrt(n) + 1) if n % d == 0)
    if n <= _DIRECT or a == 1:
        return _by_matrix(x, sign)
    b = n // a
    x = _map(lambda part: part.unflatten(-1, (a, b)).transpose(-1, -2), x)  # ..., b, a
    x = _transform(x, sign)
    turn = _roots(_along(b, x.real).unsqueeze(-1) * _along(a, x.real), n, x.real)
    x = _map(lambda part: part.transpose(-1, -2), _times(x, turn, sign))  # ..., a, b
    x = _transform(x, sign)
    return _map(lambda part: part.transpose(-1, -2).flatten(-2), x)


def _transforms(x, dims, sign):
    if x.real.dim() == 1 and dims:
        return _map(lambda part: part.squeeze(0), _transform(_map(lambda part: part.unsqueeze(0), x), sign))
    for d in dims:
        x = _map(lambda part: part.transpose(d, -1), x)
        x = _map(lambda part: part.transpose(d, -1), _transform(x, sign))
    return x


def _scaled(x, n, normalization):
    """normalization: 0 is none, 1 by the root of n, 2 by n, as ATen numbers them."""
    scale = (1, math.sqrt(n), n)[normalization]
    return x if scale == 1 else _map(lambda part: part / scale, x)


def _of_complex(x, dim, normalization, forward):
    n = math.prod(x.real.shape[d] for d in dim)
    return _scaled(_transforms(filled(x), dim, -1 if forward else 1), n, normalization)


def _of_real(x, dim, normalization, onesided):
    """With half of the frequencies of the last dimension of `dim` if onesided; the others are their conjugates."""
    n = math.prod(x.shape[d] for d in dim)
    found = _transforms(Pair(x, None), dim[-1:], -1)
    if onesided:
        found = _map(lambda part: part.narrow(dim[-1], 0, x.shape[dim[-1]] // 2 + 1), found)
    return _scaled(_transforms(found, dim[:-1], -1), n, normalization)


def _to_real(x, dim, normalization, last_dim_size):
    """The inverse of _of_real: what is not given of the last dimension are conjugates of what is."""
    *others, last = dim
    n, given = last_dim_size, last_dim_size // 2 + 1
    x = _map(lambda part: part.narrow(last, 0, given), _transforms(x, others, 1))
    rest = _map(lambda part: part.narrow(last, 1, n - given).flip(last), x)
    # the parts of frequencies 0 and n / 2 that a real tensor does not have are not read
    at = _along(given, x.real).reshape([-1] + [1] * (x.real.dim() - 1 - last % x.real.dim()))
    imag = torch.where((at == 0) | (2 * at == n), torch.zeros_like(x.imag), x.imag)
    whole = Pair(torch.cat([x.real, rest.real], last), torch.cat([imag, -rest.imag], last))
    size = math.prod(whole.real.shape[d] for d in dim)
    return _scaled(Pair(_transforms(whole, [last], 1).real, None), size, normalization).real


TABLE = {
    aten._fft_c2c.default: _of_complex,
    aten._fft_r2c.default: _of_real,
    aten._fft_c2r.default: _to_real,
}
