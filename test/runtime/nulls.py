#!/usr/bin/env python3
"""nulls.py INCLUDE LIBRARY: calls all public functions of the runtime with NULL.

The functions and their arguments are read from the headers, so a new function is tested without a
change here. The calls of a function run in a process of their own:

* With NULL or 0 for every argument, a function returns what its type has for an error (RESULTS),
  and the error text names the function. Exceptions are FREE and EXEMPT.
* With one pointer NULL, a living object for every other handle, and memory for every other pointer,
  no function crashes; if the pointer is a handle, the result is again that of an error. Functions
  of which there is no object without a GPU take part in the first half only.

Prints what is wrong; then the exit code is 1."""
import ctypes
import glob
import os
import re
import signal
import sys

LEAST_FUNCTIONS = 150  # with fewer, this script does not understand the headers any more

# What a call with a NULL handle returns, by the type of the result; other pointers are NULL, and a
# status is TPRT_INVALID_ARGUMENT.
RESULTS = {
    "int": (-1,), "int64_t": (-1,), "uint32_t": (0,), "uint64_t": (0,), "size_t": (0,),
    "tprt_dtype": (0,), "tprt_reduction": (0,), "tprt_op_kind": (0,), "const char *": (None, b""),
}
C_TYPES = {"int64_t": ctypes.c_int64, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
           "size_t": ctypes.c_size_t, "const char *": ctypes.c_char_p, "void": None,
           "double": ctypes.c_double, "float": ctypes.c_float}

# All pointers of these may be NULL, and those that release an object allow it: see the headers.
FREE = re.compile(r"\w+_(destroy|name|key|allocator|logger)|tprt_backend_capabilities|"
                  r"tprt_messenger_fail")
# Called by compiled programs, which check the context once; see types.h.
EXEMPT = re.compile(r"tprt_abi_(?!enter$|check$)\w+|memrefCopy|__truncsfbf2")


class Parameter:
    def __init__(self, text):
        function = re.search(r"\(\*(\w+)\)", text)
        self.name = function.group(1) if function else re.search(r"(\w+)$", text).group(1)
        self.type = text if function else text[:-len(self.name)].strip()
        self.is_function = bool(function) or "_fn *" in text
        self.is_pointer = "*" in text
        handle = re.fullmatch(r"(?:const )?(\w+) \*", self.type)
        self.pointee = handle.group(1) if handle else ""


class Function:
    def __init__(self, result, name, parameters):
        self.result, self.name = result, name
        self.parameters = [Parameter(p) for p in parameters]

    def call(self, library, values):
        called = getattr(library, self.name)
        default = ctypes.c_void_p if "*" in self.result else ctypes.c_int
        called.restype = C_TYPES.get(self.result, default)
        return called(*values)


def split_parameters(text):
    """Splits at the commas that are not within parentheses."""
    parts, depth = [""], 0
    for c in " ".join(text.split()):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def read_functions(include):
    """Returns the functions of the headers and the names of their opaque structs. Completes
    RESULTS."""
    text = ""
    for path in sorted(glob.glob(os.path.join(include, "*.h"))):
        with open(path) as file:
            text += file.read()
    status = int(re.search(r"TPRT_INVALID_ARGUMENT = (\d+)", text).group(1))
    RESULTS["tprt_status"] = RESULTS["int32_t"] = (status,)  # int32_t: tprt_abi_enter
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#define.*(\\\n.*)*", "", text, flags=re.M)
    found = re.findall(r"TPRT_API\s+([^;{}()]*?)\b(\w+)\(([^;]*?)\);", text)
    opaque = set(re.findall(r"typedef struct (\w+) \1;", text))
    return [Function(r.strip(), n, split_parameters(p)) for r, n, p in found], opaque


# ---- values of arguments ----

@ctypes.CFUNCTYPE(None)
def do_nothing():
    pass


MEMORY_BYTES = 4096  # the largest size of a versioned struct


def new_memory(is_struct):
    """Returns memory of zeros. A versioned struct begins with its size, and zeros behind the fields
    that the library knows are allowed."""
    memory = ctypes.create_string_buffer(MEMORY_BYTES)
    if is_struct:
        ctypes.c_uint64.from_buffer(memory).value = MEMORY_BYTES
    return memory


def new_struct(*fields):
    memory = new_memory(True)
    for offset, c_type, value in fields:
        c_type.from_buffer(memory, offset).value = value
    return memory


KINDS = ("tprt_comm", "tprt_store", "tprt_work", "tprt_event", "tprt_window", "tprt_schedule",
         "tprt_context")


def make_objects(library):
    """Creates one object of each of the KINDS, in a world of one rank."""
    def make(function, *arguments):
        at = ctypes.c_void_p()
        status = getattr(library, function)(*arguments, ctypes.byref(at))
        if status:
            library.tprt_last_error.restype = ctypes.c_char_p
            raise SystemExit("%s: %s" % (function, library.tprt_last_error().decode()))
        return at

    world = make("tprt_world_create_threads", 1, None)
    memory = make("tprt_mem_alloc", world, ctypes.c_size_t(64))
    barrier = new_struct((8, ctypes.c_int, 7))  # size, kind: TPRT_OP_BARRIER
    descriptor = os.memfd_create("store")
    alone = new_struct((8, ctypes.c_int32, 1))  # size, n_ranks
    return dict(zip(KINDS, (
        world,
        make("tprt_store_open", b"fd:%d" % descriptor, alone),
        make("tprt_submit", world, barrier),
        make("tprt_event_create"),
        make("tprt_window_create", world, memory, ctypes.c_size_t(64)),
        make("tprt_schedule_create", world, None, ctypes.c_size_t(0)),
        make("tprt_context_create", world, None),
    )))


def value_of(parameter, objects):
    """Returns a valid value: an object, memory, or a number that is 1 for lengths."""
    if not parameter.is_pointer:
        length = re.match(r"n$|n_|bytes", parameter.name)
        if parameter.type in ("double", "float"):
            return C_TYPES[parameter.type](0)
        return ctypes.c_int64(1 if length else 0)
    if parameter.is_function:
        return do_nothing
    if parameter.pointee in objects:
        return objects[parameter.pointee]
    if parameter.pointee == "char":
        return ctypes.create_string_buffer(b"x", MEMORY_BYTES)
    return new_memory(parameter.pointee.startswith("tprt_"))


def zero_of(parameter):
    return ctypes.c_void_p(None) if parameter.is_pointer else value_of(parameter, {})


# ---- calls ----

def check_error(library, function, result):
    """Returns what is wrong with the result of a call with a NULL handle; "": nothing."""
    if FREE.fullmatch(function.name) or function.result == "void":
        return ""
    allowed = RESULTS.get(function.result, (None,))
    if result not in allowed:
        return "returns %r; a NULL handle must give %s" % (result, " or ".join(map(repr, allowed)))
    library.tprt_last_error.restype = ctypes.c_char_p
    text = library.tprt_last_error().decode()
    if not text.startswith(function.name + ": ") or "NULL" not in text:
        return "sets the error text \"%s\"" % text
    return ""


def call_with_nothing(library, function):
    result = function.call(library, [zero_of(p) for p in function.parameters])
    return check_error(library, function, result)


def call_without_one(library, function, missing, opaque):
    objects = make_objects(library)
    values = [zero_of(p) if p is missing else value_of(p, objects) for p in function.parameters]
    result = function.call(library, values)
    return check_error(library, function, result) if missing.pointee in opaque else ""


def call_all(library, function, opaque, writer):
    """Makes the calls of a function. Writes a line before each, and what is wrong with it after."""
    pointers = [p for p in function.parameters if p.is_pointer]
    os.write(writer, b"all\n")
    os.write(writer, call_with_nothing(library, function).encode() + b"\n")
    if any(p.pointee in opaque and p.pointee not in KINDS for p in pointers):
        return
    for missing in pointers:
        os.write(writer, missing.name.encode() + b"\n")
        os.write(writer, call_without_one(library, function, missing, opaque).encode() + b"\n")


def run_in_child(work):
    """Runs work(writer) in a process of its own. Returns the lines that it wrote, and how it
    ended; "": well."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(20)
        work(writer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        lines = file.read().split("\n")[:-1]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return lines, "ends with signal %d" % -code if code < 0 else "exits" if code else ""


def main(include, path):
    functions, opaque = read_functions(include)
    os.environ["TPRT_TIMEOUT"] = "0.05"  # for keys and peers that never come
    library = ctypes.CDLL(path)
    wrong = []
    n_calls = 0
    if len(functions) < LEAST_FUNCTIONS:
        wrong.append("only %d functions were found" % len(functions))
    for function in functions:
        if EXEMPT.fullmatch(function.name) or not any(p.is_pointer for p in function.parameters):
            continue
        lines, end = run_in_child(lambda writer: call_all(library, function, opaque, writer))
        calls = list(zip(lines[::2], lines[1::2] + ([end] if end else [])))
        n_calls += len(calls)
        wrong += ["%s, NULL for %s: %s" % (function.name, what, text)
                  for what, text in calls if text]
    for line in wrong:
        print(line)
    print("%d functions, %d calls, %d problems" % (len(functions), n_calls, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
