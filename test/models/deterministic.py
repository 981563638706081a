#!/usr/bin/env python3
"""deterministic.py SHARD_OPT MODELS NAME...: checks that five runs give bytewise equal plans and
reports, with MLIR's threads and without."""
import os
import subprocess
import sys
import tempfile

PIPELINE = "builtin.module(tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants,tp-propagate{report=%s report-alternatives=2})"


def run(shard_opt, model, folder, threads):
    plan, report = os.path.join(folder, "plan.mlir"), os.path.join(folder, "plan.json")
    subprocess.run([shard_opt, model, "--pass-pipeline=" + PIPELINE % report, "-o", plan] + ["--mlir-disable-threading"] * (not threads),
                   check=True, stderr=subprocess.DEVNULL)
    return open(plan, "rb").read(), open(report, "rb").read()


def main():
    shard_opt, models = sys.argv[1:3]
    different = []
    for name in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as folder:
            runs = [run(shard_opt, os.path.join(models, name + ".mlir"), folder, k % 2) for k in range(5 if os.environ.get("TP_LONG") else 3)]
        plan, report = runs[0]
        if b"tp.plan" not in plan or b"alternative" not in report:
            different.append(name + ": there is no plan, or no report")
        different += ["%s: run %d differs" % (name, k) for k, other in enumerate(runs) if other != runs[0]]
    print("\n".join(different + ["%d models, %d differ" % (len(sys.argv) - 3, len(different))]))
    return bool(different)


sys.exit(main())
