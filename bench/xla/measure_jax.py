#!/usr/bin/env python3
"""Compares our plans for the fewest bytes with the programs of XLA's partitioner, for the models of
jax_models.py on several meshes of 8 devices: measure_jax.py [MODEL...] [--mesh NAME]...

Both get the same program with the same annotations: of arguments, and of updated parameters, which
keep the layout of the parameters. XLA's bytes are those of the collectives in its optimized
program, ours those that the runtime counts; both count loops as often as they run, as
include/tp/cost.h does. Work is that of all devices over that of one device. Our results are
compared with those of one device. Exit code 1: ours sends more than it saves of work, at the price of
objective=bytes, or results differ. Needs `pip install jax`; SHARD_RUN names the tool."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import hlo
from live import DEVICES

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
try:
    import jax
    import numpy
    from jax.sharding import Mesh

    from export import sharding, stablehlo
    from jax_models import I32, MODELS
except ImportError as error:
    sys.exit(f"measure_jax.py: {error}; pip install jax")

# Axes of the mesh, and which of them stand for "dp" and "tp".
MESHES = {
    "8": ({"tp": 8}, {"dp": None, "tp": "tp"}),
    "2x4": ({"dp": 2, "tp": 4}, {"dp": "dp", "tp": "tp"}),
    "4x2": ({"dp": 4, "tp": 2}, {"dp": "dp", "tp": "tp"}),
    "2x2x2": ({"dp": 2, "ep": 2, "tp": 2}, {"dp": "dp", "tp": ("ep", "tp")}),
}
HEADER = f"{'model':34} {'mesh':6} {'XLA bytes':>10} {'ours':>10} {'ours/XLA':>9} | {'XLA work':>8} {'ours':>6} | {'run':>8}  collectives of XLA"

BYTE_FLOPS = 20  # operations that cost as much as a byte (TP_BYTE_FLOPS in include/tp/cost.h)
LESS = "for less work, worth"


def verdict(ours, theirs, less):
    """Returns what is wrong, or None, when ours does `less` operations, of all devices together."""
    saved = less / DEVICES / BYTE_FLOPS
    if ours <= theirs:
        return None
    return f"more bytes than XLA ({ours - theirs}), {LESS} {saved:.0f}" if saved > ours - theirs else f"MORE BYTES than XLA ({ours - theirs})"


# ---- XLA ----


def flops(compiled):
    return compiled.cost_analysis().get("flops", 0)


# ---- a case ----


def named(axes, names):
    return tuple(names[a] if a else None for a in axes)


def tied(function, arguments):
    """Returns, for each result, the number of the argument that it is the new value of, or None."""
    shapes = [jax.ShapeDtypeStruct(a[0], a[2] if len(a) > 2 else "float32") for a in arguments]
    n = len(jax.tree.leaves(jax.eval_shape(function, *shapes)))
    return [None] + [len(arguments) - n + i for i in range(1, n)]


def inputs_of(arguments):
    """Numbers from a fixed seed. Integers are indices, of which there are fewer than 24."""
    draw = numpy.random.default_rng(0)
    return [draw.integers(0, 24, a[0]).astype(I32) if len(a) > 2 else 0.1 * draw.standard_normal(a[0], dtype="float32") for a in arguments]


class Case:
    def __init__(self, name, mesh_name):
        self.function, self.arguments = MODELS[name]
        sizes, names = MESHES[mesh_name]
        mesh = Mesh(numpy.array(jax.devices()).reshape(*sizes.values()), tuple(sizes))
        self.layouts = [sharding(mesh, named(a[1], names)) for a in self.arguments]
        self.results = [None if i is None else self.layouts[i] for i in tied(self.function, self.arguments)]

    def lower(self, is_sharded):
        layouts = self.layouts if is_sharded else [None] * len(self.layouts)
        shapes = [jax.ShapeDtypeStruct(a[0], a[2] if len(a) > 2 else "float32", sharding=s) for a, s in zip(self.arguments, layouts)]
        results = tuple(self.results) if len(self.results) > 1 else self.results[0]
        return jax.jit(self.function, **({"out_shardings": results} if is_sharded else {})).lower(*shapes)

    def theirs(self):
        """Returns XLA's bytes, work and collectives."""
        compiled = self.lower(True).compile()
        found = hlo.collectives(compiled.as_text(), DEVICES)
        if not all(one.known for one in found):
            sys.exit("measure_jax.py: XLA does not know how often a loop runs")
        sent = sum(one.sent * one.times for one in found)
        return sent, DEVICES * flops(compiled) / flops(self.lower(False).compile()), hlo.counts_text(found)

    def ours(self, folder, objective):
        """Returns our bytes and work, the operations of one device, and "ok" or what went wrong."""
        path, report = os.path.join(folder, "model"), os.path.join(folder, "report.json")
        with open(f"{path}.mlir", "w", encoding="utf-8") as file:
            file.write(stablehlo(self.lower(True)))
        for i, value in enumerate(inputs_of(self.arguments)):
            numpy.save(f"{path}.in.{i}.npy", value)
        done = subprocess.run([os.environ["SHARD_RUN"], f"{path}.mlir", "--inputs-from", path, "--objective", objective, "--report", report],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return None, None, None, (done.stderr.strip() or done.stdout.strip())[:300]
        with open(report, encoding="utf-8") as file:
            r = json.load(file)
        return r["bytes_per_device"], r["devices"] * r["flops_per_device"] / r["flops_unsharded"], r["flops_unsharded"], "ok"


def measure(name, mesh_name, objective, keep):
    """Prints a row. Returns what is wrong with it, or None."""
    case = Case(name, mesh_name)
    theirs, their_work, text = case.theirs()
    with tempfile.TemporaryDirectory() as folder:
        if keep:
            folder = os.path.join(keep, f"{name}.{mesh_name}")
            os.makedirs(folder, exist_ok=True)
        ours, our_work, operations, state = case.ours(folder, objective)
    if ours is None:
        print(f"{name:34} {mesh_name:6} {theirs:10} {'-':>10}  {state}", flush=True)
        return "fails"
    ratio = ours / theirs if theirs else float(ours > 0) + 1
    print(f"{name:34} {mesh_name:6} {theirs:10} {ours:10} {ratio:9.3f} | {their_work:8.2f} {our_work:6.2f} | {state:>8}  {text}", flush=True)
    return verdict(ours, theirs, (their_work - our_work) * operations)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"default: all of {', '.join(MODELS)}")
    parser.add_argument("--mesh", action="append", choices=MESHES, help="default: all")
    parser.add_argument("--objective", default="bytes", help="of our plans (default: bytes)")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the exported programs there")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in MODELS]
    if unknown:
        parser.error(f"there is no model {unknown[0]}; there are {', '.join(MODELS)}")
    print(HEADER)
    wrong = []
    for name in options.models or MODELS:
        for mesh in options.mesh or MESHES:
            found = measure(name, mesh, options.objective, options.keep)
            wrong += [f"{name} on {mesh}: {found}"] if found else []
    print("\n".join(wrong))
    return any(LESS not in line for line in wrong)


if __name__ == "__main__":
    sys.exit(main())
