#!/usr/bin/env python3
"""Writes a Llama-style stack of any depth as MLIR, annotated as a practitioner would: Megatron tensor parallelism on tp, batch on dp."""

import argparse
import re
import sys

from tensor_trace import Tensor, Trace

HIDDEN, FFN, HEADS, KV_HEADS, HEAD, VOCABULARY = 4096, 14336, 32, 8, 128, 32000
BATCH, SEQUENCE = 8, 4096

COLUMN, ROW, WHOLE = '[[], ["tp"]]', '[["tp"], []]', "[[]]"
LAYER_PARAMETERS = [  # name, shape, sharding
    ("norm1", (HIDDEN,), WHOLE),
    ("wq", (HIDDEN, HEADS * HEAD), COLUMN),
    ("wk", (HIDDEN, KV_HEADS * HEAD), COLUMN),
    ("wv", (HIDDEN, KV_HEADS * HEAD), COLUMN),
    ("wo", (HEADS * HEAD, HIDDEN), ROW),
    ("norm2", (HIDDEN,), WHOLE),
    ("gate", (HIDDEN, FFN), COLUMN),
    ("up", (HIDDEN, FFN), COLUMN),
    ("down", (FFN, HIDDEN), ROW),
]


def parameters(layers):
    """Returns all parameters in order: (name, shape, sharding)."""
    return ([("embed", (VOCABULARY, HIDDEN), ROW)] +
            [(f"l{i}_{name}", shape, layout) for i in range(layers) for name, shape, layout in LAYER_PARAMETERS] +
            [("norm", (HIDDEN,), WHOLE), ("head", (HIDDEN, VOCABULARY), COLUMN)])


def rms_norm(t, x, gain):
    scale = t.mean_last(t.mul(x, x))
    scale = t.rsqrt(t.add(scale, t.like(scale, "1.000000e-05")))
    x = t.mul(x, t.broadcast(scale, x.shape, (0, 1, 2)))
    return t.mul(x, t.broadcast(gain, x.shape, (2,)))


def rotary_tables(t):
    """Returns cos and sin of position x frequency, [sequence, half a head]."""
    half, shape = HEAD // 2, (SEQUENCE, HEAD // 2)
    frequency = t.to_float("arith.sitofp", t.iota((half,), 0))
    frequency = t.exp(t.mul(frequency, t.like(frequency, "-1.439116e-01")))  # 10000^(-i/half)
    position = t.to_float("arith.sitofp", t.iota((SEQUENCE,), 0))
    angle = t.mul(t.broadcast(position, shape, (0,)), t.broadcast(frequency, shape, (1,)))
    return t.arith("math.cos", angle), t.arith("math.sin", angle)


def rotary(t, x):
    """x: [batch, sequence, heads, head]."""
    cos, sin = rotary_tables(t)
    a, b = t.halves(x)
    cos, sin = (t.broadcast(v, a.shape, (1, 3)) for v in (cos, sin))
    return t.concat(t.sub(t.mul(a, cos), t.mul(b, sin)), t.add(t.mul(b, cos), t.mul(a, sin)))


def causal_mask(t):
    square = (SEQUENCE, SEQUENCE)
    rows, columns = t.iota((SEQUENCE, 1), 0), t.iota((1, SEQUENCE), 1)
    return t.compare("sge", t.broadcast(rows, square, (0, 1)), t.broadcast(columns, square, (0, 1)))


def softmax_parts(t, x):
    """Returns x minus its maximum along the last dimension, the exponential of that, and the sum of
    the exponentials, with the last dimension kept as size 1."""
    rank = len(x.shape)
    keep = lambda v: t.broadcast(v, x.shape[:-1] + (1,), range(rank - 1))
    top = keep(t.reduce(x, [rank - 1], "arith.maximumf"))
    shifted = t.sub(x, t.broadcast(top, x.shape, range(rank)))
    e = t.exp(shifted)
    return shifted, e, keep(t.reduce(e, [rank - 1], "arith.addf"))


def attention(t, x, p):
    group = HEADS // KV_HEADS
    heads = lambda w, n: t.reshape(t.einsum("bsd,dn->bsn", x, w), (BATCH, SEQUENCE, n, HEAD))
    q, k, v = rotary(t, heads(p["wq"], HEADS)), rotary(t, heads(p["wk"], KV_HEADS)), heads(p["wv"], KV_HEADS)
    q = t.reshape(q, (BATCH, SEQUENCE, KV_HEADS, group, HEAD))
    scores = t.einsum("bskgh,btkh->bkgst", q, k)
    scores = t.mul(scores, t.like(scores, "8.838835e-02"))
    mask = t.broadcast(causal_mask(t), scores.shape, (3, 4))
    scores = t.select(mask, scores, t.like(scores, "-1.000000e+30"))
    _, e, total = softmax_parts(t, scores)
    weights = t.div(e, t.broadcast(total, e.shape, range(5)))
    out = t.einsum("bkgst,btkh->bskgh", weights, v)
    return t.einsum("bsn,nd->bsd", t.reshape(out, (BATCH, SEQUENCE, HEADS * HEAD)), p["wo"])


def layer(t, x, p):
    x = t.add(x, attention(t, rms_norm(t, x, p["norm1"]), p))
    h = rms_norm(t, x, p["norm2"])
    gate = t.einsum("bsd,df->bsf", h, p["gate"])
    hidden = t.mul(t.mul(gate, t.logistic(gate)), t.einsum("bsd,df->bsf", h, p["up"]))
    return t.add(x, t.einsum("bsf,fd->bsd", hidden, p["down"]))


def one_hot(t, ids):
    shape = (BATCH, SEQUENCE, VOCABULARY)
    ids = t.broadcast(t.broadcast(ids, (BATCH, SEQUENCE, 1), (0, 1)), shape, (0, 1, 2))
    return t.to_float("arith.uitofp", t.compare("eq", ids, t.broadcast(t.iota((1, 1, VOCABULARY), 2), shape, (0, 1, 2))))


def logits(t, tokens, p, layers):
    x = t.einsum("bsv,vd->bsd", one_hot(t, tokens), p["embed"])
    for i in range(layers):
        x = layer(t, x, {name: p[f"l{i}_{name}"] for name, _, _ in LAYER_PARAMETERS})
    return t.einsum("bsd,dv->bsv", rms_norm(t, x, p["norm"]), p["head"])


def loss(t, y, targets):
    shifted, _, total = softmax_parts(t, y)
    picked = t.mul(t.sub(shifted, t.broadcast(t.log(total), y.shape, (0, 1, 2))), one_hot(t, targets))
    total = t.neg(t.reduce(t.reduce(picked, [2], "arith.addf"), [0, 1], "arith.addf"))
    return t.div(total, t.constant(f"{BATCH * SEQUENCE:e}"))


def write(layers, train, captured_concat, mesh):
    """Returns the module text and its number of tensor ops, counted after CSE as an exporter would,
    without ops in bodies."""
    t = Trace(captured_concat)
    args, results = [], []

    def argument(name, shape, dtype, layout, role):
        x = Tensor(f"%arg{len(args)}", shape, dtype, diff=train and bool(role))
        args.append(f'{x.name}: {x.type} {{tp.name = "{name}", {role}tp.sharding = {layout}}}')
        return x

    ids = {name: argument(name, (BATCH, SEQUENCE), "i32", '[["dp"], []]', "") for name in ["tokens", "targets"][:1 + train]}
    p = {name: argument(name, shape, "f32", layout, 'tp.role = "param", ') for name, shape, layout in parameters(layers)}
    y = logits(t, ids["tokens"], p, layers)
    if train:
        y = loss(t, y, ids["targets"])
        results.append((y, ""))
        for (_, _, layout), w, g in zip(parameters(layers), p.values(), t.gradients(y, list(p.values()))):
            results.append((t.sub(w, t.mul(g, t.like(g, "1.000000e-03"))), f" {{tp.sharding = {layout}}}"))
    else:
        results.append((y, ' {tp.sharding = [["dp"], [], ["tp"]]}'))
    maps = "".join(f"{alias} = {text}\n" for text, alias in t.maps.items())
    names, sizes = zip(*(axis.split("=") for axis in mesh.split(",")))
    axes = ", ".join(f'"{name}"' for name in names)
    values, types = ", ".join(x.name for x, _ in results), ", ".join(x.type for x, _ in results)
    text = (f"{maps}module @llama {{\n  shard.grid @mesh(shape = {'x'.join(sizes)}) {{tp.axes = [{axes}]}}\n"
            f"  func.func @main({', '.join(args)}) -> ({', '.join(x.type + a for x, a in results)}) {{\n" +
            "\n".join(t.lines) + f"\n    return {values} : {types}\n  }}\n}}\n")
    return text, t.n_ops


def layers_for(ops, train):
    """Returns the depth at which the program has about `ops` ops; their number is linear in the
    depth."""
    one, two = (write(n, train, False, "dp=1,tp=1")[1] for n in (1, 2))
    return max(1, round((ops - one) / (two - one)) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--layers", type=int)
    size.add_argument("--ops", type=int, help="as many layers as give about this number of ops")
    parser.add_argument("--train", action="store_true", help="forward, loss, backward and SGD update; without it forward only")
    parser.add_argument("--captured-concat", action="store_true",
                        help="write concatenations as generics that read captured tensors, as exporters do; tp-raise undoes that")
    parser.add_argument("--mesh", default="dp=2,tp=4", help="sizes of the axes dp and tp")
    parser.add_argument("-o", default="-", metavar="FILE", help="where to write it; -: standard output")
    options = parser.parse_args()
    if not re.fullmatch(r"\w+=[1-9]\d*(,\w+=[1-9]\d*)*", options.mesh):
        parser.error(f"--mesh {options.mesh}: expected sizes by name, as in dp=2,tp=4")
    layers = options.layers or layers_for(options.ops, options.train)
    text, ops = write(layers, options.train, options.captured_concat, options.mesh)
    with sys.stdout if options.o == "-" else open(options.o, "w", encoding="ascii") as file:
        file.write(f"// layers={layers} ops={ops}\n{text}")


if __name__ == "__main__":
    main()
