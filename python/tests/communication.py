"""Compares the collectives in XLA's optimized program with those of the plan's report.

    python communication.py [--uneven] [--mesh 2x4]... [--objective bytes] [--topology h100] [NAME...]

XLA runs the exported program. Each collective of the report has to be in it, with the same kind, group,
bytes sent and number of executions, and there must be no other. Executions are counted by the trip
counts of loops, 8 where they are not known, on both sides. Three things may differ, and are named:

* merged: XLA merges several collectives into one of several tensors, each of which is compared; and of
  equal ones, such as those of a product that the function computes twice, only one may be left; and
  an all_reduce of an all_reduce, over parts of an axis, is folded into one over both;
* boundary: with --uneven, arguments and results that the plan splits unevenly are whole outside of the
  exported function, because JAX has no uneven arrays. XLA gathers them, or moves rows for it;
* widened: XLA's CPU backend moves some bf16 as f32, in twice the bytes."""
import argparse
import collections
import dataclasses
import pathlib
import sys

import equality

import jax
import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "xla"))
import hlo

KINDS = {
    "all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter", "all_to_all": "all-to-all",
    "permute": "collective-permute",
}
@dataclasses.dataclass
class Comparison:
    """of_plan, of_xla: {kind: executions}; merged: collectives that are part of another one, or equal to
    another one; boundary: those of uneven arguments and results; widened: those that move f32 instead of
    bf16; wrong: what is in one program alone."""

    of_plan: dict
    of_xla: dict
    bytes_of_plan: int
    bytes_of_xla: int
    merged: int
    boundary: int
    widened: int
    wrong: list


def of_report(plan):
    """Returns {(kind, group, bytes of one execution, executions): how many}, and the same of those that
    may be bf16."""
    found, narrow = collections.Counter(), collections.Counter()
    for one in plan.collectives:
        group = plan.devices if one["kind"] == "permute" else one["group"]
        key = KINDS[one["kind"]], group, one["bytes_per_device"] // one["count"], one["count"]
        found[key] += 1
        # what an op does itself has no tensor in the report
        narrow[key] += "bf16" in (one["tensor"] or plan.text)
    return found, narrow


def executions(found):
    kinds = collections.Counter()
    for (kind, _, _, times), n in found.items():
        kinds[hlo.SHORT[kind]] += n * times
    return kinds


def sent(found):
    return sum(n * size * times for (_, _, size, times), n in found.items())


def has_uneven_boundary(plan):
    parts = lambda axes: numpy.prod([plan.mesh[axis.split(":")[0]] for axis in axes], dtype=int)
    entries = plan._arguments + plan._results
    return any(n % parts(axes) for entry in entries for n, axes in zip(entry["shape"], entry["dims"]))


def fold(said, left, more):
    """Takes all-reduces that XLA has folded from `left`, those of the plan alone, and `more`, those of XLA's program alone.
    Returns how many. A step of an all-reduce sends a part of the tensor, at least one element."""
    step = lambda what: what[2] // (2 * (what[1] - 1))
    folded = 0
    for what in [what for what in more if what[0] == "all-reduce" and more[what]]:
        parts = [one for one in said if one[0] == "all-reduce" and one[3] == what[3] and step(one) == step(what) and what[1] % one[1] == 0]
        for inner in parts:
            outer = [one for one in parts if one[1] * inner[1] == what[1]]
            if outer and more[what]:
                folded += more.pop(what)
                left.pop(inner, None)
                left.pop(outer[0], None)
    return folded


def compared(plan, text):
    """Compares the report of a plan with the text of XLA's optimized program."""
    said, narrow = of_report(plan)
    of_xla = hlo.collectives(text, plan.devices)
    found = collections.Counter((one.kind, one.group, one.sent, one.times) for one in of_xla)
    left, more = collections.Counter(), found.copy()
    widened = equal = 0
    for what, n in sorted(said.items(), key=lambda item: -item[0][2]):  # the largest first: 2048 bytes are not those of 1024 widened
        kind, group, size, times = what
        wide = kind, group, 2 * size, times
        taken = min(narrow[what], more[wide])
        same = min(n - taken, more[what])
        more[wide] -= taken
        more[what] -= same
        widened += taken
        if taken or same:
            equal += n - taken - same
        else:
            left[what] = n
    merged = equal + sum(one.merged > 0 for one in of_xla) + fold(said, left, more)
    boundary = 0
    for what in [what for what in more if has_uneven_boundary(plan) and what[0] in ("all-gather", "collective-permute")]:
        boundary += more.pop(what)
    alone = lambda where, rest: ["%d in %s alone: %s, group of %d, %d bytes, %d times" % (n, where, *what) for what, n in rest.items() if n]
    wrong = alone("the plan", left) + alone("XLA's program", more)
    return Comparison(executions(said), executions(found), sent(said), sent(found), merged, boundary, widened, wrong)


def compiled(plan, args):
    return plan.jit(jax.devices()[: plan.devices]).lower(*args).compile().as_text()


def run(names, meshes, uneven=False, **options):
    """Prints a line for each, with these options of the plan. Returns {(name, mesh): what is wrong}."""
    text_of = lambda kinds: " ".join("%d %s" % (kinds[k], k) for k in hlo.SHORT.values() if kinds[k]) or "none"
    failed, total = {}, 0
    options = {**options, **({"boundary": "whole"} if uneven else {})}
    for name in names:
        case = equality.CASES[name]
        args = case.args(uneven)
        for mesh in meshes:
            plan = equality.planned(case, equality.MESHES[mesh], args, **options)
            one = compared(plan, compiled(plan, args))
            total += sum(one.of_plan.values())
            row = name, mesh, text_of(one.of_plan), one.bytes_of_plan, text_of(one.of_xla), one.bytes_of_xla
            notes = ["%d merged" % one.merged] * (one.merged > 0) + ["%d at the boundary" % one.boundary] * (one.boundary > 0) + ["%d widened" % one.widened] * (one.widened > 0) + one.wrong
            print("%-26s %-6s %-28s %8d | %-28s %8d  %s" % (*row, "; ".join(notes)), flush=True)
            if one.wrong:
                failed[name, mesh] = one.wrong
    print("%d executions of collectives compared; %d programs differ" % (total, len(failed)))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", action="append", choices=list(equality.MESHES))
    parser.add_argument("--uneven", action="store_true", help="sizes that the meshes do not divide")
    parser.add_argument("--objective", default="time")
    parser.add_argument("--topology", default="cpu")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    options = {"objective": given.objective, "topology": given.topology}
    return 1 if run(given.names or equality.CASES, given.mesh or list(equality.MESHES), given.uneven, **options) else 0


if __name__ == "__main__":
    sys.exit(main())
