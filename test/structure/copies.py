#!/usr/bin/env python3
"""copies.py SOURCE: reports functions that are defined twice in lib, passes, runtime and tools.

Two functions are copies if their return types, their parameters and their bodies have the same
tokens. These do not count: comments and white space, storage classes, "const" of parameters, and
the names of the function and of its parameters. All other identifiers and literals do, so functions
that use different things of one name are reported as well: give the things different names.

Only functions of one library are compared. libtpshard (lib and passes) and libtprt (runtime) cannot
share code except through public headers, and the tools use public headers only.

These are no copies:
* a body of less than 12 tokens, braces included: it is as short as the call of a shared function.
  12 tokens are an error with a text, { return tp__error(op, TP_NO_MEMORY, "out of memory"); };
* a stub, which ignores its parameters and returns nothing or one literal or name;
* the same body for different processors (attribute target).

Functions that macros define are not seen. Prints the groups of copies; then the exit code is 1."""
import collections
import os
import re
import subprocess
import sys

LIBRARIES = {"libtpshard": ("lib", "passes"), "libtprt": ("runtime",), "tools": ("tools",)}
SUFFIXES = (".c", ".h", ".cpp", ".cu", ".cuh")
LEAST = 12
STORAGE = {"static", "inline", "extern", "__device__", "__host__", "__forceinline__"}
SCOPES = {"extern", "namespace", "struct", "class"}
CLOSERS = {"(": ")", "[": "]", "{": "}"}
TOKEN = re.compile(
    r"""(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      | (?P<space>/\*.*?\*/|//[^\n]*|[^\S\n]+|\n)
      | (?P<literal>(?:L|u8|u|U)?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\.?\d(?:[eEpP][+-]|[\w.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||\.\.\.|::|.)""",
    re.S | re.M | re.X,
)
STUB = re.compile(r"\{ (\( void \) \w+ [,;] )*(return \S+ ; )?\}")
Token = collections.namedtuple("Token", "kind text line")
Function = collections.namedtuple("Function", "file line name key")


def tokens_of(text):
    line, made = 1, []
    for found in TOKEN.finditer(text):
        if found.lastgroup != "space":
            made.append(Token(found.lastgroup, found[0], line))
        line += found[0].count("\n")
    return made


def closing(tokens, at):
    """Returns the index of the bracket that closes tokens[at]."""
    wanted = []
    for i in range(at, len(tokens)):
        text = tokens[i].text
        if text in CLOSERS:
            wanted.append(CLOSERS[text])
        elif wanted and text == wanted[-1]:
            wanted.pop()
            if not wanted:
                return i
    return len(tokens) - 1


def declarator(head):
    """Returns the indices of a function's name and of the parentheses of its parameters in the
    tokens before a body, or None if they declare no function. Calls of macros may stand before the
    function, attributes before and after it, and member initializers after it."""
    found, i = None, 0
    while i < len(head):
        text = head[i].text
        if text == ":" and found:
            break
        if text == "=" or (text in SCOPES and found and i > found[2]):
            found = None
        if text in CLOSERS:
            end = closing(head, i)
            before = head[i - 1] if text == "(" and i > 0 else head[i]
            if before.kind == "word" and not re.match(r"__|TP__", before.text):
                found = i - 1, i, end
            i = end
        i += 1
    return found


def parameter_names(parameters):
    """Returns the name of each parameter: its last word, or the word of "(*name)"."""
    names, depth, last, pointer = [], 0, None, None
    for i, token in enumerate(parameters + [Token("sign", ",", 0)]):
        if token.text == "," and depth == 0:
            names.append(pointer or last)
            last = pointer = None
        elif token.text in CLOSERS:
            depth += 1
        elif token.text in CLOSERS.values():
            depth -= 1
        elif token.kind == "word" and depth == 0:
            last = token.text
        elif token.kind == "word" and [t.text for t in parameters[i - 2 : i]] == ["(", "*"]:
            pointer = pointer or token.text
    return names


def key_of(head, place, body):
    """Returns the tokens that copies have in common."""
    name, opened, closed = place
    parameters = head[opened + 1 : closed]
    renamed = {head[name].text: "the function"}
    for i, parameter in enumerate(parameter_names(parameters)):
        renamed[parameter] = "parameter %d" % i

    def texts(part):
        for i, token in enumerate(part):
            is_field = i > 0 and part[i - 1].text in (".", "->")
            yield token.text if is_field else renamed.get(token.text, token.text)

    before = [token.text for token in head[:name]]
    targets = [before[i + 2] for i, text in enumerate(before) if text == "target"]
    while ")" in before:
        before = before[before.index(")") + 1 :]
    returned = [text for text in before if text not in STORAGE]
    taken = [text for text in texts(parameters) if text != "const"]
    return tuple(targets + returned + ["("] + taken + list(texts(body)))


def is_small(body):
    """True for a short body and for a stub."""
    return len(body) < LEAST or STUB.fullmatch(" ".join(token.text for token in body))


def functions(file, text):
    """Yields the functions of a file that are not small."""
    tokens = tokens_of(text)
    i = start = 0
    while i < len(tokens):
        token = tokens[i]
        if token.kind == "directive" or token.text in (";", "}"):
            start = i + 1
        elif token.text == "{":
            head, end = tokens[start:i], closing(tokens, i)
            place, words = declarator(head), {token.text for token in head}
            body = tokens[i : end + 1]
            if place and not is_small(body):
                name = head[place[0]]
                yield Function(file, name.line, name.text, key_of(head, place, body))
            if place or "=" in words or not words & SCOPES:
                i = end
            start = i + 1
        i += 1


def copies(source):
    """Yields (library, functions that are copies of each other)."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    files = [name for name in sorted(listed) if name.endswith(SUFFIXES)]
    for library, roots in LIBRARIES.items():
        groups = collections.defaultdict(list)
        for name in files:
            path = os.path.join(source, name)
            if name.split("/")[0] in roots and os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    for function in functions(name, file.read()):
                        groups[function.key].append(function)
        for group in groups.values():
            if len(group) > 1:
                yield library, group


def main(source):
    n_groups = n_functions = 0
    for library, group in copies(source):
        print("%s: one body stands in %d functions:" % (library, len(group)))
        for function in group:
            print("  %s:%d: %s" % (function.file, function.line, function.name))
        n_groups += 1
        n_functions += len(group)
    print("%d copies, in %d groups" % (n_functions, n_groups))
    return 1 if n_groups else 0


sys.exit(main(os.path.realpath(sys.argv[1])))
