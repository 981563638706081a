#!/usr/bin/env python3
"""Compares our plans with XLA's (xla.csv): bytes, modeled time of communication and redundant work,
for the models of examples/models or the given files, under their annotations.

Every model is planned for the topology with both objectives: "time" minimizes the modeled time of a
step, "bytes" the bytes sent without redundant work. Exit code 1: a plan for bytes sends more than
XLA or does more work, or a plan for time is slower than another plan.

XLA's plan is priced by the same model if pins can express it (pinned.json: shardings of ops and
results, by function and name of the value or "result N"). It is the planner's plan under these
pins, and its bytes must equal those of XLA. "total" is the modeled compute and communication of one
step.

Bytes are those that the runtime counts, or with --no-run those in the partitioned program, with
loops counted once. The time of XLA's collectives is a lower bound in the same cost model: for each
collective the lowest latency of its kind, and all bytes at the highest bandwidth. Work is the
figure that shard-run reports."""

import argparse
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.append(os.path.dirname(HERE))
import collectives  # noqa: E402

SHORT = {"all_reduce": "AR", "all_gather": "AG", "reduce_scatter": "RS", "all_to_all": "A2A", "permute": "CP", "broadcast": "BC"}
# Dtype correction of XLA's bytes: XLA partitions these sums as bf16, as the pins do, but its CPU
# backend, on which xla.csv was measured, widens them to f32.
AS_PINNED = {"layernorm_gelu_bf16": 0.5}
HEADER = (f"{'model':30} {'topology':8} {'objective':9} {'XLA bytes':>12} {'ours':>12} {'ours/XLA':>9} | {'XLA us >=':>11} {'ours us':>11} | {'XLA total':>11} "
          f"{'ours total':>11} | {'XLA work':>8} {'ours':>6} | {'s':>6}  {'collectives of XLA':28} ours")


def tool(name):
    return os.environ.get(name.upper().replace("-", "_"), name)


def table():
    with open(os.path.join(HERE, "xla.csv"), encoding="utf-8") as file:
        return {row["model"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}


class Machine:
    """Lower bounds on the cost of collectives on a topology."""

    def __init__(self, name):
        path = name if name.endswith(".json") else os.path.join(ROOT, "share", "topology", f"{name}.json")
        with open(path, encoding="utf-8") as file:
            machine = json.load(file)
        self.name, self.alpha, self.bandwidth = machine["name"], {}, 0
        self.argument = path if name.endswith(".json") else name
        for line in (line for level in machine["levels"] for line in level["lines"]):
            options = [line] + ([line["latency"]] if "latency" in line else [])
            self.bandwidth = max([self.bandwidth] + [o["gbytes_per_s"] for o in options])
            for kind in line["kinds"]:
                least = min(o["alpha_us"] for o in options)
                self.alpha[SHORT[kind]] = min(least, self.alpha.get(SHORT[kind], least))

    def least_us(self, text, sent):
        return sum(int(n) * self.alpha[kind] for n, kind in re.findall(r"(\d+) (\w+)", text)) + sent / self.bandwidth / 1e3


OP = re.compile(r"\s*%(\w+)(?::\d+)? = ([\w.]+) ")
RESULT = re.compile(r"(tensor<[^>]*>)(?: \{tp\.sharding = (?:[^{}]|\{[^}]*\})*\})?(?=[,)])")


def with_attributes(line, op, text):
    """Returns the line of an op with additional attributes. linalg ops have them after the name,
    other ops before the type."""
    if not op.startswith("linalg."):
        return line.replace(" : ", f" {{{text}}} : ", 1)
    return line.replace(f"{op} {{", f"{op} {{{text}, ", 1) if f"{op} {{" in line else line.replace(f"{op} ", f"{op} {{{text}}} ", 1)


def with_results(line, shardings):
    """Returns the line of a function with shardings of its results, by index."""
    head, arrow, results = line.rpartition(") -> (")
    number = iter(range(results.count("tensor<")))
    return head + arrow + RESULT.sub(lambda r: f"{r.group(1)} {{tp.sharding = {s}}}" if (s := shardings.get(next(number))) else r.group(0), results)


def pinned(path, model, directory):
    """Writes the program with the shardings of XLA's plan on its ops and results, and returns its
    path; None if there are none. A sharding is tp.sharding, plus tp.factors if an op can be split
    in several ways."""
    with open(os.path.join(HERE, "pinned.json"), encoding="utf-8") as file:
        pins = json.load(file).get(model)
    if not pins:
        return None
    lines, function = [], None
    with open(path, encoding="utf-8") as file:
        for line in file:
            found, op = re.search(r"func\.func (?:private )?@(\w+)", line), OP.match(line)
            if found:
                function = pins.get(found.group(1), {})
                results = [key for key in function if key.startswith("result ")]
                line = with_results(line, {int(key.split()[1]): function.pop(key) for key in results})
            pin = function.pop(op.group(1), None) if op and function else None
            if isinstance(pin, dict):
                line = with_attributes(line, op.group(2), f"tp.sharding = {pin['sharding']}, tp.factors = {pin['factors']}")
            elif pin is not None:
                line = with_attributes(line, op.group(2), f"tp.sharding = {pin}")
            lines.append(line)
    left = [name for names in pins.values() for name in names]
    if left:
        sys.exit(f"pinned.json: {model} has no ops {', '.join(left)}")
    copy = os.path.join(directory, os.path.basename(path))
    with open(copy, "w", encoding="utf-8") as file:
        file.writelines(lines)
    return copy


PREPARED = "tp-import,tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants"  # as in tp-spmd


def total(path, machine, objective):
    """Returns the modeled microseconds, on the plan's machine, of a plan for an objective. A plan
    consists of pins, and planning it again prices it as written. This differs by up to 3 percent
    from the planner's own sum, which counts reshards that reuse each other's results
    differently."""
    pipeline = f"{PREPARED},tp-propagate{{topology={machine.argument} objective={objective}}},tp-propagate{{topology={machine.argument}}}"
    done = subprocess.run([tool("shard-opt"), path, f"--pass-pipeline=builtin.module({pipeline})"], capture_output=True, text=True, check=True)
    return sum(int(ps) for ps in re.findall(r"cost_ps = (\d+)", done.stdout)) / 1e6


class Ours:
    """The plan of the program in `path`, run with the inputs stored next to `model`."""

    def __init__(self, path, machine, objective, run, directory, model):
        plan, report = os.path.join(directory, "plan.json"), os.path.join(directory, "report.json")
        start = time.monotonic()
        pipeline = f"tp-spmd{{topology={machine.argument} objective={objective} report={plan} report-alternatives=0}}"
        done = subprocess.run([tool("shard-opt"), path, f"--pass-pipeline=builtin.module({pipeline})"], capture_output=True, text=True,
                              check=True)
        self.wall = time.monotonic() - start
        found = collectives.of_module(done.stdout)
        self.bytes, self.counts, self.work = sum(sent for _, _, sent in found), collectives.counts(found), None
        with open(plan, encoding="utf-8") as file:
            self.us = 1e6 * sum(f["step"]["collective_seconds"] for f in json.load(file)["functions"])
        self.total = total(path, machine, objective)
        if run:
            subprocess.run([tool("shard-run"), path, "--inputs-from", os.path.splitext(model)[0], "--topology", machine.argument,
                            "--objective", objective, "--report", report], capture_output=True, text=True, check=True)
            with open(report, encoding="utf-8") as file:
                r = json.load(file)
            self.bytes = r["bytes_per_device"]
            self.work = r["devices"] * r["flops_per_device"] / r["flops_unsharded"]

    def text(self):
        return " ".join(f"{n} {SHORT[kind]}" for kind, n in self.counts.items()) or "none"

    def line(self, peer, machine, objective, theirs):
        sent, work = float(peer["bytes"]), "-" if self.work is None else f"{self.work:.2f}"
        return (f"{peer['model']:30} {machine.name:8} {objective:9} {sent:12.6g} {self.bytes:12.6g} {self.bytes / sent:9.3f} | "
                f"{machine.least_us(peer['collectives'], sent):11.1f} {self.us:11.1f} | {f'{theirs.total:.1f}' if theirs else '-':>11} "
                f"{self.total:11.1f} | {float(peer['flops']):8.2f} {work:>6} | {self.wall:6.2f}  {peer['collectives']:28} {self.text()}")


def measure(path, peer, machine, run, directory):
    """Prints two lines. Returns the findings as words, and whether they are errors."""
    sent, words = float(peer["bytes"]), []
    copy = pinned(path, peer["model"], directory)
    theirs = Ours(copy, machine, "time", run, directory, path) if copy else None
    quick, few = (Ours(path, machine, objective, run, directory, path) for objective in ("time", "bytes"))
    print(quick.line(peer, machine, "time", theirs), flush=True)
    print(few.line(peer, machine, "bytes", theirs), flush=True)
    if quick.bytes > sent * 1.005:
        words.append(("more bytes than XLA in less time", False))
    if few.bytes > sent * 1.005:
        words.append(("MORE BYTES than XLA with objective=bytes", True))
    if few.work is not None and few.work > float(peer["flops"]) + 0.005:
        words.append(("MORE WORK than XLA with objective=bytes", True))
    if quick.total > min(few.total, theirs.total if theirs else few.total) * (1 + 1e-9):
        words.append(("MORE TIME than XLA's plan, or the one for bytes", True))
    pinned_bytes = sent * AS_PINNED.get(peer["model"], 1)
    if theirs and abs(theirs.bytes - pinned_bytes) > 0.03 * pinned_bytes:
        words.append((f"the pinned plan sends {theirs.bytes} bytes by {theirs.text()}: not XLA's", True))
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="default: examples/models/*.mlir")
    parser.add_argument("--topology", action="append", help="cost models: names or files (default: cpu)")
    parser.add_argument("--no-run", action="store_true", help="do not execute: no column of work")
    options = parser.parse_args()
    machines = [Machine(t) for t in options.topology or ["cpu"]]
    files = options.files or sorted(glob.glob(os.path.join(ROOT, "examples", "models", "*.mlir")))
    xla, found = table(), {}
    print(HEADER)
    with tempfile.TemporaryDirectory() as directory:
        for path in files:
            peer = xla.get(os.path.basename(path).split(".")[0])
            for machine in machines if peer else []:
                for words in measure(path, peer, machine, not options.no_run, directory):
                    found.setdefault((peer["model"], *words), []).append(machine.name)
    for (model, words, _), where in found.items():
        print(f"{model}: {words} on {', '.join(where)}")
    return any(wrong for _, _, wrong in found)


if __name__ == "__main__":
    sys.exit(main())
