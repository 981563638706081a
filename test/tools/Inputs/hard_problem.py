"""hard_problem.py FILE: writes a problem that takes shard-solve long."""
import json
import random
import sys

NODES, STRATEGIES = 300, 8


def write(path):
    draw = random.Random(1)
    edges = [sorted(draw.sample(range(NODES), 2)) for _ in range(4 * NODES)]
    problem = {
        "nodes": {
            "intervals": [[t, t + 40] for t in range(NODES)],
            "costs": [[draw.randrange(1000) for _ in range(STRATEGIES)] for _ in range(NODES)],
            "usages": [[draw.randrange(1000) for _ in range(STRATEGIES)] for _ in range(NODES)],
        },
        "edges": {"nodes": edges, "costs": [[draw.randrange(1000) for _ in range(STRATEGIES**2)] for _ in edges]},
        "usage_limit": 12000,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"problem": problem}, file)


if __name__ == "__main__":
    write(sys.argv[1])
