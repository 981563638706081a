"""Ways to write a residual and a norm behind a sum over devices, and near misses: which are fused, as what, and that the program computes the
same. Usage: fuse_forms.py FOLDER TOPOLOGY [OPTION OF SHARD-RUN ...]

A fused program is run as the functions that tp-fuse-collectives has written from what it recognised, so a form that is
recognised wrongly gives wrong numbers. FOLDER receives the programs."""
import re
import subprocess
import sys

T, H, K = 6, 32, 16  # rows, their length, the dimension that devices split


def element_of(tensor):
    return tensor.split("x")[-1].rstrip(">")


class Program:
    """A function: tensors of rows [T, H] of `element`, statistics [T] and vectors [H] of f32."""

    def __init__(self, element="f32", hidden=H, leading=(T,), split=None):
        """split: the dimension of the residual and of what is computed along which devices have pieces."""
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
        """inputs: (value, type, "rows" | "stat" | "row"); body(names of the inputs, of the output, prefix of new names): text and what is
        yielded. With an init it adds up rows."""
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

    # ---- what forms are made of ----

    def zeros(self):
        zero = self.number(0.0, self.element)
        empty = self.line(f"tensor.empty() : {self.rows()}")
        return self.line(f"linalg.fill ins({zero} : {self.element}) outs({empty} : {self.rows()}) -> {self.rows()}")

    def summed(self, k=K, left="rows", right="matrix", init=None, factors=None, swap=False):
        """A matrix product whose terms are on different devices: a sum over them. left: rows, or columns, where its rows lie beside each other;
        right: matrix, or transposed. factors: their type."""
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
        """[T] to [T, H]."""
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

    def centred(self, a, m):
        return self.on_rows("arith.subf", a, self.spread(m), "f32")

    def result(self, *values, gathered=False):
        self.results += [(v, self.rows(), self.sharding(None if gathered else self.split)) for v in values]

    def rms(self, r, **how):
        """The norm of rows r in f32, rounded."""
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


FORMS = []


def form(expected, **kind):
    def add(build):
        p = Program(**kind)
        build(p)
        FORMS.append((build.__name__, expected, p))
        return build
    return add


# ---- fused ----

RMS = "is fused with residual, RMS norm, 6 rows of 32"


@form(RMS)
def rms_by_division(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(r, p.rms(r))


@form(RMS)
def rms_by_factor(p):
    r = p.on_rows("arith.addf", p.whole(), p.summed())
    p.result(p.rms(r, by_factor=True, order=1))


@form(RMS)
def rms_by_root_and_division(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r, root="sqrt", order=2))


@form(RMS)
def rms_by_power(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r, root="powf"), r)


@form(RMS, element="bf16")
def rms_of_bf16(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(r, p.rms(r))


@form(RMS, element="f16")
def rms_of_f16_rounded_before_gamma(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    x = p.wide(r)
    n = p.wide(p.narrow(p.on_rows("arith.mulf", x, p.spread(p.scale(p.mean(x, square=True))), "f32")))
    p.result(p.narrow(p.times_row(n, p.vector(), "f16")))


@form("is fused with RMS norm, 6 rows of 32")
def rms_without_residual(p):
    p.result(p.rms(p.summed()))


@form("is fused with bias, residual, RMS norm, 6 rows of 32")
def bias_residual_rms(p):
    p.result(p.rms(p.on_rows("arith.addf", p.add_row(p.summed(), p.vector()), p.whole())))


@form("is fused with bias, 6 rows of 32")
def bias(p):
    p.result(p.add_row(p.summed(), p.vector()))


@form("is fused with residual, 6 rows of 32")
def residual(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is fused, 6 rows of 32")
def nothing(p):
    p.result(p.summed())


@form("is fused with residual, RMS norm, 12 rows of 32", leading=(2, 6))
def rms_of_two_leading_dimensions(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r), r)


@form("is fused with residual, RMS norm, 32 rows of 32", leading=(32,))
def rms_of_a_square(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r))


LAYER = "is fused with residual, layer norm, 6 rows of 32"


def layer(p, r, var=None, beta=True):
    x = p.wide(r)
    m = p.mean(x)
    c = p.centred(x, m)
    v = var(p, x, m) if var else p.mean(c, square=True)
    y = p.times_row(p.on_rows("arith.mulf", c, p.spread(p.scale(v)), "f32"), p.vector(), p.element)
    return p.narrow(p.times_row(y, p.vector(), p.element, "addf") if beta else y)


def fast_variance(p, x, m):
    return p.on_stat("arith.subf", p.mean(x, square=True), p.on_stat("arith.mulf", m, m))


def kept_variance(p, x, m):
    return p.on_stat("arith.maximumf", p.constant(0.0, p.stat()), fast_variance(p, x, m))


@form(LAYER)
def layer_norm(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(r, layer(p, r))


@form(LAYER)
def layer_norm_without_beta(p):
    p.result(layer(p, p.on_rows("arith.addf", p.summed(), p.whole()), beta=False))


@form(LAYER)
def layer_norm_of_fast_variance(p):
    p.result(layer(p, p.on_rows("arith.addf", p.summed(), p.whole()), fast_variance))


@form(LAYER)
def layer_norm_of_kept_variance(p):
    p.result(layer(p, p.on_rows("arith.addf", p.summed(), p.whole()), kept_variance))


@form(LAYER, element="bf16")
def layer_norm_of_bf16(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(r, layer(p, r))


@form(RMS)
def sum_of_squares_is_used_too(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    y = p.rms(r)
    p.result(y, p.spread(p.mean(r, square=True)))


@form("is fused with its product, residual, RMS norm, all_gather, 8 rows of 32", leading=(8,), split=0)
def scattered_and_gathered(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(r)
    p.result(p.rms(r), gathered=True)


@form("is fused with its product, residual, layer norm, all_gather, 16 rows of 32", leading=(2, 8), split=1, element="bf16")
def scattered_in_the_middle(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(layer(p, r), gathered=True)


@form("is fused with its product, residual, RMS norm, 8 rows of 32", leading=(8,), split=0)
def scattered(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r), r)


@form("is fused with its product, residual, all_gather, 8 rows of 32", leading=(8,), split=0)
def scattered_and_gathered_without_norm(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()), gathered=True)


@form("is not fused: it scatters dimension 1, along which rows go", leading=(8,), split=1)
def scattered_along_rows(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is fused with residual, RMS norm, 12 rows of 32", leading=(12,))
def rows_in_another_shape(p):
    """The sum is of [12, 32], the program goes on with [3, 4, 32]."""
    a = p.summed()
    flat, p.leading = p.rows(), (3, 4)
    a = p.line(f"tensor.expand_shape {a} [[0, 1], [2]] output_shape [3, 4, 32] : {flat} into {p.rows()}")
    r = p.on_rows("arith.addf", a, p.whole())
    p.result(p.rms(r), r)


# ---- products ----

PRODUCT = "is fused with its product, residual, 8 rows of 32"


@form(PRODUCT, leading=(8,), split=0)
def product_by_a_transposed_matrix(p):
    p.result(p.on_rows("arith.addf", p.summed(right="transposed"), p.whole()))


@form(PRODUCT, leading=(8,), split=0)
def product_with_the_matrix_first(p):
    p.result(p.on_rows("arith.addf", p.summed(swap=True), p.whole()))


@form(PRODUCT, leading=(8,), split=0)
def product_by_what_is_transposed(p):
    """What is transposed is read as it is stored."""
    flat = p.leading
    p.leading = (32,)
    w, t = p.arg("tensor<32x16xf32>", '[[], ["tp"]]'), "tensor<16x32xf32>"
    empty = p.line(f"tensor.empty() : {t}")
    w = p.line(f"linalg.transpose ins({w} : tensor<32x16xf32>) outs({empty} : {t}) permutation = [1, 0]")
    p.leading = flat
    x = p.arg("tensor<8x16xf32>", '[[], ["tp"]]')
    y = p.line(f"linalg.matmul ins({x}, {w} : tensor<8x16xf32>, {t}) outs({p.zeros()} : {p.rows()}) -> {p.rows()}")
    p.result(p.on_rows("arith.addf", y, p.whole()))


@form("is fused with its product, 12 rows of 32", leading=(3, 4), split=1, element="f16")
def product_of_blocks_alone(p):
    p.result(p.summed(k=32))


@form("is fused with its product, residual, RMS norm, 8193 rows of 32", leading=(8193,))
def product_of_whole_rows(p):
    """Of an all_reduce; too many rows to be read by all, and slices of which the last is shorter."""
    p.result(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())))


SCATTERED = "is fused with residual, 8 rows of 32"
NOT_SLICED = "its product is not computed in slices: "


@form([NOT_SLICED + "it is not one of rows, as they are stored, and a matrix", SCATTERED], leading=(8,), split=0)
def product_of_columns(p):
    p.result(p.on_rows("arith.addf", p.summed(left="columns"), p.whole()))


@form([NOT_SLICED + "its factors have another type than its rows", SCATTERED], leading=(8,), split=0)
def product_of_narrow_factors(p):
    p.result(p.on_rows("arith.addf", p.summed(factors="bf16"), p.whole()))


@form([NOT_SLICED + "slices of its left factor would not begin at multiples of 16 bytes", SCATTERED], leading=(8,), split=0)
def product_of_slices_that_are_not_aligned(p):
    p.result(p.on_rows("arith.addf", p.summed(k=12), p.whole()))


# ---- near misses: the norm stays outside, or everything ----

RESIDUAL = "is fused with residual, 6 rows of 32"


@form(RESIDUAL)
def mean_of_half_a_row(p):
    p.result(p.rms(p.on_rows("arith.addf", p.summed(), p.whole()), divisor=H // 2))


@form(RESIDUAL)
def epsilon_behind_the_root(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    root = p.on_stat("math.sqrt", p.mean(r, square=True))
    s = p.on_stat("arith.divf", p.constant(1.0, p.stat()), p.on_stat("arith.addf", root, p.constant(1e-5, p.stat())))
    p.result(p.times_row(p.on_rows("arith.mulf", r, p.spread(s)), p.vector()))


@form(RESIDUAL)
def norm_of_other_rows(p):
    r, other = p.on_rows("arith.addf", p.summed(), p.whole()), p.whole()
    p.result(p.times_row(p.on_rows("arith.mulf", other, p.spread(p.scale(p.mean(r, square=True)))), p.vector()))


@form(RMS)
def rms_norm_with_beta(p):
    """The norm is in the kernel, the rest is not."""
    p.result(p.times_row(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())), p.vector(), op="addf"))


@form(RESIDUAL)
def centred_rows_of_plain_squares(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    c = p.centred(r, p.mean(r))
    p.result(p.times_row(p.on_rows("arith.mulf", c, p.spread(p.scale(p.mean(r, square=True)))), p.vector()))


@form(RMS)
def two_factors(p):
    p.result(p.times_row(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())), p.vector()))


@form("is fused with residual, 32 rows of 32", leading=(32,))
def norm_of_columns(p):
    """Sums down the columns of a square."""
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    i = p.n
    zero = p.constant(0.0, "tensor<32xf32>")
    s = p.line(f"linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types "
               f"= [\"reduction\", \"parallel\"]}} ins({r} : {p.rows()}) outs({zero} : tensor<32xf32>) {{\n"
               f"  ^bb0(%x{i}: f32, %s{i}: f32):\n    %p{i} = arith.mulf %x{i}, %x{i} : f32\n"
               f"    %q{i} = arith.addf %s{i}, %p{i} : f32\n    linalg.yield %q{i} : f32\n  }} -> tensor<32xf32>")
    t = "tensor<32xf32>"
    m = p.line(f"arith.divf {s}, {p.constant(32.0, t)} : {t}")
    e = p.line(f"arith.addf {m}, {p.constant(1e-5, t)} : {t}")
    y = p.times_row(r, p.line(f"math.rsqrt {e} : {t}"))
    p.result(p.times_row(y, p.vector()))


@form("is fused with residual, 6 rows of 32")
def two_residuals(p):
    """The first is in the kernel, the norm of the sum with the second is not."""
    r = p.on_rows("arith.addf", p.on_rows("arith.addf", p.summed(), p.whole()), p.whole())
    p.result(p.rms(r))


@form("is not fused: the sum over the devices is used elsewhere, too")
def sum_is_used(p):
    a = p.summed()
    r = p.on_rows("arith.addf", a, p.whole())
    p.result(p.on_rows("arith.mulf", a, a), p.rms(r))


@form("is not fused: a row has 20 bytes, no multiple of 16", hidden=5)
def short_rows(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is not fused: a row has 16388 elements, more than 16384", hidden=16388, leading=(2,))
def long_rows(p):
    p.result(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())))


@form("is fused with residual, 2 rows of 16388", hidden=16388, leading=(2,))
def long_rows_without_norm(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is not fused: the factors of the norm have another type than the rows", element="bf16")
def wide_gamma(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r, gamma="f32", gamma_type="f32"))


@form("is not fused: the sum over the devices is used elsewhere, too", element="bf16")
def norm_of_what_is_not_rounded(p):
    """The kernel normalises rounded rows, so it may not do this."""
    a, b = p.summed(), p.whole()
    x = p.on_rows("arith.addf", p.wide(a), p.wide(b), "f32")
    y = p.times_row(p.on_rows("arith.mulf", x, p.spread(p.scale(p.mean(x, square=True))), "f32"), p.vector(), "bf16")
    p.result(p.narrow(x), p.narrow(y))


@form("is not fused: the sum over the devices is used elsewhere, too")
def residual_of_the_sum(p):
    a = p.summed()
    p.result(p.rms(p.on_rows("arith.addf", a, p.on_rows("math.sin", a))))


@form(None, element="f64")
def no_type_of_kernels(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


def check(folder, name, expected, program):
    path = f"{folder}/{name}.mlir"
    with open(path, "w") as f:
        f.write(program.text())
    # all_reduces, as annotations ask for them; the report of the run says whether every device has the right numbers.
    ran = subprocess.run(["shard-run", path, "--strategy", "follow", "--topology", sys.argv[2], "--fuse", "always"] + sys.argv[3:],
                         capture_output=True, text=True)
    remarks = [re.split(": one kernel|: slices of the product", line.split("remark: ", 1)[1])[0].split("': ", 1)[1]
               for line in ran.stderr.splitlines() if "remark: 'shard." in line]
    if ran.returncode != 0 or "verified" not in ran.stdout:
        return f"{name}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}"
    if remarks != (expected if isinstance(expected, list) else [expected] if expected else []):
        return f"{name}: expected {expected!r}, got {remarks}\n{ran.stderr}"
    return None


def main():
    wrong = [w for w in (check(sys.argv[1], *f) for f in FORMS) if w]
    print("\n".join(wrong))
    print(f"{len(FORMS) - len(wrong)} of {len(FORMS)} forms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
