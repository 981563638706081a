"""Checks plans with a closed form: the number of collectives of each kind, and their bytes. Prints
the differences; the exit code is 1 if there are any."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "plans"))
import rows  # noqa: E402
from measure import plan  # noqa: E402
from program import Program  # noqa: E402
from rows import COLUMN, ROW, WHOLE, all_reduce  # noqa: E402

X4 = [("x", 4)]


def mlp(t, layers, T, D, F):
    """Pairs of matmuls, trained; the gradient of x is not requested."""
    y, ws = t.arg("x", (T, D), WHOLE), []
    for i in range(layers // 2):
        w = [t.weight(f"up{i}", (D, F), COLUMN), t.weight(f"down{i}", (F, D), ROW)]
        y = t.einsum("tf,fd->td", rows.gelu(t, t.einsum("td,df->tf", y, w[0])), w[1])
        ws += w
    t.result(y, WHOLE)
    rows.train(t, y, WHOLE, ws, [COLUMN, ROW] * (layers // 2))


def bert(t, L, B, S, D, H):
    y, ws, places = t.arg("x", (B, S, D), WHOLE), [], []
    for _ in range(L):
        w = rows.gpt_weights(t, D, H, D // H, COLUMN, ROW, WHOLE)
        y = rows.gpt_layer(t, y, w, H)
        ws += w.values()
        places += [COLUMN if n in ("q", "k", "v", "up") else ROW if n in ("o", "down") else WHOLE for n in w]
    t.result(y, WHOLE)
    rows.train(t, y, WHOLE, ws, places)


def tied(t, T, V, D):
    """An embedding that is sharded by words at rest, used for lookup and again for the logits."""
    embed = t.weight("embed", (V, D), ROW)
    ids = t.arg("ids", (1, T), WHOLE, dtype="i32")
    h = rows.gelu(t, t.reshape(t.lookup(t.reshape(embed, (1, V, D)), ids), (T, D)))
    logits = t.einsum("td,vd->tv", h, embed)
    shifted = t.sub(logits, t.broadcast(t.reduce(logits, [1], "arith.maximumf"), logits.shape, (0,)))
    total = t.log(t.reduce(t.exp(shifted), [1], "arith.addf"))
    hot = t.compare("eq", t.broadcast(t.reshape(ids, (T,)), (T, V), (0,)), t.iota((T, V), 1))
    t.result(t.sub(total, t.reduce(t.select(hot, shifted, t.like(shifted, "0.000000e+00")), [1], "arith.addf")), WHOLE)


def planned(build, mesh, **sizes):
    p = Program(mesh)
    build(p, **sizes)
    return plan(p.text(), "h100")


class Checks:
    def __init__(self):
        self.failed = 0

    def at_most(self, what, found, limit):
        if found > limit:
            self.failed += 1
            print(f"{what}: {found}, but {limit} do")
        else:
            print(f"{what}: {found}, at most {limit}")

    def equal(self, what, found, expected):
        if found != expected:
            self.failed += 1
            print(f"{what}: {found} instead of {expected}")
        else:
            print(f"{what}: {found}")


def large(p, size):
    """Returns the number of collectives per kind that send at least `size` bytes."""
    found = {}
    for kind, _, sent in p.collectives:
        if sent >= size:
            found[kind] = found.get(kind, 0) + 1
    return found


def main():
    c = Checks()
    T, D, F = 8192, 4096, 16384
    p = planned(mlp, X4, layers=6, T=T, D=D, F=F)
    c.equal("MLP of 6 layers", p.counts, {"all_reduce": 5})
    c.equal("its bytes", p.bytes, 5 * all_reduce(2 * T * D, 4))
    for L in (1, 2, 4):
        # an all_reduce may be a reduce_scatter and an all_gather, so compare bytes
        B, S, D = 16, 512, 4096
        p = planned(bert, X4, L=L, B=B, S=S, D=D, H=32)
        c.equal(f"BERT, {L} layers: as many all_reduces", round(p.bytes / all_reduce(2 * B * S * D, 4), 2), 4 * L - 1)
    row = rows.row("11")
    p = plan(row.program(), "h100")
    c.equal("experts", p.counts, {"all_to_all": 4})
    c.equal("their bytes", p.bytes, row.hand_bytes())
    T, V, D = 8192, 128256, 4096
    p = planned(tied, X4, T=T, V=V, D=D)
    c.at_most("tied embedding, bytes: rows of tokens, and three numbers a token", p.bytes, all_reduce(2 * T * D, 4) + 3 * all_reduce(2 * T, 4))
    for number in ("1", "1b", "2b", "4", "8", "18", "21", "22", "23"):
        row = rows.row(number)
        found = plan(row.program(), "h100").bytes
        c.equal(f"row {number}, MiB", round(found / rows.MIB, 1), round(row.hand_bytes() / rows.MIB, 1))
    L, small = 2, dict(rows.LANGUAGE_MODEL, L=2)
    p = planned(rows.language_model, rows.X, by_batch=True, **small)
    c.equal("language model by batch: gradients", large(p, all_reduce(2 * small["D"], 8)).get("all_reduce"), 9 * L + 1)
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
