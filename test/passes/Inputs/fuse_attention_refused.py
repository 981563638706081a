#!/usr/bin/env python3
"""fuse_attention_refused.py SHARD_OPT FOLDER: attentions of shapes that no framework writes. Each stays as it is, and a remark says why."""
import os
import re
import subprocess
import sys

from fuse_attention import MINUS_INFINITY, Program

SIZES = dict(a=2, b=2, f=2, g=2, h=2, s=4, t=8, d=4, c=4, e=4)


def attention(q="bhsd", k="bhtd", v="bhte", out="bhse", inner="d", added=False, positions=0, masked=False, repeated=False, dropped=False, edits=()):
    """Dimensions of the operands and of the result, letters; inner: what the scores are summed over; added: the scores are added to an argument.
    positions: indices that a comparison of row and column adds to the row; masked: an argument is added; repeated: values are repeated for all columns; dropped: weights
    are multiplied by an argument.
    edits: texts that take the place of others."""
    p = Program("f32", dict(SIZES))
    scores = [d for d in "abfghst" if d in q + k and d not in inner]
    rows = [d for d in scores if d != "t"]
    q, k, v = ((p.argument(list(x)), list(x)) for x in (q, k, v))
    init = p.argument(scores) if added else p.filled(scores, "0.0")
    x = p.generic([(*q, "f32"), (*k, "f32")], scores, scores + list(inner), ["%m = arith.mulf %x0, %x1 : f32", "%y = arith.addf %o, %m : f32"], init=init)
    for i in range(positions):
        p.arguments.append("%%p%d: tensor<index>" % i)
        p.emit("%%i%d = tensor.extract %%p%d[] : tensor<index>" % (i, i))
    if positions:
        body = ["%%r0 = linalg.index %d : index" % scores.index("s"), "%%j = linalg.index %d : index" % scores.index("t")]
        body += ["%%r%d = arith.addi %%r%d, %%i%d : index" % (i + 1, i, i) for i in range(positions)]
        body += ["%%k = arith.cmpi sge, %%r%d, %%j : index" % positions, "%h = arith.constant -1.0e30 : f32", "%y = arith.select %k, %x0, %h : f32"]
        x = p.map([(x, scores, None)], scores, body)
    if masked:
        x = p.map([(x, scores, None), (p.argument(["b", "s", "t"]), ["b", "s", "t"], None)], scores, ["%y = arith.addf %x0, %x1 : f32"])
    if repeated:
        v = (p.name(), v[1] + ["t"])
        p.emit("%s = linalg.broadcast ins(%s : %s) outs(%s : %s) dimensions = [3]" % (v[0], "%a2", p.type(v[1][:-1]), p.filled(v[1], None), p.type(v[1])))
    top = p.reduced((x, scores), rows, scores, "maximumf", MINUS_INFINITY["f32"])
    e = p.map([(x, scores, None), (top, rows, None)], scores, ["%m = arith.subf %x0, %x1 : f32", "%y = math.exp %m : f32"])
    total = p.reduced((e, scores), rows, scores, "addf", "0.0")
    e = p.map([(e, scores, None), (total, rows, None)], scores, ["%y = arith.divf %x0, %x1 : f32"])
    if dropped:
        e = p.map([(e, scores, None), (p.argument(["b", "s", "t"]), ["b", "s", "t"], None)], scores, ["%y = arith.mulf %x0, %x1 : f32"])
    loops = list(out) + [d for d in dict.fromkeys(scores + v[1]) if d not in out]
    made = p.product((e, scores), v, list(out), loops)
    text = "func.func @main(%s) -> %s {\n%s\n  return %s : %s\n}\n" % (", ".join(p.arguments), p.type(list(out)), "\n".join(p.lines), made, p.type(list(out)))
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


KEPT = [
    (dict(added=True), "its scores are added to something"),
    (dict(q="bhsdc", k="bhtdc", inner="dc"), "its heads have several dimensions of features"),
    (dict(v="bhste", positions=1), "each row has keys or values of its own"),
    (dict(q="abfghsd", k="abfghtd", v="abfghte", out="abfghse"), "it has more than four loops around rows, columns and groups"),
    (dict(positions=2), "its causal mask depends on several positions that are known only at run time"),
    (dict(v="bhe", repeated=True), "its values are the same everywhere"),
    (dict(edits=[("-> (b, h, t, e)>", "-> (0, h, t, e)>")]), "it uses only the first element of a dimension of a tensor"),
    (dict(masked=True, edits=[("-> (b, s, t)>", "-> (0, s, t)>")]), "it uses only the first element of a dimension of its mask"),
    (dict(dropped=True, edits=[("-> (b, s, t)>", "-> (0, s, t)>")]), "it uses only the first element of a dimension of its dropout"),
    (dict(edits=[("outs(%v10 :", "outs(%a3 :"), ("%a2: tensor<2x2x8x4xf32>", "%a2: tensor<2x2x8x4xf32>, %a3: tensor<2x2x4x8xf32>")]),
     "it depends on more than queries, keys, values and masks"),  # contents that an op does not read
]


def main():
    shard_opt, folder = sys.argv[1:]
    failures = 0
    os.makedirs(folder, exist_ok=True)
    for i, (parameters, why) in enumerate(KEPT):
        path = os.path.join(folder, "%d.mlir" % i)
        with open(path, "w") as file:
            file.write(attention(**parameters))
        run = subprocess.run([shard_opt, path, "--pass-pipeline=builtin.module(tp-optimize-local{fused=keep})"], capture_output=True, text=True)
        said = re.findall("attention is .*", run.stderr)
        ok = run.returncode == 0 and said == ["attention is not computed by one kernel: " + why]
        print(parameters, "ok" if ok else "FAILED: %s\n%s" % (said, run.stderr[-2000:]))
        failures += not ok
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
