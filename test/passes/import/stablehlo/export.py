#!/usr/bin/env python3
"""Writes the tests jax_*.mlir of this folder, and values.tar.gz with their arguments and results.

    pip install jax
    export.py [NAME...]

Each function is exported as JAX lowers it, in generic form; arguments are drawn from a fixed seed,
and results are what JAX computes on one device. bf16 is stored as f32. RUN lines compare N ranks
with these results."""

import gzip
import io
import os
import sys
import tarfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
HERE = os.path.dirname(os.path.abspath(__file__))

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.sharding import Mesh, PartitionSpec as P
except ImportError as error:
    sys.exit(f"export.py: {error}; pip install jax")

random = np.random.default_rng(0)


def floats(*shape):
    return random.standard_normal(shape, dtype=np.float32)


def ints(*shape, low=0, high=8, dtype=np.int32):
    return random.integers(low, high, shape).astype(dtype)


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    n = q.shape[1]
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)


def attention_gradient(q, k, v, gradient):
    """Grouped queries; the result, and the gradients of all operands."""
    out, pull = jax.vjp(lambda *x: jax.nn.dot_product_attention(*x, is_causal=True), q, k, v)
    return out, *pull(gradient)


def cross_entropy(x, w, target):
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ w), target[:, None], 1).mean()


def train(x, w1, w2, y):
    def loss(weights):
        return ((jax.nn.gelu(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)((w1, w2))
    return value, [w - 0.1 * g for w, g in zip((w1, w2), gradients)]


def signed(a, b):
    return (a // b, a % b, a << 2, a >> 1, jnp.abs(a), -a, a ^ b, jnp.sign(a), lax.div(a, b), lax.rem(a, b), lax.population_count(a),
            lax.clz(a), a & b, a | b, ~a, jnp.minimum(a, b), a >= b, lax.shift_right_logical(a, jnp.abs(b) * 9), lax.shift_left(a, jnp.abs(b) * 9),
            lax.shift_right_arithmetic(a, jnp.abs(b) * 9))


def unsigned(a, b):
    return a // b, a % b, a << 2, a >> 1, jnp.maximum(a, b), a.astype(jnp.float32), a * b - a, a < b, lax.population_count(a), a == b


def powers(a, b, x):
    return jnp.power(a, jnp.abs(b)), lax.integer_pow(x, 3), jnp.power(jnp.abs(x), 1.3), lax.pow(x, b)


def casts(x):
    return (x.astype(jnp.int32), x.astype(jnp.uint8), x.astype(jnp.bfloat16).astype(jnp.float32), x.astype(bool), x.astype(jnp.int8),
            x.astype(jnp.float16).astype(jnp.float32), lax.bitcast_convert_type(x, jnp.int32), lax.reduce_precision(x, 8, 7))


def shapes(x):
    return (x.reshape(4, 16, 2).transpose(2, 0, 1), x[::-1], x[2:6, 1::3], jnp.concatenate([x, x * 2], 1), jnp.pad(x, ((1, 2), (0, 3))),
            lax.pad(x, np.float32(1.5), ((1, -1, 2), (-2, 3, 0))), jnp.broadcast_to(x[:, None], (8, 3, 16)), jnp.tile(x, (2, 2)), jnp.roll(x, 3, 0),
            x.T.reshape(-1), x[:, :0], jnp.squeeze(x[:1]), jnp.pad(x[:, :0], ((0, 0), (1, 1))))


def reductions(x):
    return (jnp.argmax(x, 1), jnp.argmin(x, 0), x.max(), x.sum(0), jnp.prod(x[:2, :4]), jnp.any(x > 1), jnp.all(x > -9), jnp.cumsum(x, 1),
            jnp.cumprod(x[:, :4], 1), jax.nn.logsumexp(x, 1), x.var(1))


def indexed(x, i):
    return (x[i], x[:, i], jnp.take(x, i, axis=0), x[i, i], lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), lax.dynamic_update_slice(x, x[:2, :3], (i[0], 1)),
            jnp.take_along_axis(x, i[None, :].repeat(8, 0), 1))


def scattered(x, i, u):
    return (x.at[i].add(u), x.at[i].set(u), x.at[i].max(u), x.at[i].mul(u), x.at[:, i[:2]].add(1.0), x.at[2:4].set(0.0), x.at[i * 5].add(u),
            jax.ops.segment_sum(u, i, 8), jax.vmap(lambda a, b, k: lax.dynamic_update_slice(a, b, (k,)))(x, x[:, :4], jnp.arange(8) % 5))


def embedding_gradient(table, i, y):
    return jax.grad(lambda t: ((t[i] - y) ** 2).sum())(table)


def scan(x, w):
    def step(carry, wi):
        carry = jnp.tanh(carry @ wi)
        return carry, carry.sum()

    return jax.value_and_grad(lambda x: lax.scan(jax.checkpoint(step), x, w)[1].sum())(x)


def control(x):
    return (lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.5), (0, x)), lax.fori_loop(0, 4, lambda i, c: c + i, x),
            lax.cond(x[0, 0] > 0, lambda a: a + 1, lambda a: a - 1, x), lax.switch(2, [lambda a: a, lambda a: a * 2, lambda a: a * 3], x),
            lax.switch(x[0, 0].astype(jnp.int32) + 7, [lambda a: a, lambda a: a * 2, lambda a: a * 3], x))


NHWC = ("NHWC", "HWIO", "NHWC")


def convolutions(x, w):
    return (lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC),
            lax.conv_general_dilated(x, w, (2, 1), ((1, 0), (2, 2)), rhs_dilation=(2, 1), dimension_numbers=NHWC),
            lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=NHWC),
            lax.conv_general_dilated(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (1, 1), "VALID"))


def convolution_gradients(x, w, grouped):
    def loss(x, w, groups):
        return (lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=NHWC, feature_group_count=groups) ** 2).sum()

    return jax.grad(loss, (0, 1))(x, w, 1), jax.grad(loss, (0, 1))(x, grouped, 4)


def pooling(x):
    def maximum(x, size):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, 2, 2, 1), "SAME")

    return (maximum(x, 2), lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
            jax.grad(lambda x: (maximum(x, 2) ** 2).sum())(x), jax.grad(lambda x: (maximum(x, 3) ** 2).sum())(x))


def drawn(key, x):
    return x * jax.random.bernoulli(key, 0.9, x.shape), jax.random.normal(key, (8, 4)), jax.random.uniform(key, (4, 4)), jax.random.randint(key, (8,), 0, 10)


def special(x):
    return (lax.erf(x), lax.erfc(x), lax.erf_inv(jnp.tanh(x)), jnp.sinh(x), jnp.cosh(x), jnp.arctan2(x, x + 1), jnp.cbrt(x), jnp.exp2(x), jnp.log1p(jnp.abs(x)),
            jnp.expm1(x), jax.nn.sigmoid(x), jnp.isfinite(x / 0), jnp.isinf(x), jnp.round(x), jnp.floor(x), jnp.ceil(x), jnp.sign(x), lax.rsqrt(jnp.abs(x)),
            jnp.arcsin(jnp.tanh(x)), jnp.arctan(x), jnp.arcsinh(x), jnp.tan(x), jnp.clip(x, -1, 1), jnp.fmod(x, 0.7), jnp.nextafter(x, -x), jnp.nextafter(x * 0, x))


def complex_numbers(x, y):
    z = lax.complex(x, y)
    return jnp.abs(z), (z * z).real, jnp.exp(z).imag, z.conj().imag, z.sum().real, jnp.where(x > 0, z, -z).imag


def mixed(x, w, weights, scale):
    """bf16 products with f32 sums; int8 weights."""
    return jnp.dot(x, w, preferred_element_type=jnp.float32), (x @ weights.astype(jnp.bfloat16)) * scale, lax.dot(weights, weights, preferred_element_type=jnp.int32)


def gamma_functions(x, y, n):
    s = jax.scipy.special
    return (s.gammaln(y), s.gammaln(x * 5), s.digamma(y), s.digamma(x * 5), s.zeta(y + 1.1, y), s.zeta(jnp.round(y) + 2, x), s.polygamma(n, y), s.i1e(x * 9), s.i1(x),
            s.gammainc(y, y + 1), s.betaln(y, y), s.gammaln(jnp.array([0.0, -1, -2.5, np.inf, 1, 2])), s.digamma(jnp.array([0.0, -1, -2.5, 1, 0.5, 30])),
            s.zeta(jnp.array([1.0, 2, 3, 0.5, 2, 2.5]), jnp.array([1.0, -1, -1, 1, 1, -0.5])))


def random_bits(key):
    algorithms = lax.RandomAlgorithm
    shapes = (((5, 3), jnp.uint32), ((3, 4), jnp.uint8), ((4, 6), jnp.uint16), ((3, 3), jnp.uint32), ((), jnp.uint32), ((7,), jnp.uint32))
    drawn = [lax.rng_bit_generator(key, shape, dtype, algorithm=a) for shape, dtype in shapes
             for a in (algorithms.RNG_PHILOX, algorithms.RNG_THREE_FRY, algorithms.RNG_DEFAULT)]
    return drawn, jax.random.normal(jax.random.wrap_key_data(key, impl="rbg"), (8, 4)), jax.random.key_data(
        jax.random.split(jax.random.wrap_key_data(key, impl="unsafe_rbg")))


def bits(x, a):
    """Bitcasts to narrower and wider elements; the upper halves of products."""
    parts = lax.bitcast_convert_type(x, jnp.uint8)
    halves = lax.bitcast_convert_type(x, jnp.bfloat16)
    return (parts, halves.astype(jnp.float32), lax.bitcast_convert_type(parts[..., ::-1], jnp.int32), lax.bitcast_convert_type(halves, jnp.float32),
            lax.mulhi(a * 123456789, a + 987654321), lax.mulhi(a.astype(jnp.uint32) * jnp.uint32(3123456789), jnp.uint32(987654321)))


def bodies(x, y):
    """jnp.where and logaddexp are calls, which stand in the bodies of reductions. Products of complex numbers."""
    z = lax.complex(x, y)
    return (lax.reduce(x, np.float32(0), lambda a, b: jnp.where(a > b, a, b), (1,)), lax.reduce(x, np.float32(-np.inf), jnp.logaddexp, (0,)),
            jnp.abs(z @ z.T), (z.conj() @ z.T).imag)


def ragged(x, w, sizes, fewer):
    """Rows in groups, each with weights of its own. On TPUs this is an op, chlo.ragged_dot."""
    return lax.ragged_dot(x, w, sizes), lax.ragged_dot(x, w, fewer), jax.grad(lambda x, w: (lax.ragged_dot(x, w, sizes) ** 2).sum(), (0, 1))(x, w)


def mapped(body, inputs, outputs):
    """A function whose body is written for the shards of a 2x2 mesh."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("dp", "tp"))
    return jax.shard_map(body, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False)


def manual_calls(x, w1, w2):
    """jax.nn.relu and silu are calls of functions."""
    return lax.psum(jax.nn.silu(jax.nn.relu(x @ w1)) @ w2, "tp")


def manual_indices(x):
    """The result varies along one axis only, though it depends on both indices of the device."""
    i, j = lax.axis_index("dp"), lax.axis_index("tp")
    shifted = lax.dynamic_slice_in_dim(jnp.arange(16.0), lax.axis_index(("dp", "tp")) * 4, 4)
    return (lax.psum(jnp.where(j == 0, x.sum(), 0.0), "tp") + i.astype(jnp.float32))[None], lax.all_gather(shifted, ("dp", "tp"), tiled=True)


def manual_loop(x, n):
    """How often the loop runs depends on values that an all-reduce has made equal."""

    def largest(x):
        return lax.pmax(jnp.abs(x).max(), ("dp", "tp"))

    def step(state):
        return state[0] * 1.5, state[1] + 1, largest(state[0])

    return lax.while_loop(lambda state: (state[1] < n) & (state[2] < 100), step, (x, jnp.int32(0), largest(x)))


def manual_pipeline(x):
    """Stages along dp, the first of which reads and the last of which writes."""
    i, n = lax.axis_index("dp"), lax.axis_size("dp")

    def step(carry, k):
        value = jnp.tanh(jnp.where(i == 0, x[k], carry))
        return lax.ppermute(value, "dp", [(d, (d + 1) % n) for d in range(n)]), jnp.where(i == n - 1, value, 0.0)

    return lax.psum(lax.scan(step, jnp.zeros(x.shape[1:]), jnp.arange(x.shape[0]))[1], "dp")


def manual_training(x, w):
    """Weights split along dp, gathered for the product; the norm of the gradient is of all shards."""

    def loss(w):
        return (jnp.tanh(x @ lax.all_gather(w, "dp", axis=0, tiled=True)) ** 2).mean()

    value, gradient = jax.value_and_grad(loss)(w)
    norm = lax.psum((gradient * gradient).sum(), ("dp", "tp"))
    return w - 0.1 * gradient * lax.rsqrt(norm), lax.pmean(value, ("dp", "tp")), norm


def bfloat16(*shape):
    return jnp.asarray(floats(*shape), jnp.bfloat16)


FUNCTIONS = {
    "attention": (attention, lambda: (floats(2, 16, 4, 8), floats(2, 16, 4, 8), floats(2, 16, 4, 8))),
    "casts": (casts, lambda: (floats(8, 16) * 3,)),
    "complex": (complex_numbers, lambda: (floats(8, 16), floats(8, 16))),
    "control": (control, lambda: (floats(8, 16),)),
    "convolution": (convolutions, lambda: (floats(2, 8, 8, 4), floats(3, 3, 4, 8))),
    "convolution_gradient": (convolution_gradients, lambda: (floats(2, 8, 8, 8), floats(3, 3, 8, 8), floats(3, 3, 2, 16))),
    "cross_entropy": (cross_entropy, lambda: (floats(16, 32), floats(32, 64), ints(16))),
    "embedding_gradient": (embedding_gradient, lambda: (floats(32, 16), ints(12), floats(12, 16))),
    "index": (indexed, lambda: (floats(8, 16), ints(4))),
    "int32": (signed, lambda: (ints(8, 16, low=-100, high=100), ints(8, 16, low=-3, high=4))),
    "int8": (signed, lambda: (ints(8, 16, low=-128, high=128, dtype=np.int8), ints(8, 16, low=-3, high=4, dtype=np.int8))),
    "mixed": (mixed, lambda: (bfloat16(8, 16), bfloat16(16, 16), ints(16, 16, low=-9, high=9, dtype=np.int8), bfloat16(16))),
    "pooling": (pooling, lambda: (floats(2, 8, 8, 4),)),
    "power": (powers, lambda: (ints(8, 16, low=-4, high=5), ints(8, 16, low=-3, high=6), floats(8, 16))),
    "random": (drawn, lambda: (jax.random.key_data(jax.random.key(3)), floats(8, 16))),
    "reduce": (reductions, lambda: (floats(8, 16),)),
    "scan": (scan, lambda: (floats(8, 16), floats(3, 16, 16))),
    "scatter": (scattered, lambda: (floats(8, 16), ints(4), floats(4, 16))),
    "shape": (shapes, lambda: (floats(8, 16),)),
    "special": (special, lambda: (floats(8, 16),)),
    "train": (train, lambda: (floats(16, 32), floats(32, 64), floats(64, 32), floats(16, 32))),
    "uint32": (unsigned, lambda: (ints(8, 16, high=2**32, dtype=np.uint32), ints(8, 16, high=4, dtype=np.uint32))),
    "uint8": (unsigned, lambda: (ints(8, 16, high=256, dtype=np.uint8), ints(8, 16, high=4, dtype=np.uint8))),
}

# On the mesh of the function. Appended, because the arguments of all functions are one sequence.
MANUAL = {
    "manual_calls": (mapped(manual_calls, (P("dp", None), P(None, "tp"), P("tp", None)), P("dp", None)), lambda: (floats(8, 16), floats(16, 32), floats(32, 16))),
    "manual_indices": (mapped(manual_indices, P(None, "tp"), (P("dp"), P())), lambda: (floats(8, 16),)),
    "manual_loop": (mapped(manual_loop, (P("dp", "tp"), P()), (P("dp", "tp"), P(), P())), lambda: (floats(8, 16), np.int32(30))),
    "manual_pipeline": (mapped(manual_pipeline, P(None, "tp", None), P(None, "tp", None)), lambda: (floats(4, 8, 16),)),
    "manual_training": (mapped(manual_training, (P("dp", None), P("dp", "tp")), (P("dp", "tp"), P(), P())), lambda: (floats(8, 16), floats(16, 8))),
}

# Appended, too.
LATER = {
    "bits": (bits, lambda: (floats(8, 16), ints(8, 16, low=-100, high=100))),
    "bodies": (bodies, lambda: (floats(8, 16), floats(8, 16))),
    "gamma": (gamma_functions, lambda: (floats(8, 16), np.abs(floats(8, 16)) + np.float32(0.3), ints(8, 16, high=5))),
    "ragged_dot": (ragged, lambda: (floats(12, 8), floats(4, 8, 6), np.array([5, 0, 4, 3], np.int32), np.array([2, 3, 0, 1], np.int32))),
    "random_bits": (random_bits, lambda: (np.array([0x12345678, 0x9ABCDEF0, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32),)),
    "attention_gradient": (attention_gradient, lambda: (floats(2, 16, 8, 16), floats(2, 16, 2, 16), floats(2, 16, 2, 16), floats(2, 16, 8, 16))),
}
ALL = FUNCTIONS | MANUAL | LATER

HEAD = """// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/{name} | FileCheck %s
// RUN: %if long %{{ shard-run %s --mesh 3 --inputs-from %t/{name} | FileCheck %s %}}
// CHECK: verified
"""

HEAD_MANUAL = """// Exported by export.py: what JAX computes on a 2x2 mesh, with the body of shard_map.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --inputs-from %t/{name} | FileCheck %s
// CHECK: verified
"""


def stored(value):
    value = np.asarray(value)
    return value.astype(np.float32) if value.dtype == jnp.bfloat16 else value


def add(archive, name, value):
    data = io.BytesIO()
    np.save(data, stored(value))
    entry = tarfile.TarInfo(name)
    entry.size = data.tell()
    data.seek(0)
    archive.addfile(entry, data)


def main():
    names = sys.argv[1:] or ALL
    with open(os.path.join(HERE, "values.tar.gz"), "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed, tarfile.open(
            fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (function, draw) in ALL.items():
            arguments = draw()
            compiled = jax.jit(function, keep_unused=True)
            for i, value in enumerate(jax.tree.leaves(arguments)):
                add(archive, f"{name}.in.{i}.npy", value)
            for i, value in enumerate(jax.tree.leaves(compiled(*arguments))):
                add(archive, f"{name}.out.{i}.npy", value)
            if name not in names:
                continue
            platform = "tpu" if name == "ragged_dot" else "cpu"
            text = compiled.trace(*arguments).lower(lowering_platforms=(platform,)).compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
            with open(os.path.join(HERE, f"jax_{name}.mlir"), "w", encoding="utf-8") as file:
                file.write((HEAD_MANUAL if name in MANUAL else HEAD).format(name=name) + text + "\n")


main()
