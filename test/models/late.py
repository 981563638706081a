"""late.py SHARD_OPT MODEL SHARE [LIMIT]: the plan for which there was no time at all costs at most that share more than the cheapest, and holds at most LIMIT
bytes (the cheapest of those is not sought: SHARE is about the cheapest without a limit, which shares copies of values in fewer ways and so may cost a little more)."""
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
