#!/usr/bin/env python3
"""plan_frontier.py MODEL.mlir REPORT.json OPTION: plans the model with each limit of the report's
frontier, and compares cost and peak."""
import json
import os
import subprocess
import sys
import tempfile


def plan(model, option, limit, folder):
    path = os.path.join(folder, "plan.json")
    pipeline = "builtin.module(tp-propagate{report=%s report-alternatives=0 memory-limit=%d %s})" % (path, limit, option)
    run = subprocess.run(["shard-opt", model, "--pass-pipeline=" + pipeline, "-o", os.devnull], capture_output=True)
    if run.returncode != 0:
        return None, None
    f, = json.load(open(path, encoding="utf-8"))["functions"]
    return f["solution"]["cost_seconds"], f["memory"]["peak_bytes"]


def main():
    model, report, option = sys.argv[1:]
    f, = json.load(open(report, encoding="utf-8"))["functions"]
    points, own = f["frontier"][:-1], f["frontier"][-1]
    wrong = []
    if own["limit_bytes"] is not None or (own["cost_seconds"], own["peak_bytes"]) != (f["solution"]["cost_seconds"], f["memory"]["peak_bytes"]):
        wrong.append("the last plan is not this one: %s" % own)
    if [p["limit_bytes"] for p in points] != sorted({p["limit_bytes"] for p in points}):
        wrong.append("the limits are %s" % [p["limit_bytes"] for p in points])
    bounds = [p["bound_seconds"] for p in f["frontier"] if p["bound_seconds"] is not None]
    if bounds != sorted(bounds, reverse=True):
        wrong.append("a bound is below that of a larger limit: %s" % bounds)
    with tempfile.TemporaryDirectory() as folder:
        for p in points:
            cost, peak = plan(model, option, p["limit_bytes"], folder)
            if (cost, peak) != (p["cost_seconds"], p["peak_bytes"]):
                wrong.append("within %d: %s, but planning gives %s and %s" % (p["limit_bytes"], p, cost, peak))
            if peak is not None and peak > p["limit_bytes"]:
                wrong.append("%d bytes are above %d" % (peak, p["limit_bytes"]))
    found = sum(p["peak_bytes"] is not None for p in points)
    print("\n".join(wrong + ["%d of %d limits kept, %d problems" % (found, len(points), len(wrong))]))
    sys.exit(bool(wrong) or found == 0)


main()
