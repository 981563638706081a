"""The jitted function of a plan, and where its arguments lie."""
import functools

import jax
from jax import tree_util
from jax.core import Tracer
from jax.sharding import NamedSharding

from ._export import is_planning


class Jitted:
    """The jitted function of a plan, which takes arrays wherever they lie.

    jax.jit refuses an array that was split in another way than its in_shardings say, such as a result
    of another function. This one moves it first. What is donated is freed after that, if it was on
    the devices of the plan. Arrays that no one has placed, and values that are traced, are left to
    jax.jit; so are arrays that other processes hold in part, but for those on the devices of the plan.

    jitted:    what jax.jit made of the planned function
    function:  what was planned; it is called in its place while a function around it is planned
    check:     called with the arguments where jax.jit raises ValueError; raises ValueError if they have
               another structure than those of the plan, of which JAX would say that it does not fit
               shardings that the user has not given
    shardings: pytree of NamedSharding on one mesh, a tuple with an entry for each argument that is
               not static
    static_argnums, donate_argnums: numbers of arguments, from 0
    """

    def __init__(self, jitted, function, check, shardings, static_argnums, donate_argnums):
        functools.update_wrapper(self, jitted)
        self._jitted, self._function, self._check, self._static = jitted, function, check, frozenset(static_argnums)
        self._shardings, self._tree = tree_util.tree_flatten(shardings)
        dynamic = iter(shardings)
        of_arguments = [None if i in self._static else next(dynamic) for i in range(len(shardings) + len(self._static))]
        self._donated = [i in donate_argnums for i, tree in enumerate(of_arguments) for _ in tree_util.tree_leaves(tree)]
        self._fitting = [None] * len(self._shardings)  # sharding of each leaf that was last found to fit
        self._movers = {}

    def __call__(self, *args):
        if is_planning.value:
            return self._function(*args)
        try:
            return self._jitted(*self._replaced(args, self._move))
        except ValueError:
            self._check(args)
            raise

    def lower(self, *args):
        return self._jitted.lower(*self._replaced(args, self._forget))

    def trace(self, *args):
        return self._jitted.trace(*self._replaced(args, self._forget))

    def __getattr__(self, name):  # eval_shape, clear_cache, ...
        return getattr(self._jitted, name)

    def _replaced(self, args, replace):
        """Returns the arguments after replace(leaves, elsewhere), if any leaf lies elsewhere."""
        dynamic = tuple(arg for i, arg in enumerate(args) if i not in self._static) if self._static else args
        leaves, tree = tree_util.tree_flatten(dynamic)
        elsewhere = self._elsewhere(leaves) if tree == self._tree else ()
        if not elsewhere:
            return args
        replace(leaves, elsewhere)
        moved = iter(tree_util.tree_unflatten(tree, leaves))
        return tuple(arg if i in self._static else next(moved) for i, arg in enumerate(args))

    def _elsewhere(self, leaves):
        """Returns the indices of the leaves that were placed in another way than the plan says."""
        found = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, Tracer):
                return []
            sharding = getattr(leaf, "sharding", None)
            if sharding is None or sharding is self._fitting[i] or not getattr(leaf, "committed", True):
                continue
            if sharding.is_equivalent_to(self._shardings[i], leaf.ndim):
                self._fitting[i] = sharding
            else:
                found.append(i)
        return found

    def _forget(self, leaves, elsewhere):
        """Replaces leaves by their shapes."""
        for i in elsewhere:
            leaf = leaves[i]
            leaves[i] = jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False))

    def _move(self, leaves, elsewhere):
        """Replaces leaves by arrays with the shardings of the plan."""
        near = tuple(i for i in elsewhere if self._is_near(leaves[i].sharding, self._shardings[i]))
        if near not in self._movers:  # XLA moves them without the host, which device_put would go through
            self._movers[near] = jax.jit(lambda *leaves: leaves, out_shardings=tuple(self._shardings[i] for i in near))
        old = [leaves[i] for i in near]
        for i, leaf in zip(near, self._movers[near](*old)):
            leaves[i] = leaf
        for i in elsewhere:
            if i not in near and leaves[i].is_fully_addressable:
                leaves[i] = jax.device_put(leaves[i], self._shardings[i])
        for i, leaf in zip(near, old):
            if self._donated[i] and not isinstance(leaves[i], Tracer):  # not in a function that is traced and runs later
                leaf.delete()

    @staticmethod
    def _is_near(sharding, wanted):
        """Whether an array of this sharding lies in the same memories, of the same devices in the same order."""
        return (
            isinstance(sharding, NamedSharding)
            and sharding.memory_kind == wanted.memory_kind
            and (sharding.mesh is wanted.mesh or list(sharding.mesh.devices.flat) == list(wanted.mesh.devices.flat))
        )
