"""reductions.py: prints a program that reduces a split dimension of every element type by every op that has a reduction over devices."""

INTEGERS = ["i1", "i8", "i16", "i32", "i64"]
FLOATS = ["f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]
# The identity of the op; None: it is an argument.
OPS = [("addi", INTEGERS, "0"), ("muli", INTEGERS, None), ("andi", INTEGERS, "-1"), ("ori", INTEGERS, "0"), ("xori", INTEGERS, "0"), ("maxsi", INTEGERS, None),
       ("minsi", INTEGERS, None), ("maxui", INTEGERS, "0"), ("minui", INTEGERS, "-1"), ("addf", FLOATS, "0.0"), ("mulf", FLOATS, "1.0"),
       ("maximumf", FLOATS, None), ("minimumf", FLOATS, None), ("maxnumf", FLOATS, None), ("minnumf", FLOATS, None)]


def main():
    arguments = ['%%%s: tensor<8x6x%s> {tp.sharding = [["x"], []]}' % (t, t) for t in INTEGERS + FLOATS] + ["%%i_%s: tensor<6x%s>" % (t, t) for t in INTEGERS + FLOATS]
    lines, results = [], []
    for t in INTEGERS + FLOATS:
        lines.append("  %%e_%s = tensor.empty() : tensor<6x%s>" % (t, t))
    for op, types, identity in OPS:
        for t in types:
            name, init = "%s_%s" % (op, t), "%i_" + t
            if identity:
                lines += ["  %%c_%s = arith.constant %s : %s" % (name, identity, t),
                          "  %%f_%s = linalg.fill ins(%%c_%s : %s) outs(%%e_%s : tensor<6x%s>) -> tensor<6x%s>" % (name, name, t, t, t, t)]
                init = "%f_" + name
            lines += ["  %%r_%s = linalg.reduce ins(%%%s : tensor<8x6x%s>) outs(%s : tensor<6x%s>) dimensions = [0] (%%x: %s, %%o: %s) {" % (name, t, t, init, t, t, t),
                      "    %%y = arith.%s %%o, %%x : %s" % (op, t), "    linalg.yield %%y : %s" % t, "  }"]
            results.append(("%r_" + name, "tensor<6x%s>" % t))
    print('shard.grid @mesh(shape = 2) {tp.axes = ["x"]}\nfunc.func @main(%s) -> (%s) {' % (", ".join(arguments), ", ".join(t + " {tp.sharding = [[]]}" for _, t in results)))
    print("\n".join(lines))
    print("  return %s : %s\n}" % (", ".join(v for v, _ in results), ", ".join(t for _, t in results)))


main()
