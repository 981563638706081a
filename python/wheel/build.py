"""build.py BUILD OUTPUT: builds the wheel of the sources around this file, in the folder BUILD.

scikit-build-core makes a wheel of libraries that need the C library alone (cmake/static.cmake). This
adds the licenses of all that was linked in, and the tag that says which C library it needs. Run it
with a Python that has pip and the package wheel. Prints the path of the wheel."""
import pathlib
import re
import shutil
import subprocess
import sys

SYSTEM = "/usr/lib/x86_64-linux-gnu/"
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def binaries(folder):
    """Returns the programs and libraries of a folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and is_elf(path)]


def linked(build):
    """Returns the files outside of the build that the linker took something from, by its maps."""
    found = set()
    for link_map in build.glob("*.map"):
        with open(link_map) as file:
            for line in file:
                # "/usr/lib/libz.a(inflate.o)" at the begin, or after the columns of a section
                found.update(re.findall(r"(/[^\s()]+\.[ao])\b", line) if "/usr/" in line else ())
    return {path for path in found if not path.startswith(str(build)) and pathlib.Path(path).exists()}


def packages(paths):
    """Returns the Debian packages that the files are of."""
    real = sorted({str(pathlib.Path(path).resolve()) for path in paths})
    lines = output("dpkg-query", "--search", *real).splitlines()
    owners = {path: owner.split(",")[0].split(":")[0] for owner, path in (line.rsplit(": ", 1) for line in lines)}
    missing = [path for path in real if path not in owners]
    if missing:
        raise SystemExit("no package has %s, so their licenses are not known" % ", ".join(missing))
    return sorted(set(owners.values()))


def c_library(folder):
    """Returns the least version of glibc that has all symbols that the files need, such as (2, 36)."""
    needed = "".join(output("objdump", "-T", str(path)) for path in binaries(folder))
    return max(tuple(map(int, version)) for version in re.findall(r"\bGLIBC_(\d+)\.(\d+)", needed))


def licenses(names):
    """Returns the license files of packages, and those that they refer to, by their names in the wheel."""
    files = {"%s/copyright" % name: pathlib.Path("/usr/share/doc", name, "copyright") for name in names}
    for text in list(files.values()):
        for common in re.findall(r"/usr/share/common-licenses/[\w.-]*\w", text.read_text(encoding="utf-8")):
            files["common-licenses/" + pathlib.Path(common).name] = pathlib.Path(common)
    return files


def add_licenses(root, build):
    """Copies the licenses of what is bundled into the unpacked wheel, and names them in its metadata."""
    info = next(root.glob("*.dist-info"))
    foreign = [path.name for path in (root / "tpshard" / "lib").iterdir() if not path.name.startswith(("libtpshard.", "libtprt."))]
    lines = []
    for name, source in sorted(licenses(packages(linked(build) | {SYSTEM + file for file in foreign})).items()):
        (info / "licenses" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, info / "licenses" / name)
        lines.append("License-File: %s\n" % name)
    metadata = info / "METADATA"
    head, blank, body = metadata.read_text(encoding="utf-8").partition("\n\n")
    metadata.write_text(head + "\n" + "".join(lines) + blank[1:] + body, encoding="utf-8")


def main(build, result):
    raw, unpacked, cmake = build / "raw", build / "unpacked", build / "cmake"
    for folder in (raw, unpacked, result):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    python = [sys.executable, "-m"]
    settings = ["--config-settings=build-dir=%s" % cmake]
    subprocess.run(python + ["pip", "wheel", str(SOURCE), "--no-deps", "--wheel-dir", str(raw)] + settings, check=True, stdout=sys.stderr)
    subprocess.run(python + ["wheel", "unpack", str(next(raw.glob("*.whl"))), "--dest", str(unpacked)], check=True, stdout=sys.stderr)
    root = next(unpacked.iterdir())
    add_licenses(root, cmake)
    tag = "manylinux_%d_%d_x86_64" % c_library(root)
    subprocess.run(python + ["wheel", "pack", str(root), "--dest-dir", str(raw)], check=True, stdout=sys.stderr)
    name = output(*python, "wheel", "tags", "--platform-tag", tag, str(next(raw.glob("*.whl")))).split()[-1]
    print(shutil.copy(raw / name, result))


if __name__ == "__main__":
    main(*(pathlib.Path(path).resolve() for path in sys.argv[1:3]))
