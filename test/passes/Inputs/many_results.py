"""Prints a loop with as many results as the first argument says. With a second argument, prints a
scf.while that carries that many values."""
import sys

results, carried = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0


def names(prefix, n):
    return ", ".join("%%%s%d" % (prefix, i) for i in range(n))


types = ", ".join(["index"] * results)
print('shard.grid @mesh(shape = 2) {tp.axes = ["x"]}')
print("func.func @main(%a: tensor<8xf32>, %n: index, %p: i1) -> tensor<8xf32> {")
print("  %c0 = arith.constant 0 : index")
print("  %c1 = arith.constant 1 : index")
if carried:
    inits = ", ".join("%%x%d = %%n" % i for i in range(carried))
    print("  %%r:%d = scf.while (%s) : (%s) -> (%s) {" % (results, inits, ", ".join(["index"] * carried), types))
    print("    scf.condition(%%p) %s : %s" % (names("x", results), types))
    print("  } do {")
    print("  ^bb0(%s):" % ", ".join("%%y%d: index" % i for i in range(results)))
    print("    scf.yield %s : %s" % (", ".join(["%n"] * carried), ", ".join(["index"] * carried)))
    print("  }")
else:
    inits = ", ".join("%%x%d = %%n" % i for i in range(results))
    print("  %%r:%d = scf.for %%i = %%c0 to %%n step %%c1 iter_args(%s) -> (%s) {" % (results, inits, types))
    print("    scf.yield %s : %s" % (names("x", results), types))
    print("  }")
print("  return %a : tensor<8xf32>")
print("}")
