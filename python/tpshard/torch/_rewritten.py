"""Functions of PyTorch that are written by others before they are traced."""
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.overrides import TorchFunctionMode


class Rewritten(TorchFunctionMode):
    """Writes some functions by others, of which gradients follow.

    Attention becomes products and a plain softmax, whose gradient kernels compute: PyTorch makes rows 0 whose scores are all
    hidden. With a mask these rows are set to 0 afterwards; without one there are none. Pooling gets a dense tensor, as its
    gradient depends on strides. Recurrent networks with dropout are called layer by layer, as torch.export would lose it. The
    inverse of a spectrogram does not look whether its windows cover all places.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.nn.functional.scaled_dot_product_attention:
            function = _attention
        elif function is torch.nn.functional.embedding_bag:
            function = _embedding_bag
        elif function is torch.cdist:
            function = _distances
        elif function in (torch.istft, torch.Tensor.istft):
            function = _inverse_spectrogram
        elif function in (torch.adaptive_avg_pool1d, torch.nn.functional.adaptive_avg_pool2d) and args:
            args = args[0].contiguous(), *args[1:]
        elif function is torch._C._VariableFunctions._pack_padded_sequence:  # which fails in another way before it is traced
            raise DataDependentOutputException(torch.ops.aten._pack_padded_sequence.default)
        elif function in _RECURRENT and len(args) == 9 and args[5] > 0 and args[6] and isinstance(args[2], (tuple, list)):
            return _layer_by_layer(function, *args)
        return function(*args, **(kwargs or {}))


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    is_added = attn_mask is not None and attn_mask.dtype != torch.bool
    if is_added or dropout_p > 0 or query.dim() < 3 or key.shape[-2] == 0:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    dtype, scale = query.dtype, query.shape[-1] ** -0.5 if scale is None else scale
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    if dtype in (torch.float16, torch.bfloat16):  # as PyTorch's own products and softmax
        query, key, value = query.float(), key.float(), value.float()
    scores = query @ key.transpose(-2, -1) * scale
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    if attn_mask is None:
        return (scores.softmax(-1) @ value).to(dtype)
    found = (torch.where(attn_mask, scores, _FAR).softmax(-1) @ value).to(dtype)
    return torch.where(attn_mask.any(-1, keepdim=True), found, torch.zeros((), dtype=dtype, device=found.device))


def _embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=None,
):
    """Each bag is a row of a matrix that says how much of which embedding it has."""
    if max_norm is not None or scale_grad_by_freq or input.dim() == 1 and offsets is None:
        return torch.nn.functional.embedding_bag(
            input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx
        )
    places = input.reshape(-1).long()
    if input.dim() == 2:
        bag = torch.arange(input.shape[0], device=input.device).repeat_interleave(input.shape[1])
        n = input.shape[0]
    else:
        n = offsets.shape[0] - include_last_offset
        bag = (torch.arange(places.shape[0], device=input.device) >= offsets[:n].unsqueeze(-1)).sum(0) - 1
    inside = bag == torch.arange(n, device=input.device).unsqueeze(-1)
    if padding_idx is not None:
        inside = inside & (places != padding_idx % weight.shape[0])
    rows = weight[places]
    if mode == "max":
        found = torch.where(inside.unsqueeze(-1), rows, float("-inf")).amax(1)
        return torch.where(inside.any(1, keepdim=True), found, torch.zeros((), dtype=weight.dtype, device=weight.device))
    parts = inside.to(weight.dtype)
    if per_sample_weights is not None:
        parts = parts * per_sample_weights.reshape(-1)
    if mode == "mean":
        parts = parts / inside.sum(1, keepdim=True).clamp(min=1).to(weight.dtype)
    return parts @ rows


_RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)


def _layer_by_layer(function, input, state, weights, has_biases, n_layers, dropout, train, bidirectional, batch_first):
    x, per, at = input.transpose(0, 1) if batch_first else input, len(weights) // n_layers, 1 + bidirectional
    ends = []
    for i in range(n_layers):
        own = tuple(s[i * at : (i + 1) * at] for s in state) if function is torch.lstm else state[i * at : (i + 1) * at]
        x, *end = function(x, own, weights[i * per : (i + 1) * per], has_biases, 1, 0.0, train, bidirectional, False)
        ends.append(end)
        if i < n_layers - 1:
            x = torch.dropout(x, dropout, True)
    return x.transpose(0, 1) if batch_first else x, *(torch.cat(parts) for parts in zip(*ends))


def _distances(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    return torch.linalg.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, dim=-1)


def _inverse_spectrogram(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False
):
    """Adds up windows that overlap, and divides by the sum of their squares."""
    hop, width = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    onesided = input.shape[-2] != n_fft if onesided is None else onesided
    if return_complex or input.dim() < 2 or input.shape[-2] != (n_fft // 2 + 1 if onesided else n_fft) or hop <= 0 or not 0 < width <= n_fft:
        return torch.istft(input, n_fft, hop, width, window, center, normalized, onesided, length, return_complex)
    # of all frequencies, too, PyTorch reads one half
    spectra = input.transpose(-1, -2)[..., : n_fft // 2 + 1]
    frames = torch.fft.irfft(spectra, n_fft, norm="ortho" if normalized else "backward")
    window = torch.ones(width, dtype=frames.dtype, device=frames.device) if window is None else window.to(frames.dtype)
    before = (n_fft - width) // 2
    window = torch.nn.functional.pad(window, (before, n_fft - width - before))
    n, first = frames.shape[-2], n_fft // 2 if center else 0
    total = n_fft + hop * (n - 1)
    last = min(first + length, total) if length is not None else total - first

    def added(x):
        sums = torch.nn.functional.fold(x.reshape(-1, n, n_fft).transpose(1, 2), (1, total), (1, n_fft), stride=(1, hop))
        return sums.reshape(*x.shape[:-2], total)[..., first:last]

    found = added(frames * window) / added((window * window).expand(1, n, n_fft)).reshape(-1)
    return found if length is None else torch.nn.functional.pad(found, (0, length - found.shape[-1]))


_FAR = -1e30  # the score of what a mask hides, which has no weight beside one that is seen
