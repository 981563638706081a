"""width.py MODEL: checks how wide tables are on terminals, and elsewhere."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import terminal

MODEL = sys.argv[1]
RUN = ["shard-run", MODEL + ".mlir", "--mesh", "2x2", "--inputs-from", MODEL]
BENCH = ["shard-bench", "reduce_scatter", "--sizes=1K", "--bound", "--repeats=1", "--rounds=1", "--round-time=1"]


def lines(text):
    return [line.rstrip("\r") for line in text.replace(terminal.ERASE, "").split("\n")]


def check(name, shown, most):
    widest = max(len(line) for line in shown)
    assert len(shown) > 3 and (widest <= most), (name, widest, shown)
    print(f"{name}: fit{'' if name == 'measurements' else 's'}")


def check_whole(name, shown):
    assert any(line.startswith("  reduce_scatter   tp") for line in shown), shown
    assert any(len(line) > 100 for line in shown), shown
    print(f"{name}: whole")


def on_terminal(command, columns):
    """Runs with standard output on a terminal of this width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env={**environment, "TERM": "dumb"}) as process:
        os.close(follower)
        read = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            read += part
        assert process.wait() == 0
    os.close(leader)
    return lines(read.decode())


def elsewhere(**environment):
    usual = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return lines(subprocess.run(RUN, check=True, capture_output=True, text=True, env={**usual, **environment}).stdout)


check("terminal of 80", on_terminal(RUN, 80), 80)
check("COLUMNS=60", elsewhere(COLUMNS="60"), 60)
check_whole("COLUMNS=300", elsewhere(COLUMNS="300"))
check_whole("no terminal", elsewhere())
check("measurements", on_terminal(BENCH, 80), 80)
