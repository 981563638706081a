"""usage: within_gap.py SHARD_OPT MODEL GAP LIMIT...

Plans the model within each memory limit. Fails if a plan exceeds its limit, or if its cost exceeds
its bound by more than the gap."""

import re
import subprocess
import sys

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6}


def main():
    opt, model, gap, *limits = sys.argv[1:]
    for limit in limits:
        number, unit = re.fullmatch(r"(\d+)(\w+)", limit).groups()
        passes = f"--pass-pipeline=builtin.module(tp-decompose,tp-raise,tp-propagate{{memory-limit={limit}}})"
        text = subprocess.run([opt, model, passes], check=True, capture_output=True, text=True).stdout
        cost, bound, peak = (int(re.search(rf"{name} = (\d+)", text)[1]) for name in ("cost_ps", "bound_ps", "peak_memory"))
        print(f"{limit}: holds {peak}, costs at most {100 * (cost - bound) / bound:.3f} % more than the cheapest")
        if peak > int(number) * UNITS[unit] or cost - bound > float(gap) * bound:
            sys.exit("that is more than it may be")


main()
