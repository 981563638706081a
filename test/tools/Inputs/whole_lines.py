#!/usr/bin/env python3
"""whole_lines.py TIMES LONG_TIMES COMMAND...: runs a command that fails on all ranks at once, TIMES
times (LONG_TIMES with TP_LONG), and checks its output: every line is one message."""
import os
import re
import subprocess
import sys

MESSAGES = re.compile(
    r"shard-run: error: (the program, on rank \d, (divided an integer by 0, or the smallest integer by -1|accessed memory out of bounds: "
    r"an index exceeds its tensor)|rank \d failed: .*|rank \d exited with code 1|rank \d was terminated by signal \d+ .*|the ranks cannot continue: .*)"
)


def main(times, command):
    for _ in range(times):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        broken = [line for line in done.stderr.splitlines() if not MESSAGES.fullmatch(line) or line.count("shard-run: ") > 1]
        if done.returncode == 0 or not done.stderr.endswith("\n") or broken:
            sys.exit("code %d, and no message: %r in\n%s" % (done.returncode, broken, done.stderr))
    print("whole lines")


main(int(sys.argv[2 if os.environ.get("TP_LONG") else 1]), sys.argv[3:])
