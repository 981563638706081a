#!/usr/bin/env python3
"""cuda.py SHARD_RUN MODELS DRIVER BLASLT: every model as a program for GPUs, run on a driver that executes PTX on the host, with streams that are late.

Each on 2 devices, with TP_LONG=1 on 1, 2, 4 and 2x2: virtual ranks of one GPU. The results have to be those of one device, on a processor, and those
of the framework, and nothing may be copied to the host within a program but what its host reads."""
import os
import subprocess
import sys
import tempfile

# At most so often the host reads on each device, between its launches: conditions of loops, and offsets that the program computes.
READS = {"kv_decode": 2, "scan_decoder": 18, "scan_train": 36}


def devices(mesh):
    n = 1
    for size in mesh.split("x"):
        n *= int(size)
    return n


def main():
    shard_run, models, driver, blaslt = sys.argv[1:]
    meshes = ["1", "2", "4", "2x2"] if os.environ.get("TP_LONG") else ["2"]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        copies = os.path.join(folder, "copies")
        environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver, TPRT_BLASLT_LIBRARY=blaslt, FAKE_LATE="2", FAKE_COPIES=copies)
        for name in sorted(f[:-5] for f in os.listdir(models) if f.endswith(".mlir")):
            path = os.path.join(models, name)
            for mesh in meshes:
                run = subprocess.run([shard_run, path + ".mlir", "--mesh", mesh, "--target=cuda", "--inputs-from", path], capture_output=True,
                                     text=True, env=environment)
                ok = run.returncode == 0 and run.stdout.rstrip().endswith("verified") and "ok: error" in run.stdout
                with open(copies) as file:
                    n = int(file.read())
                right = n <= READS.get(name, 0) * devices(mesh)
                print(name, mesh, "ok" if ok else "FAILED\n%s%s" % (run.stdout, run.stderr), "" if right else "%d copies to the host" % n)
                failures += not (ok and right)
    return failures != 0


sys.exit(main())
