"""usage: every_layout.py SHARD_OPT MODEL TOPOLOGY LIMIT...

Plans MODEL under each limit with the shardings of its weights and states left open, and once for
every choice of them. The open plan must be proven optimal, and cost as much as the cheapest
choice."""

import itertools
import re
import subprocess
import sys


def plan(tool, text, topology, limit):
    options = f"mesh=dp=4 topology={topology} memory-limit={limit}"
    done = subprocess.run([tool, "-", f"--pass-pipeline=builtin.module(tp-propagate{{{options}}})"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        return None if re.search("no plan (fits|was found that fits)", done.stderr) else sys.exit(done.stderr)
    values = {key: int(value) for key, value in re.findall(r"(\w+) = (\d+) : i64", re.search(r"tp.plan = \{[^}]*", done.stdout)[0])}
    if values["bound_ps"] != values["cost_ps"]:
        sys.exit(f"not proven optimal: {values}")
    return values["cost_ps"]


def main():
    tool, model, topology, *limits = sys.argv[1:]
    text = open(model).read()
    layouts = ["[[], []]", '[["dp"], []]', '[[], ["dp"]]']
    for limit in limits:
        costs = []
        for choice in itertools.product(layouts, layouts, layouts[:2], layouts[:2]):
            pinned = text
            for i, layout in enumerate(choice):
                name, role = ["w1", "w2", "m1", "m2"][i], ["param", "param", "state", "state"][i]
                pinned = re.sub(rf'(%{name}: [^{{]*{{)tp.role = "{role}"', rf"\1tp.sharding = {layout}", pinned)
            costs.append(plan(tool, pinned, topology, limit))
        best = min(cost for cost in costs if cost is not None)
        free = plan(tool, text, topology, limit)
        print(f"{limit}: {free}, the best of {len(costs)} choices {best}, {costs.count(None)} of them do not fit")
        if free != best:
            sys.exit("the open plan is not the cheapest")


main()
