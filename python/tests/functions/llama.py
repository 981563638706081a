"""Llama as a pytree of weights: forward, decoding with a cache, training with optimizers."""
import functools

import jax
import jax.numpy as jnp
import numpy
import optax

from .case import case

HEAD_SIZE, LAYERS = 4, 2


def rms_norm(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain


def rotate(x, positions):
    """Rotary embedding of x[batch, length, heads, size]."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-jnp.arange(half) / half)
    angle = positions[..., None, None] * frequency
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def wide(x):
    """The type in which sums of narrow numbers are computed."""
    return jnp.promote_types(x.dtype, jnp.float32)


def attend(q, k, v, mask):
    group = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, group, axis=2), jnp.repeat(v, group, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=wide(q)) / q.shape[-1] ** 0.5
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1).astype(v.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def heads_of(x, w):
    return (x @ w).reshape(*x.shape[:-1], -1, HEAD_SIZE)


def feed_forward(p, x):
    return (jax.nn.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]


def block(p, x):
    length = x.shape[1]
    positions = jnp.arange(length)[None]
    h = rms_norm(x, p["norm1"])
    q, k = rotate(heads_of(h, p["wq"]), positions), rotate(heads_of(h, p["wk"]), positions)
    v = heads_of(h, p["wv"])
    x = x + attend(q, k, v, jnp.tril(jnp.ones((length, length), bool))).reshape(x.shape) @ p["wo"]
    return x + feed_forward(p, rms_norm(x, p["norm2"]))


def logits(params, tokens):
    x = params["embed"][tokens]
    for p in params["layers"]:
        x = block(p, x)
    return rms_norm(x, params["norm"]) @ params["head"]


def loss(params, tokens, labels):
    out = logits(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(out.astype(wide(out)), labels).mean()


# ---- arguments ----


def vocabulary(d):
    return d.of(64, 101)


def width(d):
    return d.of(32, 36)


def layer_weights(d, kv=None):
    n, hidden = width(d), d.of(64, 66)
    kv = kv or n
    return {
        "wq": d.weight(n, n), "wk": d.weight(n, kv), "wv": d.weight(n, kv), "wo": d.weight(n, n),
        "gate": d.weight(n, hidden), "up": d.weight(n, hidden), "down": d.weight(hidden, n),
        "norm1": numpy.ones(n, numpy.float32), "norm2": numpy.ones(n, numpy.float32),
    }


def weights(d, layers=LAYERS, **sizes):
    return {
        "embed": d.normal(vocabulary(d), width(d)), "head": d.weight(width(d), vocabulary(d)), "norm": numpy.ones(width(d), numpy.float32),
        "layers": [layer_weights(d, **sizes) for _ in range(layers)],
    }


def batch(d):
    return d.of(8, 7)


def length(d):
    return d.of(16, 15)


def tokens(d):
    return d.ints(vocabulary(d), batch(d), length(d))


def narrow(tree):
    return jax.tree.map(lambda a: jnp.asarray(a, jnp.bfloat16), tree)


MEGATRON = ("params/layers/*/wq", 1), ("tokens", 0), ("params/layers/*/gate", 1)

case(lambda d: (weights(d), tokens(d)), *MEGATRON, name="llama_forward", fast=True)(logits)
case(lambda d: (narrow(weights(d)), tokens(d)), ("params/layers/*/down", 0), ("tokens", 0), ("params/layers/*/wo", 0), name="llama_forward_bf16")(logits)
case(lambda d: (weights(d, kv=d.of(16, 12)), tokens(d)), ("params/layers/*/wk", 1), ("tokens", 0), ("params/head", 1), name="llama_grouped_queries")(logits)


# ---- decoding ----


def decode_layer(p, cache, x, position):
    """One token of each sequence: x[batch, width], cache of k and v [batch, length, heads, size]."""
    h = rms_norm(x, p["norm1"])[:, None]
    q, k, v = (heads_of(h, p[n]) for n in ("wq", "wk", "wv"))
    at = jnp.full((1, 1), position)
    k = jax.lax.dynamic_update_slice(cache["k"], rotate(k, at), (0, position, 0, 0))
    v = jax.lax.dynamic_update_slice(cache["v"], v, (0, position, 0, 0))
    mask = jnp.arange(k.shape[1]) <= position
    x = x + attend(rotate(q, at), k, v, mask).reshape(x.shape) @ p["wo"]
    return x + feed_forward(p, rms_norm(x, p["norm2"])), {"k": k, "v": v}


def filled_cache(d):
    return [{n: d.normal(batch(d), length(d), width(d) // HEAD_SIZE, HEAD_SIZE) for n in "kv"} for _ in range(LAYERS)]


@case(
    lambda d: (weights(d), filled_cache(d), d.ints(vocabulary(d), batch(d)), numpy.int32(5)), ("cache/*/k", 2), ("token", 0), ("params/head", 1),
    donate=(1,), fast=True,
)
def llama_decode(params, cache, token, position):
    x, new = params["embed"][token], []
    for p, c in zip(params["layers"], cache):
        x, c = decode_layer(p, c, x, position)
        new.append(c)
    out = rms_norm(x, params["norm"]) @ params["head"]
    return jnp.argmax(out, -1).astype(jnp.int32), out, new


@case(lambda d: (weights(d), d.ints(vocabulary(d), batch(d), 4)), ("params/layers/*/wq", 1), ("params/layers/*/up", 1), ("prompt", 0))
def generate(params, prompt):
    """Greedy decoding in a while loop that ends early when all sequences have ended."""
    batch, length = prompt.shape[0], 10
    cache = [{n: jnp.zeros((batch, length, p["wk"].shape[1] // HEAD_SIZE, HEAD_SIZE)) for n in "kv"} for p in params["layers"]]
    text = jnp.zeros((batch, length), jnp.int32).at[:, : prompt.shape[1]].set(prompt)

    def more(state):
        i, _, _, ended = state
        return (i < length - 1) & ~ended.all()

    def step(state):
        i, text, cache, ended = state
        _, out, cache = llama_decode(params, cache, text[:, i], i)
        new = jnp.where(i + 1 < prompt.shape[1], text[:, i + 1], jnp.argmax(out, -1).astype(jnp.int32))
        return i + 1, text.at[:, i + 1].set(new), cache, ended | (new == 0)

    return jax.lax.while_loop(more, step, (0, text, cache, jnp.zeros(batch, bool)))[1]


# ---- training ----


def train(optimizer):
    def train_step(params, state, tokens, labels):
        value, grads = jax.value_and_grad(loss)(params, tokens, labels)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return train_step


def train_args(optimizer, d, **sizes):
    params = weights(d, **sizes)
    return params, jax.tree.map(numpy.asarray, optimizer.init(params)), tokens(d), tokens(d)


OPTIMIZERS = {
    "adamw": lambda: optax.adamw(1e-3),
    "adafactor": lambda: optax.adafactor(1e-3, min_dim_size_to_factor=16),
    "clip_schedule_adamw": lambda: optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100), weight_decay=0.1)
    ),
    "momentum": lambda: optax.sgd(0.1, momentum=0.9, nesterov=True),
    "lion": lambda: optax.lion(1e-3),
    "lamb": lambda: optax.lamb(1e-3),
    "rmsprop": lambda: optax.rmsprop(1e-3, centered=True),
    "accumulated": lambda: optax.MultiSteps(optax.adamw(1e-3), every_k_schedule=2).gradient_transformation(),
}

for key, make in OPTIMIZERS.items():
    case(
        functools.partial(train_args, make(), layers=1), ("params/layers/*/gate", 1), ("tokens", 0), ("params/layers/*/wq", 1),
        name="llama_" + key, donate=(0, 1), fast=key == "adamw",
    )(train(make()))


# ---- layers in a scan ----


def stacked(layers):
    return jax.tree.map(lambda *a: numpy.stack(a), *layers)


@case(
    lambda d: (stacked([layer_weights(d) for _ in range(3)]), d.normal(batch(d), length(d), width(d))), ("layers/wq", 2), ("x", 0), ("layers/up", 2),
)
def scanned_layers(layers, x):
    """The gradient of a scan over layers that are computed again in the backward pass."""

    @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
    def layer(x, p):
        return block(p, x), None

    def energy(layers):
        return (jax.lax.scan(layer, x, layers)[0] ** 2).mean()

    return jax.value_and_grad(energy)(layers)


@case(lambda d: (weights(d, layers=1), *(d.ints(vocabulary(d), d.of(16, 20), length(d)) for _ in "ab")), ("params/layers/*/up", 1), ("params/head", 1), ("params/layers/*/wo", 0))
def accumulated_gradients(params, tokens, labels):
    """Gradients of four microbatches, added up in a scan."""

    def add(total, batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(jnp.add, total, grads), value

    batches = jax.tree.map(lambda a: a.reshape(4, -1, a.shape[1]), (tokens, labels))
    zeros = jax.tree.map(jnp.zeros_like, params)
    total, values = jax.lax.scan(add, zeros, batches)
    return jax.tree.map(lambda g: g / 4, total), values.mean()


@case(
    lambda d: (weights(d, layers=1), {n: (d.weight(width(d), d.of(8, 5)), d.weight(d.of(8, 5), width(d))) for n in ("wq", "wv")}, tokens(d), tokens(d)),
    ("params/layers/*/gate", 1), ("adapters/wq/1", 1), ("tokens", 0),
)
def low_rank_adapters(params, adapters, tokens, labels):
    def adapted(adapters):
        layers = [{**p, **{n: p[n] + a @ b for n, (a, b) in adapters.items()}} for p in params["layers"]]
        return loss({**params, "layers": layers}, tokens, labels)

    return jax.grad(adapted)(adapters)
