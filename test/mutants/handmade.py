"""Reads the hand-written mutants of handmade/, one file each.

  file: lib/rules/mask.c
  what: why the change is a defect
  tests: lit filter, for defects that no compiler output shows (optional)
  - text to find, exactly once; line breaks do not matter
  + replacement"""
import glob
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handmade")


def read(path):
    head, old, new = {}, [], []
    with open(path) as file:
        for line in file:
            if line.startswith("- "):
                old.append(line[2:].rstrip("\n"))
            elif line.startswith("+ "):
                new.append(line[2:].rstrip("\n"))
            elif ":" in line:
                key, value = line.split(":", 1)
                head[key] = value.strip()
    return dict(head, name=os.path.splitext(os.path.basename(path))[0], old="\n".join(old), new="\n".join(new))


def patches():
    return [read(path) for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt")))]


def pattern(text):
    """Returns a regular expression for the text. It accepts any white space where the text has
    some, or where a formatter breaks lines: after an opening parenthesis."""
    return re.compile(r"\s+".join(re.escape(word).replace(r"\(", r"\(\s*") for word in text.split()))


def problems(source):
    for p in patches():
        if not p["old"] or not p.get("file") or not p.get("what"):
            yield "%s: wants 'file:', 'what:' and lines to find" % p["name"]
            continue
        with open(os.path.join(source, p["file"])) as file:
            n = len(pattern(p["old"]).findall(file.read()))
        if n != 1:
            yield "%s: stands %d times in %s, must stand once; adapt test/mutants/handmade/%s.txt" % (p["name"], n, p["file"], p["name"])


def check(source):
    wrong, n = list(problems(source)), len(patches())
    print("\n".join(wrong + ["%d handmade mutants, %d do not apply" % (n, len(wrong))]))
    return 1 if wrong or n < 30 else 0


def mutants(source):
    for p in patches():
        with open(os.path.join(source, p["file"])) as file:
            line = pattern(p["old"]).split(file.read())[0].count("\n") + 1
        yield {"key": "handmade " + p["name"], "path": p["file"], "line": line, "change": "%s: %s" % (p["name"], p["what"]),
               "tests": p.get("tests"), "text": lambda text, p=p: pattern(p["old"]).sub(lambda _: p["new"], text)}
