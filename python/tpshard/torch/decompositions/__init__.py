"""How operations of PyTorch are written by others that torch-mlir lowers, where PyTorch's own way is none."""
from . import gradients, library, numbers, orders, places, resampling, signals, special, windows

_TABLES = numbers.TABLE, orders.TABLE, places.TABLE, resampling.TABLE, signals.TABLE, special.TABLE, windows.TABLE
_GRADIENTS = gradients.TABLE, resampling.GRADIENTS, windows.GRADIENTS


def table():
    """Returns {operation: function that writes it}."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    made = {**get_decomposition_table(), **library.table()}
    for rows in _TABLES:
        made.update(rows)
    return made


def gradient_table():
    """The same of the operations that gradients are made of, which torch.export does not decompose."""
    made = {op: function for op, function in table().items() if "backward" in str(op)} | library.table()
    for rows in _GRADIENTS:
        made.update(rows)
    return made
