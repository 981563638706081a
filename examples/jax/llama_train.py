"""A training step of a Llama in plain JAX, planned by tpshard and run by XLA on eight devices of this machine.

Prints the plan, the difference to one device, and bytes and time beside those of XLA's own partitioning of
the same step with the same layouts of arguments and results."""
import collections
import os
import re
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import PartitionSpec as P

import tpshard.jax as tps

VOCABULARY, WIDTH, HIDDEN, HEADS, LAYERS, BATCH, LENGTH = 512, 256, 768, 8, 4, 8, 64
MESH = {"dp": 2, "tp": 4}


# ---- the model ----


def rms_norm(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain


def rotate(x):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None, None] * 10000.0 ** (-jnp.arange(half) / half)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)], axis=-1)


def block(p, x):
    batch, length, width = x.shape
    h = rms_norm(x, p["norm1"])
    q, k, v = ((h @ p[n]).reshape(batch, length, HEADS, -1) for n in ("wq", "wk", "wv"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", rotate(q), rotate(k)) / (width // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(x.shape) @ p["wo"]
    h = rms_norm(x, p["norm2"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


def loss(params, tokens, labels):
    x = params["embed"][tokens]
    for p in params["layers"]:
        x = block(p, x)
    logits = jax.nn.log_softmax(rms_norm(x, params["norm"]) @ params["head"])
    return -jnp.take_along_axis(logits, labels[..., None], axis=-1).mean()


def train_step(params, state, tokens, labels):
    """AdamW."""
    value, grads = jax.value_and_grad(loss)(params, tokens, labels)
    step = state["step"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], grads)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["square"], grads)

    def updated(p, m, v):
        m, v = m / (1 - 0.9**step), v / (1 - 0.999**step)
        return p - 1e-3 * (m / (jnp.sqrt(v) + 1e-6) + 0.01 * p)

    return jax.tree.map(updated, params, mean, square), {"step": step, "mean": mean, "square": square}, value


def arguments():
    rng = numpy.random.default_rng(0)
    weight = lambda *shape: (rng.standard_normal(shape) * shape[0] ** -0.5).astype(numpy.float32)
    ones = lambda: numpy.ones(WIDTH, numpy.float32)
    layer = lambda: {
        **{n: weight(WIDTH, WIDTH) for n in ("wq", "wk", "wv", "wo")}, "gate": weight(WIDTH, HIDDEN), "up": weight(WIDTH, HIDDEN),
        "down": weight(HIDDEN, WIDTH), "norm1": ones(), "norm2": ones(),
    }
    params = {
        "embed": rng.standard_normal((VOCABULARY, WIDTH)).astype(numpy.float32), "head": weight(WIDTH, VOCABULARY), "norm": ones(),
        "layers": [layer() for _ in range(LAYERS)],
    }
    zeros = lambda: jax.tree.map(numpy.zeros_like, params)
    text = rng.integers(0, VOCABULARY, (BATCH, LENGTH + 1)).astype(numpy.int32)
    return params, {"step": numpy.int32(0), "mean": zeros(), "square": zeros()}, text[:, :-1], text[:, 1:]


# ---- what is measured ----

COLLECTIVE = re.compile(r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)")
SIZES = {"f32": 4, "s32": 4, "u32": 4, "pred": 1, "bf16": 2}


def group_size(rest):
    """Devices of a group, of "replica_groups={{0,1},..." or "[4,2]<=[8]"."""
    listed = re.search(r"replica_groups=\{\{([\d,]+)\}", rest)
    if listed:
        return len(listed[1].split(","))
    counted = re.search(r"replica_groups=\[\d+,(\d+)\]", rest)
    return int(counted[1]) if counted else 8


def traffic(compiled):
    """Returns ({kind: number}, bytes that a device sends in rings) of the program that XLA runs."""
    count, sent = collections.Counter(), 0.0
    for result, kind, rest in COLLECTIVE.findall(compiled.as_text()):
        size = sum(SIZES[t] * int(numpy.prod([int(n) for n in dims.split(",") if n])) for t, dims in re.findall(r"(\w+)\[([\d,]*)\]", result))
        n = group_size(rest)
        count[kind] += 1
        sent += size * {"all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1, "collective-permute": 1}.get(kind, (n - 1) / n)
    return count, sent


def measured(step, args, shardings):
    """Returns (results of the first step, seconds of one step, traffic)."""
    compiled = step.lower(*args).compile()
    place = lambda: jax.tree.map(lambda a, s: jax.device_put(jnp.array(a), s), args, shardings)
    first = jax.tree.map(numpy.asarray, step(*place()))
    params, state, tokens, labels = place()
    times = []
    for _ in range(6):
        start = time.perf_counter()
        params, state, value = step(params, state, tokens, labels)
        value.block_until_ready()
        times.append(time.perf_counter() - start)
    return first, min(times), traffic(compiled)


def difference(found, expected):
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected))
    return max(float(numpy.abs(numpy.asarray(a, float) - numpy.asarray(b, float)).max() / max(numpy.abs(b).max(), 1e-30)) for a, b in pairs)


def main():
    args = arguments()
    start = time.perf_counter()
    pin = {"params/layers/*/wq": P(None, "tp"), "params/layers/*/gate": P(None, "tp"), "tokens": P("dp"), "labels": P("dp")}
    plan = tps.plan(train_step, args, MESH, params="params", state="state", pin=pin, donate_argnums=(0, 1))
    print("planned in %.1f s, tracing included: %r" % (time.perf_counter() - start, plan))
    print("params/layers/0/wq: %s" % plan.layouts["params/layers/0/wq"])

    expected = jax.tree.map(numpy.asarray, jax.jit(train_step)(*args))
    devices = jax.devices()
    shardings = jax.tree.map(lambda s: jax.sharding.NamedSharding(jax.make_mesh(tuple(MESH.values()), tuple(MESH), axis_types=(jax.sharding.AxisType.Auto,) * 2), s), plan.in_specs)
    failed = False
    for name, by in ("the plan of tpshard", "plan"), ("XLA's own partitioning", "xla"):
        found, seconds, (count, sent) = measured(plan.jit(devices, by=by), args, shardings)
        error = difference(found, expected)
        failed |= by == "plan" and not (error < 1e-4 and count)
        kinds = ", ".join("%d %s" % (n, kind) for kind, n in sorted(count.items()))
        print("%-23s %6.1f ms a step, %6.2f MB sent by a device (%s), differs from one device by %.1g" % (name + ":", seconds * 1e3, sent / 1e6, kinds, error))
    print("FAILED: the results differ, or nothing was communicated" if failed else "the eight devices compute what one computes")
    return failed


if __name__ == "__main__":
    sys.exit(main())
