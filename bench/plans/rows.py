"""Programs whose best plan is known by hand: program, mesh, boundary shardings, and the bytes of
the hand-written plan.

B: the shardings of inputs and outputs are given. W: weights (and their gradients) are sharded over
all devices at rest. Without these constraints, the best plan often has no communication. Sizes are
those of real models; the tests execute `small` variants of the same structure."""

from program import Program

MIB = 1 << 20


# ---- Bytes sent per device; v: bytes of the whole tensor, for all_to_all of the local one ----

def all_reduce(v, n):
    return 2 * (n - 1) * v / n


def all_gather(v, n):
    return (n - 1) * v / n


reduce_scatter = all_to_all = all_gather


class Row:
    def __init__(self, number, name, plan, mesh, build, sizes, small, hand, element="bf16", reason=None, limit=None):
        self.number, self.name, self.plan, self.mesh, self.build = number, name, plan, mesh, build
        self.sizes, self.small, self.hand, self.element, self.reason, self.limit = sizes, small, hand, element, reason, limit

    def program(self, small=False, hand=False, free=False, **sizes):
        """The row at full size, or at the sizes given; at its small size for small=True, in f32."""
        p = Program(self.mesh, "f32" if small else self.element, hand, free)
        self.build(p, **{**(self.small if small else self.sizes), **sizes})
        return p.text()

    def hand_bytes(self):
        return self.hand(**self.sizes)


# ---- Parts of models ----

def gelu(t, x):
    return t.mul(x, t.logistic(t.mul(x, t.like(x, "1.702000e+00"))))


def norm(t, x, gain):
    rank = len(x.shape)
    scale = t.rsqrt(t.add(t.mean_last(t.mul(x, x)), t.like(t.mean_last(t.mul(x, x)), "1.000000e-05")))
    x = t.mul(x, t.broadcast(scale, x.shape, range(rank)))
    return t.mul(x, t.broadcast(gain, x.shape, (rank - 1,)))


def softmax(t, x):
    rank = len(x.shape)
    keep = lambda v: t.broadcast(t.broadcast(v, x.shape[:-1] + (1,), range(rank - 1)), x.shape, range(rank))
    e = t.exp(t.sub(x, keep(t.reduce(x, [rank - 1], "arith.maximumf"))))
    return t.div(e, keep(t.reduce(e, [rank - 1], "arith.addf")))


def heads_attention(t, q, k, v, hand=None):
    """Attention. q: [b, s, kv heads, group, d], k and v: [b, s, kv heads, d]."""
    scores = t.einsum("bskgh,btkh->bkgst", q, k, hand)
    first = len(t.lines)
    shares = softmax(t, t.mul(scores, t.like(scores, "8.838835e-02")))
    if hand is not None:
        # either all ops are pinned or none; else they are not recognized as blockwise attention
        t.pin_dims(first, "bkgst", hand)
    return t.einsum("bkgst,btkh->bskgh", shares, v, hand)


def by_hand(t, kv):
    """Returns the hand-written places of the projections, of the scores and of the output."""
    if t.by_batch:
        return dict.fromkeys("qkv", {"b": "x"}), {"b": "x"}, {"b": "x"}
    if dict(t.mesh).keys() != {"x"}:
        return dict.fromkeys("qkv"), None, None
    one = {"n": kv[0] if kv else "x"}
    return {"q": {"n": "x"}, "k": one, "v": one}, {"k": kv[0], "g": kv[1]} if kv else {"k": "x"}, {"partial": "x"}


def attention(t, x, w, heads, kv_heads, kv=None):
    """Attention with projections. By hand, heads are split; key/value heads only by the parts `kv`
    of the axis that divide them."""
    b, s, _ = x.shape
    split = lambda name, shape: t.reshape(t.einsum("bsd,dn->bsn", x, w[name], hand[name]), (b, s) + shape)
    hand, parts, out = by_hand(t, kv)
    d = w["q"].shape[1] // heads
    q = t.reshape(split("q", (heads, d)), (b, s, kv_heads, heads // kv_heads, d))
    o = heads_attention(t, q, split("k", (kv_heads, d)), split("v", (kv_heads, d)), parts)
    return t.einsum("bsn,nd->bsd", t.reshape(t.reshape(o, (b, s, heads, d)), (b, s, heads * d)), w["o"],
                    out)


def attention_weights(t, d, heads, kv_heads, head, column, row, kv_column=None):
    kv = column if kv_column is None else kv_column
    return {"q": t.weight("wq", (d, heads * head), column), "k": t.weight("wk", (d, kv_heads * head), kv),
            "v": t.weight("wv", (d, kv_heads * head), kv), "o": t.weight("wo", (heads * head, d), row)}


def swiglu(t, h, w):
    letters = "bsd"[-len(h.shape):]
    out = letters[:-1]
    gate = t.einsum(f"{letters},df->{out}f", h, w["gate"])
    hidden = t.mul(t.mul(gate, t.logistic(gate)), t.einsum(f"{letters},df->{out}f", h, w["up"]))
    return t.einsum(f"{out}f,fd->{letters}", hidden, w["down"])


def llama_weights(t, d, f, heads, kv_heads, head, column, row, whole):
    w = {"norm1": t.weight("norm1", (d,), whole), **attention_weights(t, d, heads, kv_heads, head, column, row)}
    return {**w, "norm2": t.weight("norm2", (d,), whole), "gate": t.weight("gate", (d, f), column),
            "up": t.weight("up", (d, f), column), "down": t.weight("down", (f, d), row)}


def llama_layer(t, x, w, heads, kv_heads):
    x = t.add(x, attention(t, norm(t, x, w["norm1"]), w, heads, kv_heads))
    return t.add(x, swiglu(t, norm(t, x, w["norm2"]), w))


def gpt_weights(t, d, heads, head, column, row, whole, prefix=""):
    f = 4 * d
    w = {"norm1": t.weight("norm1", (d,), whole), **attention_weights(t, d, heads, heads, head, column, row)}
    return {**w, "norm2": t.weight("norm2", (d,), whole), "up": t.weight("up", (d, f), column), "down": t.weight("down", (f, d), row)}


def gpt_layer(t, x, w, heads):
    x = t.add(x, attention(t, norm(t, x, w["norm1"]), w, heads, heads))
    h = gelu(t, t.einsum("bsd,df->bsf", norm(t, x, w["norm2"]), w["up"]))
    return t.add(x, t.einsum("bsf,fd->bsd", h, w["down"]))


def train(t, y, places, wanted, wanted_places):
    """Adds the backward pass from a given gradient of y; the results are the gradients of
    `wanted`."""
    seed = t.arg("dy", y.shape, places)
    for g, p in zip(t.gradients(y, wanted, seed), wanted_places):
        t.result(g, p)


X = [("x", 8)]
COLUMN, ROW, WHOLE = {1: "x"}, {0: "x"}, {}


# ---- Rows ----

def mlp(t, T, D, F, x=WHOLE, y=WHOLE, w1=COLUMN, w2=ROW, gradients=False):
    a = t.arg("x", (T, D), x)
    u, d = t.weight("w1", (D, F), w1), t.weight("w2", (F, D), w2)
    h = gelu(t, t.einsum("td,df->tf", a, u, {"f": "x"} if x == WHOLE else {"t": "x"}))
    out = t.einsum("tf,fd->td", h, d, {"partial": "x"} if x == WHOLE else {"t": "x"})
    t.result(out, y)
    if gradients:
        train(t, out, y, [u, d], [w1, w2])


def only_attention(t, B, S, H, d):
    q, k, v = (t.arg(n, (B, S, H, d), {2: "x"}) for n in "qkv")
    t.result(heads_attention(t, t.reshape(q, (B, S, H, 1, d)), k, v), {2: "x"})


def long_attention(t, S, H, KV, d, hand):
    """One long sequence, with tokens sharded before and after. `hand`: where the hand-written plan
    shards the heads (k, g) or the rows (s) of the scores."""
    q, k, v = (t.arg(n, (1, S, h, d), {1: "x"}) for n, h in (("q", H), ("k", KV), ("v", KV)))
    o = heads_attention(t, t.reshape(q, (1, S, KV, H // KV, d)), k, v, hand)
    t.result(t.reshape(o, (1, S, H, d)), {1: "x"})


def attention_block(t, B, S, D, H, KV, d, kv=None):
    x = t.arg("x", (B, S, D), WHOLE)
    w = attention_weights(t, D, H, KV, d, COLUMN, ROW, kv and {1: kv[0]})
    t.result(attention(t, x, w, H, KV, kv), WHOLE)


def mla(t, B, S, D, H, Q, KV, R, d):
    """Latent attention: queries and keys have a positional part (R); for the keys, all heads share
    it."""
    x = t.arg("x", (B, S, D), WHOLE)
    latent_q = t.einsum("bsd,dq->bsq", x, t.weight("dq", (D, Q), WHOLE), {})
    latent = t.einsum("bsd,dc->bsc", x, t.weight("dkv", (D, KV), WHOLE), {})
    position = t.einsum("bsd,dr->bsr", x, t.weight("kr", (D, R), WHOLE), {})
    up = lambda name, at, rank, width: t.einsum("bsc,chd->bshd", at, t.weight(name, (rank, H, width), {1: "x"}))
    q, q_position = up("uq", latent_q, Q, d), up("uqr", latent_q, Q, R)
    k, v = up("uk", latent, KV, d), up("uv", latent, KV, d)
    scores = t.add(t.einsum("bshd,bthd->bhst", q, k), t.einsum("bshr,btr->bhst", q_position, position))
    o = t.einsum("bhst,bthd->bshd", softmax(t, t.mul(scores, t.like(scores, "7.216878e-02"))), v)
    t.result(t.einsum("bshd,hde->bse", o, t.weight("o", (H, d, D), {0: "x"})), WHOLE)


def llama(t, B, S, D, F, H, KV, d, gradients=False, x=WHOLE, column=COLUMN, row=ROW, whole=WHOLE):
    a = t.arg("x", (B, S, D), x, diff=gradients)
    w = llama_weights(t, D, F, H, KV, d, column, row, whole)
    y = llama_layer(t, a, w, H, KV)
    t.result(y, x)
    if gradients:
        places = [x] + [column if n in ("q", "k", "v", "gate", "up") else row if n in ("o", "down") else whole for n in w]
        train(t, y, x, [a, *w.values()], places)


def gpt(t, B, S, D, H, d):
    a = t.arg("x", (B, S, D), WHOLE, diff=True)
    w = gpt_weights(t, D, H, d, COLUMN, ROW, WHOLE)
    y = gpt_layer(t, a, w, H)
    t.result(y, WHOLE)
    train(t, y, WHOLE, [a, *w.values()], [WHOLE] + [COLUMN if n in ("q", "k", "v", "up") else ROW if n in ("o", "down") else WHOLE
                                                    for n in w])


def moe(t, G, S, D, F, E, C):
    """Mixture of experts by one-hot dispatch: token groups and experts are sharded over the
    devices; `place` routes the tokens."""
    x = t.arg("x", (G, S, D), {0: "x"}, diff=True)
    place, gate = t.arg("place", (G, S, E, C), {0: "x"}), t.arg("gate", (G, S, E, C), {0: "x"})
    up, down = t.weight("up", (E, D, F), {0: "x"}), t.weight("down", (E, F, D), {0: "x"})
    sent = t.einsum("gsec,gsd->egcd", place, x, {"g": "x"})
    hidden = gelu(t, t.einsum("egcd,edf->egcf", sent, up, {"e": "x"}))
    back = t.einsum("egcf,efd->egcd", hidden, down, {"e": "x"})
    y = t.einsum("gsec,egcd->gsd", gate, back, {"g": "x"})
    t.result(y, {0: "x"})
    train(t, y, {0: "x"}, [x, up, down], [{0: "x"}, {0: "x"}, {0: "x"}])


def vit(t, B, S, D, H, d, L):
    batch, t.by_batch = {0: "x"}, True
    x = t.arg("x", (B, S, D), batch)
    ws, y = [], x
    for _ in range(L):
        w = gpt_weights(t, D, H, d, WHOLE, WHOLE, WHOLE)
        y = gpt_layer(t, y, w, H)
        ws += w.values()
    t.result(y, batch)
    train(t, y, batch, ws, [WHOLE] * len(ws))


def resnet(t, B, HW, C, L, place):
    """Bottleneck blocks of one stage; `place`: batch or rows are sharded over the devices."""
    x = t.arg("x", (B, HW, HW, 4 * C), place)
    ws, y = [], x
    for i in range(L):
        w = [t.weight(f"{n}{i}", s, WHOLE) for n, s in (("a", (1, 1, 4 * C, C)), ("b", (3, 3, C, C)), ("c", (1, 1, C, 4 * C)))]
        y = t.add(y, t.conv(gelu(t, t.conv(gelu(t, t.conv(y, w[0], place)), w[1], place)), w[2], place))
        ws += w
    t.result(y, place)
    train(t, y, place, ws, [WHOLE] * len(ws))


def resnet_parameters(C, L):
    return L * (2 * 4 * C * C + 9 * C * C)


def dlrm(t, N, R, W, B):
    tables, ids = t.arg("tables", (N, R, W), {2: "x"}, role="param"), t.arg("ids", (N, B), WHOLE, dtype="i32")
    t.result(t.lookup(tables, ids), {1: "x"})


def cross_entropy(t, T, V, D):
    h, w = t.arg("h", (T, D), WHOLE), t.weight("w", (D, V), COLUMN)
    targets = t.arg("targets", (T,), WHOLE, dtype="i32")
    logits = t.einsum("td,dv->tv", h, w)
    top = t.broadcast(t.reduce(logits, [1], "arith.maximumf"), logits.shape, (0,))
    shifted = t.sub(logits, top)
    total = t.log(t.reduce(t.exp(shifted), [1], "arith.addf"))
    hot = t.compare("eq", t.broadcast(targets, (T, V), (0,)), t.iota((T, V), 1))
    picked = t.reduce(t.select(hot, shifted, t.like(shifted, "0.000000e+00")), [1], "arith.addf")
    t.result(t.sub(total, picked), WHOLE)


def swiglu_block(t, T, D, F):
    x = t.arg("x", (T, D), WHOLE)
    w = {"gate": t.weight("gate", (D, F), COLUMN), "up": t.weight("up", (D, F), COLUMN), "down": t.weight("down", (F, D), ROW)}
    gate = t.einsum("td,df->tf", x, w["gate"])
    hidden = t.mul(t.mul(gate, t.logistic(gate)), t.einsum("td,df->tf", x, w["up"]))
    t.result(t.einsum("tf,fd->td", hidden, w["down"]), WHOLE)


def lora(t, B, S, D, H, d, r):
    x = t.arg("x", (B, S, D), WHOLE, diff=True)
    w = {n: t.arg(f"w{n}", (D, H * d) if n != "o" else (H * d, D), COLUMN if n != "o" else ROW, role="param") for n in "qkvo"}
    a = {n: t.weight(f"a{n}", (D, r), WHOLE) for n in "qv"}
    b = {n: t.weight(f"b{n}", (r, H * d), COLUMN) for n in "qv"}

    def project(n):
        y = t.einsum("bsd,dn->bsn", x, w[n], {"n": "x"})
        if n in a:
            y = t.add(y, t.einsum("bsr,rn->bsn", t.einsum("bsd,dr->bsr", x, a[n], {}), b[n], {"n": "x"}))
        return t.reshape(y, (B, S, H, d))

    o = heads_attention(t, t.reshape(project("q"), (B, S, H, 1, d)), project("k"), project("v"))
    y = t.einsum("bsn,nd->bsd", t.reshape(t.reshape(o, (B, S, H, d)), (B, S, H * d)), w["o"])
    t.result(y, WHOLE)
    train(t, y, WHOLE, [x, *a.values(), *b.values()], [WHOLE, WHOLE, WHOLE, COLUMN, COLUMN])


def decode(t, B, S, D, F, H, KV, d, L):
    """Decodes one token of each sequence, with caches of S tokens."""
    x = t.arg("x", (B, D), WHOLE)
    for i in range(L):
        w = llama_weights(t, D, F, H, KV, d, COLUMN, ROW, WHOLE)
        k, v = (t.arg(f"{n}_cache{i}", (B, S, KV, d), {2: "x"}) for n in "kv")
        q = t.einsum("bd,dn->bn", norm(t, x, w["norm1"]), w["q"])
        q = t.reshape(t.reshape(q, (B, H, d)), (B, KV, H // KV, d))
        scores = t.einsum("bkgh,btkh->bkgt", q, k)
        o = t.einsum("bkgt,btkh->bkgh", softmax(t, t.mul(scores, t.like(scores, "8.838835e-02"))), v)
        x = t.add(x, t.einsum("bn,nd->bd", t.reshape(t.reshape(o, (B, H, d)), (B, H * d)), w["o"]))
        h = norm(t, x, w["norm2"])
        gate = t.einsum("bd,df->bf", h, w["gate"])
        hidden = t.mul(t.mul(gate, t.logistic(gate)), t.einsum("bd,df->bf", h, w["up"]))
        x = t.add(x, t.einsum("bf,fd->bd", hidden, w["down"]))
    t.result(x, WHOLE)


def language_model_gradients(t, B, S, D, F, H, V, L, by_batch, weights):
    """A language model with 9 parameters per layer and an embedding that is tied to the output: the
    loss, and each weight with its gradient. Sharded by batch, or by heads and words. `weights`:
    places of columns, rows, words and the rest."""
    x = {0: "x"} if by_batch else WHOLE
    column, row, words, whole = weights
    t.by_batch = by_batch
    tokens, targets = (t.arg(n, (B, S), x, dtype="i32") for n in ("tokens", "targets"))
    embed = t.weight("embed", (V, D), words)
    layers = [llama_weights(t, D, F, H, H, D // H, column, row, whole) for _ in range(L)]
    hot = lambda ids: t.to_float("arith.uitofp", t.compare("eq", t.broadcast(ids, (B, S, V), (0, 1)), t.iota((B, S, V), 2)))
    y = t.einsum("bsv,vd->bsd", hot(tokens), embed)
    for w in layers:
        y = llama_layer(t, y, w, H, H)
    logits = t.einsum("bsd,vd->bsv", y, embed)
    shifted = t.sub(logits, t.broadcast(t.reduce(logits, [2], "arith.maximumf"), logits.shape, (0, 1)))
    total = t.log(t.reduce(t.exp(shifted), [2], "arith.addf"))
    picked = t.reduce(t.mul(shifted, hot(targets)), [2], "arith.addf")
    loss = t.reduce(t.sub(total, picked), [0, 1], "arith.addf")
    kind = lambda n: column if n in ("q", "k", "v", "gate", "up") else row if n in ("o", "down") else whole
    ws = [(embed, words)] + [(v, kind(n)) for w in layers for n, v in w.items()]
    return loss, [(w, place, g) for (w, place), g in zip(ws, t.gradients(loss, [w for w, _ in ws]))]


def language_model(t, by_batch, **sizes):
    loss, weights = language_model_gradients(t, by_batch=by_batch, weights=[WHOLE] * 4 if by_batch else [COLUMN, ROW, ROW, WHOLE], **sizes)
    t.result(loss, WHOLE)
    for _, place, g in weights:
        t.result(g, place)


def language_model_step(t, at_rest, **sizes):
    """The language model sharded by batch, with its optimizer: every weight has a momentum, which
    is sharded over all devices. `at_rest`: the weight is too."""
    loss, weights = language_model_gradients(t, by_batch=True, weights=[ROW if at_rest else WHOLE] * 4, **sizes)
    t.result(loss, WHOLE)
    for i, (w, place, g) in enumerate(weights):
        m = t.arg(f"momentum{i}", w.shape, ROW, role="state")
        moved = t.add(t.mul(m, t.like(m, "9.000000e-01")), g)
        t.result(t.sub(w, t.mul(moved, t.like(w, "1.000000e-03"))), place, updates=w)
        t.result(moved, ROW, updates=m)


def graph(t, N, E, D, L):
    """Message passing: edges are sharded over the devices, node features are replicated. Each edge
    adds the features of its source to its target."""
    h = t.arg("h", (N, D), WHOLE)
    source, target = (t.arg(n, (E,), {0: "x"}, dtype="i32") for n in ("source", "target"))
    hot = t.to_float("arith.uitofp", t.compare("eq", t.broadcast(target, (N, E), (1,)), t.iota((N, E), 0)))
    for i in range(L):
        added = t.einsum("ne,ed->nd", hot, t.rows_of(h, source), {"partial": "x"})
        h = gelu(t, t.einsum("nd,df->nf", added, t.weight(f"w{i}", (D, D), WHOLE), {}))
    t.result(h, WHOLE)


def language_model_parameters(D, F, V, L):
    return V * D + L * (4 * D * D + 3 * D * F + 2 * D)


def square_matmul(t, N):
    both = {0: "x", 1: "y"}
    t.result(t.einsum("mk,kn->mn", t.arg("a", (N, N), both), t.arg("b", (N, N), both)), both)


def three_added(t, T, D):
    g = [t.arg(f"d{n}", (T, D), COLUMN) for n in "qkv"]
    w = [t.arg(f"w{n}", (D, D), ROW, role="param") for n in "qkv"]
    p = [t.einsum("tn,nd->td", a, b) for a, b in zip(g, w)]
    t.result(t.add(t.add(p[0], p[1]), p[2]), {0: "x"})


def three_consumers(t, T, D):
    x = t.arg("x", (T, D), {0: "x"})
    for n in "qkv":
        t.result(t.einsum("td,dn->tn", x, t.arg(f"w{n}", (D, D), COLUMN, role="param")), COLUMN)


LONG, SMALL_LONG = dict(S=131072, H=32, KV=8, d=128), dict(S=32, H=16, KV=8, d=4)
LAYER_7B = dict(B=1, S=4096, D=4096, F=11008, H=32, KV=32, d=128)
SMALL_LAYER = dict(B=2, S=16, D=32, F=64, H=8, KV=8, d=4)
TP_ROW, TP_COLUMN, SEQUENCE = {0: "tp", 1: "dp"}, {0: "dp", 1: "tp"}, {0: "dp", 1: "tp"}


def fsdp_bytes(B, S, D, F, H, KV, d, **_):
    """Sequence parallelism over tp: 4 all-gathers and 4 reduce-scatters of one dp rank's
    activations. FSDP over dp: 3 collectives on one tp rank's weights."""
    weights = 2 * (2 * D * H * d + 2 * D * KV * d + 3 * D * F)
    return 8 * all_gather(2 * B * S * D / 8, 8) + 3 * all_gather(weights / 8, 8)


ROWS = [
    Row("1", "MLP, 8192 tokens (B W)", "column, row; all_reduce", X, mlp, dict(T=8192, D=4096, F=16384), dict(T=16, D=16, F=32),
        lambda T, D, F: all_reduce(2 * T * D, 8)),
    Row("1s", "the same, y by tokens (B W)", "column, row; reduce_scatter", X, lambda t, **s: mlp(t, y={0: "x"}, **s),
        dict(T=8192, D=4096, F=16384), dict(T=16, D=16, F=32), lambda T, D, F: reduce_scatter(2 * T * D, 8)),
    Row("1b", "MLP, 65536 tokens, by tokens (B W)", "gather the weights", X, lambda t, **s: mlp(t, x=ROW, y=ROW, **s),
        dict(T=65536, D=4096, F=16384), dict(T=64, D=16, F=32), lambda T, D, F: 2 * all_gather(2 * D * F, 8)),
    Row("2", "MLP train, 8192 tokens (B W)", "column, row; 1 all_reduce", X, lambda t, **s: mlp(t, gradients=True, **s),
        dict(T=8192, D=4096, F=16384), dict(T=16, D=16, F=32), lambda T, D, F: all_reduce(2 * T * D, 8)),
    Row("2b", "MLP train, 65536 tokens (B)", "by tokens; all_reduce of gradients", X,
        lambda t, **s: mlp(t, x=ROW, y=ROW, w1=WHOLE, w2=WHOLE, gradients=True, **s),
        dict(T=65536, D=4096, F=16384), dict(T=64, D=16, F=32), lambda T, D, F: 2 * all_reduce(2 * D * F, 8)),
    Row("3", "attention (B)", "heads", X, only_attention, dict(B=8, H=32, S=4096, d=128), dict(B=2, H=8, S=8, d=4), lambda **_: 0),
    Row("4", "attention block (B W)", "q k v column, o row", X, attention_block, dict(B=2, S=4096, D=4096, H=32, KV=32, d=128),
        dict(B=2, S=8, D=32, H=8, KV=8, d=4), lambda B, S, D, **_: all_reduce(2 * B * S * D, 8)),
    Row("5", "8 kv heads on 16 (B W)", "parts of an axis, 8x2", [("x", 16)],
        lambda t, **s: attention_block(t, kv=("x:(1)8", "x:(8)2"), **s), dict(B=2, S=4096, D=4096, H=32, KV=8, d=128),
        dict(B=2, S=8, D=32, H=16, KV=8, d=4), lambda B, S, D, **_: all_reduce(2 * B * S * D, 16)),
    Row("6", "latent attention (B W)", "latents whole, heads", X, mla, dict(B=2, S=4096, D=7168, H=128, Q=1536, KV=512, R=64, d=128),
        dict(B=2, S=8, D=32, H=8, Q=12, KV=8, R=4, d=4), lambda B, S, D, **_: all_reduce(2 * B * S * D, 8),
        reason="the latents are computed by tokens and gathered, instead of whole on every device"),
    Row("7", "Llama-2 7B layer (B W)", "2 all_reduce", X, llama, LAYER_7B, SMALL_LAYER,
        lambda B, S, D, **_: 2 * all_reduce(2 * B * S * D, 8)),
    Row("8", "the same, train (B W)", "4 all_reduce", X, lambda t, **s: llama(t, gradients=True, **s), LAYER_7B, SMALL_LAYER,
        lambda B, S, D, **_: 4 * all_reduce(2 * B * S * D, 8)),
    Row("9", "Llama-2 70B layer, train, 8x8 (B W)", "sequence parallel, FSDP", [("dp", 8), ("tp", 8)],
        lambda t, **s: llama(t, gradients=True, x=SEQUENCE, column=TP_COLUMN, row=TP_ROW, **s),
        dict(B=8, S=4096, D=8192, F=28672, H=64, KV=8, d=128), dict(B=2, S=8, D=32, F=64, H=8, KV=8, d=4),
        lambda B, **s: fsdp_bytes(B, **s)),
    Row("10", "GPT-3 175B layer, train (B W)", "4 all_reduce", X, gpt, dict(B=1, S=2048, D=12288, H=96, d=128),
        dict(B=2, S=8, D=32, H=8, d=4), lambda B, S, D, **_: 4 * all_reduce(2 * B * S * D, 8)),
    Row("11", "8 experts, top 2, train (B W)", "4 all_to_all", X, moe, dict(G=8, S=4096, D=4096, F=14336, E=8, C=1024),
        dict(G=8, S=4, D=8, F=16, E=8, C=2), lambda G, S, D, E, C, **_: 4 * all_to_all(2 * E * C * D, 8)),
    Row("12", "ViT-L/16, train (B)", "all_reduce of gradients", X, vit, dict(B=512, S=197, D=1024, H=16, d=64, L=24),
        dict(B=8, S=5, D=16, H=4, d=4, L=1), lambda D, L, **_: all_reduce(2 * L * (12 * D * D + 2 * D), 8)),
    Row("13", "bottlenecks, train, by images (B)", "all_reduce of gradients", X, lambda t, **s: resnet(t, place={0: "x"}, **s),
        dict(B=256, HW=56, C=128, L=4), dict(B=8, HW=8, C=2, L=1), lambda B, HW, C, L: all_reduce(4 * resnet_parameters(C, L), 8), "f32"),
    Row("13s", "the same, one image by rows (B)", "rows of neighbors, for the forward pass and for the gradient", X, lambda t, **s: resnet(t, place={1: "x"}, **s),
        dict(B=1, HW=448, C=128, L=4), dict(B=1, HW=16, C=2, L=1),
        lambda B, HW, C, L: all_reduce(4 * resnet_parameters(C, L), 8) + L * 2 * 2 * 4 * B * HW * C, "f32"),
    Row("14", "26 tables of 1M rows (B W)", "columns of tables, all_to_all", X, dlrm, dict(N=26, R=1 << 20, W=128, B=65536),
        dict(N=3, R=16, W=8, B=16), lambda N, R, W, B: all_to_all(4 * N * B * W / 8, 8), "f32"),
    Row("15", "graph, two aggregates (B)", "edges; all_reduce of the features", X, graph, dict(N=16384, E=262144, D=256, L=2),
        dict(N=16, E=24, D=8, L=2), lambda N, D, L, **_: L * all_reduce(2 * N * D, 8)),
    Row("16", "131072 tokens, 4 devices (B)", "gather keys and values", [("x", 4)], lambda t, **s: long_attention(t, hand={"s": "x"}, **s),
        LONG, SMALL_LONG, lambda S, KV, d, **_: 2 * all_gather(2 * S * KV * d, 4)),
    Row("16b", "the same, 8 devices (B)", "tokens for heads and back", X, lambda t, **s: long_attention(t, hand={"k": "x"}, **s),
        LONG, SMALL_LONG, lambda S, H, KV, d: 2 * all_to_all(2 * S * (H + KV) * d / 8, 8)),
    Row("16c", "the same, 16 devices (B)", "the same, 8x2; keys and values on two devices each", [("x", 16)],
        lambda t, **s: long_attention(t, hand={"k": "x:(1)8", "g": "x:(8)2"}, **s), LONG, SMALL_LONG,
        lambda S, H, KV, d: 2 * all_to_all(2 * S * H * d / 16, 16) + 2 * (all_to_all(2 * S * KV * d / 16, 16) + 2 * S * KV * d / 16)),
    Row("17", "cross entropy of 128256 words (B W)", "3 all_reduce of a number a token", X, cross_entropy,
        dict(T=8192, V=128256, D=4096), dict(T=8, V=32, D=8), lambda T, V, D: 3 * all_reduce(4 * T, 8), "f32"),
    Row("18", "SwiGLU 70B (B W)", "column, row", X, swiglu_block, dict(T=8192, D=8192, F=28672), dict(T=16, D=16, F=32),
        lambda T, D, F: all_reduce(2 * T * D, 8)),
    Row("19", "LoRA r=16 on q, v, train (B W)", "base plan, A whole", X, lora, dict(B=2, S=4096, D=4096, H=32, d=128, r=16),
        dict(B=2, S=8, D=32, H=8, d=4, r=2),
        lambda B, S, D, r, **_: 2 * all_reduce(2 * B * S * D, 8) + 2 * all_reduce(2 * B * S * r, 8),
        reason="what has rank r is computed by tokens and gathered, and gradients of A are reduced: a little more, in less time"),
    Row("20", "decode 70B, 80 layers (B W)", "160 all_reduce", X, decode, dict(B=64, S=2048, D=8192, F=28672, H=64, KV=8, d=128, L=80),
        dict(B=4, S=8, D=32, F=64, H=16, KV=8, d=4, L=2), lambda B, D, L, **_: 2 * L * all_reduce(2 * B * D, 8)),
    Row("21", "matmul of 16384, 4x4 (B)", "two gathers", [("x", 4), ("y", 4)], square_matmul, dict(N=16384), dict(N=16),
        lambda N: 2 * all_gather(2 * N * N / 4, 4)),
    Row("21b", "matmul of 16384, 8x8 (B)", "two gathers", [("x", 8), ("y", 8)], square_matmul, dict(N=16384), dict(N=64),
        lambda N: 2 * all_gather(2 * N * N / 8, 8)),
    Row("22", "three products added (B W)", "add partials; reduce_scatter", X, three_added, dict(T=8192, D=4096), dict(T=16, D=16),
        lambda T, D: reduce_scatter(2 * T * D, 8)),
    Row("23", "three consumers (B W)", "gather once", X, three_consumers, dict(T=8192, D=4096), dict(T=16, D=16),
        lambda T, D: all_gather(2 * T * D, 8)),
]

LANGUAGE_MODEL = dict(B=8, S=2048, D=4096, F=11008, H=32, V=32000, L=32)
SMALL_MODEL = dict(B=8, S=4, D=32, F=32, H=8, V=16, L=1)
ROWS += [
    Row("24", "32 layers, 289 parameters, by batch (B)", "290 all_reduce", X, lambda t, **s: language_model(t, by_batch=True, **s),
        LANGUAGE_MODEL, SMALL_MODEL,
        lambda D, F, V, L, **_: all_reduce(2 * language_model_parameters(D, F, V, L), 8) + all_reduce(16, 8)),
    Row("24m", "the same, by heads and words (B W)", "4 all_reduce a layer, 2 at the ends", X,
        lambda t, **s: language_model(t, by_batch=False, **s), LANGUAGE_MODEL, SMALL_MODEL,
        lambda B, S, D, L, **_: (4 * L + 2) * all_reduce(2 * B * S * D, 8) + 3 * all_reduce(2 * B * S, 8)),
    Row("24z2", "the same, by batch, momenta split (B)", "reduce_scatter of gradients, all_gather of weights", X,
        lambda t, **s: language_model_step(t, at_rest=False, **s), LANGUAGE_MODEL, SMALL_MODEL,
        lambda D, F, V, L, **_: 2 * all_gather(2 * language_model_parameters(D, F, V, L), 8) + all_reduce(16, 8)),
    Row("24z3", "the same, weights split too (B W)", "weights gathered twice; reduce_scatter of gradients", X,
        lambda t, **s: language_model_step(t, at_rest=True, **s), LANGUAGE_MODEL, SMALL_MODEL,
        lambda D, F, V, L, **_: 3 * all_gather(2 * language_model_parameters(D, F, V, L), 8) + all_reduce(16, 8)),
    Row("24z3m", "the same within 52 GB (B W)", "weights gathered twice; reduce_scatter of gradients", X,
        lambda t, **s: language_model_step(t, at_rest=True, **s), LANGUAGE_MODEL, SMALL_MODEL,
        lambda D, F, V, L, **_: 3 * all_gather(2 * language_model_parameters(D, F, V, L), 8) + all_reduce(16, 8), limit="52GB"),
]


def row(number):
    return next(r for r in ROWS if r.number == number)
