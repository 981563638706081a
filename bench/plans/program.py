"""Builds an annotated program as text: extends bench/compile/tensor_trace.py with a signature, a
mesh and pinned shardings."""

import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compile"))
from tensor_trace import Tensor, Trace, identity  # noqa: E402


def sharding(rank, places):
    """Returns the sharding attribute for axes on dimensions: {1: "x"} or {0: ["dp", "tp"]}.
    {"partial": "x"} marks a sum that is not yet reduced."""
    lists, partial = [], places.get("partial")
    for d in range(rank):
        axes = places.get(d, [])
        lists.append("[" + ", ".join(f'"{a}"' for a in ([axes] if isinstance(axes, str) else axes)) + "]")
    dims = "[" + ", ".join(lists) + "]"
    return f'{{dims = {dims}, partial = {{{partial} = "sum"}}}}' if partial else dims


class Program(Trace):
    """A program. `hand`: pin the shardings of the hand-written plan. `free`: omit all
    annotations."""

    def __init__(self, mesh, element="bf16", hand=False, free=False):
        super().__init__(False)
        self.mesh, self.element, self.hand, self.free = mesh, element, hand, free
        self.args, self.results = [], []
        self.by_batch = False  # how the hand-written plan splits attention

    def arg(self, name, shape, places=None, dtype="f32", role=None, diff=False):
        """Adds an argument. `places` None: its sharding is left to the planner."""
        x = Tensor(f"%arg{len(self.args)}", shape, dtype, diff)
        attributes = [f'tp.name = "{name}"'] + ([f'tp.role = "{role}"'] if role else [])
        if places is not None and not self.free:
            attributes.append(f"tp.sharding = {sharding(len(shape), places)}")
        self.args.append(f"{x.name}: {x.type} {{{', '.join(attributes)}}}")
        return x

    def weight(self, name, shape, places):
        return self.arg(name, shape, places, role="param", diff=True)

    def result(self, x, places=None, updates=None):
        """Adds a result. `updates`: the argument whose new value it is."""
        attributes = [] if updates is None else [f"tp.updates = {updates.name.removeprefix('%arg')}"]
        if places is not None and not self.free:
            attributes.append(f"tp.sharding = {sharding(len(x.shape), places)}")
        self.results.append((x, f" {{{', '.join(attributes)}}}" if attributes else ""))

    def pin(self, first, places):
        """Pins the hand-written plan on the ops from line `first` on: one entry of dimension places
        per linalg.generic."""
        generics = [i for i in range(first, len(self.lines)) if "= linalg.generic {" in self.lines[i]]
        for i, place in zip(generics if self.hand else [], places):
            rank = len(re.search(r"-> tensor<([\dx]*)[a-z]", self.lines[i]).group(1).split("x")) - 1
            self.lines[i] = self.lines[i].replace("= linalg.generic {", f"= linalg.generic {{tp.sharding = {sharding(rank, place)}, ", 1)

    def pin_dims(self, first, letters, hand):
        """Like pin, for ops whose results have the dimensions `letters`, or a prefix of them."""
        for i in range(first, len(self.lines)):
            found = re.search(r"= linalg\.generic .*-> tensor<([\dx]*)[a-z]", self.lines[i], re.S)
            if found:
                rank = len(found.group(1).split("x")) - 1
                self.pin(i, [{letters.index(c): axis for c, axis in hand.items() if letters.index(c) < rank}])

    def einsum(self, spec, a, b, hand=None):
        """A contraction. `hand`: the axes of the result's letters in the hand-written plan."""
        first, y = len(self.lines), super().einsum(spec, a, b)
        if hand is not None:
            (left, right), out = spec.split("->")[0].split(","), spec.split("->")[1]
            batch = [c for c in left if c in right and c in out]
            natural = batch + [c for c in left if c not in right] + [c for c in right if c not in left]
            place = lambda letters: {letters.index(c) if c in letters else c: axis for c, axis in hand.items()}
            self.pin(first, [place(natural), place(list(out))])
        return y

    def text(self):
        sizes, names = [str(n) for _, n in self.mesh], ", ".join(f'"{a}"' for a, _ in self.mesh)
        maps = "".join(f"{alias} = {body}\n" for body, alias in self.maps.items())
        values, types = (", ".join(part) for part in zip(*((x.name, x.type) for x, _ in self.results)))
        text = (f"{maps}module {{\n  shard.grid @mesh(shape = {'x'.join(sizes)}) {{tp.axes = [{names}]}}\n"
                f"  func.func @main({', '.join(self.args)}) -> ({', '.join(x.type + pin for x, pin in self.results)}) {{\n" +
                "\n".join(self.lines) + f"\n    return {values} : {types}\n  }}\n}}\n")
        if self.element != "f32":
            text = text.replace("f32", self.element).replace("0xFF800000", "0xFF80")
        return text

    # ---- Ops that the trace lacks ----

    def conv(self, x, w, hand=None):
        """A convolution. x: [batch, rows, columns, channels], w: [window rows, window columns,
        channels, filters]; stride 1, padded to the same size."""
        padded, first = self.padded(x, w.shape[0] // 2, w.shape[1] // 2), len(self.lines)
        y = self.generic([padded, w], [["d0", "d1 + d4", "d2 + d5", "d6"], ["d4", "d5", "d6", "d3"]],
                         self.fill("0.000000e+00", x.shape[:3] + (w.shape[3],)), MULTIPLY_ADD, 7, identity(4))
        self.pin(first, [hand] if hand else [])
        return self.record([y], [x, w], [lambda g: self.conv_input(g, w), lambda g: self.conv_weight(g, x, w)])

    def padded(self, x, rows, columns):
        if rows == columns == 0:
            return x
        zero = self.scalar("0.000000e+00", x.dtype)
        shape = (x.shape[0], x.shape[1] + 2 * rows, x.shape[2] + 2 * columns, x.shape[3])
        out = Tensor("", shape, x.dtype)
        low = f"[0, {rows}, {columns}, 0]"
        return self.emit(f"tensor.pad {x.name} low{low} high{low} {{\n    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):\n"
                         f"      tensor.yield {zero} : {x.dtype}\n    }} : {x.type} to {out.type}", shape, x.dtype)

    def conv_input(self, g, w):
        """The gradient of the input; the window runs backwards."""
        kh, kw = w.shape[0], w.shape[1]
        padded = self.padded(g, kh // 2, kw // 2)
        read = ["d0", f"d1 - d4 + {kh - 1}", f"d2 - d5 + {kw - 1}", "d6"]
        return self.generic([padded, w], [read, ["d4", "d5", "d3", "d6"]], self.fill("0.000000e+00", g.shape[:3] + (w.shape[2],)),
                            MULTIPLY_ADD, 7, identity(4))

    def conv_weight(self, g, x, w):
        padded = self.padded(x, w.shape[0] // 2, w.shape[1] // 2)
        read = ["d4", "d5 + d0", "d6 + d1", "d2"]
        return self.generic([padded, g], [read, ["d4", "d5", "d6", "d3"]], self.fill("0.000000e+00", w.shape), MULTIPLY_ADD, 7,
                            identity(4))

    def rows_of(self, table, ids):
        """Gathers rows. table: [rows, width], ids: [batch] -> [batch, width]."""
        body = ["%c = linalg.index 1 : index", "%r = arith.index_cast {0} : i32 to index",
                f"%v = tensor.extract {table.name}[%r, %c] : {table.type}", f"linalg.yield %v : {table.dtype}"]
        shape = (ids.shape[0], table.shape[1])
        return self.generic([ids], [["d0"]], self.empty(shape, table.dtype), body, 2)

    def lookup(self, tables, ids):
        """Gathers rows of several tables. tables: [n, rows, width], ids: [n, batch] -> [n, batch,
        width]."""
        shape = (tables.shape[0], ids.shape[1], tables.shape[2])
        body = ["%t = linalg.index 0 : index", "%c = linalg.index 2 : index", "%r = arith.index_cast {0} : i32 to index",
                f"%v = tensor.extract {tables.name}[%t, %r, %c] : {tables.type}", f"linalg.yield %v : {tables.dtype}"]
        return self.generic([ids], [["d0", "d1"]], self.empty(shape, tables.dtype), body, 3)


MULTIPLY_ADD = ["%m = arith.mulf {0}, {1} : f32", "%v = arith.addf {o}, %m : f32", "linalg.yield %v : f32"]
