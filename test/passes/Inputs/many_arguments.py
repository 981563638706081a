"""Prints a function with 5,000 arguments."""
n = 5000
args = ", ".join(f'%a{i}: tensor<8xf32> {{tp.sharding = [["tp"]]}}' for i in range(n))
print('shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}')
print(f'func.func @main({args}) -> (tensor<8xf32> {{tp.sharding = [["tp"]]}}) {{')
print(f"  %r = arith.negf %a{n - 1} : tensor<8xf32>\n  return %r : tensor<8xf32>\n}}")
