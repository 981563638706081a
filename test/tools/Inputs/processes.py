"""Finds the processes that a test has started."""
import glob
import os


def remaining(marker):
    """Returns the number of other processes with `marker` in their environment."""
    found = 0
    for path in glob.glob("/proc/[0-9]*/environ"):
        if path == f"/proc/{os.getpid()}/environ":
            continue
        try:
            with open(path, "rb") as file:
                found += marker.encode() in file.read()
        except OSError:  # the process has ended, or belongs to another user
            pass
    return found
