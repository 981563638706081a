#!/usr/bin/env python3
"""torch_layer.py TOKENS...: times of the layer of layer.py in PyTorch, in bf16 on one GPU, as it stands and by torch.compile; a JSON line each.

The attention is written out as in layer.py, and once more with PyTorch's fused kernel. Exit status 77, with a word, without PyTorch or a GPU."""
import json
import statistics
import sys

HIDDEN, FFN, HEADS, KV_HEADS, HEAD = 4096, 14336, 32, 8, 128
SHAPES = [(HIDDEN,), (HIDDEN, HEADS * HEAD), (HIDDEN, KV_HEADS * HEAD), (HIDDEN, KV_HEADS * HEAD), (HEADS * HEAD, HIDDEN), (HIDDEN,), (HIDDEN, FFN),
          (HIDDEN, FFN), (FFN, HIDDEN)]
WARM, TIMED = 5, 20


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


try:
    import torch
except ImportError:
    skip("PyTorch is not installed")
if not torch.cuda.is_available():
    skip("PyTorch sees no GPU")


def rms_norm(x, gain):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gain


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def written_out(q, k, v):
    """[batch, heads, sequence, size]; queries of a group share keys and values."""
    n, group = q.shape[2], HEADS // KV_HEADS
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = (q @ k.transpose(-1, -2)) * HEAD ** -0.5
    mask = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
    return scores.masked_fill(~mask, -1e30).softmax(-1) @ v


def fused(q, k, v):
    group = HEADS // KV_HEADS
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def layer_with(attention):
    def layer(x, cos, sin, norm1, wq, wk, wv, wo, norm2, gate, up, down):
        heads = lambda y, n: y.view(1, -1, n, HEAD).transpose(1, 2)
        h = rms_norm(x, norm1)
        q, k, v = rotary(heads(h @ wq, HEADS), cos, sin), rotary(heads(h @ wk, KV_HEADS), cos, sin), heads(h @ wv, KV_HEADS)
        x = x + attention(q, k, v).transpose(1, 2).reshape(1, -1, HEADS * HEAD) @ wo
        h = rms_norm(x, norm2)
        return x + (torch.nn.functional.silu(h @ gate) * (h @ up)) @ down

    return layer


def measure(function, arguments):
    """Microseconds of a call by events: the least and the median."""
    times = []
    for i in range(-WARM, TIMED):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function(*arguments)
        end.record()
        torch.cuda.synchronize()
        if i >= 0:
            times.append(1e3 * start.elapsed_time(end))
    return min(times), statistics.median(times)


def main():
    torch.manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.bfloat16, device="cuda") * 0.02
    weights = [draw(*shape) for shape in SHAPES]
    for tokens in map(int, sys.argv[1:]):
        frequency = torch.exp(torch.arange(HEAD // 2, device="cuda") * -0.1439116)
        angle = torch.arange(tokens, device="cuda")[:, None] * frequency
        arguments = [draw(1, tokens, HIDDEN), angle.cos().bfloat16(), angle.sin().bfloat16(), *weights]
        for how, attention in (("attention written out", written_out), ("fused attention", fused)):
            layer = layer_with(attention)
            for name, function in (("torch", layer), ("torch.compile", torch.compile(layer))):
                least, median = measure(function, arguments)
                print(json.dumps({"test": "model-time", "ranks": 1, "variant": f"llama-layer-{tokens}-tokens, {name}, {how}",
                                  "least_us": round(least, 1), "median_us": round(median, 1), "kernels_us": round(median, 1)}))


main()
