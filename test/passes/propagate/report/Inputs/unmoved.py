"""unmoved.py PLAN.json OTHER.json: prints for each value that moves in the first plan whether the price of not moving it is that of the second plan."""
import json
import sys

plan, other = (json.load(open(path))["functions"][0] for path in sys.argv[1:])
wanted = other["solution"]["cost_seconds"]
for c in plan["collectives"]:
    unmoved = c["unmoved"]
    says = "none" if not unmoved else "as much as in the program that demands it" if abs(unmoved["cost_seconds"] - wanted) <= 1e-12 else unmoved["cost_seconds"]
    print("of %s: %s" % (c["value"], says), c["kind"], c["from"], c["to"], wanted)
