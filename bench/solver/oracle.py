#!/usr/bin/env python3
"""Compares optima: solves random problems, with and without memory, with shard-solve and with
toulbar2 (Debian: toulbar2).

bench/solver/oracle.py [--problems N] [--seed S]; SHARD_SOLVE names the binary.

toulbar2 has no memory constraints. For each time it gets a chain of variables that sums the memory
of the live nodes."""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

INFINITY = 10**18
TOP = 10**9


def draw(rng):
    n = rng.randint(5, 24)
    sizes = [rng.randint(1, 5) for _ in range(n)]
    cost = rng.choice([10, 1000, 100000])

    def costs(count):
        return [INFINITY if rng.random() < 0.08 else rng.randrange(cost) for _ in range(count)]

    edges = [rng.sample(range(n), 2) for _ in range(rng.randint(0, 3 * n))]
    starts = [rng.randrange(6) for _ in range(n)]
    problem = {
        "nodes": {
            "costs": [costs(k) for k in sizes],
            "intervals": [[s, s + rng.randrange(5)] for s in starts],
            "usages": [[rng.randrange(5) for _ in range(k)] for k in sizes],
        },
        "edges": {"nodes": edges, "costs": [costs(sizes[a] * sizes[b]) for a, b in edges]},
    }
    if rng.random() < 0.85:
        problem["usage_limit"] = rng.randint(n // 2, 2 * n)
    return problem


def function(variables, default, tuples):
    lines = [" ".join(map(str, [len(variables), *variables, default, len(tuples)]))]
    return lines + [" ".join(map(str, [*values, min(cost, TOP)])) for values, cost in tuples]


def translate(problem):
    """Returns the problem in toulbar2's wcsp format."""
    nodes, edges = problem["nodes"], problem["edges"]
    sizes = [len(costs) for costs in nodes["costs"]]
    functions = [function([v], 0, [([x], c) for x, c in enumerate(costs)]) for v, costs in enumerate(nodes["costs"])]
    for (a, b), table in zip(edges["nodes"], edges["costs"], strict=True):
        pairs = [([x, y], table[x * sizes[b] + y]) for x in range(sizes[a]) for y in range(sizes[b])]
        functions.append(function([a, b], 0, pairs))
    limit = problem.get("usage_limit")
    for time in range(12 if limit is not None else 0):
        before = None
        for v in [v for v, (start, end) in enumerate(nodes["intervals"]) if start <= time < end]:
            used = len(sizes)
            sizes.append(limit + 1)
            sums = [
                (([s] if before is not None else []) + [x, s + u], 0)
                for s in range(limit + 1 if before is not None else 1)
                for x, u in enumerate(nodes["usages"][v])
                if s + u <= limit
            ]
            functions.append(function(([before] if before is not None else []) + [v, used], TOP, sums))
            before = used
    head = [f"problem {len(sizes)} {max(sizes)} {len(functions)} {TOP}", " ".join(map(str, sizes))]
    return "\n".join(head + [line for lines in functions for line in lines]) + "\n"


def peer(problem, folder):
    path = folder / "problem.wcsp"
    path.write_text(translate(problem), encoding="utf-8")
    result = subprocess.run(["toulbar2", str(path)], capture_output=True, text=True, check=False)
    if found := re.search(r"Optimum: (\d+)", result.stdout):
        return int(found[1])
    if "No solution" in result.stdout:
        return None
    sys.exit(f"toulbar2 gave no answer:\n{result.stdout}{result.stderr}")


def ours(problem, folder):
    path = folder / "problem.json"
    path.write_text(json.dumps({"problem": problem}), encoding="utf-8")
    result = subprocess.run([os.environ["SHARD_SOLVE"], str(path), "--format", "json"], capture_output=True, text=True, check=False)
    answer = json.loads(result.stdout)
    if answer["status"] not in ("optimal", "infeasible"):
        return answer["status"]
    # Choices with infinite costs are valid here, but not for toulbar2.
    return int(answer["cost"]) if answer["cost"] and int(answer["cost"]) < INFINITY else None


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    os.environ.setdefault("SHARD_SOLVE", str(root / "build" / "release" / "bin" / "shard-solve"))
    parser = argparse.ArgumentParser(prog="bench/solver/oracle.py")
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = infeasible = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(options.seed, options.seed + options.problems):
            problem = draw(random.Random(seed))
            expected, got = peer(problem, folder), ours(problem, folder)
            infeasible += expected is None
            if expected != got:
                print(f"seed {seed}: toulbar2 {expected}, shard-solve {got}")
                wrong += 1
    print(f"{options.problems} problems, {infeasible} without an allowed choice that fits, {wrong} disagreements")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
