"""gap.py NEAR GAP LEAST [or-equal]: checks the plan in the module NEAR. It must cost at most GAP
more than its bound. It must cost more than the cheapest plan, that of LEAST, whose cost must be
between its bound and its cost. or-equal: it may cost the same."""
import re
import sys


def plan(path):
    with open(path) as file:
        text = re.search(r"tp\.plan = \{([^}]*)\}", file.read()).group(1)
    return (int(re.search(name + r" = (\d+)", text).group(1)) for name in ("bound_ps", "cost_ps"))


bound, cost = plan(sys.argv[1])
least_bound, least = plan(sys.argv[3])
gap = (cost - bound) / bound
if not 0 < gap <= float(sys.argv[2]) or least_bound != least or not bound <= least < cost + (sys.argv[4:] == ["or-equal"]):
    sys.exit(f"near: {bound} .. {cost} (gap {gap:.2g}), least: {least_bound} .. {least}")
