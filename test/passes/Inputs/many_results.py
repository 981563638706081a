"""Prints a loop that carries N tensors: many_results.py for|while N. Each step adds the next one to
each of them, and the function returns the sum of all."""
import sys

kind, n = sys.argv[1], int(sys.argv[2])
T = "tensor<8xf32>"


def names(prefix):
    return ", ".join("%%%s%d" % (prefix, i) for i in range(n))


def step(prefix):
    for i in range(n):
        print("    %%s%d = arith.addf %%%s%d, %%%s%d : %s" % (i, prefix, i, prefix, (i + 1) % n, T))


types = ", ".join([T] * n)
print('shard.grid @mesh(shape = 2) {tp.axes = ["x"]}')
print('func.func @main(%%a: %s {tp.sharding = [["x"]]}) -> %s {' % (T, T))
print("  %c0 = arith.constant 0 : index")
print("  %c1 = arith.constant 1 : index")
print("  %c3 = arith.constant 3 : index")
inits = ", ".join("%%x%d = %%a" % i for i in range(n))
if kind == "while":
    print("  %%r:%d = scf.while (%%i = %%c0, %s) : (index, %s) -> (index, %s) {" % (n + 1, inits, types, types))
    print("    %p = arith.cmpi ult, %i, %c3 : index")
    print("    scf.condition(%%p) %%i, %s : index, %s" % (names("x"), types))
    print("  } do {")
    print("  ^bb0(%%j: index, %s):" % ", ".join("%%y%d: %s" % (i, T) for i in range(n)))
    print("    %k = arith.addi %j, %c1 : index")
    step("y")
    print("    scf.yield %%k, %s : index, %s" % (names("s"), types))
else:
    print("  %%r:%d = scf.for %%i = %%c0 to %%c3 step %%c1 iter_args(%s) -> (%s) {" % (n, inits, types))
    step("x")
    print("    scf.yield %s : %s" % (names("s"), types))
print("  }")
print("  %%t0 = arith.addf %%r#%d, %%a : %s" % (kind == "while", T))
for i in range(1, n):
    print("  %%t%d = arith.addf %%t%d, %%r#%d : %s" % (i, i - 1, i + (kind == "while"), T))
print("  return %%t%d : %s\n}" % (n - 1, T))
