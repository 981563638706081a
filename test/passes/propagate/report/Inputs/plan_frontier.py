#!/usr/bin/env python3
"""plan_frontier.py MODEL.mlir REPORT.json OPTION: plans the model with each limit of the report's
frontier, and compares cost and peak, and what
each plan changes against that within the next larger limit and against this plan."""
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
        return None
    f, = json.load(open(path, encoding="utf-8"))["functions"]
    return f


def figures(f):
    return (f["solution"]["cost_seconds"], f["memory"]["peak_bytes"]) if f else (None, None)


def words(layout):
    axes = [",".join(dim) for dim in layout["dims"] if dim]
    return "split over " + ",".join(axes) if axes else "whole"


def changes(now, other):
    """Texts that must be in what is said of a change between plans."""
    for a, b in zip(other["arguments"], now["arguments"]):
        if a["sharding"] != b["sharding"] and words(a) != words(b):
            yield "%s -> %s" % (words(a), words(b))
    counts = {}
    for f, sign in ((now, 1), (other, -1)):
        for t in f["traffic"]:
            counts[t["kind"], t["axes"]] = counts.get((t["kind"], t["axes"]), 0) + sign * t["count"]
    for (kind, axes), n in counts.items():
        if n and sum(m != 0 for m in counts.values()) <= 4:
            yield "%d %s%s over %s %s" % (abs(n), kind, "" if abs(n) == 1 else "s", axes, "more" if n > 0 else "less")
    if now["solution"]["cost_seconds"] > other["solution"]["cost_seconds"]:
        yield "s more"


def wrong_changes(point, now, own, following):
    listed = [(t["kind"], t["number"], t["before"], t["now"]) for t in point["against_next"]["tensors"]]
    differ = [(kind[:-1], i, a["sharding"], b["sharding"]) for kind in ("arguments", "results")
              for i, (a, b) in enumerate(zip(following[kind], now[kind])) if a["sharding"] != b["sharding"]]
    if listed != differ:
        yield "within %d other layouts are %s, not %s" % (point["limit_bytes"], listed, differ)
    for key, other in (("changes", following), ("changes_from_this", own)):
        for text in changes(now, other):
            if text not in point[key]:
                yield "within %d %s %r lacks %r" % (point["limit_bytes"], key, point[key], text)


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
    following = f
    with tempfile.TemporaryDirectory() as folder:
        for p in reversed(points):
            now = plan(model, option, p["limit_bytes"], folder)
            cost, peak = figures(now)
            if now:
                wrong += wrong_changes(p, now, f, following)
                following = now
            if (cost, peak) != (p["cost_seconds"], p["peak_bytes"]):
                wrong.append("within %d: %s, but planning gives %s and %s" % (p["limit_bytes"], p, cost, peak))
            if peak is not None and peak > p["limit_bytes"]:
                wrong.append("%d bytes are above %d" % (peak, p["limit_bytes"]))
    found = sum(p["peak_bytes"] is not None for p in points)
    print("\n".join(wrong + ["%d of %d limits kept, %d problems" % (found, len(points), len(wrong))]))
    sys.exit(bool(wrong) or found == 0)


main()
