#!/usr/bin/env python3
"""cuda.py SHARD_RUN MODELS DRIVER BLASLT: every model as a program for GPUs, run on a driver that executes PTX on the host.

Each on 2 devices, with TP_LONG=1 on 1, 2, 4 and 2x2: virtual ranks of one GPU. The results have to be those of one device, on a processor, and those
of the framework."""
import os
import subprocess
import sys


def main():
    shard_run, models, driver, blaslt = sys.argv[1:]
    meshes = ["1", "2", "4", "2x2"] if os.environ.get("TP_LONG") else ["2"]
    environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver, TPRT_BLASLT_LIBRARY=blaslt)
    failures = 0
    for name in sorted(f[:-5] for f in os.listdir(models) if f.endswith(".mlir")):
        path = os.path.join(models, name)
        for mesh in meshes:
            run = subprocess.run([shard_run, path + ".mlir", "--mesh", mesh, "--target=cuda", "--inputs-from", path], capture_output=True,
                                 text=True, env=environment)
            ok = run.returncode == 0 and run.stdout.rstrip().endswith("verified") and "ok: error" in run.stdout
            print(name, mesh, "ok" if ok else "FAILED\n%s%s" % (run.stdout, run.stderr))
            failures += not ok
    return failures != 0


sys.exit(main())
