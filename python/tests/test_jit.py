"""Tests of tpshard.jax.jit: functions that are planned when they are called."""
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import models
import numpy
from jax.sharding import PartitionSpec as P

import tpshard
import tpshard.jax as tps

MESH = {"dp": 2, "tp": 4}


def block(params, x, scale, *, act="gelu", bias=None):
    y = getattr(jax.nn, act)(x @ params["w1"]) @ params["w2"] * scale
    return y if bias is None else y + bias


PARAMS = {"w1": models.normal(32, 64), "w2": models.normal(64, 32)}
X, BIAS = models.normal(16, 32), models.normal(32)


class Jit(unittest.TestCase):
    def assert_near(self, found, expected):
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)

    def test_arguments(self):
        """Defaults, keywords, Python numbers and static values; one plan for each form of a call."""
        planned = tps.jit(block, MESH, static_argnames="act", pin={"params/w1": P(None, "tp")})
        for n, (args, keywords) in enumerate([((2.0,), {}), ((2.0,), {"act": "relu"}), ((), {"bias": BIAS, "scale": 0.5})]):
            self.assert_near(planned(PARAMS, X, *args, **keywords), block(PARAMS, X, *args, **keywords))
            again = planned.plan(PARAMS, X, *args, **keywords)
            self.assertIs(again, planned.plan(PARAMS, X, *args, **keywords))
            self.assertEqual(again.in_specs[0]["w1"], P(None, "tp"))
            self.assertEqual(len({id(planned.plan(PARAMS, X, 2.0)), id(again)}), 1 + (n > 0))
        self.assertEqual(planned.__name__, "block")

    def test_weak_types(self):
        """A Python number has the type of the array that it meets, as in JAX."""
        params, x = jax.tree.map(lambda a: jnp.asarray(a, jnp.bfloat16), (PARAMS, X))
        found = tps.jit(block, MESH)(params, x, 2.0)
        self.assertEqual(found.dtype, jnp.bfloat16)
        expected = numpy.asarray(jax.jit(block)(params, x, 2.0), numpy.float32)
        numpy.testing.assert_allclose(numpy.asarray(found, numpy.float32), expected, atol=2e-2 * abs(expected).max())

    def test_weak_results(self):
        """A result that JAX would type weakly is weak, so that the next step is no other program."""
        traces = []

        def step(n, x):
            traces.append(n)
            return n + 1, x.sum() * 0 + 2.0, n * 0.5

        planned, n = tps.jit(step, MESH), 0
        for _ in range(3):
            n, strong, weak = planned(n, X)
        self.assertEqual((len(traces), n.weak_type, strong.weak_type, weak.weak_type), (1, True, False, True))
        self.assertEqual((weak * jnp.ones(4, jnp.bfloat16)).dtype, jnp.bfloat16)

    def test_settings(self):
        """Under other settings of JAX the function is another program."""
        planned = tps.jit(lambda x: x.astype(float) + jax.random.normal(jax.random.key(0), (16, 32)), MESH)
        plain = jax.jit(lambda x: x.astype(float) + jax.random.normal(jax.random.key(0), (16, 32)))
        self.assert_near(planned(X), plain(X))
        with jax.enable_x64(True):
            self.assert_near(planned(X), plain(X))
            self.assertEqual(planned(X).dtype, jnp.float64)
        with jax.threefry_partitionable(False):
            self.assert_near(planned(X), plain(X))

    def test_debugging(self):
        """debug_nans and debug_infs find the op, unless the arguments were donated; disable_jit runs the
        function itself."""
        logarithm = lambda x: jnp.log(x)
        with jax.debug_nans(True):
            self.assert_near(tps.jit(logarithm, MESH)(X * X + 1), jnp.log(X * X + 1))
            with self.assertRaisesRegex(FloatingPointError, "log"):
                tps.jit(logarithm, MESH)(-X * X - 1)
            donating = tps.jit(logarithm, MESH, donate_argnums=0)
            placed = donating(donating(X * X + 1.5))
            with self.assertRaisesRegex(FloatingPointError, "donated"):
                donating(placed)
        with jax.debug_infs(True), self.assertRaisesRegex(FloatingPointError, "log"):
            tps.jit(logarithm, MESH)(X * 0)
        with jax.disable_jit():
            self.assertTrue(tps.jit(lambda x: isinstance(x, jax.core.Tracer), MESH)(X) is False)

    def test_method(self):
        class Model:
            weights = models.normal(32, 16)

            @tps.jit(mesh=MESH, static_argnums=0)
            def apply(self, x):
                return x @ self.weights

        self.assert_near(Model().apply(X), X @ Model.weights)

    def test_collectives(self):
        """The collectives of the program that XLA runs are those of the plan."""
        planned = tps.jit(block, MESH, pin={"params/w1": P(None, "tp"), "params/w2": P("tp"), "x": P("dp")})
        sent = planned.plan(PARAMS, X, 2.0).details["functions"][0]["collectives"]
        text = planned.lower(PARAMS, X, 2.0).compile().as_text()
        self.assertTrue(sent)
        for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            self.assertEqual(text.count(" %s(" % kind.replace("_", "-")), sum(c["kind"] == kind for c in sent), kind)

    def test_donated_steps(self):
        @tps.jit(mesh={"tp": 8}, donate_argnums=0, pin={"params/w1": P(None, "tp"), "params/w2": P("tp")})
        def step(params, x):
            return jax.tree.map(lambda w: w * 0.9 + x.sum(), params)

        params, expected = jax.tree.map(jnp.asarray, PARAMS), PARAMS
        for _ in range(3):
            before, params = params, step(params, X)
            expected = jax.tree.map(lambda w: w * 0.9 + X.sum(), expected)
        self.assertTrue(before["w1"].is_deleted())
        self.assertEqual(params["w1"].sharding.spec, P(None, "tp"))
        for name in expected:
            self.assert_near(params[name], expected[name])

    def test_inside_jit(self):
        planned = tps.jit(block, MESH)
        self.assert_near(jax.jit(lambda p, x: planned(p, x, 2.0) + 1)(PARAMS, X), block(PARAMS, X, 2.0) + 1)

    def test_inside_planned(self):
        """A planned function inside of a planned one is planned with it, also where jax.jit has traced it before."""
        inner = tps.jit(block, {"ep": 8}, pin={"params/w1": P(None, "ep")})
        traced = jax.jit(lambda p, x: inner(p, x, scale=2.0))
        expected = block(PARAMS, X, 2.0)
        self.assert_near(traced(PARAMS, X), expected)
        step = lambda p, x: traced(p, x) + inner.plan(p, x, 2.0).jit()(p, x, 2.0)
        outer = tps.jit(step, MESH)
        self.assert_near(outer(PARAMS, X), 2 * expected)
        self.assertNotIn('"ep"', outer.plan(PARAMS, X).text)
        self.assertIn('"ep"', traced.lower(PARAMS, X).as_text())  # and is planned again outside of it

    def test_placed_elsewhere(self):
        """Arrays that lie elsewhere are moved: in any layout, on other devices, of another mesh, and keys."""

        def step(params, x, key):
            return jax.tree.map(lambda w: w * 0.9 + x.sum(), params), jax.random.fold_in(key, 1)

        devices = jax.devices()[:4]
        expected, key = step(PARAMS, X, jax.random.key(1))
        options = {"devices": devices, "pin": {"params/w1": P("tp"), "x": P(None, "tp"), "result/0/w1": P(None, "tp")}}
        auto, explicit = jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit
        on = lambda devices, kind=auto: jax.sharding.Mesh(numpy.array(devices), ("q",), axis_types=(kind,))
        named = [jax.sharding.NamedSharding(mesh, P()) for mesh in (on(devices), on(devices, explicit), on(devices[::-1]), on(jax.devices()))]
        for by in "plan", "constraints", "xla":
            planned = tps.jit(step, {"tp": 4}, by=by, **options)
            for place in [*named, jax.devices()[7]]:
                args = jax.device_put((PARAMS, X, jax.random.key(1)), place)
                self.assertTrue(planned.lower(*args).compile())
                inside = jax.jit(lambda p, x, k: planned(p, x, k))(*args) if place is named[0] else None
                for new, new_key in filter(None, (planned(*args), inside)):
                    self.assert_near(new["w1"], expected["w1"])
                    self.assertEqual(new_key, key)
            params = PARAMS
            for _ in range(3):  # w1 comes back in another layout than it goes in
                params, _ = planned(params, X, key)
            self.assertEqual(params["w1"].sharding.spec, P(None, "tp"))

    def test_donated_elsewhere(self):
        """What is donated is freed, too, if it is moved; all else is kept."""
        planned = tps.jit(lambda p, x, n: {"p": p * n, "x": x + 1}, {"tp": 8}, donate_argnums=0, static_argnums=2, pin={"p": P("tp"), "x": P("tp")})
        mesh = jax.make_mesh((8,), ("q",), axis_types=(jax.sharding.AxisType.Auto,))
        p, x = (jax.device_put(models.normal(8, 8), jax.sharding.NamedSharding(mesh, P(None, "q"))) for _ in range(2))
        self.assertEqual(jax.jit(lambda y: planned(p, x, 2)["p"].sum() + y)(1.0).shape, ())  # traced: nothing is donated
        self.assertFalse(p.is_deleted())
        self.assert_near(planned(p, x, 2)["x"], x + 1)
        self.assertEqual((p.is_deleted(), x.is_deleted()), (True, False))

    def test_devices_of_a_mesh(self):
        """A mesh of JAX says on which devices the function runs, in which order."""
        devices = jax.devices()[5:1:-1]
        mesh = jax.sharding.Mesh(numpy.array(devices).reshape(2, 2), ("dp", "tp"))
        options = {"pin": {"x": P("tp"), "result": P(("tp", "dp"))}}
        planned = tps.jit(lambda x: x * 2, mesh, **options)
        self.assert_near(planned(X), X * 2)
        self.assertEqual([s.device for s in sorted(planned(X).addressable_shards, key=lambda s: s.index[0].start)], [devices[i] for i in (0, 2, 1, 3)])
        self.assert_near(tps.jit(lambda x: x * 2, mesh, devices=tuple(devices), **options)(X), X * 2)
        with self.assertRaisesRegex(ValueError, r"devices\[0\] is \S+, but device 0 of the mesh of the plan is \S+; leave out devices"):
            tps.jit(lambda x: x * 2, mesh, devices=jax.devices()[:4], **options)(X)
        self.assert_near(tps.jit(lambda x: x * 2, mesh.abstract_mesh, devices=jax.devices()[:4])(X), X * 2)

    def test_again_for_other_shapes(self):
        planned = tps.jit(lambda x: x * 2, {"tp": 8}, pin={"x": P("tp")})
        for rows in (8, 16):
            x = models.normal(rows, 3)
            self.assert_near(planned(x), x * 2)
            self.assertEqual(planned.plan(x).layouts["x"], '[["tp"], []]')

    def test_refused(self):
        planned = tps.jit(block, MESH, static_argnames="act")
        with self.assertRaisesRegex(TypeError, "jit: give a mesh"):
            tps.jit(block)
        with self.assertRaisesRegex(ValueError, 'static_argnames: there is no parameter "akt"; did you mean "act"'):
            tps.jit(block, MESH, static_argnames="akt")
        with self.assertRaisesRegex(ValueError, "donate_argnums: there is no positional parameter 7; there are 3"):
            tps.jit(block, MESH, donate_argnums=7)
        with self.assertRaisesRegex(TypeError, "missing a required argument: 'x'"):
            planned(PARAMS)
        with self.assertRaisesRegex(TypeError, "act: static values must be hashable, but this is a list"):
            planned(PARAMS, X, 2.0, act=["gelu"])
        with self.assertRaisesRegex(tpshard.Error, "plan the function that calls jax.grad"):
            jax.grad(lambda p: planned(p, X, 2.0).sum())(PARAMS)
        with self.assertRaisesRegex(tpshard.Error, "plan the function that calls jax.vmap"):
            jax.vmap(lambda x: planned(PARAMS, x[None], 2.0))(X)
        with self.assertRaisesRegex(ValueError, r"the plan is for 3 devices, but there are 8; .* devices=, such as jax.devices\(\)\[:3\]"):
            tps.jit(block, {"tp": 3})(PARAMS, X, 2.0)


if __name__ == "__main__":
    unittest.main()
