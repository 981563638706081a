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
MESH_OF_ONE = {"tp": 1}
WEIGHTS = {"w1": jax.ShapeDtypeStruct((16, 32), jnp.float32), "w2": jax.ShapeDtypeStruct((32, 16), jnp.float32)}
INPUT = jax.ShapeDtypeStruct((8, 16), jnp.float32)


class Module:
    def apply(self, x):
        return x


def mlp(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def plan(mesh=None, **options):
    return tpshard.jax.plan(mlp, (WEIGHTS, INPUT), mesh or MESH, **options)


def arrays():
    return {name: np.zeros(w.shape, w.dtype) for name, w in WEIGHTS.items()}


def call_with_another_shape():
    plan().run_here(arrays(), np.zeros((8, 17), np.float32))


def call_with_lists():
    plan().run_here({name: w.tolist() for name, w in arrays().items()}, np.zeros((8, 16), np.float32))


def plan_with_symbols():
    (batch,) = jax.export.symbolic_shape("b")
    tpshard.jax.plan(mlp, (WEIGHTS, jax.ShapeDtypeStruct((batch, 16), jnp.float32)), MESH)


def plan_with_an_array_on_another_mesh():
    mesh = jax.make_mesh((1,), ("q",), devices=jax.devices()[:1])
    x = jax.device_put(np.zeros((8, 16), np.float32), jax.sharding.NamedSharding(mesh, P("q")))
    tpshard.jax.plan(mlp, (WEIGHTS, x), MESH)


def inverse():
    tpshard.jax.plan(jnp.linalg.inv, (jax.ShapeDtypeStruct((8, 8), jnp.float32),), MESH).run_here(np.eye(8, dtype=np.float32))


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
    "replicate": lambda: tpshard.jax.plan(jnp.fft.fft, (np.zeros((2, 2053), "f"),), MESH),
    "lists": call_with_lists,
    "symbols": plan_with_symbols,
    "another-mesh": plan_with_an_array_on_another_mesh,
    "inverse": inverse,
    "few": lambda: plan(MESH_OF_ONE).jit(jax.devices()[:1])(arrays()),
    "missing": lambda: plan(MESH_OF_ONE).run_here({"w1": arrays()["w1"]}, np.zeros((8, 16), np.float32)),
    "surplus": lambda: plan(MESH_OF_ONE).run_here({**arrays(), "b": 1}, np.zeros((8, 16), np.float32)),
    "shapes": lambda: plan(MESH_OF_ONE).run_here(WEIGHTS, INPUT),
    "called": lambda: plan(MESH_OF_ONE)(arrays(), np.zeros((8, 16), np.float32)),
    "pin-key": lambda: plan(pin={0: P("dp")}),
    "axis-twice": lambda: plan(pin={"x": P("dp", "dp")}),
    "params-true": lambda: plan(params=True),
    "params-state": lambda: plan(params="params", state="params/w1"),
    "donate-name": lambda: plan(donate_argnums="params"),
    "device-number": lambda: plan().jit(devices=4),
    "mesh-space": lambda: plan({"data parallel": 2}),
    "mesh-name": lambda: plan({0: 2}),
    "mesh-many": lambda: plan(dict.fromkeys("abcdefghi", 1)),
    "topology-dict": lambda: plan(topology={"name": "h100"}),
    "limit-part": lambda: plan(memory_limit=1.5),
    "keyword": lambda: plan(scale=2),
    "order": lambda: tpshard.jax.plan(mlp, (WEIGHTS, INPUT), MESH, "h100"),
    "module": lambda: tpshard.jax.plan(Module(), (INPUT,), MESH),
    "pipeline-list": lambda: tpshard.run("func.func @f() { return }", ["tp-plan"]),
    "pipeline-options": lambda: tpshard.run("func.func @f() { return }", "builtin.module(tp-plan)", {"mesh": "4"}),
    "options-dict": lambda: tpshard.run("func.func @f() { return }", "tp-plan", {"mesh": {"tp": 4}}),
    "bytes": lambda: tpshard.run(b"\x00\x01", "tp-plan"),
    "text-place": lambda: tpshard.run("func.func @f() {\n  return %x\n}", "tp-plan"),
    "load": lambda: tpshard.jax.load(os.path.join(HERE, "base.mlir")),
}

try:
    MISTAKES[sys.argv[1]]()
except Exception as error:
    print("%s: %s" % (type(error).__name__, error))
else:
    sys.exit(1)
