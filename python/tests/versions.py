"""Exports functions by several versions of JAX, and loads each file by each version.

    python versions.py [--mesh 2x4] [--names NAME,NAME] PYTHON...

PYTHON: interpreters, such as those of virtual environments with `pip install jax==0.9.2 optax flatbuffers`
each. tpshard plans, exports and runs the functions under each of them, and compares with one device; then
each loads the files of each without tpshard. Prints which functions are equal, a row for who exported. The
exit code is 1 if one differs or cannot be loaded by the same version or a later one."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KEYS = {"dropout_and_init"}  # jax before 0.10 cannot call an exported function that has keys as arguments, whoever made it
HERE = pathlib.Path(__file__).resolve().parent
NAMES = (
    "experts_one_hot", "residual_network", "lstm", "quantized_weights", "dropout_and_init", "embedding_gradient", "branches",
    "llama_forward", "llama_decode", "llama_adamw",
)


def version(python):
    return subprocess.run([python, "-c", "import jax; print(jax.__version__)"], capture_output=True, text=True, check=True).stdout.strip()


def exported(python, folder, mesh, names):
    """Writes the files. Returns the names that were equal, and the output."""
    command = [python, "-B", str(HERE / "equality.py"), "--mesh", mesh, "--folder", str(folder), *names]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return [name for name in names if any(line.split()[:2] == [name, mesh] and "FAILED" not in line for line in said.splitlines())], said


def loaded(python, folder, mesh, names):
    """Loads each program in a process of its own. Returns the names that were equal, and the output of others."""
    programs, env = json.loads((folder / "programs.json").read_text()), {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    equal, failed = [], []
    for name in names:
        alone = folder / "one"
        alone.mkdir(exist_ok=True)
        key = "%s.%s" % (name, mesh)
        for file in [*folder.glob(key + ".*")]:
            (alone / file.name).write_bytes(file.read_bytes())
        (alone / "programs.json").write_text(json.dumps({key: programs[key]}))
        done = subprocess.run([python, "-B", str(HERE / "loaded_worker.py"), str(alone)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        (equal if done.returncode == 0 and "equal " + key in done.stdout else failed).append((name, done.stdout))
    return [name for name, _ in equal], failed


def reason(text):
    """The line with the exception."""
    lines = [line for line in text.splitlines() if re.match(r"[\w.]*(Error|Exception)\b", line)] or text.splitlines() or ["nothing said"]
    return lines[-1][:200]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", default="2x4")
    parser.add_argument("--names", default=",".join(NAMES), help="functions of the collection, joined by commas")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    options = parser.parse_args()
    names, of = options.names.split(","), {python: version(python) for python in options.pythons}
    number = lambda text: [int(n) for n in text.split(".")[:3]]
    bad = False
    print("%d functions on %s\n%-10s %-10s %s" % (len(names), options.mesh, "exported", "ran", " ".join("%-10s" % v for v in of.values())))
    notes = []
    for python, at in of.items():
        with tempfile.TemporaryDirectory() as folder:
            made, said = exported(python, pathlib.Path(folder), options.mesh, names)
            if len(made) < len(names):
                bad = True
                notes.append("%s does not plan and run %s:\n%s" % (at, ", ".join(sorted(set(names) - set(made))), said))
            cells = []
            for other, then in of.items():
                equal, failed = loaded(other, pathlib.Path(folder), options.mesh, made)
                cells.append("%d of %d" % (len(equal), len(made)))
                unexpected = [name for name, _ in failed if name not in KEYS or number(then) >= [0, 10]]
                bad |= bool(unexpected) and number(then) >= number(at)
                notes += ["%s of %s in %s: %s" % (name, at, then, reason(text)) for name, text in failed]
            print("%-10s %-10s %s" % (at, "%d of %d" % (len(made), len(names)), " ".join("%-10s" % c for c in cells)), flush=True)
    print("\n".join(notes))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
