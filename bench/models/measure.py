#!/usr/bin/env python3
"""Compares whole models on N ranks of this host with JAX on N host devices.

measure.py [--ranks N] [--rounds N] [--overlap] [--json] [MODEL...]

The two take turns, so that both see the same machine; the best of all executions of each counts. Results are compared with JAX's.
Needs `pip install jax`; SHARD_RUN names the tool.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("models", nargs="*", metavar="MODEL")
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--rounds", type=int, default=3, help="turns of each (default: 3)")
parser.add_argument("--repeat", type=int, default=7, help="executions in a turn (default: 7)")
parser.add_argument("--overlap", action="store_true", help="ours with collectives beside compute in a third column")
parser.add_argument("--json", action="store_true", help="an object a line")
options = parser.parse_args()

os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.ranks}"
os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import time

    import jax
    import numpy
    from jax.sharding import Mesh

    from export import export, sharding
    from models import MODELS
except ImportError as error:
    sys.exit(f"bench: {error}; pip install jax")


class Peer:
    """The model compiled by JAX, with its arguments on the devices."""

    def __init__(self, function, arguments, mesh):
        draw = numpy.random.default_rng(0)
        self.host = [0.05 * draw.standard_normal(shape, dtype=numpy.float32) for shape, _ in arguments]
        self.device = [jax.device_put(x, sharding(mesh, axes)) for x, (_, axes) in zip(self.host, arguments)]
        self.function = jax.jit(function)
        with jax.default_matmul_precision("highest"):
            self.results = [numpy.asarray(y) for y in jax.tree.leaves(self.function(*self.device))]

    def turn(self):
        times = []
        for _ in range(options.repeat):
            start = time.perf_counter()
            jax.block_until_ready(self.function(*self.device))
            times.append(time.perf_counter() - start)
        return min(times)


def our_turn(folder, name, *flags):
    command = [os.environ["SHARD_RUN"], f"{folder}/{name}.mlir", "--no-verify", f"--repeat={options.repeat}", f"--report={folder}/report.json",
               f"--inputs-from={folder}/{name}", *flags]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"bench: {name}: {run.stderr.strip() or run.stdout.strip()}")
    with open(f"{folder}/report.json", encoding="utf-8") as file:
        return json.load(file)["measured_seconds"]


def main():
    unknown = [name for name in options.models if name not in MODELS]
    if unknown:
        sys.exit(f"bench: there is no model {unknown[0]}; there are {', '.join(MODELS)}")
    mesh = Mesh(numpy.array(jax.devices()), ("tp",))
    if not options.json:
        print(f"{options.ranks} ranks, load at the start {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
        print(f"{'model':22} {'ours ms':>9} {'JAX ms':>9} {'JAX / ours':>11}{'   overlap ms' if options.overlap else ''}")
    for name in options.models or MODELS:
        function, arguments = MODELS[name]
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/{name}.mlir", "w", encoding="utf-8") as file:
                file.write(export(function, arguments, mesh))
            peer = Peer(function, arguments, mesh)
            for k, x in enumerate(peer.host):
                numpy.save(f"{folder}/{name}.in.{k}.npy", x)
            for k, y in enumerate(peer.results):
                numpy.save(f"{folder}/{name}.out.{k}.npy", y)
            ours, theirs, beside = [], [], []
            for _ in range(options.rounds):
                ours.append(our_turn(folder, name))
                if options.overlap:
                    beside.append(our_turn(folder, name, "--overlap=run"))
                theirs.append(peer.turn())
        row = {"model": name, "ranks": options.ranks, "ms": min(ours) * 1e3, "jax_ms": min(theirs) * 1e3, "ratio": min(theirs) / min(ours)}
        if options.overlap:
            row["overlap_ms"] = min(beside) * 1e3
        print(json.dumps(row) if options.json else f"{name:22} {row['ms']:9.2f} {row['jax_ms']:9.2f} {row['ratio']:11.2f}"
              + (f" {row['overlap_ms']:12.2f}" if options.overlap else ""), flush=True)


main()
