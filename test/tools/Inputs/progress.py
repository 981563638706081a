"""progress.py MODEL CHAIN: the progress line of the tools, on a terminal and elsewhere."""
import os
import re
import subprocess
import sys

import terminal

MODEL, PROBLEM = sys.argv[1:]
OPT = ["shard-opt", MODEL, "--pass-pipeline=builtin.module(tp-decompose,tp-raise,tp-spmd{memory-limit=150000B remark-bytes=none time-limit=2})", "-o", os.devnull]
SOLVE = ["shard-solve", PROBLEM, "--time-limit", "2"]
# With three repetitions it takes almost two seconds, and so would have a line.
BENCH = ["shard-bench", "all_reduce", "--sizes=1M", "--rounds=12", "--round-time=50", "--repeats=3"]


def check(name, command, pattern, environment=None, presses=()):
    ended = terminal.run(command, presses=presses, environment=environment)
    lines, columns = ended.lines(), int((environment or {}).get("COLUMNS", 80))
    fitting = [line for line in lines if re.search(pattern, line)]
    for line in lines:
        assert "\n" not in line.rstrip("\r\n") or not line.startswith(command[0]), f"{name}: not one line: {line!r}"
    own = [line for line in lines if line.startswith(command[0] + ": ") and "\n" not in line]
    assert fitting, f"{name}: no line has {pattern}: {lines[:5]}"
    assert all(len(line) < columns for line in own), f"{name}: a line is too long"
    assert not re.search(pattern, ended.remains()), f"{name}: the line is left: {ended.remains()!r}"
    print(f"{name}: shown, and gone")


def check_silent(name, command):
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=dict(os.environ, TERM="xterm"))
    assert terminal.ERASE not in done.stderr and " s left" not in done.stderr, f"{name}: {done.stderr!r}"
    print(f"{name}: silent")


check("planning", OPT, r"^shard-opt: tp-propagate, \d+ s.*: ", {"COLUMNS": "80"})
check("narrow", OPT, r"^shard-opt: tp-propagate, \d+ s", {"COLUMNS": "50"})
check("solving", SOLVE, r"^shard-solve: solving, \d+ s \(at most \d+ s left\): best .*, bound")
# how long a repetition takes depends on the load, seconds or minutes are left: 25 take long enough to see one, and Ctrl-C ends the others
check("measuring", [*BENCH, "--repeats=25"], r"^shard-bench: measuring, \d+ s \((\d+ min )?\d+ s left\): [1-9]\d* of 25", presses=[" left)"])
check_silent("elsewhere", BENCH)
dumb = terminal.run(BENCH, environment={"TERM": "dumb"})
assert not dumb.lines() and "left" not in dumb.shown, dumb.shown
print("dumb terminal: silent")
