#!/usr/bin/env python3
"""ptx.py SHARD_RUN MODELS: compiles every model to PTX and checks the code.

Each model is compiled for 2 devices, with TP_LONG=1 for 1, 2 and 4. No kernel may need a library,
call a function, keep arrays in local memory or have a single thread. If ptxas is available, it must
accept the module."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


# Kernels of the runtime compute all of them.
WITHOUT_KERNELS = {"attention"}


def find_ptxas():
    path = shutil.which("ptxas")
    there = "/usr/local/cuda/bin/ptxas"
    return path or (there if os.access(there, os.X_OK) else None)


def lint(text):
    """Returns the problems of a module."""
    found = ["'%s' occurs" % word for word in (".extern", ".local", "call", "ld.global.nc", "atom.", "red.") if
             re.search(r"^\s*(@%%?\w+\s+)?%s|\s%s" % (re.escape(word), re.escape(word)), text, re.MULTILINE)]
    entries = re.findall(r"\.entry (\w+)\(.*?\n\.reqntid (\d+)", text, re.DOTALL)
    if len(entries) != text.count(".entry") or not entries:
        found.append("%d of %d kernels say how many threads they have" % (len(entries), text.count(".entry")))
    found += ["%s has %s threads" % entry for entry in entries if int(entry[1]) < 128 or int(entry[1]) % 32]
    return found


def main():
    shard_run, models = sys.argv[1:]
    ptxas = find_ptxas()
    meshes = ["1", "2", "4"] if os.environ.get("TP_LONG") else ["2"]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "model.ptx")
        for name in sorted(f[:-5] for f in os.listdir(models) if f.endswith(".mlir")):
            for mesh in meshes:
                run = subprocess.run([shard_run, os.path.join(models, name + ".mlir"), "--mesh", mesh, "--target=cuda", "--emit=ptx", "-o", out],
                                     capture_output=True, text=True)
                if name in WITHOUT_KERNELS:
                    problems = [] if "there is no PTX to write" in run.stderr else [run.stdout, run.stderr]
                elif run.returncode:
                    problems = [run.stderr]
                else:
                    with open(out) as file:
                        problems = lint(file.read())
                    check = ptxas and subprocess.run([ptxas, "-arch=sm_80", out, "-o", "/dev/null"], capture_output=True, text=True)
                    problems += [check.stderr] if check and check.returncode else []
                print(name, mesh, "FAILED" if problems else "ok", *problems)
                failures += bool(problems)
    return failures != 0


sys.exit(main())
