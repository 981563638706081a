"""Ten training steps on many devices: is their error that of f32, or more?

    python training.py

prints the errors of parameters against a run in f64, of the plan's program, of XLA's own partitioning of the
same step, and of one device."""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # XLA warns of its own layouts

import equality  # sets the flags of XLA

import jax
import jax.numpy as jnp
import numpy
import optax
from jax.sharding import PartitionSpec as P

import tpshard.jax as tps
from functions import llama
from functions.case import Draw, shapes

STEPS = 10
MESH = {"x": 2, "y": 4}
PINS = {"params/layers/*/wq": P(None, "y"), "params/layers/*/gate": P(None, "y"), "tokens": P("x")}


def wide(tree):
    return jax.tree.map(lambda a: numpy.asarray(a, numpy.float64) if a.dtype == numpy.float32 else a, tree)


def train(step, args, batches):
    params, state = jax.tree.map(jnp.array, args)
    for batch in batches:
        params, state, _ = step(params, state, *batch)
    return params


def error(found, exact):
    """The largest of the leaves: difference relative to the largest number."""
    pairs = zip(jax.tree.leaves(wide(found)), jax.tree.leaves(exact))
    return max(float(numpy.abs(numpy.asarray(a) - numpy.asarray(b)).max() / numpy.abs(b).max()) for a, b in pairs)


def errors():
    """{what: {run: error}} of the parameters after ten steps, and of the gradients of the first."""
    draw = Draw("training")
    params = llama.weights(draw)
    # eps is that of several open models: with 1e-8 the first step is the sign of the gradient, also of its rounding
    optimizer = optax.adamw(1e-3, eps=1e-5)
    state = jax.tree.map(numpy.asarray, optimizer.init(params))
    batches = [(llama.tokens(draw), llama.tokens(draw)) for _ in range(STEPS)]
    step, gradient = llama.train(optimizer), jax.grad(llama.loss)
    with jax.enable_x64():
        exact = jax.tree.map(numpy.asarray, train(jax.jit(step), (wide(params), wide(state)), batches))
        exact_gradient = jax.tree.map(numpy.asarray, jax.jit(gradient)(wide(params), *batches[0]))

    devices = jax.devices()[:8]
    plan = tps.plan(step, shapes((params, state, *batches[0])), MESH, pin=PINS, donate_argnums=(0, 1))
    of_gradient = tps.plan(gradient, shapes((params, *batches[0])), MESH, pin=PINS)
    counts = equality.counted(plan.stablehlo())
    assert counts and equality.counted(of_gradient.stablehlo())

    runs = {"the plan": plan.jit(devices), "XLA's partitioning": plan.jit(devices, by="xla"), "one device": jax.jit(step)}
    gradients = {"the plan": of_gradient.jit(devices), "XLA's partitioning": of_gradient.jit(devices, by="xla"), "one device": jax.jit(gradient)}
    return counts, {
        "parameters after %d steps" % STEPS: {n: error(train(f, (params, state), batches), exact) for n, f in runs.items()},
        "gradients of the first": {n: error(f(params, *batches[0]), exact_gradient) for n, f in gradients.items()},
    }


def main():
    counts, found = errors()
    print("collectives of the plan: %s" % equality.text_of(counts))
    worse = False
    for what, by in found.items():
        print("%s: %s" % (what, ", ".join("%.2g %s" % (e, n) for n, e in by.items())))
        worse |= by["the plan"] > 3 * by["XLA's partitioning"]
    return worse


if __name__ == "__main__":
    sys.exit(main())
