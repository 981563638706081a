"""Per-device programs as graphs of PyTorch, run on all devices in one process: they compute what PyTorch computes on one
device, and what shard-run says of files of MLIR."""
import pathlib
import unittest
import warnings

warnings.filterwarnings("ignore", category=FutureWarning)

import lockstep
import torch
import torch_models as models
import torch_programs
from torch import fx, nn
from torch.utils import _pytree as pytree

import tpshard
import tpshard.torch as tps
from tpshard._exported import stablehlo_text
from tpshard.torch import program
from tpshard.torch.program import exchange
from tpshard.torch.program.overlap import overlap

MESHES = ({"x": 2, "y": 4}, {"x": 4}, {"x": 2, "y": 2})
SOURCES = pathlib.Path(__file__).resolve().parents[2]

# Files whose ops the modules above lack: integers of all kinds, complex numbers, windows, loops, sorts by any comparator.
FILES = """
    examples/models/kv_decode.mlir examples/models/scan_train.mlir test/passes/export/export_unsigned.mlir
    test/passes/export/export_units.mlir test/passes/import/stablehlo/jax_convolution.mlir
    test/passes/import/stablehlo/hlo_sort_execute.mlir test/passes/import/stablehlo/jax_casts.mlir
    test/passes/import/stablehlo/jax_complex.mlir test/passes/import/stablehlo/jax_control.mlir test/passes/import/stablehlo/jax_index.mlir
    test/passes/import/stablehlo/jax_int8.mlir test/passes/import/stablehlo/jax_scan.mlir test/passes/import/stablehlo/jax_special.mlir
    test/rules/linalg/reduce_i32.mlir test/passes/import/stablehlo/jax_scatter.mlir test/rules/types/float8_max.mlir
""".split()


class Programs(unittest.TestCase):
    def check(self, function, args, mesh, **options):
        plan = tps.plan(function, args, mesh=mesh, **options)
        modules = lockstep.graphs(stablehlo_text(plan.text, plan._options, keeps_attention=True), plan.devices)
        self.code = modules[0].code
        module = function if isinstance(function, nn.Module) else None
        tensors = [program_type(x.detach()) for x in plan._call.tensors_of("test", args, {}, module)]
        parts = [[torch_programs.sharded(x, e["dims"], mesh, n) for x, e in zip(tensors, plan._arguments)] for n in range(plan.devices)]
        found = lockstep.run(modules, parts)
        wanted = [x for x in pytree.tree_leaves(function(*args)) if isinstance(x, torch.Tensor)]
        entries = plan._results[len(plan._results) - len(wanted) :]
        for k, (want, entry) in enumerate(zip(wanted, entries)):
            for n in range(plan.devices):
                have = found[n][len(plan._results) - len(wanted) + k]
                part = torch_programs.sharded(program_type(want.detach()), entry["dims"], mesh, n)
                torch.testing.assert_close(have, part, atol=2e-5, rtol=1e-2 if want.dtype == torch.bfloat16 else 2e-5, equal_nan=True)
        return plan

    def test_programs(self):
        for i, (name, (function, args)) in enumerate(models.PROGRAMS.items()):
            with self.subTest(name):
                self.check(function, args, MESHES[i % len(MESHES)])

    def test_training_step(self):
        step, params = models.training_step(models.Decoder())
        plan = self.check(step, (params, models.ids()), {"x": 2, "y": 2}, params="params", donate_argnums=0)
        self.assertTrue(plan.collectives)

    def test_attention(self):
        """Attention is PyTorch's own, whatever is split; in a training step it is products and a softmax."""
        pins = {}, {"query": (None, "x", "y")}, {"query": (None, None, ["x", "y"])}, {"query": ("x",)}
        for name, (function, args) in models.ATTENTIONS.items():
            for pin in pins:
                with self.subTest(name, pin=pin):
                    self.check(function, args, {"x": 2, "y": 2}, pin=pin)
                    self.assertEqual(self.code.count("_attended("), name not in models.STORED, self.code)

    def test_sigmoid(self):
        self.check(lambda x: (x.sigmoid(), 1 / (1 + x.exp())), (torch.linspace(-100, 100, 32).reshape(8, 4),), {"x": 4})
        self.assertEqual((self.code.count("torch.sigmoid("), self.code.count("torch.exp(")), (1, 1), self.code)

    def test_one_device(self):
        self.check(models.Decoder(), (models.ids(),), {"x": 1})
        self.assertEqual(self.code.count("_attended("), 1, self.code)

    def test_layouts(self):
        """Whatever the layouts, the results are the same."""
        model, args = models.Decoder(), (models.ids(),)
        for pin in ({"*": ()}, {"result": ("x", None, "y")}, {"ids": ("x", "y")}, {"*weight": (["x", "y"],)}):
            with self.subTest(pin):
                self.check(model, args, {"x": 2, "y": 2}, pin=pin)

    def test_files(self):
        for path in FILES:
            with self.subTest(path):
                text = (SOURCES / path).read_text()
                self.assertLessEqual(torch_programs.check(text, "x=2,y=2"), torch_programs.tolerance(text))

    def test_a_wrong_program_is_seen(self):
        """The comparison can fail: parts that are exchanged between the devices are noticed."""
        plan = tps.plan(models.Decoder(), (models.ids(),), mesh={"x": 4}, pin={"ids": (None, "x"), "result": (None, "x")})
        text = stablehlo_text(plan.text, plan._options)
        self.assertIn("dense<[[0, 1, 2, 3]]>", text)
        wrong = text.replace("dense<[[0, 1, 2, 3]]>", "dense<[[1, 0, 2, 3]]>")
        tensors = plan._call.tensors_of("test", (models.ids(),), {}, plan._module)
        parts = [[torch_programs.sharded(x.detach(), e["dims"], {"x": 4}, n) for x, e in zip(tensors, plan._arguments)] for n in range(4)]
        right, other = (lockstep.run(lockstep.graphs(t, 4), parts)[0][0] for t in (text, wrong))
        self.assertGreater((right - other).abs().max().item(), 1e-3)

    def test_shifts(self):
        """By numbers, by what is not known, and by more than there are bits."""
        x = torch.tensor([-(2**31), -77777, -1, 0, 5, 2**31 - 1], dtype=torch.int32)
        kinds = {"shift_left": lambda x, n: x << n, "shift_right_arithmetic": lambda x, n: x >> n, "shift_right_logical": lambda x, n: (x & 0xFFFFFFFF) >> n}
        head = '"builtin.module"() ({ "func.func"() <{function_type = (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>, sym_name = "main"}> ({\n'
        head += "^bb0(%a: tensor<6xi32>, %given: tensor<6xi32>):\n"
        end = '"func.return"(%b) : (tensor<6xi32>) -> () }) : () -> () }) : () -> ()'
        for name, wide in kinds.items():
            for n in (0, 1, 7, 31, 32, 40):
                known = '%%known = "stablehlo.constant"() <{value = dense<%d> : tensor<6xi32>}> : () -> tensor<6xi32>\n' % n
                shift = '%%b = "stablehlo.%s"(%%a, %%%s) : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>\n'
                wanted = wide(x.to(torch.int64), n).to(torch.int32)
                for by in ("known", "given"):
                    made = program.graph_of(head + known + shift % (name, by) + end, torch.device("cpu"), 0, lockstep.group_of(0))
                    with self.subTest(name, n=n, by=by):
                        self.assertTrue(torch.equal(made(x, torch.full_like(x, n))[0], wanted))

    def test_refused(self):
        text = '"builtin.module"() ({ "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({\n^bb0(%a: tensor<4xf32>):\n'
        end = '\n"func.return"(%b) : (tensor<4xf32>) -> () }) : () -> () }) : () -> ()'
        for op, message in (
            ('%b = "stablehlo.custom_call"(%a) {call_target_name = "f"} : (tensor<4xf32>) -> tensor<4xf32>', "'stablehlo.custom_call': is not translated to PyTorch"),
            ('%c = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xf4E2M1FN>\n%b = "stablehlo.convert"(%c) : (tensor<4xf4E2M1FN>) -> tensor<4xf32>', "PyTorch has no tensors of f4E2M1FN"),
        ):
            with self.assertRaisesRegex(tpshard.Refused, message):
                program.graph_of(text + op + end, "cpu", 0, lockstep.group_of(0))


def program_type(tensor):
    """The types of a program have no sign."""
    return tensor.view(torch.int8) if tensor.dtype == torch.uint8 else tensor


class Overlap(unittest.TestCase):
    def test_order(self):
        """Each collective starts where it was, and ends in front of what reads it first, which may be another collective."""
        graph = fx.Graph()
        x = graph.placeholder("x")
        nodes = [graph.call_function(exchange.all_reduce, (x, "sum", 2, "g"))]
        y = graph.call_function(torch.neg, (x,))
        nodes.append(graph.call_function(exchange.all_gather, (y, 0, 2, "g")))
        z = graph.call_function(torch.exp, (y,))
        nodes.append(graph.call_function(exchange.reduce_scatter, (nodes[1], "sum", 0, 2, "g")))
        graph.call_function(exchange.all_reduce, (z, "sum", 2, "g"))  # nobody reads it
        graph.output((graph.call_function(torch.add, (z, nodes[0])), nodes[2]))
        for node in graph.nodes:
            if node.target in exchange.KINDS:
                node.meta["of"] = (4,), torch.float32
        made = overlap(fx.GraphModule(torch.nn.Module(), graph))
        order = [(n.target.__name__, n.args[1] if n.target in (exchange.start, exchange.end) else "") for n in made.graph.nodes if n.op == "call_function"]
        wanted = [
            ("start", "all_reduce"), ("neg", ""), ("start", "all_gather"), ("exp", ""), ("end", "all_gather"), ("start", "reduce_scatter"),
            ("all_reduce", "sum"), ("end", "all_reduce"), ("add", ""), ("end", "reduce_scatter"),
        ]
        self.assertEqual(order, [(kind, of if kind in ("start", "end") else "") for kind, of in wanted])
        made.graph.lint()


if __name__ == "__main__":
    unittest.main()
