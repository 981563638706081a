#!/usr/bin/env python3
"""Compares plans with rivals by the clock of this host.

regret.py [--ranks N] [--topology NAME] [--turns N] [--json] [MODEL...]

Plans every model of bench/models from nothing and with its annotations, and rivals of both (plans.py),
runs all of them in turns, and prints the modelled and the measured time of each, the regret and the
rank correlation. A model is one of bench/models, which needs `pip install jax`, or a file FILE.mlir
in generic form with Shardy's annotations over one axis "tp" of as many devices as --ranks.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))

from plans import Planner, arguments_of, distinct, families, forced, with_layouts

ACTIVATIONS = {"mlp_train": (0, 1), "softmax_ce": (0, 2)}  # of other functions: argument 0
GOAL, CONFIDENCE, RESAMPLES = 1.05, 0.95, 1000

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("models", nargs="*", metavar="MODEL")
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--topology", help="cost model (default: that of shard-run)")
parser.add_argument("--turns", type=int, default=30, help="turns of all plans (default: 30)")
parser.add_argument("--repeat", type=int, default=2, help="timed executions in a turn (default: 2)")
parser.add_argument("--best", type=int, default=6, help="rivals that the planner finds (default: 6)")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--predict", action="store_true", help="plan and print modelled times; run nothing")
parser.add_argument("--json", action="store_true", help="an object a line")
options = parser.parse_args()


def exported(name):
    """The text of a model with its annotations, and the numbers of its arguments that are no weights."""
    if name.endswith(".mlir"):
        with open(name, encoding="utf-8") as file:
            return file.read(), (0,)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.ranks}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import jax
        import numpy
        from jax.sharding import Mesh

        from export import export, linalg
        from models import MODELS
    except ImportError as error:
        sys.exit(f"bench: {error}; pip install jax")
    if name not in MODELS:
        sys.exit(f"bench: there is no model {name}; there are {', '.join(MODELS)}, and FILE.mlir")
    function, arguments = MODELS[name]
    arguments = [(shape, axes or (None,) * len(shape)) for shape, axes in arguments]
    return export(function, arguments, Mesh(numpy.array(jax.devices()), ("tp",)), linalg), ACTIVATIONS.get(function.__name__, (0,))


def all_models():
    """Those that jaxlib's passes turn into linalg: no sorts, and no random numbers, of which they leave
    casts of unsigned integers."""
    try:
        from models import MODELS
    except ImportError as error:
        sys.exit(f"bench: {error}; pip install jax")
    return [name for name in MODELS if not name.startswith(("experts_sorted", "attention_dropout"))]


# ---- plans ----


def pool(planner, ours_name, text, arguments, given, others):
    """Ours first, then the rivals: others, and the cheapest with one decision taken."""
    ours = planner.plan(ours_name, with_layouts(text, given))
    if not ours:
        sys.exit(f"bench: the program cannot be planned: {planner.write(text)}")
    found = [planner.plan(f"best: {name}", changed) for name, changed in forced(text, arguments, given)]
    found = sorted((plan for plan in found if plan), key=lambda plan: (plan.modelled, plan.name))
    best = distinct([ours, *found])[: 1 + options.best]
    return distinct([*best, *others])


def plans_of(planner, name):
    """Two pools: from nothing, and with the annotations."""
    text, activations = exported(name)
    arguments = arguments_of(text)
    given = [axes for _, axes in arguments]
    by_hand = {family: planner.plan(family, with_layouts(text, layouts), "follow")
               for family, layouts in families(arguments, activations).items()}
    annotated = pool(planner, "ours, annotated", text, arguments, given, [by_hand["pure tensor"]])
    free = pool(planner, "ours", text, arguments, [None] * len(arguments), [annotated[0], *by_hand.values()])
    return free, annotated


# ---- times ----


def run(planner, plans, folder):
    """Seconds of each plan in each turn: the least of its executions there."""
    texts = [planner.compile(plan, os.path.join(folder, f"libplan{i}.so")) for i, plan in enumerate(plans)]
    command = [os.path.join(os.environ["BUILD"], "bin", "bench-turns"), *map(str, (options.ranks, options.turns, options.repeat, options.seed)), *texts]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    times = [[0.0] * options.turns for _ in plans]
    for line in lines:
        turn, plan, *seconds = line.split()
        times[int(plan)][int(turn)] = min(map(float, seconds))
    return times


def typical(times, turns):
    """The lowest twentieth of each plan's times: other work of the machine only adds time."""
    return [sorted(row[t] for t in turns)[len(turns) // 20] for row in times]


def interval(draws):
    draws = sorted(draws)
    cut = int(len(draws) * (1 - CONFIDENCE) / 2)
    return draws[cut], draws[-1 - cut]


def with_interval(times, value):
    """A figure of the times, and its interval when turns are drawn again."""
    random.seed(options.seed)
    turns = range(options.turns)
    resampled = [value(typical(times, random.choices(turns, k=options.turns))) for _ in range(RESAMPLES)]
    return value(typical(times, turns)), interval(resampled)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    for place, i in enumerate(order):
        result[i] = place
    return result


def correlation(a, b):
    """Of ranks, by Spearman."""
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 2 else float("nan")


def separated(modelled, times):
    """Of the pairs of plans of which the clock says which is faster: their number, and how many the
    model orders the same way."""
    random.seed(options.seed)
    resampled = [typical(times, random.choices(range(options.turns), k=options.turns)) for _ in range(RESAMPLES // 5)]
    n = agreeing = 0
    for i in range(len(times)):
        for k in range(i):
            low, high = interval([m[i] / m[k] for m in resampled])
            if low > 1 or high < 1:
                n += 1
                agreeing += (modelled[i] > modelled[k]) == (low > 1) and modelled[i] != modelled[k]
    return n, agreeing


# ---- results ----


def report(name, kind, plans, times, control):
    """One pool: its first plan is ours. `control`: times of the same plan again."""
    modelled = [plan.modelled for plan in plans]
    row = {"model": name, "ranks": options.ranks, "pool": kind, "plans": len(plans)}
    row["regret"], row["regret_interval"] = with_interval(times, lambda m: m[0] / min(m))
    row["correlation"], row["correlation_interval"] = with_interval(times, lambda m: correlation(modelled, m))
    row["separated_pairs"], row["agreeing_pairs"] = separated(modelled, times)
    row["control"], row["control_interval"] = with_interval([times[0], control], lambda m: m[1] / m[0])
    measured = typical(times, range(options.turns))
    row["modelled_over_measured"] = modelled[0] / measured[0]
    # other work may hit one plan in every turn: it must have hit the same plan again, too
    _, both = with_interval([*times, control], lambda m: min(m[0], m[-1]) / min(m))
    row["missed"] = both[0] > GOAL
    row["rows"] = [{"plan": p.name, "collectives": p.summary(), "bytes": p.bytes, "modelled_ms": p.modelled * 1e3, "measured_ms": m * 1e3} for p, m in zip(plans, measured)]
    if options.json:
        print(json.dumps(row), flush=True)
        return row
    print(f"\n{name}, {options.ranks} ranks, {kind}: {len(plans)} plans")
    print(f"  {'plan':34} {'collectives':58} {'KiB sent':>9} {'modelled ms':>12} {'measured ms':>12} {'ratio':>6}")
    for p, m in zip(plans, measured):
        print(f"  {p.name:34} {p.summary():58} {p.bytes / 1024:9.0f} {p.modelled * 1e3:12.3f} {m * 1e3:12.3f} {p.modelled / m:6.2f}")
    print(f"  regret {row['regret']:.3f} ({row['regret_interval'][0]:.3f} to {row['regret_interval'][1]:.3f}), rank correlation {row['correlation']:.2f} "
          f"({row['correlation_interval'][0]:.2f} to {row['correlation_interval'][1]:.2f}), {row['agreeing_pairs']} of {row['separated_pairs']} pairs in order, the same plan again {row['control']:.3f} "
          f"({row['control_interval'][0]:.3f} to {row['control_interval'][1]:.3f}){'; missed' if row['missed'] else ''}", flush=True)
    return row


def main():
    if not options.json:
        print(f"{options.ranks} ranks, topology {options.topology or 'default'}, load at the start {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    rows = []
    for name in options.models or all_models():
        with tempfile.TemporaryDirectory() as folder:
            planner = Planner(os.environ["BUILD"], folder, options.topology)
            free, annotated = plans_of(planner, name)
            plans = distinct([*free, *annotated])
            if options.predict:
                for plan in plans:
                    print(f"{name:22} {plan.name:34} {plan.summary():58} {plan.modelled * 1e3:12.3f}")
                continue
            times = run(planner, [*plans, free[0], annotated[0]], folder)
        where = {id(plan): row for plan, row in zip(plans, times)}

        def times_of(pool):
            return [next(where[id(p)] for p in plans if p is plan or p.is_near(plan)) for plan in pool]

        rows.append(report(name, "from nothing", free, times_of(free), times[-2]))
        rows.append(report(name, "annotated", annotated, times_of(annotated), times[-1]))
    if rows and not options.json:
        print(f"\ngeometric mean of the regret {statistics.geometric_mean(row['regret'] for row in rows):.3f}, misses {sum(row['missed'] for row in rows)} of {len(rows)}")


main()
