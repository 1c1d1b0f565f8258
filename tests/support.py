"""What the Python tests share: where things are, how to run programs, how to report.

A test collects complaints, each with the place and the remedy, and ends with finish(complaints).
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zlib

SOURCE = pathlib.Path(os.environ.get("SINEW_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent))
BINARY = pathlib.Path(os.environ.get("SINEW_BINARY_DIR", SOURCE / "build" / "release"))
PROGRAM = BINARY / "bin" / "sinew"
DATA = pathlib.Path(os.environ.get("SINEW_DATA", SOURCE.parent / "shared" / "data"))

# Folders that hold what we write; everything else in the checkout is made or foreign.
FOLDERS = ["bench", "cli", "cmake", "docs", "examples", "include", "python", "script", "src", "tests", "viewer"]


def skip(reason):
    """Ends the test: it cannot run on this machine."""
    print("skipped:", reason)
    sys.exit(77)


def finish(complaints):
    """Ends the test: fails with the complaints, if any."""
    for complaint in complaints:
        print(complaint)
    if complaints:
        print(f"{len(complaints)} complaint(s)")
    sys.exit(1 if complaints else 0)


def files(*endings, folders=FOLDERS):
    """Our files with one of the endings, sorted, as paths relative to the checkout."""
    found = []
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.is_file() and path.name.endswith(endings) and "__pycache__" not in path.parts:
                found.append(path.relative_to(SOURCE))
    return found


def lines(path):
    """Numbered lines of one of our files."""
    return enumerate((SOURCE / path).read_text(encoding="utf-8").splitlines(), 1)


def tool(name, package):
    """Path of a program, or the end of the test."""
    return shutil.which(name) or skip(f"{name} is missing (Debian package {package})")


def npm_package(name):
    """Folder of a package from npm, or the end of the test. script/bootstrap test-all installs them."""
    folder = pathlib.Path(os.environ.get("SINEW_NPM", SOURCE / "build" / "npm")) / "node_modules" / name
    return folder if folder.is_dir() else skip(f"{name} is missing (npm; script/bootstrap test-all installs it)")


def is_sanitized():
    """Whether the program looks after its own addresses, for which it takes terabytes of address space."""
    return "SINEW_SANITIZE:BOOL=ON" in (BINARY / "CMakeCache.txt").read_text(encoding="utf-8")


def run(*command, **options):
    """Runs a command and returns (exit code, stdout and stderr together)."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, check=False, **options)
    return done.returncode, done.stdout


def must(*command, **options):
    """Runs a command that has to work; ends the test with its output otherwise."""
    code, output = run(*command, **options)
    if code != 0:
        finish([f"exit {code} from: {' '.join(str(word) for word in command)}\n{output}"])
    return output


def read_png(path):
    """Rows of pixels, [red, green, blue] each, of a PNG file with 8 bits a color: a reader that is not libpng."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG file"
    chunks, at = [], 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), f"{path}: bad checksum"
        chunks.append((kind, body))
        at += 12 + size
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert chunks[0][0] == b"IHDR" and chunks[-1][0] == b"IEND" and rest == [8, 2, 0, 0, 0], f"{path}: {chunks[0]}"
    packed = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    assert len(packed) == height * (1 + 3 * width), f"{path}: {len(packed)} bytes"
    rows, above = [], bytes(3 * width)
    for y in range(height):
        start = y * (1 + 3 * width)
        above = unfilter(packed[start], packed[start + 1:start + 1 + 3 * width], above)
        rows.append([list(above[x:x + 3]) for x in range(0, 3 * width, 3)])
    return rows


def unfilter(kind, coded, above):
    """One row of a PNG file, from what was written of it and the row above (PNG specification, chapter 9)."""
    row = bytearray(len(coded))
    for i, code in enumerate(coded):
        left, up, corner = (row[i - 3], above[i], above[i - 3]) if i >= 3 else (0, above[i], 0)
        nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
        row[i] = (code + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return bytes(row)


def module_table():
    """The module table, name -> modules it may include, from its only copy in CMakeLists.txt."""
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    return {words[0]: words[1:] for words in
            (match.split() for match in re.findall(r"^sinew_module\(([^)]*)\)", text, re.MULTILINE))}
