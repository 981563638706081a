"""Operations on numbers. torch-mlir computes most of these otherwise than PyTorch where NaN or infinity are among them."""
import math

import torch

aten = torch.ops.aten


def _of_floats(function):
    """Returns a row for numbers with a fraction alone."""

    def made(x, *others, **named):
        return function(x, *others, **named) if x.is_floating_point() else NotImplemented

    return made


def _number(value, like):
    return torch.full((), value, dtype=like.dtype, device=like.device)


def _clamp(x, low=None, high=None):
    if low is None and high is None:
        return NotImplemented
    x = x if low is None else torch.where(x < low, _number(low, x), x)
    return x if high is None else torch.where(x > high, _number(high, x), x)


def _hardtanh(x, low=-1, high=1):
    return _clamp(x, low, high)


def _extreme_of_two(compare):
    """The larger or the smaller of two numbers, which is NaN if one is."""
    return lambda x, y: torch.where(compare(x, y) | (x != x), x, y) if x.dtype == y.dtype else NotImplemented


def _extreme_of_known(compare):
    """The larger or the smaller of two numbers, or that which is not NaN."""
    return lambda x, y: torch.where(compare(x, y) | (y != y), x, y) if x.dtype == y.dtype else NotImplemented


def log_of_sum(x, y):
    """log(exp(x) + exp(y)), which is NaN if one number is."""
    if x.dtype != y.dtype:
        return NotImplemented
    most = torch.maximum(x, y)
    is_limit = most.abs() == math.inf
    base = torch.where(is_limit, torch.zeros_like(most), most)
    return torch.where(is_limit, most, base + ((x - base).exp() + (y - base).exp()).log())


def _sign_bit(x):
    """True for -0, too. That of NaN is not known."""
    return (x < 0) | ((x == 0) & (1 / x < 0)) if x.is_floating_point() else x < 0


def _copy_sign(x, y):
    return torch.where(_sign_bit(y), -x.abs(), x.abs()) if torch.is_tensor(y) and x.is_floating_point() and x.dtype == y.dtype else NotImplemented


def _hypotenuse(x, y):
    """Without squares of large numbers."""
    if x.dtype != y.dtype:
        return NotImplemented
    long, short = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
    is_limit = (long == 0) | (long == math.inf)
    ratio = short / torch.where(is_limit, torch.ones_like(long), long)
    return torch.where(is_limit, long, long * (1 + ratio * ratio).sqrt())


def _place_of_extreme(extreme):
    """The place of the first NaN, else that of the first extreme."""

    def made(x, dim=None, keepdim=False):
        if dim is None:
            flat = made(x.reshape(-1), 0)
            return flat.reshape([1] * x.dim()) if keepdim else flat
        if x.dim() == 0:
            return torch.zeros((), dtype=torch.int64, device=x.device)
        found = torch.logical_not(x != extreme(x, dim, True)) | (x != x)
        return aten.argmax.default(found.to(torch.int32), dim, keepdim)

    return made


def _extreme(extreme):
    """An extreme and its place."""

    def made(x, dim, keepdim=False):
        return (extreme(x, dim, keepdim) if x.dim() > 0 else x.clone()), _place_of_extreme(extreme)(x, dim, keepdim)

    return made


def _tensors(x, y):
    """Returns both operands as tensors of the type of the result."""
    dtype = torch.result_type(x, y)
    y = y.to(dtype) if torch.is_tensor(y) else torch.full((), y, dtype=dtype, device=x.device)
    return x.to(dtype), y


def _fmod(x, y):
    """The remainder with the sign of x, exactly."""
    x, y = _tensors(x, y)
    if not x.is_floating_point():
        return x - torch.div(x, y, rounding_mode="trunc") * y
    rest = torch.remainder(x.abs(), y.abs())
    return torch.where(x < 0, -rest, rest)


def _in_64_bits(op, x, y, **named):
    """torch-mlir divides no other whole numbers."""
    if x.dtype == torch.int64:
        return NotImplemented
    return op(x.to(torch.int64), y.to(torch.int64), **named).to(x.dtype)


def _floor_divide(x, y):
    """As Python divides: by what the exact remainder leaves. The quotient alone may round up to a whole number."""
    x, y = _tensors(x, y)
    if not x.is_floating_point():
        return _in_64_bits(aten.floor_divide.default, x, y)
    rest = _fmod(x, y)
    quotient = (x - rest) / y
    quotient = torch.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1, quotient)
    whole = quotient.floor()
    whole = torch.where(quotient - whole > 0.5, whole + 1, whole)
    return torch.where(y == 0, x / y, whole)


def _divide(x, y, *, rounding_mode=None):
    if rounding_mode == "floor":
        return _floor_divide(x, y)
    x, y = _tensors(x, y)
    is_whole = rounding_mode == "trunc" and not x.is_floating_point()
    return _in_64_bits(aten.div.Tensor_mode, x, y, rounding_mode=rounding_mode) if is_whole else NotImplemented


def _reciprocal(x):
    """torch-mlir stops the program at a 0."""
    return torch.ones((), dtype=x.dtype, device=x.device) / x


def _power(x, exponent):
    """torch-mlir has no powers of whole numbers."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool or not isinstance(exponent, int) or not 0 <= exponent < 64:
        return NotImplemented
    made = torch.ones_like(x) if exponent == 0 else None
    while exponent:
        if exponent & 1:
            made = x if made is None else made * x
        x, exponent = x * x, exponent >> 1
    return made.clone()


def _spread(has_mean, is_deviation=False):
    """A variance or a deviation. Where more is taken off than there are elements, torch-mlir divides by a negative number, and
    PyTorch by 0. It has no deviation with a mean."""

    def made(x, dim=None, *, correction=None, keepdim=False):
        dims = list(dim or range(x.dim()))
        n, off = math.prod(x.shape[d] for d in dims), 1 if correction is None else correction
        if n >= off and not is_deviation:
            return NotImplemented
        if n >= off:
            variance, mean = torch.var_mean(x, dims, correction=off, keepdim=keepdim)
            return variance.sqrt(), mean
        none = x.sum(dims, keepdim=keepdim) * math.nan
        return (none, x.mean(dims, keepdim=keepdim)) if has_mean else none

    return made


def _with_tensor(op):
    """torch-mlir lacks the one with a number."""
    return lambda x, y: op(x, torch.full((), y, dtype=x.dtype, device=x.device))


def _is_finite(x):
    return x.abs() < math.inf


def _equal_numbers(x, y):
    """torch-mlir takes x == x to be true."""
    return torch.logical_not(x != y)


TABLE = {
    aten.clamp.default: _of_floats(_clamp),
    aten.hardtanh.default: _of_floats(_hardtanh),
    aten.maximum.default: _of_floats(_extreme_of_two(torch.gt)),
    aten.minimum.default: _of_floats(_extreme_of_two(torch.lt)),
    aten.fmax.default: _extreme_of_known(torch.ge),
    aten.fmin.default: _extreme_of_known(torch.le),
    aten.signbit.default: _sign_bit,
    aten.copysign.Tensor: _copy_sign,
    aten.logaddexp.default: _of_floats(log_of_sum),
    aten.hypot.default: _of_floats(_hypotenuse),
    aten.argmax.default: _of_floats(_place_of_extreme(torch.amax)),
    aten.argmin.default: _of_floats(_place_of_extreme(torch.amin)),
    aten.max.dim: _of_floats(_extreme(torch.amax)),
    aten.min.dim: _of_floats(_extreme(torch.amin)),
    aten.isfinite.default: _of_floats(_is_finite),
    aten.eq.Tensor: _of_floats(_equal_numbers),
    aten.reciprocal.default: _of_floats(_reciprocal),
    aten.var.correction: _of_floats(_spread(False)),
    aten.std.correction: _of_floats(_spread(False)),
    aten.var_mean.correction: _of_floats(_spread(True)),
    aten.std_mean.correction: _of_floats(_spread(True, True)),
    aten.fmod.Scalar: _fmod,
    aten.fmod.Tensor: _fmod,
    aten.floor_divide.default: _floor_divide,
    aten.floor_divide.Scalar: _floor_divide,
    aten.div.Tensor_mode: _divide,
    aten.div.Scalar_mode: _divide,
    aten.pow.Tensor_Scalar: _power,
    aten._neg_view.default: torch.neg,
    aten._is_all_true.default: lambda x: x.all(),
    aten._is_any_true.default: lambda x: x.any(),
    aten.bitwise_or.Scalar: _with_tensor(aten.bitwise_or.Tensor),
    aten.bitwise_xor.Scalar: _with_tensor(aten.bitwise_xor.Tensor),
    aten.__rshift__.Tensor: aten.bitwise_right_shift.Tensor,
    aten.__lshift__.Tensor: aten.bitwise_left_shift.Tensor,
}
