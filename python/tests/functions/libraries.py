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
        words: int
        width: int
        classes: int

        @linen.compact
        def __call__(self, tokens, train):
            n = self.width
            x = linen.Embed(self.words, n)(tokens) + self.param("position", linen.initializers.normal(0.1), (tokens.shape[1], n))
            for _ in range(2):
                h = linen.MultiHeadDotProductAttention(num_heads=n // 4, dropout_rate=0.1, deterministic=not train)(linen.LayerNorm()(x))
                x = x + linen.Dropout(0.1, deterministic=not train)(h)
                x = x + linen.Dense(n)(linen.gelu(linen.Dense(2 * n)(linen.LayerNorm()(x))))
            return linen.Dense(self.classes)(x.mean(1))

    MOMENTUM = optax.sgd(0.1, momentum=0.9)

    def encoder_args(d):
        words, batch, classes = d.of(32, 45), d.of(8, 7), d.of(16, 11)
        tokens = d.ints(words, batch, d.of(12, 11))
        params = Encoder(words, d.of(32, 36), classes).init(jax.random.key(0), tokens, False)["params"]
        return arrays(params), arrays(MOMENTUM.init(params)), jax.random.key(1), tokens, d.ints(classes, batch)

    @case(
        encoder_args, ("params/Dense_0/kernel", 1), ("tokens", 0), ("params/Multi*_0/query/kernel", 1), donate=(0, 1), zero=("*/key/bias",),
    )
    def flax_linen_transformer(params, state, key, tokens, labels):
        def objective(params):
            model = Encoder(*params["Embed_0"]["embedding"].shape, params["Dense_4"]["bias"].shape[0])
            out = model.apply({"params": params}, tokens, True, rngs={"dropout": key})
            return cross_entropy(out, labels).mean()

        value, grads = jax.value_and_grad(objective)(params)
        updates, state = MOMENTUM.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    class ConvNet(linen.Module):
        channels: int
        classes: int

        @linen.compact
        def __call__(self, x, train):
            for channels in (self.channels, 2 * self.channels):
                x = linen.Conv(channels, (3, 3), use_bias=False)(x)
                x = linen.relu(linen.BatchNorm(use_running_average=not train)(x))
                x = linen.max_pool(x, (2, 2), (2, 2))
            return linen.Dense(self.classes)(x.reshape(x.shape[0], -1))

    def conv_args(d):
        batch, side, classes = d.of(8, 7), d.of(8, 9), d.of(16, 11)
        images = d.normal(batch, side, side, 3)
        made = arrays(ConvNet(d.of(8, 5), classes).init(jax.random.key(0), images, True))
        return made["params"], made["batch_stats"], images, d.ints(classes, batch)

    @case(conv_args, ("images", 0), ("params/Dense_0/kernel", 1), ("params/Conv_1/kernel", 3), donate=(0, 1))
    def flax_linen_convolutions(params, stats, images, labels):
        def objective(params):
            model = ConvNet(params["Conv_0"]["kernel"].shape[-1], params["Dense_0"]["bias"].shape[0])
            out, new = model.apply({"params": params, "batch_stats": stats}, images, True, mutable=["batch_stats"])
            return cross_entropy(out, labels).mean(), new["batch_stats"]

        (value, stats), grads = jax.value_and_grad(objective, has_aux=True)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), stats, value

    class Recurrent(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(x.shape[-1])(linen.RNN(linen.GRUCell(2 * x.shape[-1]))(x))

    def recurrent_args(d):
        x = d.normal(d.of(8, 7), d.of(6, 5), d.of(8, 9))
        return arrays(Recurrent().init(jax.random.key(0), x)["params"]), x

    @case(recurrent_args, ("x", 0), ("params/GRUCell_0/hn/kernel", 1))
    def flax_linen_recurrent(params, x):
        return jax.value_and_grad(lambda p: (Recurrent().apply({"params": p}, x) ** 2).mean())(params)

    class Mixer(nnx.Module):
        def __init__(self, words, n, rngs):
            self.embed = nnx.Embed(words, n, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(num_heads=n // 4, in_features=n, decode=False, rngs=rngs)
            self.norm = nnx.RMSNorm(n, rngs=rngs)
            self.up = nnx.Linear(n, 2 * n, rngs=rngs)
            self.down = nnx.Linear(2 * n, n, rngs=rngs)

        def __call__(self, tokens):
            x = self.embed(tokens)
            x = x + self.attention(self.norm(x), mask=nnx.make_causal_mask(tokens))
            x = x + self.down(nnx.silu(self.up(self.norm(x))))
            return self.embed.attend(x)

    def mixer_args(d):
        words, shape = d.of(32, 45), (d.of(8, 7), d.of(12, 11))
        _, state = nnx.split(Mixer(words, d.of(32, 36), nnx.Rngs(0)))
        return arrays(nnx.to_pure_dict(state)), d.ints(words, *shape), d.ints(words, *shape)

    def mixer(state):
        model = nnx.eval_shape(lambda: Mixer(*state["embed"]["embedding"].shape, nnx.Rngs(0)))
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
        n = x.shape[-1]
        h = haiku.MultiHeadAttention(n // 4, 4, w_init=haiku.initializers.VarianceScaling(1.0), model_size=n)(x, x, x)
        x = haiku.LayerNorm(-1, True, True)(x + h)
        return haiku.nets.MLP([2 * n, n, n // 4], activation=jax.nn.gelu)(x).mean(1)

    NETWORK = haiku.without_apply_rng(haiku.transform(haiku_network))

    def haiku_args(d):
        batch, width = d.of(8, 7), d.of(32, 36)
        x = d.normal(batch, d.of(12, 11), width)
        return arrays(NETWORK.init(jax.random.key(0), x)), x, d.ints(width // 4, batch)

    @case(haiku_args, ("params/mlp/~/linear_0/w", 1), ("x", 0), ("params/multi*/query/w", 1), donate=(0,), zero=("*/key/b",), fast=True)
    def haiku_transformer(params, x, labels):
        value, grads = jax.value_and_grad(lambda p: cross_entropy(NETWORK.apply(p, x), labels).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    def haiku_recurrence(x):
        core = haiku.LSTM(x.shape[-1])
        out, _ = haiku.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
        return haiku.BatchApply(haiku.Linear(x.shape[-1] // 2))(out)

    RECURRENCE = haiku.without_apply_rng(haiku.transform(haiku_recurrence))

    def haiku_lstm_args(d):
        x = d.normal(d.of(6, 5), d.of(8, 7), d.of(16, 18))
        return arrays(RECURRENCE.init(jax.random.key(0), x)), x

    @case(haiku_lstm_args, ("x", 1), ("params/lstm/linear/w", 1))
    def haiku_lstm(params, x):
        return jax.value_and_grad(lambda p: (RECURRENCE.apply(p, x) ** 2).mean())(params)
