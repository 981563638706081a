"""A lit test format for checkouts below a path with spaces. It is in its own module, because lit's
worker processes find the class by name."""
import os

import lit.formats


class ShTestByLinks(lit.formats.ShTest):
    """Below a path with spaces, tests see the sources and the build through links, because a space
    ends a name in RUN lines and in pipeline options.

    `links`: pairs of a path prefix and the link that replaces it."""

    def __init__(self, links):
        super().__init__(execute_external=False)
        self.links = links

    def linked(self, path):
        path = os.path.realpath(path)
        for target, link in self.links:
            if path == target or path.startswith(target + os.sep):
                return link + path[len(target):]
        return path

    def execute(self, test, litConfig):
        test.suite.source_root = self.linked(test.suite.source_root)
        test.suite.exec_root = self.linked(test.suite.exec_root)
        return super().execute(test, litConfig)
