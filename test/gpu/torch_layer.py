#!/usr/bin/env python3
"""torch_layer.py TOKENS...: times the layer of layer.py in PyTorch, in bf16 on one GPU, in eager
mode and with torch.compile; prints one JSON line each.

Attention is written out as in layer.py, and also uses PyTorch's fused kernel. Exit status 77, with
a message, without PyTorch or a GPU.

torch_layer.py --check PREFIX TOKENS: without timing and without a GPU, writes random f32 arguments
of the layer of `layer.py TOKENS --small`, and PyTorch's result, as PREFIX.in.K.npy and
PREFIX.out.0.npy for `shard-run --inputs-from PREFIX`. Exit status 1 if the four timed variants
differ."""
import argparse
import json
import statistics
import sys

HIDDEN, FFN, HEADS, KV_HEADS, HEAD = 4096, 14336, 32, 8, 128
SMALL = 64, 128, 4, 2, 16
SCALE = 128 ** -0.5  # independent of HEAD, as in layer.py
TOLERANCE = 1e-4
WARM, TIMED = 5, 20


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


try:
    import numpy
    import torch
except ImportError:
    skip("PyTorch or NumPy is not installed")


def shapes():
    queries, keys = HEADS * HEAD, KV_HEADS * HEAD
    return [(HIDDEN,), (HIDDEN, queries), (HIDDEN, keys), (HIDDEN, keys), (queries, HIDDEN), (HIDDEN,), (HIDDEN, FFN), (HIDDEN, FFN), (FFN, HIDDEN)]


def rms_norm(x, gain):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gain


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def written_out(q, k, v):
    """Attention on [batch, heads, sequence, size]; the queries of a group share keys and values."""
    n, group = q.shape[2], HEADS // KV_HEADS
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = (q @ k.transpose(-1, -2)) * SCALE
    mask = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
    return scores.masked_fill(~mask, -1e30).softmax(-1) @ v


def fused(q, k, v):
    group = HEADS // KV_HEADS
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=SCALE)


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
    """Returns the minimum and the median microseconds of a call, measured by events."""
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


def forms():
    """Yields the variants of the layer to time, by name."""
    for how, attention in (("attention written out", written_out), ("fused attention", fused)):
        layer = layer_with(attention)
        yield f"torch, {how}", layer
        yield f"torch.compile, {how}", torch.compile(layer)


def rotary_tables(tokens, device):
    frequency = torch.exp(torch.arange(HEAD // 2, device=device) * -0.1439116)
    angle = torch.arange(tokens, device=device)[:, None] * frequency
    return angle.cos(), angle.sin()


def time_layer(tokens, weights):
    x = torch.randn(1, tokens, HIDDEN, dtype=torch.bfloat16, device="cuda") * 0.02
    arguments = [x, *(table.bfloat16() for table in rotary_tables(tokens, "cuda")), *weights]
    for name, function in forms():
        least, median = measure(function, arguments)
        print(json.dumps({"test": "model-time", "ranks": 1, "variant": f"llama-layer-{tokens}-tokens, {name}", "least_us": round(least, 1),
                          "median_us": round(median, 1), "kernels_us": round(median, 1)}))


def check(prefix, tokens):
    """Writes arguments and the result; returns True if all variants agree."""
    global HIDDEN, FFN, HEADS, KV_HEADS, HEAD
    HIDDEN, FFN, HEADS, KV_HEADS, HEAD = SMALL
    x, weights = torch.randn(1, tokens, HIDDEN), [torch.randn(*shape) * 0.3 for shape in shapes()]
    results = {name: function(x, *rotary_tables(tokens, "cpu"), *weights) for name, function in forms()}
    result = next(iter(results.values()))
    for i, argument in enumerate([x, *weights]):
        numpy.save(f"{prefix}.in.{i}.npy", argument.numpy())
    numpy.save(f"{prefix}.out.0.npy", result.numpy())
    errors = {name: ((other - result).abs().max() / result.abs().max()).item() for name, other in results.items()}
    print(json.dumps({"test": "model-check", "tokens": tokens, "errors": {name: float(f"{error:.1e}") for name, error in errors.items()}}))
    return max(errors.values()) <= TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens", type=int, nargs="+")
    parser.add_argument("--check", metavar="PREFIX")
    options = parser.parse_args()
    torch.manual_seed(0)
    if options.check:
        return 0 if check(options.check, options.tokens[0]) else 1
    if not torch.cuda.is_available():
        skip("PyTorch sees no GPU")
    weights = [torch.randn(*shape, dtype=torch.bfloat16, device="cuda") * 0.02 for shape in shapes()]
    for tokens in options.tokens:
        time_layer(tokens, weights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
