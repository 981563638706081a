"""kill_worker.py worker|launcher|stop COMMAND...: runs a command that starts worker processes, and kills as soon as it can its last worker or itself, or stops the
worker a second later. Prints whether everything ended within 20 s, which is far below the timeout of the workers.
"""

import os
import signal
import subprocess
import sys
import time

LIMIT = 20.0


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def main():
    whom, command = sys.argv[1], sys.argv[2:]
    job = subprocess.Popen(command)
    workers = []
    while job.poll() is None and not workers:
        workers = children(job.pid)
    if whom == "stop":
        time.sleep(1)
        workers = children(job.pid)
    os.kill(job.pid if whom == "launcher" else workers[-1], signal.SIGSTOP if whom == "stop" else signal.SIGKILL)
    until = time.monotonic() + LIMIT
    while time.monotonic() < until and (job.poll() is None or any(map(runs, workers))):
        time.sleep(0.01)
    left = [pid for pid in [job.pid] * (job.poll() is None) + workers if runs(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    print(f"{len(left)} left, code {job.wait()}")


main()
