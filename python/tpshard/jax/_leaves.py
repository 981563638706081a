"""Names of the leaves of a pytree of JAX."""
from jax import tree_util

from .. import _names


def leaf_names(head, tree):
    """Returns the names of the leaves of one tree, in order."""
    paths = [path for path, _ in tree_util.tree_flatten_with_path(tree)[0]]
    return _names.leaf_names(head, [tree_util.keystr(path, simple=True, separator="/") for path in paths])
