"""JAX models with the annotations a practitioner gives, for measure_jax.py.

MODELS maps a name to (function, arguments). An argument is (shape, axes) or (shape, axes, dtype);
`axes` has an entry per dimension: "dp" (batch), "tp" (model) or None. A function with several
results returns new parameters behind the first one, for as many of its last arguments."""

import jax
import jax.numpy as jnp

F32, I32 = "float32", "int32"


def rms_norm(x, g):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * g


def layer_norm(x, g, b):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    var = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b


def cross_entropy(logits, labels):
    picked = jnp.sum(jax.nn.one_hot(labels, logits.shape[-1]) * logits, axis=-1)
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


def train(loss, n_data):
    """A step of SGD: (data..., parameters...) -> (loss, new parameters...)."""

    def step(*arguments):
        data, parameters = arguments[:n_data], arguments[n_data:]
        value, grads = jax.value_and_grad(lambda *p: loss(*data, *p), argnums=tuple(range(len(parameters))))(*parameters)
        return (value, *(p - 0.01 * g for p, g in zip(parameters, grads)))

    return step


# ---- embedding tables beside a small MLP ("wide and deep") ----

TABLES = [(512, 16), (96, 8), (2048, 32), (24, 8)]
BATCH, DENSE, HIDDEN = 64, 16, (64, 32)


def wide_and_deep(lookup):
    def logits(ids, dense, *parameters):
        n = len(TABLES)
        tables, wide_tables, (wide, w1, b1, w2, b2, w3) = parameters[:n], parameters[n : 2 * n], parameters[2 * n :]
        deep = jnp.concatenate([lookup(t, ids[:, i]) for i, t in enumerate(tables)] + [dense], axis=1)
        deep = jax.nn.relu(deep @ w1 + b1)
        deep = jax.nn.relu(deep @ w2 + b2)
        linear = dense @ wide + sum(lookup(t, ids[:, i]) for i, t in enumerate(wide_tables))
        return (deep @ w3 + linear)[:, 0]

    return logits


def take(table, ids):
    return jnp.take(table, ids, axis=0)


def one_hot(table, ids):
    """A lookup as a matmul, whose gradient is one, too."""
    return jax.nn.one_hot(ids, table.shape[0]) @ table


def click_loss(lookup):
    def loss(ids, dense, clicked, *parameters):
        y = wide_and_deep(lookup)(ids, dense, *parameters)
        return jnp.mean(jax.nn.softplus(y) - clicked * y)

    return loss


def wide_and_deep_arguments(split, dense_layers, labels):
    """split: "rows" or "columns" of the tables over tp; dense_layers: the MLP over tp, too."""
    rows, columns = ("tp", None) if split == "rows" else (None, "tp")
    width = sum(d for _, d in TABLES) + DENSE
    tp = "tp" if dense_layers else None
    return [((BATCH, len(TABLES)), ("dp", None), I32), ((BATCH, DENSE), ("dp", None)), *([((BATCH,), ("dp",))] if labels else []),
            *[(t, (rows, columns)) for t in TABLES], *[((n, 1), ("tp" if split == "rows" else None, None)) for n, _ in TABLES],
            ((DENSE, 1), (None, None)), ((width, HIDDEN[0]), (None, tp)), ((HIDDEN[0],), (tp,)), (HIDDEN, (tp, None)), ((HIDDEN[1],), (None,)),
            ((HIDDEN[1], 1), (None, None))]


# ---- a selective scan (Mamba) ----

MODEL, INNER, STATE, RANK, TAPS = 32, 64, 8, 4, 4
# A parallel scan of 31 steps never combines slices without elements, which jaxlib cannot convert to
# linalg.
STEPS = {"scan": 32, "assoc": 31}


def scan_sequential(decay, drive, c):
    """y[b, t, e] = sum over n of h[b, t, e, n] c[b, t, n], with h[t] = decay[t] h[t - 1] + drive[t]."""

    def step(h, now):
        a, u, c_now = now
        h = a * h + u
        return h, jnp.einsum("ben,bn->be", h, c_now)

    start = jnp.zeros_like(decay[:, 0])
    _, y = jax.lax.scan(step, start, tuple(jnp.moveaxis(t, 1, 0) for t in (decay, drive, c)))
    return jnp.moveaxis(y, 0, 1)


def scan_associative(decay, drive, c):
    def combine(x, y):
        return x[0] * y[0], x[1] * y[0] + y[1]

    _, h = jax.lax.associative_scan(combine, (decay, drive), axis=1)
    return jnp.einsum("bten,btn->bte", h, c)


def selective_scan(scan, fused):
    """A block of Mamba. fused: one projection for both halves, which jnp.split takes apart."""

    def block(x, g, *parameters):
        projections, (conv, conv_b, w_x, w_dt, b_dt, a_log, d, w_out) = parameters[: 1 if fused else 2], parameters[1 if fused else 2 :]
        h = rms_norm(x, g)
        u, z = jnp.split(h @ projections[0], 2, axis=-1) if fused else (h @ projections[0], h @ projections[1])
        padded = jnp.pad(u, ((0, 0), (TAPS - 1, 0), (0, 0)))
        u = jax.nn.silu(sum(padded[:, k : k + x.shape[1]] * conv[k] for k in range(TAPS)) + conv_b)
        low, b, c = jnp.split(u @ w_x, [RANK, RANK + STATE], axis=-1)
        dt = jax.nn.softplus(low @ w_dt + b_dt)
        decay = jnp.exp(dt[..., None] * -jnp.exp(a_log))
        y = scan(decay, (dt * u)[..., None] * b[:, :, None, :], c) + u * d
        return x + (y * jax.nn.silu(z)) @ w_out

    return block


def squared(block):
    return lambda x, t, *parameters: jnp.mean((block(x, *parameters) - t) ** 2)


def selective_scan_arguments(kind, fused, target=False):
    batch = ((8, STEPS[kind], MODEL), ("dp", None, None))
    projections = [((MODEL, 2 * INNER), (None, "tp"))] if fused else [((MODEL, INNER), (None, "tp"))] * 2
    return [batch, *([batch] if target else []), ((MODEL,), (None,)), *projections, ((TAPS, INNER), (None, "tp")), ((INNER,), ("tp",)),
            ((INNER, RANK + 2 * STATE), ("tp", None)), ((RANK, INNER), (None, "tp")), ((INNER,), ("tp",)), ((INNER, STATE), ("tp", None)),
            ((INNER,), ("tp",)), ((INNER, MODEL), ("tp", None))]


# ---- ten others ----


def moe(x, w_router, w_up, w_down):
    """Top-2 of 8 experts, dispatched by one-hot matmuls with a capacity."""
    tokens, experts, capacity = x.shape[0], w_router.shape[1], x.shape[0] // 2
    gates = jax.nn.softmax(x @ w_router)
    best = jnp.argmax(gates, axis=-1)
    first = jax.nn.one_hot(best, experts)
    second = jax.nn.one_hot(jnp.argmax(gates * (1 - first), axis=-1), experts)
    chosen = first + second
    place = (jnp.cumsum(chosen, axis=0) - 1) * chosen
    dispatch = chosen[..., None] * jax.nn.one_hot(place.astype(jnp.int32), capacity)
    slots = jnp.einsum("tec,td->ecd", dispatch, x)
    slots = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(jnp.einsum("ecd,edf->ecf", slots, w_up)), w_down)
    return jnp.einsum("tec,ecd->td", dispatch * gates[..., None], slots).reshape(tokens, -1)


def lstm(x, wx, wh, b, w_out):
    def step(carry, x_t):
        h, c = carry
        i, f, g, o = (x_t @ wx[k] + h @ wh[k] + b[k] for k in range(4))
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[0], wh.shape[1]))
    _, hs = jax.lax.scan(step, (zero, zero), jnp.moveaxis(x, 1, 0))
    return jnp.einsum("tbh,ho->bto", hs, w_out)


def batch_norm(x, g, b):
    mean = jnp.mean(x, axis=(0, 1, 2))
    var = jnp.mean((x - mean) ** 2, axis=(0, 1, 2))
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_net(x, w1, g1, b1, w2, g2, b2, w3):
    x = jax.nn.relu(batch_norm(conv(x, w1), g1, b1))
    x = jax.nn.relu(batch_norm(conv(x, w2, 2), g2, b2))
    return jnp.mean(x, axis=(1, 2)) @ w3


def attend(q, k, v, bias=None):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def causal(n):
    return jnp.where(jnp.tril(jnp.ones((n, n), bool)), 0.0, -1e9)


def self_attention(x, wq, wk, wv, wo, bias=None):
    q, k, v = (jnp.einsum("bsd,dhk->bshk", x, w) for w in (wq, wk, wv))
    return jnp.einsum("bshk,hkd->bsd", attend(q, k, v, bias), wo)


def vit(images, w_patch, position, g1, b1, wq, wk, wv, wo, g2, b2, w1, w2, w_head):
    n, side = images.shape[0], 4
    grid = images.shape[1] // side
    patches = images.reshape(n, grid, side, grid, side, 3).transpose(0, 1, 3, 2, 4, 5).reshape(n, grid * grid, side * side * 3)
    x = patches @ w_patch + position
    x = x + self_attention(layer_norm(x, g1, b1), wq, wk, wv, wo)
    x = x + jax.nn.gelu(layer_norm(x, g2, b2) @ w1) @ w2
    return jnp.mean(x, axis=1) @ w_head


def gpt_tied(ids, labels, table, position, g1, b1, wq, wk, wv, wo, g2, b2, w1, w2, g3, b3):
    x = one_hot(table, ids) + position
    x = x + self_attention(layer_norm(x, g1, b1), wq, wk, wv, wo, causal(ids.shape[1]))
    x = x + jax.nn.gelu(layer_norm(x, g2, b2) @ w1) @ w2
    return cross_entropy(layer_norm(x, g3, b3) @ table.T, labels)


def cross_attention(x, memory, g, b, wq, wk, wv, wo):
    h = layer_norm(x, g, b)
    q = jnp.einsum("bsd,dhk->bshk", h, wq)
    k, v = (jnp.einsum("bsd,dhk->bshk", memory, w) for w in (wk, wv))
    return x + jnp.einsum("bshk,hkd->bsd", attend(q, k, v), wo)


def t5(x, buckets, g, wq, wk, wv, wo, g2, w1, w2):
    """Attention with a learned bias by bucketed distance, one per head."""
    n, half = x.shape[1], buckets.shape[0] // 2
    distance = jnp.arange(n)[None, :] - jnp.arange(n)[:, None]
    bucket = jnp.minimum(jnp.abs(distance), half - 1) + half * (distance > 0)
    bias = jnp.einsum("qkn,nh->hqk", jax.nn.one_hot(bucket, 2 * half), buckets)
    x = x + self_attention(rms_norm(x, g), wq, wk, wv, wo, bias[None])
    return x + jax.nn.relu(rms_norm(x, g2) @ w1) @ w2


def graph_net(nodes, senders, receivers, w_message, w_self, w_out):
    """Sums messages by segment, as one-hot matmuls."""
    n = nodes.shape[0]
    message = jax.nn.relu(one_hot(nodes, senders) @ w_message)
    total = jax.nn.one_hot(receivers, n).T @ message
    return jax.nn.relu(nodes @ w_self + total) @ w_out


def mixture_of_softmaxes(x, labels, w_prior, w_latent, table):
    """Yang et al. 2018: a weighted sum of several softmaxes over the vocabulary."""
    prior = jax.nn.softmax(x @ w_prior)
    latent = jnp.tanh(jnp.einsum("td,dke->tke", x, w_latent))
    p = jnp.einsum("tk,tkv->tv", prior, jax.nn.softmax(jnp.einsum("tke,ve->tkv", latent, table), axis=-1))
    return -jnp.mean(jnp.log(jnp.sum(jax.nn.one_hot(labels, p.shape[-1]) * p, axis=-1)))


def lora_loss(x, t, w1, w2, *adapters):
    def layer(h, w, a, b):
        return h @ w + (h @ a) @ b

    h = jax.nn.gelu(layer(x, w1, *adapters[:2]))
    return jnp.mean((layer(h, w2, *adapters[2:]) - t) ** 2)


def lora_train(x, t, w1, w2, *adapters):
    """Only the adapters are trained."""
    value, grads = jax.value_and_grad(lambda *p: lora_loss(x, t, w1, w2, *p), argnums=tuple(range(len(adapters))))(*adapters)
    return (value, *(p - 0.01 * g for p, g in zip(adapters, grads)))


def _heads(d, h):
    return [((d, h, d // h), (None, "tp", None))] * 3 + [((h, d // h, d), ("tp", None, None))]


def _plain(*shapes):
    return [(shape, (None,) * len(shape)) for shape in shapes]


def _mlp(d, f):
    return [((d, f), (None, "tp")), ((f, d), ("tp", None))]


def _activations(b, s, d):
    return ((b, s, d), ("dp", None, None))


_MOE = [((64, 32), ("dp", None)), *_plain((32, 8)), ((8, 32, 64), ("tp", None, None)), ((8, 64, 32), ("tp", None, None))]
_LSTM = [_activations(8, 16, 32), ((4, 32, 64), (None, None, "tp")), ((4, 64, 64), (None, None, "tp")), ((4, 64), (None, "tp")), ((64, 32), ("tp", None))]
_CONV = [((8, 16, 16, 8), ("dp", None, None, None)), ((3, 3, 8, 16), (None, None, None, "tp")), ((16,), ("tp",)), ((16,), ("tp",)),
         ((3, 3, 16, 32), (None, None, "tp", None)), *_plain((32,), (32,), (32, 10))]
_VIT = [((8, 16, 16, 3), ("dp", None, None, None)), *_plain((48, 64), (16, 64), (64,), (64,)), *_heads(64, 8), *_plain((64,), (64,)), *_mlp(64, 256),
        *_plain((64, 10))]
_GPT = [((8, 32), ("dp", None), I32)] * 2 + [((256, 64), ("tp", None)), *_plain((32, 64), (64,), (64,)), *_heads(64, 8), *_plain((64,), (64,)),
                                            *_mlp(64, 256), *_plain((64,), (64,))]
_CROSS = [_activations(8, 32, 64), _activations(8, 48, 64), *_plain((64,), (64,)), *_heads(64, 8)]
_T5 = [_activations(8, 32, 64), ((16, 8), (None, "tp")), *_plain((64,)), *_heads(64, 8), *_plain((64,)), *_mlp(64, 256)]
_GRAPH = [((64, 32), (None, None)), ((256,), ("dp",), I32), ((256,), ("dp",), I32), ((32, 64), (None, "tp")), ((32, 64), (None, "tp")), ((64, 16), ("tp", None))]
_MOS = [((64, 32), ("dp", None)), ((64,), ("dp",), I32), *_plain((32, 4), (32, 4, 32)), ((256, 32), ("tp", None))]
_LORA = [((64, 64), ("dp", None)), ((64, 64), ("dp", None)), *_mlp(64, 256), *_plain((64, 4)), ((4, 256), (None, "tp")), ((256, 4), ("tp", None)),
         *_plain((4, 64))]


def _with_target(arguments):
    return [arguments[0], arguments[0], *arguments[1:]]


def _with_labels(arguments, n, width):
    return [arguments[0], ((n, width), ("dp", None)), *arguments[1:]]


# ---- diffusion of heat on a grid whose border stays: the mean square, and the new grid ----


def heat(grid):
    def step(_, u):
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].set(inner + 0.1 * (around - 4 * inner))

    after = jax.lax.fori_loop(0, 8, step, grid)
    return jnp.mean(after * after), after


MODELS = {
    "heat_rows": (heat, [((256, 256), ("dp", None))]),
    "heat_blocks": (heat, [((256, 256), ("dp", "tp"))]),
    **{f"wide_deep_{split}{'_mlp' if mlp else ''}": (wide_and_deep(take), wide_and_deep_arguments(split, mlp, False))
       for split in ("rows", "columns") for mlp in (False, True)},
    **{f"wide_deep_{split}{'_mlp' if mlp else ''}_train": (train(click_loss(one_hot), 3), wide_and_deep_arguments(split, mlp, True))
       for split in ("rows", "columns") for mlp in (False, True)},
    **{f"mamba_{kind}{'_fused' if fused else ''}": (selective_scan(scan, fused), selective_scan_arguments(kind, fused))
       for kind, scan in (("scan", scan_sequential), ("assoc", scan_associative)) for fused in (False, True)},
    **{f"mamba_{kind}{'_fused' if fused else ''}_train": (train(squared(selective_scan(scan, fused)), 2), selective_scan_arguments(kind, fused, True))
       for kind, scan in (("scan", scan_sequential), ("assoc", scan_associative)) for fused in (False, True)},
    "moe": (moe, _MOE),
    "moe_train": (train(squared(moe), 2), _with_target(_MOE)),
    "lstm": (lstm, _LSTM),
    "lstm_train": (train(squared(lstm), 2), _with_target(_LSTM)),
    "conv_bn": (conv_net, _CONV),
    "conv_bn_train": (train(squared(conv_net), 2), _with_labels(_CONV, 8, 10)),
    "vit": (vit, _VIT),
    "vit_train": (train(squared(vit), 2), _with_labels(_VIT, 8, 10)),
    "gpt_tied": (gpt_tied, _GPT),
    "gpt_tied_train": (train(gpt_tied, 2), _GPT),
    "cross_attention": (cross_attention, _CROSS),
    "cross_attention_train": (train(squared(cross_attention), 3), _with_target(_CROSS)),
    "t5": (t5, _T5),
    "t5_train": (train(squared(t5), 2), _with_target(_T5)),
    "graph_net": (graph_net, _GRAPH),
    "graph_net_train": (train(lambda n, s, r, t, *p: jnp.mean((graph_net(n, s, r, *p) - t) ** 2), 4),
                        [*_GRAPH[:3], ((64, 16), (None, None)), *_GRAPH[3:]]),
    "mixture_of_softmaxes": (mixture_of_softmaxes, _MOS),
    "mixture_of_softmaxes_train": (train(mixture_of_softmaxes, 2), _MOS),
    "lora": (lora_loss, _LORA),
    "lora_train": (lora_train, _LORA),
}
