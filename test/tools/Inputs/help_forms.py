"""help_forms.py TOOL: compares the man page and the completions of a tool with its help.

All of them name the same options, for shard-opt also those that its driver lists. The page has its
sections in order, and groff, where it is installed, formats it without a warning."""
import os
import re
import shutil
import subprocess
import sys

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "NOTES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
OPTIONAL = {"NOTES", "EXAMPLES"}


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def options_of_help(text):
    """Returns the options, with dashes, and the parts of their values, without."""
    options, parts = set(), set()
    for line in text.split("\n"):
        row, part = re.match(r"  ((?:-\w, )?--?[^\s=\[]+)", line), re.match(r" {8}([^\s=\[]+)", line)
        if part:
            parts.add(part[1])
        elif row:
            options.update(row[1].split(", "))
    return options, parts


def options_of_driver(text):
    """The options of a list as LLVM prints it."""
    return set(re.findall(r"(?m)^  (--?[^\s=\[]+)", text)) - {"--help-list"}


def options_of_manual(text):
    """The same, from the rows of the section OPTIONS."""
    body = text.split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
    names = set()
    for row in re.findall(r"(?m)^\.TP\n(.*)$", body):
        row = re.sub(r"\\f.", "", row).replace("\\-", "-")
        names.update(re.match(r"[^\s=\[]+", name)[0] for name in re.split(r", (?=--)", row))
    return names


def completed(tool, word):
    """Returns what completes a word, as bash would ask for it."""
    script = 'source <("$0" --help=bash); COMP_WORDS=("$0" "$1") COMP_CWORD=1; _%s "$0" "$1" "$0"; printf "%%s\\n" "${COMPREPLY[@]}"'
    return set(output("bash", "-c", script % tool.replace("-", "_"), tool, word).split("\n")[:-1])


def help_of(tool):
    return options_of_help(output(tool, "--help-all" if tool == "shard-opt" else "--help"))


def problems(tool):
    options, parts = help_of(tool)
    if tool == "shard-opt":
        for option in sorted(options_of_driver(output(tool, "--help-list")) - options):
            yield "the help lacks %s" % option
        for option in sorted(options_of_help(output(tool, "--help"))[0] - options):
            yield "%s is on the first page alone" % option
    manual = output(tool, "--help=man")
    named = options_of_manual(manual)
    for option in sorted((options | parts) - named):
        yield "the man page lacks %s" % option
    completions = {name.rstrip("=") for name in completed(tool, "-")}
    for option in sorted(options ^ completions):
        yield "%s is in the help or in the completion, but not in both" % option
    zsh = set(re.findall(r"(?m)^    '\*(--?[\w.-]*\w)", output(tool, "--help=zsh")))
    for option in sorted(options ^ zsh):
        yield "%s is in the help or in the completion of zsh, but not in both" % option
    found = re.findall(r"(?m)^\.SH (.*)$", manual)
    if [s for s in SECTIONS if s in found or s not in OPTIONAL] != found:
        yield "the sections of the man page are %s" % found
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=manual, capture_output=True, text=True,
                              env=dict(os.environ, LC_ALL="C"))
        if done.returncode or done.stderr:
            yield "groff: " + done.stderr


def main(tool):
    wrong = list(problems(tool))
    n = len(help_of(tool)[0])
    print("\n".join(wrong + ["%s: %d options, %d problems" % (tool, n, len(wrong))]))
    return 1 if wrong or n < 5 else 0


sys.exit(main(sys.argv[1]))
