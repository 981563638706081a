"""kill_drill.py KILLS SECONDS COMMAND...: kills the processes of a job, and finds what remains.

COMMAND is a launcher with a program, as which several ranks run until they are ended. Each turn starts it and kills, with SIGKILL, at
some moment in so many seconds from its start on: the launcher, one of the ranks, or all of them. Two seconds later neither a process nor a file may
be left, in the folder for temporary files or in /dev/shm. What a launcher that is not ours does with itself does not count. Prints how long the ends
took, and ends with 1 if anything was left. TP_LONG=1: 40 times as many kills.
"""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 2.0
LAUNCHER_LIMIT = 20.0
PR_SET_CHILD_SUBREAPER = 36


def words_of(path):
    try:
        with open(path) as file:
            return file.read().split()
    except OSError:
        return []  # the process has ended


def descendants(pid):
    found = []
    for child in map(int, words_of(f"/proc/{pid}/task/{pid}/children")):
        found += [child, *descendants(child)]
    return found


def is_running(pid):
    words = words_of(f"/proc/{pid}/stat")
    return bool(words) and " ".join(words).rpartition(")")[2].split()[0] != "Z"


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def all_ended(limit):
    """Waits until no descendant is left; orphans come to this process. False after so many seconds."""
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return True
    return False


def await_end(launcher, is_ours):
    """Returns the seconds until all have ended, and what counts as left."""
    begin = time.monotonic()
    if all_ended(LIMIT):
        return time.monotonic() - begin, []
    left = [pid for pid in descendants(os.getpid()) if is_running(pid) and (is_ours or pid != launcher)]
    names = [f"{pid}: {' '.join(words_of(f'/proc/{pid}/cmdline'))[:60]}".replace("\0", " ") for pid in left]
    if left or not all_ended(LAUNCHER_LIMIT):
        kill(descendants(os.getpid()))
        all_ended(LAUNCHER_LIMIT)
    return time.monotonic() - begin, names


def segments_of(pids):
    """The files in /dev/shm that the processes have mapped; others there are of other jobs."""
    return {word for pid in pids for word in words_of(f"/proc/{pid}/maps") if word.startswith("/dev/shm/")}


def files_in(folder):
    """Without the folders that Open MPI keeps for itself."""
    return {os.path.join(folder, name) for name in os.listdir(folder) if not name.startswith("ompi.")}


def main():
    kills = int(sys.argv[1]) * (40 if os.environ.get("TP_LONG") else 1)
    most, command = float(sys.argv[2]), sys.argv[3:]
    is_ours = os.path.basename(command[0]) == "shard-run"
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    random.seed(kills)
    folder = tempfile.mkdtemp()
    environment = dict(os.environ, TMPDIR=folder)
    times, n_left = [], 0
    for turn in range(kills):
        said = tempfile.TemporaryFile()
        launcher = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        time.sleep(most * random.random() * random.choice((0.1, 0.3, 1)))  # more often soon
        if launcher.poll() is not None:
            said.seek(0)
            sys.exit(f"turn {turn}: the job ended by itself, with code {launcher.returncode}: {said.read().decode()}")
        ranks = descendants(launcher.pid)
        what = ("launcher", "rank", "all")[turn % 3]
        shared = segments_of([launcher.pid, *ranks])
        kill({"launcher": [launcher.pid], "rank": [random.choice(ranks or [launcher.pid])], "all": [launcher.pid, *ranks]}[what])
        seconds, left = await_end(launcher.pid, is_ours)
        launcher.returncode = 0  # it has been waited for
        times.append(seconds)
        left += sorted(files_in(folder) | {path for path in shared if os.path.exists(path)})
        n_left += len(left)
        for name in left:
            print(f"turn {turn}, killed {what}: left is {name}")
        shutil.rmtree(folder)
        os.mkdir(folder)
    shutil.rmtree(folder)
    times.sort()
    print(f"{kills} kills: {n_left} left; the end of all processes took {1e3 * times[kills // 2]:.0f} ms (median), {1e3 * times[-1]:.0f} ms (most)")
    sys.exit(n_left > 0)


main()
