"""Runs exported programs of a folder with JAX alone: one process, or one of several.

    python loaded_worker.py FOLDER [PROCESSES NUMBER PORT]

FOLDER has NAME.jaxexport, NAME.in.I.npy, NAME.out.I.npy, and programs.json with the mesh of each
program and the patterns of results that are 0. Prints "equal NAME" for each; the exit code is 1 if
one differs. Each process has 8 / PROCESSES devices and compares the parts that it holds."""
import importlib.util
import json
import os
import pathlib
import sys

folder, processes, number, port = pathlib.Path(sys.argv[1]), *(map(int, sys.argv[2:] or (1, 0, 0)))
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=%d" % (8 // processes)

import jax
import numpy
from jax import export

TOLERANCES = {"float32": 1e-5, "bfloat16": 2e-2}


def is_key(aval):
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def read(path, aval):
    array = numpy.load(path, allow_pickle=False)
    return array if is_key(aval) else array.view(aval.dtype)


def placed(array, aval, sharding):
    made = jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])
    return jax.jit(jax.random.wrap_key_data)(made) if is_key(aval) else made


def equal(found, expected, is_zero):
    """Compares the parts that this process holds."""
    kind = expected.dtype.name
    finite = expected[numpy.isfinite(expected)].astype(numpy.float64) if kind in TOLERANCES else expected
    scale = 1e-7 / TOLERANCES.get(kind, 1) if is_zero else numpy.abs(finite).max(initial=0)
    for shard in found.addressable_shards:
        a, b = numpy.asarray(shard.data), expected[shard.index]
        if kind not in TOLERANCES:
            if not numpy.array_equal(a, b):
                return False
        elif not numpy.allclose(a.astype(numpy.float64), b.astype(numpy.float64), rtol=0, atol=TOLERANCES[kind] * scale):
            return False
    return True


def run(name, sizes, zero):
    loaded = export.deserialize((folder / (name + ".jaxexport")).read_bytes())
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()).reshape(tuple(sizes.values())), tuple(sizes))
    args = [
        placed(read(folder / ("%s.in.%d.npy" % (name, i)), aval), aval, sharding or jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
        for i, (aval, sharding) in enumerate(zip(loaded.in_avals, loaded.in_shardings_jax(mesh)))
    ]
    args, keywords = jax.tree.unflatten(loaded.in_tree, args)
    found = jax.tree.leaves(jax.jit(loaded.call)(*args, **keywords))
    return [
        i for i, (a, aval) in enumerate(zip(found, loaded.out_avals))
        if not equal(a, read(folder / ("%s.out.%d.npy" % (name, i)), aval), i in zero)
    ]


def main():
    if importlib.util.find_spec("tpshard"):
        sys.exit("tpshard can be imported, so this shows nothing")
    if processes > 1:
        jax.distributed.initialize("localhost:%d" % port, processes, number)
    failed = 0
    for name, about in json.loads((folder / "programs.json").read_text()).items():
        different = run(name, about["mesh"], about["zero"])
        failed += bool(different)
        print("differs %s: results %s" % (name, different) if different else "equal %s" % name, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
