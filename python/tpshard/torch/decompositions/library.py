"""Operations that PyTorch itself writes by others, but that torch.export keeps."""
import torch

aten = torch.ops.aten

# of its library of decompositions
_NAMES = (
    "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "adaptive_max_pool2d", "addmv", "dist",
    "lerp", "polar", "take", "trace", "upsample_nearest1d", "upsample_nearest3d", "upsample_trilinear3d",
)

# those that are made of others in C++
_COMPOSED = (
    "fft_fft", "fft_fft2", "fft_fftn", "fft_fftshift", "fft_hfft", "fft_hfft2", "fft_hfftn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_ifftshift",
    "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_rfft", "fft_rfft2", "fft_rfftn", "istft", "stft",
)


def _overloads(names):
    return [getattr(getattr(aten, name), overload) for name in names for overload in getattr(aten, name).overloads() if overload != "out"]


def table():
    known = {op: torch._decomp.decomposition_table[op] for op in _overloads(_NAMES) if op in torch._decomp.decomposition_table}
    composed = torch.export.default_decompositions()
    return {**known, **{op: composed[op] for op in _overloads(_COMPOSED)}}
