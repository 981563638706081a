"""Collects the compilations of the tests: the shard-opt commands in their RUN lines, and the
shard-opt equivalents of their shard-run commands."""
import glob
import os
import re
import shlex
import subprocess

FOLDERS = ["passes", "rules", "tools", "fuzz/regressions", "oracles"]
MODEL_RUNS = [("2", "plan"), ("2x2", "plan"), ("3", "follow")]
RUN_OPTIONS = {"--mesh": "mesh", "--strategy": "strategy", "--topology": "topology", "--unknown-ops": "unknown-ops"}


def compile_only(words, pipeline):
    """Returns the shard-opt command equivalent to a shard-run command; None if that has no
    program."""
    options, program, i = [], None, 1
    while i < len(words):
        if words[i] in RUN_OPTIONS and i + 1 < len(words):
            options.append("%s=%s" % (RUN_OPTIONS[words[i]], words[i + 1]))
            i += 1
        elif words[i].endswith(".mlir") and program is None:
            program = words[i]
        i += 1
    return program and ["shard-opt", program, "--pass-pipeline=builtin.module(%s{%s})" % (pipeline, " ".join(options))]


def parts(text):
    """Yields the simple commands of the RUN lines."""
    for line in re.findall(r"RUN:\s*(.*(?:\\\n.*RUN:.*)*)", text):
        line = re.sub(r"\\\n.*?RUN:\s*", " ", line)
        line = re.sub(r"\b\d(?=>)", "", line)  # the 2 of 2>&1, which would be taken for an argument
        try:
            lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            words = list(lexer) + [";"]
        except ValueError:
            continue
        command, taken = [], True
        for word in words:
            if word in ("|", "||", "&&", ";"):
                yield command
                command, taken = [], True
            elif word[0] in "<>&":
                taken = False  # the next word is a file
            elif taken and not (word in ("not", "--crash") and not command):
                command.append(word)


def of_tests(source, build, split_file, pipeline):
    """Returns pairs of a test and a command, each command once; tests with the fewest commands
    first, the models last."""
    tests = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(source, "test", folder, "**", "*.*"), recursive=True):
            if not path.endswith((".mlir", ".test")) or "/Inputs/" in path:
                continue
            name = os.path.relpath(path, os.path.join(source, "test"))
            scratch = os.path.join(build, "outputs", name)
            with open(path) as file:
                text = file.read()
            for old, new in (("%s", path), ("%S", os.path.dirname(path)), ("%t", scratch), ("%models", os.path.join(source, "examples", "models"))):
                text = re.sub(re.escape(old) + r"\b", lambda _: new, text)
            tests[name] = []
            for words in parts(text):
                tool = words[0].lstrip("%") if words else ""
                if tool == "split-file":
                    os.makedirs(os.path.dirname(scratch), exist_ok=True)
                    subprocess.run([split_file] + words[1:], check=False)
                elif tool == "shard-run":
                    tests[name].append(compile_only(words, pipeline))
                elif tool == "shard-opt":
                    tests[name].append(["shard-opt"] + [word for word in words[1:] if word != "--verify-diagnostics"])
    for path in glob.glob(os.path.join(source, "examples", "models", "*.mlir")):
        name = "models/%s.test" % os.path.splitext(os.path.basename(path))[0]
        if os.path.exists(os.path.join(source, "test", name)):
            runs = [["shard-run", path, "--mesh", mesh, "--strategy", strategy] for mesh, strategy in MODEL_RUNS]
            tests[name] = [compile_only(words, pipeline) for words in runs]
    seen = set()
    for name in sorted(tests, key=lambda name: (name.startswith("models/"), len(tests[name]), name)):
        for command in tests[name]:
            line = command and "\t".join(command + ["--mlir-disable-threading"])
            if line and "\n" not in line and line not in seen:
                seen.add(line)
                yield name, line
