#!/usr/bin/env python3
"""plan_report.py SHARD_RUN MODELS NAME...: checks that plan reports describe the programs that run.

Each model is planned with both strategies and run. The collectives and their bytes must equal those
that the runtime counted; the parts of the step must add up to the cost of the plan; a second report
must be bytewise equal."""
import json
import os
import subprocess
import sys
import tempfile


def ps(seconds):
    return round(seconds * 1e12)


def problems(plan, ran):
    step, solution = plan["step"], plan["solution"]
    if ps(step["compute_seconds"]) + ps(step["collective_seconds"]) + ps(step["local_seconds"]) != ps(step["seconds"]):
        yield "the parts of the step are not its time"
    if ps(step["seconds"]) + ps(step["shared_seconds"]) != ps(solution["cost_seconds"]):
        yield "the step and what is shared are not the cost"
    graph = plan["graph"]
    if sum(ps(graph["kinds"][kind]["modelled_seconds"]) for kind in graph["kind"]) != ps(step["compute_seconds"]) + ps(step["local_seconds"]):
        yield "the times of the ops do not add up"
    if sum(ps(c["modelled_seconds"]) for c in plan["collectives"]) != ps(step["collective_seconds"]):
        yield "the times of the collectives do not add up"
    if ps(solution["bound_seconds"]) > ps(solution["cost_seconds"]) or step["shared_seconds"] < 0:
        yield "the cost is below its bound or below the time of the step"
    for key in ("bytes_per_device", "count", "modelled_seconds"):
        if abs(sum(t[key] for t in plan["traffic"]) - sum(c[key] for c in plan["collectives"])) > 1e-13:
            yield "%s of the traffic is not that of the collectives" % key
    if plan["bytes_per_device"] != sum(c["bytes_per_device"] for c in plan["collectives"]):
        yield "the bytes of the collectives do not add up"
    said = [(c["kind"], c["axes"], c["bytes_per_device"] // c["count"]) for c in plan["collectives"]]
    did = [(c["kind"], c["axes"], c["bytes_per_device"] // c["count"]) for c in ran["collectives"]]
    if sorted(said) != sorted(did):
        yield "it says %s, but ran %s" % (sorted(said), sorted(did))
    known = all(c["count_is_known"] for c in plan["collectives"])
    if known and plan["bytes_per_device"] != ran["bytes_per_device"]:
        yield "it says %d bytes, but %d were sent" % (plan["bytes_per_device"], ran["bytes_per_device"])
    memory = plan["memory"]
    if sum(v["bytes"] for v in memory["values"]) + memory["other_bytes"] != memory["peak_bytes"] or memory["other_bytes"] < 0:
        yield "what is held is not the peak"
    held, lies = (sum(v["bytes"] for v in memory["values"] if v["kind"] == "argument"), ran["memory_per_device"]["arguments"])
    if held > lies or (memory["other_bytes"] == 0 and held != lies):
        yield "arguments hold %d bytes, but have %d" % (held, lies)
    if not all(c["cause"] for c in plan["collectives"]):
        yield "a collective has no cause"


def report(shard_run, model, strategy, folder, name):
    plan, ran = os.path.join(folder, name + ".plan.json"), os.path.join(folder, name + ".run.json")
    subprocess.run([shard_run, model, "--strategy", strategy, "--no-verify", "--plan-report=" + plan, "--report=" + ran], check=True,
                   stdout=subprocess.DEVNULL)
    return open(plan).read(), open(ran).read()


def main():
    shard_run, models = sys.argv[1:3]
    wrong, known = [], 0
    for name in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as folder:
            for strategy in ("plan", "follow"):
                model = os.path.join(models, name + ".mlir")
                plan, ran = report(shard_run, model, strategy, folder, "first")
                function, = json.loads(plan)["functions"]
                wrong += ["%s, %s: %s" % (name, strategy, text) for text in problems(function, json.loads(ran))]
                if strategy == "plan" and plan != report(shard_run, model, strategy, folder, "second")[0]:
                    wrong.append("%s, %s: two reports differ" % (name, strategy))
                known += all(c["count_is_known"] for c in function["collectives"])
    print("\n".join(wrong + ["%d models, %d problems" % (len(sys.argv) - 3, len(wrong))]))
    return bool(wrong) or known < len(sys.argv) - 3


sys.exit(main())
