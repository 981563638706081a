"""Diagnostics of the compiler, and the exceptions that carry them."""
import dataclasses

WHOLE = "builtin.module"  # which messages about options and about the whole program have as their op
SHOWN = 200  # characters of the longest line of a program that is shown


def a_type(value):
    """Returns "a dict", "an int": what a value is, for messages."""
    name = type(value).__name__
    return ("an " if name[0] in "aeiouAEIOU" else "a ") + name


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler about a place in the program.

    severity: "error", "warning", "remark" or "note".
    message:  the text, which names the object, the values and the way out.
    op:       the op that it is about, such as "stablehlo.fft"; "" if there is none.
    file, line, column: the innermost place in the user's source; "" and 0 if unknown. The file "-" is
              the text of the program.
    location: the whole location, as MLIR prints it.
    notes:    further diagnostics that belong to this one.
    source:   the line of the program, if the file is "-".
    """

    severity: str
    message: str
    op: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    location: str = ""
    notes: tuple = ()
    source: str = ""

    def __str__(self):
        column = ":%d" % self.column if self.source else ""
        place = "%s:%d%s: " % ("program" if self.source else self.file, self.line, column) if self.line else ""
        op = "'%s': " % self.op if self.op not in ("", WHOLE) else ""
        lines = ["%s%s: %s%s" % (place, self.severity, op, self.message)]
        if self.source and len(self.source) <= SHOWN:
            lines += [self.source, " " * (self.column - 1) + "^"]
        return "\n  ".join(lines + [str(note) for note in self.notes])


class Error(Exception):
    """A program that cannot be planned or run, or a call that is wrong.

    status:      the compiler's name of the reason, such as "invalid argument"; "" outside of it.
    diagnostics: all diagnostics (`Diagnostic`) of the run, in order.
    message, op, file, line: those of the error among them.
    way_out:     the part of the message that says what to do instead; "" if it has none.
    """

    def __init__(self, text, status="", diagnostics=()):
        super().__init__(text)
        self.status = status
        self.diagnostics = tuple(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        first = errors[0] if errors else Diagnostic("error", text)
        self.message, self.op, self.file, self.line = first.message, first.op, first.file, first.line
        self.way_out = self.message.rpartition("; ")[2] if "; " in self.message else ""


class Refused(Error):
    """The program has an op that is not supported. `op`, `file` and `line` say which and where."""


class Infeasible(Error):
    """No plan satisfies the pins and the memory limit."""


class Mismatch(Error):
    """The results of N ranks are not those of one device.

    results: those of N ranks, as `run_here` returns them; None if the run did not end.
    """

    results = None


class IllConditioned(Error):
    """Some results of N ranks cannot be verified: rounding alone changes them by more than the
    tolerance, on one device, too. All other results are right.

    results: those of N ranks, as `run_here` returns them.
    """

    results = None


def error_of(status, diagnostics):
    """Returns the exception for a failed run of the compiler."""
    kind = {"unsupported": Refused, "infeasible": Infeasible}.get(status, Error)
    # without a place the name of the exception says that it is an error
    shown = [str(d).removeprefix("error: ") for d in diagnostics if d.severity == "error"]
    return kind("\n".join(shown) or status, status, diagnostics)
