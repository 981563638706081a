"""usage: memory.py SHARD_OPT SHARD_RUN MODELS [--gpu] NAME[:LIMIT]...

Prints for each program the memory per device according to the plan (peak_memory) and in the
compiled program. Fails if their ratio is not within 0.95 to 1.03, or if one of them exceeds the limit.
NAME is a model, which is for two devices if it names no mesh, or row/N for row N of bench/plans at its small size, or row/N/S=512,... in its own
element type at these sizes. --gpu: for GPUs, within 0.9 to 1.1."""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "plans"))
from rows import ROWS  # noqa: E402

CPU, GPU = (0.95, 1.03), (0.9, 1.1)
# Its padded image, more than twice as large at this size, is kept for the backward pass; planned is the image without padding.
LEAST = {"row/13s:8361": 0.92}


def program(models, name, folder):
    if not name.startswith("row/"):
        return os.path.join(models, name + ".mlir")
    path = os.path.join(folder, "row.mlir")
    with open(path, "w", encoding="utf-8") as file:
        _, number, *sizes = name.split("/")
        sizes = {key: int(size) for key, size in (pair.split("=") for pair in ",".join(sizes).split(",") if pair)}
        file.write(next(row for row in ROWS if row.number == number).program(small=not sizes, **sizes))
    return path


def main():
    opt, run, models, *names = sys.argv[1:]
    failed = False
    is_gpu = names[0] == "--gpu"
    least, most = GPU if is_gpu else CPU
    names = names[is_gpu:]
    target = ["--target=cuda", "--no-graph", "--repeat=1"] if is_gpu else []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for name, _, limit in (name.partition(":") for name in names):
            model = program(models, name, folder)
            with open(model, encoding="utf-8") as file:
                mesh = [] if "shard.grid" in file.read() else ["--mesh", "2"]
            options = "{%s %s %s}" % ("memory-limit=%s" % limit if limit else "", "topology=h100 fuse=faster" if is_gpu else "", "mesh=2" if mesh else "")
            text = subprocess.run([opt, model, f"--pass-pipeline=builtin.module(tp-spmd{options})"], check=True, capture_output=True, text=True).stdout
            planned = int(re.search(r"peak_memory = (\d+)", text)[1])
            limited = ["--memory-limit", limit] if limit else []
            subprocess.run([run, model, "--no-verify", "--report", report, *mesh, *limited, *target], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            exact = json.load(open(report))["memory_per_device"]["total"]
            print(f"{name:24}{limit:>8} planned {planned:8}  compiled {exact:8}  {planned / exact:.2f}")
            failed |= not LEAST.get(f"{name}:{limit}", least) <= planned / exact <= most or (limit != "" and max(planned, exact) > int(limit))
    sys.exit(failed)


main()
