#!/usr/bin/env python3
"""fuse_attention.py SHARD_RUN SHARD_OPT DRIVER BLASLT FOLDER: attentions as frameworks write them, as programs
for a GPU. Each becomes one call of the runtime, or stays as it is for the reason that is listed. The
results, computed on a driver that executes PTX on the host, are compared with one device on the CPU
and with the evaluator."""
import os
import re
import subprocess
import sys

DIMS = ["b", "h", "g", "s", "t"]


class Program:
    """Text of a program on tensors of one type, whose dimensions are letters."""

    def __init__(self, dtype, sizes):
        self.dtype, self.sizes, self.lines, self.arguments, self.n = dtype, sizes, [], [], 0

    def type(self, dims, dtype=None):
        return "tensor<%s%s>" % ("".join("%dx" % self.sizes[d] for d in dims), dtype or self.dtype)

    def name(self):
        self.n += 1
        return "%%v%d" % self.n

    def argument(self, dims, dtype=None):
        self.arguments.append("%%a%d: %s" % (len(self.arguments), self.type(dims, dtype)))
        return "%%a%d" % (len(self.arguments) - 1)

    def emit(self, text):
        self.lines.append("  " + text)

    def filled(self, dims, number):
        empty, full = self.name(), self.name()
        self.emit("%s = tensor.empty() : %s" % (empty, self.type(dims)))
        if number is None:
            return empty
        scalar = self.name()
        self.emit("%s = arith.constant %s : %s" % (scalar, number, self.dtype))
        self.emit("%s = linalg.fill ins(%s : %s) outs(%s : %s) -> %s" % (full, scalar, self.dtype, empty, self.type(dims), self.type(dims)))
        return full

    def generic(self, inputs, dims, loops, body, init=None, dtype=None):
        """inputs: (value, dims, dtype). body: lines that use %x0, %x1, ... and %o, and yield %y."""
        dtype = dtype or self.dtype
        result = self.name()
        if init is None:
            init = self.name()
            self.emit("%s = tensor.empty() : %s" % (init, self.type(dims, dtype)))
        maps = ["affine_map<(%s) -> (%s)>" % (", ".join(loops), ", ".join(of)) for of in [i[1] for i in inputs] + [dims]]
        kinds = ['"parallel"' if d in dims else '"reduction"' for d in loops]
        ins = "" if not inputs else " ins(%s : %s)" % (", ".join(i[0] for i in inputs), ", ".join(self.type(i[1], i[2]) for i in inputs))
        self.emit("%s = linalg.generic {indexing_maps = [%s], iterator_types = [%s]}%s outs(%s : %s) {"
                  % (result, ", ".join(maps), ", ".join(kinds), ins, init, self.type(dims, dtype)))
        arguments = ["%%x%d: %s" % (k, i[2]) for k, i in enumerate(inputs)] + ["%%o: %s" % dtype]
        self.lines += ["  ^bb0(%s):" % ", ".join(arguments)] + ["    " + line for line in body] + ["    linalg.yield %%y : %s" % dtype, "  } -> %s" % self.type(dims, dtype)]
        return result

    def map(self, inputs, dims, body, dtype=None):
        return self.generic([(v, d, t or self.dtype) for v, d, t in inputs], dims, list(dims), body, dtype=dtype)

    def copied(self, value, of, dims, dtype):
        empty, result = self.name(), self.name()
        self.emit("%s = tensor.empty() : %s" % (empty, self.type(dims, dtype)))
        maps = ", ".join("affine_map<(%s) -> (%s)>" % (", ".join(dims), ", ".join(d)) for d in (of, dims))
        self.emit("%s = linalg.generic {indexing_maps = [%s], iterator_types = [%s]} ins(%s : %s) outs(%s : %s) {" % (
            result, maps, ", ".join(['"parallel"'] * len(dims)), value, self.type(of, dtype), empty, self.type(dims, dtype)))
        self.lines += ["  ^bb0(%%x: %s, %%o: %s):" % (dtype, dtype), "    linalg.yield %%x : %s" % dtype, "  } -> %s" % self.type(dims, dtype)]
        return result

    def product(self, a, b, dims, loops):
        f = self.dtype
        return self.generic([(*a, f), (*b, f)], dims, loops, ["%%m = arith.mulf %%x0, %%x1 : %s" % f, "%%y = arith.addf %%o, %%m : %s" % f],
                            init=self.filled(dims, "0.0"))

    def reduced(self, a, dims, loops, op, first):
        return self.generic([(*a, self.dtype)], dims, loops, ["%%y = arith.%s %%o, %%x0 : %s" % (op, self.dtype)], init=self.filled(dims, first))


MINUS_INFINITY = {"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}
FAR = {"f32": "-1.0e30", "bf16": "-1.0e30", "f16": "-6.0e4"}


def places(first="%i", second="%j"):
    return ["%s = linalg.index 0 : index" % first, "%s = linalg.index 1 : index" % second]


def attention(dtype="f32", sizes=None, inside=False, scale="mulf", mask="none", division="divf", repeats=False, window=False, minimum=False,
              twice=False, then=(), first=None, exponential="exp", shift=(), after=(), split=False, arranged=None, picked=False, dropout=None, early=False, constant=False, selects=()):
    """A program of one attention. then, shift, after: lines that make %y of %x0, for scores, for the
    largest ones, and for exponentials. In them $ is the type. arranged: how scores are rearranged behind their largest one.
    picked: only the first row is a result. dropout: a name in DROPOUTS; early: it comes before the sum. constant: values are one."""
    size = dict(b=1, h=2, g=2, s=20, t=36, d=16, e=16)
    size.update(sizes or {})
    p = Program(dtype, size)
    f, scores, rows = dtype, DIMS, DIMS[:4]
    order = lambda last: ["b", last, "h", "d"] if inside else ["b", "h", last, "d"]
    q_dims = ["b", "s", "h", "g", "d"] if inside else ["b", "h", "g", "s", "d"]
    q, k, v = p.argument(q_dims), p.argument(order("t")), p.argument([d if d != "d" else "e" for d in order("t")])
    if constant:
        p.arguments.pop()
        v = p.name()
        p.emit("%s = arith.constant dense<5.0e-01> : %s" % (v, p.type([d if d != "d" else "e" for d in order("t")])))
    k_dims, v_dims = order("t"), [d if d != "d" else "e" for d in order("t")]
    if repeats:  # keys and values of each query
        size["r"] = size["g"]
        def repeat(value, dims):
            to = ["b", "h", "g", "t", dims[-1]]
            result = p.name()
            empty = p.name()
            p.emit("%s = tensor.empty() : %s" % (empty, p.type(to)))
            p.emit("%s = linalg.generic {indexing_maps = [affine_map<(%s) -> (%s)>, affine_map<(%s) -> (%s)>], iterator_types = [%s]} ins(%s : %s) outs(%s : %s) {"
                   % (result, ", ".join(to), ", ".join(dims), ", ".join(to), ", ".join(to), ", ".join(['"parallel"'] * 5), value, p.type(dims), empty, p.type(to)))
            p.lines += ["  ^bb0(%%x0: %s, %%o: %s):" % (f, f), "    linalg.yield %%x0 : %s" % f, "  } -> %s" % p.type(to)]
            return result, to
        k, k_dims = repeat(k, k_dims)
        v, v_dims = repeat(v, v_dims)
    x = p.product((q, q_dims), (k, k_dims), scores, scores + ["d"])
    body = ["%%c = arith.constant %s : %s" % ("2.5e-01" if scale == "mulf" else "4.0", f), "%%y = arith.%s %%x0, %%c : %s" % (scale, f)]
    x = p.map([(x, scores, None)], scores, body)
    hidden = MINUS_INFINITY[f] if "far" not in mask else FAR[f]
    select = ["%%h = arith.constant %s : %s" % (hidden, f), "%%y = arith.select %%k, %%x0, %%h : %s" % f]
    if mask.startswith("causal"):
        x = p.map([(x, scores, None)], scores, ["%i = linalg.index 3 : index", "%j = linalg.index 4 : index", "%k = arith.cmpi sge, %i, %j : index"] + select)
    elif mask.startswith("less i32"):  # columns less a number, in i32 as JAX has positions
        x = p.map([(x, scores, None)], scores, ["%i = linalg.index 3 : index", "%j = linalg.index 4 : index", "%i32 = arith.index_cast %i : index to i32", "%j32 = arith.index_cast %j : index to i32",
                                                "%m = arith.constant 16 : i32", "%n = arith.subi %j32, %m : i32", "%k = arith.cmpi sge, %i32, %n : i32"] + select)
    elif mask == "stored":  # positions of columns from a file, in another order
        columns = p.name()
        p.emit("%s = arith.constant dense_resource<columns> : %s" % (columns, p.type(["t"], "i32")))
        bools = p.generic([(columns, ["t"], "i32")], ["s", "t"], ["s", "t"], ["%i = linalg.index 0 : index", "%r = arith.index_cast %i : index to i32", "%y = arith.cmpi sge, %r, %x0 : i32"], dtype="i1")
        x = p.map([(bools, ["s", "t"], "i1"), (x, scores, None)], scores, ["%%h = arith.constant %s : %s" % (FAR[f], f), "%%y = arith.select %%x0, %%x1, %%h : %s" % f])
    elif mask.startswith("later"):  # rows are the last ones
        x = p.map([(x, scores, None)], scores, ["%i = linalg.index 3 : index", "%j = linalg.index 4 : index", "%m = arith.constant 16 : index", "%n = arith.addi %i, %m : index",
                                                "%k = arith.cmpi slt, %n, %j : index", "%%h = arith.constant %s : %s" % (hidden, f), "%%y = arith.select %%k, %%h, %%x0 : %s" % f])
    elif mask.startswith("tensor"):  # a computed tensor of bools, of positions or of a window
        compare = ["%m = arith.constant 9 : index", "%n = arith.addi %j, %m : index", "%y = arith.cmpi slt, %i, %n : index"] if window else ["%y = arith.cmpi sge, %i, %j : index"]
        bools = p.generic([], ["s", "t"], ["s", "t"], places() + compare, dtype="i1")
        x = p.map([(bools, ["s", "t"], "i1"), (x, scores, None)], scores, ["%%h = arith.constant %s : %s" % (hidden, f), "%%y = arith.select %%x0, %%x1, %%h : %s" % f])
    elif mask.startswith("addition"):  # 0 or the hidden score, which is added
        numbers = p.generic([], ["s", "t"], ["s", "t"], places() + ["%k = arith.cmpi sge, %i, %j : index", "%%a = arith.constant 0.0 : %s" % f,
                                                                   "%%h = arith.constant %s : %s" % (hidden, f), "%%y = arith.select %%k, %%a, %%h : %s" % f])
        x = p.map([(x, scores, None), (numbers, ["s", "t"], None)], scores, ["%%y = arith.addf %%x0, %%x1 : %s" % f])
    if mask in ("less", "narrow") or "given" in mask:  # a mask that is an argument
        kind = "bf16" if mask == "narrow" else f
        given = p.argument(["b", "s", "t"], kind)
        body = {"less": ["%y = arith.subf %x0, %x1 : $"], "narrow": ["%w = arith.extf %x1 : bf16 to $", "%y = arith.addf %x0, %w : $"]}.get(mask, ["%y = arith.addf %x0, %x1 : $"])
        x = p.map([(x, scores, None), (given, ["b", "s", "t"], kind)], scores, [line.replace("$", f) for line in body])
    if mask == "scalar operand":
        x = p.map([(x, scores, None), (p.argument([]), [], None)], scores, ["%%y = arith.addf %%x0, %%x1 : %s" % f])
    if mask == "scalar":
        p.arguments.append("%%scalar: %s" % f)
        x = p.map([(x, scores, None)], scores, ["%%y = arith.addf %%x0, %%scalar : %s" % f])
    for dims, number in selects: # as JAX selects: tensors as large as the scores
        x = p.map([(p.copied(p.argument(dims, "i1"), dims, scores, "i1"), scores, "i1"), (x, scores, None), (p.filled(scores, number), scores, None)], scores,
                  ["%%y = arith.select %%x0, %%x1, %%x2 : %s" % f])
    if "bool" in mask or "hide" in mask:
        given = p.argument(["b", "t"], "i1")
        zero = p.argument(["b", "t"], "i1") if twice else None
        keep = "%%y = arith.select %%x0, %%h, %%x1 : %s" % f if "hide" in mask else "%%y = arith.select %%x0, %%x1, %%h : %s" % f
        x = p.map([(given, ["b", "t"], "i1"), (x, scores, None)], scores, ["%%h = arith.constant %s : %s" % (FAR[f], f), keep])
        if twice:
            x = p.map([(zero, ["b", "t"], "i1"), (x, scores, None)], scores, ["%%h = arith.constant %s : %s" % (FAR[f], f), keep])
    if then:
        x = p.map([(x, scores, None)], scores, [line.replace("$", f) for line in then])
    top = p.reduced((x, scores), rows, scores, "maximumf", first or MINUS_INFINITY[f])
    if minimum:
        least = p.reduced((x, scores), rows, scores, "minimumf", "0x7F800000")
    if shift:
        top = p.map([(top, rows, None)], rows, [line.replace("$", f) for line in shift])
    top_dims = rows
    if arranged == "turned":
        turned = ["g", "b", "h", "s", "t"]
        x, scores, rows = transpose(p, x, scores, turned), turned, turned[:4]
    elif arranged == "expanded":
        size["u"] = 1
        expanded = p.name()
        p.emit("%s = tensor.expand_shape %s [[0, 1], [2], [3], [4], [5]] output_shape [%s] : %s into %s"
               % (expanded, x, ", ".join(str(size[d]) for d in ["u"] + scores), p.type(scores), p.type(["u"] + scores)))
        x, scores, rows = expanded, ["u"] + scores, ["u"] + rows
    e = p.map([(x, scores, None), (top, top_dims, None)], scores, ["%%m = arith.subf %%x0, %%x1 : %s" % f, "%%y = math.%s %%m : %s" % (exponential, f)])
    if dropout and early:
        e = drop(p, e, scores, dropout)[0]
    total = p.reduced((e, scores), rows, scores, "addf", "0.0")
    if division == "inverse":
        total = p.map([(total, rows, None)], rows, ["%%c = arith.constant 1.0 : %s" % f, "%%y = arith.divf %%c, %%x0 : %s" % f])
    if after:
        e = p.map([(e, scores, None)], scores, [line.replace("$", f) for line in after])
    e = p.map([(e, scores, None), (total, rows, None)], scores, ["%%y = arith.%s %%x0, %%x1 : %s" % ("mulf" if division == "inverse" else division, f)])
    if dropout and not early:
        e = drop(p, e, scores, dropout)[0]
    out = p.product((e, scores), (v, v_dims), rows + ["e"], rows + ["e", "t"])
    out_dims = rows + ["e"]
    if inside:  # heads go back inside
        out = transpose(p, out, out_dims, ["b", "s", "h", "g", "e"])
        out_dims = ["b", "s", "h", "g", "e"]
    if picked:
        to, empty, result = [d for d in out_dims if d != "s"], p.name(), p.name()
        p.emit("%s = tensor.empty() : %s" % (empty, p.type(to)))
        p.emit('%s = linalg.generic {indexing_maps = [affine_map<(%s) -> (%s)>, affine_map<(%s) -> (%s)>], iterator_types = [%s]} ins(%s : %s) outs(%s : %s) {'
               % (result, ", ".join(to), ", ".join(d if d != "s" else "0" for d in out_dims), ", ".join(to), ", ".join(to), ", ".join(['"parallel"'] * len(to)),
                  out, p.type(out_dims), empty, p.type(to)))
        p.lines += ["  ^bb0(%%x0: %s, %%o: %s):" % (f, f), "    linalg.yield %%x0 : %s" % f, "  } -> %s" % p.type(to)]
        out, out_dims = result, to
    results = [(out, p.type(out_dims))] + ([(least, p.type(rows))] if minimum else [])
    grid = ""
    if split:  # rows over two devices: the position of the first one follows from the device
        p.arguments[0] += " {tp.sharding = [%s]}" % ", ".join('["x"]' if d == "s" else "[]" for d in q_dims)
        grid = 'shard.grid @mesh(shape = 2) {tp.axes = ["x"]}\n'
    text = grid + "func.func @main(%s) -> (%s) {\n%s\n  return %s : %s\n}\n" % (
        ", ".join(p.arguments), ", ".join(t for _, t in results), "\n".join(p.lines), ", ".join(v for v, _ in results), ", ".join(t for _, t in results))
    if mask == "stored":
        text += '{-# dialect_resources: { builtin: { columns: "0x04000000%s" } } #-}\n' % "".join("%02x000000" % (i * 5 % size["t"]) for i in range(size["t"]))
    return text.replace("tensor<%s>" % f, f) if "scalar" in (dropout, mask.split()[0]) else text


def transpose(p, value, dims, to):
    result, empty = p.name(), p.name()
    p.emit("%s = tensor.empty() : %s" % (empty, p.type(to)))
    p.emit("%s = linalg.transpose ins(%s : %s) outs(%s : %s) permutation = [%s]"
           % (result, value, p.type(dims), empty, p.type(to), ", ".join(str(dims.index(d)) for d in to)))
    return result


# Dropouts as frameworks write them: dimensions and type of what they read, and ops on a weight %x0 and an element of it %x1, each an op of its own. A list of several
# such rows for several of them.
def scaled(by="1.25"):
    return ["%%c = arith.constant %s : $" % by, "%y = arith.mulf %x0, %c : $"]


KEEP, DROP = ["%c = arith.constant 0.0 : $", "%y = arith.select %x1, %x0, %c : $"], ["%c = arith.constant 0.0 : $", "%y = arith.select %x1, %c, %x0 : $"]
MULTIPLY, NUMBER = ["%y = arith.mulf %x0, %x1 : $"], ["%n = arith.uitofp %x1 : i1 to $", "%c = arith.constant 0.9 : $", "%y = arith.divf %n, %c : $"]
DROPOUTS = {
    "keep": [(DIMS, "i1", KEEP, "1.25")],
    "drop": [(DIMS, "i1", DROP, "1.25")],
    "keep in all heads": [(["b", "s", "t"], "i1", KEEP, "1.25")],
    "multiply": [(DIMS, None, MULTIPLY, None)],
    "numbers": [(DIMS, "i1", NUMBER, None)],
    "two": [(DIMS, "i1", KEEP, "1.25"), (["s", "t"], "i1", KEEP, "1.25")],
    "scalar": [([], None, MULTIPLY, None)],
    "divide": [(DIMS, None, ["%y = arith.divf %x0, %x1 : $"], None)],
    "negative": [(DIMS, "i1", KEEP, "-1.25")],
    "number": [(None, None, None, "5.0e-01")],
}


def drop(p, weights, dims, kind, again=None, by=None):
    """Weights behind a dropout, and what it reads. again: what an earlier one has read; by: another scale."""
    given, f = [], p.dtype
    typed = lambda body: [line.replace("$", f) for line in body]
    for i, (of, dtype, body, number) in enumerate(DROPOUTS[kind]):
        if number:
            factor = p.filled(dims, by or number)
            weights = p.map([(weights, dims, None), (factor, dims, None)], dims, typed(MULTIPLY))
        if of is None:
            continue
        made = again[i] if again else p.argument(of, dtype or f)
        given.append(made)
        if body is NUMBER:  # the bools as numbers, and these times the weights
            made, dtype, body = p.map([(made, of, dtype), (made, of, dtype)], of, typed(body)), None, MULTIPLY
        weights = p.map([(weights, dims, None), (made, of, dtype)], dims, typed(body))
    return weights, given


CAP = ["%c = arith.constant 1.5 : $", "%w = arith.divf %x0, %c : $", "%z = math.tanh %w : $", "%y = arith.mulf %z, %c : $"]
NONE = ("none", False)
ONE = "attention is computed by one kernel"
# Name, parameters, and the mask of the site and whether it is causal.
FUSED = [
    ("plain", {}, NONE),
    ("divided", dict(scale="divf"), NONE),
    ("inverse", dict(division="inverse"), NONE),
    ("heads inside", dict(inside=True, mask="causal"), ("none", True)),
    ("causal", dict(mask="causal"), ("none", True)),
    ("causal, far", dict(mask="causal far"), ("none", True)),
    ("later rows", dict(mask="later far"), ("none", True)),
    ("columns less a number", dict(mask="less i32 far"), ("none", True)),
    ("tensor of positions", dict(mask="tensor far"), ("none", True)),
    ("positions of a file", dict(mask="stored"), ("keep", False)),
    ("tensor of a window", dict(mask="tensor far", window=True), ("keep", False)),
    ("added positions", dict(mask="addition far"), ("none", True)),
    ("given", dict(mask="given"), ("add", False)),
    ("causal and given", dict(mask="causal given", inside=True), ("add", True)),
    ("bool", dict(mask="bool"), ("keep", False)),
    ("hide", dict(mask="hide"), ("hide", False)),
    ("causal and bool", dict(mask="causal far bool"), ("keep", True)),
    ("repeated", dict(repeats=True, mask="causal", inside=True), ("none", True)),
    ("one row", dict(sizes=dict(s=1, t=70)), NONE),
    ("bf16", dict(dtype="bf16", sizes=dict(s=70, t=70, d=64, e=64), mask="causal far"), ("none", True)),
    ("bf16 of 8 queries, 80 features", dict(dtype="bf16", sizes=dict(h=1, g=8, s=10, t=80, d=80, e=80), inside=True, mask="later far"), ("none", True)),
    ("f16 of 128 features", dict(dtype="f16", sizes=dict(h=1, g=1, s=40, t=66, d=128, e=128), mask="bool"), ("keep", False)),
    ("rows over two devices", dict(mask="causal", split=True), ("none", True)),
    ("turned behind the largest", dict(arranged="turned", mask="causal"), ("none", True)),
    ("expanded behind the largest", dict(arranged="expanded"), NONE),
    ("soft cap", dict(then=CAP), NONE),
    ("soft cap of a negative number", dict(dtype="bf16", sizes=dict(d=64, e=64), then=["%c = arith.constant -2.0 : $", "%z = math.tanh %x0 : $", "%y = arith.mulf %z, %c : $"]), NONE),
    ("the first row alone is used", dict(picked=True), NONE),
    ("values are a constant", dict(constant=True), NONE),
    ("dropout", dict(dropout="keep", mask="causal far"), ("none", True), "keep"),
    ("dropout of what is true", dict(dropout="drop", inside=True, mask="bool"), ("keep", False), "drop"),
    ("dropout in all heads", dict(dropout="keep in all heads"), NONE, "keep"),
    ("dropout by numbers", dict(dropout="multiply", mask="given"), ("add", False), "multiply"),
    ("dropout by bools as numbers", dict(dropout="numbers", sizes=dict(h=1, g=8, s=12)), NONE, "keep"),
    ("dropout of bf16", dict(dropout="keep", dtype="bf16", sizes=dict(s=70, t=70, d=64, e=64), mask="causal far"), ("none", True), "keep"),
    ("dropout of f16 by numbers", dict(dropout="multiply", dtype="f16", sizes=dict(h=1, g=1, s=40, t=66, d=80, e=80), inside=True), NONE, "multiply"),
    ("dropout, rows over two devices", dict(dropout="keep", mask="causal", split=True), ("none", True), "keep"),
    ("two selects by bools", dict(selects=[(["b", "t"], "-1.0e30"), (["s", "t"], "-1.0e30")]), ("keep", False)),
    ("three selects by bools", dict(selects=[(["b", "h", "t"], "-1.0e30"), ([], "-1.0e30"), (["h", "g", "s"], "-1.0e30")]), ("keep", False)),
    ("two selects by one bool", dict(selects=[(["t"], "0xFF800000"), (["t"], "0xFF800000")]), ("keep", False)),
    ("a comparison and two selects", dict(mask="causal far", selects=[(["b", "t"], "-1.0e30"), (["b", "s", "t"], "-1.0e30")]), ("keep", True)),
    ("largest and infinity", dict(shift=["%c = arith.constant 0xFF800000 : $", "%y = arith.maximumf %x0, %c : $"]), NONE),
]
HALVED = ["%c = arith.constant 0.5 : $", "%y = arith.mulf %x0, %c : $"]
INDEXES = ["%i = linalg.index 3 : index", "%j = linalg.index 4 : index"]
# Name, parameters, and why the program stays as it is.
KEPT = [
    ("sine", dict(then=["%y = math.sin %x0 : $"]), "its scores go through an op that the kernel does not have"),
    ("tanh behind a mask", dict(mask="bool", then=["%y = math.tanh %x0 : $"]), "its scores go through an op that the kernel does not have"),
    ("soft cap twice", dict(then=["%z = math.tanh %x0 : $", "%y = math.tanh %z : $"]), "its scores go through an op that the kernel does not have"),
    ("soft cap and the product", dict(then=["%z = math.tanh %x0 : $", "%y = arith.addf %z, %x0 : $"]), "its scores go through an op that the kernel does not have"),
    ("129 features", dict(sizes=dict(d=129)), "its heads have more than 128 features"),
    ("two masks", dict(mask="bool", twice=True), "there are several masks"),
    ("two selects of several numbers", dict(selects=[(["b", "t"], "-1.0e30"), (["s", "t"], "-2.0e30")]), "hidden scores have several numbers, or one that is not negative"),
    ("different hidden scores", dict(mask="causal bool"), "hidden scores have several numbers, or one that is not negative"),
    ("f64", dict(dtype="f64"), "queries, keys and values must be of one type: f32, f16 or bf16"),
    ("two results", dict(minimum=True), "rows of the scores are reduced to more than their largest score and their sum"),
    ("exp2", dict(exponential="exp2"), "its exponential is not math.exp"),
    ("begins with 0", dict(first="0.0"), "the largest score begins with another number than -infinity"),
    ("half of the largest", dict(shift=HALVED), "what is subtracted from the scores is not just their largest one"),
    ("times the sum", dict(division="mulf"), "the exponentials are not just divided by their sum"),
    ("a factor for columns", dict(after=["%j = linalg.index 4 : index", "%m = arith.constant 9 : index", "%k = arith.cmpi slt, %j, %m : index",
                                         "%c = arith.constant 0.0 : $", "%y = arith.select %k, %x0, %c : $"]),
     "its weights are dropped by a condition that is no tensor"),
    ("two dropouts", dict(dropout="two"), "its weights are dropped by several tensors"),
    ("multiplied by a scalar", dict(dropout="scalar"), "its weights go through an op that the kernel does not have"),
    ("divided by numbers", dict(dropout="divide"), "its weights are divided by more than their sum and a number"),
    ("a dropout by a negative number", dict(dropout="negative"), "its dropout multiplies weights by a number that is not positive"),
    ("halved weights", dict(dropout="number"), "its weights are multiplied by a number, without a dropout"),
    ("dropped before the sum", dict(dropout="keep", early=True), "weights are changed before they are summed"),
    ("halved behind a mask", dict(mask="bool", then=HALVED), "scores are multiplied behind a mask"),
    ("more behind a mask", dict(mask="causal", then=["%c = arith.constant 1.0 : $", "%y = arith.addf %x0, %c : $"]), "its scores are not a multiple of products of queries and keys"),
    ("squares", dict(then=["%y = arith.mulf %x0, %x0 : $"]), "its scores are multiplied or divided by more than a number"),
    ("an inline window", dict(then=INDEXES + ["%m = arith.constant 9 : index", "%n = arith.muli %j, %m : index", "%k = arith.cmpi slt, %i, %n : index",
                                              "%h = arith.constant -1.0e30 : $", "%y = arith.select %k, %x0, %h : $"]),
     "what hides its scores is neither a tensor nor a comparison of row and column"),
    ("two comparisons", dict(mask="causal far", then=INDEXES + ["%k = arith.cmpi sgt, %i, %j : index", "%h = arith.constant -1.0e30 : $", "%y = arith.select %k, %x0, %h : $"]),
     "several comparisons of row and column hide its scores"),
    ("two numbers", dict(then=INDEXES + ["%k = arith.cmpi sgt, %i, %j : index", "%h = arith.constant -2.0 : $", "%z = arith.constant 0.0 : $",
                                         "%a = arith.select %k, %z, %h : $", "%y = arith.addf %x0, %a : $"]), "a mask selects between two numbers"),
    ("no constant", dict(then=INDEXES + ["%k = arith.cmpi sgt, %i, %j : index", "%h = arith.negf %x0 : $", "%y = arith.select %k, %x0, %h : $"]), "a select between scores has no constant"),
    ("something added", dict(then=INDEXES + ["%k = arith.cmpi sgt, %i, %j : index", "%h = arith.constant -9.0 : $", "%a = arith.select %k, %x0, %h : $",
                                             "%b = arith.constant 1.0 : $", "%y = arith.addf %a, %b : $"]), "something is added to hidden scores"),
    ("subtracted", dict(mask="less"), "a mask is subtracted"),
    ("a narrow mask", dict(mask="narrow"), "its mask has another type"),
    ("a scalar", dict(mask="scalar"), "its scores depend on values that are not tensors of scores"),
    ("a scalar operand", dict(mask="scalar operand"), "its scores depend on values that are not tensors of scores"),
]
MINUS_INFINITY["f64"], FAR["f64"] = "0xFFF0000000000000", "-1.0e30"


LOCAL = "builtin.module(tp-spmd{mesh=%s strategy=follow},tp-optimize-local{fused=keep})"


def describes(shard_opt, path, mesh, wanted):
    """Whether the site has the mask and, if given, the dropout, and is causal; with a position where rows are split."""
    wanted, dropout = wanted if isinstance(wanted, list) else (wanted, "none")
    run = subprocess.run([shard_opt, path, "--pass-pipeline=" + LOCAL % mesh], capture_output=True, text=True)
    found = re.findall(r"tp.fused = {.*causal = (\w+), dropout = \"(\w+)\", .*mask = \"(\w+)\"", run.stdout)
    return found == [("true" if wanted[1] else "false", dropout, wanted[0])] and (mesh == "1" or '"position"' in run.stdout)


# Of the forms that stay as they are, which other tests run too, one of so many runs by default, and all with TP_LONG=1; the others are compiled.
KEPT_THAT_RUN = 4


def check(fused_forms, kept_forms, said, program, describes):
    """Runs programs on the emulated GPU, each checked against a CPU run: the fused forms say `said`, the others why they are kept.
    `program` makes the text of a form, and `describes` says whether the fused one is as wanted. Returns whether one failed."""
    shard_run, shard_opt, driver, blaslt, folder = sys.argv[1:]
    environment = dict(os.environ, TPRT_CUDA_LIBRARY=driver, TPRT_BLASLT_LIBRARY=blaslt)
    os.makedirs(folder, exist_ok=True)
    failures = 0
    forms = [(True, *form) for form in fused_forms] + [(False, *form) for form in kept_forms]
    for number, (fused, name, parameters, *wanted) in enumerate(forms):
        wanted = wanted[0] if len(wanted) == 1 else wanted
        path = os.path.join(folder, re.sub(r"\W+", "_", name) + ".mlir")
        with open(path, "w") as file:
            file.write(program(**parameters))
        mesh = ["--mesh", "2", "--strategy", "follow"] if "split" in parameters else ["--mesh", "1"]
        runs = fused or os.environ.get("TP_LONG") or number % KEPT_THAT_RUN == 0
        command = [shard_run, path, *mesh, "--target=cuda", "--no-graph"] if runs else [shard_opt, path, "--pass-pipeline=" + LOCAL % mesh[1], "-o", os.devnull]
        run = subprocess.run(command, capture_output=True, text=True, env=environment)
        ok = run.returncode == 0 and (not runs or run.stdout.rstrip().endswith("verified")) and (said if fused else "attention is not computed by one kernel: " + wanted) in run.stderr
        ok = ok and (not fused or describes(shard_opt, path, mesh[1], wanted))
        print(name, "ok" if ok else "FAILED\n%s%s" % (run.stdout, run.stderr))
        failures += not ok
    return failures != 0


if __name__ == "__main__":
    sys.exit(check(FUSED, KEPT, ONE, attention, describes))
