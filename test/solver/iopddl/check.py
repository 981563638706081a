#!/usr/bin/env python3
"""Runs shard-solve on the problems of this folder, evaluates its answers from the files, and
compares them with known results."""

import gzip
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
LARGER = {
    "asplos-2025-iopddl-B.json.gz": {"status": "optimal", "cost": "532843"},
    "asplos-2025-iopddl-G.json.gz": {"status": "optimal", "cost": "217039"},
}


def read(path):
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        return json.load(file)["problem"]


def price(problem, chosen):
    """Returns the cost of an assignment, and its peak memory."""
    nodes, edges = problem["nodes"], problem["edges"]
    assert len(chosen) == len(nodes["costs"])
    cost = sum(costs[x] for costs, x in zip(nodes["costs"], chosen, strict=True))
    for (a, b), table in zip(edges["nodes"], edges["costs"], strict=True):
        cost += table[chosen[a] * len(nodes["costs"][b]) + chosen[b]]
    changes = []
    for (start, end), usages, x in zip(nodes["intervals"], nodes["usages"], chosen, strict=True):
        if start < end:
            changes += [(start, usages[x]), (end, -usages[x])]
    used = peak = 0
    for _, change in sorted(changes):
        used += change
        peak = max(peak, used)
    return cost, peak


def check(name, expected):
    result = subprocess.run(["shard-solve", str(FOLDER / name), "--format", "json"], capture_output=True, text=True, check=False)
    if result.stderr:
        return f"stderr: {result.stderr}"
    answer = json.loads(result.stdout)
    if answer["status"] != expected["status"]:
        return f"status {answer['status']}, not {expected['status']}"
    if expected["status"] == "infeasible":
        return None if result.returncode == 3 and answer["assignment"] is None else f"exit code {result.returncode}"
    problem = read(FOLDER / name)
    cost, peak = price(problem, answer["assignment"])
    if str(cost) != answer["cost"] or answer["cost"] != expected["cost"] or answer["lower_bound"] != expected["cost"]:
        return f"cost {cost}, said to be {answer['cost']}, bound {answer['lower_bound']}; the optimum is {expected['cost']}"
    if "usage_limit" in problem and (peak > problem["usage_limit"] or str(peak) != answer["peak"]):
        return f"memory {peak}, said to be {answer['peak']}; the limit is {problem['usage_limit']}"
    return None if result.returncode == 0 else f"exit code {result.returncode}"


def main():
    with open(FOLDER / "expected.json", encoding="utf-8") as file:
        problems = json.load(file) | LARGER
    failed = 0
    for name, expected in sorted(problems.items()):
        if what := check(name, expected):
            print(f"{name}: {what}")
            failed += 1
    print(f"{len(problems)} problems, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
