"""Ops of StableHLO and CHLO that JAX itself does not write: as primitives, whose results on ranks and in programs for XLA are
those of XLA on one device."""
import itertools
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import models
import numpy
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir

import tpshard.jax as tps

NUMBERS = itertools.count()
TYPES = {"float32": "f32", "int32": "i32", "bool": "i1", "complex64": "complex<f32>"}


def call(op, results, *args, **attributes):
    """Returns the results of an op. results: their shapes and types; attributes: as text."""
    primitive = Primitive("primitive_%d" % next(NUMBERS))
    primitive.multiple_results = True
    primitive.def_abstract_eval(lambda *_: [jax.core.ShapedArray(*r) for r in results])

    def lower(_, *values):
        types = ["tensor<%s%s>" % ("".join("%dx" % n for n in shape), TYPES[numpy.dtype(dtype).name]) for shape, dtype in results]
        return ir.Operation.create(
            op, [ir.Type.parse(t) for t in types], list(values), {k: ir.Attribute.parse(v) for k, v in attributes.items()}
        ).results

    mlir.register_lowering(primitive, lower)
    return primitive.bind(*args)


class Primitives(unittest.TestCase):
    def check(self, function, args, op, pin=None, tolerance=1e-5):
        plan = tps.plan(function, args, {"x": 2, "y": 2}, pin=pin)
        self.assertIn('"%s"' % op, plan._export.text)
        expected = jax.tree.leaves(jax.jit(function)(*args))
        for found in (plan.run_here(*args), plan.jit(jax.devices()[:4])(*args)):
            for a, b in zip(jax.tree.leaves(found), expected, strict=True):
                numpy.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

    # ---- batch norm ----

    def batch_norm(self, kind, args, results, dim, pin, tolerance=1e-5):
        def function(x, *rest):
            feature = (x.shape[dim],)
            made = [(x.shape if whole else feature, x.dtype) for whole in results]
            return call("stablehlo.batch_norm_" + kind, made, x, *rest, epsilon="1.0e-3 : f32", feature_index="%d : i64" % dim)

        self.check(function, args, "stablehlo.batch_norm_" + kind, pin, tolerance)

    def test_inference(self):
        for dim in (1, 2):
            args = models.normal(8, 16, 16), *(models.normal(16) for _ in range(3)), abs(models.normal(16)) + 0.5
            self.batch_norm("inference", args, (True,), dim, {"x": P("x", "y")})

    def test_training(self):
        for pin in ({"x": P("x", "y")}, {"x": P(None, None, ("x", "y"))}):
            args = models.normal(8, 16, 4) + 2, models.normal(16), models.normal(16)
            self.batch_norm("training", args, (True, False, False), 1, pin)

    def test_gradient(self):
        x = models.normal(8, 16, 4)
        args = x, models.normal(16), x.mean((0, 2)), x.var((0, 2)), models.normal(8, 16, 4)
        self.batch_norm("grad", args, (True, False, False), 1, {"x": P("x", "y")}, 1e-4)

    # ---- chlo ----

    def test_broadcasts(self):
        floats = "add atan2 complex divide maximum minimum multiply next_after power remainder subtract zeta".split()
        integers = "and or xor shift_left shift_right_arithmetic shift_right_logical".split()
        shapes = [((8, 1, 4), (8, 6, 1)), ((6, 1), (8, 1, 4)), ((), (8, 6, 4))]
        for names, dtype in ((floats, numpy.float32), (integers, numpy.int32)):
            for a, b in shapes:
                x, y = ((numpy.abs(models.normal(*shape)) * 4 + 1.5).astype(dtype) for shape in (a, b))

                def function(x, y):
                    kinds = [numpy.complex64 if name == "complex" else dtype for name in names]
                    found = [call("chlo.broadcast_" + n, [((8, 6, 4), k)], x, y)[0] for n, k in zip(names, kinds)]
                    return [jnp.abs(f) if jnp.iscomplexobj(f) else f for f in found]

                self.check(function, (x, y), "chlo.broadcast_" + names[-1], {"y": P("x")})

    def test_compare_and_select(self):
        def function(x, y):
            less = call("chlo.broadcast_compare", [((8, 4), bool)], x, y, comparison_direction="#chlo<comparison_direction LT>")[0]
            return call("chlo.broadcast_select", [((8, 4), x.dtype)], less, x, y)

        self.check(function, (models.normal(8, 4), models.normal(4)), "chlo.broadcast_select", {"x": P("x")})

    def test_polygamma(self):
        def function(n, x):
            return call("chlo.broadcast_polygamma", [((8, 4), x.dtype)], n, x)

        self.check(function, (numpy.array([0, 1, 2, 3], "float32"), abs(models.normal(8, 4)) + 1), "chlo.broadcast_polygamma", tolerance=1e-4)

    def test_constants(self):
        def function(x):
            whole = call("chlo.constant", [((2, 2), x.dtype)], value="dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>")[0]
            like = call("chlo.constant_like", [((8, 4), x.dtype)], x, value="2.5 : f32")[0]
            return jnp.tile(whole, (4, 2)) * x + like

        self.check(function, (models.normal(8, 4),), "chlo.constant_like", {"x": P("x")})


if __name__ == "__main__":
    unittest.main()
