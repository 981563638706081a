"""tpshard and PyTorch in one process, loaded in either order."""
import subprocess
import sys
import unittest

LOADED = {
    "tpshard": """
import tpshard._library
program = '''
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<64x32xf32> {tp.sharding = [["x"], []]}, %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %c : tensor<64x16xf32>
}'''
assert "tp.plan" in tpshard._library.run(program, "tp-plan", {}).program
""",
    "torch": """
import torch
layer = torch.nn.Linear(8, 4)
run = torch.compile(layer)
x = torch.ones(2, 8)
assert torch.allclose(run(x), layer(x))
run(x).sum().backward()
assert layer.weight.grad.shape == (4, 8)
""",
}


class Beside(unittest.TestCase):
    def check(self, *order):
        text = "".join(LOADED[name] for name in order * 2)  # each works after the other, too
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tpshard_first(self):
        self.check("tpshard", "torch")

    def test_torch_first(self):
        self.check("torch", "tpshard")


if __name__ == "__main__":
    unittest.main()
