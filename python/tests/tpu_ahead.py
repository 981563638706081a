"""Compiles the exported programs for TPUs, ahead of time and without one, and compares the collectives with the plan's.

    python tpu_ahead.py [--topology v5e:2x4] [--mesh 2x4]... [NAME...]

Needs `pip install libtpu`. Nothing runs. A topology of libtpu names eight chips. Each collective of the
plan's report has to be in XLA's program, with the same kind, group and bytes sent, and there must be no
other. How often loops run is not in the text of programs for TPUs, so instructions are compared, not
executions. XLA's choices for TPUs are named:

* narrowed: f32 that only products read is moved as bf16, to which they round it, in half the bytes;
* summed: a reduce_scatter is an all_reduce of which each device takes its part (several small ones are
  one all_reduce), or a small all_gather is an all_reduce of zeros and own numbers, with padding;
* merged: one of several equal collectives is left."""
import argparse
import collections
import os
import sys

os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")  # libtpu otherwise asks a server of the cloud what this host is

import communication
import equality
from functions.case import shapes

import hlo
import jax
from jax.experimental import topologies

TOPOLOGY = "v5e:2x4"
MESHES = {"8": {"x": 8}, "2x4": {"x": 2, "y": 4}, "2x2x2": {"x": 2, "y": 2, "z": 2}}
# of the plan, of XLA (None: the same), XLA's bytes over the plan's, the note
WAYS = (
    (None, None, 1, "equal"),
    (None, None, 0.5, "narrowed"),
    ("reduce-scatter", "all-reduce", 2, "summed"),
    ("reduce-scatter", "all-reduce", 1, "summed"),
    ("all-gather", "all-reduce", 2, "summed"),
    ("all-gather", "all-reduce", 1, "summed"),
)
NOTES = "equal", "narrowed", "summed", "merged"
PADDED = 64  # bytes of an all_gather so small that its sum is mostly padding


def way(of_plan, of_xla):
    """Returns the note of a collective of the plan that may be this one of XLA, each (kind, group, bytes), or None."""
    (kind, group, size), (other, others, sent) = of_plan, of_xla
    if group != others:
        return None
    if kind == "all-gather" and other == "all-reduce" and size <= PADDED:
        return "summed"
    return next((note for a, b, ratio, note in WAYS if a in (None, kind) and other == (b or kind) and sent == ratio * size), None)


def matched(said, found):
    """Matches as many as there can be, by augmenting paths (Kuhn), equal ones first.
    Returns {index of found: index of said}."""
    able = [sorted((j for j in range(len(found)) if way(what, found[j])), key=lambda j, what=what: NOTES.index(way(what, found[j]))) for what in said]
    of = {}

    def augment(i, seen):
        for j in able[i]:
            if j not in seen:
                seen.add(j)
                if j not in of or augment(of[j], seen):
                    of[j] = i
                    return True
        return False

    for i in range(len(said)):
        augment(i, set())
    return of


def compared(plan, text):
    """Returns ({note: how many}, what one of the two has alone)."""
    counted = communication.of_report(plan)[0]
    said = sorted((kind, group, size) for (kind, group, size, _), n in counted.items() for _ in range(n))
    found = sorted((one.kind, one.group, one.sent) for one in hlo.collectives(text, plan.devices))
    of = matched(said, found)
    notes = collections.Counter(way(said[i], found[j]) for j, i in of.items())
    left = [what for i, what in enumerate(said) if i not in of.values()]
    merged = [what for what in left if said.count(what) > left.count(what)]
    notes["merged"] = len(merged)
    alone = lambda where, rest: ["%s alone: %s, group of %d, %d bytes" % (where, *what) for what in rest]
    return notes, alone("the plan", [what for what in left if what not in merged]) + alone("XLA's program", [what for j, what in enumerate(found) if j not in of])


def run(names, meshes, topology=TOPOLOGY):
    """Prints a line for each. Returns {(name, mesh): what is wrong}."""
    devices = list(topologies.get_topology_desc(topology, "tpu").devices)
    failed, total = {}, collections.Counter()
    for name in names:
        case = equality.CASES[name]
        args = case.args(False)
        for mesh in meshes:
            plan = equality.planned(case, MESHES[mesh], args)
            try:
                notes, wrong = compared(plan, plan.jit(devices).lower(*shapes(args)).compile().as_text())
            except jax.errors.JaxRuntimeError as error:
                notes, wrong = collections.Counter(), ["XLA: " + str(error)[:300]]
            total.update(notes)
            print("%-26s %-6s %s" % (name, mesh, "; ".join(["%d %s" % (notes[note], note) for note in NOTES if notes[note]] + wrong) or "none"), flush=True)
            if wrong:
                failed[name, mesh] = wrong
    print("%s; %d programs differ" % (", ".join("%d %s" % (total[note], note) for note in NOTES), len(failed)))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--topology", default=TOPOLOGY)
    parser.add_argument("--mesh", action="append", choices=list(MESHES))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    return 1 if run(given.names or equality.CASES, given.mesh or list(MESHES), given.topology) else 0


if __name__ == "__main__":
    sys.exit(main())
