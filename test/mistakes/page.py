"""page.py: prints docs/reference/mistakes.md from the tests of this folder. Each test is a mistake, with lines "Mistake:", "Area:",
"Way out:" and "MESSAGE:"; the last is what FileCheck expects of the tool."""
import os
import re

HERE = os.path.dirname(os.path.realpath(__file__))
AREAS = ["Programs", "Annotations", "Meshes", "Topologies", "Command line", "Inputs", "Ranks", "C API", "Python"]
HEAD = """# Typical mistakes

What tpshard says about %d typical mistakes, and the way out. Every row is a test in
[test/mistakes](../../test/mistakes), which makes the mistake and expects this message; `...` stands
for a path. This page is printed from these tests. Place and name of the tool, which stand before
the message, are left out.
"""


def fields(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if re.match(r"(Mistake|Area|Way out|MESSAGE): ", line))


def readable(message):
    """The text that a pattern of FileCheck matches."""
    text = re.sub(r"^(error|warning|note|[A-Za-z]*Error): ", "", message).replace("{{ ?$}}", "").replace("{{.*}}", "...").replace("`", "'")
    text = text.replace("{{[[]}}", "[")  # which FileCheck would take for a variable
    return re.sub(r"\{\{(.*?)\}\}", lambda m: m.group(1).replace("\\", ""), text).replace("|", "\\|")


def main():
    tests = sorted(name for name in os.listdir(HERE) if name.endswith(".test") and name != "page.test")
    rows = [fields(os.path.join(HERE, name)) for name in tests]
    print(HEAD % len(rows), end="")
    for area in AREAS:
        print("\n## %s\n\n| mistake | message | way out |\n|---|---|---|" % area)
        for row in rows:
            if row["Area"] == area:
                print("| %s | `%s` | %s |" % (row["Mistake"], readable(row["MESSAGE"]), row["Way out"]))
    assert all(row["Area"] in AREAS for row in rows)


main()
