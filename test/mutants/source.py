"""Finds places in C sources where one small change gives a different program.

A place is a token or a statement inside a function body. Excluded are comments, text, the
preprocessor, static assertions, tables outside of functions, arguments of functions that emit
messages, paths of failed allocations, and pass statistics, which only some builds of LLVM print:
changes there do not show in any result."""
import re
from collections import namedtuple

Change = namedtuple("Change", "path line at old new kind")
Token = namedtuple("Token", "kind text at line")

TOKENS = re.compile(
    r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<pre>^[ \t]*#(?:\\\n|[^\n])*)|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')'
    r"|(?P<number>\b\d[\w.]*\b)|(?P<name>[A-Za-z_]\w*)|(?P<op><<=|>>=|->|\+\+|--|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|[^\s\w])",
    re.S | re.M,
)

# Calls whose arguments are human-readable text, or that do not show in any result (only a sanitizer
# detects a leak).
MESSAGES = re.compile(r"free$|_clear$|[dD]estroy|error|remark|warning|note\b|print|why|describe|message|static_assert|TP_INVARIANT|assert|setenv|getenv")
OTHER = {  # replacements of an operator between two operands
    "<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="], "+": ["-"], "-": ["+"], "*": ["/", "+"],
    "/": ["*"], "%": ["/"], "&&": ["||"], "||": ["&&"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"], "+=": ["-=", "="],
    "-=": ["+="], "*=": ["+=", "="], "/=": ["*="], "|=": ["&=", "="], "&=": ["|=", "="],
}
NAMES = {  # names that are easily confused
    "true": ["false"], "false": ["true"], "fmax": ["fmin"], "fmin": ["fmax"], "break": ["continue"], "continue": ["break"],
    "TP_PARALLEL": ["TP_FIXED"], "TP_FIXED": ["TP_PARALLEL"], "TP_REDUCTION": ["TP_PARALLEL"], "TP_SUM": ["TP_MAX"], "TP_MAX": ["TP_SUM"],
    "TP_CHOOSE_FACTOR": ["TP_CHOOSE_VARIANT"], "operands": ["results"], "results": ["operands"], "low": ["high"], "high": ["low"],
    "n_operands": ["n_results"], "n_results": ["n_operands"], "source": ["target"], "from": ["to"], "to": ["from"], "lhs": ["rhs"],
}


def tokens(text):
    found, line, at = [], 1, 0
    for match in TOKENS.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match.lastgroup not in ("comment", "pre"):
            found.append(Token(match.lastgroup, match.group(), match.start(), line))
    return found


def closing(found, i):
    """Returns the index of the bracket that closes the one at i."""
    depth = 0
    for k in range(i, len(found)):
        depth += (found[k].text in "([{") - (found[k].text in ")]}")
        if depth == 0:
            return k
    return len(found) - 1


def bodies(found):
    """Yields token ranges of function bodies: outermost braces after a ')'."""
    i = 0
    while i < len(found):
        if found[i].text == "{":
            end = closing(found, i)
            if i and found[i - 1].text == ")":
                yield i + 1, end
            i = end
        i += 1


def protected(found, first, last):
    """Returns the tokens of a body that must not be changed."""
    kept = set()
    for i in range(first, last):
        if found[i].kind == "name" and found[i + 1].text == "(" and MESSAGES.search(found[i].text):
            kept.update(range(i, closing(found, i + 1) + 1))
        if "NO_MEMORY" in found[i].text:
            start = i
            while found[start].text not in ";{}" or found[start + 1].text in (";",):
                start -= 1
            kept.update(range(start, i + 2))
        if found[i].text == "statistics":
            start, end = i, i
            while found[start - 1].text not in ";{})":
                start -= 1
            while found[end].text != ";":
                end += 1
            kept.update(range(start, end))
        if found[i].text == "[" and found[i + 1].kind == "number" and found[i + 2].text == "]" and found[i + 3].text in ";,=":
            kept.add(i + 1)  # array size
    return kept


def is_operand(token):
    return token.kind in ("name", "number", "string") or token.text in ")]"


def token_changes(text, found, i):
    """Yields replacements of the token at i, as pairs of kind and text."""
    token, before, after = found[i], found[i - 1], found[i + 1]
    spaced = text[token.at - 1].isspace() and text[token.at + len(token.text)].isspace()
    if token.text in OTHER and spaced and is_operand(before) and before.text not in ("return", "case"):
        return [("operator", new) for new in OTHER[token.text]]
    if token.text == "!" and after.text != "=":
        return [("condition", "")]
    if token.kind == "number" and re.fullmatch(r"\d+", token.text) and before.text not in ("case", "{") and after.text not in ":}":
        value = int(token.text)
        return [("constant", str(value + 1))] + ([("constant", str(value - 1))] if value else [])
    if token.kind == "name" and before.text not in ("struct", "enum", "goto") and token.text in NAMES:
        return [("name", new) for new in NAMES[token.text]]
    if token.text in ("if", "while") and after.text == "(":
        return [("condition", None)]
    return []


KEYWORDS = ("if", "for", "while", "switch", "sizeof", "return", "goto", "case", "do", "else")


def statement_length(text, found, i):
    """Returns the deletion of a one-line call or assignment statement, without its semicolon."""
    if found[i - 1].text not in (";", "{", "}", ")", "else") or found[i].kind != "name" or found[i].text in KEYWORDS:
        return None
    end = text.find(";", found[i].at)
    whole = text[found[i].at:end]
    following = found[i + 1].text
    if "\n" in whole or following not in ("(", ".", "->", "[", "=", "+=", "|=", "&=", "-=", "*=", "++", "--"):
        return None
    return end - found[i].at


def argument_changes(found, i):
    """Yields swaps of adjacent plain arguments of the call at i."""
    if found[i].kind != "name" or found[i + 1].text != "(" or found[i].text in KEYWORDS:
        return
    end = closing(found, i + 1)
    for k in range(i + 2, end - 2):
        a, comma, b = found[k], found[k + 1], found[k + 2]
        plain = a.kind == "name" and b.kind == "name" and comma.text == "," and a.text != b.text
        if plain and found[k - 1].text in "(," and found[k + 3].text in "),":
            yield a.at, b.at + len(b.text) - a.at, "%s, %s" % (b.text, a.text)


def changes(path, text):
    """Yields all changes of a source, in order."""
    found = tokens(text)

    def change(at, length, new, kind):
        return Change(path, text.count("\n", 0, at) + 1, at, text[at:at + length], new, kind)

    for first, last in bodies(found):
        kept = protected(found, first, last)
        for i in range(first, last):
            if i in kept:
                continue
            at = found[i].at
            for kind, new in token_changes(text, found, i):
                if new is not None:
                    yield change(at, len(found[i].text), new, kind)
                    continue
                start, end = found[i + 1].at, found[closing(found, i + 1)].at + 1
                yield change(start, end - start, "(!%s)" % text[start:end], kind)
            length = statement_length(text, found, i)
            if length:
                yield change(at, length, "", "dropped")
            for start, length, new in argument_changes(found, i):
                yield change(start, length, new, "swapped")


def apply(text, change):
    end = change.at + len(change.old)
    assert text[change.at:end] == change.old, "the source is not the one the change was made for"
    return text[:change.at] + change.new + text[end:]
