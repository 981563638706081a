"""Builds programs with row operations after an all-reduce, in many forms, and checks which are
fused, as what, and that the results are unchanged.

The fused program runs the functions that tp-fuse-collectives generates from the recognized form, so
a form that is recognized wrongly gives wrong numbers."""
import json
import os
import re
import subprocess
import sys

T, H, K = 6, 32, 16  # number of rows, their length, the dimension that is sharded


def element_of(tensor):
    return tensor.split("x")[-1].rstrip(">")


class Program:
    """A function: tensors of rows [T, H] of `element`, statistics [T] and vectors [H] of f32."""

    def __init__(self, element="f32", hidden=H, leading=(T,), split=None):
        """split: the dimension along which the residual and values computed from it are sharded."""
        self.element, self.h, self.leading, self.split = element, hidden, leading, split
        self.n = 0
        self.lines, self.args, self.results = [], [], []

    def name(self):
        self.n += 1
        return f"%v{self.n}"

    def rows(self, element=None):
        return "tensor<" + "x".join(str(d) for d in self.leading) + f"x{self.h}x{element or self.element}>"

    def stat(self):
        return "tensor<" + "x".join(str(d) for d in self.leading) + "xf32>"

    def arg(self, kind, sharding):
        name = f"%a{len(self.args)}"
        self.args.append(f"{name}: {kind} {{tp.sharding = {sharding}}}")
        return name

    def line(self, text):
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, x, kind="f32"):
        return self.line(f"arith.constant {x:.9e} : {kind}")

    def constant(self, x, kind):
        return self.line(f"arith.constant dense<{x:.9e}> : {kind}")

    def dims(self, drop_last=False, only_last=False):
        d = [f"d{i}" for i in range(len(self.leading) + 1)]
        return ", ".join(d[-1:] if only_last else d[:-1] if drop_last else d)

    def map(self, what):
        out = self.dims(drop_last=what == "stat", only_last=what == "row")
        return f"affine_map<({self.dims()}) -> ({out})>"

    def generic(self, inputs, body, out_type, init=None):
        """Emits a generic. inputs: (value, type, "rows" | "stat" | "row"). body(names of the
        inputs, name of the output, prefix of new names) returns the text and the yielded value.
        With an init it sums rows."""
        reduces = init is not None
        maps = [self.map(w) for _, _, w in inputs] + [self.map("stat" if reduces else "rows")]
        loops = ['"parallel"'] * len(self.leading) + ['"reduction"' if reduces else '"parallel"']
        init = init or self.line(f"tensor.empty() : {out_type}")
        tag, element = self.n, element_of(out_type)
        names = [f"%b{tag}_{i}" for i in range(len(inputs))]
        block = ", ".join(f"{b}: {element_of(t)}" for b, (_, t, _) in zip(names, inputs))
        text, last = body(names, f"%o{tag}", f"%c{tag}_")
        return self.line(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(loops)}]}} "
            f"ins({', '.join(v for v, _, _ in inputs)} : {', '.join(t for _, t, _ in inputs)}) outs({init} : {out_type}) {{\n"
            f"  ^bb0({block}, %o{tag}: {element}):\n{text}    linalg.yield {last} : {element}\n  }} -> {out_type}")

    # ---- Building blocks of forms ----

    def zeros(self):
        zero = self.number(0.0, self.element)
        empty = self.line(f"tensor.empty() : {self.rows()}")
        return self.line(f"linalg.fill ins({zero} : {self.element}) outs({empty} : {self.rows()}) -> {self.rows()}")

    def summed(self, k=K, left="rows", right="matrix", init=None, factors=None, swap=False):
        """Emits a matmul whose contracted dimension is sharded, and so an all-reduce. left: rows,
        or columns if the rows are stored transposed; right: matrix, or transposed. factors: operand
        type."""
        e, f, n = self.element, factors or self.element, len(self.leading)
        d, lead = [f"d{i}" for i in range(n)], [str(d) for d in self.leading]
        of_left = [d + ["k"], lead + [str(k)], "[" + "[], " * n + '["tp"]]']
        if left == "columns":
            of_left = [["k"] + d, [str(k)] + lead, '[["tp"]' + ", []" * n + "]"]
        of_right = [["k", f"d{n}"], [str(k), str(self.h)], '[["tp"], []]']
        if right == "transposed":
            of_right = [[f"d{n}", "k"], [str(self.h), str(k)], '[[], ["tp"]]']
        factors = [(*a, f"tensor<{'x'.join(a[1])}x{f}>") for a in ([of_right, of_left] if swap else [of_left, of_right])]
        values = [self.arg(t, sharding) for _, _, sharding, t in factors]
        init = init or self.zeros()
        space = ", ".join(d + [f"d{n}", "k"])
        maps = ", ".join(f"affine_map<({space}) -> ({', '.join(m)})>" for m in [a[0] for a in factors] + [d + [f"d{n}"]])
        loops = ", ".join(['"parallel"'] * (n + 1) + ['"reduction"'])
        i = self.n
        wide = "".join(f"    %w{i}_{j} = arith.extf %x{i}_{j} : {f} to {e}\n" for j in range(2)) if f != e else ""
        name = "w" if wide else "x"
        return self.line(
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} ins({', '.join(values)} : "
            f"{', '.join(a[3] for a in factors)}) outs({init} : {self.rows()}) {{\n  ^bb0(%x{i}_0: {f}, %x{i}_1: {f}, %s{i}: {e}):\n{wide}"
            f"    %p{i} = arith.mulf %{name}{i}_0, %{name}{i}_1 : {e}\n    %q{i} = arith.addf %s{i}, %p{i} : {e}\n"
            f"    linalg.yield %q{i} : {e}\n  }} -> {self.rows()}")

    def sharding(self, split):
        return "[" + ", ".join('["tp"]' if d == split else "[]" for d in range(len(self.leading) + 1)) + "]"

    def whole(self):
        return self.arg(self.rows(), self.sharding(self.split))

    def vector(self, element=None):
        return self.arg(f"tensor<{self.h}x{element or self.element}>", "[[]]")

    def on_rows(self, op, a, b=None, element=None):
        t = self.rows(element)
        return self.line(f"{op} {a}{', ' + b if b else ''} : {t}")

    def wide(self, a):
        return a if self.element == "f32" else self.line(f"arith.extf {a} : {self.rows()} to {self.rows('f32')}")

    def narrow(self, a):
        return a if self.element == "f32" else self.line(f"arith.truncf {a} : {self.rows('f32')} to {self.rows()}")

    def add_row(self, a, v):
        e = self.element
        return self.generic([(a, self.rows(), "rows"), (v, f"tensor<{self.h}x{e}>", "row")],
                            lambda b, o, c: (f"    {c}0 = arith.addf {b[0]}, {b[1]} : {e}\n", f"{c}0"), self.rows())

    def row_sum(self, a, square=False):
        zero = self.constant(0.0, self.stat())

        def body(b, o, c):
            if square:
                return f"    {c}0 = arith.mulf {b[0]}, {b[0]} : f32\n    {c}1 = arith.addf {o}, {c}0 : f32\n", f"{c}1"
            return f"    {c}1 = arith.addf {b[0]}, {o} : f32\n", f"{c}1"
        return self.generic([(a, self.rows("f32"), "rows")], body, self.stat(), zero)

    def on_stat(self, op, a, b=None):
        return self.line(f"{op} {a}{', ' + b if b else ''} : {self.stat()}")

    def mean(self, a, square=False, divisor=None, by_factor=False):
        s = self.row_sum(a, square)
        divisor = divisor or self.h
        if by_factor:
            return self.on_stat("arith.mulf", s, self.constant(1.0 / divisor, self.stat()))
        return self.on_stat("arith.divf", s, self.constant(float(divisor), self.stat()))

    def spread(self, a):
        """Broadcasts [T] to [T, H]."""
        return self.generic([(a, self.stat(), "stat")], lambda b, o, c: ("", b[0]), self.rows("f32"))

    def scale(self, var, epsilon=1e-5, root="rsqrt"):
        e = self.on_stat("arith.addf", var, self.constant(epsilon, self.stat()))
        if root == "rsqrt":
            return self.on_stat("math.rsqrt", e)
        if root == "powf":
            return self.on_stat("math.powf", e, self.constant(-0.5, self.stat()))
        return self.on_stat("arith.divf", self.constant(1.0, self.stat()), self.on_stat("math.sqrt", e))

    def times_row(self, a, v, element="f32", op="mulf"):
        vt = f"tensor<{self.h}x{element}>"

        def body(b, o, c):
            if element == "f32":
                return f"    {c}0 = arith.{op} {b[0]}, {b[1]} : f32\n", f"{c}0"
            return f"    {c}1 = arith.extf {b[1]} : {element} to f32\n    {c}0 = arith.{op} {b[0]}, {c}1 : f32\n", f"{c}0"
        return self.generic([(a, self.rows("f32"), "rows"), (v, vt, "row")], body, self.rows("f32"))

    def centerd(self, a, m):
        return self.on_rows("arith.subf", a, self.spread(m), "f32")

    def result(self, *values, gathered=False):
        self.results += [(v, self.rows(), self.sharding(None if gathered else self.split)) for v in values]

    def rms(self, r, **how):
        """Emits the norm of rows r in f32, rounded."""
        e = self.element
        gamma, order = self.vector(how.pop("gamma", e)), how.pop("order", 0)
        gamma_type = how.pop("gamma_type", e)
        x = self.wide(r)
        var = self.mean(x, square=True, divisor=how.pop("divisor", None), by_factor=how.pop("by_factor", False))
        s = self.spread(self.scale(var, **how))
        if order == 0:
            y = self.times_row(self.on_rows("arith.mulf", x, s, "f32"), gamma, gamma_type)
        elif order == 1:
            y = self.on_rows("arith.mulf", s, self.times_row(x, gamma, gamma_type), "f32")
        else:
            y = self.on_rows("arith.mulf", self.times_row(s, gamma, gamma_type), x, "f32")
        return self.narrow(y)

    def text(self):
        values, types = ", ".join(v for v, _, _ in self.results), ", ".join(t for _, t, _ in self.results)
        results = ", ".join(f"{t} {{tp.sharding = {sharding}}}" for _, t, sharding in self.results)
        return ('shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}\n' + f"func.func @main({', '.join(self.args)}) -> ({results}) {{\n" +
                "\n".join(self.lines) + f"\n  return {values} : {types}\n}}\n")


def registry():
    """Returns a list of forms and a decorator form(expected remarks, **arguments of Program), which
    adds a function that builds a program."""
    forms = []

    def form(expected, **kind):
        def add(build):
            p = Program(**kind)
            build(p)
            forms.append((build.__name__, expected, p))
            return build
        return add
    return forms, form


def launches(time):
    """Returns the number of kernels of an unfused form by its modelled time in microseconds: the
    latency of an all-reduce of four devices, a launch for each kernel, and for the bytes less than
    one."""
    with open(sys.argv[2]) as f:
        topology = json.load(f)
    level = topology["levels"][0]
    line = next(line for line in level["lines"] if "all_reduce" in line["kinds"])
    latency = line["alpha_us"] + level["doubling_us"]  # one doubling from line["n"] = 2 devices
    return int((time - latency) / topology["device"]["launch_us"])


def short(remark, priced):
    """Returns a remark without times, but with the number of separate kernels if `priced`."""
    price = re.search(", separate ones ([0-9.]+) us", remark) if priced else None
    kernels = f", separate kernels: {launches(float(price.group(1)))}" if price else ""
    return re.split(": one kernel|: matmul slices", remark)[0] + kernels


def check(folder, name, expected, program):
    path = f"{folder}/{name}.mlir"
    with open(path, "w") as f:
        f.write(program.text())
    # follow keeps the all_reduces that the annotations request; the run's report says whether every
    # device has correct numbers.
    ran = subprocess.run(["shard-run", path, "--strategy", "follow", "--topology", sys.argv[2], "--fuse", "always"] + sys.argv[3:],
                         capture_output=True, text=True)
    priced = "separate kernels" in str(expected)
    remarks = [short(line.split("remark: ", 1)[1].split("': ", 1)[1], priced) for line in ran.stderr.splitlines()
               if "remark: 'shard." in line]
    if ran.returncode != 0 or "verified" not in ran.stdout:
        return f"{name}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}"
    if remarks != (expected if isinstance(expected, list) else [expected] if expected else []):
        return f"{name}: expected {expected!r}, got {remarks}\n{ran.stderr}"
    return None


def main(forms):
    """Checks all forms. Arguments: FOLDER, which receives the programs, TOPOLOGY, and options of
    shard-run. Every third form runs, on an emulated GPU every eighth; all with TP_LONG."""
    if not os.environ.get("TP_LONG"):
        forms = forms[:: 8 if "--target=cuda" in sys.argv else 3]
    wrong = [w for w in (check(sys.argv[1], *f) for f in forms) if w]
    print("\n".join(wrong))
    print(f"{len(forms) - len(wrong)} of {len(forms)} forms")
    return 1 if wrong else 0
