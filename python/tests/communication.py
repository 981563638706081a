"""Compares the collectives in XLA's optimized program with those of the plan's report.

    python communication.py [--uneven] [--mesh 2x4]... [NAME...]

XLA runs the exported program. Each collective of the report has to be in it, with the same kind, group,
elements sent and number of executions, and there must be no other. Executions are counted by the trip
counts of loops, 8 where they are not known, on both sides. Two things may differ, and are named:

* merged: XLA merges several collectives into one of several tensors, each of which is compared; and of
  equal ones, such as those of a product that the function computes twice, only one may be left;
* widened: XLA's CPU backend moves some bf16 as f32. Elements are the same, and bytes are twice as many."""
import argparse
import collections
import dataclasses
import pathlib
import re
import sys

import equality

import jax

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "xla"))
import hlo

KINDS = {
    "all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter", "all_to_all": "all-to-all",
    "permute": "collective-permute",
}
BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}
WIDENED = "bf16", "f16"


def of_report(plan):
    """Returns {(kind, group, elements, executions): [type of each]}, and all bytes."""
    found, sent = collections.defaultdict(list), 0
    for one in plan.collectives:
        element = re.search(r"(bf16|f16|f32|f64|i\d+)>$", one["tensor"])[1]
        elements = one["bytes_per_device"] // one["count"] // BYTES[element]
        group = plan.devices if one["kind"] == "permute" else one["group"]
        found[KINDS[one["kind"]], group, elements, one["count"]].append(element)
        sent += one["bytes_per_device"]
    return found, sent


def of_xla(text, devices):
    """Returns {(kind, group, elements, executions): how many}, all bytes, instructions of several tensors."""
    found, sent, merged = collections.Counter(), 0, 0
    for one in hlo.collectives(text, devices):
        found[one.kind, one.group, one.elements, one.times] += 1
        sent += one.sent * one.times
        merged += one.merged > 0
    return found, sent, merged


@dataclasses.dataclass
class Comparison:
    """of_plan, of_xla: {kind: executions}; merged: collectives that are part of another one, or equal to
    another one; wrong: what is in one program alone."""

    of_plan: dict
    of_xla: dict
    bytes_of_plan: int
    bytes_of_xla: int
    merged: int
    is_widened: bool
    wrong: list


def executions(found):
    kinds = collections.Counter()
    for (kind, _, _, times), n in found.items():
        kinds[hlo.SHORT[kind]] += n * times
    return kinds


def compared(plan, text):
    """Compares the report of a plan with the text of XLA's optimized program."""
    said, sent_by_plan = of_report(plan)
    found, sent_by_xla, merged = of_xla(text, plan.devices)
    counts = {what: len(types) for what, types in said.items()}
    wrong, equal = [], 0
    for what in sorted(counts.keys() | found.keys()):
        n, m = counts.get(what, 0), found.get(what, 0)
        if m > n or (m == 0 and n > 0):
            wrong.append("%d in the plan and %d in XLA's program: %s, group of %d, %d elements, %d times" % (n, m, *what))
        equal += max(n - m, 0)
    lost = sum((n - found[what]) * what[2] * what[3] * BYTES[said[what][0]] for what, n in counts.items())
    is_widened = any(element in WIDENED for types in said.values() for element in types) and sent_by_xla > sent_by_plan - lost
    if not wrong and sent_by_xla != sent_by_plan - lost and not (is_widened and sent_by_xla <= 2 * sent_by_plan):
        wrong.append("%d bytes in the plan and %d in XLA's program" % (sent_by_plan - lost, sent_by_xla))
    return Comparison(executions(counts), executions(found), sent_by_plan, sent_by_xla, merged + equal, is_widened, wrong)


def compiled(plan, args):
    return plan.jit(jax.devices()[: plan.devices]).lower(*args).compile().as_text()


def run(names, meshes, uneven=False):
    """Prints a line for each. Returns {(name, mesh): what is wrong}."""
    text_of = lambda kinds: " ".join("%d %s" % (kinds[k], k) for k in hlo.SHORT.values() if kinds[k]) or "none"
    failed, total = {}, 0
    for name in names:
        case = equality.CASES[name]
        args = case.args(uneven)
        for mesh in meshes:
            plan = equality.planned(case, equality.MESHES[mesh], args, **({"boundary": "whole"} if uneven else {}))
            one = compared(plan, compiled(plan, args))
            total += sum(one.of_plan.values())
            row = name, mesh, text_of(one.of_plan), one.bytes_of_plan, text_of(one.of_xla), one.bytes_of_xla
            notes = ["%d merged" % one.merged] * (one.merged > 0) + ["widened"] * one.is_widened + one.wrong
            print("%-26s %-6s %-28s %8d | %-28s %8d  %s" % (*row, "; ".join(notes)), flush=True)
            if one.wrong:
                failed[name, mesh] = one.wrong
    print("%d executions of collectives compared; %d programs differ" % (total, len(failed)))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", action="append", choices=list(equality.MESHES))
    parser.add_argument("--uneven", action="store_true", help="sizes that the meshes do not divide")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    return 1 if run(options.names or equality.CASES, options.mesh or list(equality.MESHES), options.uneven) else 0


if __name__ == "__main__":
    sys.exit(main())
