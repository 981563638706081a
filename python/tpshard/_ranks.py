"""Runs a planned program on ranks of this machine, by shard-run."""
import os
import re
import subprocess
import tempfile
import warnings

from . import _library
from ._plan import OF_PARTITION
from .errors import Error, IllConditioned, Mismatch


def _failure(done, names, framework):
    """Returns the exception for a run that failed: `Mismatch` or `IllConditioned` if shard-run has written results."""
    name, found, said = "", {Mismatch: [], IllConditioned: []}, (done.stderr + done.stdout).strip()
    for line in done.stdout.splitlines():
        result = re.match(r"  result (\d+): ", line)
        verdict = re.match(r"    against (.*?) +(ILL-CONDITIONED|MISMATCH): (.*)", line)
        if result:
            name = names[int(result[1])]
        elif verdict and verdict[2] == "MISMATCH":
            reference = framework if verdict[1] == "expected" else verdict[1]
            found[Mismatch].append('"%s" differs from %s: %s' % (name, reference, verdict[3]))
        elif verdict and not any(text.startswith('"%s" ' % name) for text in found[IllConditioned]):
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


def run_ranks(program, options, arrays, result_names, expected=list, framework=""):
    """Runs a planned program and compares the results with those of one device and with what a framework computed.

    program:      text
    options:      those of the plan
    arrays:       numpy arrays for the arguments, in order
    result_names: names of the results
    expected:     function that returns what the framework computes, numpy arrays in order; if it fails, a warning says so
    framework:    its name

    Returns (results as numpy arrays, None), or (results, exception) where they differ or cannot be
    verified. Raises `Error` if the run fails.
    """
    import numpy  # not a dependency of the package, but of both front ends

    with tempfile.TemporaryDirectory(prefix="tpshard.") as folder:
        at = lambda name: os.path.join(folder, name)
        with open(at("plan.mlir"), "w", encoding="utf-8") as file:
            file.write(program)
        for i, array in enumerate(arrays):
            numpy.save(at("plan.in.%d.npy" % i), array)
        try:
            for i, array in enumerate(expected()):
                numpy.save(at("plan.out.%d.npy" % i), array)
        except Exception as error:  # of the user's code
            what = "run_here: %s does not run the function on the CPU, so results are compared with those of one device alone: %s: %s"
            warnings.warn(what % (framework, type(error).__name__, error), stacklevel=3)
        outputs = [at("out.%d.npy" % i) for i in range(len(result_names))]
        command = [str(_library.prefix() / "bin" / "shard-run"), at("plan.mlir"), "--inputs-from", at("plan")]
        command += ["--%s=%s" % (name, options[name]) for name in OF_PARTITION if name in options]
        plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "CLICOLOR_FORCE")}  # lines are read
        done = subprocess.run(command + ["--output=@" + path for path in outputs], capture_output=True, text=True, env=plain)
        error = _failure(done, result_names, framework) if done.returncode != 0 else None
        if error and not isinstance(error, (Mismatch, IllConditioned)):
            raise error
        return [numpy.load(path) for path in outputs], error
