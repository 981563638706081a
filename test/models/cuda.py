#!/usr/bin/env python3
"""cuda.py SHARD_RUN MODELS DRIVER BLASLT: runs every model as a GPU program, on a driver that
executes PTX on the host with delayed streams.

Each model runs on 2 devices, the SLOW ones only as a graph; with TP_LONG=1 on 1, 2, 4 and 2x2, and
in more stream orders. Devices
are virtual ranks of one GPU. The results must equal those of one device on the CPU and those of the
framework. Nothing may be copied to the host between the launches. Each model also runs with
overlapped collectives, on a machine so slow that overlap pays off, in each of ORDERS, in which
streams overtake each other. And it runs as a graph."""
import os
import subprocess
import sys
import tempfile

# Their attention is one kernel.
ATTENTION = {"attention", "kv_decode", "llama_block", "llama_block_train"}
# Planning and compiling them takes seconds.
SLOW = {"llama_block", "llama_block_train"}

MACHINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "slow.json")
# Streams in creation order, program streams before overlap streams: either kind is early while the
# other is late.
ORDERS = {"2": ["0011", "1100"], "4": ["00001111", "11110000", "?"], "2x2": ["00001111", "11110000", "?"]}


def ways(name, mesh, is_long):
    """Yields names, further arguments and environment of runs."""
    if is_long or name not in SLOW:
        yield "", ["--no-graph"], {"FAKE_LATE": "2"}
    for order in ORDERS.get(mesh, []) if is_long else []:
        yield "overlap " + order, ["--no-graph", "--overlap=run", "--topology=" + MACHINE], {"FAKE_ORDER": order}
    yield "graph", ["--overlap=run", "--topology=" + MACHINE], {"FAKE_ORDER": "?"}


def main():
    shard_run, models, driver, blaslt = sys.argv[1:]
    is_long = bool(os.environ.get("TP_LONG"))
    meshes = ["1", "2", "4", "2x2"] if is_long else ["2"]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        copies = os.path.join(folder, "copies")
        environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver, TPRT_BLASLT_LIBRARY=blaslt, FAKE_COPIES=copies)
        for name in sorted(f[:-5] for f in os.listdir(models) if f.endswith(".mlir")):
            path = os.path.join(models, name)
            for mesh, (way, further, order) in ((mesh, way) for mesh in meshes for way in ways(name, mesh, is_long)):
                run = subprocess.run([shard_run, path + ".mlir", "--mesh", mesh, "--target=cuda", "--inputs-from", path] + further,
                                     capture_output=True, text=True, env=dict(environment, **order))
                ok = run.returncode == 0 and run.stdout.rstrip().endswith("verified") and "ok: error" in run.stdout
                with open(copies) as file:
                    n = int(file.read())
                if name in ATTENTION:
                    ok &= "is computed by one kernel" in run.stderr
                if way == "graph":
                    ok &= "graph: each call is one graph launch" in run.stdout
                right = n == 0
                print(name, mesh, way, "ok" if ok else "FAILED\n%s%s" % (run.stdout, run.stderr), "" if right else "%d copies to the host" % n)
                failures += not (ok and right)
    return failures != 0


sys.exit(main())
