"""Runs functions of the collection on many devices and compares them with one.

    python equality.py [--uneven [whole|even]] [--mesh 2x4]... [NAME...]

prints a line for each function and mesh: the collectives that ran, and the largest difference. With
--uneven the sizes are those that the meshes do not divide, and each line has the number of computed
values that the plan splits unevenly; arguments and results that are not pinned may be split unevenly,
too (whole, the default), or evenly only (even)."""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import traceback

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import numpy
from jax.sharding import PartitionSpec as P

import tpshard.jax as tps
from functions import CASES
from functions.case import shapes

MESHES = {"8": {"x": 8}, "2x4": {"x": 2, "y": 4}, "2x2x2": {"x": 2, "y": 2, "z": 2}}
TOLERANCES = {"float32": 1e-5, "bfloat16": 2e-2}
COLLECTIVES = "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute"


class Different(AssertionError):
    """Results that are not those of one device."""


def is_key(a):
    return jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key)


def plain(a):
    return numpy.asarray(jax.random.key_data(a) if is_key(a) else a)


def difference(found, expected, zero=()):
    """Returns the largest difference of {leaf: array}, in tolerances: at most 1 is right. Raises
    `Different` with the leaf. Differences of floats are relative to the largest number of the leaf;
    leaves that match `zero` are at most 1e-7."""
    worst = 0.0
    assert list(found) == list(expected)
    for name in found:
        a, b = plain(found[name]), plain(expected[name])
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Different("%s is %s%s, not %s%s" % (name, a.dtype, a.shape, b.dtype, b.shape))
        if a.dtype.name not in TOLERANCES:
            if not numpy.array_equal(a, b):
                raise Different("%s: %d of %d numbers differ" % (name, (a != b).sum(), a.size))
            continue
        a, b, allowed = a.astype(numpy.float64), b.astype(numpy.float64), TOLERANCES[a.dtype.name]
        finite = numpy.isfinite(b)
        if not numpy.array_equal(a[~finite], b[~finite], equal_nan=True):
            raise Different("%s: numbers that are not finite differ" % name)
        a, b = a[finite], b[finite]
        is_zero = any(fnmatch.fnmatchcase(name, pattern) for pattern in zero)
        scale = 1e-7 / allowed if is_zero else max(numpy.abs(b).max(initial=0), 1e-30)
        ratio = max(numpy.abs(a - b).max(initial=0), numpy.abs(b).max(initial=0) if is_zero else 0) / scale / allowed
        if not ratio <= 1:
            raise Different("%s differs by %.2g of its largest number" % (name, ratio * allowed))
        worst = max(worst, ratio)
    return worst


def leaves(tree):
    """{name: leaf} of a pytree of results."""
    named = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): leaf for path, leaf in named}


def pins(case, mesh):
    """{pattern: PartitionSpec}: each axis splits the next dimension of case.split."""
    chosen = {}
    for i, axis in enumerate(mesh):
        pattern, dim = case.split[i % len(case.split)]
        chosen.setdefault(pattern, {}).setdefault(dim, []).append(axis)
    return {
        pattern: P(*(tuple(dims[d]) if d in dims else P.UNCONSTRAINED for d in range(max(dims) + 1)))
        for pattern, dims in chosen.items()
    }


def planned(case, mesh, args, **options):
    return tps.plan(case.function, shapes(args), mesh, pin=pins(case, mesh), donate_argnums=case.donate, **options)


def unused_axes(plan):
    """Returns the axes that split no value that the program computes."""
    computed = "\n".join(line for line in plan.text.splitlines() if " = " in line and "func.func" not in line)
    layouts = "".join(re.findall(r"tp\.\w+ = (.*)", computed))
    return [axis for axis in plan.mesh if not re.search(r'"%s[":]' % axis, layouts)]


LAYOUT = r'(\[(?:\[(?:"[^"]*",? ?)*\],? ?)+\])'
COMPUTED = re.compile(r"%\S+ = (?!tensor\.empty|arith\.constant|linalg\.fill)[\w.]+ .*?tp\.sharding = " + LAYOUT + r"[,}]")


def computed_values(text):
    """Yields (sizes, layout) of the values that a planned program computes, one for each op of one
    result that is no constant."""
    lines = [re.sub(r" loc\(.*", "", line) for line in text.splitlines()]
    for i, line in enumerate(lines):
        found = COMPUTED.search(line)
        if not found or line.lstrip().startswith("func.func"):
            continue
        while lines[i].endswith("{"):  # an op with a region has its type behind that
            at = len(lines[i]) - len(lines[i].lstrip())
            i = next(j for j in range(i + 1, len(lines)) if lines[j].startswith(" " * at + "}"))
        of_value = re.search(r"tensor<((?:\d+x)*)\w+>$", lines[i])
        layout = json.loads(found[1])
        if of_value and of_value[1].count("x") == len(layout):
            yield [int(n) for n in of_value[1].split("x")[:-1]], layout


def uneven_values(plan):
    """Returns how many computed values have a dimension that its axes do not divide."""
    parts = lambda axes: numpy.prod([int(a.split(")")[1]) if ":" in a else plan.mesh[a] for a in axes], dtype=int)
    return sum(any(n % parts(axes) for n, axes in zip(*value)) for value in computed_values(plan.text))


def counted(text):
    found = {kind: text.count('"stablehlo.%s"' % kind) for kind in COLLECTIVES}
    return {kind: n for kind, n in found.items() if n}


def one_device(case, args):
    return leaves(jax.jit(case.function)(*args))


def check(case, mesh, expected, args, **options):
    """Returns (the plan, its collectives, difference). Raises if something is wrong."""
    plan = planned(case, mesh, args, **options)
    collectives = counted(plan.stablehlo())
    if not collectives and not case.local:
        raise AssertionError("there is no collective, so nothing is shown")
    unused = unused_axes(plan)
    if unused:
        raise AssertionError("no computed value is split over %s" % ", ".join(unused))
    devices = jax.devices()[: plan.devices]
    found = plan.jit(devices)(*jax.tree.map(lambda a: jax.numpy.array(a) if not is_key(a) else a, args))
    return plan, collectives, difference(leaves(found), expected, case.zero)


def write(folder, name, plan, args, expected, zero):
    """Writes an exported program with arguments and results, for loaded_worker.py."""
    # flat, because the worker does not know the types of optax
    plan.export(folder / (name + ".jaxexport"), jax.devices()[: plan.devices], flat=True)
    for kind, arrays in ("in", jax.tree.leaves(args)), ("out", list(expected.values())):
        for i, array in enumerate(arrays):
            array = plain(array)
            is_narrow = array.dtype.name == "bfloat16"
            numpy.save(folder / ("%s.%s.%d.npy" % (name, kind, i)), array.view(numpy.uint16) if is_narrow else array)
    zeros = [i for i, leaf in enumerate(expected) if any(fnmatch.fnmatchcase(leaf, pattern) for pattern in zero)]
    index = folder / "programs.json"
    programs = json.loads(index.read_text()) if index.exists() else {}
    index.write_text(json.dumps({**programs, name: {"mesh": plan.mesh, "zero": zeros}}))


def run_loaded(folder, processes=1, python=sys.executable):
    """Runs what `write` wrote in processes with JAX alone. Returns (all exit codes are 0, output)."""
    with socket.socket() as s:
        s.bind(("localhost", 0))
        port = s.getsockname()[1]
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "XLA_FLAGS")}
    command = [python, "-B", str(pathlib.Path(__file__).with_name("loaded_worker.py")), str(folder)]
    ranks = [
        subprocess.Popen(command + [str(processes), str(i), str(port)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for i in range(processes)
    ]
    said = [rank.communicate(timeout=1200)[0] for rank in ranks]
    return all(rank.returncode == 0 for rank in ranks), said


def text_of(collectives):
    return " ".join("%d %s" % (n, kind) for kind, n in collectives.items()) or "none"


def run(names, meshes, folder=None, uneven=None):
    """Returns {(name, mesh): error text}. Programs are written to the folder, if there is one.

    uneven: "whole" or "even", with sizes that the meshes do not divide, the pins on arguments that are
            split so, and this boundary of the plan. With "whole" each plan has to split a computed
            value unevenly."""
    failed, total, split = {}, collections.Counter(), collections.Counter()
    for name in names:
        case = CASES[name]
        args = case.args(bool(uneven))
        expected = one_device(case, args)
        for mesh in meshes:
            start = time.monotonic()
            try:
                plan, collectives, worst = check(case, MESHES[mesh], expected, args, **({"boundary": uneven} if uneven else {}))
                total.update(collectives)
                note = ""
                if uneven:
                    split[name, mesh] = uneven_values(plan)
                    note = "%d uneven values, " % split[name, mesh]
                    if uneven == "whole" and not split[name, mesh]:
                        raise AssertionError("no computed value is split unevenly")
                if folder:
                    write(folder, "%s.%s" % (name, mesh), plan, args, expected, case.zero)
                print(
                    "%-28s %-6s %-60s %s%.3f of the tolerance, %.1f s" % (name, mesh, text_of(collectives), note, worst, time.monotonic() - start),
                    flush=True,
                )
            except Exception as error:
                failed[name, mesh] = "%s: %s" % (type(error).__name__, error)
                print("%-28s %-6s FAILED %s" % (name, mesh, failed[name, mesh][:600]), flush=True)
                if os.environ.get("TRACE"):
                    traceback.print_exc()
    if uneven:
        print("%d plans split %d computed values unevenly" % (sum(n > 0 for n in split.values()), sum(split.values())))
    print("collectives: %s; %d failed" % (text_of(total), len(failed)))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", action="append", choices=list(MESHES))
    parser.add_argument("--uneven", nargs="?", const="whole", choices=["whole", "even"], help="sizes that the meshes do not divide")
    parser.add_argument("--folder", type=pathlib.Path, help="write exported programs, for loaded_worker.py")
    parser.add_argument("--fast", action="store_true", help="only the fast subset")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or [n for n, c in CASES.items() if c.fast or not options.fast]
    return 1 if run(names, options.mesh or list(MESHES), options.folder, options.uneven) else 0


if __name__ == "__main__":
    sys.exit(main())
