"""tpshard: a tensor-parallel compiler, planned by time and explained.

This package is a thin layer over the C API of libtpshard. For JAX and for PyTorch:

    import tpshard.jax as tps      # or tpshard.torch
    plan = tps.plan(step, args, mesh={"dp": 2, "tp": 4})

`tpshard.run` runs a pipeline on the text of any program. Errors are `tpshard.Error` and its
subclasses `Refused`, `Infeasible`, `Mismatch` and `IllConditioned`.
"""
import importlib

from ._library import Result, prefix, run, version
from .errors import Diagnostic, Error, IllConditioned, Infeasible, Mismatch, Refused

__all__ = ["Diagnostic", "Error", "IllConditioned", "Infeasible", "Mismatch", "Refused", "Result", "prefix", "run", "version"]


def __getattr__(name):
    if name in ("jax", "torch"):  # imported at its first use, because it needs JAX or PyTorch
        return importlib.import_module("." + name, __name__)
    if name in ("plan", "load"):
        raise AttributeError("tpshard has no %s; it is tpshard.jax.%s or tpshard.torch.%s" % (name, name, name))
    if name == "jit":
        raise AttributeError("tpshard has no jit; it is tpshard.jax.jit")
    raise AttributeError("module 'tpshard' has no attribute %r" % name)


__version__ = "0.1.0"
