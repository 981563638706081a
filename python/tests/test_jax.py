"""Tests of tpshard.jax: functions are planned, run on ranks, and compared with JAX."""
import collections
import contextlib
import doctest
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import models
import numpy
from jax.sharding import PartitionSpec as P

import tpshard
import tpshard.jax as tps
from tpshard import _names

MESH = {"dp": 2, "tp": 2}


def step_args():
    return models.mlp_params(), models.normal(16, 32), models.normal(16, 32)


class Case(unittest.TestCase):
    def assert_same(self, found, expected, tolerance=1e-4):
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
            self.assertEqual(a.dtype, b.dtype)
            self.assertEqual(a.shape, b.shape)
            scale = max(1.0, float(numpy.abs(numpy.asarray(b, numpy.float64)).max(initial=0)))
            numpy.testing.assert_allclose(
                numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64), rtol=0, atol=tolerance * scale
            )


class Models(Case):
    def test_train_step(self):
        args = step_args()
        plan = tps.plan(
            models.train_step, models.shapes(args), MESH, params="params", donate_argnums=0,
            pin={"params/*/w1": P(None, "tp"), "x": P("dp"), "y": P("dp")},
        )
        self.assertEqual(plan.devices, 4)
        self.assertTrue(0 < plan.bound <= plan.cost)
        self.assertGreater(plan.memory, 0)
        params, x, y = plan.in_specs
        self.assertEqual([layer["w1"] for layer in params["layers"]], [P(None, "tp")] * 2)
        self.assertEqual((x, y), (P("dp", None), P("dp", None)))
        new, loss = plan.out_specs
        self.assertEqual(new, params)  # donated: the new values have the layouts of the old
        self.assertEqual(loss, P())
        main = plan.details["functions"][0]
        self.assertEqual([a["role"] for a in main["arguments"]], ["param"] * 6 + [""] * 2)
        self.assertEqual([r["updates"] for r in main["results"]], [0, 1, 2, 3, 4, 5, None])
        self.assert_same(plan.run_here(*args), models.train_step(*args))

    def test_llama_block(self):
        args = models.llama_params(), models.normal(2, 8, 32)
        plan = tps.plan(models.llama_block, args, {"tp": 4}, pin={"params/wq": P(None, "tp")})
        self.assertEqual(plan.in_specs[0]["wq"], P(None, "tp"))
        self.assertTrue(plan.details["functions"][0]["collectives"])
        self.assert_same(plan.run_here(*args), models.llama_block(*args))

    def test_scan(self):
        params = {"w": models.normal(3, 16, 16, scale=0.2), "b": models.normal(3, 16)}
        args = params, models.normal(8, 16)
        plan = tps.plan(models.scanned, args, {"tp": 2}, pin={"params/w": P(None, None, "tp")})
        self.assertEqual(plan.in_specs[0]["w"], P(None, None, "tp"))
        self.assert_same(plan.run_here(*args), models.scanned(*args))

    def test_accumulated_gradients(self):
        """Gradients are added up over the micro-batches of a scan, and reduced once behind it; so are the losses that it writes."""
        def loss(w, x, y):
            return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"] - y) ** 2)

        def step(w, xs, ys):
            def body(sums, batch):
                value, gradients = jax.value_and_grad(loss)(w, *batch)
                return jax.tree.map(jnp.add, sums, gradients), value
            gradients, losses = jax.lax.scan(body, jax.tree.map(jnp.zeros_like, w), (xs, ys))
            return jax.tree.map(lambda p, g: p - 0.1 * g / len(xs), w, gradients), losses

        w = {"a": models.normal(32, 32, scale=0.2), "b": models.normal(32, 8, scale=0.2)}
        args = w, models.normal(6, 1024, 32), models.normal(6, 1024, 8)
        plan = tps.plan(step, args, {"dp": 4}, pin={"xs": P(None, "dp"), "ys": P(None, "dp"), "w/a": P(), "w/b": P()})
        self.assertEqual(sum(one["count"] for one in plan.collectives if one["kind"] in ("all_reduce", "reduce_scatter")), 3)
        self.assert_same(plan.run_here(*args), step(*args))

    def test_types(self):
        def mixed(key, x, i, flag):
            noise = jax.random.uniform(key, x.shape).astype(jnp.bfloat16)
            return x + noise, x[i], jnp.where(flag, i.astype(jnp.uint8), jnp.uint8(7)), jax.random.split(key)

        args = jax.random.key(3), jnp.asarray(models.normal(8, 16), jnp.bfloat16), numpy.arange(4, dtype=numpy.int32), numpy.array([True, False] * 2)
        plan = tps.plan(mixed, args, {"tp": 2})
        self.assertEqual(len(plan.in_specs[0]), 0)  # a key has no dimensions
        found, expected = list(plan.run_here(*args)), list(mixed(*args))
        expected[3] = jax.random.key_data(expected[3])
        self.assert_same(found, expected, 1e-2)

    def test_precision(self):
        """What a product asks for neither hinders the plan nor gets lost."""
        x = models.normal(8, 8)
        plan = tps.plan(lambda x: jnp.dot(x, x, precision="highest"), (x,), {"tp": 2})
        self.assertIn("HIGHEST", plan.stablehlo())
        self.assert_same(plan.run_here(x), x @ x)
        self.assert_same(plan.jit(jax.devices()[:2])(x), x @ x)

    def test_unlike_jax(self):
        held, x = [1.0], models.normal(4, 8)
        plan = tps.plan(lambda x: x * held[0], (x,), {"tp": 2})
        held[0] = 2.0
        with self.assertRaisesRegex(tpshard.Mismatch, 'run_here: "result" differs from JAX: error 0.5 '):
            plan.run_here(x)
        held.clear()
        with self.assertWarnsRegex(UserWarning, "run_here: JAX does not run the function on the CPU, .* alone: IndexError: list"):
            plan.run_here(x)

    def test_running_sums(self):
        x = models.normal(4, 5000)
        for axis, reverse in ((1, False), (1, True), (0, False)):
            def total(x):
                return jax.lax.cumsum(x, axis=axis, reverse=reverse), jax.lax.cummax(x, axis=axis, reverse=reverse)

            plan = tps.plan(total, (x,), {"tp": 4}, pin={"x": P(None, "tp")})
            expected = total(x)
            self.assert_same(plan.run_here(x), expected)
            self.assert_same(plan.jit(jax.devices()[:4])(x), expected)

    def test_loop_with_a_split_value(self):
        """The reference of run_here, for one device, is compiled without shardings."""
        def regularized(x):
            return jax.scipy.special.gammainc(jnp.abs(x) + 0.1, jnp.abs(x) + 0.6)

        x = models.normal(8, 7)
        plan = tps.plan(regularized, (x,), {"x": 4})
        self.assert_same(plan.run_here(x), regularized(x))

    def test_static_argument_and_star(self):
        def power(n, *xs):
            return [x**n for x in xs]

        args = 3, models.normal(8), models.normal(8)
        plan = tps.plan(power, args, {"tp": 2}, static_argnums=0, pin={"xs/1": P("tp")})
        self.assertEqual(list(plan.layouts), ["xs/0", "xs/1", "result/0", "result/1"])
        self.assertEqual(plan.in_specs[1], P("tp"))
        self.assert_same(plan.run_here(*args[1:]), power(*args))


class Boundary(Case):
    def test_uneven(self):
        def scale(x, w):
            return x @ w

        args = models.normal(10, 6), models.normal(6, 7)
        plan = tps.plan(scale, args, {"tp": 4}, pin={"x": P("tp"), "result": P("tp")})
        self.assertEqual((plan.in_specs[0], plan.out_specs), (P("tp", None), P("tp", None)))
        self.assert_same(plan.run_here(*args), scale(*args))
        # JAX has no uneven arguments and results: they are whole at the boundary of the jitted function
        step = plan.jit(jax.devices()[:4])
        self.assert_same(step(*args), scale(*args))
        self.assertTrue(step(*args).sharding.is_fully_replicated)

    def test_uneven_along_two_axes(self):
        args = (models.normal(10, 6),)
        plan = tps.plan(lambda x: x * 2 + x[::-1], args, {"dp": 2, "tp": 4}, pin={"x": P(("dp", "tp")), "result": P(("dp", "tp"))})
        self.assert_same(plan.jit()(*args), args[0] * 2 + args[0][::-1])
        self.assert_same(plan.jit(by="xla")(*args), args[0] * 2 + args[0][::-1])

    def test_boundary_is_even_by_default(self):
        def positions(x, w):
            return jnp.tanh(x + 1) @ w

        args = models.normal(17, 64), models.normal(64, 30)
        plan = tps.plan(positions, args, {"tp": 8})
        for name, size in (("x", (17, 64)), ("w", (64, 30)), ("result", (17, 30))):
            entry = next(e for e in plan.details["functions"][0]["arguments"] + plan.details["functions"][0]["results"] if e["name"] == name)
            for length, axes in zip(size, entry["dims"]):
                self.assertEqual(length % 8 if axes else 0, 0, (name, entry["dims"]))
        self.assert_same(plan.jit()(*args), positions(*args))

    def test_part_of_an_axis(self):
        args = (models.normal(8, 8),)
        plan = tps.plan(lambda x: x * 2, args, {"tp": 4}, pin={"x": [["tp:(1)2"], []]})
        self.assertIn("tp:(1)2", plan.layouts["x"])
        with self.assertRaisesRegex(tpshard.Error, '"x" has the layout .*part of an axis; split axis "tp" of the mesh'):
            plan.in_specs
        step = plan.jit(jax.devices()[:4])
        self.assert_same(step(*args), args[0] * 2)
        (sharding,), _ = step.lower(*args).compile().input_shardings
        self.assertEqual(sharding.shard_shape((8, 8)), (4, 8))

    def test_constraints(self):
        def layers(x, w, v):
            h = jnp.tanh(x @ w)
            return jnp.sum(jnp.where(h > 0, h, 0) @ v, axis=0)

        args = models.normal(16, 32), models.normal(32, 64), models.normal(64, 8)
        plan = tps.plan(layers, args, {"dp": 2, "tp": 4}, pin={"x": P("dp"), "w": P(None, "tp"), "v": P("tp")})
        self.assertIn('sdy.mesh<["dp"=2, "tp"=4]>', plan.constrained())
        step = plan.jit(by="constraints")
        self.assert_same(step(*args), layers(*args))
        compiled = step.lower(*args).compile().as_text()
        self.assertRegex(compiled, r"f32\[8,16\]")  # 16 x 64 over 2 x 4
        self.assertNotRegex(compiled, r"f32\[(16|8),64\]\S* (dot|tanh|fusion)")

    def test_constraints_in_branches(self):
        """Branches that compute in different layouts return their results in one, as XLA requires."""
        pick = lambda p, x, w: jax.lax.cond(p, lambda: jnp.tanh(x @ w), lambda: jnp.sort(x, -1))
        args = jnp.array(True), models.normal(8, 8), models.normal(8, 8)
        plan = tps.plan(pick, args, {"dp": 2, "tp": 4}, pin={"x": P("dp"), "w": P(None, "tp")})
        step = plan.jit(by="constraints")
        for p in True, False:
            self.assert_same(step(jnp.array(p), *args[1:]), pick(jnp.array(p), *args[1:]))

    def test_platforms(self):
        args = (models.normal(8, 8),)
        plan = tps.plan(lambda x: jnp.tanh(x) @ x, args, {"tp": 8})
        for platform in plan.export().platforms:
            lowered = plan.jit().trace(*args).lower(lowering_platforms=(platform,))
            self.assertIn("sdy.manual_computation", lowered.as_text())
        self.assertEqual(set(plan.export().platforms), {"cpu", "cuda", "rocm", "tpu"})

    def test_one_device(self):
        args = (models.normal(8, 8),)
        plan = tps.plan(lambda x: jnp.tanh(x) @ x, args, {"tp": 1})
        self.assert_same(plan.jit(jax.devices()[:1])(*args), jnp.tanh(args[0]) @ args[0])

    def test_open_dimension(self):
        plan = tps.plan(lambda x: x * 2, (models.normal(8, 8),), {"tp": 4}, pin={"x": P(P.UNCONSTRAINED, None), "result": P("tp")})
        self.assertEqual(plan.in_specs, (P("tp", None),))

    def test_constraint(self):
        mesh = jax.make_mesh((2,), ("tp",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))

        def constrained(x, w):
            return jax.lax.with_sharding_constraint(x @ w, jax.sharding.NamedSharding(mesh, P(None, "tp")))

        args = models.normal(8, 16), models.normal(16, 32)
        plan = tps.plan(constrained, args, {"tp": 2})
        self.assertEqual(plan.in_specs, (P(None, None), P(None, "tp")))
        self.assert_same(plan.run_here(*args), constrained(*args))

    def test_jit(self):
        args = step_args()
        plan = tps.plan(models.train_step, args, MESH, pin={"params/*/w1": P(None, "tp"), "x": P("dp")})
        self.assert_same(plan.jit(jax.devices()[:4], by="xla")(*args), models.train_step(*args))
        step = plan.jit(jax.devices()[:4])
        found = step(*args)
        self.assert_same(found, models.train_step(*args))
        placed = jax.tree.map(lambda a: a.sharding.spec, found)
        wanted = plan.out_specs
        same = jax.tree.map(
            lambda a, w: a.sharding.is_equivalent_to(jax.sharding.NamedSharding(a.sharding.mesh, w), a.ndim), found, wanted
        )
        self.assertTrue(all(jax.tree.leaves(same)), (placed, wanted))
        with self.assertRaisesRegex(ValueError, "for 4 devices, but there are 8"):
            plan.jit()
        with self.assertRaisesRegex(ValueError, 'by="magic" is not known'):
            plan.jit(jax.devices()[:4], by="magic")

    def test_collectives_of_the_plan(self):
        """XLA runs the collectives that the plan has, and no others but merged ones."""
        args = step_args()
        plan = tps.plan(models.train_step, args, MESH, pin={"params/*/w1": P(None, "tp"), "x": P("dp")})
        text = plan.stablehlo()
        self.assertIn("sdy.manual_computation", text)
        compiled = plan.jit(jax.devices()[:4]).lower(*args).compile().as_text()
        for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            in_plan, in_xla = text.count('"stablehlo.%s"' % kind), compiled.count(" %s(" % kind.replace("_", "-"))
            self.assertLessEqual(in_xla, in_plan, kind)
            self.assertEqual(in_xla > 0, in_plan > 0, kind)

    def test_wrong_collectives_are_noticed(self):
        """The comparison above would see a wrong group or a lost reduction."""
        args = step_args()
        plan = tps.plan(models.train_step, args, MESH, pin={"params/*/w1": P(None, "tp"), "x": P("dp")})
        expected = models.train_step(*args)
        text = plan.stablehlo()
        for old, new in (("[[0, 1], [2, 3]]", "[[0, 2], [1, 3]]"), ("[[0, 2], [1, 3]]", "[[0, 1], [2, 3]]")):
            if old not in text:
                continue
            plan.stablehlo = lambda changed=text.replace(old, new): changed
            found = plan.jit(jax.devices()[:4])(*args)
            with self.assertRaises(AssertionError):
                self.assert_same(found, expected)
            return
        self.fail("the plan has no collective over one axis")

    def test_keys(self):
        """Random keys go into a jitted plan and come out, also as an array that is split."""
        step = lambda key, keys: (jax.random.split(key), jax.vmap(jax.random.fold_in, (0, None))(keys, 1))
        for impl in "threefry2x32", "rbg":
            args = jax.random.key(3, impl=impl), jax.random.split(jax.random.key(4, impl=impl), 8)
            plan = tps.plan(step, args, {"tp": 4}, pin={"keys": P("tp"), "result/1": P("tp")})
            found, expected = plan.jit(jax.devices()[:4])(*args), step(*args)
            self.assertEqual([a.dtype for a in found], [a.dtype for a in expected])
            self.assertEqual(found[1].sharding.spec, P("tp"))
            self.assert_same(jax.tree.map(jax.random.key_data, found), jax.tree.map(jax.random.key_data, expected))

    def test_export(self):
        """A file that a process without tpshard loads and runs."""
        args = step_args()
        plan = tps.plan(models.train_step, args, MESH, pin={"x": P("dp")})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "step.jaxexport")
            plan.export(path, jax.devices()[:4])
            with open(path, "rb") as file:
                loaded = jax.export.deserialize(file.read())
        self.assertEqual(loaded.nr_devices, 4)
        shardings = plan._shardings("test", jax.devices()[:4])[0]
        placed = jax.tree.map(jax.device_put, args, shardings)
        self.assert_same(jax.jit(loaded.call)(*placed), models.train_step(*args))

    def test_export_of_a_type_without_name(self):
        State = collections.namedtuple("State", "x y")
        given = State(jax.ShapeDtypeStruct((8, 4), jnp.float32), jax.ShapeDtypeStruct((8,), jnp.float32))
        made = tps.plan(lambda s: State(jnp.tanh(s.x), s.y), (given,), mesh={"x": 8})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "step.jaxexport")
            with self.assertRaisesRegex(tpshard.Error, "State.*register_namedtuple_serialization.*flat=True"):
                made.export(path)
            self.assertFalse(path.exists())
            made.export(path, flat=True)
            loaded = jax.export.deserialize(path.read_bytes())
        x, y = numpy.linspace(-1, 1, 32, dtype="float32").reshape(8, 4), numpy.arange(8, dtype="float32")
        found = jax.jit(loaded.call)(*(jax.device_put(a, s) for a, s in zip((x, y), jax.tree.leaves(made._shardings("test", None)[0]))))
        self.assertIsInstance(found, tuple)
        self.assert_same(found, (numpy.tanh(x), y))

    def test_export_as_text(self):
        """python -m tpshard.jax makes MLIR of a file of jax.export, or says what is wrong with it."""
        command = [sys.executable, "-m", "tpshard.jax"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "f.jaxexport")
            path.write_bytes(jax.export.export(jax.jit(jnp.tanh))(jax.ShapeDtypeStruct((8,), jnp.float32)).serialize())
            text = subprocess.run([*command, str(path)], capture_output=True, text=True, check=True).stdout
            self.assertIn("tp.sharding", tpshard.run(text, "tp-plan", {"mesh": "tp=2"}).program)
            # shard-run calls the same command, by the first python3 of PATH
            found = pathlib.Path(folder, "bin", "python3")
            found.parent.mkdir()
            found.write_text('#!/bin/sh\nexec "%s" "$@"\n' % sys.executable)
            found.chmod(0o755)
            tool = tpshard._library.prefix() / "bin" / "shard-run"
            environment = {**os.environ, "PATH": "%s:%s" % (found.parent, os.environ["PATH"])}
            ran = subprocess.run([str(tool), str(path), "--mesh", "tp=2"], capture_output=True, text=True, env=environment)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("verified", ran.stdout)
            path.write_bytes(path.read_bytes()[:200])
            done = subprocess.run([*command, str(path)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^tpshard.jax: .*f.jaxexport: is no file of jax.export, or is damaged")
            self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 2)

    def test_gradient_says_what_to_plan(self):
        plan = tps.plan(lambda x: jnp.tanh(x), (models.normal(8, 8),), {"tp": 2})
        step = plan.jit(jax.devices()[:2])
        with self.assertRaisesRegex(tpshard.Error, "a planned function has no gradient; plan the function that calls jax.grad"):
            jax.grad(lambda x: step(x).sum())(jnp.ones((8, 8)))

    def test_communication_of_the_user(self):
        """shard_map in a function: of its sum what the layout behind needs is kept, and its borders move nothing."""
        mesh = jax.make_mesh((2, 2), ("dp", "tp"), devices=jax.devices()[:4], axis_types=(jax.sharding.AxisType.Auto,) * 2)

        def mixed(x, w):
            inner = lambda x, w: jax.lax.psum(x @ w, "tp")
            product = jax.shard_map(inner, mesh=mesh, in_specs=(P("dp", "tp"), P("tp", None)), out_specs=P("dp", None))
            return jnp.tanh(product(x * 2, w))

        args = models.normal(8, 16, scale=0.2), models.normal(16, 8, scale=0.2)
        plan = tps.plan(mixed, args, MESH)
        text = plan.stablehlo()
        counts = [text.count('"stablehlo.%s"' % name) for name in ("reduce_scatter", "all_reduce", "all_gather", "all_to_all")]
        self.assertEqual(counts, [1, 0, 0, 0])
        expected = numpy.tanh(2 * args[0] @ args[1])
        self.assert_same(plan.run_here(*args), expected)
        self.assert_same(plan.jit(jax.devices()[:4])(*args), expected)

    def test_numbers_of_arguments(self):
        args = models.normal(4, 8), models.normal(8, 8)
        plan = tps.plan(lambda x, w: (x @ w, w * 2), args, MESH, donate_argnums=-1)
        self.assertEqual([r["updates"] for r in plan.details["functions"][0]["results"]], [None, 1])
        for what in "donate_argnums", "static_argnums":
            with self.assertRaisesRegex(ValueError, what + ": there is no argument 5; there are 2"):
                tps.plan(lambda x, w: x @ w, args, MESH, **{what: 5})

    def test_donation_and_static_arguments(self):
        def step(params, x, n):
            return jax.tree.map(lambda p: p - n * p, params), (x * n).sum()

        args = {"w": models.normal(8, 8)}, models.normal(8, 4)
        plan = tps.plan(step, (*args, 2), MESH, donate_argnums=0, static_argnums=2)
        found = plan.jit(jax.devices()[:4])(jax.tree.map(jnp.array, args[0]), args[1], 2)
        self.assert_same(found, step(*args, 2))

    def test_same_plan_as_pins(self):
        args = step_args()
        plan = tps.plan(models.train_step, args, MESH, pin={"x": P("dp")})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            plan.save(path)
            again = tps.plan(models.train_step, args, MESH, pin=tps.load(path))
            self.assertEqual(again.layouts, plan.layouts)
            plan.report(path)
            with self.assertRaisesRegex(ValueError, "was not written by Plan.save"):
                tps.load(path)


class Reports(Case):
    @classmethod
    def setUpClass(cls):
        cls.plan = tps.plan(models.train_step, models.shapes(step_args()), MESH, pin={"params/*/w1": P(None, "tp")})

    def test_explain(self):
        said = self.plan.explain("params/layers/0/w1")
        self.assertIn('has layout [[], ["tp"]]', said)
        self.assertIn("is pinned to", said)
        with self.assertRaisesRegex(ValueError, 'no argument is called "params/layer/0/w1"; did you mean "params/layers/0/w1"'):
            self.plan.explain("params/layer/0/w1")

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "plan.json")
            self.plan.report(path)
            self.assertEqual(json.loads(path.read_text()), self.plan.details)
            self.plan.report(path.with_suffix(".md"))
            self.assertIn("A step takes", path.with_suffix(".md").read_text())
            self.plan.report(path.with_suffix(".html"))
            self.assertTrue(path.with_suffix(".html").read_text().startswith("<!DOCTYPE html>"))
            with self.assertRaisesRegex(tpshard.Error, r"ends in '\.yaml', which is no format of reports"):
                self.plan.report(path.with_suffix(".yaml"))

    def test_names(self):
        self.assertIn("params/layers/0/w1", self.plan.layouts)
        self.assertIn("result/0/layers/1/b", self.plan.layouts)
        at = {c["at"].split("(")[-1].split(":")[0] for c in self.plan.details["functions"][0]["collectives"]}
        self.assertLessEqual(at, {"models.py", "test_jax.py"})

    def test_names_that_are_equal(self):
        """Each leaf has a name of its own, so that layouts and pins are complete."""

        def f(result, p):
            return {"w": result @ p["a"]["b"], "a/b": p["a/b"] * 2, "a": {"b": p["a"]["b"] + 1}, "sum": result.sum()}

        args = models.normal(4, 8), {"a/b": models.normal(8), "a": {"b": models.normal(8, 4)}}
        plan = tps.plan(f, args, {"tp": 4}, pin={"p/a/b#2": P("tp"), "result#2/w": P("tp"), "result": P(None, "tp")})
        names = ["result", "p/a/b", "p/a/b#2", "result#2/a/b", "result#2/a/b#2", "result#2/sum", "result#2/w"]
        self.assertEqual(list(plan.layouts), names)
        self.assertEqual((plan.in_specs[1]["a/b"], plan.out_specs["w"]), (P("tp"), P("tp", None)))
        self.assertIn("p/a/b#2", plan.explain("p/a/b#2"))
        self.assert_same(plan.run_here(*args), f(*args))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            plan.save(path)
            self.assertEqual(tps.plan(f, args, {"tp": 4}, pin=tps.load(path)).layouts, plan.layouts)

    def test_name_that_begins_another(self):
        """{"a": x, "a/b": y}: "p/a" is x alone."""
        args = ({"a": models.normal(4, 8), "a/b": models.normal(8)},)
        plan = tps.plan(lambda p: p, args, {"tp": 4}, pin={"p/a/b": P("tp"), "p/a": P(None, "tp")})
        self.assertEqual(plan.in_specs, ({"a": P(None, "tp"), "a/b": P("tp")},))
        with self.assertRaisesRegex(ValueError, 'run_here: "p/a/b" is missing'):
            plan.run_here({"a": args[0]["a"]})

    def test_text(self):
        self.assertRegex(repr(self.plan), r"<Plan on dp=2,tp=2: [0-9.]+ us \(.*\), [0-9.]+ KB of a device; .*>")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            help(tps)
            help(tps.plan)
            help(tps.Plan)
        for word in ("memory_limit", "run_here", "PartitionSpec", "seconds", "bytes", "Raises"):
            self.assertIn(word, out.getvalue())

    def test_same_every_time(self):
        again = tps.plan(models.train_step, models.shapes(step_args()), MESH, pin={"params/*/w1": P(None, "tp")})
        self.assertEqual(again.details, self.plan.details)
        self.assertEqual(again.text, self.plan.text)


class Page(Case):
    def test_sessions(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "how-to" / "shard-a-jax-function.md"
        failed, n = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
        self.assertEqual(failed, 0)
        self.assertGreater(n, 10)


class Versions(unittest.TestCase):
    def test_old_jax_is_refused(self):
        program = "import jax; jax.__version__, jax.__version_info__ = '0.7.2', (0, 7, 2); import tpshard.jax"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertRegex(done.stderr, "ImportError: tpshard.jax: jax 0.7.2 is too old, .*; pip install 'jax>=0.8'")


class Refusals(Case):
    def test_op(self):
        with self.assertRaises(tpshard.Refused) as caught:
            tps.plan(models.filtered, (models.normal(8, 2053),), {"tp": 2})
        error = caught.exception
        lines = pathlib.Path(models.__file__).read_text().splitlines()
        self.assertEqual(error.op, "stablehlo.fft")
        self.assertEqual(error.file, models.__file__)
        self.assertIn("the line that the test looks for", lines[error.line - 1])
        self.assertRegex(error.way_out, '^pad the signal, or keep it by unknown_ops="replicate"')
        self.assertIn("%s:%d: error: 'stablehlo.fft'" % (error.file, error.line), str(error))

    def test_memory(self):
        with self.assertRaises(tpshard.Infeasible):
            tps.plan(models.train_step, step_args(), MESH, memory_limit="1KB")

    def test_patterns(self):
        args = step_args()
        with self.assertRaisesRegex(ValueError, r'pin: the pattern "params/\*/wq" matches no name; did you mean "params/layers/'):
            tps.plan(models.train_step, args, MESH, pin={"params/*/wq": P()})
        with self.assertRaisesRegex(ValueError, 'params: the pattern "weights" matches no name; names are "params/layers/0/b"'):
            tps.plan(models.train_step, args, MESH, params="weights")
        with self.assertRaisesRegex(ValueError, "state: there is no argument 7"):
            tps.plan(models.train_step, args, MESH, state=7)

    def test_pins(self):
        args = step_args()
        with self.assertRaisesRegex(ValueError, 'pin of "x": the mesh has no axis "pt"; did you mean "tp"'):
            tps.plan(models.train_step, args, MESH, pin={"x": P("pt")})
        with self.assertRaisesRegex(ValueError, 'pin of "x": .* has 3 entries, but the value has 2 dimensions'):
            tps.plan(models.train_step, args, MESH, pin={"x": P(None, None, "tp")})
        with self.assertRaisesRegex(ValueError, "has axis .tp. twice"):
            tps.plan(models.train_step, args, MESH, pin={"x": P("tp", "tp")})

    def test_arguments(self):
        args = step_args()
        with self.assertRaisesRegex(TypeError, "args: is a ndarray; give a tuple"):
            tps.plan(models.train_step, args[1], MESH)
        with self.assertRaisesRegex(ValueError, "mesh: there are no axes"):
            tps.plan(models.train_step, args, {})
        with self.assertRaisesRegex(ValueError, 'axis \'tp\' has size 0'):
            tps.plan(models.train_step, args, {"tp": 0})
        with self.assertRaisesRegex(ValueError, "mesh: the name of an axis, 'a b', has ' ' in it; write for example 'a_b'"):
            tps.plan(models.train_step, args, {"a b": 2})
        with self.assertRaisesRegex(ValueError, "mesh: the name of an axis is empty"):
            tps.plan(models.train_step, args, {"": 2})
        with self.assertRaisesRegex(tpshard.Error, "h900"):
            tps.plan(models.train_step, args, MESH, topology="h900")
        with self.assertRaisesRegex(TypeError, r"plan\(\) has no parameter 'no_such_option'"):
            tps.plan(models.train_step, args, MESH, no_such_option=1)

    def test_run(self):
        plan = tps.plan(lambda x: x * 2, (models.normal(8, 8),), {"tp": 2})
        with self.assertRaisesRegex(ValueError, r'"x" is float32\[4\], but the plan is for float32\[8, 8\]'):
            plan.run_here(models.normal(4))
        with self.assertRaisesRegex(ValueError, "2 arguments are given, but the plan is for 1: x"):
            plan.run_here(models.normal(8, 8), 1)
        inverse = lambda x: jnp.linalg.inv(x)  # jax traces what is inside once, without this line
        line = inverse.__code__.co_firstlineno
        with self.assertRaisesRegex(tpshard.Error, r"plan\.jit\(\)[\s\S]*test_jax.py:%d:\d+: error: 'stablehlo.custom_call'" % line):
            tps.plan(inverse, (models.normal(8, 8),), {"tp": 2}).run_here(models.normal(8, 8))
        plan.text = "no program"
        with self.assertRaisesRegex(tpshard.Error, "shard-run failed"):
            plan.run_here(models.normal(8, 8))

    def test_ill_conditioned(self):
        """A sign that rounding decides cannot be verified, on one device neither. The error names it, and has all results."""

        def sign(x):
            rest = jnp.tanh(x).sum(0) - jnp.tanh(x)[::-1].sum(0)
            return {"sum": x + 1, "sign": rest / (jnp.abs(rest) + 1e-12)}

        x = models.normal(64, 8)
        with self.assertRaises(tpshard.IllConditioned) as caught:
            tps.plan(sign, (x,), {"tp": 2}, pin={"x": P("tp")}).run_here(x)
        self.assertRegex(str(caught.exception), '^run_here: "result/sign" is ill-conditioned: error [^\n]*\nthe attribute `results`')
        self.assertEqual(caught.exception.results["sign"].shape, (8,))
        self.assert_same(caught.exception.results["sum"], x + 1)

    def test_mismatch(self):
        """The results that differ are named first. A stub in place of shard-run says what it says of a wrong program."""
        table = """  result 0: 8x8xf32, [["tp"], []]
    against one device   ok: error 0 (at most 1e-05)
    against the evaluator ILL-CONDITIONED: error 9, but one device also has error 8; this data verifies nothing
  result 1: 8x8xf32, [["tp"], []]
    against one device   differs: error 0.3 (above 1e-05); the evaluator decides
    against the evaluator MISMATCH: error 0.3, of one device 1e-07 (at most 1.0e-05)
NOT VERIFIED
"""
        x = models.normal(8, 8)
        plan = tps.plan(lambda x: {"a": x, "b": x * 2}, (x,), {"tp": 2})
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder, "bin", "shard-run")
            tool.parent.mkdir()
            real = tpshard._library.prefix() / "bin" / "shard-run"
            tool.write_text("#!/bin/sh\n'%s' \"$@\" >/dev/null\ncat <<'END'\n%sEND\nexit 1\n" % (real, table))
            tool.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, TPSHARD_PREFIX=folder), self.assertRaises(tpshard.Mismatch) as caught:
                plan.run_here(x)
        self.assertRegex(str(caught.exception), '^run_here: "result/b" differs from the evaluator: error 0.3.*\n"result/a" is ill-conditioned')
        self.assert_same(caught.exception.results, {"a": x, "b": 2 * x})


class Donation(unittest.TestCase):
    def pairs(self, arguments, results, donated=None):
        arguments, results = ([(n, "f32") if isinstance(n, str) else n for n in side] for side in (arguments, results))
        return _names.updated_arguments(arguments, range(len(arguments)) if donated is None else donated, results)

    def test_by_path(self):
        found = self.pairs(["p/w", "opt/m/w", "opt/v/w"], ["result/0", "result/1/v/w", "result/1/m/w", "result/2/w"])
        self.assertEqual(found, {3: 0, 2: 1, 1: 2})

    def test_only_result_of_the_type(self):
        self.assertEqual(self.pairs([("x", "i32")], [("result/0", "f32"), ("result/1", "i32")]), {1: 0})

    def test_no_result(self):
        with self.assertWarnsRegex(UserWarning, "donated, but no result is seen to be the new value: x"):
            self.assertEqual(self.pairs([("x", "i32")], ["result"]), {})
        with self.assertWarns(UserWarning):  # two results of the type, none like it
            self.assertEqual(self.pairs(["x"], ["result/0", "result/1"]), {})
        with self.assertWarns(UserWarning):
            self.assertEqual(self.pairs(["x", "y"], ["result"]), {})

    def test_in_their_order(self):
        found = self.pairs(["x", "p/w", "v"], ["result/0", "result/1", "result/2/w"])
        self.assertEqual(found, {0: 0, 1: 2, 2: 1})

    def test_only_donated(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(self.pairs(["p/w", "q/w"], ["result/w"], [1]), {0: 1})


if __name__ == "__main__":
    unittest.main()
