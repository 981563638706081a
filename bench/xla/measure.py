#!/usr/bin/env python3
"""Bytes, modelled time of communication and redundant work of our plans beside XLA's (xla.csv), for the models of examples/models or the files
given, under their annotations.

Every model is planned for the topology and for few_bytes.json, where communication is slow and has no latency, and contractions are slow. When the plan for the
topology sends more than XLA, that one tells whether a strategy is missing, or time was made least instead: "few total" is what it takes on the topology.

XLA's plan is priced by the same model where pins can say it (pinned.json: layouts of ops, by function and name of the value); it is what the planner is left
with under these pins, and its bytes have to be those of XLA. "total" is compute and communication of one step in the model.

Bytes are those that the runtime counts, or with --no-run those in the partitioned program, loops once. The time of XLA's collectives is a lower bound in the same cost model: for
each the least latency that its kind has, and all bytes at the highest bandwidth. Work is what shard-run reports.
"""

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
HEADER = (f"{'model':30} {'topology':8} {'XLA bytes':>12} {'ours':>12} {'ours/XLA':>9} | {'XLA us >=':>11} {'ours us':>11} | {'XLA total':>11} "
          f"{'few total':>11} {'ours total':>11} | {'XLA work':>8} {'ours':>6} | {'s':>6}  {'collectives of XLA':28} ours")


def tool(name):
    return os.environ.get(name.upper().replace("-", "_"), name)


def table():
    with open(os.path.join(HERE, "xla.csv"), encoding="utf-8") as file:
        return {row["model"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}


class Machine:
    """The least that a collective can cost on a topology."""

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


def pinned(path, model, directory):
    """The path of the program with the layouts of XLA's plan on its ops; None where pins cannot say it."""
    with open(os.path.join(HERE, "pinned.json"), encoding="utf-8") as file:
        pins = json.load(file).get(model)
    if not pins:
        return None
    lines, function = [], None
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.search(r"func\.func (?:private )?@(\w+)", line)
            function = found.group(1) if found else function
            name = re.match(r"\s*%(\w+) = linalg\.(\w+) ", line)
            sharding = pins.get(function, {}).pop(name.group(1), None) if name else None
            if sharding is not None:
                op = f"linalg.{name.group(2)} "
                line = line.replace(op + "{", f"{op}{{tp.sharding = {sharding}, ", 1) if op + "{" in line else line.replace(
                    op, f"{op}{{tp.sharding = {sharding}}} ", 1)
            lines.append(line)
    left = [name for names in pins.values() for name in names]
    if left:
        sys.exit(f"pinned.json: {model} has no ops {', '.join(left)}")
    copy = os.path.join(directory, os.path.basename(path))
    with open(copy, "w", encoding="utf-8") as file:
        file.writelines(lines)
    return copy


FEW = os.path.join(HERE, "few_bytes.json")
PREPARED = "tp-import,tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants"  # as tp-spmd does


def total(path, planned, machine):
    """Modelled us on a machine of the plan for the topology `planned`. A plan is made of pins, and planning it again prices it as it is written. That is up to
    three percent off the planner's own sum, which counts changes of layout that start from each other's results in another way."""
    pipeline = f"{PREPARED},tp-propagate{{topology={planned}}},tp-propagate{{topology={machine.argument}}}"
    done = subprocess.run([tool("shard-opt"), path, f"--pass-pipeline=builtin.module({pipeline})"], capture_output=True, text=True, check=True)
    return sum(int(ps) for ps in re.findall(r"cost_ps = (\d+)", done.stdout)) / 1e6


class Ours:
    """The plan of the program in `path`, run with the inputs that stand beside `model`."""

    def __init__(self, path, machine, run, directory, model):
        plan, report = os.path.join(directory, "plan.json"), os.path.join(directory, "report.json")
        start = time.monotonic()
        pipeline = f"tp-spmd{{topology={machine.argument} report={plan} report-alternatives=0}}"
        done = subprocess.run([tool("shard-opt"), path, f"--pass-pipeline=builtin.module({pipeline})"], capture_output=True, text=True,
                              check=True)
        self.wall = time.monotonic() - start
        found = collectives.of_module(done.stdout)
        self.bytes, self.counts, self.work = sum(sent for _, _, sent in found), collectives.counts(found), None
        with open(plan, encoding="utf-8") as file:
            self.us = 1e6 * sum(f["step"]["collective_seconds"] for f in json.load(file)["functions"])
        self.total = total(path, machine.argument, machine)
        if run:
            subprocess.run([tool("shard-run"), path, "--inputs-from", os.path.splitext(model)[0], "--topology", machine.argument,
                            "--report", report], capture_output=True, text=True, check=True)
            with open(report, encoding="utf-8") as file:
                r = json.load(file)
            self.bytes = r["bytes_per_device"]
            self.work = r["devices"] * r["flops_per_device"] / r["flops_unsharded"]

    def text(self):
        return " ".join(f"{n} {SHORT[kind]}" for kind, n in self.counts.items()) or "none"


def measure(path, peer, machine, run, directory):
    """Prints a line. What is wrong about it, as words."""
    ours, sent = Ours(path, machine, run, directory, path), float(peer["bytes"])
    copy = pinned(path, peer["model"], directory)
    theirs = Ours(copy, machine, run, directory, path) if copy else None
    least = machine.least_us(peer["collectives"], sent)
    few = total(path, FEW, machine)
    work, pins = "-" if ours.work is None else f"{ours.work:.2f}", f"{theirs.total:.1f}" if theirs else "-"
    print(f"{peer['model']:30} {machine.name:8} {sent:12.6g} {ours.bytes:12.6g} {ours.bytes / sent:9.3f} | {least:11.1f} {ours.us:11.1f} | {pins:>11} "
          f"{few:11.1f} {ours.total:11.1f} | {float(peer['flops']):8.2f} {work:>6} | {ours.wall:6.2f}  {peer['collectives']:28} {ours.text()}", flush=True)
    words = []
    if ours.bytes > sent * 1.005:
        words.append("more bytes than XLA")
    if ours.bytes > sent * 1.005 and machine.argument == FEW:
        words.append("A STRATEGY IS MISSING")
    if ours.total > min(few, theirs.total if theirs else few) * (1 + 1e-9):
        words.append("MORE TIME than XLA's plan, or the one of few bytes")
    if theirs and abs(theirs.bytes - sent) > 0.03 * sent:
        words.append(f"the pinned plan sends {theirs.bytes} bytes by {theirs.text()}: not XLA's")
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="default: examples/models/*.mlir")
    parser.add_argument("--topology", action="append", help="cost models beside few_bytes.json: names or files (default: cpu)")
    parser.add_argument("--no-run", action="store_true", help="do not execute: no column of work")
    options = parser.parse_args()
    few = Machine(FEW)
    machines = [Machine(t) for t in options.topology or ["cpu"]] + [few]
    files = options.files or sorted(glob.glob(os.path.join(ROOT, "examples", "models", "*.mlir")))
    xla, found = table(), {}
    print(HEADER)
    with tempfile.TemporaryDirectory() as directory:
        for path in files:
            peer = xla.get(os.path.basename(path).split(".")[0])
            for machine in machines if peer else []:
                for words in measure(path, peer, machine, not options.no_run, directory):
                    found.setdefault((peer["model"], words), []).append(machine.name)
    for (model, words), where in found.items():
        print(f"{model}: {words} on {', '.join(where)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
