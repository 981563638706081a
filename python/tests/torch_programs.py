"""Files of MLIR as graphs of PyTorch: they are planned, exported, and run in lockstep on all devices; shard-run, which
verifies itself by another way, says what is right.

    python torch_programs.py [--mesh x=2,y=2] [--seed N] FILE...

Prints a line for each file, and exits with 1 if a result differs."""
import argparse
import json
import re
import sys

import lockstep
import numpy
import torch

import tpshard
from tpshard._exported import stablehlo_text
from tpshard._ranks import run_ranks
from tpshard.torch.program.attributes import type_of

NARROW = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)


def sharded(x, dims, sizes, number):
    """The part of device `number`, by the layout of the plan; None if the axes of a dimension do not divide it."""
    names, at = list(sizes), numpy.unravel_index(number, tuple(sizes.values()))
    for d, axes in enumerate(dims):
        part, parts = 0, 1
        for axis in (name for axis in axes for name in names if name == axis or name.startswith(axis + ":")):
            part, parts = part * sizes[axis] + int(at[names.index(axis)]), parts * sizes[axis]
        if x.shape[d] % parts != 0:
            return None
        x = x.unflatten(d, (parts, x.shape[d] // parts)).select(d, part)
    return x.contiguous()


def kind(entry):
    """(shape, dtype) of an argument or result of the report."""
    return type_of("tensor<%s%s>" % ("".join("%dx" % n for n in entry["shape"]), entry["element"]))


def some(shape, dtype, rng):
    """Values that are small, so that sums of them are exact or nearly so."""
    if dtype == torch.bool:
        return torch.from_numpy(rng.integers(0, 2, shape).astype(bool))
    if dtype.is_complex:
        return torch.from_numpy(numpy.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape))).to(dtype)
    if dtype.is_floating_point:
        return torch.from_numpy(numpy.asarray(0.25 * rng.standard_normal(shape))).to(dtype)
    low = 0 if dtype.is_signed is False else -4
    return torch.from_numpy(numpy.asarray(rng.integers(low, 5, shape))).to(dtype)


def array(x):
    return (x.float() if x.dtype in NARROW else x).numpy()


def check(text, mesh, seed=0):
    """Returns the largest error of a program, relative to 1 + its values. `mesh` is for one without a grid. Raises `tpshard.Refused` for one that has no
    graph, AssertionError for one whose result has another shape or type."""
    options = {"boundary": "even", "topology": "cpu", **({} if "shard.grid" in text else {"mesh": mesh})}
    made = tpshard.run(text, "tp-plan", options, report=True)
    report = json.loads(made.report)
    sizes = {axis["axis"]: axis["size"] for axis in report["mesh"]}
    if len(report["functions"]) != 1 or report["functions"][0]["function"] != "main":
        raise tpshard.Refused("it has no function main, or others")
    main = report["functions"][0]
    if not all("shape" in e for e in main["arguments"] + main["results"]):
        raise tpshard.Refused("an argument is no tensor")
    if any(e["is_partial"] or any(":" in a and a not in sizes for axes in e["dims"] for a in axes) for e in main["arguments"] + main["results"]):
        raise tpshard.Refused("its layouts are none of tensors")
    rng, types = numpy.random.default_rng(seed), [kind(e) for e in main["arguments"]]
    inputs = [some(*of, rng) for of in types]
    parts = [[sharded(x, e["dims"], sizes, n) for x, e in zip(inputs, main["arguments"])] for n in range(report["devices"])]
    results = [sharded(torch.empty(e["shape"], device="meta"), e["dims"], sizes, 0) for e in main["results"]]
    if any(x is None for part in [*parts, results] for x in part):
        raise tpshard.Refused("an argument or a result is uneven")
    modules = lockstep.graphs(stablehlo_text(made.program, options), report["devices"])
    wanted, error = run_ranks(made.program, options, [array(x) for x in inputs], [str(i) for i in range(len(main["results"]))])
    if error:
        raise error
    found, worst = lockstep.run(modules, parts), 0.0
    for i, entry in enumerate(main["results"]):
        shape, dtype = kind(entry)
        whole = torch.from_numpy(numpy.ascontiguousarray(wanted[i])).reshape(shape).to(dtype)
        for n in range(report["devices"]):
            want, have = sharded(whole, entry["dims"], sizes, n), found[n][i]
            have = have.view(dtype) if have.dtype != dtype and have.element_size() == want.element_size() else have  # without a sign
            assert (want.shape, want.dtype) == (have.shape, have.dtype), (entry["shape"], want.shape, have.shape, have.dtype)
            want, have = (x.to(torch.complex128 if dtype.is_complex else torch.float64) for x in (want, have))
            is_same = (want == have) | (want.isnan() & have.isnan())
            errors = ((want - have).abs() / (1 + want.abs()))[~is_same]
            worst = max([worst, *(e if e == e else float("inf") for e in errors.tolist())])
    return worst


def tolerance(text):
    return 0.2 if "f8E" in text else 0.02 if re.search(r"\bbf16|xbf16|f16\b", text) else 5e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--mesh", default="x=2,y=2")
    parser.add_argument("--seed", type=int, default=0)
    args, counts = parser.parse_args(), {"right": 0, "refused": 0, "wrong": 0}
    for path in args.files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            error = check(text, args.mesh, args.seed)
            outcome, said = "right" if error <= tolerance(text) else "wrong", "%.1e" % error
        except tpshard.Error as error:
            outcome, said = "refused", str(error).splitlines()[0][:150]
        except Exception as error:  # whatever it is, this file is wrong
            outcome, said = "wrong", "%s: %s" % (type(error).__name__, str(error)[:300])
        counts[outcome] += 1
        print("%-8s %s %s" % (outcome, path, said), flush=True)
    print(", ".join("%d %s" % (n, what) for what, n in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
