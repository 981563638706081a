"""Reads the collectives of a partitioned program (the output of tp-spmd) from its text: kinds,
groups, and bytes sent per device.

Bytes are counted as in include/tp/cost.h. Loops count one iteration."""

import math
import re

SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1, "index": 8,
         "complex<f32>": 8, "complex<f64>": 16}
GRID = re.compile(r"shard\.grid @([\w.]+)\(shape = ([\dx]+)\)")
COLLECTIVE = re.compile(r"shard\.(all_reduce|all_gather|reduce_scatter|all_to_all|broadcast) %\S+ on @([\w.]+)(.*)$")
AXES = re.compile(r"grid_axes = \[([\d, ]*)\]")
TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]\w*(?:<\w+>)?)>")
PERMUTE = re.compile(r"call @tp\.permute\S*\(%[^)]*\)(.*)$")
PAIR = re.compile(r"\[(\d+), (\d+)\]")


def tensor(text):
    """Returns the number of elements and the bytes of one element."""
    dims, element = text
    return math.prod(int(n) for n in dims.split("x") if n), SIZES[element]


def of_collective(kind, mesh, rest):
    axes = [int(a) for a in AXES.search(rest).group(1).split(",")]
    group = math.prod(mesh[a] for a in axes)
    types = TENSOR.findall(rest)
    elements, size = tensor(types[-1] if kind == "all_gather" else types[0])
    chunk = -(-elements // group)
    sent = elements * size if kind == "broadcast" else (group - 1) * chunk * size
    return group, sent * (2 if kind == "all_reduce" else 1) if group > 1 else 0


def of_module(text):
    """Returns a list of (kind, group, bytes) in program order."""
    meshes = {name: [int(n) for n in shape.split("x")] for name, shape in GRID.findall(text)}
    found = []
    for line in text.splitlines():
        match = COLLECTIVE.search(line)
        if match:
            group, sent = of_collective(match.group(1), meshes[match.group(2)], match.group(3))
            found += [(match.group(1), group, sent)] if sent else []
            continue
        match = PERMUTE.search(line)
        if match and any(a != b for a, b in PAIR.findall(match.group(1))):
            elements, size = tensor(TENSOR.findall(match.group(1))[0])
            found.append(("permute", len(PAIR.findall(match.group(1))), elements * size))
    return found


def counts(collectives):
    kinds = [kind for kind, _, _ in collectives]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}
