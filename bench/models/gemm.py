#!/usr/bin/env python3
"""Compares the matrix multiplications of the models, whole on one device, with OpenBLAS, oneDNN and JAX.

gemm.py [--rounds N] [--repeat N] [--json]

All use all processors and take turns; the best of all executions of each counts. OpenBLAS and oneDNN (libdnnl, where it is installed) multiply
contiguous matrices, ours and JAX the tensors of the model. Needs `pip install jax`; SHARD_RUN names the tool, DNNL_LIBRARY oneDNN.
"""

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("--rounds", type=int, default=5, help="turns of each (default: 5)")
parser.add_argument("--repeat", type=int, default=15, help="executions in a turn (default: 15)")
parser.add_argument("--json", action="store_true", help="an object a line")
options = parser.parse_args()

os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
    import numpy
    from jax.sharding import Mesh

    from export import export
    from models import MODELS
except ImportError as error:
    sys.exit(f"bench: {error}; pip install jax")

FLOATS = ctypes.POINTER(ctypes.c_float)


def load(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def products(jaxpr):
    """The operand shapes and the dimensions of all dot_generals."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield *(tuple(v.aval.shape) for v in equation.invars), equation.params["dimension_numbers"]
        for parameter in equation.params.values():
            inner = getattr(parameter, "jaxpr", parameter)
            if hasattr(inner, "eqns"):
                yield from products(inner)


def extents(a, b, dimensions):
    """batch, m, n, k"""
    (contracted_a, contracted_b), (batch_a, batch_b) = dimensions
    batch, k = math.prod(a[i] for i in batch_a), math.prod(a[i] for i in contracted_a)
    m, n = (math.prod(x for i, x in enumerate(shape) if i not in (*c, *t)) for shape, c, t in ((a, contracted_a, batch_a), (b, contracted_b, batch_b)))
    return batch, m, n, k


def best(run):
    times = []
    for _ in range(options.repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def library_turns(batch, m, n, k):
    """The libraries that are installed, by name, as functions that multiply."""
    draw = numpy.random.default_rng(0)
    a, b = (0.05 * draw.standard_normal((batch, *shape), dtype=numpy.float32) for shape in ((m, k), (k, n)))
    c = numpy.empty((batch, m, n), numpy.float32)
    at = [[x[i].ctypes.data_as(FLOATS) for x in (a, b, c)] for i in range(batch)]
    keep = (a, b, c)
    size, plain, one, zero = ctypes.c_int64, ctypes.c_char(b"N"), ctypes.c_float(1), ctypes.c_float(0)
    turns = {}
    blas, dnnl = load("libopenblas.so.0"), load(os.environ.get("DNNL_LIBRARY", "libdnnl.so.2"))
    if blas:
        blas.openblas_set_num_threads(os.cpu_count())

        def with_blas(_=keep):
            for x, y, z in at:
                blas.cblas_sgemm(101, 111, 111, m, n, k, one, x, k, y, n, zero, z, n)

        turns["openblas"] = with_blas
    if dnnl:

        def with_dnnl(_=keep):
            for x, y, z in at:
                dnnl.dnnl_sgemm(plain, plain, size(m), size(n), size(k), one, x, size(k), y, size(n), zero, z, size(n))

        turns["onednn"] = with_dnnl
    return turns


def our_turn(folder):
    command = [os.environ["SHARD_RUN"], f"{folder}/gemm.mlir", "--no-verify", f"--repeat={options.repeat}", f"--report={folder}/report.json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"bench: {run.stderr.strip() or run.stdout.strip()}")
    with open(f"{folder}/report.json", encoding="utf-8") as file:
        return json.load(file)["measured_seconds"]


def measure(a, b, dimensions):
    def function(x, y):
        return jax.lax.dot_general(x, y, dimensions)

    turns = library_turns(*extents(a, b, dimensions))
    compiled, draw = jax.jit(function), numpy.random.default_rng(0)
    operands = [jax.device_put(0.05 * draw.standard_normal(shape, dtype=numpy.float32)) for shape in (a, b)]
    turns["jax"] = lambda: jax.block_until_ready(compiled(*operands))
    mesh = Mesh(numpy.array(jax.devices()), ("tp",))
    times = {name: [] for name in ("ours", *turns)}
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/gemm.mlir", "w", encoding="utf-8") as file:
            file.write(export(function, [(a, (None,) * len(a)), (b, (None,) * len(b))], mesh))
        for _ in range(options.rounds):
            times["ours"].append(our_turn(folder))
            for name, turn in turns.items():
                times[name].append(best(turn))
                time.sleep(0.02)  # threads of the libraries poll for a while
    return {name: min(of) * 1e6 for name, of in times.items()}


def main():
    found = {}
    for name, (function, arguments) in MODELS.items():
        specs = [jax.ShapeDtypeStruct(shape, "float32") for shape, _ in arguments]
        for product in products(jax.make_jaxpr(function)(*specs).jaxpr):
            found.setdefault(product, name)
    ratios = []
    if not options.json:
        print(f"load at the start {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors; microseconds")
        print(f"{'model':20} {'operands':34} {'batch x m x n x k':24} {'ours':>8} {'OpenBLAS':>9} {'oneDNN':>8} {'JAX':>8} {'best / ours':>12}")
    for (a, b, dimensions), name in found.items():
        times = measure(a, b, dimensions)
        ratio = min(t for other, t in times.items() if other != "ours") / times["ours"]
        ratios.append(ratio)
        batch, m, n, k = extents(a, b, dimensions)
        if options.json:
            print(json.dumps({"model": name, "a": a, "b": b, "dimensions": dimensions, "extents": (batch, m, n, k), "us": times, "ratio": ratio}), flush=True)
            continue
        operands = f"{list(a)} {list(b)}".replace(", ", ",")
        columns = " ".join(f"{times[x]:>{w}.0f}" if x in times else f"{'-':>{w}}" for x, w in (("ours", 8), ("openblas", 9), ("onednn", 8), ("jax", 8)))
        print(f"{name:20} {operands:34} {f'{batch} x {m} x {n} x {k}':24} {columns} {ratio:12.2f}", flush=True)
    if not options.json:
        print(f"least {min(ratios):.2f}, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


main()
