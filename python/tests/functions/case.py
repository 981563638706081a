"""A function of the collection, with arguments and what is split."""
import dataclasses
import typing

import jax
import numpy


class Draw:
    """Random arguments, the same for the same name."""

    def __init__(self, name, uneven=False):
        self.rng, self.uneven = numpy.random.default_rng([ord(c) for c in name]), uneven

    def of(self, size, uneven):
        """A size that the meshes divide, or one that they do not."""
        return uneven if self.uneven else size

    def normal(self, *shape, scale=1.0):
        return (scale * self.rng.standard_normal(shape)).astype(numpy.float32)

    def weight(self, *shape):
        """Scaled by the fan-in, which is the last dimension but one."""
        return self.normal(*shape, scale=shape[-2] ** -0.5 if len(shape) > 1 else 0.1)

    def ints(self, high, *shape, dtype=numpy.int32):
        return self.rng.integers(0, high, shape).astype(dtype)


@dataclasses.dataclass(frozen=True)
class Case:
    """function(*make(Draw(name))) is to be the same on one device and on many, and again with the sizes
    of Draw(name, uneven=True), which meshes of 8 devices do not divide.

    split:  [(pattern, dimension)]: what the axes of a mesh split, in order; the next axis begins
            anew when there are more.
    local:  the function needs no communication when it is split so.
    fast:   it is in the subset that runs with every test.
    donate: numbers of donated arguments.
    zero:   patterns of results that are 0 in exact arithmetic, such as the gradient of the bias of
            keys, which softmax does not see. What is there is rounding.
    """

    name: str
    function: typing.Callable
    make: typing.Callable
    split: tuple
    local: bool = False
    fast: bool = False
    donate: tuple = ()
    zero: tuple = ()

    def args(self, uneven=False):
        return self.make(Draw(self.name, uneven))


CASES = {}


def case(make, *split, name=None, **options):
    """Adds a function to the collection: as a decorator, or called with the function."""

    def add(function):
        made = Case(name or function.__name__, function, make, split, **options)
        assert made.name not in CASES, made.name
        CASES[made.name] = made
        return function

    return add


def shapes(tree):
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), tree)
