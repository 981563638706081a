"""JAX models of realistic width, with typical shardings, that bench/models measures.

MODELS maps a name to (function, [(shape, sharding)]). All arguments are f32. A sharding is a tuple
of axis names, one per dimension, or None. The only axis is "tp"."""

import jax
import jax.numpy as jnp


def rms_norm(x, g):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * g


def rope(x, base=10000.0):
    """x: [batch, seq, heads, size]."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * base ** (-jnp.arange(half) / half)[None, :]
    cos, sin = jnp.cos(angle)[None, :, None, :], jnp.sin(angle)[None, :, None, :]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def attention(q, k, v):
    """Causal, [batch, seq, heads, size] each."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    n = q.shape[1]
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def llama_block(x, g1, wq, wk, wv, wo, g2, w_gate, w_up, w_down):
    h = rms_norm(x, g1)
    q = rope(jnp.einsum("bsd,dhk->bshk", h, wq))
    k = rope(jnp.einsum("bsd,dhk->bshk", h, wk))
    v = jnp.einsum("bsd,dhk->bshk", h, wv)
    x = x + jnp.einsum("bshk,hkd->bsd", attention(q, k, v), wo)
    h = rms_norm(x, g2)
    return x + (jax.nn.silu(h @ w_gate) * (h @ w_up)) @ w_down


def mlp_train(x, t, w1, b1, w2, b2):
    def loss(w1, b1, w2, b2):
        y = jax.nn.gelu(x @ w1 + b1) @ w2 + b2
        return jnp.mean((y - t) ** 2)

    value, grads = jax.value_and_grad(loss, argnums=(0, 1, 2, 3))(w1, b1, w2, b2)
    return (value, *(w - 0.01 * g for w, g in zip((w1, b1, w2, b2), grads)))


def layernorm_mlp(x, g, b, w1, b1, w2, b2):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    var = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    h = (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b
    return x + jax.nn.gelu(h @ w1 + b1) @ w2 + b2


def softmax_ce(x, w, target):
    """Vocabulary-parallel loss; target: one-hot rows [tokens, vocab]."""
    logits = x @ w
    return -jnp.mean(jnp.sum(target * jax.nn.log_softmax(logits, axis=-1), axis=-1))


def attention_block(x, wq, wk, wv, wo):
    q, k, v = (jnp.einsum("bsd,dhk->bshk", x, w) for w in (wq, wk, wv))
    return jnp.einsum("bshk,hkd->bsd", attention(q, k, v), wo)


def attention_dropout(x, wq, wk, wv, wo):
    """Weights of attention are dropped at random, by a key that depends on x, so that no compiler computes it."""
    key = jnp.stack([jax.lax.bitcast_convert_type(x[0, 0, 0], jnp.uint32), jnp.uint32(7)])
    q, k, v = (jnp.einsum("bsd,dhk->bshk", x, w) for w in (wq, wk, wv))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    n = q.shape[1]
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e30), axis=-1)
    weights = jnp.where(jax.random.bernoulli(key, 0.9, weights.shape), weights / 0.9, 0)
    return jnp.einsum("bshk,hkd->bsd", jnp.einsum("bhqk,bkhd->bqhd", weights, v), wo)


def experts_sorted(x, router, up, down):
    """Two of the experts for each token; tokens are sorted by expert. x: [tokens, width]."""
    gate, expert = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
    order, sizes = jnp.argsort(expert.reshape(-1)), jnp.bincount(expert.reshape(-1), length=router.shape[1])
    h = jax.nn.gelu(jax.lax.ragged_dot(x[order // 2], up, sizes))
    back = jax.lax.ragged_dot(h, down, sizes)[jnp.argsort(order)]
    return (gate[..., None] * back.reshape(*gate.shape, -1)).sum(-2)


def experts_sorted_train(x, t, router, up, down):
    def loss(*w):
        return jnp.mean((experts_sorted(x, *w) - t) ** 2)

    value, grads = jax.value_and_grad(loss, argnums=(0, 1, 2))(router, up, down)
    return (value, *(w - 0.01 * g for w, g in zip((router, up, down), grads)))


def _experts(t, d, f, n):
    """Tokens, which are split, and the weights of n experts."""
    return [((t, d), ("tp", None))], [((d, n), None), ((n, d, f), ("tp", None, None)), ((n, f, d), ("tp", None, None))]


def _block(b, s, d, h, f):
    k = d // h
    heads = [((d, h, k), (None, "tp", None))] * 3
    return [((b, s, d), None), ((d,), None), *heads, ((h, k, d), ("tp", None, None)), ((d,), None),
            ((d, f), (None, "tp")), ((d, f), (None, "tp")), ((f, d), ("tp", None))]


def _mlp(t, d, f):
    return [((d, f), (None, "tp")), ((f,), ("tp",)), ((f, d), ("tp", None)), ((d,), None)]


MODELS = {
    "llama_block_1024": (llama_block, _block(1, 256, 1024, 16, 2816)),
    "llama_block_2048": (llama_block, _block(1, 256, 2048, 16, 5632)),
    "llama_block_decode": (llama_block, _block(8, 1, 2048, 16, 5632)),
    "attention_1024": (attention_block, [((2, 512, 1024), None), *[((1024, 16, 64), (None, "tp", None))] * 3, ((16, 64, 1024), ("tp", None, None))]),
    "attention_dropout_1024": (attention_dropout, [((2, 512, 1024), None), *[((1024, 16, 64), (None, "tp", None))] * 3, ((16, 64, 1024), ("tp", None, None))]),
    "mlp_train_1024": (mlp_train, [((256, 1024), None), ((256, 1024), None), *_mlp(256, 1024, 4096)]),
    "mlp_train_4096": (mlp_train, [((64, 4096), None), ((64, 4096), None), *_mlp(64, 4096, 4096)]),
    "layernorm_mlp_2048": (layernorm_mlp, [((256, 2048), None), ((2048,), None), ((2048,), None), *_mlp(256, 2048, 8192)]),
    "experts_sorted_8": (experts_sorted, sum(_experts(2048, 512, 1024, 8), [])),
    "experts_sorted_train_8": (experts_sorted_train, sum(_experts(2048, 512, 1024, 8), _experts(2048, 512, 1024, 8)[0])),
    "softmax_ce_1024": (softmax_ce, [((256, 1024), None), ((1024, 16384), (None, "tp")), ((256, 16384), (None, "tp"))]),
}
