"""Runs commands on a pseudo-terminal, for the tests of what only a terminal shows."""
import os
import pty
import select
import time

ERASE = "\r\x1b[K"


class Ended:
    """What a command printed on its terminal, and how it ended."""

    def __init__(self, shown, code):
        self.shown, self.code = shown, code

    def lines(self):
        """Returns the states of the progress line."""
        return [part for part in self.shown.split(ERASE)[1:] if part]

    def remains(self):
        """Returns what is left on the terminal: each line without what was erased in it."""
        return "\n".join(line.split(ERASE)[-1].rstrip("\r") for line in self.shown.split("\n"))


def run(command, presses=(), seconds=120, environment=None):
    """Runs a command. `presses` are texts: when the terminal shows the next one, Ctrl-C is pressed."""
    child, fd = pty.fork()
    if child == 0:
        os.environ.update({"TERM": "xterm", **(environment or {})})
        for name in ("COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
            if name not in (environment or {}):
                os.environ.pop(name, None)
        os.execvp(command[0], command)
    shown, seen, left, end = "", 0, list(presses), time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            read = os.read(fd, 65536)
        except OSError:  # the command has ended
            break
        if not read:
            break
        shown += read.decode(errors="replace")
        while left and left[0] in shown[seen:]:
            seen = len(shown)
            left.pop(0)
            os.write(fd, b"\x03")
            time.sleep(0.05)  # two signals at once may be delivered as one
    os.close(fd)
    _, state = os.waitpid(child, 0)
    return Ended(shown, os.waitstatus_to_exitcode(state))
