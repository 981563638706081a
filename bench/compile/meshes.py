#!/usr/bin/env python3
"""Measures planning on meshes of growing size: a training step of a Llama-style stack, annotated on dp and tp only.
Prints seconds, peak memory, modelled time and certified gap. SHARD_OPT or --shard-opt names the compiler."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from measure import run

HERE = os.path.dirname(os.path.abspath(__file__))
MESHES = ["dp=8,tp=8", "dp=8,tp=64", "dp=8,tp=128", "dp=64,tp=64", "dp=512,tp=128", "dp=16,tp=16,x=16,y=16"]
ROW = "{:24} {:>8} {:>8} {:>12} {:>8} {:>11}  {}"


def measure_mesh(compiler, mesh, layers, topology, directory):
    source, report = os.path.join(directory, "in.mlir"), os.path.join(directory, "plan.json")
    with open(source, "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, "-B", os.path.join(HERE, "generate.py"), "--layers", str(layers), "--train", "--captured-concat",
                        "--mesh", mesh], stdout=file, check=True)
    options = f"topology={topology} remark-bytes=none report={report} report-alternatives=0"
    seconds, memory = run([compiler, source, "-o", "/dev/null", "--mlir-timing", "--mlir-timing-display=list",
                           f"--pass-pipeline=builtin.module(tp-raise,tp-propagate{{{options}}})"])
    with open(report, encoding="utf-8") as file:
        plan = json.load(file)["functions"][0]["solution"]
    print(ROW.format(mesh, f"{seconds['tp-propagate']:.2f}", f"{memory:.0f}", f"{1000 * plan['cost_seconds']:.3f}", f"{100 * plan['gap']:.2f}",
                     plan["strategies"], plan["method"]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard-opt", default=os.environ.get("SHARD_OPT") or shutil.which("shard-opt"))
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--topology", default="a100")
    parser.add_argument("--mesh", action="append", help="this mesh instead; may be repeated")
    options = parser.parse_args()
    if not options.shard_opt:
        parser.error("no shard-opt: give --shard-opt PATH")
    print(ROW.format("mesh", "s", "MiB", "ms modelled", "gap %", "strategies", "method"))
    with tempfile.TemporaryDirectory() as directory:
        for mesh in options.mesh or MESHES:
            measure_mesh(options.shard_opt, mesh, options.layers, options.topology, directory)


if __name__ == "__main__":
    main()
