"""Damaged files of jax.export: python -m tpshard.jax says so, or reads the same program; it does not crash by our doing.

    python fuzz_exports.py [COUNT [SEED]]

Each is read by a process of its own with a limit of memory, forked from one that has JAX loaded. JAX itself
may end the process: a file with which jax.export.deserialize and its module do so too is counted apart."""
import collections
import os
import random
import resource
import sys
import tempfile
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir.dialects import stablehlo

import tpshard
from tpshard.jax import _read

LIMIT = 16 << 30  # of addresses; JAX and XLA reserve most of it


def sample():
    """A valid file."""
    f = jax.jit(lambda p, x: {"y": jnp.tanh(x @ p["w"]), "n": x.sum(0)})
    shapes = {"w": jax.ShapeDtypeStruct((8, 4), jnp.float32)}, jax.ShapeDtypeStruct((2, 8), jnp.float32)
    return jax.export.export(f)(*shapes).serialize()


def damaged(data, rng):
    """Flipped bits, changed words, a cut, a repeated or a moved part."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        kind, at = rng.randrange(5), rng.randrange(len(out))
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at : at + 4] = rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, rng.getrandbits(32))).to_bytes(4, "little")
        elif kind == 2 and len(out) > 16:
            del out[at : at + rng.randrange(1, 64)]
        elif kind == 3:
            out[at:at] = out[at : at + rng.randrange(1, 64)]
        else:
            out[at] = rng.getrandbits(8)
    return bytes(out)


def in_child(work):
    """Returns the exit code of the work in a forked process, or -signal."""
    sys.stdout.flush()
    with warnings.catch_warnings():  # of threads of JAX, which the child does not need
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os._exit(work())
        except BaseException:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def ours(path):
    try:
        return 0 if _read.text_of_file(path) else 98
    except tpshard.Error as error:
        return 1 if path in str(error) else 97


def theirs(data):
    with jax_mlir.make_ir_context() as context:
        stablehlo.deserialize_portable_artifact(context, jax.export.deserialize(bytearray(data)).mlir_module_serialized)
    return 0


def run(count, seed=0):
    """Returns ({outcome: number}, [seeds of those that fail by our doing])."""
    data, outcomes, wrong = sample(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "damaged.jaxexport")
        with open(path, "wb") as file:
            file.write(data)
        assert in_child(lambda: ours(path)) == 0, "the valid file is not read"
        for i in range(seed, seed + count):
            changed = damaged(data, random.Random(i))
            with open(path, "wb") as file:
                file.write(changed)
            code = in_child(lambda: ours(path))
            if code < 0 and in_child(lambda: theirs(changed)) == code:
                outcomes["JAX ends the process"] += 1
            elif code in (0, 1):
                outcomes["read" if code == 0 else "refused"] += 1
            else:
                outcomes["wrong"] += 1
                wrong.append((i, code))
    return dict(outcomes), wrong


def main():
    count, seed = (list(map(int, sys.argv[1:])) + [2000, 0][len(sys.argv) - 1 :])[:2]
    outcomes, wrong = run(count, seed)
    print("%d damaged files: %s" % (count, ", ".join("%d %s" % (n, what) for what, n in outcomes.items())))
    for i, code in wrong:
        print("seed %d: exit code %d" % (i, code))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
