"""The plans that bench/regret compares: ours, and rivals by a recipe that knows no measured time.

A plan is a model with layouts of some arguments or factors of one contraction, planned by tp-spmd.
Rivals are the plans of FAMILIES, which people write by hand, and the cheapest plans that the planner
finds when one decision is taken from it: the layout of an argument, or the axis of a contraction."""

import json
import os
import re
import subprocess

NEAR = 0.05  # plans with the same collectives and local work within this share are one plan


class Plan:
    """A way to run a model: the text of the program, and what the planner says about it."""

    def __init__(self, name, text, strategy, report):
        function = report["functions"][0]
        self.name, self.text, self.strategy = name, text, strategy
        self.modelled = function["step"]["seconds"]
        self.local = function["step"]["compute_seconds"] + function["step"]["local_seconds"]
        self.collectives = sorted((c["kind"], c["group"], c["tensor"], c["count"]) for c in function["collectives"])
        self.bytes = function["bytes_per_device"]

    def is_near(self, other):
        return self.collectives == other.collectives and abs(self.local - other.local) <= NEAR * max(self.local, other.local)

    def summary(self):
        counts = {}
        for kind, _, _, count in self.collectives:
            counts[kind] = counts.get(kind, 0) + count
        return " ".join(f"{n} {kind}" for kind, n in sorted(counts.items())) or "none"


class Planner:
    def __init__(self, build, folder, topology):
        self.bin, self.folder, self.topology = os.path.join(build, "bin"), folder, topology

    def write(self, text):
        path = os.path.join(self.folder, "model.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def plan(self, name, text, strategy="plan"):
        """The plan of a program; None if it has none."""
        report = os.path.join(self.folder, "plan.json")
        settings = f"strategy={strategy} report={report} report-alternatives=0 remark-bytes=none" + (f" topology={self.topology}" if self.topology else "")
        command = [os.path.join(self.bin, "shard-opt"), self.write(text), "--allow-unregistered-dialect", f"--pass-pipeline=builtin.module(tp-spmd{{{settings}}})", "-o", os.devnull]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
        with open(report, encoding="utf-8") as file:
            return Plan(name, text, strategy, json.load(file))

    def compile(self, plan, library):
        """Compiles a plan; returns the argument of turns for it."""
        command = [os.path.join(self.bin, "shard-run"), self.write(plan.text), f"--strategy={plan.strategy}", "--emit=so", "-o", library,
                   *([f"--topology={self.topology}"] if self.topology else [])]
        subprocess.run(command, check=True, capture_output=True)
        name = os.path.basename(library)[3:-3]
        with open(os.path.join(os.path.dirname(library), f"{name}.h"), encoding="utf-8") as file:
            sizes = re.findall(r"_bytes\[\] = \{(.*?)\}", file.read())
        return ":".join([library, name, *(size.replace(" ", "") for size in sizes)])


# ---- programs ----


def arguments_of(text):
    """Shape and layout of each argument of a program with Shardy's annotations in generic form."""
    head = re.search(r"arg_attrs = \[(.*)\], function_type = \((.*?)\) ->", text)
    shapes = [tuple(map(int, shape.split("x")[:-1])) for shape in re.findall(r"tensor<([^>]*)>", head.group(2))]
    found = re.findall(r"#sdy.sharding<@mesh, \[(.*?)\]>", head.group(1))
    layouts = [tuple((re.findall(r'"([^"]*)"', dim) or [None])[0] for dim in re.findall(r"\{[^}]*\}", layout)) for layout in found]
    if len(layouts) != len(shapes):
        raise ValueError("every argument needs an sdy.sharding")
    return list(zip(shapes, layouts))


def with_layouts(text, layouts):
    """The program with layouts of its arguments: a tuple of axes per dimension, or None for any."""
    def attribute(layout):
        dims = ", ".join(f'{{"{axis}"}}' if axis else "{}" for axis in layout or ())
        return "{}" if layout is None else f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"

    return re.sub(r"arg_attrs = \[(?:\{[^\n]*?\}(?:, )?)*\], function_type",
                  lambda _: f"arg_attrs = [{', '.join(attribute(layout) for layout in layouts)}], function_type", text, count=1)


CONTRACTION = re.compile(r'^    %\S+ = "linalg\.(?:generic|matmul)"\([^)]*\) <\{indexing_maps[^\n]*reduction[^\n]*\}> \(\{\n(.*?)^    \}\)( : )', re.DOTALL | re.MULTILINE)


def contractions(text):
    """Where attributes of contractions may stand in a text, and the number of loops of each."""
    found = []
    for op in CONTRACTION.finditer(text):
        if "arith.mulf" in op.group(1) and "arith.addf" in op.group(1):
            found.append((op.start(2), op.group(0).count("#linalg.iterator_type<")))
    return found


def with_factor(text, place, factor):
    return f"{text[:place]} {{tp.factors = {{tp = {factor}}}}}{text[place:]}"


# ---- rivals ----


def split(shape, dim):
    return tuple("tp" if d == dim else None for d in range(len(shape)))


def whole(shape):
    return (None,) * len(shape)


def families(arguments, activations):
    """Layouts that people write: {name: layout of each argument}. `activations` are the numbers of
    the arguments that are no weights."""
    def layouts(of_activation, of_weight):
        return [(of_activation if i in activations else of_weight)(shape, axes) for i, (shape, axes) in enumerate(arguments)]

    def rows(shape, _):
        return split(shape, 0)

    def sequence(shape, _):
        return split(shape, 1)

    def features(shape, _):
        return split(shape, len(shape) - 1)

    def given(_, axes):
        return axes

    def replicated(shape, _):
        return whole(shape)

    def at_rest(shape, _):
        return split(shape, 0) if len(shape) > 1 else whole(shape)

    def reversed_tensor(shape, axes):
        """Columns where people split rows, and rows where they split columns."""
        if axes is None or "tp" not in axes or len(shape) < 2:
            return whole(shape)
        return split(shape, 0 if axes.index("tp") else len(shape) - 1)

    def half(shape, axes):
        return axes if len(shape) > 2 else whole(shape)

    sequences = all(len(arguments[i][0]) > 2 for i in activations)
    tokens = sequence if sequences and all(arguments[i][0][1] > 1 for i in activations) else rows
    return {
        "all replicated": layouts(replicated, replicated),
        "pure batch": layouts(rows, replicated),
        "sequence": layouts(tokens, replicated),
        "features": layouts(features, replicated),
        "pure tensor": layouts(given, given),
        "tensor, rows split": layouts(tokens, given),
        "tensor reversed": layouts(replicated, reversed_tensor),
        "tensor in attention": layouts(replicated, half),
        "weights at rest": layouts(tokens, at_rest),
    }


def forced(text, arguments, layouts):
    """Programs with one decision taken: (name, text). `layouts`: those that are given; only what
    they leave open is decided."""
    for i, (shape, _) in enumerate(arguments):
        for dim in range(-1, len(shape)) if layouts[i] is None else ():
            taken = [split(shape, dim) if k == i else layout for k, layout in enumerate(layouts)]
            yield f"argument {i} {'whole' if dim < 0 else f'split {dim}'}", with_layouts(text, taken)
    given = with_layouts(text, layouts)
    for number, (place, loops) in enumerate(contractions(given)):
        for factor in range(loops):
            yield f"contraction {number} factor {factor}", with_factor(given, place, factor)


def distinct(plans):
    """The plans without those near an earlier one."""
    kept = []
    for plan in plans:
        if plan and not any(plan.is_near(other) for other in kept):
            kept.append(plan)
    return kept
