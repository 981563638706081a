"""Ops that compute each element by itself."""
import re

import torch

from .attributes import INTEGERS
from .graph import FLOATS_8, SIMPLE, builder


def _cbrt(x):
    return torch.sign(x) * torch.pow(torch.abs(x), 1 / 3)


def _round_away(x):
    return torch.trunc(x + torch.copysign(torch.nextafter(torch.full_like(x, 0.5), torch.zeros_like(x)), x))


def _popcnt(x):
    bits = torch.iinfo(x.dtype).bits
    return sum((x >> k) & 1 for k in range(bits)).to(x.dtype)


def _leading_zeros(x):
    bits = torch.iinfo(x.dtype).bits
    found, above = torch.zeros_like(x), torch.ones_like(x, dtype=torch.bool)
    for k in reversed(range(bits)):
        above = above & (((x >> k) & 1) == 0)
        found = found + above.to(x.dtype)
    return found


def _divide(x, y):
    return torch.div(x, y, rounding_mode="trunc")


# PyTorch stores these types, but computes little with them.
FEW = (torch.uint16, torch.uint32, torch.uint64)


def _wide(x, y):
    """Returns two unsigned integers as signed ones of the same value."""
    if x.dtype == torch.uint64:
        x, y = x.view(torch.int64), y.view(torch.int64)
        if bool((x < 0).any()) or bool((y < 0).any()):
            raise NotImplementedError("PyTorch does not divide numbers of uint64 from 2^63 on")
    return x.to(torch.int64), y.to(torch.int64)


def _wide_divide(x, y):
    return _divide(*_wide(x, y)).to(x.dtype)


def _wide_remainder(x, y):
    return torch.fmod(*_wide(x, y)).to(x.dtype)


def _shift(x, n, by):
    """A shift by at least all bits leaves nothing, or the sign."""
    bits = torch.iinfo(x.dtype).bits
    inside = (n >= 0) & (n < bits)
    return inside, torch.where(inside, n, torch.zeros_like(n) if by == "zeros" else torch.full_like(n, bits - 1))


def _shift_left(x, n):
    inside, n = _shift(x, n, "zeros")
    return torch.where(inside, x << n, torch.zeros_like(x))


def _shift_right_arithmetic(x, n):
    return x >> _shift(x, n, "sign")[1]


def _shift_right_logical(x, n):
    inside, n = _shift(x, n, "zeros")
    info = torch.iinfo(x.dtype)
    if info.min < 0:  # the bits of the sign that an arithmetic shift brings are cleared
        mask = torch.where(n == 0, torch.full_like(x, -1), (torch.full_like(x, 1) << torch.clamp(info.bits - n, max=info.bits - 1)) - 1)
        mask = torch.where(n == 1, torch.full_like(x, info.max), mask)
        shifted = (x >> n) & mask
    else:
        shifted = x >> n
    return torch.where(inside, shifted, torch.zeros_like(x))


def _sign(x):
    return torch.where(torch.isnan(x), x, torch.sign(x)) if x.is_floating_point() else torch.sign(x)


SIMPLE.update({
    "stablehlo.abs": torch.abs, "stablehlo.negate": torch.neg, "stablehlo.exponential": torch.exp,
    "stablehlo.exponential_minus_one": torch.expm1, "stablehlo.log": torch.log, "stablehlo.log_plus_one": torch.log1p,
    "stablehlo.logistic": torch.sigmoid, "stablehlo.tanh": torch.tanh, "stablehlo.sqrt": torch.sqrt, "stablehlo.rsqrt": torch.rsqrt,
    "stablehlo.cbrt": _cbrt, "stablehlo.sine": torch.sin, "stablehlo.cosine": torch.cos, "stablehlo.tan": torch.tan,
    "stablehlo.floor": torch.floor, "stablehlo.ceil": torch.ceil, "stablehlo.round_nearest_even": torch.round,
    "stablehlo.round_nearest_afz": _round_away, "stablehlo.sign": _sign, "stablehlo.is_finite": torch.isfinite,
    "stablehlo.not": torch.bitwise_not, "stablehlo.popcnt": _popcnt, "stablehlo.count_leading_zeros": _leading_zeros,
    "stablehlo.real": torch.real, "stablehlo.imag": torch.imag, "stablehlo.complex": torch.complex,
    "stablehlo.power": torch.pow, "stablehlo.atan2": torch.atan2, "stablehlo.subtract": torch.sub, "stablehlo.and": torch.bitwise_and,
    "stablehlo.or": torch.bitwise_or, "stablehlo.xor": torch.bitwise_xor, "stablehlo.select": torch.where, "chlo.erf": torch.erf, "chlo.erfc": torch.erfc,
    "chlo.asin": torch.asin, "chlo.acos": torch.acos,
    "chlo.atan": torch.atan, "chlo.sinh": torch.sinh, "chlo.cosh": torch.cosh, "chlo.asinh": torch.asinh, "chlo.acosh": torch.acosh,
    "chlo.atanh": torch.atanh, "chlo.tan": torch.tan,
})


_SHIFTS = {
    "stablehlo.shift_left": _shift_left, "stablehlo.shift_right_arithmetic": _shift_right_arithmetic,
    "stablehlo.shift_right_logical": _shift_right_logical,
}


@builder(*_SHIFTS)
def _build_shift(g, op, operands, types, known):
    (x, n), dtype = (v.node for v in operands), operands[0].dtype
    number, bits = g.element(n), torch.iinfo(dtype).bits
    if number is None or not 0 <= number < bits or torch.iinfo(dtype).min == 0:
        return g.call(_SHIFTS[op.name], x, n)
    if op.name == "stablehlo.shift_left":
        return g.call(torch.bitwise_left_shift, x, number)
    shifted = g.call(torch.bitwise_right_shift, x, number)
    is_masked = op.name == "stablehlo.shift_right_logical" and number > 0
    return g.call(torch.bitwise_and, shifted, (1 << (bits - number)) - 1) if is_masked else shifted


@builder("stablehlo.add", "stablehlo.multiply")
def _sum_or_product(g, op, operands, types, known):
    is_sum, is_bool = op.name.endswith("add"), operands[0].dtype == torch.bool
    function = (torch.bitwise_or if is_sum else torch.bitwise_and) if is_bool else torch.add if is_sum else torch.mul
    nodes = [v.node for v in operands]
    if g.element(nodes[0]) is not None:
        nodes.reverse()
    return g.call(function, *(nodes if is_bool else g.plain(nodes, (1,))))


@builder("stablehlo.divide")
def _build_divide(g, op, operands, types, known):
    is_integer = not (operands[0].dtype.is_floating_point or operands[0].dtype.is_complex)
    function = _wide_divide if operands[0].dtype in FEW else _divide if is_integer else torch.div
    x = _of_sigmoid(g, *(v.node for v in operands))
    return g.call(function, *(v.node for v in operands)) if x is None else g.call(torch.sigmoid, x)


def _of_sigmoid(g, above, below):
    """Returns x of 1 / (1 + exp(-x)), which torch-mlir makes of a sigmoid; None for another quotient."""
    if g.element(above) != 1 or below.target is not torch.add or below.args[1] != 1 or getattr(below.args[0], "target", None) is not torch.exp:
        return None
    (negated,) = below.args[0].args
    return negated.args[0] if negated.target is torch.neg else None


@builder("stablehlo.clamp")
def _clamp(g, op, operands, types, known):
    low, x, high = (v.node for v in operands)
    return g.call(torch.minimum, g.call(torch.maximum, x, low), high)


def in_order(x):
    """Returns signed integers that are ordered as unsigned ones, for which PyTorch has few operations."""
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}[x.dtype]
    return x.view(signed) ^ torch.iinfo(signed).min


def out_of_order(x, dtype):
    return (x ^ torch.iinfo(x.dtype).min).view(dtype)


@builder("stablehlo.maximum", "stablehlo.minimum")
def _extremum(g, op, operands, types, known):
    function = torch.maximum if op.name.endswith("maximum") else torch.minimum
    nodes = [v.node for v in operands]
    if g.element(nodes[0]) is not None:
        nodes.reverse()
    number = g.element(nodes[1])
    if types[0][1] not in FEW and number is not None and types[0][1] != torch.bool:
        return g.call(torch.clamp, nodes[0], *((number,) if function is torch.maximum else (None, number)))
    if types[0][1] not in FEW:
        return g.call(function, *nodes)
    return g.call(out_of_order, g.call(function, *(g.call(in_order, node) for node in nodes)), types[0][1])


@builder("stablehlo.remainder")
def _remainder(g, op, operands, types, known):
    return g.call(_wide_remainder if types[0][1] in FEW else torch.fmod, *(v.node for v in operands))


@builder("stablehlo.compare")
def _compare(g, op, operands, types, known):
    direction = re.search(r"comparison_direction (\w+)", str(op.attributes["comparison_direction"]))[1]
    kind = str(op.attributes["compare_type"]) if "compare_type" in op.attributes else ""
    nodes = [v.node for v in operands]
    if operands[0].dtype in FEW:
        nodes = [g.call(in_order, node) for node in nodes]
    elif operands[0].dtype in FLOATS_8 and "TOTALORDER" not in kind:
        nodes = [g.method("to", node, torch.float32) for node in nodes]
    if "TOTALORDER" in kind:
        nodes = [g.call(total_order, node) for node in nodes]
    is_plain = operands[0].dtype not in FEW and "TOTALORDER" not in kind
    return g.call(getattr(torch, direction.lower()), *(g.plain(nodes, (1,)) if is_plain else nodes))


def total_order(x):
    """Returns integers in the total order of floats: -NaN, -Inf, ..., -0, 0, ..., Inf, NaN."""
    bits = INTEGERS[x.element_size()] if x.element_size() > 1 else torch.int8
    y = x.contiguous().view(bits)
    return torch.where(y < 0, y ^ torch.iinfo(bits).max, y)


def _to_integer(x, dtype):
    """Rounds towards zero; the nearest integer of the type for what lies outside of it, and 0 for NaN."""
    x = torch.nan_to_num(x.to(torch.float64), nan=0.0, posinf=float("inf"), neginf=float("-inf"))
    if dtype == torch.uint64:
        return x.clamp(0, 2.0**64 - 2048).to(dtype)
    info = torch.iinfo(dtype)
    whole = x.clamp(-(2.0**63), 2.0**63 - 1024).to(torch.int64).clamp(info.min, info.max)
    return torch.where(x >= 2.0**63, info.max, whole).to(dtype)


@builder("stablehlo.convert")
def _convert(g, op, operands, types, known):
    if operands[0].dtype.is_complex and not types[0][1].is_complex:
        return g.method("to", g.call(torch.real, operands[0].node), types[0][1])
    if operands[0].dtype == types[0][1]:
        return operands[0].node
    is_rounded = operands[0].dtype.is_floating_point and not (types[0][1].is_floating_point or types[0][1].is_complex or types[0][1] == torch.bool)
    made = g.call(_to_integer, operands[0].node, types[0][1]) if is_rounded else g.method("to", operands[0].node, types[0][1])
    number = g.element(operands[0].node)
    # a number that changes in the conversion is not known
    is_same = number is not None and torch.tensor(number, dtype=types[0][1]).item() == number
    return g.equal(made, number) if is_same and isinstance(number, bool) == (types[0][1] == torch.bool) else made


@builder("stablehlo.bitcast_convert")
def _bitcast(g, op, operands, types, known):
    return g.method("view", g.method("contiguous", operands[0].node), types[0][1])
