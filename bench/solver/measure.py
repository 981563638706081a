#!/usr/bin/env python3
"""Solves the IOPDDL instances in a directory and prints a table."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

# Best known costs: the contest's results and later runs of the winning solver (repositories asplos-contest/2025 and
# ti2-group/iopddl_experiments), and the costs of XLA's own solver where they were published.
KNOWN = {
    "A": (6548641531, 13214846074),
    "B": (532843, 990205),
    "C": (84102445244, 4195881092919),
    "D": (309396217429, None),
    "E": (331239394812, 6638829816582),
    "F": (361354466823, 2788507105840),
    "G": (217039, 1264777),
    "H": (527715404257, 7746779635221),
    "I": (583706456444, 6552890513792),
    "J": (1325097240507, None),
    "K": (2242635784, None),
    "L": (1970993742, None),
    "M": (49928157537, None),
    "N": (199470115118, None),
    "O": (219518764980, None),
    "P": (662197407330, None),
    "Q": (526776842042, 1995944800323),
    "R": (351826900528, None),
    "S": (1521949307, None),
    "T": (656798881333, None),
    "U": (2443995952, None),
    "V": (1617084, None),
    "W": (11614976869921, None),
    "X": (278109753175, None),
    "Y": (595085773411, None),
}
# Time limits of the contest in seconds, on 8 cores.
LIMITS = dict.fromkeys("ABCDE", 60) | dict.fromkeys("FGHIJ", 120) | dict.fromkeys("KLMNO", 180) | dict.fromkeys("PQRST", 240)
LIMITS |= dict.fromkeys("UVWXY", 300)


def solve(path, seconds, threads):
    command = [os.environ["SHARD_SOLVE"], str(path), "--format", "json", "--time-limit", str(seconds), "--threads", str(threads)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode not in (0, 3, 4):
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def row(name, limit, answer):
    cost, bound = answer["cost"], answer["lower_bound"]
    best, xla = KNOWN.get(name, (None, None))
    ratio = f"{int(cost) / best:.6f}" if cost and best else "-"
    against = f"{xla / int(cost):.2f}" if cost and xla else "-"
    gap = f"{100 * answer['gap']:.4f}" if answer["gap"] is not None else "-"
    return (name, answer["nodes"], cost or answer["status"], ratio, against, bound or "-", gap, f"{answer['seconds']:.2f}", limit)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(prog="bench/solver/run.sh")
    parser.add_argument("directory", nargs="?", type=pathlib.Path, default=root / "test" / "solver" / "iopddl")
    parser.add_argument("--time-limit", type=float, help="seconds for each instance (default: the contest's)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    line = "{:8} {:>6} {:>16} {:>10} {:>7} {:>16} {:>9} {:>8} {:>6}"
    print(line.format("instance", "nodes", "cost", "cost/best", "XLA/it", "bound", "gap %", "seconds", "limit"))
    for path in sorted(options.directory.glob("*iopddl*.json*")):
        name = re.sub(r".*-|\.json(\.gz)?$", "", path.name)
        limit = options.time_limit or LIMITS.get(name, 60)
        print(line.format(*map(str, row(name, limit, solve(path, limit, options.threads)))), flush=True)


if __name__ == "__main__":
    main()
