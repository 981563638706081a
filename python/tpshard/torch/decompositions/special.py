"""Special functions, in 64 bits. torch-mlir lacks them."""
import math

import torch

aten = torch.ops.aten


def _wide(function):
    """Returns a row that computes with 64 bits."""

    def made(*args):
        *_, x = args
        dtype = x.dtype if x.is_floating_point() else torch.float32
        return function(*args[:-1], x.double()).to(dtype)

    return made


def _number(value, like):
    return torch.full((), value, dtype=like.dtype, device=like.device)


# An asymptotic series is exact to 64 bits from here on.
_FAR = 15


def _gamma_far(x):
    """The logarithm of gamma at _FAR or beyond, by Stirling's series."""
    inverse = 1 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188)))))
    return (x - 0.5) * x.log() - x + 0.5 * math.log(2 * math.pi) + series


def _around_zero(x):
    """Returns the sine of pi x, from what is left of the nearest whole number, so that it is 0 at these alone."""
    rest = x - torch.round(x)
    sine = (rest * math.pi).sin()
    return torch.where(torch.remainder(torch.round(x), 2) == 0, sine, -sine)


def _log_gamma_of_positive(x):
    """gamma(x) is gamma(x + _FAR) divided by x (x + 1) ... (x + _FAR - 1). Beyond _FAR nothing is divided."""
    is_far = x > _FAR
    near = torch.where(is_far, _number(1.0, x), x)
    product = near
    for k in range(1, _FAR):
        product = product * (near + k)
    return torch.where(is_far, _gamma_far(torch.where(is_far, x, _number(_FAR, x))), _gamma_far(near + _FAR) - product.log())


def _log_gamma(x):
    """Numbers below 1/2 by reflection: gamma(x) gamma(1 - x) = pi / sin(pi x)."""
    is_low = x < 0.5
    found = _log_gamma_of_positive(torch.where(is_low, 1 - x, x))
    reflected = math.log(math.pi) - _around_zero(x).abs().log() - found
    found = torch.where(is_low, reflected, found)
    return torch.where((x.abs() == math.inf) | (x <= 0) & (x == torch.floor(x)), _number(math.inf, x), found)


def _digamma_of_positive(x):
    far = x + _FAR
    square = 1 / (far * far)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132)))))
    found = far.log() - 0.5 / far - series
    for k in range(_FAR):
        found = found - 1 / (x + k)
    return found


def _digamma(x):
    is_low = x < 0.5
    found = _digamma_of_positive(torch.where(is_low, 1 - x, x))
    rest = x - torch.round(x)
    found = torch.where(is_low, found - math.pi / (rest * math.pi).tan(), found)
    found = torch.where((x < 0) & (x == torch.floor(x)), _number(math.nan, x), found)
    return torch.where(x == 0, -1 / x, found)


def _trigamma_of_positive(x):
    far = x + _FAR
    inverse = 1 / far
    square = inverse * inverse
    found = inverse + square / 2 + inverse * square * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * (5 / 66)))))
    for k in range(_FAR):
        found = found + 1 / ((x + k) * (x + k))
    return found


def _trigamma(x):
    is_low = x < 0.5
    found = _trigamma_of_positive(torch.where(is_low, 1 - x, x))
    sine = _around_zero(x)
    return torch.where(is_low, math.pi**2 / (sine * sine) - found, found)


def _polygamma(n, x):
    if n not in (0, 1):
        return NotImplemented
    return _wide((_digamma, _trigamma)[n])(x)


def _far_error(x):
    """1 - erf(x) of 2 or more, by a continued fraction (Laplace)."""
    below = x
    for k in range(60, 0, -1):
        below = x + k / 2 / below
    return (-x * x).exp() / (math.sqrt(math.pi) * below)


def _error_complement(x):
    is_far = x > 2
    return torch.where(is_far, _far_error(torch.where(is_far, x, _number(2.0, x))), 1 - x.erf())


def _inverse_error(x):
    """A guess (Winitzki 2008), and steps of Halley towards 1 - erf(y) = 1 - |x|, which is exact next to 1."""
    rest = 1 - x.abs()
    inside = rest > 0
    rest = torch.where(inside, rest, _number(0.5, x))
    log = (rest * (2 - rest)).log()
    half = 2 / (math.pi * 0.147) + log / 2
    y = ((half * half - log / 0.147).sqrt() - half).clamp(min=0).sqrt()
    for _ in range(3):
        step = (_error_complement(y) - rest) * (y * y).exp() * (math.sqrt(math.pi) / 2)
        y = y + step / (1 + y * step)
    y = torch.where(inside, y, torch.where(x.abs() == 1, _number(math.inf, x), _number(math.nan, x)))
    return torch.where(x < 0, -y, y)


TABLE = {
    aten.lgamma.default: _wide(_log_gamma),
    aten.digamma.default: _wide(_digamma),
    aten.polygamma.default: _polygamma,
    aten.erfc.default: _wide(_error_complement),
    aten.erfinv.default: _wide(_inverse_error),
}
