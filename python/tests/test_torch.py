"""Plans of modules and functions of PyTorch: names, layouts, messages, and runs on ranks of this machine."""
import dataclasses
import doctest
import json
import os
import pathlib
import tempfile
import threading
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
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5, equal_nan=True)
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

    def test_nan(self):
        """torch-mlir itself drops NaN in most of these."""
        x = models.normal(8, 16)
        x[3, 4], x[5, 6], x[5, 2], x[6, 1] = float("nan"), float("inf"), float("nan"), -float("inf")
        y = x.flip(1)

        def numbers(x, y):
            extremes = x.max(1), x.min(0), x.argmax(), x.argmin(0)
            two = torch.maximum(x, y), torch.minimum(x, y), x.fmod(y), x.fmod(0.3), x // y, x // 0.3, (x - 0.3) // -0.1, torch.div(x, y, rounding_mode="trunc")
            return extremes, two, (x.clamp(-1, 1), x.clamp(max=0), nn.functional.relu6(x), x.isfinite(), x == x, x == y)

        self.check(numbers, (x, y))
        self.check(lambda x: (x.sort(1), x.sort(0, descending=True), x.topk(3), x.topk(2, 0, largest=False), x.argsort(0)), (x,))

    def test_floor(self):
        """1 / 0.1 rounds to 10, but 1 is 9 times 0.1 and a rest."""
        self.check(lambda x: (x // 0.1, -x // 0.1, x // torch.full((), 0.1), x % 0.1, torch.div(x, -0.1, rounding_mode="floor"), x // 0), (torch.arange(1.0, 9),))

    def test_constants(self):
        """torch-mlir itself folds comparisons of constants with numbers the wrong way round."""
        def numbers(x):
            full = torch.full((), 0.1)
            compared = full < 0, full > 0, full <= 0.1, full >= 2, torch.ones(4) * 0.5 < 0, torch.full((2,), -3) % 2
            return x + (full + 1), x * full.clamp(max=0.05), [c & (x.sum() < 1e9) for c in compared[:5]], x * compared[5][0]

        self.check(numbers, (models.normal(4, 8),))

    def test_bytes(self):
        """torch-mlir itself takes unsigned numbers for signed ones."""
        x = torch.arange(32, dtype=torch.uint8).reshape(4, 8) * 9
        y = x.flip(1)

        def numbers(x, y):
            two = x + y, x * y, x / 255.0, x // 7, x % 7, x > 100, x < y, torch.maximum(x, y), x.float() * y, x.long() > y, x >> 1, x & y
            return two, (x.sum(), x.sum(1), x.amax(1), x.argmax(1), x.sort(1), x.topk(3, 1), x.bool(), x.any(1), (x.float() * 0.9).to(torch.uint8))

        self.check(numbers, (x, y))
        signed = x.to(torch.int8), y.to(torch.int8)
        self.check(lambda x, y: (x % 7, x // 7, x * (x > 0), x.max(), torch.div(x, 5, rounding_mode="trunc"), x >> 1, x | 3), signed)

    def test_orders(self):
        x = models.normal(4, 9)
        x[1, 2] = float("nan")
        edges = torch.tensor([-1.0, 0, 0, 2])

        def orders(x, edges):
            running = x.cummax(1), x.cummin(1), x.logcumsumexp(1)
            return running, x.median(1), x.kthvalue(3, 1), torch.searchsorted(edges, x), torch.searchsorted(edges, x, right=True), torch.bucketize(x, edges)

        self.check(orders, (x, edges))

    def test_numbers(self):
        x, y = models.normal(4, 8), models.normal(8, 4).t()
        y[0, 0], y[1, 1] = 0, float("inf")
        self.check(lambda x, y: (x.fmax(y), x.fmin(y), x.copysign(y), x.hypot(y), x.signbit(), x.reciprocal(), torch.dist(x, x + 1), torch.cdist(x, x, 1)), (x, y))

    def test_scatter(self):
        x, i = models.normal(4, 8), torch.tensor([[0, 1, 1, 7]])
        self.check(lambda x, i: (x.scatter(1, i, x, reduce="add"), x.scatter(1, i, 2.0, reduce="multiply"), x.index_reduce(0, i[0, :3], x[:3], "amax")), (x, i))
        bags = torch.nn.EmbeddingBag(20, 8, mode="max")
        at = torch.tensor([0, 3, 3, 8])
        plan = tps.plan(bags, (torch.arange(12), at), mesh=MESH)
        torch.testing.assert_close(plan.run_here(torch.arange(12), at), bags(torch.arange(12), at).detach())

    def test_whole_numbers(self):
        x = torch.arange(-8, 8).reshape(4, 4)
        self.check(lambda x: (x**2, x**3, x**0, x.fmod(3), x.fmod(-3), x % -3, x // 0.7, x % 0.7, x.topk(2), x.abs().sort(1)), (x,))

    def test_nothing(self):
        x = models.normal(4, 8)
        self.check(lambda x: (0 / (x - x), x[:, :0].var(1), x[:, :1].std(1), torch.var_mean(x[:, :1], 1, correction=2)), (x,))

    def test_unlike_torch(self):
        held = [1.0]
        plan = tps.plan(lambda x: x * held[0], (models.normal(4, 8),), mesh=MESH)
        held[0] = 2.0
        with self.assertRaisesRegex(tpshard.Mismatch, 'run_here: "result" differs from PyTorch: error 0.5 '):
            plan.run_here(models.normal(4, 8))

    def test_not_run_by_torch(self):
        held = [1.0]
        plan = tps.plan(lambda x: x * held[0], (models.normal(4, 8),), mesh=MESH)
        held.clear()
        with self.assertWarnsRegex(UserWarning, "run_here: PyTorch does not run the function on the CPU, .* with those of one device alone: IndexError: list"):
            plan.run_here(models.normal(4, 8))

    def test_buffer_set_and_written(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("kept", torch.ones(8))

            def forward(self, x):
                self.kept.add_(x.sum(0))
                self.kept = self.kept * 2
                return x + self.kept

        plan = tps.plan(Twice(), (models.normal(4, 8),), mesh=MESH)
        plan.run_here(models.normal(4, 8))

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
        error = self.refused(models.dropped, (torch.zeros(4),), "draws random numbers in a way that a plan does not have", "return F.dropout")
        self.assertEqual(error.op, "aten.poisson.default")

    def test_unknown_op(self):
        error = self.refused(models.Bessel(), (torch.zeros(4, 8),), "is not lowered by torch-mlir", "torch.special.bessel_j0")
        self.assertEqual(error.op, "torch.aten.special_bessel_j0")

    def test_packed(self):
        args = torch.zeros(4, 3, 8), torch.tensor([4, 3, 1])
        error = self.refused(models.Packed(), args, "makes a shape of one; a plan is for all values", "packed = nn.utils.rnn")
        self.assertEqual(error.op, "aten._pack_padded_sequence.default")

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
            (TypeError, "kwargs: is a list; give a dict", lambda: tps.plan(layer, (x,), kwargs=[1], mesh=MESH)),
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
            (TypeError, "run_here: missing a required argument: 'scale'", lambda: plan.run_here({"x": x})),
            (ValueError, 'run_here: "scale" is 3.0, but the plan is for 2.0; plan again', lambda: plan.run_here({"x": x}, 3.0)),
            (ValueError, 'run_here: "scale" is a Tensor, but was a float', lambda: plan.run_here({"x": x}, x)),
            (ValueError, 'run_here: "batch/x" is torch.float32.4, 9., but the plan is for torch.float32.4, 8.', lambda: plan.run_here({"x": torch.zeros(4, 9)}, 2.0)),
            (ValueError, 'is torch.float64.4, 8., but the plan is for torch.float32', lambda: plan.run_here({"x": x.double()}, 2.0)),
            (TypeError, "a plan is no function; plan.parallelize", lambda: plan({"x": x}, 2.0)),
            (ValueError, 'explain: no argument is called "batch/z"', lambda: plan.explain("batch/z")),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


# ---- what users found ----


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: int


class SameName(nn.Module):
    """An argument and a parameter have one name."""

    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(models.normal(4, 8, seed=3))

    def forward(self, x):
        return x - self.x


class Shared(nn.Module):
    """Writes a buffer that is a part of another one, or has two names."""

    def __init__(self, second):
        super().__init__()
        self.register_buffer("first", torch.zeros(8))
        if second is None:
            self.second = self.first
        else:
            self.register_buffer("second", self.first[:second])

    def forward(self, x):
        self.first.add_(1)
        return x[:, : self.second.shape[0]] + self.second


class Attributes(nn.Module):
    """Has tensors and other objects as plain attributes."""

    def __init__(self, other=None):
        super().__init__()
        self.weight = nn.Parameter(models.normal(8))
        self.twice, self.other = self.weight * 2, other

    def forward(self, x):
        return x * self.twice + self.weight


class Masked(nn.Module):
    def forward(self, x):
        return x[x > 0].sum()  # a shape of values


class Objects(unittest.TestCase):
    """What a plan does with the user's objects."""

    x = models.normal(4, 8)

    def refused(self, kind, text, function, args):
        with self.assertRaisesRegex(kind, text):
            tps.plan(function, args, mesh=MESH)

    def test_an_argument_called_like_a_parameter(self):
        model = SameName()
        plan = tps.plan(model, (self.x,), mesh=MESH, pin={"x#2": ("dp",)})
        self.assertEqual(list(plan.layouts), ["x", "x#2", "result"])
        torch.testing.assert_close(plan.run_here(self.x), model(self.x))

    def test_containers_that_are_not_seen(self):
        self.refused(ValueError, '"pair" is a Pair with tensors in it.*register the class', lambda pair: pair.first + 1, (Pair(self.x, 2),))
        self.refused(ValueError, '"result/1" is a Pair with tensors in it', lambda x: (x, Pair(x + 1, 2)), (self.x,))
        self.refused(ValueError, '"y" is an array of numpy; give torch.from_numpy', lambda x, y: x, (self.x, self.x.numpy()))

    def test_shared_memory(self):
        self.refused(ValueError, '"first" is written, and shares its memory with "second"', Shared(4), (self.x,))
        self.refused(tpshard.Refused, "writes a tensor that has several names, .*give it copies", Shared(None), (self.x,))

        def function(a, b):
            a.add_(1)
            return a * b

        self.refused(ValueError, '"a" is written, and shares its memory with "b"', function, (self.x, self.x))

    def test_closed_over_modules_stay_as_they_are(self):
        norm, layer = nn.BatchNorm1d(8).train(), nn.Linear(8, 8)
        self.refused(tpshard.Refused, "writes a tensor that it closes over.*make it an argument", lambda x: norm(x), (self.x,))
        self.assertEqual((norm.num_batches_tracked.item(), norm.running_mean.abs().max().item()), (0, 0))

        def backward(x):
            (layer(x) ** 2).sum().backward()
            return x + 1

        self.refused(tpshard.Refused, "writes a tensor that it closes over", backward, (self.x,))
        self.assertIsNone(layer.weight.grad)

    def test_module_stays_as_it_is(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout()).eval()
        model[0].bias.requires_grad_(False)
        before = {name: (id(p), p.requires_grad, p.clone()) for name, p in model.named_parameters()}
        plan = tps.plan(model, (self.x,), mesh=MESH)
        for name, p in model.named_parameters():
            self.assertEqual((id(p), p.requires_grad), before[name][:2])
            self.assertTrue(torch.equal(p, before[name][2]))
        self.assertEqual((torch.is_grad_enabled(), torch.get_default_dtype(), model.training), (True, torch.float32, False))
        model[1].train()
        with self.assertRaisesRegex(tpshard.Error, 'run_here: "1" was planned in eval mode; plan again'):
            plan.run_here(self.x)

    def test_attributes(self):
        model = Attributes()
        torch.testing.assert_close(tps.plan(model, (self.x,), mesh=MESH).run_here(self.x), model(self.x).detach())
        self.refused(ValueError, "has an attribute that cannot be copied: .*lock", Attributes(threading.Lock()), (self.x,))

    def test_what_ends_torch_mlir(self):
        """It runs in a process of its own."""
        self.refused(tpshard.Refused, "'aten.repeat.*': is not lowered by torch-mlir", lambda a: a.repeat(0, 2), (self.x,))

    def test_shapes_of_values(self):
        self.refused(tpshard.Refused, "makes a shape of a value of a tensor.*write torch.where", Masked(), (self.x,))
        self.refused(tpshard.Refused, "'cond': is not lowered by torch-mlir; write torch.where", lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), (self.x,))

    def test_calls(self):
        layer = nn.Linear(8, 8)
        plan = tps.plan(layer, (self.x,), mesh=MESH)
        torch.testing.assert_close(plan.run_here(input=self.x), layer(self.x).detach())
        self.assertEqual(tps.plan(layer, (), kwargs={"input": self.x}, mesh=MESH).layouts, plan.layouts)
        self.assertEqual(tps.plan(torch.compile(layer), (self.x,), mesh=MESH).layouts, plan.layouts)
        double = lambda x: x * 2
        self.assertEqual(list(tps.plan(torch.compile(double), (self.x,), mesh=MESH).layouts), ["x", "result"])
        self.assertEqual(list(tps.plan(nn.Sequential(), (self.x,), mesh=MESH).layouts), ["input", "result"])
        plan = tps.plan(lambda x, n: x * n, (self.x.long(), 1), mesh=MESH)
        with self.assertRaisesRegex(ValueError, '"n" is 1.0, but the plan is for 1; plan again'):
            plan.run_here(self.x.long(), 1.0)
        plan = tps.plan(lambda x, n: x * n, (self.x, float("nan")), mesh=MESH)
        self.assertTrue(plan.run_here(self.x, float("nan")).isnan().all())

    def test_gradient_of_an_argument(self):
        def function(x, w):
            return torch.autograd.grad((x @ w).sum(), w)[0]

        w = models.normal(8, 8).requires_grad_()
        torch.testing.assert_close(tps.plan(function, (self.x, w), mesh=MESH).run_here(self.x, w), function(self.x, w))

    def test_devices(self):
        with torch.device("meta"):
            plan = tps.plan(nn.Linear(8, 8), (torch.zeros(4, 8),), mesh=MESH)
        self.assertEqual(plan.layouts, tps.plan(nn.Linear(8, 8), (self.x,), mesh=MESH).layouts)
        f8 = self.x.to(torch.float8_e4m3fn)
        torch.testing.assert_close(tps.plan(lambda x: x.float() * 2, (f8,), mesh=MESH).run_here(f8), f8.float() * 2)


class Page(unittest.TestCase):
    def test_sessions(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "how-to" / "shard-a-pytorch-module.md"
        failed, n = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
        self.assertEqual(failed, 0)
        self.assertGreater(n, 10)


if __name__ == "__main__":
    unittest.main()
