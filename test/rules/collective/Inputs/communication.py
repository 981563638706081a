"""Generates a random program with user-written communication and device indices, and annotations on
arguments and results.

Usage: communication.py SEED. With any shardings, the program must give the results that it gives
with every value replicated. The generator tracks the axes along which a value may differ between
devices, to generate valid programs: a max makes results equal on all devices, and under a condition
that differs along an axis there is no communication along it."""

import random
import sys

MESHES = [[4], [2, 2], [3], [2, 3], [2, 1, 2]]
AXES = "abc"
SIZES = [4, 5, 6, 8, 12]
LARGEST = 48
OPS = ["slice", "gather", "reduce", "scatter", "shift", "all_to_all", "message", "halo", "row", "matmul", "arith", "arith"]


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mesh = self.random.choice(MESHES)
        self.element = self.random.choice(["f32", "i32"])
        self.count = 0
        self.values = []  # (name, shape, axes along which it may differ)

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def type(self, shape):
        return "tensor<" + "".join(f"{n}x" for n in shape) + self.element + ">"

    def layout(self, shape):
        dims = [[] for _ in shape]
        for axis in self.random.sample(range(len(self.mesh)), len(self.mesh)):
            if self.random.random() < 0.5:
                self.random.choice(dims).append(f'"{AXES[axis]}"')
        text = ", ".join("[" + ", ".join(dim) + "]" for dim in dims)
        return f" {{tp.sharding = [{text}]}}" if self.random.random() < 0.7 else ""

    def wide(self, axes):
        return {a for a in axes if self.mesh[a] > 1}

    def op(self, values, lines, control):
        """Adds a random op, or none if it does not fit; its result may differ along `control`."""
        value, shape, differs = self.random.choice(values)
        kind, dim, made = self.random.choice(OPS), self.random.randrange(2), list(shape)
        group = self.random.sample(range(len(self.mesh)), self.random.randint(1, len(self.mesh)))
        devices = 1
        for axis in group:
            devices *= self.mesh[axis]
        wide = self.wide(group)
        waits = kind not in ("slice", "row", "matmul", "arith")
        splits = {"slice": dim, "scatter": dim, "all_to_all": dim}.get(kind)
        grows = {"gather": dim, "all_to_all": 1 - dim}.get(kind)
        if waits and wide & control or splits is not None and made[splits] % devices:
            return
        made[splits if splits is not None else 0] //= devices if splits is not None else 1
        made[grows if grows is not None else 0] *= devices if grows is not None else 1
        if max(made) > LARGEST:
            return
        result, old, where = self.name(), self.type(shape), f"on @mesh grid_axes = {group}"
        types = f"{old} -> {self.type(made)}"
        if kind in ("gather", "reduce"):
            differs = differs - wide
        elif kind not in ("row", "matmul", "arith"):
            differs = differs | wide
        if kind == "slice":
            text = f"shard.all_slice {value} {where} slice_axis = {dim} : {types}"
        elif kind == "gather":
            text = f"shard.all_gather {value} {where} gather_axis = {dim} : {types}"
        elif kind == "reduce":
            text = f"shard.all_reduce {value} {where} reduction = {self.random.choice(['sum', 'max'])} : {types}"
        elif kind == "scatter":
            text = f"shard.reduce_scatter {value} {where} reduction = max scatter_axis = {dim} : {types}"
        elif kind == "shift":
            axis, offset = self.random.choice(group), self.random.choice([1, -1, 2])
            rotate = self.random.choice(["rotate ", ""])
            text = f"shard.shift {value} {where} shift_axis = {axis} offset = {offset} {rotate}: {types}"
        elif kind == "all_to_all":
            text = f"shard.all_to_all {value} {where} split_axis = {dim} concat_axis = {1 - dim} : {types}"
        elif kind == "message":
            to, source = ([self.random.randrange(self.mesh[a]) for a in group] for _ in range(2))
            lines.append(f"{self.name()} = shard.send {value} {where} destination = {to} : ({old}) -> {old}")
            text = f"shard.recv {value} {where} source = {source} : ({old}) -> {old}"
        elif kind == "halo":
            if shape[0] < 3:
                return
            text = f"shard.update_halo {value} on @mesh split_axes = [{group}] halo_sizes = [1, 1] : {old}"
        elif kind == "row":
            axis = self.random.randrange(len(self.mesh))
            if shape[0] < self.mesh[axis]:
                return
            made, differs = [1, shape[1]], differs | self.wide([axis])
            text = f"tensor.extract_slice {value}[%i{axis}, 0] [1, {shape[1]}] [1, 1] : {old} to {self.type(made)}"
        elif kind == "matmul":
            fitting = [v for v in values if v[1][0] == shape[1]]
            if not fitting:
                return
            other = self.random.choice(fitting)
            made, differs = [shape[0], other[1][1]], differs | other[2]
            product, init, new = self.name(), self.name(), self.type(made)
            zero, few = ("0.0", "math.tanh {0} : {1}") if self.element == "f32" else ("0", "arith.andi {0}, {2} : {1}")
            lines.append(f"{init} = arith.constant dense<{zero}> : {new}")
            ins = f"{value}, {other[0]} : {old}, {self.type(other[1])}"
            lines.append(f"{product} = linalg.matmul ins({ins}) outs({init} : {new}) -> {new}")
            mask = self.name()
            if self.element == "i32":
                lines.append(f"{mask} = arith.constant dense<7> : {new}")
            text = few.format(product, new, mask)
        else:
            other = self.random.choice([v for v in values if v[1] == shape])
            differs = differs | other[2]
            suffix = "f" if self.element == "f32" else "i"
            text = f"arith.{self.random.choice(['add', 'sub'])}{suffix} {value}, {other[0]} : {old}"
        lines.append(f"{result} = {text}")
        values.append((result, made, differs | control))

    def body(self, values, shape, control):
        """Returns the ops of a region and the value it yields, of the shape of the carried
        value."""
        lines = []
        for _ in range(self.random.randint(1, 3)):
            self.op(values, lines, control)
        return ["  " + line for line in lines], self.random.choice([v for v in values if v[1] == shape])

    def branch(self, lines):
        axis = self.random.randrange(len(self.mesh))
        value, shape, differs = self.random.choice(self.values)
        control, flag, result, kind = self.wide([axis]), self.name(), self.name(), self.type(shape)
        body, given = self.body(list(self.values), shape, control)
        lines += [f"{flag} = arith.cmpi eq, %i{axis}, %c0 : index", f"{result} = scf.if {flag} -> {kind} {{", *body]
        lines += [f"  scf.yield {given[0]} : {kind}", "} else {", f"  scf.yield {value} : {kind}", "}"]
        self.values.append((result, shape, given[2] | differs | control))

    def loop(self, lines):
        axis = self.random.choice([None, *range(len(self.mesh))])
        value, shape, _ = self.random.choice(self.values)
        control = self.wide([axis]) if axis is not None else set()
        result, carried, kind, everything = self.name(), self.name(), self.type(shape), set(range(len(self.mesh)))
        body, given = self.body([(carried, shape, everything), *self.values], shape, control)
        bound = "%c3" if axis is None else f"%i{axis}"
        lines.append(f"{result} = scf.for %k = %c0 to {bound} step %c1 iter_args({carried} = {value}) -> {kind} {{")
        lines += [*body, f"  scf.yield {given[0]} : {kind}", "}"]
        self.values.append((result, shape, everything))

    def text(self):
        n, lines = len(self.mesh), []
        arguments = [(f"%x{i}", [self.random.choice(SIZES), self.random.choice(SIZES)]) for i in range(3)]
        self.values = [(name, shape, set()) for name, shape in arguments]
        for _ in range(self.random.randint(3, 14)):
            kind = self.random.random()
            if kind < 0.75:
                self.op(self.values, lines, set())
            else:
                (self.branch if kind < 0.88 else self.loop)(lines)
        results = []
        for value, shape, differs in self.values[-3:]:
            if differs:
                equal, kind = self.name(), self.type(shape)
                lines.append(f"{equal} = shard.all_reduce {value} on @mesh grid_axes = {sorted(differs)} reduction = max : {kind} -> {kind}")
                value = equal
            results.append((value, shape))
        indices = ", ".join(f"%i{a}" for a in range(n))
        head = [f"%c{i} = arith.constant {i} : index" for i in (0, 1, 3)]
        head.append(f"{indices} = shard.process_multi_index on @mesh axes = {list(range(n))} : {', '.join(['index'] * n)}")
        axes = ", ".join(f'"{AXES[a]}"' for a in range(n))
        ins = ", ".join(f"{name}: {self.type(shape)}{self.layout(shape)}" for name, shape in arguments)
        outs = ", ".join(self.type(shape) + self.layout(shape) for _, shape in results)
        given = ", ".join(value for value, _ in results) + " : " + ", ".join(self.type(shape) for _, shape in results)
        grid = f"shard.grid @mesh(shape = {'x'.join(map(str, self.mesh))}) {{tp.axes = [{axes}]}}"
        return "\n".join([grid, f"func.func @main({ins}) -> ({outs}) {{", *("  " + line for line in head + lines), f"  return {given}", "}"])


print(Program(int(sys.argv[1])).text())
