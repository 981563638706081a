"""gap_report.py REPORT GAP: checks that the alternatives in a plan report are within the same gap,
with bounds below their costs, and that one annotation is costly: without it the plan is cheaper."""
import json
import sys

with open(sys.argv[1]) as file:
    (function,) = json.load(file)["functions"]
others = [c["alternative"] for c in function["collectives"] if c["alternative"]]
pairs = [(other["bound_seconds"], other["cost_seconds"]) for other in others]
(costly,) = [g for g in function["annotation_groups"] if g["saves_seconds"]]
pairs.append((costly["bound_without_seconds"], costly["cost_without_seconds"]))
for bound, cost in pairs:
    if not 0 < bound <= cost <= bound * (1 + float(sys.argv[2])):
        sys.exit("a plan costs %s, its bound is %s" % (cost, bound))
if len(pairs) < 2 or not pairs[-1][1] < function["solution"]["bound_seconds"]:
    sys.exit("%s of a plan of %s" % (pairs, function["solution"]))
