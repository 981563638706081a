#!/usr/bin/env python3
"""Compares our plans for the fewest bytes with the programs of XLA's partitioner, for the functions of
python/tests/functions: measure_functions.py [NAME...] [--mesh NAME]...

Our plan has the pins of python/tests: the annotations of a few arguments, and of their new values. XLA
partitions the same function twice: "layouts" with those that our plan has for all arguments and
results, "pins" with the pins alone. It chooses all other layouts. Ours is the exported program, which
XLA compiles too, so that bytes and work of all three come from optimized programs, by one formula
(hlo.py). Loops count as often as they run, 8 times where XLA does not know. Work is that of all devices
over that of one device, as XLA counts operations.

Where ours sends more, XLA may repeat work instead. Then the function is planned again with lower prices
of work (byte-flops), until ours sends no more: that plan is printed with its work. Exit code 1: there
is none. Results are compared by python/tests/equality.py."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "..", "..", "python"), os.path.join(HERE, "..", "..", "python", "tests")]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # XLA warns of its own layouts
import hlo  # noqa: E402
from live import DEVICES  # noqa: E402

try:
    import equality
    import jax
    from jax.sharding import NamedSharding, PartitionSpec as P

    import tpshard.jax as tps
    from measure_jax import flops
    from tpshard.jax._names import leaf_names, matches, parameter_names, updated_arguments
except ImportError as error:
    sys.exit(f"measure_functions.py: {error}; pip install jax optax")

BYTE_FLOPS = 30, 60, 100, 200, 300, 600, 1000, 2000, 3000, 6000, 10000, 100000, 1000000  # prices of a byte; the default is 20
HEADER = (f"{'function':26} {'mesh':6} {'ours':>8} {'layouts':>8} {'ratio':>6} {'pins':>8} {'ratio':>6} | {'work':>5} {'layouts':>7} {'pins':>5} | "
          f"{'ours':24} {'layouts':24} pins")


def closed(spec):
    """The PartitionSpec without open dimensions, which arguments of jax.jit cannot have."""
    return P(*(None if entry is P.UNCONSTRAINED else entry for entry in spec))


class Function:
    def __init__(self, name, mesh, **options):
        self.case, self.sizes = equality.CASES[name], equality.MESHES[mesh]
        self.args = self.case.args()
        self.pins = {pattern: closed(spec) for pattern, spec in equality.pins(self.case, self.sizes).items()}
        self.plan = tps.plan(
            self.case.function, equality.shapes(self.args), self.sizes, pin=self.pins, donate_argnums=self.case.donate, **options
        )

    def annotated(self):
        """The jitted function with the pins on arguments, and on the results that are their new values."""
        mesh = jax.make_mesh(tuple(self.sizes.values()), tuple(self.sizes), axis_types=(jax.sharding.AxisType.Auto,) * len(self.sizes))
        heads, results = parameter_names(self.case.function, len(self.args)), jax.eval_shape(self.case.function, *self.args)
        names = [leaf_names(head, arg) for head, arg in zip(heads, self.args)]
        numbers = [i for i, of_one in enumerate(names) for _ in of_one]
        flat = [name for of_one in names for name in of_one]
        ins = [None] * len(flat)
        for pattern, spec in self.pins.items():
            for i in matches(pattern, flat, "pin"):
                ins[i] = NamedSharding(mesh, spec)
        typed = lambda leaves, tree: [(name, (a.shape, a.dtype)) for name, a in zip(leaves, jax.tree.leaves(tree))]
        donated = [i for i, n in enumerate(numbers) if n in self.case.donate]
        tied = updated_arguments(typed(flat, self.args), donated, typed(leaf_names("result", results), results))
        outs = [ins[tied[r]] if r in tied else None for r in range(len(jax.tree.leaves(results)))]
        placed = jax.tree.unflatten(jax.tree.structure(self.args), ins), jax.tree.unflatten(jax.tree.structure(results), outs)
        return jax.jit(self.case.function, in_shardings=placed[0], out_shardings=placed[1])

    def measured(self, jitted):
        """Returns bytes, operations of a device, and collectives as text."""
        compiled = jitted.lower(*self.args).compile()
        found = hlo.collectives(compiled.as_text(), DEVICES)
        return sum(one.sent * one.times for one in found), flops(compiled), hlo.counts_text(found)

    def all(self):
        whole = flops(jax.jit(self.case.function).lower(*self.args).compile())
        return whole, self.measured(self.plan.jit()), self.measured(self.plan.jit(by="xla")), self.measured(self.annotated())


def ratio(ours, theirs):
    return "-" if theirs == 0 else f"{ours / theirs:.2f}"


def with_less(name, mesh, of_peer):
    """Returns (price, bytes, operations of a device) of our first plan that sends no more than the peer and does at
    most 5 % more work; if there is none, of that with the least work which sends no more; or None."""
    found = None
    for price in BYTE_FLOPS:
        made = Function(name, mesh, objective="bytes", byte_flops=price)
        sent, operations, _ = made.measured(made.plan.jit())
        if sent <= of_peer[0] and (found is None or operations < found[2]):
            found = price, sent, operations
        if found and found[2] <= 1.05 * of_peer[1]:
            break
    return found


def measure(name, mesh, options):
    """Prints a row. Returns what is wrong."""
    whole, ours, given, annotated = Function(name, mesh, **options).all()
    work = lambda operations: DEVICES * operations / whole if whole else 0
    print(f"{name:26} {mesh:6} {ours[0]:8} {given[0]:8} {ratio(ours[0], given[0]):>6} {annotated[0]:8} {ratio(ours[0], annotated[0]):>6} | {work(ours[1]):5.2f} "
          f"{work(given[1]):7.2f} {work(annotated[1]):5.2f} | {ours[2]:24} {given[2]:24} {annotated[2]}", flush=True)
    wrong = []
    for what, peer in ("layouts", given), ("pins", annotated):
        if ours[0] <= peer[0]:
            continue
        less = with_less(name, mesh, peer)
        if less is None:
            wrong.append(f"{name} on {mesh}: at any price of work, more bytes than XLA with the {what}")
            continue
        price, sent, operations = less
        print(f"  {what}, byte-flops={price}: {sent} bytes and {work(operations):.2f} of the work, where XLA has {peer[0]} and {work(peer[1]):.2f}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--mesh", action="append", choices=equality.MESHES, help="default: all")
    parser.add_argument("--objective", default="bytes", help="of our plans (default: bytes)")
    options = parser.parse_args()
    print(HEADER)
    wrong = []
    for name in options.names or equality.CASES:
        for mesh in options.mesh or equality.MESHES:
            wrong += measure(name, mesh, {"objective": options.objective})
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
