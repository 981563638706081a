"""Checks on a problem that takes long that SIGINT and --time-limit end the search with the best
solution so far."""

import json
import random
import signal
import subprocess
import sys
import time

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


def say(name, process):
    output, errors = process.communicate(timeout=120)
    early = "method" in output and "; stopped early" in output
    bound = any(line.startswith("bound") for line in output.splitlines())
    fine = process.returncode in (0, 4) and early and bound and not errors
    print(f"{name}: {'the best so far' if fine else (process.returncode, output, errors)}")


def main():
    write(sys.argv[1])
    command = ["shard-solve", sys.argv[1]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        say("SIGINT", process)
    with subprocess.Popen([*command, "--time-limit", "0.5", "--threads", "2"], **pipes) as process:
        say("time limit", process)


main()
