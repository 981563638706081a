#!/usr/bin/env python3
"""Plans programs within memory limits and time limits (cases.csv), and compares the plans with
those of another run.

measure.py run [FILE] [--without SEARCH] [--case REGEX] [--jobs N]: plans all cases, prints cost
    and gap of each, and writes what was found.
measure.py compare BEFORE AFTER: prints the cases that differ, and the worst loss.
measure.py ablate BEFORE DIRECTORY [--search NAME...]: plans, without one search at a time, the
    cases in which it ran, and prints the losses. The compiler must be built with
    -DTP_SEARCH_ABLATION=ON, for `run` too.
measure.py cases: chooses limits for all programs, and writes cases.csv.

EFFORT in the environment is the option `effort` of the plans, 1 by default."""

import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "bench", "plans")]
from rows import ROWS  # noqa: E402

EFFORT = os.environ.get("EFFORT", "1")
SHARD_OPT = os.environ.get("SHARD_OPT", "shard-opt")
CASES = os.path.join(HERE, "cases.csv")
# Limits lie at these shares of the way from what every plan holds to the plan without a limit.
SHARES = (0.1, 0.3, 0.6, 0.9)
MODELS = "conv_net embedding_gather layernorm_gelu_bf16 llama_block llama_block_train mlp_train scan_decoder scan_train softmax_ce uneven torch/mlp".split()
SMALL = "1 2 7 8 9 10 12 13 13s 15 17 18 19 20 24 24z3".split()  # rows of bench/plans, at their small sizes
TIMES = {"model/llama_block_train": (1e-9, 1), "model/llama_block": (1e-9, 1), "full/24z3": (1e-9, 1)}


def source(name, folder):
    """Path of the program, and the topology for it."""
    kind, _, rest = name.partition("/")
    if kind == "model":
        return os.path.join(ROOT, "examples", "models", rest + ".mlir"), "cpu"
    if kind == "zero":
        inputs = os.path.join(ROOT, "test", "passes", "Inputs")
        return os.path.join(inputs, "zero.mlir"), os.path.join(inputs, "fast_all_reduce.json") + " mesh=dp=4"
    path = os.path.join(folder, "program.mlir")
    row = next(row for row in ROWS if row.number == rest)
    with open(path, "w", encoding="utf-8") as file:
        file.write(row.program(small=kind == "row"))
    return path, "cpu" if kind == "row" else "h100"


def plan(name, limit="", time="", without=""):
    with tempfile.TemporaryDirectory() as folder:
        path, topology = source(name, folder)
        options = f"topology={topology} effort={EFFORT} remark-bytes=none" + (f" memory-limit={limit}" if limit else "") + (f" time-limit={time}" if time else "")
        statistics = os.path.join(folder, "report.json")
        passes = f"builtin.module(tp-import,tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants,tp-propagate{{{options} report={statistics} report-alternatives=0}})"
        process = subprocess.Popen([SHARD_OPT, path, f"--pass-pipeline={passes}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=dict(os.environ, TP_WITHOUT_SEARCH=without))
        text, messages = process.communicate()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = sorted(set(re.findall(r"^search: (.*)$", messages, re.M)))
        result = {"ran": ran, "text": hashlib.sha256(text.encode()).hexdigest()[:16], "seconds": used.ru_utime + used.ru_stime}
        if process.returncode != 0:
            least = re.search(r"counts at least (\d+) here", messages)
            held = re.search(r"alone hold at least (\d+)", messages)
            error = re.sub(r"^.*?error: ", "", next((line for line in messages.splitlines() if "error:" in line), "?"))
            return dict(result, cost=None, error=error, least=max(int(m[1]) if m else 0 for m in (least, held)))
        found = {key: int(re.search(rf"{key} = (\d+)", text)[1]) for key in ("cost_ps", "bound_ps", "peak_memory")}
        with open(statistics, encoding="utf-8") as file:
            solution = json.load(file)["functions"][0]["solution"]
        return dict(result, cost=found["cost_ps"], bound=found["bound_ps"], peak=found["peak_memory"], method=solution["method"],
                    work=solution["work"], stopped="stopped_by" in text)


def one(case, without=""):
    """Plans in a process of its own, so that its processor time is known."""
    code = "import json, sys; sys.path.insert(0, sys.argv[1]); import measure; print(json.dumps(measure.plan(*sys.argv[2:])))"
    done = subprocess.run([sys.executable, "-B", "-c", code, HERE, *case, without], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{case}: {done.stderr[-1500:]}")
    return json.loads(done.stdout)


def key(case):
    return " ".join(part for part in case if part)


def read_cases(pattern=""):
    with open(CASES, newline="", encoding="utf-8") as file:
        cases = [(row["program"], row["memory_limit"], row["time_limit"]) for row in csv.DictReader(file)]
    return [case for case in cases if re.search(pattern, key(case))]


def run(cases, without, jobs, path=None, verbose=False):
    found = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, result in zip(cases, pool.map(lambda case: one(case, without), cases)):
            found[key(case)] = result
            if path:
                save(path, found)
            if verbose:
                text = f"{result['cost'] / 1e6:14.3f} us, gap {100 * gap(result):.3f} %, {result['method']}" if result["cost"] is not None else "no plan"
                print(f"{key(case):44} {result['seconds']:6.1f} s  {text}", flush=True)
    return found


def loss(before, after):
    """Share by which the plan costs more; infinite where none is found."""
    if before["cost"] is None or after["cost"] is None:
        return 0.0 if before["cost"] == after["cost"] else float("inf") if after["cost"] is None else -float("inf")
    return after["cost"] / before["cost"] - 1 if before["cost"] else float(after["cost"] > 0)


def gap(found):
    return found["cost"] / found["bound"] - 1 if found["bound"] else 0.0


def compare(before, after, verbose=True):
    shared = [name for name in after if name in before]
    losses = {name: loss(before[name], after[name]) for name in shared}
    planned = [name for name in shared if before[name]["cost"] is not None and after[name]["cost"] is not None]
    weaker = [name for name in planned if after[name]["bound"] < before[name]["bound"]]
    same = sum(all(before[name].get(k) == after[name].get(k) for k in ("text", "cost", "bound", "peak", "method", "error")) for name in shared)
    for name in shared:
        b, a = before[name], after[name]
        if verbose and (losses[name] != 0 or name in weaker or b["text"] != a["text"]):
            print(f"{name:44} cost {b['cost']} -> {a['cost']} ({100 * losses[name]:+.3f} %)  bound {b.get('bound')} -> {a.get('bound')}  "
                  f"{b.get('method')} -> {a.get('method')}  {b['seconds']:.1f} -> {a['seconds']:.1f} s")
    seconds = [sum(of[name]["seconds"] for name in shared) for of in (before, after)]
    worst = max(shared, key=losses.get, default=None)
    return {"cases": len(shared), "same": same, "dearer": sum(x > 0 for x in losses.values()), "cheaper": sum(x < 0 for x in losses.values()),
            "worst": losses.get(worst, 0.0), "worst_case": worst if losses.get(worst, 0) > 0 else "", "weaker": len(weaker),
            "seconds_before": seconds[0], "seconds_after": seconds[1],
            "work_before": sum(before[n].get("work", 0) for n in planned), "work_after": sum(after[n].get("work", 0) for n in planned)}


def show(text, sums):
    print(f"{text}: {sums['cases']} cases, {sums['same']} the same, {sums['dearer']} dearer (worst {100 * sums['worst']:.3f} % {sums['worst_case']}), "
          f"{sums['cheaper']} cheaper, {sums['weaker']} weaker bounds, {sums['seconds_before']:.1f} -> {sums['seconds_after']:.1f} s, "
          f"work {sums['work_before']:.3g} -> {sums['work_after']:.3g}", flush=True)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, found):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


def choose_cases(jobs):
    names = [f"model/{name}" for name in MODELS] + ["zero"] + [f"row/{number}" for number in SMALL] + ["full/24z3"]
    free = run([(name, "", "") for name in names], "", jobs)
    none = run([(name, "0B", "") for name in names], "", jobs)
    cases = []
    for name in names:
        peak, least = free[key((name, "", ""))]["peak"], none[key((name, "0B", ""))]["least"]
        limits = [f"{int(least + share * (peak - least))}B" for share in SHARES] if least < peak else []
        chosen = limits + [f"{peak}B"] if name in TIMES else limits[::2]
        cases += [(name, limit, "") for limit in chosen]
        cases += [(name, limit, str(time)) for time in TIMES.get(name, ()) for limit in ["", *limits]]
    with open(CASES, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("program", "memory_limit", "time_limit"))
        writer.writerows(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "compare", "ablate", "cases"))
    parser.add_argument("files", nargs="*")
    parser.add_argument("--without", default="")
    parser.add_argument("--search", nargs="*", default=[])
    parser.add_argument("--case", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.command == "cases":
        choose_cases(options.jobs)
    elif options.command == "run":
        run(read_cases(options.case), options.without, options.jobs, options.files[0] if options.files else None, verbose=True)
    elif options.command == "compare":
        show("all", compare(load(options.files[0]), load(options.files[1])))
    else:
        before = load(options.files[0])
        names = options.search or sorted({name for found in before.values() for name in found["ran"]})
        for name in names:
            cases = [case for case in read_cases(options.case) if name in before.get(key(case), {"ran": ()})["ran"]]
            after = run(cases, name, options.jobs, os.path.join(options.files[1], name.replace(" ", "_") + ".json"))
            show(name, compare(before, after))


if __name__ == "__main__":
    main()
