"""Runs a planned program on ranks of this machine, by shard-run."""
import os
import re
import subprocess
import tempfile

import jax
import numpy

from .. import _library
from ..errors import Error, IllConditioned, Mismatch
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


def _failure(done, names):
    """Returns the exception for a run that failed: `Mismatch` or `IllConditioned` if shard-run has written results."""
    name, found, said = "", {Mismatch: [], IllConditioned: []}, (done.stderr + done.stdout).strip()
    for line in done.stdout.splitlines():
        result = re.match(r"  result (\d+): ", line)
        verdict = re.match(r"    against (.*?) +(ILL-CONDITIONED|MISMATCH): (.*)", line)
        if result:
            name = names[int(result[1])]
        elif verdict and verdict[2] == "MISMATCH":
            found[Mismatch].append('"%s" differs from %s: %s' % (name, verdict[1], verdict[3]))
        elif verdict:
            found[IllConditioned].append('"%s" is ill-conditioned: %s' % (name, verdict[3]))
    faults = found[Mismatch] + found[IllConditioned]
    if faults:
        kind = Mismatch if found[Mismatch] else IllConditioned
        faults.append("the attribute `results` of this exception has what was computed; shard-run says:\n")
        return kind("run_here: %s\n%s" % ("\n".join(faults), said))
    what = "shard-run failed (%d)" % done.returncode
    if "runs only with XLA" in said:
        what = "run_here: the program has an op that runs only with XLA; call plan.jit() instead"
    return Error("%s:\n%s" % (what, said))


def run_ranks(program, options, export, leaves):
    """Returns the results of the planned program as a pytree. `options` are those of the plan."""
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
        error = _failure(done, export.result_names) if done.returncode != 0 else None
        if error and not isinstance(error, (Mismatch, IllConditioned)):
            raise error
        arrays = [_back(numpy.load(path), aval) for path, aval in zip(outputs, export.result_avals)]
        results = jax.tree_util.tree_unflatten(export.result_tree, arrays)
        if error:
            error.results = results
            raise error
        return results
