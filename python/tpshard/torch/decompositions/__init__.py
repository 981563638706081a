"""How operations of PyTorch are written by others that torch-mlir lowers, where PyTorch's own way is none."""
from . import gradients, library, numbers, orders, places, windows


def table():
    """Returns {operation: function that writes it}."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return {**get_decomposition_table(), **library.table(), **numbers.TABLE, **orders.TABLE, **places.TABLE, **windows.TABLE}


def gradient_table():
    """The same of the operations that gradients are made of, which torch.export does not decompose."""
    own = {op: function for op, function in table().items() if "backward" in str(op)}
    return {**own, **library.table(), **windows.GRADIENTS, **gradients.TABLE}
