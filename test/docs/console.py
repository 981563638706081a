#!/usr/bin/env python3
"""console.py BUILD SOURCE PAGE.md...: runs the console sessions of pages and compares their output.

In a page, a block indented by four spaces whose first line starts with `$ ` is a session. Lines
with `$ ` are commands (continued after a backslash); the other lines are their expected output,
stdout and stderr. All sessions of a page run in one shell, in a folder that looks like a built
clone, with its own home. The comparison is by words, so a page may wrap lines. `...` matches
anything; a time or a rounding error matches any other.

Commands that begin with `./dev` or `git` are not run, because they install packages and build."""
import os
import re
import subprocess
import sys
import tempfile

MARK = "@@ command "
VARYING = [  # text that differs between runs
    r"\d+(?:\.\d+)? (?:ns|us|ms|s)\b",
    r"(?<=error )\d\S*",
    r"(?<=_seconds\": )[0-9.e+-]+",
]


def sessions(path):
    """Returns pairs of a command and its expected lines, with the line number of the command."""
    found, inside = [], False
    for number, line in enumerate(open(path), 1):
        text = line.rstrip("\n")
        if text and not text.startswith("    "):
            inside = False
        elif text.startswith("    $ "):
            inside = True
            found.append([number, text[6:], []])
        elif inside and found[-1][1].endswith("\\"):
            found[-1][1] = found[-1][1][:-1] + text.strip()
        elif inside:
            found[-1][2].append(text)
    return [f for f in found if not f[1].startswith(("./dev", "git "))]


def pattern(lines):
    """Returns a regular expression for the words of the lines: text, `...`, and varying parts,
    which match their own form."""
    wild = "|".join("(%s)" % form for form in [r"(?<!\S)\.\.\.(?!\S)"] + VARYING)
    forms = [r".*?"] + [re.sub(r"\(\?<=.*?\)", "", form) for form in VARYING]
    text, end, result = " ".join(" ".join(lines).split()), 0, ""
    for match in re.finditer(wild, text):
        result += re.escape(text[end:match.start()]) + forms[match.lastindex - 1]
        end = match.end()
    # A `...` may match nothing; then there is one space less.
    return re.compile((result + re.escape(text[end:])).replace(r"\ .*?\ ", r"\s.*?\s?").replace(r"\ .*?", r"\s?.*?"))


def run(commands, build, source, folder):
    os.makedirs(os.path.join(folder, "build"))
    os.symlink(build, os.path.join(folder, "build", "release"))
    for name in ("examples", "docs", "include"):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))
    script = "".join("printf '%s%d\\n'\n%s\n" % (MARK, i, command) for i, command in enumerate(commands))
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=dict(os.environ, HOME=folder), text=True, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    outputs = re.split(re.escape(MARK) + r"\d+\n", done.stdout)[1:]
    if len(outputs) != len(commands):
        sys.exit("%d of %d commands ran:\n%s" % (len(outputs), len(commands), done.stdout))
    return outputs


def check(path, build, source):
    shown = sessions(path)
    with tempfile.TemporaryDirectory() as folder:
        outputs = run([command for _, command, _ in shown], build, source, os.path.realpath(folder))
    n_wrong = 0
    for (number, command, lines), output in zip(shown, outputs):
        if not pattern(lines).fullmatch(" ".join(output.split())):
            n_wrong += 1
            print("%s:%d: $ %s\nthe page shows:\n%s\nprinted was:\n%s" % (path, number, command, "\n".join(lines), output))
    print("%s: %d commands, %d differ" % (path, len(shown), n_wrong))
    return n_wrong == 0 and len(shown) > 0


def main(build, source, pages):
    return 0 if all([check(page, os.path.realpath(build), os.path.realpath(source)) for page in pages]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
