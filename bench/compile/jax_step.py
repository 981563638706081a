#!/usr/bin/env python3
"""Measures how long tpshard.jax.plan takes for a training step of a Llama with AdamW, in plain JAX
(examples/jax/llama_train.py): jax_step.py [--layers N]... [--mesh dp=8,tp=8] [--repeats N]

Only shapes are given, those of Llama-2 7B. Prints CPU seconds of this process, the least of the repeats: of
JAX (tracing and writing StableHLO as text), and then of the plan: reading and verifying the text,
tp-import-stablehlo, all that follows, and the sum of these three. MiB: the peak of the process after
tracing, and at the end. Needs `pip install jax`."""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("TPSHARD_PREFIX", str(ROOT / "build" / "release"))
sys.path[1:1] = [str(ROOT / "python"), str(ROOT / "examples" / "jax")]
ROW = "{:>6} {:>8} {:>8} | {:>7} {:>7} {:>7} {:>7} | {:>9} {:>7}  {}"


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def shapes(model):
    """The arguments of model.train_step, as shapes."""
    import jax
    from jax import ShapeDtypeStruct as Shape

    width, hidden = model.WIDTH, model.HIDDEN
    layer = {**{n: (width, width) for n in ("wq", "wk", "wv", "wo")}, "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width),
             "norm1": (width,), "norm2": (width,)}
    tree = {"embed": (model.VOCABULARY, width), "head": (width, model.VOCABULARY), "norm": (width,), "layers": [layer] * model.LAYERS}
    params = jax.tree.map(lambda s: Shape(s, "float32"), tree, is_leaf=lambda s: isinstance(s, tuple))
    tokens = Shape((model.BATCH, model.LENGTH), "int32")
    return params, {"step": Shape((), "int32"), "mean": params, "square": params}, tokens, tokens


def one(layers, mesh):
    """Prints the figures of one plan, in a process of its own, because a peak is that of a process."""
    import llama_train as model
    from jax.sharding import PartitionSpec as P

    import tpshard.jax as tps
    from tpshard.jax import _plan

    model.VOCABULARY, model.WIDTH, model.HIDDEN, model.HEADS, model.LAYERS, model.BATCH, model.LENGTH = 32000, 4096, 11008, 32, layers, 8, 4096
    times, peaks, export = [("trace", time.process_time())], [], _plan.export

    def traced(*args):
        made = export(*args)
        peaks.append(peak())
        times.append(("parse", time.process_time()))
        times.append(made.text.count("\n"))
        return made

    _plan.export = traced
    pin = {"params/layers/*/wq": P(None, "tp"), "params/layers/*/gate": P(None, "tp"), "tokens": P("dp"), "labels": P("dp")}
    plan = tps.plan(model.train_step, shapes(model), mesh, topology="h100", params="params", state="state", pin=pin, donate_argnums=(0, 1),
                    progress=lambda name: times.append((name, time.process_time())))
    lines = times.pop(2)
    times.append(("end", time.process_time()))
    spent = dict.fromkeys(("trace", "parse", "import", "rest"), 0.0)
    for (name, start), (_, end) in zip(times, times[1:]):
        spent[{"tp-import-stablehlo": "import"}.get(name, name if name in spent else "rest")] += end - start
    print(lines, *spent.values(), peaks[0], peak(), "optimal" if plan.cost <= plan.bound else "gap %.1e" % (plan.cost / plan.bound - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, action="append", help="default: 8 and 32")
    parser.add_argument("--mesh", default="dp=8,tp=8")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    mesh = {name: int(size) for name, size in (axis.split("=") for axis in given.mesh.split(","))}
    if given.one:
        return one(given.layers[0], mesh)
    print(ROW.format("layers", "lines", "JAX", "parse", "import", "rest", "plan", "MiB: JAX", "end", ""))
    for layers in given.layers or (8, 32):
        runs = []
        for _ in range(given.repeats):
            command = [sys.executable, "-B", __file__, "--one", "--mesh", given.mesh, "--layers", str(layers)]
            said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip().split(maxsplit=7)
            runs.append([float(n) for n in said[:7]] + [said[7]])
        lines, jax_seconds, parse, imported, rest, before, after = (min(column) for column in list(zip(*runs))[:7])
        figures = ("%.2f" % n for n in (jax_seconds, parse, imported, rest, min(sum(run[2:5]) for run in runs)))
        print(ROW.format(layers, int(lines), *figures, int(before), int(after), runs[0][7]), flush=True)


if __name__ == "__main__":
    main()
