"""Reads files of jax.export. The format is a flat buffer with a module in it; nothing is unpickled."""
from jax import export as public_export
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir.dialects import stablehlo

from ..errors import Error


def text_of_file(path):
    """Returns the module of a file that `Exported.serialize` made, as StableHLO in generic form.
    Raises `Error` if it is none, OSError if it cannot be read."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        exported = public_export.deserialize(data)
        portable = exported.mlir_module_serialized
    except ImportError as error:
        raise Error("%s: pip install flatbuffers" % error) from error
    except Exception as error:  # of a damaged buffer: any of struct, flatbuffers, jax
        raise Error("%s: is no file of jax.export, or is damaged (%s: %s)" % (path, type(error).__name__, error)) from error
    try:
        with jax_mlir.make_ir_context() as context:
            module = stablehlo.deserialize_portable_artifact(context, portable)
            return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    except Exception as error:
        raise Error("%s: its module cannot be read (%s)" % (path, error)) from error
