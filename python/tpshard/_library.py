"""Finds libtpshard and calls tp_text_run (include/tp/text.h)."""
import ctypes
import functools
import itertools
import os
import pathlib
import threading
import typing
import warnings

from .errors import Diagnostic, a_type, error_of

BYTECODE = b"ML\xefR"
SEVERITIES = ("error", "warning", "remark", "note")


class _Diagnostic(ctypes.Structure):
    pass


_Diagnostic._fields_ = [
    ("severity", ctypes.c_int),
    ("op", ctypes.c_char_p),
    ("message", ctypes.c_char_p),
    ("file", ctypes.c_char_p),
    ("line", ctypes.c_int32),
    ("column", ctypes.c_int32),
    ("location", ctypes.c_char_p),
    ("n_notes", ctypes.c_int32),
    ("notes", ctypes.POINTER(_Diagnostic)),
]

_Progress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_Cancelled = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class _Request(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("program", ctypes.c_char_p),
        ("program_size", ctypes.c_size_t),
        ("pipeline", ctypes.c_char_p),
        ("options", ctypes.POINTER(ctypes.c_char_p)),
        ("n_options", ctypes.c_int32),
        ("wants_report", ctypes.c_int32),
        ("wants_locations", ctypes.c_int32),
        ("progress", _Progress),
        ("data", ctypes.c_void_p),
        ("cancelled", _Cancelled),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        ("program", ctypes.c_void_p),
        ("program_size", ctypes.c_size_t),
        ("report", ctypes.c_void_p),
        ("report_size", ctypes.c_size_t),
        ("n_diagnostics", ctypes.c_int32),
        ("diagnostics", ctypes.POINTER(_Diagnostic)),
    ]


class Result(typing.NamedTuple):
    """What a pipeline made: the text of the program, the report of the plan (JSON, "" if it was not
    asked for) and the diagnostics."""

    program: str
    report: str
    diagnostics: tuple


def prefix():
    """Returns the folder whose lib/ has libtpshard and whose bin/ has shard-run: the value of
    TPSHARD_PREFIX, else that of the installed package, else build/release of the clone that this
    file lies in. Raises ImportError if there is none."""
    here = pathlib.Path(__file__).resolve().parent
    given = os.environ.get("TPSHARD_PREFIX")
    places = [pathlib.Path(given)] if given else [here, here.parent.parent / "build" / "release"]
    for place in places:
        if (place / "bin" / "shard-run").exists():
            return place
    raise ImportError(
        "libtpshard was not found in %s; build the clone (./dev build), install the package, or set "
        "TPSHARD_PREFIX to the folder that has bin/shard-run" % " and ".join(map(str, places))
    )


@functools.cache
def _load():
    place = prefix()
    found = sorted(place.glob("lib*/**/libtpshard.so*"))
    if not found:
        raise ImportError("%s has no lib/libtpshard.so" % place)
    library = ctypes.CDLL(str(found[0]))
    library.tp_text_run.argtypes = [ctypes.POINTER(_Request), ctypes.POINTER(ctypes.POINTER(_Result))]
    library.tp_text_run.restype = ctypes.c_int
    library.tp_text_result_destroy.argtypes = [ctypes.POINTER(_Result)]
    library.tp_text_result_destroy.restype = None
    library.tp_status_name.argtypes = [ctypes.c_int]
    library.tp_status_name.restype = ctypes.c_char_p
    library.tp_version.restype = ctypes.c_char_p
    library.tp_env_warning.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_char_p]
    library.tp_env_warning.restype = ctypes.c_bool
    _warn_of_environment(library)
    return library


def _warn_of_environment(library):
    """Warns of variables of the environment that are probably wrong."""
    text = ctypes.create_string_buffer(512)
    for i in itertools.count():
        if not library.tp_env_warning(i, len(text), text):
            return
        warnings.warn(_text(text.value), stacklevel=2)


def version():
    """Returns the version of libtpshard, such as "0.1.0"."""
    return _load().tp_version().decode()


def _text(value):
    return value.decode("utf-8", "replace")


def _diagnostic(d, lines):
    """`lines` are those of the program, whose places have the file "-"."""
    notes = tuple(_diagnostic(d.notes[i], lines) for i in range(d.n_notes))
    file = _text(d.file)
    source = _text(lines[d.line - 1]) if file == "-" and 0 < d.line <= len(lines) else ""
    return Diagnostic(
        SEVERITIES[d.severity], _text(d.message), _text(d.op), file, d.line, d.column, _text(d.location), notes, source
    )


def _in_thread(call, cancel):
    """Calls in another thread and waits, so that Ctrl-C ends the wait: then `cancel` is called. The
    compiler heeds it soon after, and the thread ends there."""
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(call()), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)
    except BaseException:
        cancel()
        raise
    return outcome[0]


def _is_text(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _as_text(value):
    """Returns how a dict that stands for axes is written, for a message: `, such as "tp=4"`."""
    is_axes = isinstance(value, dict) and all(isinstance(size, int) for size in value.values())
    return ', such as "%s"' % ",".join("%s=%d" % axis for axis in value.items()) if is_axes and value else ""


def run(program, pipeline, options=None, report=False, locations=False, progress=None):
    """Runs a pipeline of passes on a program.

    program:   MLIR text (str) or bytecode (bytes), also with ops of StableHLO in generic form.
    pipeline:  the name of a pipeline or pass, such as "tp-plan", or without options any pipeline
               of MLIR, "builtin.module(...)"; the wheel has the passes of MLIR that tpshard uses.
    options:   a dict of options of the pipeline; docs/reference/passes.md lists them.
    report:    also return the report of the plan (JSON, docs/reference/plan-report.md).
    locations: the new text has the places of the source.
    progress:  called with the name of each pass before it runs, in another thread. What it raises
               ends the run.

    Returns a `Result`. Raises `Refused` for an op that is not supported, `Infeasible` if no plan
    satisfies pins and limits, else `Error`; ImportError if libtpshard is not found.
    """
    if not isinstance(program, (str, bytes)):
        raise TypeError("program: is %s; give MLIR as str, or bytecode as bytes" % a_type(program))
    if isinstance(program, str) and len(program.splitlines()) == 1 and os.path.isfile(program):
        raise ValueError("program: %r is the path of a file; give its text" % program)
    if options and not hasattr(options, "items"):
        raise TypeError("options: is %r; give a dict, such as {\"mesh\": \"tp=4\"}" % (options,))
    if not isinstance(pipeline, str):
        raise TypeError('pipeline: is %s; give text, such as "tp-plan"' % a_type(pipeline))
    if options and "(" in pipeline:
        raise ValueError("options: belong to the name of one pipeline; within %r write them in braces, tp-plan{mesh=tp=4}" % pipeline)
    for name, value in (options or {}).items():
        if not isinstance(value, (str, int, float, os.PathLike)):
            raise TypeError("option %s: is %s; give text or a number%s" % (name, a_type(value), _as_text(value)))
    if isinstance(program, bytes) and not program.startswith(BYTECODE) and (b"\0" in program or not _is_text(program)):
        raise ValueError("program: these bytes are neither bytecode of MLIR nor text in UTF-8")
    library, ended, raised = _load(), threading.Event(), []
    data = program if isinstance(program, bytes) else program.encode()
    texts = [("%s=%s" % (name, value)).encode() for name, value in (options or {}).items()]

    @_Progress
    def on_pass(_, name):
        try:
            if progress and not ended.is_set():
                progress(name.decode())
        except BaseException as error:  # does not pass through C
            raised.append(error)
            ended.set()
        return int(ended.is_set())

    request = _Request(
        ctypes.sizeof(_Request), data, len(data), pipeline.encode(), (ctypes.c_char_p * len(texts))(*texts),
        len(texts), int(report), int(locations), on_pass, None, _Cancelled(lambda _: int(ended.is_set())),
    )
    pointer = ctypes.POINTER(_Result)()
    status = _in_thread(lambda: library.tp_text_run(ctypes.byref(request), ctypes.byref(pointer)), ended.set)
    name = library.tp_status_name(status).decode()
    if raised:
        library.tp_text_result_destroy(pointer)
        raise raised[0]
    if not pointer:
        raise MemoryError("libtpshard: %s" % name)
    try:
        result = pointer.contents
        lines = data.splitlines() if not data.startswith(BYTECODE) else []
        diagnostics = tuple(_diagnostic(result.diagnostics[i], lines) for i in range(result.n_diagnostics))
        if status != 0:
            raise error_of(name, diagnostics)
        made = ctypes.string_at(result.program, result.program_size), ctypes.string_at(result.report, result.report_size)
        return Result(*map(_text, made), diagnostics)
    finally:
        library.tp_text_result_destroy(pointer)
