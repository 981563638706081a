"""Models and parts of models in plain JAX."""
import jax
import jax.numpy as jnp
import numpy
import optax
from jax import lax

from .case import case

# ---- experts ----


def expert_weights(d):
    experts, width, hidden = d.of(8, 6), d.of(16, 18), d.of(32, 35)
    return {"router": d.weight(width, experts), "up": d.weight(experts, width, hidden), "down": d.weight(experts, hidden, width)}


def expert_args(d):
    return expert_weights(d), d.normal(d.of(64, 61), d.of(16, 18))


@case(expert_args, ("params/up", 0), ("x", 0), ("params/up", 2), fast=True)
def experts_one_hot(params, x):
    """Top-2 experts with a capacity, dispatched by one-hot contractions; value and gradient."""

    def energy(params):
        probability = jax.nn.softmax(x @ params["router"])
        gate, chosen = lax.top_k(probability, 2)
        gate = gate / gate.sum(-1, keepdims=True)
        assigned = jax.nn.one_hot(chosen, probability.shape[-1])  # token, choice, expert
        place = jnp.cumsum(assigned.reshape(-1, assigned.shape[-1]), axis=0).reshape(assigned.shape) * assigned - 1
        slot = jax.nn.one_hot(place.astype(jnp.int32), 24) * assigned[..., None]
        dispatch, combine = slot.sum(1), (slot * gate[..., None, None]).sum(1)
        h = jax.nn.gelu(jnp.einsum("tes,td,edf->esf", dispatch, x, params["up"]))
        y = jnp.einsum("tes,esf,efd->td", combine, h, params["down"])
        return (y**2).mean(), y

    return jax.value_and_grad(energy, has_aux=True)(params)


@case(expert_args, ("params/up", 2), ("params/down", 2), ("x", 1))
def experts_sorted(params, x):
    """Tokens sorted by expert, with ragged matmuls."""
    chosen = jnp.argmax(x @ params["router"], -1)
    order = jnp.argsort(chosen)
    sizes = jnp.bincount(chosen, length=params["up"].shape[0])
    h = jax.nn.silu(lax.ragged_dot(x[order], params["up"], sizes))
    y = lax.ragged_dot(h, params["down"], sizes)
    return jnp.zeros_like(x).at[order].set(y)


# ---- images ----

NHWC = ("NHWC", "HWIO", "NHWC")


def convolve(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=NHWC)


def batch_norm(p, stats, x):
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    stats = {"mean": 0.9 * stats["mean"] + 0.1 * mean, "var": 0.9 * stats["var"] + 0.1 * var}
    return (x - mean) * lax.rsqrt(var + 1e-5) * p["scale"] + p["bias"], stats


def residual_weights(d):
    channels = d.of(8, 6)
    norm = lambda: {"scale": numpy.ones(channels, numpy.float32), "bias": numpy.zeros(channels, numpy.float32)}
    kernel = lambda i, o: d.normal(3, 3, i, o, scale=(9 * i) ** -0.5)
    return {
        "stem": kernel(3, channels), "conv1": kernel(channels, channels), "norm1": norm(), "conv2": kernel(channels, channels),
        "norm2": norm(), "head": d.weight(channels, d.of(16, 11)),
    }


def fresh_stats(channels):
    return {n: {"mean": numpy.zeros(channels, numpy.float32), "var": numpy.ones(channels, numpy.float32)} for n in ("norm1", "norm2")}


def residual_args(d):
    batch, side = d.of(8, 7), d.of(8, 9)
    return residual_weights(d), fresh_stats(d.of(8, 6)), d.normal(batch, side, side, 3), d.ints(d.of(16, 11), batch)


@case(
    residual_args, ("images", 0), ("params/head", 1), ("params/conv1", 3), donate=(0, 1), fast=True,
)
def residual_network(params, stats, images, labels):
    """A training step with statistics of the batch."""

    def objective(params):
        new = {}
        x = convolve(images, params["stem"])
        h, new["norm1"] = batch_norm(params["norm1"], stats["norm1"], convolve(x, params["conv1"], 1))
        h, new["norm2"] = batch_norm(params["norm2"], stats["norm2"], convolve(jax.nn.relu(h), params["conv2"]))
        x = lax.reduce_window(jax.nn.relu(x + h), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        out = x.mean((1, 2)) @ params["head"]
        return optax.softmax_cross_entropy_with_integer_labels(out, labels).mean(), new

    (value, new), grads = jax.value_and_grad(objective, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), new, value


def autoencoder_args(d):
    channels, side = d.of(8, 6), d.of(8, 10)
    return {"down": d.normal(3, 3, 3, channels, scale=0.2), "up": d.normal(3, 3, channels, 3, scale=0.2)}, d.normal(d.of(8, 7), side, side, 3)


@case(autoencoder_args, ("x", 0), ("params/down", 3))
def autoencoder(params, x):
    """Strided and transposed convolutions with a group norm."""

    def objective(params):
        h = convolve(x, params["down"], 2)
        g = h.reshape(*h.shape[:3], 2, -1)
        g = (g - g.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(g.var((1, 2, 4), keepdims=True) + 1e-5)
        y = lax.conv_transpose(jax.nn.gelu(g.reshape(h.shape)), params["up"], (2, 2), "SAME", dimension_numbers=NHWC)
        return ((y - x) ** 2).mean()

    return jax.value_and_grad(objective)(params)


def attention(p, x, size=8, bias=0.0):
    batch, length, _ = x.shape
    q, k, v = jnp.split((x @ p["qkv"]).reshape(batch, length, -1, size), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / size**0.5 + bias
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["out"]


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def vision_weights(d):
    width = d.of(32, 40)
    return {
        "patch": d.weight(48, width), "class": d.normal(1, 1, width), "position": d.normal(17, width, scale=0.1),
        "block": {"qkv": d.weight(width, 3 * width), "out": d.weight(width, width), "up": d.weight(width, 4 * width), "down": d.weight(4 * width, width)},
        "head": d.weight(width, d.of(16, 11)),
    }


@case(lambda d: (vision_weights(d), d.normal(d.of(8, 7), 16, 16, 3)), ("params/block/up", 1), ("images", 0), ("params/block/qkv", 1), fast=True)
def vision_transformer(params, images):
    batch = images.shape[0]
    patches = images.reshape(batch, 4, 4, 4, 4, 3).transpose(0, 1, 3, 2, 4, 5).reshape(batch, 16, 48) @ params["patch"]
    x = jnp.concatenate([jnp.broadcast_to(params["class"], (batch, 1, patches.shape[-1])), patches], 1) + params["position"]
    p = params["block"]
    x = x + attention(p, layer_norm(x))
    x = x + jax.nn.gelu(layer_norm(x) @ p["up"]) @ p["down"]
    return layer_norm(x)[:, 0] @ params["head"]


# ---- sequences ----


@case(lambda d: tuple(d.normal(d.of(16, 20), d.of(8, 7), d.of(16, 18)) for _ in "qkv"), ("k", 0), ("q", 1), ("q", 0))
def flash_attention(q, k, v):
    """Softmax over blocks of keys, with a running maximum; q[length, heads, size]."""
    q = q * q.shape[-1] ** -0.5

    def step(state, block):
        top, total, out = state
        k, v = block
        scores = jnp.einsum("qhd,khd->qhk", q, k)
        new = jnp.maximum(top, scores.max(-1))
        shrink, weight = jnp.exp(top - new), jnp.exp(scores - new[..., None])
        return (new, total * shrink + weight.sum(-1), out * shrink[..., None] + jnp.einsum("qhk,khd->qhd", weight, v)), None

    first = jnp.full(q.shape[:2], -jnp.inf), jnp.zeros(q.shape[:2]), jnp.zeros_like(q)
    blocks = k.reshape(4, -1, *k.shape[1:]), v.reshape(4, -1, *v.shape[1:])
    (_, total, out), _ = lax.scan(step, first, blocks)
    return out / total[..., None]


def relative_bias_args(d):
    width = d.of(32, 36)
    return d.normal(16, width // 4), {"qkv": d.weight(width, 3 * width), "out": d.weight(width, width)}, d.normal(d.of(8, 7), d.of(16, 15), width)


@case(relative_bias_args, ("x", 0), ("table", 1), ("params/qkv", 1))
def relative_bias(table, params, x):
    """Attention with the buckets of T5, and the gradient of their table."""
    at = jnp.arange(x.shape[1])
    distance = at[None] - at[:, None]
    size = jnp.abs(distance)
    far = 4 + (jnp.log(jnp.maximum(size, 1) / 4.0) / numpy.log(4.0) * 4).astype(jnp.int32)
    bucket = jnp.where(size < 4, size, jnp.minimum(far, 7)) + jnp.where(distance > 0, 8, 0)
    return jax.value_and_grad(lambda t: (attention(params, x, 4, t[bucket].transpose(2, 0, 1)) ** 2).mean())(table)


def lstm_weights(d):
    width = d.of(16, 18)
    return {"input": d.weight(width, 4 * width), "hidden": d.weight(width, 4 * width), "bias": numpy.zeros(4 * width, numpy.float32)}


@case(lambda d: (lstm_weights(d), d.normal(d.of(6, 5), d.of(8, 7), d.of(16, 18))), ("xs", 1), ("params/hidden", 1), ("params/input", 0), fast=True)
def lstm(params, xs):
    """The gradient through time."""

    def energy(p):
        def step(state, x):
            hidden, cell = state
            i, f, g, o = jnp.split(x @ p["input"] + hidden @ p["hidden"] + p["bias"], 4, axis=-1)
            cell = jax.nn.sigmoid(f + 1) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (hidden, cell), hidden

        zero = jnp.zeros((xs.shape[1], p["hidden"].shape[0]))
        return (lax.scan(step, (zero, zero), xs)[1] ** 2).mean()

    return jax.value_and_grad(energy)(params)


def state_space_args(d):
    width, state = d.of(8, 9), d.of(4, 5)
    return {
        "decay": -numpy.abs(d.normal(width, state)), "dt": d.weight(width, width), "b": d.weight(width, state), "c": d.weight(width, state),
    }, d.normal(d.of(8, 7), d.of(16, 15), width)


@case(state_space_args, ("x", 0), ("params/decay", 0), ("x", 2))
def state_space(params, x):
    """A selective state space (Mamba) by an associative scan; value and gradient."""

    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    def energy(params):
        dt = jax.nn.softplus(x @ params["dt"])
        decay = jnp.exp(dt[..., None] * params["decay"])
        drive = (dt * x)[..., None] * (x @ params["b"])[:, :, None]
        _, h = lax.associative_scan(combine, (decay, drive), axis=1)
        y = (h * (x @ params["c"])[:, :, None]).sum(-1)
        return (y**2).mean()

    return jax.value_and_grad(energy)(params)


# ---- Fourier transforms ----


@case(lambda d: (d.normal(d.of(8, 7), d.of(64, 90), 8), d.normal(2, 16, 8, 8, scale=0.2), d.weight(8, 8)), ("x", 0), ("x", 1), ("w", 1), fast=True)
def fourier_layer(x, w, skip):
    """A layer of a Fourier neural operator, and its gradient: weights of the lowest frequencies."""

    def layer(x, w):
        modes = jnp.fft.rfft(x, axis=1)
        low = jnp.einsum("bmc,mcd->bmd", modes[:, :16], w[0] + 1j * w[1])
        return jax.nn.gelu(jnp.fft.irfft(jnp.pad(low, ((0, 0), (0, modes.shape[1] - 16), (0, 0))), x.shape[1], axis=1) + x @ skip)

    return layer(x, w), *jax.grad(lambda x, w: (layer(x, w) ** 2).mean(), (0, 1))(x, w)


# ---- numbers of other types ----


def quantized_args(d):
    n, out = d.of(32, 36), d.of(64, 101)
    w = d.ints(255, n, out, dtype=numpy.uint8).view(numpy.int8)
    return jnp.asarray(d.normal(d.of(8, 7), n), jnp.bfloat16), w, jnp.asarray(numpy.abs(d.normal(out)) / 100, jnp.bfloat16)


@case(quantized_args, ("x", 1), ("w", 1), ("x", 0), fast=True)
def quantized_weights(x, w, scale):
    return (x @ w.astype(jnp.bfloat16)) * scale


@case(lambda d: (d.normal(d.of(8, 7), d.of(32, 37)), d.normal(d.of(32, 37), d.of(64, 101))), ("x", 1), ("w", 1), ("x", 0))
def quantized_matmul(x, w):
    """Both sides as int8 with a scale for each row and column; sums in int32."""

    def quantize(a, axis):
        scale = jnp.abs(a).max(axis, keepdims=True) / 127
        return jnp.round(a / scale).astype(jnp.int8), scale

    (a, s), (b, t) = quantize(x, 1), quantize(w, 0)
    return jnp.dot(a, b, preferred_element_type=jnp.int32), s * t


# ---- random numbers ----


@case(lambda d: (jax.random.key(3), d.normal(d.of(16, 15), d.of(32, 33)), d.weight(d.of(32, 33), d.of(32, 35))), ("x", 0), ("w", 1), ("x", 1), fast=True)
def dropout_and_init(key, x, w):
    """Dropout in a gradient, and initial weights: the same numbers on any mesh."""
    first, second, third = jax.random.split(key, 3)
    value, grad = jax.value_and_grad(lambda w: ((jnp.where(jax.random.bernoulli(first, 0.9, x.shape), x / 0.9, 0) @ w) ** 2).mean())(w)
    n, half = w.shape[0], w.shape[1] // 2
    fresh = {"w": jax.nn.initializers.glorot_normal()(second, (n, half)), "b": jax.random.truncated_normal(third, -2, 2, (half,))}
    return value, w - 0.1 * grad, fresh


@case(lambda d: (jax.random.key(5), d.normal(d.of(8, 7), d.of(64, 101), scale=2.0)), ("logits", 1), ("logits", 0))
def top_p_sampling(key, logits):
    order = jnp.argsort(-logits, axis=-1)
    ranked = jnp.take_along_axis(logits, order, axis=-1)
    kept = jnp.cumsum(jax.nn.softmax(ranked), axis=-1) - jax.nn.softmax(ranked) < 0.9
    pick = jax.random.categorical(key, jnp.where(kept, ranked, -jnp.inf))
    return jnp.take_along_axis(order, pick[:, None], axis=-1)[:, 0]


@case(lambda d: (d.normal(d.of(8, 7), d.of(64, 101)),), ("logits", 1), ("logits", 0), fast=True)
def top_k(logits):
    values, indices = lax.top_k(logits, 5)
    return jax.nn.softmax(values), indices


# ---- control flow ----


@case(lambda d: (d.normal(d.of(16, 15), d.of(32, 33)), d.weight(d.of(32, 33), d.of(32, 33)), numpy.int32(1)), ("x", 0), ("w", 1), ("x", 1))
def branches(x, w, i):
    y = lax.cond(x.sum() > 1e6, lambda x: x @ w, lambda x: (x @ w) * 2, x)
    z = lax.switch(i, [lambda y: y, lambda y: jnp.tanh(y @ w), lambda y: y - 1], y)
    return lax.fori_loop(0, 3, lambda k, a: a * 0.5 + k, z), z.sum(0)


@case(lambda d: (d.normal(d.of(16, 15), d.of(16, 17)), d.normal(d.of(16, 15))), ("a", 0), ("a", 1))
def conjugate_gradient(a, b):
    """Solves (a a^T + 16) x = b, with as many steps as it takes."""
    matrix = a @ a.T + 16 * jnp.eye(a.shape[0])

    def step(state):
        x, r, p, rr, n = state
        q = matrix @ p
        alpha = rr / (p @ q)
        x, r = x + alpha * p, r - alpha * q
        new = r @ r
        return x, r, r + new / rr * p, new, n + 1

    x, *_ = lax.while_loop(lambda s: (s[3] > 1e-6) & (s[4] < 50), step, (jnp.zeros_like(b), b, b, b @ b, 0))
    return x


# ---- lookups ----


def embedding_args(d):
    words, batch, length, width = d.of(64, 101), d.of(8, 7), d.of(12, 11), d.of(32, 36)
    return d.normal(words, width), d.ints(words, batch, length), d.normal(batch, length, width)


@case(embedding_args, ("table", 0), ("ids", 0), ("table", 1), fast=True)
def embedding_gradient(table, ids, target):
    return table - 0.1 * jax.grad(lambda t: ((jnp.take(t, ids, axis=0) - target) ** 2).sum())(table)


@case(lambda d: (d.normal(d.of(16, 13), d.of(8, 9)), d.ints(d.of(16, 13), 2, d.of(48, 47)), d.weight(d.of(8, 9), d.of(16, 17))), ("nodes", 1), ("w", 1), ("edges", 1))
def graph_network(nodes, edges, w):
    """Messages along edges, added up at their ends."""
    messages, n = jax.nn.relu(nodes[edges[0]] @ w), nodes.shape[0]
    mean = jax.ops.segment_sum(messages, edges[1], n) / jnp.maximum(jnp.bincount(edges[1], length=n), 1)[:, None]
    return mean, jax.ops.segment_max(messages, edges[1], n)


# ---- transformations of JAX ----


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.01, 0.01),))


def derivatives_args(d):
    n, hidden, out = d.of(16, 17), d.of(32, 33), d.of(8, 9)
    return d.weight(n, hidden), d.weight(hidden, out), d.normal(d.of(8, 7), n)


@case(derivatives_args, ("w1", 1), ("x", 0), ("w2", 0))
def derivatives(w1, w2, x):
    """Gradients of single examples, a product with the Hessian, a custom gradient."""
    f = lambda w, row: (clipped(jnp.tanh(row @ w[0]) @ w[1]) ** 2).sum()
    single = jax.vmap(jax.grad(f), (None, 0))((w1, w2), x)
    mean = lambda w: jax.vmap(f, (None, 0))(w, x).mean()
    smooth = lambda w: (jnp.tanh(x @ w) ** 2).mean()
    return jax.tree.map(lambda g: g.std(0), single), jax.grad(mean)((w1, w2)), jax.jvp(jax.grad(smooth), (w1,), (jnp.ones_like(w1),))[1]


def contrastive_args(d):
    width, batch, image, text = d.of(16, 17), d.of(16, 15), d.of(32, 33), d.of(48, 47)
    return d.weight(image, width), d.weight(text, width), d.normal(batch, image), d.normal(batch, text)


@case(contrastive_args, ("images", 0), ("wt", 1), ("wi", 0))
def contrastive(wi, wt, images, texts):
    """Two towers, whose pairs are told apart within the batch."""

    def objective(w):
        a, b = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in (images @ w[0], texts @ w[1]))
        scores = a @ b.T * 10
        same = jnp.arange(scores.shape[0])
        cross = optax.softmax_cross_entropy_with_integer_labels
        return (cross(scores, same) + cross(scores.T, same)).mean() / 2

    return jax.value_and_grad(objective)((wi, wt))
