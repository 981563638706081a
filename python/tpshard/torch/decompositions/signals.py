"""Windows of signals."""
import math

import torch

aten = torch.ops.aten


def _hamming(turn, alpha=0.54, beta=0.46):
    return alpha - beta * turn.cos()


def _blackman(turn):
    return 0.42 - 0.5 * turn.cos() + 0.08 * (2 * turn).cos()


def _bartlett(turn):
    return 1 - (turn / math.pi - 1).abs()


def _window(function):
    """function: of the angle, which goes once around over the window"""

    def made(n, periodic=True, *numbers, dtype=None, device=None, **others):
        dtype = torch.get_default_dtype() if dtype is None else dtype
        if n <= 1:
            return torch.ones(n, dtype=dtype, device=device)
        turn = torch.arange(n, device=device).to(dtype) * (2 * math.pi / (n if periodic else n - 1))
        return function(turn, *numbers)

    return made


_FUNCTIONS = {"hann_window": lambda turn: _hamming(turn, 0.5, 0.5), "hamming_window": _hamming, "blackman_window": _blackman, "bartlett_window": _bartlett}

TABLE = {
    getattr(getattr(aten, name), overload): _window(function)
    for name, function in _FUNCTIONS.items()
    for overload in getattr(aten, name).overloads()
    if "out" not in overload
}
