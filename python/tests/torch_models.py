"""Modules and functions of PyTorch that the tests plan."""
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (f(x).view(batch, length, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.RMSNorm(width), nn.RMSNorm(width), Attention(width, heads)
        self.gate, self.up, self.down = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False), nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    """A small Llama, whose embedding and head are one tensor if they are tied."""

    def __init__(self, words=96, width=32, heads=4, layers=1, tied=False):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Cache(nn.Module):
    """Writes its buffer at a position that is a value."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(4, 16, 8))

    def forward(self, x, at):
        self.kept.index_copy_(1, at, x)
        return self.kept.sum(1)


class Packed(nn.Module):
    """Sequences of several lengths."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(8, 8)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths)
        return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0])[0]


class Bessel(nn.Module):
    def forward(self, x):
        return torch.special.bessel_j0(x)  # torch-mlir lacks it


def ids(batch=4, length=16, words=96):
    return torch.randint(0, words, (batch, length), generator=torch.Generator().manual_seed(1))


def training_step(model):
    """Returns (step, parameters): step(params, ids) returns new parameters and the loss."""

    def loss(params, ids):
        logits = torch.func.functional_call(model, params, (ids,))
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    def step(params, ids):
        gradients, value = torch.func.grad_and_value(loss)(params, ids)
        return {name: params[name] - 0.1 * gradients[name] for name in params}, value

    return step, {name: p.detach() for name, p in model.named_parameters()}


def branching(x):
    return x if x.sum() > 0 else -x  # a branch on a value


def dropped(x):
    return F.dropout(torch.poisson(x), 0.5, training=True)  # random numbers of two kinds


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def attention(**options):
    return lambda query, key, value, *mask: F.scaled_dot_product_attention(query, key, value, *mask, **options)


def by_hand(shift, hidden):
    """Attention to columns before row + shift."""

    def function(query, key, value):
        scores = query @ key.transpose(-1, -2) / 3
        keep = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(shift)
        return torch.where(keep, scores, hidden).softmax(-1) @ value

    return function


def _qkv(heads=4, kv=4, rows=8, columns=8, features=8):
    shapes = (2, heads, rows, features), (2, kv, columns, features), (2, kv, columns, 16)
    return tuple(normal(*shape, seed=i) for i, shape in enumerate(shapes))


_some = torch.rand(8, 8, generator=torch.Generator().manual_seed(0)) > 0.5
ATTENTIONS = {
    "plain": (attention(), _qkv()),
    "causal": (attention(is_causal=True), _qkv()),
    "more rows than columns": (attention(is_causal=True, scale=0.3), _qkv(rows=12)),
    "fewer rows than columns": (attention(is_causal=True), _qkv(columns=12)),
    "shared keys": (attention(is_causal=True, enable_gqa=True), _qkv(kv=2)),
    "mask": (attention(), (*_qkv(), _some)),
    "rows that see nothing": (attention(), (*_qkv(), torch.ones(8, 8, dtype=torch.bool).tril(-3))),
    "mask of keys": (attention(), (*_qkv(), _some[:2, None, None].contiguous())),
    "added mask": (attention(), (*_qkv(), normal(4, 8, 8))),
    "bf16": (attention(is_causal=True), tuple(x.bfloat16() for x in _qkv())),
    "beyond the diagonal": (by_hand(3, float("-inf")), _qkv()),
    "far": (by_hand(0, -1e30), _qkv()),
    "near": (by_hand(0, -3.0), _qkv()),  # hidden scores have weights
    "before the diagonal": (by_hand(-2, float("-inf")), _qkv()),  # rows are NaN
}
STORED = {"near", "before the diagonal"}  # what PyTorch's attention does not compute


# {name: (function or module, arguments)}: each has ops that others lack
PROGRAMS = {
    "decoder": (Decoder(tied=True), (ids(),)),
    "attention without a bias": (nn.MultiheadAttention(16, 4, batch_first=True, bias=False).eval(), (normal(2, 8, 16),) * 3),
    "convolutions": (
        nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=4, stride=2)).eval(),
        (normal(4, 4, 12, 12),),
    ),
    "recurrent": (nn.LSTM(8, 16, batch_first=True), (normal(4, 5, 8),)),
    "sorting": (lambda x: (x.sort(-1), x.topk(3, 0), x.topk(2, sorted=False)[0].sum(-1), x.argsort(1, descending=True), x.cumsum(0)), (normal(8, 16),)),
    "lookups": (
        lambda x, i, u: (x[i], x.index_add(0, i, u), x.scatter_reduce(0, i[:, None].expand(4, 8), u, "amax"), x[:, [0, 2, 5]]),
        (normal(8, 8), torch.tensor([3, 0, 3, 7]), normal(4, 8, seed=1)),
    ),
    "gradient of pooling": (lambda x: torch.func.grad(lambda y: (F.max_pool2d(y, 3, 2, 1) ** 2).sum())(x), (normal(2, 4, 9, 9),)),
    "resized": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), (normal(2, 4, 6, 6),)),
    "diagonal": (lambda x: (x.diagonal(0, 1, 2), torch.einsum("bii->b", x), x.flip(1), x.roll(2, 1)), (normal(4, 6, 6),)),
    "from the end": (
        lambda x, i: (x.index_put((i,), x[:2]), x.index_fill(1, i, 3.0), torch.ops.aten.index_put(x, [None, i], x[:, :2], True), F.pad(x, (-1, 2)), x.masked_fill(x > 0, 1.0).index_put((x > 1,), x.new_zeros(()))),
        (normal(6, 4), torch.tensor([-1, 2])),
    ),
    "integers": (lambda a, b: (a // b, a % b, a << 1, a & b, ~a, a.float() / b, a.clamp(2, 5).to(torch.uint8)), (ids(4, 8, 90), ids(4, 8, 7) + 1)),
    "bf16": (lambda x, w: (F.silu(x @ w)).float().softmax(-1), (normal(8, 16).bfloat16(), normal(16, 8, seed=1).bfloat16())),
    "not numbers": (lambda x: (x.log().amax(0), x.sqrt().amin(1), (x / 0).isnan(), (x > 0).any(0), (x > 3).all()), (normal(8, 8),)),
}
