#!/usr/bin/env python3
"""Bytes, modelled time of communication and redundant work of our plans beside XLA's (xla.csv), for the models of examples/models or the files
given, under their annotations.

Every model is planned for the topology and for few_bytes.json, where communication is slow and has no latency. When the plan for the topology sends
more than XLA, that one tells whether a strategy is missing, or time was made least instead.

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
HEADER = (f"{'model':30} {'topology':8} {'XLA bytes':>12} {'ours':>12} {'ours/XLA':>9} | {'XLA us >=':>11} {'ours us':>11} | {'XLA work':>8} "
          f"{'ours':>6} | {'s':>6}  {'collectives of XLA':28} ours")


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


class Ours:
    def __init__(self, path, machine, run, directory):
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
        if run:
            subprocess.run([tool("shard-run"), path, "--inputs-from", os.path.splitext(path)[0], "--topology", machine.argument,
                            "--report", report], capture_output=True, text=True, check=True)
            with open(report, encoding="utf-8") as file:
                r = json.load(file)
            self.bytes = r["bytes_per_device"]
            self.work = r["devices"] * r["flops_per_device"] / r["flops_unsharded"]

    def text(self):
        return " ".join(f"{n} {SHORT[kind]}" for kind, n in self.counts.items()) or "none"


def measure(path, peer, machine, run, directory):
    """Prints a line; True when it sends no more than XLA."""
    ours, sent = Ours(path, machine, run, directory), float(peer["bytes"])
    least = machine.least_us(peer["collectives"], sent)
    work = "-" if ours.work is None else f"{ours.work:.2f}"
    print(f"{peer['model']:30} {machine.name:8} {sent:12.6g} {ours.bytes:12.6g} {ours.bytes / sent:9.3f} | {least:11.1f} {ours.us:11.1f} | "
          f"{float(peer['flops']):8.2f} {work:>6} | {ours.wall:6.2f}  {peer['collectives']:28} {ours.text()}", flush=True)
    return ours.bytes <= sent * 1.005


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="default: examples/models/*.mlir")
    parser.add_argument("--topology", action="append", help="cost models beside few_bytes.json: names or files (default: cpu)")
    parser.add_argument("--no-run", action="store_true", help="do not execute: no column of work")
    options = parser.parse_args()
    few = Machine(os.path.join(HERE, "few_bytes.json"))
    machines = [Machine(t) for t in options.topology or ["cpu"]] + [few]
    files = options.files or sorted(glob.glob(os.path.join(ROOT, "examples", "models", "*.mlir")))
    xla, more = table(), {}
    print(HEADER)
    with tempfile.TemporaryDirectory() as directory:
        for path in files:
            peer = xla.get(os.path.basename(path).split(".")[0])
            for machine in machines if peer else []:
                if not measure(path, peer, machine, not options.no_run, directory):
                    more.setdefault(peer["model"], []).append(machine.name)
    for model, where in more.items():
        why = "no offered plan sends so few bytes" if few.name in where else "an offered plan sends fewer, but takes more time"
        print(f"{model} sends more than XLA on {', '.join(where)}: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
