"""Writes programs on booleans, and what they give: bools.py DIRECTORY.

In arith, i1 is an integer of one bit, whose value as a signed number is 0 or -1. The values of the
results are computed here on such numbers; what arith leaves undefined is masked by the program."""

import os
import struct
import sys

A, B, C = [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]


def signed(bit):
    return -(bit & 1)


def divided(a, b, take):
    """The quotient or remainder; None if it is undefined: by zero, or if it is too large."""
    if b == 0 or a // b not in (-1, 0):
        return None
    return take(a, b)


def on_signed(function):
    return lambda a, b: function(signed(a), signed(b))


# For each op of two booleans, its result as an integer whose lowest bit counts.
COMBINERS = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxsi": on_signed(max),
    "minsi": on_signed(min),
    "maxui": max,
    "minui": min,
}
BINARY = {
    **COMBINERS,
    "subi": lambda a, b: a - b,
    "divsi": on_signed(lambda a, b: divided(a, b, lambda a, b: a // b)),
    "remsi": on_signed(lambda a, b: divided(a, b, lambda a, b: a % b)),
    "divui": lambda a, b: a // b if b else None,
    "remui": lambda a, b: a % b if b else None,
    "shli": lambda a, b: None if b else a,
    "shrsi": lambda a, b: None if b else a,
    "shrui": lambda a, b: None if b else a,
}
COMPARED = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": on_signed(lambda a, b: a < b),
    "sle": on_signed(lambda a, b: a <= b),
    "sgt": on_signed(lambda a, b: a > b),
    "sge": on_signed(lambda a, b: a >= b),
    "ult": lambda a, b: a < b,
    "ule": lambda a, b: a <= b,
    "ugt": lambda a, b: a > b,
    "uge": lambda a, b: a >= b,
}
IDENTITIES = {
    name: next(i for i in (0, 1) if all(function(i, a) & 1 == a for a in (0, 1)))
    for name, function in COMBINERS.items()
}
KINDS = {"i1": ("|b1", "?"), "i8": ("|i1", "b"), "i32": ("<i4", "i"), "f32": ("<f4", "f")}


def save(path, kind, shape, values):
    dtype, code = KINDS[kind]
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def tensor(kind, shape):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{kind}>"


def dense(values):
    return "dense<[" + ", ".join("true" if value else "false" for value in values) + "]>"


class Program:
    """The body of a function, its arguments and its results."""

    def __init__(self):
        self.lines, self.inputs, self.results = [], [], []

    def argument(self, kind, shape, values, sharding=None):
        self.inputs.append((kind, shape, values, sharding))
        return f"%arg{len(self.inputs) - 1}"

    def add(self, text):
        """Adds an op with one result, whose name it returns."""
        self.lines.append(f"  %{len(self.lines)} = {text}")
        return f"%{len(self.lines) - 1}"

    def result(self, value, kind, shape, values):
        """A result. None among the values: it is undefined, and false in the result."""
        if None in values:
            mask = self.add(f"arith.constant {dense([v is not None for v in values])} : {tensor(kind, shape)}")
            value = self.add(f"arith.andi {value}, {mask} : {tensor(kind, shape)}")
        values = [value or 0 for value in values]
        self.results.append((value, kind, shape, [v & 1 for v in values] if kind == "i1" else values))

    def op(self, text, values, operands="i1", kind=None, joint=" to "):
        """A result that is an op on four elements: of the type of its operands, or of `kind`."""
        types = tensor(operands, [4]) + (joint + tensor(kind, [4]) if kind else "")
        self.result(self.add(f"{text} : {types}"), kind or operands, [4], values)

    def save(self, path, split):
        """Writes the program and its values. `split`: it is the program of one of two devices, which
        has a row of each argument, and the results are whole."""
        arguments, types = [], []
        for i, (kind, shape, values, sharding) in enumerate(self.inputs):
            save(f"{path}.in.{i}.npy", kind, shape, values)
            local = [shape[0] // 2, *shape[1:]] if split else shape
            attributes = f" {{tp.global = {tensor(kind, shape)}, tp.sharding = {sharding}}}" if split else ""
            arguments.append(f"%arg{i}: {tensor(kind, local)}{attributes}")
        for i, (_, kind, shape, values) in enumerate(self.results):
            save(f"{path}.out.{i}.npy", kind, shape, values)
            types.append(tensor(kind, shape))
        with open(f"{path}.mlir", "w") as file:
            if split:
                file.write('module attributes {tp.phase = "local"} {\n')
                file.write('shard.grid @mesh(shape = 2) {tp.axes = ["x"]}\n')
            file.write(f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n")
            file.write("\n".join(self.lines))
            file.write(f"\n  return {', '.join(result[0] for result in self.results)} : {', '.join(types)}\n}}\n")
            file.write("}\n" if split else "")


def elementwise():
    p = Program()
    a, b = p.argument("i1", [4], A), p.argument("i1", [4], B)
    for name, function in BINARY.items():
        p.op(f"arith.{name} {a}, {b}", [function(*pair) for pair in zip(A, B)])
    for name, function in COMPARED.items():
        p.op(f"arith.cmpi {name}, {a}, {b}", [function(*pair) for pair in zip(A, B)])
    p.op(f"arith.select {a}, {b}, {a}", [y if x else x for x, y in zip(A, B)], kind="i1", joint=", ")
    p.op(f"arith.bitcast {a}", A, kind="i1")
    p.op(f"arith.extsi {a}", [signed(x) for x in A], kind="i8")
    p.op(f"arith.extui {a}", A, kind="i8")
    p.op(f"arith.sitofp {a}", [float(signed(x)) for x in A], kind="f32")
    p.op(f"arith.uitofp {a}", [float(x) for x in A], kind="f32")
    p.op(f"math.absi {a}", A)
    p.op(f"math.ctlz {a}", [1 - x for x in A])
    p.op(f"math.ctpop {a}", A)
    # a power by -1 is that of 1 / a, which is undefined for 0
    p.op(f"math.ipowi {a}, {b}", [1 if y == 0 else x if x else None for x, y in zip(A, B)])
    for cast, sign in ("index_cast", signed), ("index_castui", int):
        wide = p.add(f"arith.{cast} {a} : tensor<4xi1> to tensor<4xindex>")
        p.result(p.add(f"arith.{cast} {wide} : tensor<4xindex> to tensor<4xi32>"), "i32", [4], [sign(x) for x in A])
    return p


def narrowed():
    """To booleans: the lowest bit, or the float without its fraction."""
    p = Program()
    numbers, floats, positive = [-2, -1, 2, 3], [-1.0, -0.5, 0.0, 0.5], [0.0, 0.5, 1.0, 1.5]
    n, f, g = p.argument("i8", [4], numbers), p.argument("f32", [4], floats), p.argument("f32", [4], positive)
    p.op(f"arith.trunci {n}", numbers, "i8", "i1")
    p.op(f"arith.fptosi {f}", [int(x) for x in floats], "f32", "i1")
    p.op(f"arith.fptoui {g}", [int(x) for x in positive], "f32", "i1")
    for cast in "index_cast", "index_castui":
        wide = p.add(f"arith.index_cast {n} : tensor<4xi8> to tensor<4xindex>")
        p.result(p.add(f"arith.{cast} {wide} : tensor<4xindex> to tensor<4xi1>"), "i1", [4], numbers)
    wide = p.add(f"arith.index_castui {n} : tensor<4xi8> to tensor<4xindex>")
    p.result(p.add(f"arith.index_cast {wide} : tensor<4xindex> to tensor<4xi32>"), "i32", [4], [x % 256 for x in numbers])
    e = p.argument("i1", [4], B)
    power = p.add(f"math.fpowi {f}, {e} : tensor<4xf32>, tensor<4xi1>")
    p.result(power, "f32", [4], [x ** signed(y) for x, y in zip(floats, B)])
    return p


def reductions():
    """Rows A, B of a matrix, with C in front or as initial value."""
    p = Program()
    rows, start = p.argument("i1", [2, 4], A + B), p.argument("i1", [4], C)
    three, into = p.argument("i1", [3, 4], C + A + B), p.argument("i1", [2, 4], C + C)
    at = p.argument("i8", [2], [1, 1])
    for name, function in COMBINERS.items():
        folded = [function(function(c, a) & 1, b) & 1 for a, b, c in zip(A, B, C)]
        p.result(
            p.add(
                f"linalg.reduce {{arith.{name}}} ins({rows} : tensor<2x4xi1>) outs({start} : tensor<4xi1>) dimensions = [0]"
            ),
            "i1",
            [4],
            folded,
        )
        empty = p.add("tensor.empty() : tensor<2x4xi1>")
        identity = p.add(f"arith.constant {'true' if IDENTITIES[name] else 'false'}")
        fill = p.add(f"linalg.fill ins({identity} : i1) outs({empty} : tensor<2x4xi1>) -> tensor<2x4xi1>")
        window = p.add("tensor.empty() : tensor<2xi1>")
        body = f"""{{
  ^bb0(%x: i1, %w: i1, %o: i1):
    %r = arith.{name} %o, %x : i1
    linalg.yield %r : i1
  }} -> tensor<2x4xi1>"""
        maps = "affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>"
        p.result(
            p.add(
                f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}\n'
                f"    ins({three}, {window} : tensor<3x4xi1>, tensor<2xi1>) outs({fill} : tensor<2x4xi1>) {body}"
            ),
            "i1",
            [2, 4],
            [function(x, y) & 1 for x, y in zip(C + A, A + B)],
        )
        # both rows are combined into row 1
        maps = "affine_map<(u, i, j) -> (u)>, affine_map<(u, i, j) -> (u, j)>, affine_map<(u, i, j) -> (i, j)>"
        p.result(
            p.add(
                f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["reduction", "parallel", "parallel"]}}\n'
                f"""    ins({at}, {rows} : tensor<2xi8>, tensor<2x4xi1>) outs({into} : tensor<2x4xi1>) {{
  ^bb0(%p: i8, %x: i1, %o: i1):
    %i = linalg.index 1 : index
    %q = arith.index_cast %p : i8 to index
    %c = arith.cmpi eq, %i, %q : index
    %m = arith.{name} %o, %x : i1
    %r = arith.select %c, %m, %o : i1
    linalg.yield %r : i1
  }} -> tensor<2x4xi1>"""
            ),
            "i1",
            [2, 4],
            C + folded,
        )
    # a contraction; that of StableHLO would add up by "or"
    columns = p.argument("i1", [4, 2], [1, 0, 1, 1, 0, 1, 1, 1])
    zero = p.add("arith.constant dense<false> : tensor<2x2xi1>")
    maps = "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>"
    p.result(
        p.add(
            f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}\n'
            f"""    ins({rows}, {columns} : tensor<2x4xi1>, tensor<4x2xi1>) outs({zero} : tensor<2x2xi1>) {{
  ^bb0(%x: i1, %y: i1, %o: i1):
    %m = arith.muli %x, %y : i1
    %r = arith.addi %o, %m : i1
    linalg.yield %r : i1
  }} -> tensor<2x2xi1>"""
        ),
        "i1",
        [2, 2],
        [0 + 1, 1 + 1, 1 + 1, 1 + 1],
    )
    return p


def collectives():
    """One row per device, combined."""
    p = Program()
    rows = p.argument("i1", [2, 4], A + B, '[["x"], []]')
    kinds = {"sum": "addi", "product": "muli", "max": "maxsi", "min": "minsi"}
    kinds.update(bitwise_and="andi", bitwise_or="ori", bitwise_xor="xori")
    rows_of = [(kind, "", name) for kind, name in kinds.items()]
    rows_of += [(kind, f' {{tp.combiner = "{kind}ui"}}', f"{kind}ui") for kind in ("max", "min")]
    for kind, attributes, name in rows_of:
        types = "tensor<1x4xi1> -> tensor<1x4xi1>"
        value = p.add(f"shard.all_reduce {rows} on @mesh grid_axes = [0] reduction = {kind}{attributes} : {types}")
        values = [COMBINERS[name](a, b) for a, b in zip(A, B)]
        p.result(value, "i1", [1, 4], values)
        types = "tensor<1x4xi1> -> tensor<1x2xi1>"
        part = p.add(
            f"shard.reduce_scatter {rows} on @mesh grid_axes = [0] reduction = {kind} scatter_axis = 1{attributes} : {types}"
        )
        types = "tensor<1x2xi1> -> tensor<1x4xi1>"
        value = p.add(f"shard.all_gather {part} on @mesh grid_axes = [0] gather_axis = 1 : {types}")
        p.result(value, "i1", [1, 4], values)
    return p


PROGRAMS = {"elementwise": elementwise, "narrowed": narrowed, "reductions": reductions, "collectives": collectives}


def main():
    directory = sys.argv[1]
    for name, build in PROGRAMS.items():
        build().save(os.path.join(directory, name), name == "collectives")


main()
