"""Random numbers of planned modules and functions: PyTorch, which gets the same numbers, is the judge."""
import unittest
import warnings

warnings.filterwarnings("ignore", category=FutureWarning)

import numpy
import torch
import torch.nn.functional as F
import torch_models as models
from torch import nn
from torch.utils.checkpoint import checkpoint

import tpshard
import tpshard.torch as tps
from tpshard.torch._draws import Draw, offset_of

MESH = {"dp": 2, "tp": 2}

DRAWS = {
    "dropout": lambda x: F.dropout(x, 0.3) + F.dropout(x, 1.0) + F.dropout(x, 0.0) + F.dropout(x[:0], 0.5).sum() + F.dropout(x, 0.6),
    "dropout of bf16": lambda x: F.dropout(x.bfloat16(), 0.3),
    "dropout of channels": lambda x: F.dropout2d(x[None], 0.3) + F.alpha_dropout(x, 0.2) + F.feature_alpha_dropout(x[None], 0.2),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.3),
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()) + x.clone().bernoulli_(0.3) + x.clone().bernoulli_(x.sigmoid()),
    "uniform": lambda x: torch.rand(8) + torch.rand_like(x) + torch.empty(6, 8).uniform_(-1, 3) + F.gumbel_softmax(x),
    "normal": lambda x: torch.randn(8) + x.exp() * torch.randn_like(x) + torch.normal(x, 1.0) + torch.normal(1.0, x.exp()) + torch.normal(x, x.exp()),
    "normal of numbers": lambda x: torch.normal(0.0, 2.0, (6, 8)) + x.clone().normal_(1, 3),
    "others": lambda x: x.clone().cauchy_() + x.clone().geometric_(0.3) + x.clone().log_normal_() + x.clone().exponential_(2),
    "whole": lambda x: torch.randint(0, 2**40, (6, 8)) + torch.randint(-3, 7, (8,)) + torch.randint_like(torch.zeros(8, dtype=torch.int64), 5),
    "f64": lambda x: torch.rand(8, dtype=torch.float64) + torch.randn(8, dtype=torch.float64),
    "narrow": lambda x: torch.rand(8, dtype=torch.float16) + torch.randn(8, dtype=torch.bfloat16),
    "permutation": lambda x: x[:, torch.randperm(6)],
    "multinomial": lambda x: (torch.multinomial(x[0].sigmoid(), 3), torch.multinomial(x[0].sigmoid(), 9, replacement=True), torch.multinomial(x[0].exp(), 1)),
    "distribution": lambda x: torch.distributions.Normal(x, x.exp(), validate_args=False).rsample(),
    "scalar": lambda x: torch.rand(()) * x,
}


class Checkpointed(nn.Module):
    """use_reentrant None: without a checkpoint."""

    def __init__(self, use_reentrant, width=8):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.3), nn.Linear(4 * width, width))
        self.use_reentrant = use_reentrant

    def forward(self, x):
        made = self.layer(x) if self.use_reentrant is None else checkpoint(self.layer, x, use_reentrant=self.use_reentrant)
        return F.dropout(x + made, 0.2)


class Random(unittest.TestCase):
    def test_operations(self):
        x = models.normal(4, 6, 8)
        for name, function in DRAWS.items():
            with self.subTest(name):
                tps.plan(function, (x,), mesh=MESH).run_here(x)

    def test_unread(self):
        """Numbers that nobody reads are drawn, so that the others are those that the module draws; also without gradients."""
        x, layer = models.normal(4, 8), nn.Linear(8, 8)

        class Unread(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def forward(self, x):
                torch.rand(4), F.dropout(x, 0.5), torch.randn_like(x)
                with torch.no_grad():
                    y = F.dropout(self.layer(x), 0.2)
                return self.layer(F.dropout(x, 0.3)) + y

        for backward in (False, True):
            tps.plan(Unread(), (x,), mesh={"tp": 2}, backward=backward).run_here(x)

    def test_gradients(self):
        x = models.normal(4, 6, 8)
        attention = nn.MultiheadAttention(8, 2, dropout=0.3, batch_first=True)
        for name, layer, args in (
            ("encoder", nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True), (x,)),
            ("attention", attention, (x, x, x)),
            ("lstm", nn.LSTM(8, 8, 3, dropout=0.3, batch_first=True), (x,)),
            ("gru", nn.GRU(8, 8, 2, dropout=0.3, bidirectional=True), (x,)),
            ("rnn", nn.RNN(8, 8, 2, dropout=0.3), (x,)),
            ("checkpoint", Checkpointed(False), (x,)),
            ("reentrant checkpoint", Checkpointed(True), (x,)),
        ):
            with self.subTest(name):
                tps.plan(layer, args, mesh=MESH, backward=True).run_here(*args)

    def test_checkpoint(self):
        """What a checkpoint calls is computed again, with the same random numbers: memory falls, gradients are the same."""
        x, plans = models.normal(256, 32), []
        for use_reentrant in (None, False, True):
            torch.manual_seed(0)
            layers = [Checkpointed(use_reentrant, 32) for _ in range(4)]
            plans.append(tps.plan(nn.Sequential(*layers), (x,), mesh={"tp": 2}, backward=True))
        gradients = []
        for plan in plans:
            torch.manual_seed(1)
            gradients.append(plan.run_here(x)[1])
        self.assertEqual([plan.text.count("bufferization.alloc_tensor") for plan in plans], [0, 4, 4])
        for plan, found in zip(plans[1:], gradients[1:]):
            self.assertLess(plan.memory, 0.9 * plans[0].memory)
            for name, gradient in gradients[0].items():
                torch.testing.assert_close(found[name], gradient, msg=name)

    def test_checkpoint_of_halves(self):
        """Barriers in bf16, of several inputs, one of them of whole numbers, and of a module that is called twice."""
        x, at = models.normal(6, 8).bfloat16(), torch.arange(6)
        layer = nn.Linear(8, 8).bfloat16()

        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def part(self, x, y, at):
                return self.layer(x[at]).sigmoid() * torch.tensor([0.5]) * checkpoint(lambda y: y.tanh() * y, y, use_reentrant=False)

            def forward(self, x, at):
                y = checkpoint(self.part, x, x + 1, at, use_reentrant=False)
                return checkpoint(self.part, x, at=at, y=y, use_reentrant=False)

        plan = tps.plan(Twice(), (x, at), mesh={"tp": 2}, backward=True)
        self.assertEqual(plan.text.count("bufferization.alloc_tensor"), 4)
        plan.run_here(x, at)

    def test_checkpoint_of_constants(self):
        """What a checkpoint is called with may be known: all elements equal, or folded."""
        layer = nn.Linear(8, 8)

        class Constant(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def part(self, x, y):
                return self.layer(x * y).sigmoid() + y.exp()

            def forward(self, x):
                y = checkpoint(self.part, x, torch.full((4, 8), 0.5), use_reentrant=False)
                return checkpoint(self.part, y, torch.arange(8.0) * 0.1, use_reentrant=False)

        x = models.normal(4, 8)
        tps.plan(Constant(), (x,), mesh={"tp": 2}, backward=True).run_here(x)

    def test_seed(self):
        """A seed gives the same numbers on all meshes; each run draws another one."""
        layer, x = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5)), models.normal(16, 8)
        plan = tps.plan(layer, (x,), mesh={"tp": 2}, pin={"result": (None, "tp")})
        other = tps.plan(layer, (x,), mesh=MESH, pin={"result": ("dp", "tp")})
        self.assertEqual(other.layouts["random/seed"], "[]")
        found = []
        for seed, run in ((1, plan), (1, other), (2, plan)):
            torch.manual_seed(seed)
            found.append(run.run_here(x))
        found.append(plan.run_here(x))
        is_kept = [(made != 0) for made in found]
        self.assertTrue(torch.equal(is_kept[0], is_kept[1]))
        for a, b in ((0, 2), (2, 3)):
            self.assertGreater((is_kept[a] != is_kept[b]).float().mean(), 0.4)

    def test_eval(self):
        self.assertNotIn("random/seed", tps.plan(nn.Dropout(0.5).eval(), (torch.zeros(4),), mesh=MESH).layouts)

    def test_refused(self):
        generator = torch.Generator()
        for function in (lambda x: torch.poisson(x), lambda x: x + torch.rand(4, generator=generator), lambda x: x + torch.randn(4, dtype=torch.complex64)):
            with self.assertRaisesRegex((tpshard.Refused, TypeError), "draws random numbers in a way that a plan does not have"):
                tps.plan(function, (torch.zeros(4),), mesh=MESH)

    def test_hash(self):
        """Bits are even, and those of neighboring rows, columns, draws and seeds are independent: within five deviations."""
        draw = Draw(torch.tensor(5))
        bits = draw.bits((512, 1024)).numpy().view(numpy.uint32)
        n = bits.size
        for at in range(32):
            self.assertLess(abs((bits >> at & 1).mean() - 0.5), 2.5 / n**0.5)
        unit = bits / 2.0**32 - 0.5
        others = [unit[1:], unit[:, 1:], unit[1:, 1:]]
        for key in (torch.tensor(6), torch.tensor(5 + offset_of(0)), torch.tensor(5 + offset_of(1))):
            others.append(Draw(key).bits((512, 1024)).numpy().view(numpy.uint32) / 2.0**32 - 0.5)
        for other in others:
            product = unit[: other.shape[0], : other.shape[1]] * other
            self.assertLess(abs(product.mean()) * 12, 5 / product.size**0.5)
        self.assertAlmostEqual(len(numpy.unique(bits)), n - n**2 / 2**33, delta=5 * (n**2 / 2**33) ** 0.5)
        normal = draw.normal((512, 1024), torch.float32).double()
        for power, wanted, deviation in ((1, 0, 1), (2, 1, 2**0.5), (4, 3, 96**0.5)):
            self.assertLess(abs((normal**power).mean().item() - wanted), 5 * deviation / n**0.5)


if __name__ == "__main__":
    unittest.main()
