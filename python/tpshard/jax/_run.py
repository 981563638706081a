"""Arguments and results of JAX as shard-run reads and writes them."""
import jax
import numpy

from .._ranks import run_ranks


def _plain(array, aval, name):
    """Returns the array as shard-run reads it from a file: narrow floats as f32, keys as words."""
    if jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key):
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
    is_key = jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)
    return array if is_key else array.astype(aval.dtype)


def run_here(plan_text, options, export, leaves):
    """Returns the results of the planned program as a pytree. `options` are those of the plan."""
    arrays = [_plain(leaf, aval, name) for leaf, aval, name in zip(leaves, export.avals, export.names)]
    found, error = run_ranks(plan_text, options, arrays, export.result_names)
    results = jax.tree_util.tree_unflatten(export.result_tree, map(_back, found, export.result_avals))
    if error:
        error.results = results
        raise error
    return results
