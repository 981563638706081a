"""Runs a planned program on ranks of this machine, by shard-run."""
import os
import subprocess
import tempfile

import jax
import numpy

from .. import _library
from ..errors import Error, Mismatch
from ._packed import OF_PARTITION


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


def run_ranks(program, options, export, leaves):
    """Returns the results of the planned program, in order. `options` are those of the plan."""
    with tempfile.TemporaryDirectory(prefix="tpshard.") as folder:
        at = lambda name: os.path.join(folder, name)
        with open(at("plan.mlir"), "w", encoding="utf-8") as file:
            file.write(program)
        for i, (leaf, aval, name) in enumerate(zip(leaves, export.avals, export.names)):
            numpy.save(at("plan.in.%d.npy" % i), _plain(leaf, aval, name))
        outputs = [at("out.%d.npy" % i) for i in range(len(export.result_names))]
        command = [str(_library.prefix() / "bin" / "shard-run"), at("plan.mlir"), "--inputs-from", at("plan")]
        command += ["--%s=%s" % (name, options[name]) for name in OF_PARTITION if name in options]
        done = subprocess.run(command + ["--output=@" + path for path in outputs], capture_output=True, text=True)
        if done.returncode != 0:
            said = done.stderr + done.stdout  # errors, or a table that says what differs
            kind = Mismatch if "MISMATCH" in done.stdout else Error
            what = "shard-run failed (%d)" % done.returncode
            if "runs only with XLA" in said:
                what = "run_here: the program has an op that runs only with XLA; call plan.jit() instead"
            raise kind("%s:\n%s" % (what, said.strip()))
        return [_back(numpy.load(path), aval) for path, aval in zip(outputs, export.result_avals)]
