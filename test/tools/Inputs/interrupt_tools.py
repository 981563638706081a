"""interrupt_tools.py LARGE SMALL OUTPUT: Ctrl-C while shard-opt and shard-run plan, compile and run:
how they end, and that no process and no file of them is left."""
import glob
import os
import signal
import subprocess
import sys
import time

import processes
import terminal

LARGE, SMALL, OUTPUT = sys.argv[1:]
MARKER = f"TOOLS_INTERRUPT={os.getpid()}"
PLAN = "tp-decompose,tp-raise,tp-spmd{memory-limit=150000B remark-bytes=none}"
OPT = ["shard-opt", LARGE, f"--pass-pipeline=builtin.module({PLAN})", "-o", OUTPUT]
EMIT = ["shard-run", LARGE, "--memory-limit=150000B", "--emit=obj", "-o", OUTPUT]
RUN = ["shard-run", SMALL, "--mesh", "2", "--repeat=1000000", "--no-verify", "--report", OUTPUT]
STARTED = 1.0  # after so many seconds programs run, or the linker does; ranks that wait compute
PROVEN = "remark: 'func.func': an interrupt ended the search; this plan is proven to cost at most"


def plain(text):
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[0;1;31m", "\x1b[0;1;34m", "\x1b[0;1;35m"):
        text = text.replace(code, "")
    return text


def files():
    """Returns the outputs, whole or partial, and the segments of shared memory."""
    return sorted(glob.glob(OUTPUT + "*") + glob.glob(OUTPUT + "*/*")) + sorted(name for name in os.listdir("/dev/shm") if "tprt" in name)


def press(name, command, presses, code, has=(), lacks=()):
    before = files()
    ended = terminal.run(command, presses, environment={"TOOLS_INTERRUPT": MARKER.partition("=")[2]})
    shown = plain(ended.shown)
    # Of a long line, such as the source of a remark, both ends tell enough.
    brief = "\n".join(line if len(line) < 800 else line[:400] + " ... " + line[-400:] for line in shown.split("\n"))
    assert ended.code == code, f"{name}: code {ended.code}: {brief}"
    for text in has:
        assert text in shown, f"{name}: lacks {text}: {brief}"
    for text in lacks:
        assert text not in shown, f"{name}: has {text}: {brief}"
    time.sleep(0.2)
    assert processes.remaining(MARKER) == 0, f"{name}: {processes.remaining(MARKER)} processes are left"
    if code:
        assert files() == before, f"{name}: left {files()}"
    print(f"{name}: code {code}")


def send(name, command, until, number=signal.SIGINT, **variables):
    """The same by a signal to the first process alone, without a terminal."""
    before = files()
    environment = {**os.environ, "TOOLS_INTERRUPT": MARKER.partition("=")[2], **variables}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(until)
        process.send_signal(number)
        process.communicate(timeout=60)
    time.sleep(0.2)
    assert process.returncode == 128 + number, f"{name}: code {process.returncode}"
    assert processes.remaining(MARKER) == 0 and files() == before, f"{name}: left {processes.remaining(MARKER)} processes, {files()}"
    print(f"{name}: code {128 + number}")


press("shard-opt, once", OPT, ["searching"], 0, [PROVEN], ["interrupted"])
with open(OUTPUT, encoding="utf-8") as file:
    assert 'stopped_by = "interrupt"' in file.read()
os.remove(OUTPUT)
# Lowering follows the search, so the second one comes before the end.
press("shard-opt, twice", [*OPT[:2], f"--pass-pipeline=builtin.module({PLAN},tp-to-runtime)", *OPT[3:]], ["searching", "^C"], 130, ["shard-opt: interrupted"])
press("shard-run, planning, then compiling", EMIT, ["searching", "an interrupt ended the search"], 130, [PROVEN, "shard-run: interrupted"])
press("threads", RUN, ["running, "], 130, ["shard-run: interrupted"])
press("processes", RUN + ["--launch=processes"], ["running, "], 130, ["shard-run: interrupted"])
# Ranks end at once even where a parent ignores the signal, as shells do for programs in the background.
signal.signal(signal.SIGINT, signal.SIG_IGN)
start = time.time()
press("launched", ["shard-run", "-n", "2", "--", *RUN], ["running, "], 130)
assert time.time() - start < 8, f"launched: it took {time.time() - start:.1f} s"
send("threads, by a signal", RUN, STARTED)
send("processes, by a signal", RUN + ["--launch=processes"], STARTED)
send("launched, by a signal", ["shard-run", "-n", "2", "--", *RUN], STARTED)
send("processes, terminated", RUN + ["--launch=processes"], STARTED, signal.SIGTERM)
send("processes, hung up", RUN + ["--launch=processes"], STARTED, signal.SIGHUP)
os.makedirs(OUTPUT + ".folder", exist_ok=True)
with open(OUTPUT + ".cc", "w", encoding="utf-8") as file:
    file.write("#!/bin/sh\nsleep 30\n")
os.chmod(OUTPUT + ".cc", 0o755)
LINK = ["shard-run", SMALL, "--mesh", "2", "--emit=so", "-o", OUTPUT + ".folder/libslow.so"]
send("linking, by a signal", LINK, STARTED, CC=OUTPUT + ".cc")
send("linking, terminated", LINK, STARTED, signal.SIGTERM, CC=OUTPUT + ".cc")
