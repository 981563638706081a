"""colors.py MODEL FILE: prints which outputs have colors, on a terminal and elsewhere, with variables."""
import os
import subprocess
import sys

import terminal

MODEL, WRONG = sys.argv[1:]
COMMANDS = {
    "run": ["shard-run", MODEL, "--mesh", "2"],
    "opt": ["shard-opt", WRONG],
    "usage": ["shard-run", "--msh"],
    "help": ["shard-opt", "-h"],
}
VARIABLES = ("COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE")


def shown(command, on_terminal, environment):
    if on_terminal:
        return terminal.run(command, environment=environment).shown
    usual = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    done = subprocess.run(command, capture_output=True, text=True, env={**usual, "TERM": "xterm", **environment})
    return done.stdout + done.stderr


def report(on_terminal, **environment):
    colored = []
    for name, command in COMMANDS.items():
        text = shown(command, on_terminal, environment).replace(terminal.ERASE, "")
        assert len(text) > 20, (name, text)
        if "\x1b[" in text:
            colored.append(name)
    what = [] if on_terminal and environment else ["terminal" if on_terminal else "no terminal"]
    print(f"{', '.join(what + [f'{name}={value}' for name, value in environment.items()])}: {', '.join(colored) or 'none'}")


with open(WRONG, "w", encoding="utf-8") as file:
    file.write("func.func @f() {\n  foo\n}\n")
report(True)
report(True, TERM="dumb")
report(True, NO_COLOR="1")
report(True, NO_COLOR="1", CLICOLOR_FORCE="1")
report(True, CLICOLOR="0")
report(False)
report(False, CLICOLOR_FORCE="1")
report(False, CLICOLOR_FORCE="0")
