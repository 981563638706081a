#!/usr/bin/env python3
"""Plans every program of rows.py, prices its hand-written plan in the same model, and prints one
table. Exit code 1: a plan is slower than the hand-written one, or sends more bytes without a stated
reason."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import collectives  # noqa: E402
from rows import MIB, ROWS  # noqa: E402

SHARD_OPT = os.environ.get("SHARD_OPT", "shard-opt")


class Plan:
    """A planned program. Bytes and collectives are those of the partitioned program; times come
    from the planner's cost model."""

    def __init__(self, local, report, seconds):
        solution, found = report["functions"][0]["solution"], collectives.of_module(local)
        self.collectives = found
        self.bytes, self.counts = sum(sent for _, _, sent in found), collectives.counts(found)
        self.seconds, self.gap = solution["cost_seconds"], solution["gap"]
        self.strategies, self.wall = solution["strategies"], seconds


def plan(text, topology, limit=None):
    with tempfile.TemporaryDirectory() as directory:
        source, report = os.path.join(directory, "in.mlir"), os.path.join(directory, "plan.json")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        held = f"memory-limit={limit} " if limit else ""
        passes = f"tp-spmd{{topology={topology} {held}report={report} report-alternatives=0}}"
        start = time.monotonic()
        done = subprocess.run([SHARD_OPT, source, f"--pass-pipeline=builtin.module({passes})"], capture_output=True, text=True)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-1500:])
        with open(report, encoding="utf-8") as file:
            return Plan(done.stdout, json.load(file), seconds)


HEADER = (f"{'row':>4}  {'program':40} {'hand MiB':>9} {'pinned':>9} {'ours MiB':>9} {'ratio':>6} | {'hand ms':>9} {'ours ms':>9} | {'gap %':>6} "
          f"{'strategies':>10} {'s':>6} | {'free MiB':>9}  collectives")


def ratio(ours, hand):
    return 1.0 if ours == hand else float("inf") if hand == 0 else ours / hand


def measure(row, topology):
    """Prints the row; returns True if it passes."""
    ours, hand, free = (plan(row.program(**how), topology, row.limit) for how in ({}, {"hand": True}, {"free": True}))
    by_hand = row.hand_bytes()
    r = ratio(ours.bytes, by_hand)
    counts = " ".join(f"{n} {kind}" for kind, n in sorted(ours.counts.items()))
    print(f"{row.number:>4}  {row.name:40} {by_hand / MIB:9.2f} {hand.bytes / MIB:9.2f} {ours.bytes / MIB:9.2f} {r:6.3f} | {hand.seconds * 1e3:9.3f} "
          f"{ours.seconds * 1e3:9.3f} | {100 * ours.gap:6.3f} {ours.strategies:10} {ours.wall:6.2f} | {free.bytes / MIB:9.2f}  {counts}",
          flush=True)
    ok = ours.seconds <= hand.seconds * (1 + 1e-9 + ours.gap)
    if not ok:
        print(f"      WRONG: the plan by hand is faster in the model, ours {ours.seconds * 1e3:.6f} ms")
    if r > 1.0005 and not row.reason:
        print("      MORE BYTES, and no reason is given")
        ok = False
    elif r > 1.0005:
        print(f"      more bytes: {row.reason}")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topology", default="h100")
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--write", metavar="DIRECTORY", help="write the programs there, and stop")
    parser.add_argument("--small", action="store_true", help="with --write: of the small sizes that are executed")
    options = parser.parse_args()
    rows = [r for r in ROWS if not options.row or r.number in options.row]
    if options.write:
        for r in rows:
            with open(os.path.join(options.write, f"{r.number}.mlir"), "w", encoding="utf-8") as file:
                file.write(r.program(small=options.small))
        return 0
    print(HEADER)
    failed = [r.number for r in rows if not measure(r, options.topology)]
    print(f"{len(rows) - len(failed)} of {len(rows)} rows need no more than the plan by hand, or have a reason" +
          (f"; not: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
