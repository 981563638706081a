"""Functions as users of JAX write them: CASES, {name: Case}."""
from . import layers, libraries, llama
from .case import CASES, Case, shapes

__all__ = ["CASES", "Case", "shapes"]
