"""A function that is planned when it is called."""
import collections.abc
import functools
import inspect
import threading
import types

import jax
import numpy
from jax import tree_util
from jax._src import config as jax_config

from .._names import parameter_names, suggestion
from ._export import is_planning
from ._plan import plan


def jit(
    function=None, mesh=None, *, devices=None, by="plan", donate_argnums=(), donate_argnames=(), static_argnums=(),
    static_argnames=(), **options,
):
    """Returns the function as one that is planned at its first call, and then runs by the plan:

        step = tps.jit(train_step, mesh={"dp": 2, "tp": 4}, donate_argnums=(0, 1))
        params, state, loss = step(params, state, batch)

    As a decorator: @tps.jit(mesh={"tp": 8}). Like jax.jit it plans again for arguments of other
    shapes, types or structure, and for other static values. Arguments may lie anywhere: each call
    moves arrays to the layouts of the plan. It may be called inside of jax.jit. Inside of another
    planned function it is planned as a part of that one, and its own mesh and options do not count.

    mesh, options:  as of `plan`.
    devices, by:    as of `Plan.jit`.
    donate_argnums, donate_argnames, static_argnums, static_argnames: as of jax.jit. Static values
                    must be hashable.

    Returns a `Planned`. Calls raise what `plan` and `Plan.jit` raise, and TypeError for arguments
    that the function does not take.
    """
    if mesh is None:
        raise TypeError('jit: give a mesh, such as mesh={"dp": 2, "tp": 4}')
    given = {
        "mesh": mesh, "devices": devices, "by": by, "donate_argnums": donate_argnums, "donate_argnames": donate_argnames,
        "static_argnums": static_argnums, "static_argnames": static_argnames, **options,
    }
    return functools.partial(jit, **given) if function is None else Planned(function, **given)


def _tuple(value):
    return (value,) if isinstance(value, (int, str)) else tuple(value or ())


class _Chosen:
    """Parameters chosen by number and by name."""

    def __init__(self, what, function, numbers, names):
        parameters = list(inspect.signature(function).parameters.values())
        plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        takes_any = {p.kind for p in parameters}
        self.names, self.numbers = set(_tuple(names)), set()
        for name in self.names:
            if name not in [p.name for p in parameters] and inspect.Parameter.VAR_KEYWORD not in takes_any:
                raise ValueError('%s_argnames: there is no parameter "%s"%s' % (what, name, suggestion(name, [p.name for p in parameters])))
        for n in _tuple(numbers):
            at = n + len(plain) if n < 0 else n
            if at < 0 or (at >= len(plain) and inspect.Parameter.VAR_POSITIONAL not in takes_any):
                raise ValueError("%s_argnums: there is no positional parameter %d; there are %d" % (what, n, len(plain)))
            self.numbers.add(at)
            self.names.update(plain[at : at + 1])

    def positions(self, names):
        return tuple(i for i, name in enumerate(names) if i in self.numbers or name in self.names)


def _by_position(function, n, keywords):
    """The function with the arguments of these keywords after the n positional ones."""
    if not keywords:
        return function

    @functools.wraps(function)
    def called(*args):
        return function(*args[:n], **dict(zip(keywords, args[n:])))

    names = parameter_names(function, n)
    unique = [name if name.isidentifier() else "arg%d" % i for i, name in enumerate(names)] + list(keywords)
    called.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in unique])
    return called


def _is_unusual(leaf):
    """True for an array of floats with an element that debug_nans or debug_infs is about."""
    if isinstance(leaf, jax.core.Tracer) or not jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact):
        return False
    found = numpy.asarray(leaf).astype(complex)
    return bool((jax.config.jax_debug_nans and numpy.isnan(found).any()) or (jax.config.jax_debug_infs and numpy.isinf(found).any()))


class Planned:
    """A function that is planned when it is called. What `jit` returns.

    plan(*args, **kwargs):  the `Plan` for these arguments, of which shapes are enough
    lower(*args, **kwargs): what jax.jit(...).lower returns, of the planned program
    clear_cache():          forgets all plans
    """

    def __init__(self, function, mesh, devices, by, donate_argnums, donate_argnames, static_argnums, static_argnames, **options):
        functools.update_wrapper(self, function)
        self._function, self._mesh, self._devices, self._by, self._options = function, mesh, devices, by, options
        self._signature = inspect.signature(function)
        self._donated = _Chosen("donate", function, donate_argnums, donate_argnames)
        self._static = _Chosen("static", function, static_argnums, static_argnames)
        self._made, self._lock = {}, threading.Lock()

    def _entry(self, args, kwargs):
        """Returns the plan for these arguments, its function, and the arguments by position."""
        bound = self._signature.bind(*args, **kwargs)
        keywords, n = tuple(bound.kwargs), len(bound.args)
        values = bound.args + tuple(bound.kwargs.values())
        names = parameter_names(self._function, n) + list(keywords)
        static, donated = self._static.positions(names), self._donated.positions(names)
        leaves, tree = tree_util.tree_flatten(tuple(None if i in static else value for i, value in enumerate(values)))
        avals = [jax.api_util.shaped_abstractify(leaf) for leaf in leaves]
        kinds = tuple((a.shape, a.dtype, a.weak_type) for a in avals)
        for i in static:
            if not isinstance(values[i], collections.abc.Hashable):
                raise TypeError("%s: static values must be hashable, but this is a %s" % (names[i], type(values[i]).__name__))
        # What JAX traces under other settings, such as enable_x64, is another program.
        key = keywords, tree, kinds, static, tuple(values[i] for i in static), jax_config.trace_context()
        with self._lock:
            if key not in self._made:
                shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
                shaped = tree_util.tree_unflatten(tree, shapes)
                shaped = tuple(values[i] if i in static else value for i, value in enumerate(shaped))
                made = plan(
                    _by_position(self._function, n, keywords), shaped, self._mesh, donate_argnums=donated,
                    static_argnums=static, **self._options,
                )
                self._made[key] = made, made.jit(self._devices, self._by)
            return self._made[key] + (values,)

    def __call__(self, *args, **kwargs):
        if is_planning.value or jax.config.jax_disable_jit:
            return self._function(*args, **kwargs)
        _, jitted, values = self._entry(args, kwargs)
        if not jax.config.jax_debug_nans and not jax.config.jax_debug_infs:
            return jitted(*values)
        with jax.debug_nans(False), jax.debug_infs(False):
            results = jitted(*values)
        if any(_is_unusual(leaf) for leaf in tree_util.tree_leaves(results)):
            if any(isinstance(leaf, jax.Array) and leaf.is_deleted() for leaf in tree_util.tree_leaves(values)):
                raise FloatingPointError("NaN or inf in a result; arguments were donated, so that the op is not known")
            self._function(*args, **kwargs)  # the op that makes it raises the error
        return results

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def plan(self, *args, **kwargs):
        return self._entry(args, kwargs)[0]

    def lower(self, *args, **kwargs):
        _, jitted, values = self._entry(args, kwargs)
        return jitted.lower(*values)

    def clear_cache(self):
        with self._lock:
            self._made.clear()
