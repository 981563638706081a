"""kill_ranks.py RANKS SECONDS COMMAND...: kills ranks of shard-run -n N --spares K, and ends with its exit code.

When all ranks are connected, which they say in the store of the spares, and so many seconds later, the processes of RANKS (such as 1,0 or 0+1) get
SIGKILL: those joined by '+' at once, and after a comma when all ranks are connected again. A rank that is a spare counts like the process before it. In place of a rank, `launcher` gets SIGINT, or with `terminal` it and all ranks.
A rank such as `full1` is not killed: from then on rank 1 can neither open a file nor poll one.
"""

import os
import re
import resource
import signal
import subprocess
import sys
import time


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def ranks_of(launcher):
    """The process of each rank, by its number."""
    found = {}
    for pid in read(f"/proc/{launcher}/task/{launcher}/children").decode().split():
        for word in read(f"/proc/{pid}/environ").split(b"\0"):
            if word.startswith(b"TPRT_RANK="):
                found[int(word[10:])] = int(pid)
    return found


def store_of(launcher):
    """What is in the memory file in which spares wait."""
    for name in os.listdir(f"/proc/{launcher}/fd"):
        path = f"/proc/{launcher}/fd/{name}"
        try:
            if "shard-run spares" in os.readlink(path):
                return read(path)
        except FileNotFoundError:
            pass  # it was closed
    return b""


def is_member(pid, store):
    return re.search(rb"launch/member/%d(?!\d)" % pid, store)


def await_ranks(launcher, n, killed):
    while launcher.poll() is None:
        ranks, store = ranks_of(launcher.pid), store_of(launcher.pid)
        if len(ranks) == n and all(pid not in killed and is_member(pid, store) for pid in ranks.values()):
            return ranks
        time.sleep(0.005)
    sys.exit("the job ended before all ranks were connected")


def main():
    turns, seconds, command = sys.argv[1].split(","), float(sys.argv[2]), sys.argv[3:]
    launcher, killed = subprocess.Popen(command, start_new_session=True), set()
    for turn in turns:
        ranks = await_ranks(launcher, int(command[command.index("-n") + 1]), killed)
        time.sleep(seconds)
        if turn in ("launcher", "terminal"):
            os.killpg(launcher.pid, signal.SIGINT) if turn == "terminal" else launcher.send_signal(signal.SIGINT)
            break
        for rank in turn.split("+"):
            if rank.startswith("full"):
                resource.prlimit(ranks[int(rank[4:])], resource.RLIMIT_NOFILE, (0, 0))
                continue
            os.kill(ranks[int(rank)], signal.SIGKILL)
            killed.add(ranks[int(rank)])
    sys.exit(launcher.wait())


main()
