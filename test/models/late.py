"""late.py SHARD_OPT MODEL SHARE [LIMIT]: checks that a plan made without any time costs at most
SHARE more than the cheapest one, and uses at most LIMIT bytes.

SHARE is relative to the cheapest plan without a limit. That one shares copies of values in fewer
ways, so it may cost slightly more than the cheapest with a limit."""
import re
import subprocess
import sys


LIMIT = int(sys.argv[4]) if len(sys.argv) > 4 else 0


def cost(options):
    passes = f"builtin.module(tp-decompose,tp-raise,tp-propagate{{{options}}})"
    run = subprocess.run([sys.argv[1], sys.argv[2], f"--pass-pipeline={passes}"], capture_output=True, text=True, check=True)
    plan = re.search(r"tp\.plan = \{([^}]*)\}", run.stdout).group(1)
    assert ("stopped_by" in plan) == ("time-limit" in options), plan
    assert "memory-limit" not in options or int(re.search(r"peak_memory = (\d+)", plan).group(1)) <= LIMIT, plan
    return int(re.search(r"cost_ps = (\d+)", plan).group(1))


least, late = cost("remark-bytes=none"), cost("time-limit=1e-9" + f" memory-limit={LIMIT}B" * (LIMIT > 0))
if late > (1 + float(sys.argv[3])) * least or (late < least and not LIMIT):
    sys.exit(f"late: {late}, the cheapest: {least}")
