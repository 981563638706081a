"""Prints a concatenation of 70 tensors."""
n = 70
args = ", ".join(f"%a{i}: tensor<2xf32>" for i in range(n))
print('shard.grid @mesh(shape = 2) {tp.axes = ["x"]}')
print(f"func.func @main({args}) -> tensor<{2 * n}xf32> {{")
names = ", ".join(f"%a{i}" for i in range(n))
types = ", ".join(["tensor<2xf32>"] * n)
print(f"  %r = tensor.concat dim(0) {names} : ({types}) -> tensor<{2 * n}xf32>")
print(f"  return %r : tensor<{2 * n}xf32>\n}}")
