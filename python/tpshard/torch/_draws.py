"""Random numbers of plans: the number at a place of a tensor is a hash of a seed, the number of the draw in the program, and the
place. So a device makes its part without the others, and all plans of a program, on any mesh, have the same numbers.

The hash of rows is the finalizer of SplitMix64 (Steele, Lea and Flood 2014); what is computed for each element is a hash of 32
bits in the form of that of MurmurHash3, with constants found by C. Wellons (2018).
"""
import math

import torch

aten = torch.ops.aten

_GOLDEN = -7046029254386353131  # 2**64 / golden ratio


def _shifted(x, n):
    """x >> n with zeros from the left, which no operation on signed numbers has."""
    return (x >> n) & ((1 << (8 * x.dtype.itemsize - n)) - 1)


def _mixed(x):
    x = (x ^ _shifted(x, 30)) * -4658895280553007687
    x = (x ^ _shifted(x, 27)) * -7723592293110705685
    return x ^ _shifted(x, 31)


def _halves(x):
    return x.to(torch.int32), (x >> 32).to(torch.int32)


def offset_of(number):
    """Returns what the key of a draw is more than the seed. number: which draw of the program it is."""
    return _GOLDEN * (number + 1) % 2**64 - 2**63


class Draw:
    """One draw of random numbers, by its key: a tensor of rank 0, int64."""

    def __init__(self, key):
        self._start = _mixed(key)

    def bits(self, shape, word=0):
        """Returns 32 random bits for each element, as int32. word: other bits for the same elements."""
        at = _mixed(self._start + word + 1)
        along = _mixed(at ^ _GOLDEN)
        shape = tuple(shape) or (1,)
        for n in shape[:-1]:
            at = _mixed(at.unsqueeze(-1) + self._places(n))
        rows, columns = _halves(at.unsqueeze(-1)), _halves(_mixed(along + self._places(shape[-1])))
        x = rows[0] + columns[0]
        x = (x ^ _shifted(x, 16)) * 0x7FEB352D
        x = x ^ (rows[1] + columns[1])
        x = (x ^ _shifted(x, 15)) * (0x846CA68B - 2**32)
        return x ^ _shifted(x, 16)

    def _places(self, n):
        return torch.arange(1, n + 1, device=self._start.device) * _GOLDEN

    def unit(self, shape, dtype, word=0):
        """Returns numbers of [0, 1), as many as the type tells apart evenly."""
        if dtype == torch.float64:
            high, low = self.bits(shape, 2 * word), self.bits(shape, 2 * word + 1)
            made = (_shifted(high, 6).double() * 2.0**27 + _shifted(low, 5).double()) * 2.0**-53
        else:
            n = {torch.float16: 11, torch.bfloat16: 8}.get(dtype, 24)
            made = (_shifted(self.bits(shape, word), 32 - n).float() * 2.0**-n).to(dtype)
        return made.reshape(shape)

    def inside(self, shape, word=0):
        """Returns f32 of (0, 1), without both ends."""
        return ((_shifted(self.bits(shape, word), 9).float() + 0.5) * 2.0**-23).reshape(shape)

    def normal(self, shape, dtype):
        """By Box and Muller (1958)."""
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        length = torch.sqrt(-2.0 * torch.log(self.inside(shape, 2).to(wide)))
        return (length * torch.cos(2 * math.pi * self.unit(shape, wide))).to(dtype)

    def exponential(self, shape, dtype):
        return -torch.log(self.inside(shape).to(torch.float64 if dtype == torch.float64 else torch.float32)).to(dtype)

    def whole(self, low, high, shape, dtype):
        """Returns whole numbers of [low, high)."""
        first = self.bits(shape).to(torch.int64)
        if high - low <= 2**31:
            made = ((first & 0xFFFFFFFF) * (high - low)) >> 32
        else:
            made = ((first & 0x7FFFFFFF) << 31 | _shifted(self.bits(shape, 1), 1).to(torch.int64)) % (high - low)
        return (made + low).reshape(shape).to(dtype)

    def is_chosen(self, p, shape):
        """True with the probability p, a number of Python."""
        if p >= 1:
            return torch.ones(shape, dtype=torch.bool, device=self._start.device)
        return (self.bits(shape) < math.floor(p * 2.0**32) - 2**31).reshape(shape)


# ---- the operations of PyTorch that draw: function(draw, arguments by name) ----


def _bernoulli(draw, self, p):
    return draw.is_chosen(p, self.shape).to(self.dtype)


def _bernoulli_tensor(draw, self, p):
    return (draw.unit(self.shape, torch.float32) < p).to(self.dtype)


def _dropout(draw, input, p, train):
    if p >= 1:
        return torch.zeros_like(input), torch.zeros_like(input, dtype=torch.bool)
    kept = draw.is_chosen(1 - p, input.shape)
    return input * kept.to(input.dtype) * (1 / (1 - p)), kept


def _uniform(draw, self, to, **begin):
    return draw.unit(self.shape, self.dtype) * (to - begin["from"]) + begin["from"]


def _normal(draw, mean, std):
    like = mean if isinstance(mean, torch.Tensor) else std
    shape = torch.broadcast_shapes(*(x.shape for x in (mean, std) if isinstance(x, torch.Tensor)))
    return mean + std * draw.normal(shape, like.dtype)


def _geometric(draw, self, p):
    return torch.ceil(torch.log(draw.inside(self.shape)) / math.log1p(-p)).clamp(min=1).to(self.dtype) if p < 1 else torch.ones_like(self)


def _cauchy(draw, self, median, sigma):
    return median + sigma * torch.tan(math.pi * (draw.inside(self.shape) - 0.5)).to(self.dtype)


def _permutation(draw, n, dtype):
    key = draw.bits((n,)).to(torch.int64) << 31 | _shifted(draw.bits((n,), 1), 1).to(torch.int64)
    return torch.sort(key, stable=True)[1].to(dtype)


def _multinomial(draw, self, num_samples, replacement):
    """The chosen ones have the largest ratios of their weight to an exponential number."""
    if num_samples == 1 or not replacement:
        return torch.topk(self / draw.exponential(self.shape, self.dtype), num_samples)[1]
    return (self.unsqueeze(-2) / draw.exponential((*self.shape[:-1], num_samples, self.shape[-1]), self.dtype)).argmax(-1)


def _float(dtype):
    return torch.get_default_dtype() if dtype is None else dtype


def _whole(dtype):
    return dtype if isinstance(dtype, torch.dtype) else torch.int64  # the default of a schema is a number


TABLE = {
    aten.bernoulli.p: _bernoulli,
    aten.bernoulli.default: lambda draw, self: _bernoulli_tensor(draw, self, self),
    aten.bernoulli.Tensor: _bernoulli_tensor,
    aten.native_dropout.default: _dropout,
    aten.uniform.default: _uniform,
    aten.rand.default: lambda draw, size, dtype: draw.unit(size, _float(dtype)),
    aten.rand_like.default: lambda draw, self, dtype: draw.unit(self.shape, dtype or self.dtype),
    aten.randn.default: lambda draw, size, dtype: draw.normal(size, _float(dtype)),
    aten.randn_like.default: lambda draw, self, dtype: draw.normal(self.shape, dtype or self.dtype),
    aten.normal.Tensor_float: _normal,
    aten.normal.float_Tensor: _normal,
    aten.normal.Tensor_Tensor: _normal,
    aten.normal.float_float: lambda draw, mean, std, size, dtype: draw.normal(size, _float(dtype)) * std + mean,
    aten.normal_functional.default: lambda draw, self, mean, std: draw.normal(self.shape, self.dtype) * std + mean,
    aten.log_normal.default: lambda draw, self, mean, std: torch.exp(draw.normal(self.shape, self.dtype) * std + mean),
    aten.exponential.default: lambda draw, self, lambd: draw.exponential(self.shape, self.dtype) / lambd,
    aten.geometric.default: _geometric,
    aten.cauchy.default: _cauchy,
    aten.randint.default: lambda draw, high, size, dtype: draw.whole(0, high, size, _whole(dtype)),
    aten.randint.low: lambda draw, low, high, size, dtype: draw.whole(low, high, size, _whole(dtype)),
    aten.randint_like.default: lambda draw, self, high, dtype: draw.whole(0, high, self.shape, dtype or self.dtype),
    aten.randint_like.low_dtype: lambda draw, self, low, high, dtype: draw.whole(low, high, self.shape, dtype or self.dtype),
    aten.randperm.default: lambda draw, n, dtype: _permutation(draw, n, _whole(dtype)),
    aten.multinomial.default: _multinomial,
}

# operations that write their first argument
IN_PLACE = {
    aten.bernoulli_.float: aten.bernoulli.p,
    aten.bernoulli_.Tensor: aten.bernoulli.Tensor,
    aten.uniform_.default: aten.uniform.default,
    aten.normal_.default: aten.normal_functional.default,
    aten.log_normal_.default: aten.log_normal.default,
    aten.exponential_.default: aten.exponential.default,
    aten.geometric_.default: aten.geometric.default,
    aten.cauchy_.default: aten.cauchy.default,
}

# what only says where and how a result lies
_OF_MEMORY = {"layout", "device", "pin_memory", "memory_format", "generator"}


def arguments_of(op, args, kwargs):
    """Returns {name: value} of a call of an operation in `TABLE`, as its function takes them; None if it draws in a way that
    plans do not have."""
    found = {}
    for i, argument in enumerate(op._schema.arguments):
        found[argument.name] = args[i] if i < len(args) else kwargs.get(argument.name, argument.default_value)
    if found.get("generator") is not None or found.get("dtype") in (torch.complex32, torch.complex64, torch.complex128):
        return None
    return {name: value for name, value in found.items() if name not in _OF_MEMORY}


def draws_nothing(op, named):
    """True for dropout for which PyTorch draws no number on the CPU."""
    return op is aten.native_dropout.default and (named["p"] in (0, 1) or named["train"] is False or named["input"].numel() == 0)
