"""Calls of functions. Attention that tp-fuse-attention has outlined becomes PyTorch's own, which stores no scores, and so do
its gradients; what PyTorch's cannot say, and other functions, are built from their bodies."""
import operator
import re

import torch
from torch.nn.functional import scaled_dot_product_attention

from .graph import Value, builder

# Loops and tensors as in tprt_abi_fused_attention and the strides of tprt_abi_attention_loop (include/tprt/abi.h).
LOOPS = ("outer0", "outer1", "outer2", "outer3", "group", "row", "column", "feature", "value")
TENSORS = ("queries", "keys", "values", "mask", "dropout", "out", "max", "sum", "gradient", "gradient_queries", "gradient_keys", "gradient_values")
BESIDE = LOOPS[:5]  # of queries that have scores of their own

OPERANDS = {
    "queries": (*BESIDE, "row", "feature"), "keys": (*BESIDE, "column", "feature"), "values": (*BESIDE, "column", "value"),
    "mask": (*BESIDE, "row", "column"), "gradient": (*BESIDE, "row", "value"),
}
RESULTS = {
    "attention": {"out": (*BESIDE, "row", "value")},
    "attention_gradient": {"gradient_" + name: OPERANDS[name] for name in ("queries", "keys", "values")},
}

FAR = -1e9  # a score that is at most this has no weight beside a score that is seen


def _field(text, name):
    return re.search(r"\b%s = ([^,}]+)" % name, text)[1].strip()


class Attention:
    """What a function with tp.fused computes, from the text of that attribute."""

    def __init__(self, text):
        numbers = [int(n) for n in re.search(r"loops = array<i64: ([^>]*)>", text)[1].split(",")]
        width = 1 + len(TENSORS)
        rows = [numbers[i * width : (i + 1) * width] for i in range(len(LOOPS))]
        self.sizes = {loop: row[0] for loop, row in zip(LOOPS, rows)}
        self.strides = {tensor: {loop: row[1 + i] for loop, row in zip(LOOPS, rows)} for i, tensor in enumerate(TENSORS)}
        self.operands = re.findall(r'"(\w+)"', re.search(r"operands = \[([^\]]*)\]", text)[1])
        self.kind = _field(text, "kind").strip('"')
        self.causal = _field(text, "causal") == "true"
        self.zeroes_hidden = self.kind == "attention" and _field(text, "zeroes_hidden") == "true"
        self.mask = _field(text, "mask").strip('"')
        self.scale, self.cap, self.hidden = (_number(_field(text, name)) for name in ("scale", "cap", "hidden"))
        self.offset = int(_field(text, "offset").split()[0])

    def order(self, tensor, shape):
        """Returns the loops over a tensor of this shape from the slowest to the fastest; None if they are not just the
        dimensions of it."""
        loops = sorted((l for l in LOOPS if self.sizes[l] > 1 and self.strides[tensor][l] != 0), key=lambda l: -self.strides[tensor][l])
        step = 1
        for loop in reversed(loops):
            if self.strides[tensor][loop] != step:
                return None
            step *= self.sizes[loop]
        return loops if step == torch.Size(shape).numel() else None


def attention_of(text):
    """Returns the `Attention` that tp.fused describes; None for other functions."""
    return Attention(text) if any('kind = "%s"' % kind in text for kind in RESULTS) else None


def _number(text):
    text = text.split()[0]
    return {"0xFF800000": float("-inf")}.get(text) or float(text)


def _plain(g, a, node, tensor, shape, loops):
    """Returns the node of a tensor with a dimension for each of the loops, of size 1 where it lacks one."""
    own = a.order(tensor, shape)
    node = g.method("reshape", node, [a.sizes[l] for l in own] or [1])
    wanted = [l for l in loops if l in own]
    if wanted != own:
        node = g.method("permute", node, [own.index(l) for l in wanted])
    return g.method("reshape", node, [a.sizes[l] if l in own else 1 for l in loops]) if wanted != list(loops) else node


def _fits(g, a, operands, types):
    """True if PyTorch's attention computes the same."""
    given = dict(zip(a.operands, operands))
    known = {"queries", "keys", "values", "mask", "position"} | ({"attended", "max", "sum", "gradient"} if a.kind == "attention_gradient" else set())
    if a.cap != 0 or not set(given) <= known:
        return False
    tensors = [(name, given[name].shape) for name in OPERANDS if name in given] + [(name, shape) for name, (shape, _) in zip(RESULTS[a.kind], types)]
    if any(a.order(name, shape) is None for name, shape in tensors):
        return False
    if a.mask == "add":
        return a.zeroes_hidden and given["mask"].dtype == given["queries"].dtype and not a.causal
    shift = _shift(g, a, given)
    if float("-inf") < a.hidden <= FAR or _sees(a, shift):
        return True
    return a.kind == "attention" and a.zeroes_hidden and a.hidden == float("-inf")


def _sees(a, shift):
    """True if it follows that each row sees a score."""
    return a.mask == "none" and (not a.causal or (shift is not None and shift >= 0 and a.hidden <= FAR))


def _shift(g, a, given):
    """Returns how many columns more than its number a row sees, if that is known; else None."""
    if "position" not in given:
        return a.offset
    position = g.element(given["position"].node)
    return None if position is None else a.offset + position


def _build(g, a, operands, types):
    """Returns the nodes of the first results: of all but those that only the gradient reads."""
    given, node = dict(zip(a.operands, operands)), {}
    for name, loops in OPERANDS.items():
        if name in given:
            node[name] = _plain(g, a, given[name].node, name, given[name].shape, loops)
    shift = _shift(g, a, given)
    is_causal = a.causal and a.mask == "none" and shift == 0
    offset = None if is_causal or not a.causal else a.offset if shift is None else shift
    position = given["position"].node if a.causal and shift is None else None
    operands_ = node["queries"], node["keys"], node["values"], node.get("mask")
    levels = a.hidden > float("-inf") and not _sees(a, shift)
    how = [a.sizes[l] for l in BESIDE], a.mask == "hide", is_causal, offset, position, a.scale, levels
    if a.kind == "attention":
        made = [g.call(_attended, *operands_, *how)]
    else:
        found = g.call(_gradients, node["gradient"], *operands_, *how)
        made = [g.call(operator.getitem, found, i) for i in range(3)]
    return [_result(g, a, x, name, loops, operands[0].dtype, kind) for x, (name, loops), kind in zip(made, RESULTS[a.kind].items(), types)]


def _result(g, a, node, name, loops, dtype, kind):
    """Returns the node of a result of this shape and type, from one with a dimension for each of the loops."""
    order = a.order(name, kind[0])
    order += [l for l in loops if l not in order]
    node = g.method("reshape", g.method("permute", node, [loops.index(l) for l in order]), list(kind[0]))
    return node if dtype == kind[1] else g.method("to", node, kind[1])


def _gradients(gradient, queries, keys, values, mask, *how):
    """The gradients of queries, keys and values. The attention is computed again, which takes less memory than what it
    would have to keep."""
    _, back = torch.func.vjp(lambda *x: _attended(*x, mask, *how), queries, keys, values)
    return back(gradient)


def _attended(queries, keys, values, mask, beside, hides, is_causal, offset, position, scale, levels):
    """Attention over tensors with the dimensions `beside`, which may be 1 in all but the queries, and two more. levels: a row that
    sees nothing is the mean of all values, because all of its scores are the same number; it would be 0."""
    sizes = [n for n in beside if n > 1][-1:] if sum(n > 1 for n in beside) < 2 else [n for n in beside if n > 1]
    whole = [1] * (2 - len(sizes)) + sizes if len(sizes) < 2 else [torch.Size(sizes[:-1]).numel(), sizes[-1]]

    def of(x):  # batch, head, ...
        return x.expand([*beside, *x.shape[-2:]]).reshape([*whole, *x.shape[-2:]])

    keep = mask if mask is None or mask.dtype != torch.bool else ~mask if hides else mask
    if offset is not None:
        rows = torch.arange(queries.shape[-2], device=queries.device)[:, None] + offset
        rows = rows if position is None else rows + position
        below = torch.arange(keys.shape[-2], device=queries.device) <= rows
        keep = below if keep is None else keep & below
    keep = keep if keep is None or keep.dim() == 2 else of(keep)
    found = scaled_dot_product_attention(of(queries), of(keys), of(values), keep, is_causal=is_causal, scale=scale)
    if levels:
        found = torch.where(keep.any(-1, keepdim=True), found, of(values).mean(-2, keepdim=True))
    return found.reshape([*beside, *found.shape[-2:]])


@builder("tp.call", "func.call")
def _call(g, op, operands, types, known):
    function = g.functions[str(op.attributes["callee"]).strip('"@')]
    made = []
    if "tp.fused" in function.attributes:
        a = attention_of(str(function.attributes["tp.fused"]))
        if a and _fits(g, a, operands, types):
            made = _build(g, a, operands, types)
    if len(made) == len(types):
        return made
    block = function.regions[0].blocks[0]
    own = {argument: Value(v.node, v.shape, v.dtype) for argument, v in zip(block.arguments, operands)}
    return made + [v.node for v in g.block(block, own)][len(made) :]
