#!/usr/bin/env python3
"""matrix.py SHARD_RUN MODELS [NAME...]: runs models on many meshes with every planning mode, and
compares each run with one rank and with the framework's results.

A cell is a mesh and a mode: `given` plans around the annotations of the model, `none` plans without
any, `follow` only propagates axes from them, `overlap` is `given` with overlapped communication, on
a machine so slow that it pays off. On a model's own mesh the report is checked too: the devices
together do at most LIMIT times the arithmetic of one device, weights are sharded as annotated, and
the bytes of the collectives add up. Without NAME all models run. TP_LONG=1 in the environment runs
all cells, otherwise only those of SHORT.

matrix.py --tested MODELS TESTS: reports models that no test of the folder TESTS runs."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 1.5
MESHES = ["2", "3", "4", "2x2", "2x4", "2x2x2"]
WAYS = ["given", "none", "follow", "overlap"]
# Every mesh in some mode and every mode on some mesh; 3 divides no dimension. OWN is the mesh that
# the model is annotated for.
SHORT = [("2", "given"), ("3", "given"), ("2x2", "given"), ("OWN", "given"), ("4", "none"), ("2x2x2", "none"), ("2x4", "follow"),
         ("2x2", "overlap"), ("2", "overlap")]
# Planning takes seconds, so fewer cells run by default.
SLOW = {"llama_block_train": [("OWN", "given"), ("2x2", "overlap")],
        "llama_block": [("OWN", "given"), ("3", "follow"), ("4", "none"), ("2", "overlap")],
        "torch/llama": [("OWN", "given"), ("3", "given"), ("4", "none")],
        "torch/bert": [("OWN", "given"), ("2x4", "follow"), ("2", "overlap")]}
PROCESSES = {"2x2", "3"}  # ranks are worker processes on these meshes, else threads
MACHINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "slow.json")
SIZES = {"f32": 4, "f64": 8, "bf16": 2, "f16": 2, "i32": 4, "i64": 8, "i1": 1}


def bracket_end(text, at):
    """Returns the position after the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "[{") - (text[i] in "]}")
        if depth == 0:
            return i + 1
    raise ValueError("brackets of an annotation are not closed")


def without_annotations(text):
    while (at := text.find("tp.sharding = ")) >= 0:
        end = bracket_end(text, at + len("tp.sharding = "))
        before, after = text[:at], text[end:]
        text = before + after[2:] if after.startswith(", ") else re.sub(r", $", "", before) + after
    return re.sub(r" \{\}", "", text)


GRID = re.compile(r"shard\.grid @(\w+)\(shape = ([0-9x]+)\) \{tp\.axes = \[(.*?)\]\}")


def on_mesh(text, sizes):
    """Returns the module with a grid of these sizes: if there are fewer sizes than axes, they apply
    to the last axes; if there are more, an axis is added."""
    name, _, axes = GRID.search(text).groups()
    axes = [axis.strip().strip('"') for axis in axes.split(",")]
    sizes = [1] * (len(axes) - len(sizes)) + sizes
    axes = ["more%d" % i for i in range(len(sizes) - len(axes))] + axes
    grid = "shard.grid @%s(shape = %s) {tp.axes = [%s]}" % (name, "x".join(map(str, sizes)), ", ".join('"%s"' % a for a in axes))
    return GRID.sub(grid, text, 1), dict(zip(axes, sizes))


def annotated_param_bytes(text, mesh):
    """Returns the bytes of the weights on a device, according to their annotations."""
    signature = re.search(r"func\.func @main\((.*?)\) ->", text, re.S).group(1)
    total = 0
    for shape, attrs in re.findall(r"%\w+: tensor<([^>]*)> \{(.*?)\}(?=, %|$)", signature, re.S):
        if 'tp.role = "param"' not in attrs:
            continue
        *dims, element = shape.split("x")
        sharding, _ = json.JSONDecoder().raw_decode(attrs.split("tp.sharding =")[1].strip())
        n = SIZES[element]
        for dim, axes in zip(map(int, dims), sharding):
            for axis in axes:
                dim = -(-dim // mesh[axis])  # all uneven shards have the size of the largest
            n *= dim
        total += n
    return total


def report_problems(report, text, mesh):
    """Returns errors in the report of a run on the model's own mesh, and a readable summary
    line."""
    redundancy = report["flops_per_device"] * report["devices"] / report["flops_unsharded"]
    memory, whole = report["memory_per_device"], report["memory_unsharded"]
    params = annotated_param_bytes(text, mesh)
    told = "%.2f times the flops of one; bytes per device %d of %d" % (redundancy, memory["total"], whole["total"])
    wrong = []
    if redundancy > LIMIT:
        wrong.append("all devices together do %.2f times the work, %.2f is the limit" % (redundancy, LIMIT))
    if memory["params"] != params:
        wrong.append("%d bytes of weights per device, the annotations say %d" % (memory["params"], params))
    if sum(c["bytes_per_device"] for c in report["collectives"]) != report["bytes_per_device"]:
        wrong.append("the bytes of the collectives do not add up")
    return wrong, told


def run_cell(shard_run, prefix, shape, way, folder):
    with open(prefix + ".mlir") as file:
        text = file.read()
    own = GRID.search(text).group(2)
    shape = own if shape == "OWN" else shape
    text, mesh = on_mesh(text, [int(size) for size in shape.split("x")])
    model, report = os.path.join(folder, "model.mlir"), os.path.join(folder, "report.json")
    with open(model, "w") as file:
        file.write(without_annotations(text) if way == "none" else text)
    command = [shard_run, model, "--inputs-from", prefix, "--report", report,
               "--strategy", "follow" if way == "follow" else "plan", "--launch", "processes" if shape in PROCESSES else "threads"]
    environment = dict(os.environ)
    if way == "overlap":
        command += ["--overlap", "plan", "--topology", MACHINE]
        # progress by a separate thread, or by the waiting thread
        environment["TPRT_PROGRESS"] = "1" if shape in PROCESSES else "0"
    start = time.time()
    done = subprocess.run(command, text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wrong, told = ([] if done.returncode == 0 else ["exit code %d" % done.returncode]), ""
    if not wrong:
        with open(report) as file:
            found = json.load(file)
        wrong = [] if found["verified"] is True else ["the report does not say that it was verified"]
        checked, told = report_problems(found, text, mesh)
        wrong += checked if (shape, way) == (own, "given") else []
    print("%-22s %-6s %-7s %5.1f s  %s%s" % (os.path.basename(prefix), shape, way, time.time() - start, told if not wrong else "FAILED: ",
                                             "; ".join(wrong)), flush=True)
    if wrong:
        print(done.stdout[-3000:])
    return not wrong


def names(models):
    for folder in ("", "torch/"):
        yield from sorted(folder + file[:-5] for file in os.listdir(os.path.join(models, folder)) if file.endswith(".mlir"))


def untested(models, tests):
    texts = []
    for test in os.listdir(tests):
        if test.endswith(".test"):
            with open(os.path.join(tests, test)) as file:
                texts.append(file.read())
    missing = [name for name in names(models) if not any("matrix.py shard-run %%models %s\n" % name in text for text in texts)]
    print("\n".join(["no test runs %s" % name for name in missing] + ["%d models without a test" % len(missing)]))
    return 1 if missing else 0


def main(shard_run, models, *wanted):
    if shard_run == "--tested":
        return untested(models, *wanted)
    cells = [(shape, way) for shape in MESHES for way in WAYS] if os.environ.get("TP_LONG") else SHORT
    n = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted or names(models):
            for shape, way in cells if cells is not SHORT else SLOW.get(name, SHORT):
                n += 1
                failed += not run_cell(shard_run, os.path.join(models, name), shape, way, folder)
    print("%d runs, %d failed" % (n, failed))
    return 1 if failed or not n else 0


sys.exit(main(*sys.argv[1:]))
