"""tpshard: a tensor-parallel compiler, planned by time and explained.

This package is a thin layer over the C API of libtpshard. For JAX:

    import tpshard.jax as tps
    plan = tps.plan(step, args, mesh={"dp": 2, "tp": 4})

`tpshard.run` runs a pipeline on the text of any program. Errors are `tpshard.Error` and its
subclasses `Refused`, `Infeasible`, `Mismatch` and `IllConditioned`.
"""
import importlib

from ._library import Result, prefix, run, version
from .errors import Diagnostic, Error, IllConditioned, Infeasible, Mismatch, Refused

__all__ = ["Diagnostic", "Error", "IllConditioned", "Infeasible", "Mismatch", "Refused", "Result", "prefix", "run", "version"]


def __getattr__(name):
    if name == "jax":  # imported at its first use, because it needs JAX
        return importlib.import_module(".jax", __name__)
    if name in ("plan", "jit", "load"):
        raise AttributeError("tpshard has no %s; it is tpshard.jax.%s" % (name, name))
    raise AttributeError("module 'tpshard' has no attribute %r" % name)


__version__ = "0.1.0"
