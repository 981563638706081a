"""Forms of a residual and a norm after an all-reduce that must be fused, and near misses.

Usage: fuse_forms.py FOLDER TOPOLOGY [OPTION OF SHARD-RUN ...]"""
import sys

from fuse_program import H, main, registry

FORMS, form = registry()


# ---- Fused ----

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
    c = p.centerd(x, m)
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


@form("is fused with its matmul, residual, RMS norm, all_gather, 8 rows of 32", leading=(8,), split=0)
def scattered_and_gathered(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(r)
    p.result(p.rms(r), gathered=True)


@form("is fused with its matmul, residual, layer norm, all_gather, 16 rows of 32", leading=(2, 8), split=1, element="bf16")
def scattered_in_the_middle(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(layer(p, r), gathered=True)


@form("is fused with its matmul, residual, RMS norm, 8 rows of 32", leading=(8,), split=0)
def scattered(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r), r)


@form("is fused with its matmul, residual, all_gather, 8 rows of 32", leading=(8,), split=0)
def scattered_and_gathered_without_norm(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()), gathered=True)


@form("is not fused: it scatters the column dimension 1, so devices hold only parts of rows", leading=(8,), split=1)
def scattered_along_rows(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is fused with residual, RMS norm, 12 rows of 32", leading=(12,))
def rows_in_another_shape(p):
    """The sum has shape [12, 32]; the program continues with [3, 4, 32]."""
    a = p.summed()
    flat, p.leading = p.rows(), (3, 4)
    a = p.line(f"tensor.expand_shape {a} [[0, 1], [2]] output_shape [3, 4, 32] : {flat} into {p.rows()}")
    r = p.on_rows("arith.addf", a, p.whole())
    p.result(p.rms(r), r)


# ---- Matmuls ----

PRODUCT = "is fused with its matmul, residual, 8 rows of 32"


@form(PRODUCT, leading=(8,), split=0)
def product_by_a_transposed_matrix(p):
    p.result(p.on_rows("arith.addf", p.summed(right="transposed"), p.whole()))


@form(PRODUCT, leading=(8,), split=0)
def product_with_the_matrix_first(p):
    p.result(p.on_rows("arith.addf", p.summed(swap=True), p.whole()))


@form(PRODUCT, leading=(8,), split=0)
def product_by_what_is_transposed(p):
    """A transposed operand is read as it is stored."""
    flat = p.leading
    p.leading = (32,)
    w, t = p.arg("tensor<32x16xf32>", '[[], ["tp"]]'), "tensor<16x32xf32>"
    empty = p.line(f"tensor.empty() : {t}")
    w = p.line(f"linalg.transpose ins({w} : tensor<32x16xf32>) outs({empty} : {t}) permutation = [1, 0]")
    p.leading = flat
    x = p.arg("tensor<8x16xf32>", '[[], ["tp"]]')
    y = p.line(f"linalg.matmul ins({x}, {w} : tensor<8x16xf32>, {t}) outs({p.zeros()} : {p.rows()}) -> {p.rows()}")
    p.result(p.on_rows("arith.addf", y, p.whole()))


@form("is fused with its matmul, 12 rows of 32", leading=(3, 4), split=1, element="f16")
def product_of_blocks_alone(p):
    p.result(p.summed(k=32))


@form("is fused with its matmul, residual, RMS norm, 8193 rows of 32", leading=(8193,))
def product_of_whole_rows(p):
    """An all_reduce with too many rows for every device to read all; it uses slices, of which the
    last is shorter."""
    p.result(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())))


SCATTERED = "is fused with residual, 8 rows of 32"
NOT_SLICED = "its matmul is not computed in slices: "


@form([NOT_SLICED + "it is not a matmul of untransposed rows by a matrix", SCATTERED], leading=(8,), split=0)
def product_of_columns(p):
    p.result(p.on_rows("arith.addf", p.summed(left="columns"), p.whole()))


@form([NOT_SLICED + "its operands have another type than its rows", SCATTERED], leading=(8,), split=0)
def product_of_narrow_factors(p):
    p.result(p.on_rows("arith.addf", p.summed(factors="bf16"), p.whole()))


@form([NOT_SLICED + "slices of its left operand would not be aligned to 16 bytes", SCATTERED], leading=(8,), split=0)
def product_of_slices_that_are_not_aligned(p):
    p.result(p.on_rows("arith.addf", p.summed(k=12), p.whole()))


# ---- Near misses: the norm, or everything, stays unfused ----

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
    c = p.centerd(r, p.mean(r))
    p.result(p.times_row(p.on_rows("arith.mulf", c, p.spread(p.scale(p.mean(r, square=True)))), p.vector()))


@form(RMS)
def two_factors(p):
    p.result(p.times_row(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())), p.vector()))


@form("is fused with residual, 32 rows of 32", leading=(32,))
def norm_of_columns(p):
    """Sums along the columns of a square."""
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
    """The first residual is in the kernel; the norm of the sum with the second is not."""
    r = p.on_rows("arith.addf", p.on_rows("arith.addf", p.summed(), p.whole()), p.whole())
    p.result(p.rms(r))


@form("is not fused: the reduced value has other users")
def sum_is_used(p):
    a = p.summed()
    r = p.on_rows("arith.addf", a, p.whole())
    p.result(p.on_rows("arith.mulf", a, a), p.rms(r))


@form("is not fused: a row has 20 bytes, not a multiple of 16", hidden=5)
def short_rows(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is not fused: a row has 16388 elements, more than 16384", hidden=16388, leading=(2,))
def long_rows(p):
    p.result(p.rms(p.on_rows("arith.addf", p.summed(), p.whole())))


@form("is fused with residual, 2 rows of 16388", hidden=16388, leading=(2,))
def long_rows_without_norm(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


@form("is not fused: gamma or beta of the norm has another type than the rows", element="bf16")
def wide_gamma(p):
    r = p.on_rows("arith.addf", p.summed(), p.whole())
    p.result(p.rms(r, gamma="f32", gamma_type="f32"))


@form("is not fused: the reduced value has other users", element="bf16")
def norm_of_what_is_not_rounded(p):
    """The kernel normalizes rounded rows, so it must not fuse this form."""
    a, b = p.summed(), p.whole()
    x = p.on_rows("arith.addf", p.wide(a), p.wide(b), "f32")
    y = p.times_row(p.on_rows("arith.mulf", x, p.spread(p.scale(p.mean(x, square=True))), "f32"), p.vector(), "bf16")
    p.result(p.narrow(x), p.narrow(y))


@form("is not fused: the reduced value has other users")
def residual_of_the_sum(p):
    a = p.summed()
    p.result(p.rms(p.on_rows("arith.addf", a, p.on_rows("math.sin", a))))


@form(None, element="f64")
def no_type_of_kernels(p):
    p.result(p.on_rows("arith.addf", p.summed(), p.whole()))


if __name__ == "__main__":
    sys.exit(main(FORMS))
