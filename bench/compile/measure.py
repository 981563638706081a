#!/usr/bin/env python3
"""Measures how long the compiler takes for Llama-style stacks of growing depth, stage by stage, and prints one table."""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = [1000, 3000, 10000, 30000]
LONG_SIZES = [100000, 160000]
RAISE, FOLLOW, PLAN = "tp-raise", "tp-propagate{strategy=follow}", "tp-propagate{strategy=plan}"
ROW = "{:>7} {:>7} | {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} | {:>6} {:>9} {:>7}"


def run(command):
    """Returns the seconds of each stage, by its name in --mlir-timing, and the peak memory in
    MiB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"measure.py: {' '.join(command)} failed:\n{text[-2000:]}")
    seconds = {name: float(value) for value, name in re.findall(r"^ *([\d.]+) \( *[\d.]+%\)  (.+)$", text, re.M)}
    return seconds, usage.ru_maxrss / 1024


class Compiler:
    def __init__(self, path, repeats):
        self.path, self.repeats = path, repeats
        listed = subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout
        self.raises = f"--{RAISE} " in listed

    def measure(self, source, target, passes, flags=()):
        """Returns medians over the repeats: milliseconds per stage and peak MiB."""
        command = [self.path, source, "-o", target, "--mlir-timing", "--mlir-timing-display=list", "--verify-each=0", *flags]
        if passes:
            command.append(f"--pass-pipeline=builtin.module({','.join(passes)})")
        runs = [run(command) for _ in range(self.repeats)]
        stages = {s for seconds, _ in runs for s in seconds}
        return ({s: 1000 * statistics.median(seconds.get(s, 0) for seconds, _ in runs) for s in stages},
                statistics.median(memory for _, memory in runs))


def plan_gap(path):
    """Returns the certified gap of the plan, relative to its bound."""
    with open(path, encoding="utf-8") as file:
        plan = re.search(r"tp\.plan = \{([^}]*)\}", file.read())
    values = {key: int(value) for key, value in re.findall(r"(\w+_ps) = (\d+)", plan.group(1))}
    return (values["cost_ps"] - values["bound_ps"]) / max(1, values["bound_ps"])


def measure_size(compiler, ops, forward, directory):
    source, target = os.path.join(directory, "in.mlir"), os.path.join(directory, "out.mlir")
    command = [sys.executable, "-B", os.path.join(HERE, "generate.py"), "--ops", str(ops)]
    command += [] if forward else ["--train"]
    command += ["--captured-concat"] if compiler.raises else []
    with open(source, "w", encoding="utf-8") as file:
        subprocess.run(command, stdout=file, check=True)
    with open(source, encoding="utf-8") as file:
        layers, count = re.match(r"// layers=(\d+) ops=(\d+)", file.readline()).groups()
    first = [RAISE] if compiler.raises else []
    parsed, _ = compiler.measure(source, target, [], ["--mlir-very-unsafe-disable-verifier-on-parsing"])
    verified, _ = compiler.measure(source, target, [])
    followed, _ = compiler.measure(source, target, [*first, FOLLOW, "tp-partition"])
    planned, memory = compiler.measure(source, target, [*first, PLAN, "tp-partition"])
    parse = parsed["Parser"]
    times = [parse, max(0, verified["Parser"] - parse), planned.get(RAISE, 0), followed["tp-propagate"], planned["tp-propagate"],
             planned["tp-partition"], planned["Output"]]
    ratio = (followed["tp-propagate"] + followed["tp-partition"]) / parse
    print(ROW.format(count, layers, *(f"{t:.0f}" if compiler.raises or i != 2 else "-" for i, t in enumerate(times)),
                     f"{ratio:.2f}", f"{plan_gap(target):.1e}", f"{memory:.0f}"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard-opt", default=os.environ.get("SHARD_OPT") or shutil.which("shard-opt"))
    parser.add_argument("--long", action="store_true", help="also 100,000 and 160,000 ops")
    parser.add_argument("--forward", action="store_true", help="forward programs; without it forward, backward and update")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ops", type=int, nargs="+", help="these sizes instead")
    options = parser.parse_args()
    if not options.shard_opt:
        parser.error("no shard-opt: give --shard-opt PATH")
    compiler = Compiler(options.shard_opt, options.repeats)
    print(f"Times in ms, medians of {options.repeats}; gap: (cost - bound) / bound of the plan; peak: MiB with strategy=plan; "
          "ratio: (follow + partition) / parse")
    print(ROW.format("ops", "layers", "parse", "verify", "raise", "follow", "plan", "partition", "print", "ratio", "gap", "peak"))
    with tempfile.TemporaryDirectory() as directory:
        for ops in options.ops or SIZES + (LONG_SIZES if options.long else []):
            measure_size(compiler, ops, options.forward, directory)


if __name__ == "__main__":
    main()
