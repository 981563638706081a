"""Prints a chain of functions that each call the previous one twice: inlining all calls would give
2^n ops."""

print('shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}')
tensor = "tensor<8xf32>"
for i in range(40):
    callee = f"func.call @f{i - 1}" if i else None
    print(f"func.func private @f{i}(%x: {tensor}) -> {tensor} {{")
    for result, operand in (("y", "x"), ("z", "y")):
        if callee:
            print(f"  %{result} = {callee}(%{operand}) : ({tensor}) -> {tensor}")
        else:
            print(f"  %{result} = arith.addf %{operand}, %{operand} : {tensor}")
    print(f"  return %z : {tensor}\n}}")
print(f"func.func @main(%x: {tensor}) -> {tensor} {{")
print(f"  %y = func.call @f39(%x) : ({tensor}) -> {tensor}\n  return %y : {tensor}\n}}")
