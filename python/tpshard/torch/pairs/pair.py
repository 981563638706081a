"""A complex number as two real ones."""
import typing

import torch


class Pair(typing.NamedTuple):
    """imag is None where it is 0."""

    real: torch.Tensor
    imag: torch.Tensor


def real_type(dtype):
    """Returns the type of the parts of a complex type, or a real type itself."""
    return dtype.to_real() if dtype.is_complex else dtype


def split(x):
    """Returns the pair that a pair, a tensor or a number is."""
    if isinstance(x, Pair):
        return x
    return Pair(x.real, x.imag) if isinstance(x, complex) else Pair(x, None)


def filled(x):
    """Returns a pair of tensors."""
    real, imag = split(x)
    return Pair(real, torch.zeros_like(real) if imag is None else imag)


def fitted(made, like):
    """Returns what an operation made, with the types and shapes of tensors `like` it."""
    if isinstance(like, (tuple, list)):
        return [fitted(x, y) for x, y in zip(made, like)]
    if not like.dtype.is_complex:
        return made
    made = filled(made)
    return Pair(*(x.to(real_type(like.dtype)).expand(like.shape) for x in made))
