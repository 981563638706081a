"""Ops without a translation: they stay, XLA runs them, and the results are those of JAX on one device."""
import os
import pathlib
import tempfile
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import models
import numpy
from jax.experimental import io_callback
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import PartitionSpec as P

import tpshard
import tpshard.jax as tps

MESH = {"x": 2, "y": 4}


def calls(plan, name):
    return [line for line in plan.stablehlo().splitlines() if '"stablehlo.%s"' % name in line]


class Kept(unittest.TestCase):
    def check(self, function, args, **options):
        """Plans the function, and compares it with one device, for all who partition it."""
        plan = tps.plan(function, args, MESH, **options)
        expected = jax.tree.leaves(jax.jit(function)(*args))
        for by in ("plan", "constraints", "xla"):
            found = jax.tree.leaves(plan.jit(by=by)(*args))
            self.assertEqual(len(found), len(expected))
            for a, b in zip(found, expected):
                scale = max(1.0, float(numpy.abs(b).max()))
                numpy.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * scale, err_msg=by)
        return plan

    # ---- without a rule ----

    def test_fft_in_mlp(self):
        def spectral(x, w1, w2):
            h = jax.nn.relu(x @ w1)
            return jnp.fft.fft2(h).real @ w2

        args = models.normal(64, 128), models.normal(128, 256, scale=0.1), models.normal(256, 128, scale=0.1)
        plan = self.check(spectral, args, pin={"x": P("x"), "w1": P(None, "y"), "w2": P("y")}, unknown_ops="replicate")
        (fft,) = calls(plan, "fft")
        self.assertIn("(tensor<64x256xcomplex<f32>>) -> tensor<64x256xcomplex<f32>>", fft)
        self.assertIn("tensor<32x128xf32>, tensor<128x64xf32>) -> tensor<32x64xf32>", "".join(calls(plan, "dot_general")))
        (remark,) = [d for d in plan.remarks if d.op == "stablehlo.fft"]
        self.assertEqual(remark.file, __file__)
        self.assertIn("jnp.fft.fft2", pathlib.Path(__file__).read_text().splitlines()[remark.line - 1])
        with self.assertRaisesRegex(tpshard.Error, "'stablehlo.fft': runs only with XLA"):
            plan.run_here(*args)

    def test_batch_of_fft(self):
        """Transforms of a batch are split, also where the mesh does not divide it."""

        def spectrum(x, w):
            return jnp.fft.irfft(jnp.fft.rfft(x @ w, axis=-1) * 2, axis=-1)

        for n in (16, 12):
            plan = self.check(
                spectrum, (models.normal(n, 64), models.normal(64, 32)), pin={"x": P(("x", "y"))}, boundary="whole", unknown_ops="replicate"
            )
            self.assertEqual(len(calls(plan, "fft")), 2)
            for call in calls(plan, "fft"):
                self.assertIn("(tensor<2x", call)
            self.assertEqual(calls(plan, "all_gather"), [] if n == 16 else calls(plan, "all_gather"))

    def test_functions_of_complex_numbers(self):
        """What stands around a transform."""

        def functions(x):
            z = jnp.fft.fft(x) * (0.1 + 0.2j)
            one = (jnp.conj, jnp.cos, jnp.sin, jnp.tan, jnp.tanh, jnp.sqrt, jax.lax.rsqrt, jnp.log1p, jnp.expm1, jnp.exp, jnp.log, jnp.sign)
            return [f(z) for f in one] + [z ** (1 + 1j), z == z * 1, z != z + 1, jnp.where(z == 0, 1j, z).imag, jnp.angle(z), abs(z)]

        self.check(functions, (models.normal(8, 16, scale=0.5),), pin={"x": P("x")}, unknown_ops="replicate")

    def test_in_loop(self):
        def powers(x):
            return jax.lax.fori_loop(0, 3, lambda _, h: jnp.tanh(jnp.fft.fft(h).real), x)

        self.check(powers, (models.normal(8, 16),), pin={"x": P("x")}, unknown_ops="replicate")

    def test_refused_unless_asked(self):
        with self.assertRaises(tpshard.Refused) as caught:
            tps.plan(jnp.fft.fft, (models.normal(8, 2053),), MESH)
        self.assertIn('keep it by unknown_ops="replicate"', caught.exception.way_out)
        self.assertEqual(caught.exception.file, __file__)  # the call of plan

    # ---- with a rule ----

    def covariance(self):
        x = models.normal(16, 12, 12)
        return numpy.einsum("bij,bkj->bik", x, x) + 4 * numpy.eye(12, dtype=numpy.float32)

    def test_cholesky_of_a_batch(self):
        def solve(a, b):
            return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a), True), b) * 2

        args = self.covariance(), models.normal(16, 12, 4)
        plan = self.check(solve, args, pin={"a": P(("x", "y")), "b": P(("x", "y"))})
        self.assertEqual(plan.out_specs, P(("x", "y"), None, None))
        found = calls(plan, "custom_call")
        self.assertEqual(len(found), 3)
        for call in found:
            self.assertIn("(tensor<2x12x12xf32>", call)
            self.assertNotIn("sharding_rule", call)
        self.assertEqual(sum(calls(plan, kind) != [] for kind in ("all_gather", "all_to_all", "all_reduce")), 0)

    def test_factorizations(self):
        """Several results of different ranks."""

        def factors(a):
            q, r = jnp.linalg.qr(a)
            w, v = jnp.linalg.eigh(a)
            return q @ r, jnp.abs(v) * w[:, None, :], jnp.linalg.svd(a, compute_uv=False), jnp.linalg.solve(a, a)

        plan = self.check(factors, (self.covariance(),), pin={"a": P("y")})
        for call in calls(plan, "custom_call"):
            self.assertRegex(call, r"\(tensor<[42]x")

    def test_batch_that_does_not_divide(self):
        """The rule does not say that the call ignores padding, so it runs on the whole batch."""
        plan = self.check(jnp.linalg.cholesky, (self.covariance()[:5],), pin={"a": P("y")}, boundary="whole")
        self.assertIn("(tensor<5x12x12xf32>", calls(plan, "custom_call")[0])

    def test_rows_are_gathered(self):
        """A layout that the rule forbids is changed in front of the call."""
        plan = self.check(jnp.linalg.cholesky, (self.covariance(),), pin={"a": P(None, "y")})
        self.assertTrue(any(calls(plan, kind) for kind in ("all_gather", "all_to_all")))

    def test_in_shard_map(self):
        """Over all axes and over some, where JAX writes constraints that state nothing into jnp.linalg.cholesky."""
        mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
        for axes in ({"x", "y"}, {"x"}):

            def mapped(a):
                return jax.shard_map(lambda a: jnp.linalg.cholesky(a) * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names=axes)(a) + 1

            a = self.covariance()
            plan = tps.plan(mapped, (a,), MESH)
            self.assertIn("(tensor<8x12x12xf32>", calls(plan, "custom_call")[0])
            numpy.testing.assert_allclose(plan.jit()(a), 2 * numpy.linalg.cholesky(a) + 1, atol=1e-4)

    def test_custom_partitioning(self):
        """Traced for one device, the function is a part of the program, and is planned as such."""

        @custom_partitioning
        def scaled(x, w):
            return jnp.tanh(x @ w) * 2

        def partition(*_):
            raise AssertionError("JAX does not partition the function")

        scaled.def_partition(partition=partition, sharding_rule="i k, k j -> i j", reduction_factors=("k",))
        args = models.normal(16, 32), models.normal(32, 16)
        plan = tps.plan(lambda x, w: scaled(x, w) + 1, args, MESH, pin={"x": P("x"), "w": P(None, "y")})
        self.assertEqual(calls(plan, "custom_call"), [])
        numpy.testing.assert_allclose(plan.jit()(*args), numpy.tanh(args[0] @ args[1]) * 2 + 1, atol=1e-5)

    def test_export(self):
        """A file with custom calls is for one platform."""
        args = (self.covariance(),)
        plan = tps.plan(jnp.linalg.cholesky, args, MESH, pin={"a": P("x")})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "step.jaxexport")
            self.assertEqual(plan.export(path).platforms, ("cpu",))
            loaded = jax.export.deserialize(path.read_bytes())
        placed = jax.device_put(args[0], plan._shardings("test", None)[0][0])
        numpy.testing.assert_allclose(jax.jit(loaded.call)(placed), jnp.linalg.cholesky(args[0]), atol=1e-5)


class Callbacks(unittest.TestCase):
    def refused(self, function):
        with self.assertRaises(tpshard.Refused) as caught:
            tps.plan(function, (models.normal(8, 4),), MESH, unknown_ops="replicate")
        self.assertEqual(caught.exception.op, "stablehlo.custom_call")
        self.assertEqual(caught.exception.file, __file__)
        line = pathlib.Path(__file__).read_text().splitlines()[caught.exception.line - 1]
        self.assertIn("# the callback", line)
        return caught.exception

    def test_print(self):
        for ordered in (False, True):
            def printing(x):
                jax.debug.print("{}", x, ordered=ordered)  # the callback
                return x

            error = self.refused(printing)
            self.assertIn("is a callback into Python, of jax.debug.print", error.message)
            self.assertEqual(error.way_out, "remove it, and return what it prints as a result")

    def test_pure(self):
        def pure(x):
            return jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # the callback

        self.assertIn("is a callback into Python, of jax.pure_callback", self.refused(pure).message)

    def test_io(self):
        for ordered in (False, True):
            def io(x):
                return io_callback(lambda v: v, jax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=ordered)  # the callback

            error = self.refused(io)
            self.assertEqual(error.way_out, "remove it, and pass what it computes as an argument")


if __name__ == "__main__":
    unittest.main()
