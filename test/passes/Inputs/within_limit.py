"""usage: within_limit.py SHARD_OPT MODEL PLANNED LIMIT...

Plans the model within each memory limit, with both strategies. Fails if a plan exceeds its limit,
or if fewer than PLANNED limits have a plan."""

import re
import subprocess
import sys


def main():
    opt, model, planned, *limits = sys.argv[1:]
    plans = 0
    for strategy in ("plan", "follow"):
        for limit in map(int, limits):
            options = f"strategy={strategy} memory-limit={limit}B"
            done = subprocess.run([opt, model, f"--pass-pipeline=builtin.module(tp-propagate{{{options}}})"], capture_output=True, text=True)
            peak = re.search(r"peak_memory = (\d+)", done.stdout)
            if done.returncode != 0 and "memory-limit: a device may hold" not in done.stderr:
                sys.exit(done.stderr)
            if peak and int(peak[1]) > limit:
                sys.exit(f"{options}: the plan holds {peak[1]} bytes")
            plans += peak is not None
    if plans < int(planned):
        sys.exit(f"{plans} plans, not {planned}")


main()
