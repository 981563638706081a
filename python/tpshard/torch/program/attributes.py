"""Types and attributes of StableHLO, read from their text."""
import re

import numpy
import torch

from ...errors import Diagnostic, error_of

TYPES = {
    "i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "ui8": torch.uint8,
    "ui16": torch.uint16, "ui32": torch.uint32, "ui64": torch.uint64, "f16": torch.float16, "bf16": torch.bfloat16,
    "f32": torch.float32, "f64": torch.float64, "f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2,
    "complex<f32>": torch.complex64, "complex<f64>": torch.complex128,
}
INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}



def type_of(text):
    """Returns (shape, dtype) of a type as text, "tensor<4x8xf32>"."""
    *sizes, element = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", text).groups()
    if element not in TYPES:
        raise error_of("unsupported", (Diagnostic("error", "PyTorch has no tensors of %s" % element),))
    return tuple(int(size) for size in sizes[0].split("x")[:-1]), TYPES[element]


def numbers(text, name):
    """Returns the list `name` of an attribute of StableHLO as text."""
    found = re.search(r"\b%s = \[([^\]]*)\]" % name, text)
    return [int(n) for n in found[1].split(",") if n.strip()] if found else []


def number(text, name, default=0):
    found = re.search(r"\b%s = (-?\d+)" % name, text)
    return int(found[1]) if found else default


def array(op, name):
    """Returns an attribute array<i64: ...> as a list; [] if the op lacks it."""
    found = re.fullmatch(r"array<i(?:64|1)(?:: )?(.*)>", str(op.attributes[name])) if name in op.attributes else None
    return [{"true": 1, "false": 0}.get(n.strip()) if n.strip().isalpha() else int(n) for n in found[1].split(",") if n.strip()] if found else []


def table(op, name):
    """Returns a dense attribute of integers as nested lists."""
    return numpy.array(op.attributes[name]).tolist()


def _element(token, dtype):
    """Returns an element of dense<...> as a number, or as bits."""
    if token in ("true", "false"):
        return token == "true"
    if token.startswith("0x") and dtype.is_floating_point:
        bits = INTEGERS[dtype.itemsize]
        return torch.tensor([int(token, 16) - (1 << 8 * dtype.itemsize if bits.is_signed and int(token, 16) >> (8 * dtype.itemsize - 1) else 0)], dtype=bits).view(dtype).item()
    return float(token) if dtype.is_floating_point else int(token)


def of_bytes(digits, shape, dtype):
    """Returns a tensor of bytes in hexadecimal. One value for all elements is expanded."""
    made = torch.frombuffer(bytearray.fromhex(digits), dtype=dtype) if digits else torch.empty(0, dtype=dtype)
    return made[0].expand(shape) if len(made) == 1 else made.reshape(shape)


def resources_of(text):
    """Returns {name: bytes in hexadecimal} of the constants at the end of a module's text."""
    at = text.rfind("{-#")
    # in front of the bytes stands their alignment, 4 bytes
    return {name.strip('"'): digits for name, digits in re.findall(r'([\w.$-]+|"[^"]*"): "0x[0-9A-Fa-f]{8}([0-9A-Fa-f]*)"', text[at:] if at >= 0 else "")}


def dense(text, shape, dtype):
    """Returns a dense attribute as a tensor, from its text. One value for all elements is expanded."""
    body = re.match(r"dense<(.*?)>\s*:", text, re.DOTALL)[1]
    if body.startswith('"0x'):
        return of_bytes(body[3:-1], shape, dtype)
    pattern = r"\(([^,()]+),([^,()]+)\)" if dtype.is_complex else r"[^\[\],\s]+"
    found = re.findall(pattern, body)
    part = torch.empty(0, dtype=dtype).real.dtype if dtype.is_complex else dtype
    values = [complex(*(_element(p.strip(), part) for p in e)) if dtype.is_complex else _element(e, dtype) for e in found]
    made = torch.tensor(values, dtype=dtype)
    return made[0].expand(shape) if len(values) == 1 else made.reshape(shape)
