#!/usr/bin/env python3
"""fuse_attention_gradient.py SHARD_RUN SHARD_OPT DRIVER BLASLT FOLDER: attentions with the gradients of
queries, keys and values, as programs for a GPU. Three kernels compute each of them, which store no
scores, or it stays as it is for the reason that is listed. The results, computed on a driver that
executes PTX on the host, are compared with one device on the CPU and with the evaluator."""
import re
import subprocess
import sys

from fuse_attention import DIMS as SCORES, FAR, LOCAL, MINUS_INFINITY, Program, check, drop, places

ROWS = SCORES[:4]


class Step(Program):
    """An attention and its gradients. Operands have one type, scores are f32."""

    def __init__(self, dtype, sizes):
        super().__init__("f32", sizes)
        self.narrow = dtype

    def operand(self, dims, dtype=None):
        return (self.argument(dims, dtype or self.narrow), dims, dtype or self.narrow)

    def on_scores(self, inputs, body, dims=SCORES):
        """inputs: values over dimensions, f32 unless they are triples."""
        return self.map([i if len(i) == 3 else (*i, "f32") for i in inputs], dims, body), dims

    def rounded(self, value, dims):
        return (value, dims, "f32") if self.narrow == "f32" else (
            self.map([(value, dims, "f32")], dims, ["%%y = arith.truncf %%x0 : f32 to %s" % self.narrow], dtype=self.narrow), dims, self.narrow)

    def times(self, a, b, dims, loops, dtype="f32", init=None):
        """The contraction of two operands, in f32, rounded to dtype."""
        body, names = [], []
        for i, x in enumerate((a, b)):
            names.append("%%x%d" % i)
            if x[2] != "f32":
                body.append("%%w%d = arith.extf %%x%d : %s to f32" % (i, i, x[2]))
                names[-1] = "%%w%d" % i
        body += ["%%m = arith.mulf %s, %s : f32" % tuple(names), "%y = arith.addf %o, %m : f32"]
        made = self.generic([a, b], dims, loops, body, init=init or self.filled(dims, "0.0"))
        return made if dtype == "f32" else self.rounded(made, dims)[0]

    def reduced_rows(self, value, op="addf", first="0.0"):
        return self.reduced((value, SCORES), ROWS, SCORES, op, first)


def binary(name):
    return ["%%y = arith.%s %%x0, %%x1 : f32" % name]


# How frameworks write the gradient of scores, from e, their sum z, weights p and gradients of weights g.
def as_jax(p, e, z, weights, g):
    square, _ = p.on_scores([(z, ROWS)], ["%m = arith.mulf %x0, %x0 : f32", "%c = arith.constant 1.0 : f32", "%y = arith.divf %c, %m : f32"], ROWS)
    by_square, _ = p.on_scores([(g, SCORES), (square, ROWS)], binary("mulf"))
    product, _ = p.on_scores([(by_square, SCORES), (e, SCORES)], binary("mulf"))
    row, _ = p.on_scores([(p.reduced_rows(product), ROWS)], ["%y = arith.negf %x0 : f32"], ROWS)
    direct, _ = p.on_scores([(g, SCORES), (z, ROWS)], binary("divf"))
    both, _ = p.on_scores([(direct, SCORES), (row, ROWS)], binary("addf"))
    return p.on_scores([(both, SCORES), (e, SCORES)], binary("mulf"))[0]


def as_torch(p, e, z, weights, g):
    product, _ = p.on_scores([(g, SCORES), (weights, SCORES)], binary("mulf"))
    row = p.reduced_rows(product)
    share, _ = p.on_scores([(weights, SCORES), (row, ROWS)], binary("mulf"))
    return p.on_scores([(product, SCORES), (share, SCORES)], binary("subf"))[0]


def as_difference(p, e, z, weights, g):
    product, _ = p.on_scores([(g, SCORES), (weights, SCORES)], binary("mulf"))
    less, _ = p.on_scores([(g, SCORES), (p.reduced_rows(product), ROWS)], binary("subf"))
    return p.on_scores([(less, SCORES), (weights, SCORES)], binary("mulf"))[0]


def without_rows(p, e, z, weights, g):
    return p.on_scores([(g, SCORES), (weights, SCORES)], binary("mulf"))[0]


def with_tanh(p, e, z, weights, g):
    return as_torch(p, e, z, weights, p.on_scores([(g, SCORES)], ["%y = math.tanh %x0 : f32"])[0])


def with_another_term(p, e, z, weights, g):
    more = p.operand(SCORES, "f32")
    return as_torch(p, e, z, weights, p.on_scores([(g, SCORES), more], binary("addf"))[0])


def turned(p, e, z, weights, g):
    product = p.generic([(weights, SCORES, "f32"), (weights, ["b", "h", "g", "t", "s"], "f32")], SCORES, SCORES, binary("mulf"))
    return as_torch(p, e, z, product, g)


def hidden_number(mask):
    return MINUS_INFINITY["f32"] if "far" not in mask else FAR["f32"]


def apply_mask(p, scores, mask):
    """Masked scores, and what masks their gradients, once."""
    keep = lambda number: ["%%h = arith.constant %s : f32" % number, "%y = arith.select %x0, %x1, %h : f32"]
    hide = lambda number: ["%%h = arith.constant %s : f32" % number, "%y = arith.select %x0, %h, %x1 : f32"]
    number, back = hidden_number(mask), []
    conditions = []
    if "causal" in mask:
        conditions.append(((p.generic([], ["s", "t"], ["s", "t"], places() + ["%y = arith.cmpi sge, %i, %j : index"], dtype="i1"), ["s", "t"], "i1"), keep))
    if "bool" in mask:
        conditions.append((p.operand(["b", "t"], "i1"), keep))
    if "hide" in mask:
        conditions.append((p.operand(["b", "t"], "i1"), hide))
    for condition, select in conditions:
        scores, _ = p.on_scores([condition, (scores, SCORES)], select(number))
        back.insert(0, lambda x, c=condition, s=select: p.on_scores([c, (x, SCORES)], s("0.0"))[0])
    if "inline" in mask:
        body = ["%i = linalg.index 3 : index", "%j = linalg.index 4 : index", "%k = arith.cmpi sge, %i, %j : index"]
        select = lambda n: body + ["%%h = arith.constant %s : f32" % n, "%y = arith.select %k, %x0, %h : f32"]
        scores, _ = p.on_scores([(scores, SCORES)], select(number))
        back.insert(0, lambda x: p.on_scores([(x, SCORES)], select("0.0"))[0])
    if "addition" in mask:
        numbers = p.generic([], ["s", "t"], ["s", "t"], places() + ["%k = arith.cmpi sge, %i, %j : index", "%a = arith.constant 0.0 : f32",
                                                                     "%%h = arith.constant %s : f32" % number, "%y = arith.select %k, %a, %h : f32"])
        scores, _ = p.on_scores([(scores, SCORES), (numbers, ["s", "t"])], binary("addf"))
    if "given" in mask:
        scores, _ = p.on_scores([(scores, SCORES), p.operand(["b", "s", "t"], "f32")], binary("addf"))
    return scores, back


def step(dtype="f32", sizes=None, inside=False, mask="none", form=as_jax, scale="mulf", factor=None, masks=None, wide=False, returned=None, missing=(),
         other=None, added=False, apart=False, shared=False, wide_gradient=False, split=False, twice=False, several=False, dropout=None, by=None, values_by=None, early=False, repeats=False):
    """masks: which masks the gradient has; factor: its scale. missing: gradients that are not computed; other: one that multiplies another tensor; several: the
    result has two gradients, which are added behind their products with the values; dropout: a name in DROPOUTS; by: its scale in the gradient of
    the scores, values_by: in that of the values; early: the
    gradient of the scores comes before the result; repeats: keys and values are copied for each query of a group, and gradients are those of the copies."""
    size = dict(b=1, h=2, g=2, s=20, t=36, d=16, e=16)
    size.update(sizes or {})
    p = Step(dtype, size)
    row_dims = lambda last: ["b", "s", "h", "g", last] if inside else ["b", "h", "g", "s", last]
    column_dims = lambda last: [d for d in (["b", "t", "h", last] if inside else ["b", "h", "t", last]) if not (shared and d == "b")]
    q, k, v = p.operand(row_dims("d")), p.operand(column_dims("d")), p.operand(column_dims("e"))
    if repeats:
        apart = True

        def copied(x, last):
            to, made, empty = ["b", "h", "g", "t", last], p.name(), p.name()
            p.emit("%s = tensor.empty() : %s" % (empty, p.type(to, x[2])))
            p.emit("%s = linalg.broadcast ins(%s : %s) outs(%s : %s) dimensions = [2]" % (made, x[0], p.type(x[1], x[2]), empty, p.type(to, x[2])))
            return made, to, x[2]
        k, v = copied(k, "d"), copied(v, "e")
    gradient = p.operand(row_dims("e"), "f32" if wide_gradient else None)
    number = {"mulf": "2.5e-01", "divf": "4.0"}[scale]
    scaled = lambda x, n: p.on_scores([(x, SCORES)], ["%%c = arith.constant %s : f32" % n, "%%y = arith.%s %%x0, %%c : f32" % scale])[0]
    raw = p.times(q, k, SCORES, SCORES + ["d"])
    scores, back = apply_mask(p, scaled(raw, number), mask)
    top = p.reduced_rows(scores, "maximumf", MINUS_INFINITY["f32"])
    e, _ = p.on_scores([(scores, SCORES), (top, ROWS)], ["%m = arith.subf %x0, %x1 : f32", "%y = math.exp %m : f32"])
    z = p.reduced_rows(e)
    weights, _ = p.on_scores([(e, SCORES), (z, ROWS)], binary("divf"))
    kept, given = drop(p, weights, SCORES, dropout) if dropout else (weights, None)
    narrow = (kept, SCORES, "f32") if wide else p.rounded(kept, SCORES)
    out_dtype = "f32" if wide else dtype
    result = lambda: p.times(narrow, v, row_dims("e"), ROWS + ["e", "t"], out_dtype)
    out = None if early else result()
    g = p.times(gradient, v, SCORES, SCORES + ["e"])
    if several:
        g, _ = p.on_scores([(g, SCORES), (p.times(p.operand(row_dims("e")), v, SCORES, SCORES + ["e"]), SCORES)], binary("addf"))
    if dropout:
        g, _ = drop(p, g, SCORES, dropout, given, by)
    slopes = form(p, e, z, weights, g)
    out = out or result()
    for unmask in back if masks is None else back[:masks]:
        slopes = unmask(slopes)
    slopes = scaled(slopes, factor or number)
    results = [(out, p.type(row_dims("e"), out_dtype))]
    column_loops = ["b", "h"] + (["g"] if apart else []) + ["t"]
    kept = lambda dims: dims[:2] + ["g"] + dims[2:] if apart else dims
    of_values = p.rounded(drop(p, weights, SCORES, dropout, given, values_by)[0], SCORES) if values_by else narrow
    products = {"q": ((slopes, SCORES, "f32"), (p.operand(column_dims("d")) if other == "q" else k), row_dims("d"), ROWS + ["d", "t"]),
                "k": ((slopes, SCORES, "f32"), (p.operand(row_dims("d")) if other == "k" else q), kept(column_dims("d")), column_loops + ["d", "g", "s"]),
                "v": (of_values, (p.operand(row_dims("e")) if other == "v" else gradient), kept(column_dims("e")), column_loops + ["e", "g", "s"])}
    for name, (a, b, dims, loops) in products.items():
        loops = list(dict.fromkeys(loops))
        if name in missing:
            continue
        init = p.argument(dims, "f32") if added and name == "k" else None
        for _ in range(2 if twice and name == "q" else 1):
            results.append((p.times(a, b, dims, loops, out_dtype, init), p.type(dims, out_dtype)))
    if returned:
        value = dict(weights=weights, sum=z, scores=scores)[returned]
        results.append((value, p.type(ROWS if returned == "sum" else SCORES, "f32")))
    grid = ""
    if split:  # heads over two devices
        for i in range(4):
            dims = (q, k, v, gradient)[i][1]
            p.arguments[i] += " {tp.sharding = [%s]}" % ", ".join('["x"]' if d == "h" else "[]" for d in dims)
        grid = 'shard.grid @mesh(shape = 2) {tp.axes = ["x"]}\n'
    return grid + "func.func @main(%s) -> (%s) {\n%s\n  return %s : %s\n}\n" % (
        ", ".join(p.arguments), ", ".join(t for _, t in results), "\n".join(p.lines), ", ".join(v for v, _ in results), ", ".join(t for _, t in results))


ONE = "attention is computed by one kernel, and its gradient by two"
NARROW = dict(s=70, t=70)
# Name, parameters, and whether hidden scores pass gradients on.
FUSED = [
    ("as JAX", {}, False),
    ("as PyTorch", dict(form=as_torch), False),
    ("a difference", dict(form=as_difference, scale="divf"), False),
    ("causal", dict(mask="causal", sizes=dict(t=20)), False),
    ("causal, far, as PyTorch", dict(mask="causal far", form=as_torch), False),
    ("heads inside", dict(inside=True, mask="causal far"), False),
    ("one query for each key", dict(sizes=dict(g=1), mask="causal far", inside=True), False),
    ("eight queries for each key", dict(sizes=dict(h=1, g=8, s=12, t=12), mask="causal far", form=as_difference), False),
    ("bool", dict(mask="bool far"), False),
    ("hide", dict(mask="hide far", form=as_torch), False),
    ("causal and bool", dict(mask="causal bool far"), False),
    ("added positions", dict(mask="addition far"), True),
    ("given", dict(mask="given"), False),
    ("causal and given", dict(mask="given causal far", inside=True), False),
    ("one row", dict(sizes=dict(s=1, t=70)), False),
    ("as many features as columns", dict(sizes=dict(s=16, t=16, d=16, e=16), mask="causal"), False),
    ("bf16 of 64", dict(dtype="bf16", sizes=dict(**NARROW, d=64, e=64), mask="causal far"), False),
    ("bf16 of 80, eight queries", dict(dtype="bf16", sizes=dict(h=1, g=8, s=10, t=80, d=80, e=80), inside=True, mask="causal far", form=as_torch), False),
    ("f16 of 128", dict(dtype="f16", sizes=dict(h=1, g=1, s=40, t=66, d=128, e=128), mask="bool far"), False),
    ("bf16 with results of f32", dict(dtype="bf16", sizes=dict(d=12, e=20), wide=True, form=as_difference), False),
    ("heads over two devices", dict(mask="causal far", split=True), False),
    ("dropout as JAX", dict(dropout="keep", mask="causal far"), False),
    ("dropout as PyTorch, by numbers", dict(dropout="multiply", form=as_torch, mask="bool far"), False),
    ("dropout, a difference", dict(dropout="drop", form=as_difference, scale="divf"), False),
    ("dropout by bools as numbers", dict(dropout="numbers", mask="given", sizes=dict(h=1, g=8, s=12, t=12)), False),
    ("dropout of bf16", dict(dropout="keep", dtype="bf16", sizes=dict(**NARROW, d=64, e=64), mask="causal far"), False),
    ("dropout of f16", dict(dropout="multiply", dtype="f16", sizes=dict(h=1, g=1, s=40, t=66, d=80, e=80), form=as_torch, inside=True), False),
    ("gradients of repeated keys and values", dict(repeats=True, mask="causal far"), False),
    ("dropout, heads over two devices", dict(dropout="keep", mask="causal far", split=True), False),
]
# Name, parameters, and why the program stays as it is.
KEPT = [
    ("weights are a result", dict(returned="weights"), "its scores are used for more than its gradient"),
    ("sums are a result", dict(returned="sum"), "its scores are used for more than its gradient"),
    ("scores are a result", dict(returned="scores"), "its scores are used for more than its gradient"),
    ("no gradient of keys", dict(missing="k"), "its scores are not used for three gradients"),
    ("the same gradient twice", dict(twice=True, missing="v"), "its scores are not used for three gradients"),
    ("another scale", dict(factor="3.0e-01"), "the gradient of its scores has another scale"),
    ("one of two masks", dict(mask="causal bool far", masks=1), "the gradient of its scores is not hidden as they are"),
    ("an inline mask", dict(mask="inline far"), "a select in its gradient is not that of its scores"),
    ("masks of both kinds", dict(mask="bool addition far"), "its scores are hidden in several ways"),
    ("nothing from the row", dict(form=without_rows), "its gradient is not that of a softmax"),
    ("tanh", dict(form=with_tanh), "its gradient has an op that the gradient of a softmax lacks"),
    ("another term", dict(form=with_another_term), "its gradient depends on values that are computed from other ones"),
    ("turned scores", dict(form=turned, sizes=dict(s=24, t=24)), "its gradient has scores in another arrangement"),
    ("other keys", dict(other="q"), "the gradient of its scores multiplies another tensor"),
    ("other queries", dict(other="k"), "the gradient of its scores multiplies another tensor"),
    ("another gradient of the result", dict(other="v"), "the gradient of its scores multiplies another tensor"),
    ("added to an argument", dict(added=True), "a gradient is added to something"),
    ("keys' gradient of each query", dict(apart=True), "a gradient has other dimensions than its tensor"),
    ("keys of all batches", dict(shared=True, sizes=dict(b=2)), "its queries, keys or values are shared by more than a group of queries"),
    ("two gradients of the result", dict(several=True), "its result has several gradients"),
    ("another dropout", dict(dropout="keep", by="1.5"), "the gradient of its scores has another scale"),
    ("another dropout of values", dict(dropout="keep", values_by="1.5"), "its gradient has another dropout"),
    ("weights in front of the result", dict(form=without_rows, early=True), "its weights are changed in several ways"),
    ("a wide gradient", dict(dtype="bf16", wide_gradient=True), "a gradient has another type than the queries"),
]


def describes(shard_opt, path, mesh, passes):
    """Whether both functions are there, and the gradient's says what hidden scores do."""
    run = subprocess.run([shard_opt, path, "--pass-pipeline=" + LOCAL % mesh], capture_output=True, text=True)
    kinds = re.findall(r'tp.fused = {.*kind = "(\w+)"', run.stdout)
    found = re.findall(r"passes_hidden = (\w+)", run.stdout)
    return kinds == ["attention", "attention_gradient"] and found == ["true" if passes else "false"]


if __name__ == "__main__":
    sys.exit(check(FUSED, KEPT, ONE, step, describes))
