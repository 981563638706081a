"""Forms of a softmax, or of a cross entropy, on rows whose columns are sharded, and near misses:
checks which are fused, as what, and that the results are unchanged.

Usage: softmax_forms.py FOLDER TOPOLOGY DEVICES [OPTION OF SHARD-RUN ...]

The fused program runs the functions that tp-fuse-collectives generates from the recognized form, so
a form that is recognized wrongly gives wrong numbers. FOLDER receives the programs."""
import os
import subprocess
import sys

V = 64  # columns


class Program:
    """A function of logits [.., V] that computes in f32, or in the type `computed`."""

    def __init__(self, element="f32", leading=(6,), columns=V, target="i32", computed="f32"):
        self.element, self.leading, self.columns, self.target_type, self.computed = element, leading, columns, target, computed
        self.n = 0
        self.lines, self.args, self.results = [], [], []
        self.logits = self.arg(self.rows(element), "[" + "[], " * len(leading) + '["tp"]]')
        self.x = self.logits if element == computed else self.line(
            f"arith.extf {self.logits} : {self.rows(element)} to {self.rows()}")

    def shape(self):
        return "x".join(str(d) for d in self.leading)

    def rows(self, element=None):
        return f"tensor<{self.shape()}x{self.columns}x{element or self.computed}>"

    def number(self, element=None):
        return f"tensor<{self.shape()}x{element or self.computed}>"

    def arg(self, kind, sharding):
        name = f"%a{len(self.args)}"
        self.args.append(f"{name}: {kind} {{tp.sharding = {sharding}}}")
        return name

    def line(self, text):
        self.n += 1
        self.lines.append(f"  %v{self.n} = {text}")
        return f"%v{self.n}"

    def constant(self, x, kind):
        return self.line(f"arith.constant dense<{x}> : {kind}")

    def on(self, kind, op, *values):
        return self.line(f"{op} {', '.join(values)} : {kind}")

    def on_rows(self, op, *values):
        return self.on(self.rows(), op, *values)

    def on_numbers(self, op, *values):
        return self.on(self.number(), op, *values)

    def reduce(self, op, x, start):
        init = self.constant(start, self.number())
        e, d = self.computed, len(self.leading)
        return self.line(f"linalg.reduce {{ {op} }} ins({x} : {self.rows()}) outs({init} : {self.number()}) dimensions = [{d}]")

    def largest(self, x=None):
        return self.reduce("arith.maximumf", x or self.x, {"f32": "0xFF800000", "bf16": "0xFF80"}[self.computed])

    def row_sum(self, x):
        return self.reduce("arith.addf", x, "0.0")

    def spread(self, v, element=None):
        """Broadcasts [..] to [.., V]."""
        empty = self.line(f"tensor.empty() : {self.rows(element)}")
        return self.line(f"linalg.broadcast ins({v} : {self.number(element)}) outs({empty} : {self.rows(element)}) "
                         f"dimensions = [{len(self.leading)}]")

    def less(self, x, v):
        return self.on_rows("arith.subf", x, self.spread(v))

    def columns_of(self):
        """Emits the index of each column."""
        t, dims = self.target_type, ", ".join(f"d{i}" for i in range(len(self.leading) + 1))
        loops = ", ".join(['"parallel"'] * (len(self.leading) + 1))
        empty = self.line(f"tensor.empty() : {self.rows(t)}")
        i = self.n
        return self.line(f"linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>], iterator_types = [{loops}]}} "
                         f"outs({empty} : {self.rows(t)}) {{\n  ^bb0(%o{i}: {t}):\n    %i{i} = linalg.index {len(self.leading)} : index\n"
                         f"    %j{i} = arith.index_cast %i{i} : index to {t}\n    linalg.yield %j{i} : {t}\n  }} -> {self.rows(t)}")

    def mask(self, target=None):
        """Emits the mask of the target column. The target is derived from an argument so that it is
        a valid column or none."""
        target = target or self.target()
        return self.on(self.rows(self.target_type), "arith.cmpi eq,", self.columns_of(), self.spread(target, self.target_type))

    def target(self, scale=7):
        """Emits targets, some of which are not valid columns."""
        a = self.arg(self.number(self.target_type), "[" + ", ".join(["[]"] * len(self.leading)) + "]")
        t = self.number(self.target_type)
        return self.on(t, "arith.remsi", self.on(t, "arith.muli", a, self.constant(scale, t)),
                       self.constant(self.columns + 3, t))

    def choose(self, mask, x):
        zero = self.constant("0.0", self.rows())
        return self.line(f"arith.select {mask}, {x}, {zero} : {self.rows('i1')}, {self.rows()}")

    def one_hot(self, mask):
        return self.line(f"arith.uitofp {mask} : {self.rows('i1')} to {self.rows()}")

    def finite(self, m):
        t = self.number()
        size, infinity = self.on(t, "math.absf", m), self.constant("0x7F800000", t)
        condition = self.on(t, "arith.cmpf one,", size, infinity)
        return self.line(f"arith.select {condition}, {m}, {self.constant('0.0', t)} : {self.number('i1')}, {t}")

    def give(self, *numbers):
        self.results += [(v, self.number(), "[" + ", ".join(["[]"] * len(self.leading)) + "]") for v in numbers]

    def give_rows(self, x):
        self.results.append((x, self.rows(), "[" + "[], " * len(self.leading) + '["tp"]]'))

    def parts(self, x=None):
        """Emits and returns the max, the differences, their exponentials, and the sum of these."""
        x = x or self.x
        m = self.largest(x)
        d = self.less(x, m)
        e = self.on_rows("math.exp", d)
        return m, d, e, self.row_sum(e)

    def text(self, devices):
        values, types = ", ".join(v for v, _, _ in self.results), ", ".join(t for _, t, _ in self.results)
        results = ", ".join(f"{t} {{tp.sharding = {s}}}" for _, t, s in self.results)
        return (f'shard.grid @mesh(shape = {devices}) {{tp.axes = ["tp"]}}\n' + f"func.func @main({', '.join(self.args)}) -> ({results}) {{\n" +
                "\n".join(self.lines) + f"\n  return {values} : {types}\n}}\n")


FORMS = []


def form(expected, **kind):
    def add(build):
        p = Program(**kind)
        build(p)
        FORMS.append((build.__name__, expected, p))
        return build
    return add


SUM = "is fused with sum of exponentials"
LESS = SUM + ", a pick relative to the maximum"
LOGS = SUM + ", a pick of log-probabilities"
LOGIT = SUM + ", a pick"

# ---- Fused ----


@form(SUM)
def softmax(p):
    _, _, e, s = p.parts()
    p.give_rows(p.on_rows("arith.divf", e, p.spread(s)))


@form(SUM)
def log_softmax(p):
    _, d, _, s = p.parts()
    p.give_rows(p.less(d, p.on_numbers("math.log", s)))


@form(SUM)
def logsumexp(p):
    m, _, _, s = p.parts()
    p.give(p.on_numbers("arith.addf", p.on_numbers("math.log", s), m))


@form(SUM)
def logsumexp_of_finite_largest(p):
    """As in jax.nn.logsumexp."""
    m = p.finite(p.largest())
    s = p.row_sum(p.on_rows("math.exp", p.less(p.x, m)))
    p.give(p.on_numbers("arith.addf", p.on_numbers("math.log", s), m))


@form(LESS)
def differences_by_mask(p):
    _, d, _, s = p.parts()
    p.give(p.on_numbers("arith.subf", p.on_numbers("math.log", s), p.row_sum(p.choose(p.mask(), d))))


@form(LESS)
def differences_by_one_hot(p):
    _, d, _, s = p.parts()
    hot = p.one_hot(p.mask())
    p.give(p.on_numbers("arith.subf", p.on_numbers("math.log", s), p.row_sum(p.on_rows("arith.mulf", hot, d))))


@form(LOGS)
def log_softmax_by_one_hot(p):
    """jax.nn.log_softmax, jax.nn.one_hot, and their gradient."""
    _, d, e, s = p.parts()
    logs = p.less(d, p.on_numbers("math.log", s))
    hot = p.one_hot(p.mask())
    p.give(p.on_numbers("arith.negf", p.row_sum(p.on_rows("arith.mulf", logs, hot))))
    p.give_rows(p.on_rows("arith.subf", p.on_rows("arith.divf", e, p.spread(s)), hot))


@form(LOGS, target="i64")
def log_softmax_of_sum_by_mask(p):
    """x - logsumexp(x) as PyTorch decomposes it, with i64 targets."""
    m, _, _, s = p.parts()
    logs = p.less(p.x, p.on_numbers("arith.addf", p.on_numbers("math.log", s), m))
    p.give(p.row_sum(p.choose(p.mask(), logs)))


@form(LOGIT)
def logit_by_mask(p):
    """logsumexp(x) - x[target]"""
    m, _, _, s = p.parts()
    log_sum = p.on_numbers("arith.addf", p.on_numbers("math.log", s), m)
    p.give(p.on_numbers("arith.subf", log_sum, p.row_sum(p.choose(p.mask(), p.x))))


@form(LESS, leading=(2, 3))
def two_leading_dimensions(p):
    _, d, _, s = p.parts()
    p.give(p.on_numbers("arith.subf", p.on_numbers("math.log", s), p.row_sum(p.choose(p.mask(), d))))


@form(LESS, leading=(16,))
def a_square(p):
    """On four devices: as many rows as columns."""
    m, d, _, s = p.parts()
    p.give(m, p.on_numbers("arith.subf", p.on_numbers("math.log", s), p.row_sum(p.choose(p.mask(), d))))


@form(LESS, element="bf16")
def wide_numbers_of_bf16(p):
    _, d, e, s = p.parts()
    p.give(p.on_numbers("arith.subf", p.on_numbers("math.log", s), p.row_sum(p.choose(p.mask(), d))))
    p.give_rows(p.on_rows("arith.divf", e, p.spread(s)))


@form(LOGS, element="f16", target="i64")
def wide_numbers_of_f16(p):
    _, d, _, s = p.parts()
    p.give(p.row_sum(p.choose(p.mask(), p.less(d, p.on_numbers("math.log", s)))))


@form(LESS)
def pick_that_is_kept_apart(p):
    """The all-reduce comes after the sum over the rows."""
    _, d, _, s = p.parts()
    picked = p.row_sum(p.choose(p.mask(), d))
    zero = p.constant("0.0", "tensor<f32>")
    total = p.line(f"linalg.reduce {{ arith.addf }} ins({picked} : {p.number()}) outs({zero} : tensor<f32>) dimensions = [0]")
    p.results.append((total, "tensor<f32>", "[]"))
    p.give(s)


# ---- Near misses: the pick, or everything, stays unfused ----


@form(SUM)
def pick_of_something_else(p):
    _, d, _, s = p.parts()
    p.give(s, p.row_sum(p.choose(p.mask(), p.on_rows("arith.mulf", d, d))))


@form(SUM)
def pick_of_the_other_columns(p):
    _, d, _, s = p.parts()
    zero = p.constant("0.0", p.rows())
    p.give(s, p.row_sum(p.line(f"arith.select {p.mask()}, {zero}, {d} : {p.rows('i1')}, {p.rows()}")))


@form(SUM)
def pick_of_larger_columns(p):
    _, d, _, s = p.parts()
    t = p.rows(p.target_type)
    mask = p.on(t, "arith.cmpi sgt,", p.columns_of(), p.spread(p.target(), p.target_type))
    p.give(s, p.row_sum(p.choose(mask, d)))


@form(SUM)
def pick_by_shifted_columns(p):
    """Picks the column after the target."""
    _, d, _, s = p.parts()
    t = p.rows(p.target_type)
    shifted = p.on(t, "arith.addi", p.columns_of(), p.constant(1, t))
    mask = p.on(t, "arith.cmpi eq,", shifted, p.spread(p.target(), p.target_type))
    p.give(s, p.row_sum(p.choose(mask, d)))


@form(SUM, target="i8")
def targets_of_narrow_columns(p):
    """Columns and targets that wrap around at 8 bits, compared in 32."""
    _, d, _, s = p.parts()
    t, rows, wide, wide_rows = p.target_type, p.rows("i8"), p.number("i32"), p.rows("i32")
    columns = p.line(f"arith.extsi {p.columns_of()} : {rows} to {wide_rows}")
    target = p.line(f"arith.extsi {p.arg(p.number(t), '[' + ', '.join(['[]'] * len(p.leading)) + ']')} : {p.number(t)} to {wide}")
    p.give(s, p.row_sum(p.choose(p.on(wide_rows, "arith.cmpi eq,", columns, p.spread(target, "i32")), d)))


@form(SUM, target="i16")
def targets_of_another_type(p):
    _, d, _, s = p.parts()
    p.give(s, p.row_sum(p.choose(p.mask(), d)))


@form(SUM, leading=(16,))
def target_of_columns(p):
    """A target per column, not per row."""
    _, d, _, s = p.parts()
    t, rows = p.target_type, p.rows(p.target_type)
    a = p.arg(f"tensor<{V}x{t}>", '[["tp"]]')
    empty = p.line(f"tensor.empty() : {rows}")
    wide = p.line(f"linalg.broadcast ins({a} : tensor<{V}x{t}>) outs({empty} : {rows}) dimensions = [0]")
    mask = p.on(rows, "arith.cmpi eq,", p.columns_of(), wide)
    p.give(s, p.row_sum(p.choose(mask, d)))


@form("is not fused: no sum of exponentials relative to the row maxima is reduced over the same devices")
def largest_alone(p):
    p.give(p.largest())


@form("is not fused: no sum of exponentials relative to the row maxima is reduced over the same devices")
def exponentials_relative_to_something_else(p):
    m = p.largest()
    half = p.on_numbers("arith.mulf", m, p.constant("0.5", p.number()))
    p.give(m, p.row_sum(p.on_rows("math.exp", p.less(p.x, half))))


@form("is not fused: no sum of exponentials relative to the row maxima is reduced over the same devices")
def exponentials_of_other_rows(p):
    m = p.largest()
    other = p.arg(p.rows(), '[[], ["tp"]]')
    p.give(p.row_sum(p.on_rows("math.exp", p.less(other, m))))


@form("is not fused: the row maxima are not f32, or the rows have an unsupported type", element="bf16",
      computed="bf16")
def computed_in_bf16(p):
    _, _, e, s = p.parts()
    p.give_rows(p.on_rows("arith.divf", e, p.spread(s)))


@form("is not fused: a row has {bytes} bytes on a device, not a multiple of 16", columns=68)
def rows_of_no_vectors(p):
    p.give(p.parts()[3])


@form("is not fused: no sum of exponentials relative to the row maxima is reduced over the same devices")
def largest_of_absolute_values(p):
    m = p.largest(p.on_rows("math.absf", p.x))
    p.give(p.row_sum(p.on_rows("math.exp", p.less(p.x, m))))


def check(folder, topology, devices, options, name, expected, program):
    path = f"{folder}/{name}.{devices}.mlir"
    with open(path, "w") as f:
        f.write(program.text(devices))
    # follow keeps the all_reduces that the annotations request; the run's report says whether every
    # device has correct numbers.
    ran = subprocess.run(["shard-run", path, "--strategy", "follow", "--topology", topology, "--fuse", "always"] + options,
                         capture_output=True, text=True)
    remarks = [line.split("remark: ", 1)[1].split("': ", 1)[1] for line in ran.stderr.splitlines() if "remark: 'shard." in line]
    # remarks about row reductions, which those about scalars are not
    of_sums = ("one kernel", "not a multiple of 16")
    found = [r.split(" rows of")[0].rsplit(", ", 1)[0] if r.startswith("is fused") else r
             for r in remarks if not any(s in r for s in of_sums) or "on a device" in r]
    if ran.returncode != 0 or "verified" not in ran.stdout:
        return f"{name}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}"
    expected = [] if devices == 1 else [expected.format(bytes=4 * program.columns // devices)]
    if found != expected:
        return f"{name}: expected {expected}, got {found}\n{ran.stderr}"
    return None


def main():
    folder, topology, devices, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    forms = FORMS if os.environ.get("TP_LONG") else FORMS[:: 6 if "--target=cuda" in options else 2]
    wrong = [w for w in (check(folder, topology, devices, options, *f) for f in forms) if w]
    print("\n".join(wrong))
    print(f"{len(forms) - len(wrong)} of {len(forms)} forms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
