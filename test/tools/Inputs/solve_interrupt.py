"""Checks on a problem that takes long that SIGINT and --time-limit end the search with the best
solution so far."""

import signal
import subprocess
import sys
import time

from hard_problem import write

def say(name, process):
    output, errors = process.communicate(timeout=120)
    early = "method" in output and "; stopped early" in output
    bound = any(line.startswith("bound") for line in output.splitlines())
    fine = process.returncode in (0, 4) and early and bound and not errors
    print(f"{name}: {'the best so far' if fine else (process.returncode, output, errors)}")


def main():
    write(sys.argv[1])
    command = ["shard-solve", sys.argv[1]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        say("SIGINT", process)
    with subprocess.Popen([*command, "--time-limit", "0.5", "--threads", "2"], **pipes) as process:
        say("time limit", process)


main()
