"""Faults in the collectives of an exported program, each of which the comparison with one device has to
notice.

    python mutants.py [--mesh 2x4] NAME...

prints how many of each kind were noticed, and those that were not."""
import argparse
import collections
import json
import re
import sys

import jax
import numpy

import equality

OP = re.compile(r'^(\s*)(%%\S+) = "stablehlo\.(%s)"\((%%[\w#]+)\)' % "|".join(equality.COLLECTIVES))
TYPES = re.compile(r"\((tensor<[^>]*>)\) -> (tensor<[^>]*>)$")
GROUPS = re.compile(r"(replica_groups|source_target_pairs) = dense<(\[\[.*?\]\])> : tensor<\S+xi64>")


def collectives(lines):
    """Yields (first line, last line, kind) of each collective."""
    for first, line in enumerate(lines):
        found = OP.match(line)
        if found:
            last = first
            while not TYPES.search(lines[last]):
                last += 1
            yield first, last, found[3]


def number(name, line):
    return int(re.search(name + r" = (\d+) : i64", line)[1])


def shape(type_text):
    return [int(n) for n in re.findall(r"(\d+)x", type_text)]


def with_groups(line, groups):
    n = "%dx%d" % (len(groups), len(groups[0]))
    return GROUPS.sub(lambda m: "%s = dense<%s> : tensor<%sxi64>" % (m[1], json.dumps(groups), n), line)


def own_part(at, name, operand, type_text, dim, parts):
    """A slice: the first of the equal parts of a dimension."""
    limits = shape(type_text)
    made = "x".join(map(str, limits[:dim] + [limits[dim] // parts] + limits[dim + 1 :])) + "x" + type_text[:-1].split("x")[-1]
    limits[dim] //= parts
    lists = [", ".join(map(str, values)) for values in (limits, [0] * len(limits), [1] * len(limits))]
    text = '%s%s = "stablehlo.slice"(%s) {limit_indices = array<i64: %s>, start_indices = array<i64: %s>, strides = array<i64: %s>} : (%s) -> tensor<%s>'
    return text % (at, name, operand, *lists, type_text, made), "tensor<%s>" % made


def copies(at, name, operand, type_text, dim, n, result):
    text = '%s%s = "stablehlo.concatenate"(%s) {dimension = %d : i64} : (%s) -> %s'
    return text % (at, name, ", ".join([operand] * n), dim, ", ".join([type_text] * n), result)


def dropped(lines, first, last, kind):
    """The lines without the collective: each device only uses what it has."""
    at, name, _, operand = OP.match(lines[first]).groups()
    taken, made = TYPES.search(lines[last]).groups()
    groups = json.loads(GROUPS.search(lines[last])[2])
    if kind == "all_reduce":
        alone = [[d] for group in groups for d in group]
        return lines[first:last] + [with_groups(lines[last], alone)]
    if kind == "collective_permute":
        return [with_groups(lines[last], [[d, d] for d in range(len(groups))])]
    n = len(groups[0])
    if kind == "all_gather":
        return [copies(at, name, operand, taken, number("all_gather_dim", lines[last]), n, made)]
    if kind == "reduce_scatter":
        return [own_part(at, name, operand, taken, number("scatter_dimension", lines[last]), n)[0]]
    part, part_type = own_part(at, "%dropped", operand, taken, number("split_dimension", lines[last]), n)
    return [part, copies(at, name, "%dropped", part_type, number("concat_dimension", lines[last]), n, made)]


def other_groups(groups, kind):
    """Yields (what, groups): members of two groups exchanged, groups along other axes, another order.

    The exchanged members have different places in their groups. With the same place both may hold the
    same part of a value that is replicated over the groups, and the program would be an equivalent."""
    n, size = len(groups), len(groups[0])
    if kind == "collective_permute":
        targets = [t for _, t in groups]
        yield "group", [[s, t] for (s, _), t in zip(groups, targets[1:] + targets[:1])]
        return
    if n > 1:
        changed = [list(g) for g in groups]
        changed[0][0], changed[1][-1] = changed[1][-1], changed[0][0]
        yield "group", changed
    same = {frozenset(g) for g in groups}
    for other in (numpy.arange(n * size).reshape(n, size), numpy.arange(n * size).reshape(size, n).T):
        if {frozenset(g) for g in other.tolist()} != same:
            yield "axis", other.tolist()
            break
    if kind != "all_reduce":  # a sum does not depend on the order
        yield "order", [g[::-1] for g in groups]


def mutants(text):
    """Yields (what, number of the collective, kind, text)."""
    lines = text.splitlines()
    for i, (first, last, kind) in enumerate(collectives(lines)):
        changes = [("dropped", dropped(lines, first, last, kind))]
        for what, groups in other_groups(json.loads(GROUPS.search(lines[last])[2]), kind):
            changes.append((what, lines[first:last] + [with_groups(lines[last], groups)]))
        combiner = "\n".join(lines[first + 1 : last])
        for old, new in (("add", "maximum"), ("maximum", "add"), ("minimum", "maximum")):
            if '"stablehlo.%s"' % old in combiner:
                changed = combiner.replace('"stablehlo.%s"' % old, '"stablehlo.%s"' % new)
                changes.append(("combiner", [lines[first], *changed.split("\n"), lines[last]]))
                break
        for what, made in changes:
            yield what, i, kind, "\n".join(lines[:first] + made + lines[last + 1 :])


def judged(case, mesh):
    """Yields (what, number, kind, whether it was noticed) of each mutant of the program."""
    args = case.args()
    expected = equality.one_device(case, args)
    plan = equality.planned(case, mesh, args)
    text = plan.stablehlo()
    for what, i, kind, changed in mutants(text):
        plan.stablehlo = lambda: changed
        step = plan.jit(jax.devices()[: plan.devices])
        found = step(*jax.tree.map(lambda a: a if equality.is_key(a) else jax.numpy.array(a), args))
        try:
            equality.difference(equality.leaves(found), expected, case.zero)
            yield what, i, kind, False
        except equality.Different:
            yield what, i, kind, True


def run(names, mesh):
    """Returns (mutants by kind, [(name, what, number, kind)] of those that were not noticed)."""
    count, missed = collections.Counter(), []
    for name in names:
        for what, i, kind, noticed in judged(equality.CASES[name], equality.MESHES[mesh]):
            count[what, kind] += 1
            if not noticed:
                missed.append((name, what, i, kind))
    return count, missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", default="2x4", choices=list(equality.MESHES))
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    count, missed = run(options.names, options.mesh)
    for (what, kind), n in sorted(count.items()):
        print("%-10s %-20s %3d mutants, %d not noticed" % (what, kind, n, sum(m[1::2] == (what, kind) for m in missed)))
    for m in missed:
        print("not noticed:", *m)
    print("%d of %d noticed" % (sum(count.values()) - len(missed), sum(count.values())))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
