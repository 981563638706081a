"""A format of tests for lit. Its own module, since lit hands tests to processes, which have to find the class by name."""
import os

import lit.formats


class ShTestByLinks(lit.formats.ShTest):
    """Below a path with spaces tests see the sources and the build by links, since lines of RUN, and options within pipelines, end a name at a space.
    `links`: pairs of what a path begins with and the link that stands for it."""

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
