"""Operations of ATen that compute with pairs."""
import math

import torch

from . import fourier
from .pair import Pair, filled, real_type, split

aten = torch.ops.aten


def _overloads(*names):
    return [getattr(getattr(aten, name), overload) for name in names for overload in getattr(aten, name).overloads() if "out" not in overload]


def _add(x, y, alpha=1, sign=1):
    x, y = split(x), split(y)
    y = Pair(*(None if part is None else part * (sign * alpha) if sign * alpha != 1 else part for part in y))
    return Pair(x.real + y.real, y.imag if x.imag is None else x.imag if y.imag is None else x.imag + y.imag)


def _subtract(x, y, alpha=1):
    return _add(x, y, alpha, -1)


def multiply(x, y):
    x, y = split(x), split(y)
    if y.imag is None:
        x, y = y, x
    if x.imag is None:
        return Pair(x.real * y.real, None if y.imag is None else x.real * y.imag)
    return Pair(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def _negative(x):
    return Pair(-x.real, -x.imag)


def conjugate(x):
    return Pair(x.real, -x.imag)


def _tensors(*numbers):
    """Returns numbers as tensors, if one is."""
    like = next(x for x in numbers if isinstance(x, torch.Tensor))
    return [x if isinstance(x, torch.Tensor) else torch.full((), x, dtype=like.dtype, device=like.device) for x in numbers]


def _divide(x, y):
    """By numbers of a size near 1, so that squares of large ones are not infinite."""
    x, y = split(x), split(y)
    if y.imag is None:
        return Pair(x.real / y.real, x.imag / y.real)
    real, imag = _tensors(*y) if isinstance(y.real, torch.Tensor) else y
    size = torch.maximum(real.abs(), imag.abs()) if isinstance(real, torch.Tensor) else max(abs(real), abs(imag))
    real, imag = real / size, imag / size
    square = real * real + imag * imag
    found = multiply(x, Pair(real, -imag))
    return Pair(found.real / size / square, found.imag / size / square)


def _reciprocal(x):
    return _divide(1.0, x)


def size_of(x):
    return torch.hypot(x.real, x.imag)


def _sign(x):
    size = size_of(x)
    is_zero = size == 0
    size = torch.where(is_zero, torch.ones_like(size), size)
    return Pair(x.real / size, x.imag / size)


def _angle(x):
    return torch.atan2(x.imag, x.real)


def _polar(size, angle):
    return Pair(size * angle.cos(), size * angle.sin())


def _exp(x):
    return _polar(x.real.exp(), x.imag)


def _log(x):
    return Pair(size_of(x).log(), _angle(x))


def _sqrt(x):
    """The root whose real part is not negative, without what cancels out."""
    size = size_of(x)
    half = ((size + x.real.abs()) / 2).sqrt()
    other = torch.where(half == 0, half, x.imag.abs() / (2 * torch.where(half == 0, torch.ones_like(half), half)))
    is_left = x.real < 0
    imag = torch.where(is_left, half, other)
    return Pair(torch.where(is_left, other, half), torch.where(x.imag < 0, -imag, imag))


def _sine(x):
    return Pair(x.real.sin() * x.imag.cosh(), x.real.cos() * x.imag.sinh())


def _cosine(x):
    return Pair(x.real.cos() * x.imag.cosh(), -x.real.sin() * x.imag.sinh())


def _hyperbolic_sine(x):
    return Pair(x.real.sinh() * x.imag.cos(), x.real.cosh() * x.imag.sin())


def _hyperbolic_cosine(x):
    return Pair(x.real.cosh() * x.imag.cos(), x.real.sinh() * x.imag.sin())


def _hyperbolic_tangent(x):
    """Of numbers whose hyperbolic sine is infinite, too."""
    t, tangent, cosine = x.real.tanh(), x.imag.tan(), x.real.cosh()
    below = 1 + t * t * tangent * tangent
    return Pair(t * (1 + tangent * tangent) / below, tangent / (cosine * cosine) / below)


def _tangent(x):
    found = _hyperbolic_tangent(Pair(-x.imag, x.real))
    return Pair(found.imag, -found.real)


def _power(x, exponent):
    """Small whole powers are products; others are exp(exponent * log(x)), and 0 of 0."""
    if isinstance(exponent, (int, float)) and exponent == int(exponent) and 0 <= abs(exponent) <= 64:
        made, n = Pair(torch.ones_like(x.real), None), int(abs(exponent))
        while n:
            if n & 1:
                made = multiply(made, x)
            x, n = multiply(x, x), n >> 1
        return _reciprocal(made) if exponent < 0 else made
    x = filled(x)
    is_zero = (x.real == 0) & (x.imag == 0)
    one = Pair(torch.where(is_zero, torch.ones_like(x.real), x.real), x.imag)
    found = _exp(filled(multiply(_log(one), exponent)))
    return Pair(*(torch.where(is_zero, torch.zeros_like(part), part) for part in found))


def _equal(x, y):
    x, y = split(x), split(y)
    return (x.real == y.real) & (_imag(x) == _imag(y))


def _imag(x):
    return 0 if x.imag is None else x.imag


def _unequal(x, y):
    x, y = split(x), split(y)
    return (x.real != y.real) | (_imag(x) != _imag(y))


def _product(op):
    """A product that is a sum of products."""

    def made(x, y):
        return Pair(op(x.real, y.real) - op(x.imag, y.imag), op(x.real, y.imag) + op(x.imag, y.real))

    return made


def _added_product(op):
    def made(x, y, z, *, beta=1, alpha=1):
        return _add(multiply(x, beta), multiply(_product(op)(y, z), alpha))

    return made


def _by_parts(op):
    """An operation that moves or adds elements: the same of both parts. What is real next to a pair is no number, but a place or a
    size."""

    def made(*args, **kwargs):
        found = [op(*_map_pairs(args, k), **_map_pairs(kwargs, k)) for k in (0, 1)]
        return [Pair(*x) for x in zip(*found)] if isinstance(found[0], (tuple, list)) else Pair(*found)

    return made


def _map_pairs(value, part):
    if isinstance(value, Pair):
        return value[part]
    if isinstance(value, dict):
        return {name: _map_pairs(x, part) for name, x in value.items()}
    return type(value)(_map_pairs(x, part) for x in value) if isinstance(value, (tuple, list)) else value


def _with_numbers(op, *at):
    """The same, where tensors at some positions are numbers, too, which may be real."""

    def made(*args, **kwargs):
        args = [([filled(y) for y in x] if isinstance(x, (list, tuple)) and not isinstance(x, Pair) else filled(x)) if i in at else x for i, x in enumerate(args)]
        return _by_parts(op)(*args, **kwargs)

    return made


def _where(condition, x, y):
    x, y = filled(x), filled(y)
    return Pair(*(torch.where(condition, a, b) for a, b in zip(x, y)))


def _converted(x, *, dtype=None, **others):
    if dtype is None or dtype.is_complex:
        kwargs = {**others, **({} if dtype is None else {"dtype": real_type(dtype)})}
        return Pair(*(None if part is None else aten._to_copy.default(part, **kwargs) for part in split(x)))
    if dtype == torch.bool:
        return (x.real != 0) | (x.imag != 0)
    return aten._to_copy.default(x.real, dtype=dtype, **others)


def _padded(x, padding, value=0):
    value = split(value)
    return Pair(aten.constant_pad_nd.default(x.real, padding, value.real), aten.constant_pad_nd.default(x.imag, padding, value.imag or 0))


def _filled_with(op, at):
    """A tensor made of one number."""

    def made(*args, dtype=None, **kwargs):
        args = [x.real if isinstance(x, Pair) else x for x in args]
        value = split(args[at])
        kwargs = {**kwargs, **({} if dtype is None else {"dtype": real_type(dtype)})}
        return Pair(*(op(*args[:at], x, *args[at + 1 :], **kwargs) for x in (value.real, value.imag or 0)))

    return made


def _made(op):
    def made(*args, dtype=None, **kwargs):
        args = [x.real if isinstance(x, Pair) else x for x in args]
        return Pair(op(*args, **kwargs, **({} if dtype is None else {"dtype": real_type(dtype)})), None)

    return made


def _mean(x, dim=None, keepdim=False, *, dtype=None):
    dims = list(dim) if dim else list(range(x.real.dim()))
    n = math.prod(x.real.shape[d] for d in dims)
    return Pair(*(part.sum(dims, keepdim=keepdim) / n for part in x))


def _sum(x, dim=None, keepdim=False, *, dtype=None):
    return Pair(*(part.sum(dim, keepdim=keepdim) if dim is not None else part.sum() for part in split(x)))


def _dot(x, y):
    found = multiply(x, y)
    return Pair(found.real.sum(), found.imag.sum())


_MOVING = _overloads(
    "alias", "as_strided", "clone", "contiguous", "cumsum", "detach", "diagonal", "expand", "flip", "gather", "index", "index_select", "lift_fresh_copy", "movedim",
    "permute", "repeat", "reshape", "roll", "select", "select_backward", "slice", "slice_backward", "split", "split_with_sizes", "squeeze", "t", "transpose", "tril",
    "triu", "unbind", "unfold", "unsqueeze", "view", "_unsafe_view", "_unsafe_index",
)

TABLE = {
    **{op: _by_parts(op) for op in _MOVING},
    **{op: _with_numbers(op, 0) for op in _overloads("cat", "stack")},
    **{op: _with_numbers(op, 0, 1) for op in _overloads("select_scatter", "slice_scatter", "copy")},
    **{op: _with_numbers(op, 0, 2) for op in _overloads("index_put", "_unsafe_index_put")},
    **{op: _with_numbers(op, 0, 3) for op in (aten.scatter.src, aten.scatter_add.default, aten.index_add.default)},
    **{op: _filled_with(op, 1) for op in _overloads("full", "full_like", "fill") if op is not aten.fill.Tensor},
    **{op: _filled_with(op, 2) for op in _overloads("new_full")},
    aten.scalar_tensor.default: _filled_with(aten.scalar_tensor.default, 0),
    **{op: _made(op) for op in _overloads("zeros", "ones", "zeros_like", "ones_like", "new_zeros", "new_ones", "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")},
    **dict.fromkeys(_overloads("add"), _add),
    **dict.fromkeys(_overloads("sub"), _subtract),
    **dict.fromkeys(_overloads("rsub"), lambda x, y, alpha=1: _subtract(y, x, alpha)),
    **dict.fromkeys(_overloads("mul"), multiply),
    **dict.fromkeys((aten.div.Tensor, aten.div.Scalar), _divide),
    **dict.fromkeys((aten.pow.Tensor_Scalar, aten.pow.Tensor_Tensor), _power),
    **dict.fromkeys(_overloads("eq"), _equal),
    **dict.fromkeys(_overloads("ne"), _unequal),
    **dict.fromkeys((aten._conj.default, aten._conj_physical.default, aten.conj_physical.default), conjugate),
    **dict.fromkeys((aten.neg.default, aten._neg_view.default), _negative),
    **dict.fromkeys((aten.resolve_conj.default, aten.resolve_neg.default), lambda x: x),
    **dict.fromkeys((aten.sum.default, aten.sum.dim_IntList), _sum),
    **dict.fromkeys((aten.mean.default, aten.mean.dim), _mean),
    aten.real.default: lambda x: x.real,
    aten.imag.default: lambda x: x.imag,
    aten.view_as_real.default: lambda x: torch.stack(list(x), -1),
    aten.view_as_complex.default: lambda x: Pair(x.select(-1, 0), x.select(-1, 1)),
    aten.complex.default: Pair,
    aten.polar.default: _polar,
    aten.abs.default: size_of,
    aten.angle.default: _angle,
    aten.sgn.default: _sign,
    aten.reciprocal.default: _reciprocal,
    aten.square.default: lambda x: multiply(x, x),
    aten.exp.default: _exp,
    aten.log.default: _log,
    aten.log2.default: lambda x: _divide(_log(x), math.log(2)),
    aten.log10.default: lambda x: _divide(_log(x), math.log(10)),
    aten.rsqrt.default: lambda x: _reciprocal(_sqrt(x)),
    aten.sigmoid.default: lambda x: _reciprocal(_add(_exp(_negative(x)), 1)),
    aten.sqrt.default: _sqrt,
    aten.sin.default: _sine,
    aten.cos.default: _cosine,
    aten.sinh.default: _hyperbolic_sine,
    aten.cosh.default: _hyperbolic_cosine,
    aten.tan.default: _tangent,
    aten.tanh.default: _hyperbolic_tangent,
    aten.isnan.default: lambda x: (x.real != x.real) | (x.imag != x.imag),
    aten.isfinite.default: lambda x: torch.isfinite(x.real) & torch.isfinite(x.imag),
    aten.isinf.default: lambda x: torch.isinf(x.real) | torch.isinf(x.imag),
    aten.mm.default: _product(aten.mm.default),
    aten.bmm.default: _product(aten.bmm.default),
    aten.mv.default: _product(aten.mv.default),
    aten.matmul.default: _product(aten.matmul.default),
    aten.addmm.default: _added_product(aten.mm.default),
    aten.baddbmm.default: _added_product(aten.bmm.default),
    aten.dot.default: _dot,
    aten.vdot.default: lambda x, y: _dot(conjugate(x), y),
    aten.where.self: _where,
    aten._to_copy.default: _converted,
    torch.ops.prims.convert_element_type.default: lambda x, dtype: _converted(x, dtype=dtype),
    aten.constant_pad_nd.default: _padded,
    **fourier.TABLE,
}
