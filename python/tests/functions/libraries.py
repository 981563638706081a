"""Modules of flax and haiku as they are, in training steps. A library that is not installed is left out."""
import importlib.util

import jax
import jax.numpy as jnp
import numpy
import optax

from .case import case


def has(name):
    return importlib.util.find_spec(name) is not None


def arrays(tree):
    return jax.tree.map(lambda a: a if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key) else numpy.asarray(a), tree)


cross_entropy = optax.softmax_cross_entropy_with_integer_labels

if has("flax"):
    from flax import linen, nnx

    class Encoder(linen.Module):
        @linen.compact
        def __call__(self, tokens, train):
            x = linen.Embed(32, 32)(tokens) + self.param("position", linen.initializers.normal(0.1), (12, 32))
            for _ in range(2):
                h = linen.MultiHeadDotProductAttention(num_heads=8, dropout_rate=0.1, deterministic=not train)(linen.LayerNorm()(x))
                x = x + linen.Dropout(0.1, deterministic=not train)(h)
                x = x + linen.Dense(32)(linen.gelu(linen.Dense(64)(linen.LayerNorm()(x))))
            return linen.Dense(16)(x.mean(1))

    MOMENTUM = optax.sgd(0.1, momentum=0.9)

    def encoder_args(d):
        tokens = d.ints(32, 8, 12)
        params = Encoder().init(jax.random.key(0), tokens, False)["params"]
        return arrays(params), arrays(MOMENTUM.init(params)), jax.random.key(1), tokens, d.ints(16, 8)

    @case(
        encoder_args, ("params/Dense_0/kernel", 1), ("tokens", 0), ("params/Multi*_0/query/kernel", 1), donate=(0, 1), zero=("*/key/bias",),
    )
    def flax_linen_transformer(params, state, key, tokens, labels):
        def objective(params):
            out = Encoder().apply({"params": params}, tokens, True, rngs={"dropout": key})
            return cross_entropy(out, labels).mean()

        value, grads = jax.value_and_grad(objective)(params)
        updates, state = MOMENTUM.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    class ConvNet(linen.Module):
        @linen.compact
        def __call__(self, x, train):
            for channels in (8, 16):
                x = linen.Conv(channels, (3, 3), use_bias=False)(x)
                x = linen.relu(linen.BatchNorm(use_running_average=not train)(x))
                x = linen.max_pool(x, (2, 2), (2, 2))
            return linen.Dense(16)(x.reshape(x.shape[0], -1))

    def conv_args(d):
        images = d.normal(8, 8, 8, 3)
        made = arrays(ConvNet().init(jax.random.key(0), images, True))
        return made["params"], made["batch_stats"], images, d.ints(16, 8)

    @case(conv_args, ("images", 0), ("params/Dense_0/kernel", 1), ("params/Conv_1/kernel", 3), donate=(0, 1))
    def flax_linen_convolutions(params, stats, images, labels):
        def objective(params):
            out, new = ConvNet().apply({"params": params, "batch_stats": stats}, images, True, mutable=["batch_stats"])
            return cross_entropy(out, labels).mean(), new["batch_stats"]

        (value, stats), grads = jax.value_and_grad(objective, has_aux=True)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), stats, value

    class Recurrent(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(8)(linen.RNN(linen.GRUCell(16))(x))

    def recurrent_args(d):
        x = d.normal(8, 6, 8)
        return arrays(Recurrent().init(jax.random.key(0), x)["params"]), x

    @case(recurrent_args, ("x", 0), ("params/GRUCell_0/hn/kernel", 1))
    def flax_linen_recurrent(params, x):
        return jax.value_and_grad(lambda p: (Recurrent().apply({"params": p}, x) ** 2).mean())(params)

    class Mixer(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(32, 32, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(num_heads=8, in_features=32, decode=False, rngs=rngs)
            self.norm = nnx.RMSNorm(32, rngs=rngs)
            self.up = nnx.Linear(32, 64, rngs=rngs)
            self.down = nnx.Linear(64, 32, rngs=rngs)

        def __call__(self, tokens):
            x = self.embed(tokens)
            x = x + self.attention(self.norm(x), mask=nnx.make_causal_mask(tokens))
            x = x + self.down(nnx.silu(self.up(self.norm(x))))
            return self.embed.attend(x)

    def mixer_args(d):
        _, state = nnx.split(Mixer(nnx.Rngs(0)))
        return arrays(nnx.to_pure_dict(state)), d.ints(32, 8, 12), d.ints(32, 8, 12)

    def mixer(state):
        model = nnx.eval_shape(lambda: Mixer(nnx.Rngs(0)))
        nnx.replace_by_pure_dict(shapes := nnx.state(model), state)
        nnx.update(model, shapes)
        return model

    @case(mixer_args, ("state/up/kernel", 1), ("tokens", 0), ("state/down/kernel", 1), donate=(0,), zero=("*/key/bias",))
    def flax_nnx_transformer(state, tokens, labels):
        def objective(model):
            return cross_entropy(model(tokens), labels).mean()

        model = mixer(state)
        value, grads = nnx.value_and_grad(objective)(model)
        new = jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model, nnx.Param), grads)
        return nnx.to_pure_dict(new), value


if has("haiku"):
    import haiku

    def haiku_network(x):
        h = haiku.MultiHeadAttention(8, 4, w_init=haiku.initializers.VarianceScaling(1.0), model_size=32)(x, x, x)
        x = haiku.LayerNorm(-1, True, True)(x + h)
        return haiku.nets.MLP([64, 32, 8], activation=jax.nn.gelu)(x).mean(1)

    NETWORK = haiku.without_apply_rng(haiku.transform(haiku_network))

    def haiku_args(d):
        x = d.normal(8, 12, 32)
        return arrays(NETWORK.init(jax.random.key(0), x)), x, d.ints(8, 8)

    @case(haiku_args, ("params/mlp/~/linear_0/w", 1), ("x", 0), ("params/multi*/query/w", 1), donate=(0,), zero=("*/key/b",), fast=True)
    def haiku_transformer(params, x, labels):
        value, grads = jax.value_and_grad(lambda p: cross_entropy(NETWORK.apply(p, x), labels).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    def haiku_recurrence(x):
        core = haiku.LSTM(16)
        out, _ = haiku.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
        return haiku.BatchApply(haiku.Linear(8))(out)

    RECURRENCE = haiku.without_apply_rng(haiku.transform(haiku_recurrence))

    def haiku_lstm_args(d):
        x = d.normal(6, 8, 16)
        return arrays(RECURRENCE.init(jax.random.key(0), x)), x

    @case(haiku_lstm_args, ("x", 1), ("params/lstm/linear/w", 1))
    def haiku_lstm(params, x):
        return jax.value_and_grad(lambda p: (RECURRENCE.apply(p, x) ** 2).mean())(params)
