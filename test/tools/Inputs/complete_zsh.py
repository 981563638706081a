"""complete_zsh.py FUNCTIONS: completes words in zsh through a pseudo-terminal, with the functions of
a folder, and compares what then stands on the line."""
import os
import pty
import re
import select
import sys
import time

# An "=" or "," at the end is one that zsh removes when a blank follows.
CASES = [
    ("shard-run --lau", "shard-run --launch="),
    ("shard-run --launch=pro", "shard-run --launch=processes"),
    ("shard-run --strategy fo", "shard-run --strategy follow"),
    ("shard-run model.mlir --no-v", "shard-run model.mlir --no-verify"),
    ("shard-opt --tp-prop", "shard-opt --tp-propagate="),
    ("shard-opt --tp-propagate=str", "shard-opt --tp-propagate=strategy="),
    ("shard-bench all_red", "shard-bench all_reduce,"),
    ("shard-bench --peer=openm", "shard-bench --peer=openmpi,"),
    ("shard-solve --form", "shard-solve --format="),
]


def read(fd, until, seconds):
    """Returns what the terminal shows until a text appears."""
    shown, end = "", time.monotonic() + seconds
    while until not in shown and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            shown += os.read(fd, 65536).decode(errors="replace")
    return shown


def main(folder):
    child, fd = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", HOME="/nonexistent")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(fd, f"fpath=({folder} $fpath); autoload -U compinit; compinit -D -u; echo rea''dy\n".encode())
    read(fd, "ready", 60)
    # Ctrl-X is bound to a widget that completes, prints the line between marks, and empties it.
    os.write(fd, b"show() { zle complete-word; print -r -- \"<<$BUFFER>>\"; BUFFER=''; }; zle -N show; bindkey '^X' show; echo bou''nd\n")
    read(fd, "bound", 30)
    wrong = 0
    for typed, wanted in CASES:
        os.write(fd, typed.encode() + b"\x18")
        shown = read(fd, ">>", 60)
        found = re.search(r"<<(.*?)>>", shown, re.S)
        line = found[1].rstrip() if found else repr(shown)
        if line != wanted:
            print(f"{typed}: the completion is {line}")
            wrong += 1
    os.close(fd)
    os.waitpid(child, 0)
    print(f"{len(CASES)} completions, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
