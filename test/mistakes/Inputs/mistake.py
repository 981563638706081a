"""mistake.py NAME: makes a mistake with tpshard.jax, and prints the exception."""
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "python"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import tpshard.jax  # noqa: E402

MESH = {"dp": 2, "tp": 2}
WEIGHTS = {"w1": jax.ShapeDtypeStruct((16, 32), jnp.float32), "w2": jax.ShapeDtypeStruct((32, 16), jnp.float32)}
INPUT = jax.ShapeDtypeStruct((8, 16), jnp.float32)


def mlp(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def plan(mesh=None, **options):
    return tpshard.jax.plan(mlp, (WEIGHTS, INPUT), mesh or MESH, **options)


def call_with_another_shape():
    weights = {name: np.zeros(w.shape, w.dtype) for name, w in WEIGHTS.items()}
    plan().run_here(weights, np.zeros((8, 17), np.float32))


MISTAKES = {
    "pattern": lambda: plan(pin={"params/w3": P(None, "tp")}),
    "axis": lambda: plan(pin={"params/w1": P(None, "pt")}),
    "rank": lambda: plan(pin={"x": P(None, None, "tp")}),
    "text": lambda: plan(pin={"x": "tp"}),
    "mesh": lambda: plan(4),
    "mesh-size": lambda: plan({"tp": 0}),
    "args": lambda: tpshard.jax.plan(mlp, INPUT, MESH),
    "params": lambda: plan(params="weights"),
    "type": lambda: tpshard.jax.plan(lambda x: x + x, (jax.ShapeDtypeStruct((8, 16), jnp.int4),), MESH),
    "topology": lambda: plan(topology="h10"),
    "shape": call_with_another_shape,
    "pin-list": lambda: plan(pin=[P("tp")]),
    "spec-list": lambda: plan(pin={"x": ["tp", None]}),
    "spec-number": lambda: plan(pin={"x": P(None, 1)}),
    "mesh-text": lambda: plan({"tp": "4"}),
    "mesh-part": lambda: plan({"tp": 2.5}),
    "function": lambda: plan(params=lambda name: True),
    "option": lambda: plan(donate=("x",)),
    "pipeline": lambda: tpshard.run("func.func @f() { return }", "tp-paln"),
    "program": lambda: tpshard.run(None, "tp-plan"),
    "options": lambda: tpshard.run("func.func @f() { return }", "tp-plan", "mesh=tp=2"),
    "many-args": lambda: tpshard.jax.plan(mlp, WEIGHTS, INPUT, mesh=MESH),
    "value": lambda: tpshard.jax.plan(np.zeros((64, 64)), (INPUT,), MESH),
    "devices": lambda: plan().jit(),
    "shardings": lambda: plan(in_shardings=(P("dp"),)),
    "room": lambda: tpshard.plan(mlp, (WEIGHTS, INPUT), MESH),
    "path": lambda: tpshard.run(os.path.join(HERE, "base.mlir"), "tp-plan"),
    "host": lambda: plan(topology="host"),
    "replicate": lambda: tpshard.jax.plan(jnp.fft.fft, (INPUT,), MESH),
    "load": lambda: tpshard.jax.load(os.path.join(HERE, "base.mlir")),
}

try:
    MISTAKES[sys.argv[1]]()
except Exception as error:
    print("%s: %s" % (type(error).__name__, error))
else:
    sys.exit(1)
