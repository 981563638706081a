"""Plans with a backward pass: on all devices in one process, results and gradients are those of PyTorch on one device."""
import tempfile
import unittest
import warnings

warnings.filterwarnings("ignore", category=FutureWarning)

import lockstep
import torch
import torch_gradients as gradients
import torch_models as models
import torch_programs
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.utils import _pytree as pytree

import tpshard
import tpshard.torch as tps
from tpshard._exported import stablehlo_text
from tpshard.torch.program.split import split

MESHES = ({"x": 2, "y": 2}, {"x": 4})
MESH = MESHES[0]


class Programs(unittest.TestCase):
    def check(self, function, args, mesh, **options):
        """Runs forward and backward pass of each device."""
        module = function if isinstance(function, nn.Module) else None
        kept = {} if module is None else {name: b.clone() for name, b in module.named_buffers()}
        plan = tps.plan(function, args, mesh=mesh, backward=True, **options)
        arguments, results = plan._traced.arguments, plan._traced.results
        given = plan._call.tensors_of("test", args, {}, module)
        n, n_results = plan.devices, sum(r.kind != "gradient" for r in results)
        graphs = lockstep.graphs(stablehlo_text(plan.text, plan._options, keeps_attention=True), n)
        forward, backward = zip(*(split(graph, len(given), n_results) for graph in graphs))
        self.code = forward[0].code, backward[0].code

        def parts(tensors, entries, number):
            return [torch_programs.sharded(x.detach(), e["dims"], mesh, number) for x, e in zip(tensors, entries)]

        made = lockstep.run(forward, [parts(given, plan._arguments, d) for d in range(n)])
        for tensor in given:
            tensor.grad = None
        wanted = [x for x in pytree.tree_leaves(function(*args)) if isinstance(x, torch.Tensor)]
        of_name = {r.name: x for r, x in zip([r for r in results if r.kind == "output"], wanted)}
        state = {} if module is None else dict(module.named_buffers())
        of_name.update({r.name: state[r.path] for r in results if r.kind == "update"})
        at = [a for a in arguments if a.kind == "gradient"]
        behind = [torch.randn(a.shape, generator=torch.Generator().manual_seed(7)).to(a.dtype) for a in at]
        torch.autograd.backward([of_name[a.path] for a in at], behind)
        entries = plan._arguments[len(given) :]
        found = lockstep.run(backward, [[*made[d][n_results:], *parts(behind, entries, d)] for d in range(n)])
        own = dict(zip((a.name for a in arguments), given))
        of_name.update({r.name: own[r.path].grad for r in results if r.kind == "gradient"})
        for d in range(n):
            for r, entry, have in zip(results, plan._results, [*made[d][:n_results], *found[d]]):
                want = of_name[r.name] if of_name[r.name] is not None else torch.zeros(r.shape)
                self.compare(have, torch_programs.sharded(want.detach(), entry["dims"], mesh, d), want, r.name)
        planned = {r.path for r in results if r.kind == "gradient"}
        for name, tensor in own.items():
            if name not in planned and tensor.grad is not None:
                self.assertEqual(tensor.grad.abs().max(), 0, name + " has a gradient that the plan lacks")
        for name, buffer in kept.items():
            state[name].copy_(buffer)
        return plan

    def compare(self, have, want, whole, name):
        self.assertEqual((have.shape, have.dtype), (want.shape, want.dtype), name)
        have, want, whole = (torch.view_as_real(x.detach().resolve_conj()) if x.is_complex() else x for x in (have, want, whole))
        scale = whole.detach().float().nan_to_num().abs().max().item() if whole.dtype.is_floating_point else 0
        atol = scale * (3e-2 if want.dtype == torch.bfloat16 else 5e-5) + 1e-6 * want.dtype.is_floating_point
        torch.testing.assert_close(have, want, atol=atol, rtol=0, equal_nan=True, msg=lambda text: name + ": " + text)

    def test_programs(self):
        every = {**gradients.PROGRAMS, **{name: models.PROGRAMS[name] for name in ("decoder", "recurrent", "sorting", "lookups", "resized")}}
        for i, (name, (function, args)) in enumerate(every.items()):
            if not isinstance(function, nn.Module):
                args = tuple(x.detach().clone().requires_grad_(x.dtype.is_floating_point) for x in args)
            with self.subTest(name):
                self.check(function, args, MESHES[i % len(MESHES)])

    def test_attention(self):
        """The gradient of attention stores no scores where PyTorch's own has none."""
        stored = {*models.STORED, "added mask"}
        for name, (function, args) in models.ATTENTIONS.items():
            args = tuple(x.detach().clone().requires_grad_(x.dtype.is_floating_point and k < 3) for k, x in enumerate(args))
            for pin in {}, {"query": (None, None, ["x", "y"])}:
                with self.subTest(name, pin=pin):
                    self.check(function, args, MESH, pin=pin)
                    self.assertEqual([self.code[0].count("_attended("), self.code[1].count("_gradients(")], [name not in stored] * 2)

    def test_layouts(self):
        model, args = models.Decoder(), (models.ids(),)
        for pin in ({"*": ()}, {"result": ("x", None, "y")}, {"*weight": (["x", "y"],)}):
            with self.subTest(pin):
                self.check(model, args, MESH, pin=pin)

    def test_a_wrong_gradient_is_seen(self):
        model = nn.Linear(8, 8)
        model.weight.register_hook(lambda gradient: gradient * 1.01)  # which a plan does not see
        with self.assertRaisesRegex(AssertionError, "gradient/weight: "):
            self.check(model, (models.normal(4, 8),), MESH)

    def test_what_is_kept(self):
        """A view is made again from what it shows, and an argument is kept as it is."""

        def function(x):
            y = x.exp()
            return (y.t().reshape(-1) * y.t().reshape(-1)).sum()

        self.check(function, (models.normal(4, 8).requires_grad_(),), {"x": 1})
        kept = self.code[0].rpartition("return ")[2].strip().strip("()").split(", ")
        self.assertEqual(len(kept), 2, self.code)  # the result, and y


class Plans(unittest.TestCase):
    def test_names_and_layouts(self):
        model, args = models.Decoder(tied=True), (models.ids(),)
        plan = tps.plan(model, args, mesh=MESH, backward=True, pin={"layers.*.gate.weight": [Replicate(), Shard(0)], "result": ("x", None, "y")})
        names = [name for name, _ in model.named_parameters()]
        self.assertEqual(list(plan.placements), [*names, "ids", "gradient/result", "result", *("gradient/" + name for name in names)])
        for name in [*names, "result"]:
            self.assertEqual(plan.placements[name], plan.placements["gradient/" + name], name)
        self.assertEqual(plan.placements["gradient/result"], (Shard(0), Shard(2)))
        self.assertEqual(plan.placements["layers.0.gate.weight"], (Replicate(), Shard(0)))
        for collective in plan.collectives:  # those of the backward pass, too, are of lines of the module
            self.assertTrue(collective["at"].startswith("torch_models.py:"), collective["at"])
        with tempfile.NamedTemporaryFile(suffix=".json") as file:  # the same layouts for a plan without a backward pass
            plan.save(file.name)
            other = tps.plan(model, args, mesh=MESH, pin=tps.load(file.name))
        self.assertEqual(other.placements, {name: p for name, p in plan.placements.items() if not name.startswith("gradient/")})
        described = [c["description"] for c in plan.collectives]
        self.assertIn("gradient of layers.0.attention.q.weight", described)

    def test_run_here_without_gradients(self):
        """PyTorch's own gradients, with which those of the plan are compared, do not depend on the mode of the caller."""
        x = models.normal(4, 8)
        plan = tps.plan(nn.Linear(8, 4), (x,), mesh=MESH, backward=True)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(set(plan.run_here(x)[1]), {"weight", "bias"})

    def test_run_here(self):
        model, args = models.Decoder(tied=True), (models.ids(),)
        result, found = tps.plan(model, args, mesh=MESH, backward=True).run_here(*args)
        wanted = model(*args)
        wanted.sum().backward()
        torch.testing.assert_close(result, wanted.detach(), atol=1e-5, rtol=1e-5)
        self.assertEqual(list(found), [name for name, _ in model.named_parameters()])
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(found[name], parameter.grad, atol=1e-5 * parameter.grad.abs().max().item(), rtol=0)

    def test_shapes_are_enough(self):
        with torch.device("meta"):
            model, ids = models.Decoder(), torch.zeros(4, 16, dtype=torch.long)
        self.assertEqual(tps.plan(model, (ids,), mesh=MESH, backward=True).layouts, tps.plan(models.Decoder(), (models.ids(),), mesh=MESH, backward=True).layouts)

    def test_autocast(self):
        """The casts are those of where the plan is made; those of a GPU are made on the CPU, too."""
        layer, x = models.Layer(32, 4), models.normal(2, 16, 32)
        self.assertNotIn("bf16", tps.plan(layer, (x,), mesh=MESH, backward=True).text)
        torch.set_autocast_enabled("cuda", True)
        torch.set_autocast_dtype("cuda", torch.bfloat16)
        try:
            plan = tps.plan(layer, (x,), mesh=MESH, backward=True)
            self.assertIn("bf16", tps.plan(layer, (x,), mesh=MESH).text)
        finally:
            torch.set_autocast_enabled("cuda", False)
        found, gradients_ = plan.run_here(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            wanted = layer(x)
        wanted.sum().backward()
        torch.testing.assert_close(found, wanted.detach(), atol=2e-2, rtol=2e-2)
        for name, parameter in layer.named_parameters():
            torch.testing.assert_close(gradients_[name], parameter.grad, atol=2e-2 * parameter.grad.abs().max().item(), rtol=0)

    def test_messages(self):
        x, layer = models.normal(4, 8), nn.Linear(8, 8)
        kept = gradients.Layers(gradients.write_buffer, kept=torch.zeros(8))
        rrelu = nn.Sequential(nn.Linear(8, 8), nn.RReLU()).train()
        for kind, text, function, options in (
            (ValueError, "backward: no result depends on a tensor with requires_grad", lambda x: x * 2, {}),
            (ValueError, r"backward: a tensor of shape \[8, 8\] is read, and would get no gradient: it is no argument", lambda x: layer(x), {}),
            (tpshard.Refused, "writes a buffer or an argument with a value that has a gradient; write value.detach", kept, {}),
            (tpshard.Refused, "draws random numbers.*call eval", rrelu, {}),
            (tpshard.Refused, "branches on a value of a tensor", gradients.Layers(lambda self, x: self.a(x) if x.sum() > 0 else x), {}),
            (tpshard.Refused, "has an operation with effects", lambda x: torch.linalg.inv(x[:, :4]), {}),
            (ValueError, "backward: a function with donate_argnums is a whole step", layer, {"donate_argnums": 0}),
        ):
            given = x.clone().requires_grad_("effects" in text)
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                tps.plan(function, (given,), mesh=MESH, backward=True, **options)
        self.assertIsNone(layer.weight.grad)
        self.assertEqual(kept.kept.abs().max(), 0)


if __name__ == "__main__":
    unittest.main()
