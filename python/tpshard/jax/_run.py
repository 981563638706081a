"""Arguments and results of JAX as shard-run reads and writes them."""
import jax
import numpy

from .._ranks import run_ranks
from ._export import is_key


def _plain(array, aval, name):
    """Returns the array as shard-run reads it from a file: narrow floats as f32, keys as words."""
    if is_key(aval):
        array = jax.random.key_data(array)
        return numpy.asarray(array)
    if isinstance(array, jax.ShapeDtypeStruct):
        raise TypeError('run_here: "%s" is a shape (ShapeDtypeStruct); give an array, such as numpy.zeros(%r, "%s")' % (name, tuple(aval.shape), aval.dtype))
    array = numpy.asarray(array)
    if array.shape != tuple(aval.shape) or jax.dtypes.canonicalize_dtype(array.dtype) != aval.dtype:
        raise ValueError(
            'run_here: "%s" is %s%s, but the plan is for %s%s' % (name, array.dtype, list(array.shape), aval.dtype, list(aval.shape))
        )
    return _wide(array.astype(aval.dtype))


def _wide(array):
    is_known = array.dtype.kind in "biufc" and array.dtype.isbuiltin
    return array if is_known else array.astype(numpy.float32)


def _back(array, aval):
    return array if is_key(aval) else array.astype(aval.dtype)


def _computed(function, export, leaves):
    """Returns what JAX itself computes on the CPU, as shard-run reads it."""
    with jax.default_device(jax.devices("cpu")[0]):
        own = [leaf if is_key(aval) else jax.numpy.asarray(numpy.asarray(leaf), aval.dtype) for leaf, aval in zip(leaves, export.avals)]
        found = jax.tree_util.tree_leaves(jax.jit(function)(*jax.tree_util.tree_unflatten(export.tree, own)))
    return [numpy.asarray(jax.random.key_data(x)) if is_key(x) else _wide(numpy.asarray(x)) for x in found]


def run_here(plan_text, options, export, function, leaves):
    """Returns the results of the planned program as a pytree. `options` are those of the plan; `function` takes its arguments."""
    arrays = [_plain(leaf, aval, name) for leaf, aval, name in zip(leaves, export.avals, export.names)]
    expected = lambda: _computed(function, export, leaves)
    found, error = run_ranks(plan_text, options, arrays, export.result_names, expected, "JAX")
    results = jax.tree_util.tree_unflatten(export.result_tree, map(_back, found, export.result_avals))
    if error:
        error.results = results
        raise error
    return results
