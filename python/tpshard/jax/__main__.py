"""Prints a file of jax.export as StableHLO text that shard-opt and shard-run read:

    python -m tpshard.jax step.jaxexport > step.mlir
    shard-run step.mlir --mesh 2x4
"""
import sys

from .. import Error
from ._read import text_of_file


def main(args):
    if len(args) != 1 or args[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if args else sys.stderr)
        return 0 if args in (["-h"], ["--help"]) else 2
    try:
        sys.stdout.write(text_of_file(args[0]))
    except (Error, OSError) as error:
        print("tpshard.jax: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
