"""Forms of quantizing the rows of an all-reduce to f8 that must be fused, and near misses.

Usage: quantize_forms.py FOLDER TOPOLOGY [OPTION OF SHARD-RUN ...]"""
import sys

from fuse_program import Program, element_of, main, registry

FORMS, form = registry()
H = 256
F8 = "f8E4M3FN"
PARALLEL, REDUCTION = '"parallel"', '"reduction"'


def shape_of(tensor):
    return tensor[len("tensor<"):-1].split("x")[:-1]


def tensor(shape, element):
    return f"tensor<{'x'.join(str(d) for d in shape)}x{element}>"


class Rows:
    """A view of values: rows [.., H], or groups of them [.., H / size, size]."""

    def __init__(self, p, size=None):
        self.p, self.size = p, size
        self.shape = list(p.leading) + ([p.h // size, size] if size else [p.h])
        self.rank = len(self.shape)
        self.names = [f"d{i}" for i in range(self.rank)]

    def type(self, element):
        return tensor(self.shape, element)

    def numbers(self, element="f32", ones=False):
        """Returns the type of one number per row or group."""
        return tensor(self.shape[:-1] + ([1] if ones else []), element)

    def view(self, value, element):
        """Emits a reshape of rows to this view."""
        if not self.size:
            return value
        return self.p.line(f"tensor.expand_shape {value} {self.pairs()} output_shape [{', '.join(map(str, self.shape))}] : "
                           f"{self.p.rows(element)} into {self.type(element)}")

    def whole(self, value, element):
        if not self.size:
            return value
        return self.p.line(f"tensor.collapse_shape {value} {self.pairs()} : {self.type(element)} into {self.p.rows(element)}")

    def pairs(self):
        n = len(self.p.leading)
        return "[" + ", ".join([f"[{i}]" for i in range(n)] + [f"[{n}, {n + 1}]"]) + "]"

    def map(self, results):
        return f"affine_map<({', '.join(self.names)}) -> ({', '.join(results)})>"

    def largest(self, value, element, op="maximumf", ones=False, magnitude="math.absf"):
        """Emits the max magnitude of each row or group, starting from 0, or from -infinity with
        `ones`."""
        p, kind = self.p, self.numbers(element, ones)
        init = p.line(f"arith.constant dense<{('0xFF800000' if element == 'f32' else '0xFF80') if ones else '0.0'}> : {kind}")
        n, loops = p.n, [PARALLEL] * (self.rank - 1) + [REDUCTION]
        maps = [self.map(self.names), self.map(self.names[:-1] + (["0"] if ones else []))]
        body = f"    %m{n} = {magnitude} %x{n} : {element}\n" if magnitude else ""
        return p.line(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(loops)}]}} "
                      f"ins({value} : {self.type(element)}) outs({init} : {kind}) {{\n  ^bb0(%x{n}: {element}, %o{n}: {element}):\n{body}"
                      f"    %s{n} = arith.{op} %o{n}, %{'m' if magnitude else 'x'}{n} : {element}\n    linalg.yield %s{n} : {element}\n  }} -> {kind}")

    def quantize(self, value, element, scale, scale_type, scale_map=None, limits=(-448.0, 448.0), divide="arith.divf"):
        """Emits f8 of value / scale, both in f32."""
        p, n = self.p, self.p.n
        out = p.line(f"tensor.empty() : {self.type(F8)}")
        ones = len(shape_of(scale_type)) == self.rank
        maps = [self.map(self.names), scale_map or self.map(self.names[:-1] + (["0"] if ones else [])), self.map(self.names)]
        wide = f"    %w{n} = arith.extf %x{n} : {element} to f32\n" if element != "f32" else ""
        lines = [f"    %q{n} = {divide} %{'w' if wide else 'x'}{n}, %s{n} : f32"]
        last = f"%q{n}"
        for i, (limit, op) in enumerate(zip(limits, ("maximumf", "minimumf"))):
            if limit is not None:
                lines += [f"    %l{n}_{i} = arith.constant {limit} : f32", f"    %c{n}_{i} = arith.{op} {last}, %l{n}_{i} : f32"]
                last = f"%c{n}_{i}"
        body = "\n".join(lines)
        return p.line(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join([PARALLEL] * self.rank)}]}} "
                      f"ins({value}, {scale} : {self.type(element)}, {scale_type}) outs({out} : {self.type(F8)}) {{\n"
                      f"  ^bb0(%x{n}: {element}, %s{n}: f32, %o{n}: {F8}):\n{wide}{body}\n    %t{n} = arith.truncf {last} : f32 to {F8}\n"
                      f"    linalg.yield %t{n} : {F8}\n  }} -> {self.type(F8)}")

    def scale(self, largest, kind, least=1e-4, before=True):
        """Emits max(largest, least) / 448, or max(largest / 448, least)."""
        p = self.p
        top = p.constant(448.0, kind)
        bound = p.constant(least, kind) if least is not None else None
        if bound and before:
            largest = p.line(f"arith.maximumf {largest}, {bound} : {kind}")
        share = p.line(f"arith.divf {largest}, {top} : {kind}")
        return p.line(f"arith.maximumf {bound}, {share} : {kind}") if bound and not before else share

    def scaled(self, y, element="f32", ones=False, op="maximumf", **how):
        """Emits and returns the value in this view, its scales in f32 and their type."""
        view = self.view(y, element)
        largest, kind = self.largest(view, element, op, ones), self.numbers("f32", ones)
        if element != "f32":
            largest = self.p.line(f"arith.extf {largest} : {self.numbers(element, ones)} to {kind}")
        return view, self.scale(largest, kind, **how), kind


def result(p, *values, gathered=False):
    """Adds results: values and their types; for scales, in the type of the rows. gathered:
    replicated on all devices; else sharded like the rows."""
    for value, kind in values:
        value = pin(p, value, kind) if gathered else value
        if element_of(kind) == "f32" and p.element != "f32" and not gathered:
            narrow = kind.replace("xf32>", f"x{p.element}>")
            value, kind = p.line(f"arith.truncf {value} : {kind} to {narrow}"), narrow
        dims = ["[]"] * len(shape_of(kind))
        if p.split is not None and not gathered:
            dims[p.split] = '["tp"]'
        p.results.append((value, kind, "[" + ", ".join(dims) + "]"))


def pin(p, value, kind):
    """Shards a value like the rows, so that its uses run where the rows are."""
    dims = ["tp" if d == p.split else "" for d in range(len(shape_of(kind)))]
    axes = ", ".join("[0]" if d else "[]" for d in dims)
    sharding = p.line(f"shard.sharding @mesh split_axes = [{axes}] : !shard.sharding")
    spec = ", ".join(f'["{d}"]' if d else "[]" for d in dims)
    return p.line(f"shard.shard {value} to {sharding} {{tp.sharding = [{spec}]}} : {kind}")


def residual(p):
    return p.on_rows("arith.addf", p.summed(), p.whole())


TOKEN = "is fused with residual, f8 with scales of rows, 6 rows of 256"
GROUP = "is fused with residual, f8 with scales of groups, 6 rows of 256"
NORM = "is fused with residual, RMS norm, f8 with scales of groups, 6 rows of 256, separate kernels: 2"
LEFT = "its quantization to f8 stays unfused: "


def left(why):
    return ["is fused with residual, 6 rows of 256", LEFT + why]


# ---- Scales per row ----


@form(TOKEN, hidden=H)
def token(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind))


@form(TOKEN, hidden=H, element="bf16")
def token_of_bf16(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(residual(p), "bf16", ones=True, before=False)
    result(p, (rows.quantize(y, "bf16", scale, kind), p.rows(F8)), (scale, kind))


# Scales of rounded values take a second separate kernel. The times are those of an all_reduce of 6
# KiB, or half of it; test/sharding/fused_cost_test.c (fused_rows) has the formula.


@form("is fused with residual, RMS norm, f8 with scales of rows, 6 rows of 256, separate kernels: 1", hidden=H)
def token_of_norm(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(p.rms(residual(p)))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind))


@form("is fused with residual, RMS norm, f8 with scales of rows, 6 rows of 256, separate kernels: 2", hidden=H, element="bf16")
def token_of_norm_of_bf16(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(p.rms(residual(p)), "bf16")
    result(p, (rows.quantize(y, "bf16", scale, kind), p.rows(F8)), (scale, kind))


@form("is fused with residual, RMS norm, f8 with a given scale, 6 rows of 256, separate kernels: 1", hidden=H, element="bf16")
def given_for_norm_of_bf16(p):
    rows, given = Rows(p), p.arg("tensor<1xf32>", "[[]]")
    q = rows.quantize(p.rms(residual(p)), "bf16", given, "tensor<1xf32>", rows.map(["0"]))
    result(p, (q, p.rows(F8)))


# ---- Scales per group ----


@form(GROUP, hidden=H)
def group(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form(NORM, hidden=H)
def group_of_norm(p):
    rows = Rows(p, 128)
    r = residual(p)
    y, scale, kind = rows.scaled(p.rms(r), before=False)
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind), (r, p.rows()))


@form(NORM, hidden=H, element="bf16")
def group_of_norm_of_bf16(p):
    """Scales [.., H / 128, 1], and rows that have other uses."""
    rows = Rows(p, 128)
    n = p.rms(residual(p))
    y, scale, kind = rows.scaled(n, "bf16", ones=True)
    result(p, (rows.whole(rows.quantize(y, "bf16", scale, kind), F8), p.rows(F8)), (scale, kind), (n, p.rows()))


@form(GROUP, hidden=H)
def group_that_stays_one(p):
    """The result is [.., H / 128, 128]; the scales are unused."""
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.quantize(y, "f32", scale, kind), rows.type(F8)))


@form(GROUP, hidden=H)
def group_by_windows(p):
    """Loops over groups and their members without a reshape, and elements that compute the index of
    their group's scale."""
    rows, groups = Rows(p), Rows(p, 128)
    y, kind = residual(p), groups.numbers()
    window, init = p.line("tensor.empty() : tensor<128xf32>"), p.constant(0.0, kind)
    n, last = p.n, len(p.leading)
    d = groups.names
    maps = [groups.map(d[:last] + [f"{d[last]} * 128 + {d[last + 1]}"]), groups.map([d[-1]]), groups.map(d[:-1])]
    largest = p.line(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join([PARALLEL] * (last + 1) + [REDUCTION])}]}} "
                     f"ins({y}, {window} : {p.rows()}, tensor<128xf32>) outs({init} : {kind}) {{\n  ^bb0(%x{n}: f32, %u{n}: f32, %o{n}: f32):\n"
                     f"    %m{n} = math.absf %x{n} : f32\n    %s{n} = arith.maximumf %m{n}, %o{n} : f32\n    linalg.yield %s{n} : f32\n  }} -> {kind}")
    scale = groups.scale(largest, kind)
    of_group = rows.map(rows.names[:last] + [f"{rows.names[last]} floordiv 128"])
    result(p, (rows.quantize(y, "f32", scale, kind, of_group), p.rows(F8)), (scale, kind))


@form("is fused with residual, f8 with scales of groups, 12 rows of 384", hidden=384, leading=(3, 4))
def group_of_blocks(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form("is fused with its matmul, residual, f8 with scales of groups, 8 rows of 256", hidden=H, leading=(8,), split=0)
def group_of_slices(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form(GROUP, hidden=H)
def group_beside_heads(p):
    """Rows that are also viewed in groups of 64 first."""
    heads, rows = Rows(p, 64), Rows(p, 128)
    r = residual(p)
    result(p, (p.line(f"math.absf {heads.view(r, 'f32')} : {heads.type('f32')}"), heads.type("f32")))
    y, scale, kind = rows.scaled(r)
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form("is fused with residual, f8 with scales of rows, 6 rows of 128", hidden=128)
def group_that_is_a_row(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form("is fused with residual, f8 with a given scale, 6 rows of 256", hidden=H)
def given_for_groups(p):
    """A single scale for all, of values viewed in groups."""
    rows = Rows(p, 128)
    y, given = rows.view(residual(p), "f32"), p.arg("tensor<1xf32>", "[[]]")
    result(p, (rows.whole(rows.quantize(y, "f32", given, "tensor<1xf32>", rows.map(["0"])), F8), p.rows(F8)))


# ---- All-gathers of slices, whose residual is sharded ----

GATHERED = "is fused with its matmul, residual, f8 with scales of {}, all_gather, 8 rows of 256"


@form(GATHERED.format("rows"), hidden=H, leading=(8,), split=0)
def gathered_token(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind), gathered=True)


@form(GATHERED.format("groups"), hidden=H, leading=(8,), split=0)
def gathered_group(p):
    """The rows have a local use, too."""
    rows = Rows(p, 128)
    r = residual(p)
    y, scale, kind = rows.scaled(r)
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind), gathered=True)
    result(p, (r, p.rows()))


@form("is fused with its matmul, residual, RMS norm, f8 with scales of groups, all_gather, 16 rows of 256", hidden=H, leading=(2, 8), split=1)
def gathered_group_of_norm_of_blocks(p):
    rows = Rows(p, 128)
    r = residual(p)
    y, scale, kind = rows.scaled(p.rms(r))
    result(p, (rows.quantize(y, "f32", scale, kind), rows.type(F8)), (scale, kind), gathered=True)
    result(p, (r, p.rows()))


@form("is fused with its matmul, residual, RMS norm, f8 with a given scale, all_gather, 8 rows of 256", hidden=H, leading=(8,), split=0)
def gathered_given(p):
    rows, given = Rows(p), p.arg("tensor<1xf32>", "[[]]")
    q = rows.quantize(p.rms(residual(p)), "f32", given, "tensor<1xf32>", rows.map(["0"]))
    result(p, (q, p.rows(F8)), gathered=True)


@form("is fused with its matmul, residual, RMS norm, f8 with scales of rows, all_gather, 8 rows of 256", hidden=H, leading=(8,), split=0)
def gathered_with_rows(p):
    """The norm is all-gathered, too."""
    rows, n = Rows(p), p.rms(residual(p))
    y, scale, kind = rows.scaled(n)
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind), (n, p.rows()), gathered=True)


@form(["its matmul is not computed in slices: it is not a matmul of untransposed rows by a matrix",
       "is fused with residual, f8 with scales of rows, all_gather, 8 rows of 256"], hidden=H, leading=(8,), split=0)
def gathered_behind_product_of_columns(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(p.on_rows("arith.addf", p.summed(left="columns"), p.whole()))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind), gathered=True)


@form("is fused with its matmul, residual, f8 with scales of groups, 8 rows of 256", hidden=H, leading=(8,), split=0, element="bf16")
def product_of_bf16(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(p.on_rows("arith.addf", p.summed(right="transposed"), p.whole()), "bf16", ones=True)
    result(p, (rows.quantize(y, "bf16", scale, kind), rows.type(F8)), (scale, kind))


@form("is fused with its matmul, residual, RMS norm, f8 with scales of rows, 8193 rows of 32", hidden=32, leading=(8193,))
def product_of_whole_rows(p):
    """An all_reduce in slices, of which the last is shorter."""
    rows = Rows(p)
    y, scale, kind = rows.scaled(p.rms(residual(p)))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind))


APART = "its all_gather stays unfused: "


@form(["is fused with its matmul, residual, f8 with scales of rows, 8 rows of 256", APART + "its scales are not gathered"], hidden=H, leading=(8,), split=0)
def gathered_without_scales(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), gathered=True)
    result(p, (scale, kind))


@form(["is fused with its matmul, residual, f8 with scales of rows, 8 rows of 256", APART + "its f8 values are not gathered"], hidden=H, leading=(8,), split=0)
def gathered_scales_alone(p):
    rows = Rows(p)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)))
    result(p, (scale, kind), gathered=True)


@form(["is fused with its matmul, residual, RMS norm, f8 with scales of rows, 8 rows of 256", APART + "its rows are also read ungathered"], hidden=H,
      leading=(8,), split=0)
def gathered_beside_rows(p):
    rows, n = Rows(p), p.rms(residual(p))
    y, scale, kind = rows.scaled(n)
    result(p, (rows.quantize(y, "f32", scale, kind), p.rows(F8)), (scale, kind), gathered=True)
    result(p, (n, p.rows()))


# ---- Near misses ----


@form(left("its groups do not have 128 elements"), hidden=H)
def group_of_64(p):
    rows = Rows(p, 64)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form(left("its scale is 0 for a row or group of zeros"), hidden=H)
def group_without_least(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p), least=None)
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form(left("it is not clamped to [-448, 448]"), hidden=H)
def group_clamped_above(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind, limits=(None, 448.0)), F8), p.rows(F8)), (scale, kind))


@form(left("it is not a row divided by a scale in f32"), hidden=H)
def group_multiplied(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p))
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind, divide="arith.mulf"), F8), p.rows(F8)), (scale, kind))


@form(left("a maximum of its rows ignores NaN (maxnumf)"), hidden=H)
def group_without_nan(p):
    rows = Rows(p, 128)
    y, scale, kind = rows.scaled(residual(p), op="maxnumf")
    result(p, (rows.whole(rows.quantize(y, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


NEITHER = "its scale is neither a given value nor the largest magnitude of its row or group / 448 in f32"


@form(left(NEITHER), hidden=H)
def group_of_largest(p):
    """The max element of each, not its magnitude."""
    rows = Rows(p, 128)
    view, kind = rows.view(residual(p), "f32"), rows.numbers()
    scale = rows.scale(rows.largest(view, "f32", magnitude=None), kind)
    result(p, (rows.whole(rows.quantize(view, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form(left(NEITHER), hidden=H)
def group_of_sums(p):
    """The sum of the magnitudes of each."""
    rows = Rows(p, 128)
    view, kind = rows.view(residual(p), "f32"), rows.numbers()
    scale = rows.scale(rows.largest(view, "f32", op="addf"), kind)
    result(p, (rows.whole(rows.quantize(view, "f32", scale, kind), F8), p.rows(F8)), (scale, kind))


@form(["is fused with residual, 6 rows of 512", LEFT + NEITHER], hidden=512)
def group_of_another(p):
    """Groups of the same size, but with the scales of another arrangement: of [.., 128, H / 128]
    transposed."""
    rows, turned = Rows(p, 128), Rows(p, 4)
    view = rows.view(residual(p), "f32")
    kind = turned.numbers()
    largest = turned.largest(turned.view(rows.whole(view, "f32"), "f32"), "f32")
    scale = turned.scale(largest, kind)
    names, last = rows.names, len(p.leading)
    member = rows.map(names[:last] + [names[-1]])
    result(p, (rows.whole(rows.quantize(view, "f32", scale, kind, member), F8), p.rows(F8)), (scale, kind))


if __name__ == "__main__":
    sys.exit(main(FORMS))
