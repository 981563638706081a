"""Functions that the tests plan."""
import jax
import jax.numpy as jnp
import numpy

RNG = numpy.random.default_rng(0)


def normal(*shape, scale=1.0):
    return (scale * RNG.standard_normal(shape)).astype(numpy.float32)


def shapes(tree):
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), tree)


# ---- a training step with parameters in a pytree ----


def mlp(params, x):
    for layer in params["layers"]:
        x = jax.nn.gelu(x @ layer["w1"]) @ layer["w2"] + layer["b"]
    return x


def train_step(params, x, y):
    def loss(p):
        return ((mlp(p, x) - y) ** 2).mean()

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def mlp_params(width=32, hidden=64, layers=2):
    def layer():
        return {"w1": normal(width, hidden, scale=0.2), "w2": normal(hidden, width, scale=0.2), "b": normal(width)}

    return {"layers": [layer() for _ in range(layers)]}


# ---- a block of Llama ----


def rms_norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain


def rotate(x):
    length, half = x.shape[1], x.shape[-1] // 2
    angle = jnp.arange(length)[:, None] / 10000 ** (jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def llama_block(params, x, heads=4):
    batch, length, width = x.shape
    h = rms_norm(x, params["norm1"])
    q, k, v = ((h @ params[n]).reshape(batch, length, heads, width // heads) for n in ("wq", "wk", "wv"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", rotate(q), rotate(k)) / (width // heads) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    x = x + mixed.reshape(batch, length, width) @ params["wo"]
    h = rms_norm(x, params["norm2"])
    return x + (jax.nn.silu(h @ params["gate"]) * (h @ params["up"])) @ params["down"]


def llama_params(width=32, hidden=96):
    square = {n: normal(width, width, scale=0.2) for n in ("wq", "wk", "wv", "wo")}
    wide = {n: normal(width, hidden, scale=0.2) for n in ("gate", "up")}
    return {**square, **wide, "down": normal(hidden, width, scale=0.2), "norm1": normal(width), "norm2": normal(width)}


# ---- a scan over layers ----


def scanned(params, x):
    def layer(x, p):
        return jnp.tanh(x @ p["w"]) + p["b"], x.sum()

    return jax.lax.scan(layer, x, params)


# ---- what is refused ----


def spectrum(x):
    return jnp.abs(jnp.fft.fft(x))  # the line that the test looks for


def filtered(x):
    return spectrum(x * 2) + 1
