"""Usage: entries.py MODEL MESH...: plans the model as a whole and in parts (entries=1), on each mesh.
Prints a line per mesh. Fails if the bound of the parts is above the cheapest plan, if the plan of the
parts is below its proven bound, or costs 0.1 % more than the cheapest plan."""

import re
import subprocess
import sys


def plan(model, mesh, entries):
    options = f"remark-bytes=none mesh={mesh} entries={entries}"
    passes = f"builtin.module(tp-import,tp-raise,tp-propagate{{{options}}})"
    text = subprocess.run(["shard-opt", model, f"--pass-pipeline={passes}"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"tp.plan = \{([^}]*)\}", text).group(1)
    costs = {key: int(value) for key, value in re.findall(r"(\w+)_ps = (\d+)", found)}
    return costs["cost"], costs["bound"], re.search(r'method = "([^"]*)"', found).group(1)


def main():
    model, meshes = sys.argv[1], sys.argv[2:]
    for mesh in meshes:
        (cost, proven, _), (parts, bound, method) = (plan(model, mesh, entries) for entries in ("1e18", "1"))
        assert cost == proven, f"{mesh}: the plan of the whole is not proven to be the cheapest"
        assert bound <= cost <= parts, f"{mesh}: bound {bound}, cheapest plan {cost}, plan of the parts {parts}"
        assert parts <= 1.001 * cost, f"{mesh}: the plan of the parts costs {parts}, the cheapest {cost}"
        print(f"{mesh}: {method}, bound {'near' if bound >= 0.995 * cost else 'far'}")


main()
