"""Plans of modules and functions of PyTorch: names, layouts, messages, and runs on ranks of this machine."""
import doctest
import json
import os
import pathlib
import tempfile
import unittest
import warnings

warnings.filterwarnings("ignore", category=FutureWarning)

import torch
import torch_models as models
from torch import nn
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.utils import _pytree as pytree

import tpshard
import tpshard.torch as tps

MESH = {"dp": 2, "tp": 2}


def line_of(text):
    lines = pathlib.Path(models.__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


def linear(**options):
    return tps.plan(nn.Linear(16, 8), (torch.zeros(4, 16),), **{"mesh": MESH, **options})


class Plans(unittest.TestCase):
    def test_decoder(self):
        model = models.Decoder()
        plan = tps.plan(model, (models.ids(),), mesh=MESH, pin={"layers.*.q.weight": [Replicate(), Shard(0)]})
        self.assertLessEqual(plan.bound, plan.cost)
        self.assertEqual((plan.devices, plan.mesh), (4, MESH))
        self.assertEqual(set(plan.placements), {*dict(model.named_parameters()), "ids", "result"})
        self.assertEqual(plan.placements["layers.0.attention.q.weight"], (Replicate(), Shard(0)))
        self.assertEqual(plan.layouts["layers.0.attention.q.weight"], '[["tp"], []]')
        self.assertRegex(repr(plan), r"<Plan on dp=2,tp=2: .* of a device; .*>")
        self.assertIn('is pinned to [["tp"], []]', plan.explain("layers.0.attention.q.weight"))
        place = "torch_models.py:%d" % line_of("y = F.scaled_dot_product_attention")
        self.assertIn("has layout", plan.explain(place))
        for collective in plan.collectives:
            self.assertTrue(collective["at"].startswith("torch_models.py:"), collective["at"])

    def test_shapes_are_enough(self):
        with torch.device("meta"):
            model, ids = models.Decoder(), torch.zeros(4, 16, dtype=torch.long)
        plan = tps.plan(model, (ids,), mesh=MESH)
        self.assertEqual(plan.layouts, tps.plan(models.Decoder(), (models.ids(),), mesh=MESH).layouts)
        with self.assertRaisesRegex(ValueError, 'run_here: "embedding.weight" lies on torch.device."meta". and has no values'):
            plan.run_here(models.ids())

    def test_roles(self):
        arguments = linear().details["functions"][0]["arguments"]
        self.assertEqual([a["role"] for a in arguments], ["param", "param", ""])
        plan = tps.plan(lambda w, m, x: x @ w + m, (torch.zeros(8, 8),) * 3, mesh=MESH, params=0, state="m")
        self.assertEqual([a["role"] for a in plan.details["functions"][0]["arguments"]], ["param", "state", ""])

    def test_names(self):
        plan = tps.plan(models.Decoder(tied=True), (models.ids(),), mesh=MESH)
        self.assertIn("embedding.weight", plan.layouts)
        self.assertNotIn("head.weight", plan.layouts)  # the same tensor
        x = torch.zeros(4, 4)
        function = lambda batch, *rest, scale=1.0, mask=None: {"sum": batch["a"] + batch["list"][1], "rest": [rest[0] * scale, None]}
        plan = tps.plan(function, ({"a": x, "list": [3, x]}, x), kwargs={"scale": 2.0}, mesh=MESH)
        self.assertEqual(list(plan.layouts), ["batch/a", "batch/list/1", "rest/0", "result/sum", "result/rest/0"])
        found = plan.run_here({"a": x + 1, "list": [3, x + 2]}, x + 3, scale=2.0)
        self.assertEqual((found["sum"][0, 0].item(), found["rest"][0][0, 0].item(), found["rest"][1]), (3, 6, None))
        plan = tps.plan(lambda result: result + 1, (x,), mesh=MESH)
        self.assertEqual(list(plan.layouts), ["result", "result#2"])

    def test_closed_over(self):
        held = models.normal(8)
        plan = tps.plan(lambda x: x + held, (torch.zeros(4, 8),), mesh=MESH)
        self.assertEqual(list(plan.layouts), ["constant/0", "x", "result"])
        torch.testing.assert_close(plan.run_here(torch.ones(4, 8)), 1 + held.expand(4, 8))

    def test_new_values(self):
        step, params = models.training_step(models.Decoder())
        plan = tps.plan(step, (params, models.ids()), mesh=MESH, params="params", donate_argnums=0)
        for name in params:
            self.assertEqual(plan.layouts["params/" + name], plan.layouts["result/0/" + name])
        norm = nn.BatchNorm1d(8).train()
        plan = tps.plan(norm, (torch.zeros(4, 8),), mesh=MESH)
        self.assertEqual(plan.layouts["new/running_mean"], plan.layouts["running_mean"])
        self.assertEqual({r["updates"] for r in plan.details["functions"][0]["results"][:3]}, {2, 3, 4})

    def test_pins(self):
        for given in ([Replicate(), Shard(1)], [Replicate(), Shard(-1)], (None, "tp"), (None, ["tp"]), [[], ["tp"]]):
            plan = linear(pin={"weight": given})
            self.assertEqual(plan.placements["weight"], (Replicate(), Shard(1)), given)
        self.assertEqual(linear(pin={"*": ()}).layouts, {"weight": "[[], []]", "bias": "[[]]", "input": "[[], []]", "result": "[[], []]"})
        self.assertEqual(linear(pin={"weight": [Shard(0), Shard(0)]}).layouts["weight"], '[["dp", "tp"], []]')

    def test_no_placements(self):
        plan = linear(boundary="any", pin={"weight": (["tp", "dp"],)})
        with self.assertRaisesRegex(tpshard.Error, 'weight" has the layout .*another order of the axes'):
            plan.placements
        plan = tps.plan(nn.Linear(16, 8), (torch.zeros(4, 16),), mesh={"tp": 4}, boundary="any", pin={"weight": (["tp:(1)2"],)})
        with self.assertRaisesRegex(tpshard.Error, 'cannot say a part of an axis; split axis "tp"'):
            plan.placements

    def test_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            plan = linear(pin={"weight": [Replicate(), Shard(1)]})
            plan.save(path)
            self.assertEqual(linear(pin=tps.load(path)).layouts, plan.layouts)
            with open(path, "w") as file:
                json.dump({"schema": "tpshard.jax/1", "layouts": {}}, file)
            with self.assertRaisesRegex(ValueError, "was not written by Plan.save"):
                tps.load(path)
            page = os.path.join(folder, "plan.html")
            plan.report(page)
            self.assertIn("<html", pathlib.Path(page).read_text())


class Runs(unittest.TestCase):
    def check(self, function, args, **options):
        plan = tps.plan(function, args, **{"mesh": MESH, **options})
        found, wanted = plan.run_here(*args), function(*args)
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
        self.assertEqual(pytree.tree_structure(found), pytree.tree_structure(wanted))
        return plan

    def test_module(self):
        self.check(models.Decoder(), (models.ids(),))

    def test_training_step(self):
        step, params = models.training_step(models.Decoder())
        self.check(step, (params, models.ids()), params="params", donate_argnums=0)

    def test_types(self):
        args = models.normal(4, 8).bfloat16(), models.normal(4, 8).half(), torch.arange(32, dtype=torch.uint8).reshape(4, 8), torch.ones(4, 8, dtype=torch.bool)
        self.check(lambda a, b, c, d: (a + 1, b * 2, c + 3, ~d, c.to(torch.int64), a.double()), args)

    def test_buffers_are_kept(self):
        model, x, at = models.Cache(), models.normal(4, 1, 8), torch.tensor([5])
        plan = tps.plan(model, (x, at), mesh=MESH)
        torch.testing.assert_close(plan.run_here(x, at), x[:, 0])
        self.assertEqual(model.kept.abs().sum(), 0)
        torch.testing.assert_close(model(x, at), x[:, 0])


class Messages(unittest.TestCase):
    def refused(self, function, args, text, line):
        with self.assertRaisesRegex(tpshard.Refused, text) as caught:
            tps.plan(function, args, mesh=MESH)
        self.assertEqual((os.path.basename(caught.exception.file), caught.exception.line), ("torch_models.py", line_of(line)))
        return caught.exception

    def test_branch(self):
        self.refused(models.branching, (torch.zeros(4),), "branches on a value of a tensor.*write torch.where", "return x if x.sum()")

    def test_random(self):
        error = self.refused(models.dropped, (torch.zeros(4),), "draws random numbers.*call eval", "return F.dropout")
        self.assertTrue(error.op.startswith("aten."), error.op)

    def test_unknown_op(self):
        error = self.refused(models.Bessel(), (torch.zeros(4, 8),), "is not lowered by torch-mlir", "torch.special.bessel_j0")
        self.assertEqual(error.op, "torch.aten.special_bessel_j0")

    def test_culprit(self):
        """Where torch-mlir names a constant, the operation that uses it is found."""
        from tpshard.torch import _module, _trace

        found = _module._culprit(_trace.trace(models.Bessel(), (torch.zeros(4),), {}).graph)
        self.assertEqual((found.op, found.line), ("aten.special_bessel_j0.default", line_of("torch.special.bessel_j0")))
        self.assertIsNone(_module._culprit(_trace.trace(models.Decoder(), (models.ids(),), {}).graph))

    def test_wrong_calls(self):
        x, layer = torch.zeros(4, 16), nn.Linear(16, 8)
        for kind, text, call in (
            (TypeError, "give the module, its arguments as one tuple, and a mesh", lambda: tps.plan(layer, (x,))),
            (TypeError, "is one argument too many", lambda: tps.plan(layer, (x,), MESH, "cpu")),
            (TypeError, "function: is an int; give a module", lambda: tps.plan(3, (x,), mesh=MESH)),
            (TypeError, "args: is a Tensor; give a tuple", lambda: tps.plan(layer, x, mesh=MESH)),
            (TypeError, "mesh: is 4; give axes with their sizes, such as .* or a DeviceMesh", lambda: tps.plan(layer, (x,), mesh=4)),
            (ValueError, "mesh: axis 'tp' has size 0", lambda: linear(mesh={"tp": 0})),
            (TypeError, "topology: is an int", lambda: linear(topology=3)),
            (ValueError, "topology: \"host\" is a topology of shard-run alone", lambda: linear(topology="host")),
            (TypeError, "plan.. has no parameter 'placements'; give pin", lambda: linear(placements={})),
            (TypeError, "plan.. has no parameter 'memory_limits'; did you mean memory_limit", lambda: linear(memory_limits=3)),
            (TypeError, "plan.. has no parameter 'zz'; those of the module belong into kwargs", lambda: linear(zz=3)),
            (TypeError, "pin: is a list; give {name: placements}", lambda: linear(pin=[Shard(0)])),
            (ValueError, 'pin: the pattern "weigth" matches no name; did you mean "weight"', lambda: linear(pin={"weigth": ()})),
            (TypeError, 'pin of "weight": is one placement; give a list', lambda: linear(pin={"weight": Shard(0)})),
            (TypeError, 'pin of "weight": is 3; give placements', lambda: linear(pin={"weight": 3})),
            (TypeError, 'pin of "weight": has the entry 3; give placements', lambda: linear(pin={"weight": (3,)})),
            (ValueError, 'pin of "weight": has 1 placement, but the mesh has 2 axes: dp, tp', lambda: linear(pin={"weight": [Shard(0)]})),
            (TypeError, 'pin of "weight": has the placement Partial', lambda: linear(pin={"weight": [Partial(), Replicate()]})),
            (ValueError, 'pin of "bias": Shard.1., but the value has 1 dimension', lambda: linear(pin={"bias": [Shard(1), Replicate()]})),
            (ValueError, 'pin of "weight": the mesh has no axis "pp"', lambda: linear(pin={"weight": ("pp",)})),
            (ValueError, "has axis \"tp\" twice", lambda: linear(pin={"weight": ("tp", "tp")})),
            (TypeError, "donate_argnums: 'x' is no number", lambda: linear(donate_argnums="x")),
            (ValueError, "donate_argnums: there is no argument 1; there are 1", lambda: linear(donate_argnums=1)),
            (tpshard.Infeasible, "limit", lambda: linear(memory_limit=64)),
            (ValueError, "is a sparse|has the layout torch.sparse_coo; give a dense tensor", lambda: tps.plan(lambda x: x, (x.to_sparse(),), mesh=MESH)),
            (ValueError, "the function returns no tensor", lambda: tps.plan(lambda x: 3, (x,), mesh=MESH)),
            (AttributeError, "tpshard has no plan; it is tpshard.jax.plan or tpshard.torch.plan", lambda: tpshard.plan),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()

    def test_wrong_runs(self):
        x, function = torch.zeros(4, 8), lambda batch, scale: batch["x"] * scale
        plan = tps.plan(function, ({"x": x}, 2.0), mesh=MESH)
        for kind, text, call in (
            (ValueError, 'run_here: "batch/x" is missing', lambda: plan.run_here({"y": x}, 2.0)),
            (ValueError, "run_here: 1 argument is given, but the plan is for 2", lambda: plan.run_here({"x": x})),
            (ValueError, 'run_here: "scale" is 3.0, but the plan is for 2.0; plan again', lambda: plan.run_here({"x": x}, 3.0)),
            (ValueError, 'run_here: "scale" is a Tensor, but was a float', lambda: plan.run_here({"x": x}, x)),
            (ValueError, 'run_here: "batch/x" is torch.float32.4, 9., but the plan is for torch.float32.4, 8.', lambda: plan.run_here({"x": torch.zeros(4, 9)}, 2.0)),
            (ValueError, 'is torch.float64.4, 8., but the plan is for torch.float32', lambda: plan.run_here({"x": x.double()}, 2.0)),
            (TypeError, "a plan is no function; plan.parallelize", lambda: plan({"x": x}, 2.0)),
            (ValueError, 'explain: no argument is called "batch/z"', lambda: plan.explain("batch/z")),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


class Page(unittest.TestCase):
    def test_sessions(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "how-to" / "shard-a-pytorch-module.md"
        failed, n = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
        self.assertEqual(failed, 0)
        self.assertGreater(n, 10)


if __name__ == "__main__":
    unittest.main()
