"""Modules and functions of PyTorch whose gradients the tests plan."""
import torch
import torch.nn.functional as F
import torch_models as models
from torch import nn
from torch.utils.checkpoint import checkpoint


class _Doubled(torch.autograd.Function):
    """A function with a gradient of its own."""

    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Layers(nn.Module):
    """Three layers, and a forward that a test gives."""

    def __init__(self, forward, **buffers):
        super().__init__()
        self.a, self.b, self.unused = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer)
        self.function = forward

    def forward(self, *args):
        return self.function(self, *args)


class Loss(nn.Module):
    """A language model with its loss."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        logits = self.model(ids)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def _not_all(self, x):
    with torch.no_grad():
        y = self.a(x)
    return self.b(y) + self.a(x).detach() * self.b(x)


def _many_results(self, x, i):
    y = self.a(x) * self.kept
    return {"y": y, "i": i + 1, "x": x, "n": 3, "z": (y[:2], y.argmax(-1)), "sum": y.sum(), "same": y, "kept": self.kept}


def _hooked(self, x):
    y = self.a(x)
    if y.requires_grad:
        y.register_hook(lambda gradient: gradient * 3)
    return self.b(y)


def _in_place(self, x):
    y = self.a(x)
    y.mul_(2)
    y[0] = 0
    y[:, 1:3] += 1
    return self.b(y).relu_()


def set_buffer(self, x):
    y = self.a(x)
    self.kept = 0.9 * self.kept + 0.1 * y.detach().mean(0)
    return y * self.kept


def write_buffer(self, x):
    self.kept.add_(self.a(x).mean(0))  # a buffer with a gradient
    return self.a(x) * self.kept


def _turned(x, angle):
    """Rotary positions."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def _frozen():
    made = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    made[0].weight.requires_grad_(False)
    return made


def _g(*shape, seed=0):
    return models.normal(*shape, seed=seed).requires_grad_()


_ACTIVATIONS = (
    F.elu, F.celu, F.selu, F.mish, F.hardswish, F.hardsigmoid, F.leaky_relu, F.logsigmoid, F.softsign, F.relu6, F.silu, F.gelu, F.hardtanh, F.glu, F.softplus,
    torch.erf, torch.sin, torch.atan, torch.expm1, torch.reciprocal, lambda x: F.gelu(x, approximate="tanh"), lambda x: x.clamp(-0.5, 0.5),
)
_x, _ids = models.normal(4, 8), torch.arange(8) % 6
_image = models.normal(4, 4, 9, 8)

# {name: (function or module, arguments)}
PROGRAMS = {
    "a loss": (Loss(models.Decoder(tied=True)), (models.ids(),)),
    "bf16": (models.Decoder().bfloat16(), (models.ids(),)),
    "encoder": (nn.TransformerEncoderLayer(16, 4, 32, dropout=0, batch_first=True, activation="gelu"), (models.normal(2, 8, 16),)),
    "batch norm": (nn.Sequential(nn.Conv2d(4, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()).train(), (_image,)),
    "kernels in groups": (nn.Sequential(nn.Conv2d(4, 8, 3, padding=1, groups=2), nn.Conv2d(8, 8, 3, padding=2, stride=2, dilation=2, groups=8)), (_image,)),
    "in three dimensions": (nn.Conv3d(4, 4, 2, groups=2, stride=(1, 2, 1)), (models.normal(2, 4, 5, 6, 5),)),
    "transposed kernels": (nn.Sequential(nn.ConvTranspose2d(4, 8, 3, stride=2, padding=1, output_padding=1), nn.ConvTranspose2d(8, 4, 3, groups=2)), (_image,)),
    "pooling": (lambda x: (F.avg_pool2d(x, 2), F.avg_pool2d(x, (2, 3), (3, 2), 1, ceil_mode=True, count_include_pad=False), F.avg_pool1d(x[0], 3, 2, 1)), (_g(4, 4, 8, 9),)),
    "pooling to a size": (lambda x: (F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_avg_pool1d(x.mean(1).transpose(1, 2), 1)), (_g(4, 4, 8, 8),)),
    "windows": (lambda x: (x.unfold(2, 3, 1), x.unfold(0, 2, 2), F.unfold(x, 2), F.fold(F.unfold(x, 2), (6, 4), 2)), (_g(4, 4, 6, 4),)),
    "norms": (nn.Sequential(nn.InstanceNorm2d(4), nn.PReLU(4), nn.GroupNorm(2, 4), nn.LocalResponseNorm(3)), (_image,)),
    "norm of a weight": (nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), (_x,)),
    "a gradient of its own": (Layers(lambda self, x: self.b(_Doubled.apply(self.a(x)))), (_x,)),
    "not all": (Layers(_not_all), (_x,)),
    "frozen": (_frozen(), (_x,)),
    "an argument": (nn.Linear(8, 4), (_g(4, 8),)),
    "computed again": (Layers(lambda self, x: checkpoint(lambda y: self.b(F.gelu(self.a(y))), x, use_reentrant=False)), (_x,)),
    "many results": (Layers(_many_results, kept=torch.ones(8)), (_x, torch.arange(4))),
    "a hook": (Layers(_hooked), (_x,)),
    "in place": (Layers(_in_place), (_x,)),
    "a buffer": (Layers(set_buffer, kept=torch.ones(8)), (_x,)),
    "views": (lambda x: (x.view(-1), x[1:3], x.t() * 2, x.diagonal(1), x.diagonal(-2).sum(-1), x[:, [-2, 0]]), (_g(6, 4),)),
    "padding of words": (nn.Embedding(32, 8, padding_idx=0), (models.ids(4, 6, 32),)),
    "losses": (
        lambda x, t: (F.cross_entropy(x, t, label_smoothing=0.1), F.cross_entropy(x, t, ignore_index=2), F.nll_loss(x, t), F.mse_loss(x, x.flip(0)), F.smooth_l1_loss(x, x * x)),
        (_g(8, 6), _ids),
    ),
    "other losses": (
        lambda x, y: (F.binary_cross_entropy_with_logits(x, y.sigmoid()), F.kl_div(x.log_softmax(-1), y.softmax(-1)), F.cosine_similarity(x, y), F.normalize(x), torch.linalg.norm(x, dim=-1)),
        (_g(4, 8), _g(4, 8, seed=1)),
    ),
    "elements": (lambda x: tuple(f(x) for f in _ACTIVATIONS), (_g(4, 8),)),
    "reductions": (lambda x: (x.logsumexp(-1), x.prod(-1), x.std(0), x.var(1), x.max(1)[0], x.amin(0), x.cumsum(0), x.cumprod(1), x.trace(), x.norm()), (_g(4, 8),)),
    "places": (
        lambda x, y: (x.index_put((torch.tensor([-1, 2]),), y), x.index_add(0, torch.tensor([1, 1]), y), x.slice_scatter(y, 0, 1, 3), x.take_along_dim(x.argsort(1), 1), x.repeat_interleave(2, 0)),
        (_g(6, 4), _g(2, 4, seed=1)),
    ),
    "padding": (lambda x: (F.pad(x, (1, -1, 2, 1)), F.pad(x, (1, 1, 2, 1), mode="reflect"), F.interpolate(x, scale_factor=2), F.pixel_shuffle(x, 2)), (_g(2, 4, 4, 4),)),
    "bags": (
        Layers(lambda self, i: tuple(F.embedding_bag(i, self.a.weight, mode=mode, padding_idx=3) for mode in ("sum", "mean", "max"))),
        (models.ids(4, 6, 8),),
    ),
    "orders": (
        lambda x: (x.cummax(1)[0], x.cummin(0)[0], x.median(1)[0], x.kthvalue(2, 0)[0], x.logcumsumexp(1), torch.cdist(x, x + 1), x.max(1)[0], x.median()),
        (_g(4, 8),),
    ),
    "images without a batch": (lambda x: (F.max_pool2d(x[0], 2), F.avg_pool2d(x[1], 2), F.conv_transpose2d(x[0], x[:, :1, :3, :3], groups=4)), (_g(4, 4, 8, 8),)),
    "sizes": (
        lambda x: tuple(F.interpolate(x.flatten(2) if one else x, size=size, mode=mode) for one, size, mode in (
            (True, 9, "nearest"), (True, 9, "nearest-exact"), (False, (5, 9), "nearest-exact"), (False, (5, 9), "bilinear"))),
        (_g(2, 4, 4, 4),),
    ),
    "complex numbers": (_turned, (_g(4, 6, 8), models.normal(6, 4))),
    "spectra": (lambda x, w: torch.fft.irfft(torch.fft.rfft(x, n=16) * torch.fft.rfft(w, n=16), n=16)[..., :8], (_g(4, 8), _g(8, seed=1))),
    "complex weights": (nn.Linear(8, 4, dtype=torch.complex64), (torch.complex(_x, _x.flip(0)),)),
    "gru": (nn.GRU(8, 16, batch_first=True), (models.normal(4, 3, 8),)),
}
