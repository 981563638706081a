"""usage: memory.py SHARD_OPT SHARD_RUN MODELS NAME...

Prints for each model the memory of a device as the plan says it (peak_memory) and as the compiled program has it, and fails where the
one is not within 0.8 to 1.3 times the other: what a plan leaves out is little."""

import json
import os
import re
import subprocess
import sys
import tempfile

LEAST, MOST = 0.8, 1.3


def main():
    opt, run, models, *names = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for name in names:
            model = os.path.join(models, name + ".mlir")
            text = subprocess.run([opt, model, "--tp-spmd"], check=True, capture_output=True, text=True).stdout
            planned = int(re.search(r"peak_memory = (\d+)", text)[1])
            subprocess.run([run, model, "--no-verify", "--report", report], check=True, stdout=subprocess.DEVNULL)
            exact = json.load(open(report))["memory_per_device"]["total"]
            print(f"{name:24}planned {planned:8}  compiled {exact:8}  {planned / exact:.2f}")
            failed |= not LEAST <= planned / exact <= MOST
    sys.exit(failed)


main()
