"""Reads the collectives of an optimized program of XLA from its text: kinds, groups, how often they
run, and bytes sent per device as include/tp/cost.h defines them."""

import dataclasses
import math
import re

SHORT = {"all-reduce": "AR", "all-gather": "AG", "reduce-scatter": "RS", "all-to-all": "A2A", "collective-permute": "CP"}
SIZES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "s64": 8, "u64": 8, "s32": 4, "u32": 4, "s16": 2, "u16": 2, "s8": 1, "u8": 1, "pred": 1,
         "f8e4m3fn": 1, "f8e5m2": 1, "c64": 8, "c128": 16}
ASSUMED_TRIPS = 8  # of a loop whose number of iterations is not known, as in our reports

COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\) -> .* \{$")
INSTRUCTION = re.compile(r"= (\(?[a-z0-9\[\]{},/*= ]+?\)?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(-start)?\((.*)")
CALLED = re.compile(r"(?:calls|to_apply|body|condition|true_computation|false_computation)=%?([\w.\-]+)")
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
SHAPE = re.compile(r"\b([a-z]\w*)\[([\d,]*)\]")
PAIR = re.compile(r"\{(\d+),(\d+)\}")
TILED = re.compile(r"(?<=\])\{[\d,]*:[^}]*\}")  # layouts of types on TPUs
CHANNEL = re.compile(r"%([\w.\-]+) = .*channel_id=(\d+)")


@dataclasses.dataclass(frozen=True)
class Collective:
    """One tensor of a collective: XLA merges several into one instruction, of which each is counted.

    elements: those sent per device in one execution; sent: their bytes
    times:    the product of the trip counts of the loops around it
    known:    whether they are all known, and no condition is around it
    merged:   the number of the tensor in its instruction, 0 for the first"""

    kind: str
    group: int
    elements: int
    sent: int
    times: int
    known: bool
    merged: int


def computations(hlo):
    """Returns the lines of every computation, and the name of the entry."""
    found, entry, lines = {}, None, None
    for line in hlo.splitlines():
        head = COMPUTATION.match(line)
        if head:
            lines = found.setdefault(head.group(1), [])
            entry = head.group(1) if line.startswith("ENTRY") else entry
        elif lines is not None:
            lines.append(line)
    return found, entry


def tensors_of(text):
    """Returns (elements, bytes of one element) of each tensor."""
    return [(math.prod(int(n) for n in dims.split(",") if n), SIZES[element]) for element, dims in SHAPE.findall(text)]


def group_of(rest, devices):
    """Returns the size of a group. A permute that moves nothing has groups of one device."""
    pairs = re.search(r"source_target_pairs=\{(.*?\})\}", rest)
    if pairs:
        return devices if any(a != b for a, b in PAIR.findall(pairs.group(1))) else 1
    listed = re.search(r"replica_groups=\{\{([\d,]+)\}", rest)
    if listed:
        return len(listed.group(1).split(","))
    named = re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", rest)
    if named:
        sizes = {axis: int(n) for axis, n in re.findall(r"'(\w+)'=(\d+)", named.group(1))}
        return math.prod(sizes[axis] for axis in re.findall(r"'(\w+)'", named.group(2)))
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", rest)
    return int(iota.group(2)) if iota else devices


def elements_sent(kind, n, elements):
    """Returns the elements that a device sends, cut into n chunks of equal size. `elements` is what a
    device has afterwards."""
    if kind == "collective-permute":
        return elements
    whole = elements * n if kind == "reduce-scatter" else elements
    return (n - 1) * -(-whole // n) * (2 if kind == "all-reduce" else 1)


def results_of(kind, is_start, text, n):
    """Returns the tensors that a collective makes, of the type of its instruction."""
    tensors = tensors_of(text)
    if is_start and kind == "collective-permute":  # the operand, the result, two flags
        return tensors[1:2]
    if is_start and kind == "all-gather":  # the operands, the results
        return tensors[len(tensors) // 2 :]
    if kind == "all-to-all" and text.startswith("("):  # a part for each device
        return [(len(part) * part[0][0], part[0][1]) for part in (tensors[i : i + n] for i in range(0, len(tensors), n))]
    return tensors


def of_line(line, devices, times, known):
    """Returns the `Collective`s of an instruction; none of one that sends nothing."""
    match = INSTRUCTION.search(line)
    if not match:
        return []
    kind, n = match.group(2), group_of(match.group(4), devices)
    made = []
    for i, (elements, size) in enumerate(results_of(kind, match.group(3), match.group(1), n)):
        count = elements_sent(kind, n, elements) if n > 1 else 0
        made.append(Collective(kind, n, count, count * size, times, known, i))
    return [one for one in made if one.sent]


def collectives(hlo, devices):
    """Returns the `Collective`s that the program runs, those of every branch of a condition too."""
    bodies, entry = computations(TILED.sub("", hlo))
    found, first_of = [], {}

    def visit(name, times, known):
        for line in bodies[name]:
            if INSTRUCTION.search(line):
                channel = CHANNEL.search(line)
                # on TPUs, the steps of one that runs beside other ops are instructions with the same channel
                if not channel or first_of.setdefault(channel.group(2), channel.group(1)) == channel.group(1):
                    found.extend(of_line(line, devices, times, known))
                continue
            trips, branches = TRIPS.search(line), BRANCHES.search(line)
            is_loop = " while(" in line
            inner = times * (int(trips.group(1)) if trips else ASSUMED_TRIPS) if is_loop else times
            certain = known and (not is_loop or trips is not None) and " conditional(" not in line
            for called in CALLED.findall(line) + re.findall(r"[\w.\-]+", branches.group(1) if branches else ""):
                visit(called, inner, certain)

    visit(entry, 1, True)
    return found


def counts_text(found):
    """Returns "2 AR 1 AG": instructions, not tensors."""
    kinds = [SHORT[one.kind] for one in found if one.merged == 0]
    return " ".join(f"{kinds.count(k)} {k}" for k in SHORT.values() if k in kinds) or "none"
