"""sinew export: what it writes agrees with the run; errors name what is allowed; stopped, damaged and hostile folders."""

import json
import pathlib
import resource
import shutil
import signal
import struct
import sys
import tempfile

import support

try:
    import meshio
    import numpy as np
except ImportError as error:
    support.skip(f"{error} (Debian packages python3-numpy, python3-meshio)")

SCENE = """sinew: 1
time: {fps: 25, frames: 6}
gravity: [0, 0, -9.81]
materials: {rubber: {young: 1e4, density: 1000}}
bodies:
  bar: {make: {shape: beam, size: [0.4, 0.1, 0.1], cells: 1}, material: rubber}
  "7-up": {make: {shape: block, size: [0.1, 0.1, 0.1], cells: 2}, embed: {cells: 2}, material: rubber, translate: [0, 1, 0]}
output: {player: false, mdd: true, glb: true, usda: true, npz: true}
"""
FRAMES = 7
complaints = []


def expect(code, words, *command, **options):
    """Runs sinew export; returns what it says."""
    got, output = support.run(support.PROGRAM, "export", *command, **options)
    if got != code or any(word not in output for word in words):
        complaints.append(f"export {' '.join(map(str, command))}: exit {got}, expected {code} and {words}: {output[:500]}")
    return output


def same(path, other):
    if path.read_bytes() != other.read_bytes():
        complaints.append(f"{path} and {other} differ")


# ---- What is written

def check_formats(run, out):
    output = expect(0, ["mdd: 2 files in ", "npz: 1 file in ", "obj: 14 files", "vtu: 17 files"], run, "--format",
                    "mdd,pc2,glb,usda,npz,obj,vtu", "-o", out)
    if "warning" in output:
        complaints.append(f"a finished run is warned of: {output}")
    for name in ("bar.mdd", "7-up.mdd", "frames.glb", "frames.usda", "frames.npz"):
        same(out / name, run / name)
    arrays = np.load(out / "frames.npz")
    stats = [json.loads(line) for line in (run / "stats.jsonl").read_text().splitlines()]
    if arrays["time"].tolist() != [0] + [line["time"] for line in stats] or arrays["frame"].tolist() != [*range(FRAMES)]:
        complaints.append(f"frames.npz: times {arrays['time']}")
    for body in ("bar", "7-up"):
        surface, triangles = np.load(run / f"{body}.surface.npy"), np.load(run / f"{body}.triangles.npy")
        if not np.array_equal(arrays[f"{body}.surface"], surface):
            complaints.append(f"{body}: frames.npz differs from the NPY file")
        mdd = (out / f"{body}.mdd").read_bytes()
        points = np.frombuffer(mdd[8 + 4 * FRAMES:], ">f4").reshape(surface.shape)
        if struct.unpack(">ii", mdd[:8]) != surface.shape[:2] or not np.array_equal(points, surface):
            complaints.append(f"{body}.mdd differs from the NPY file")
        for frame in range(FRAMES):
            for ending in ("obj", "vtu"):
                mesh = meshio.read(out / f"{body}.{frame:06d}.{ending}")
                if not np.array_equal(mesh.points, surface[frame].astype(float)) or \
                        not np.array_equal(mesh.cells_dict["triangle"], triangles):
                    complaints.append(f"{body}.{frame:06d}.{ending} differs from the NPY files")


def check_pictures(run, out):
    """Pictures of all frames, and of one: the same camera. The bar, which is held nowhere, falls."""
    expect(0, ["png: 7 files"], run, "-f", "png", "-o", out / "all", "--size", "48x96")
    expect(0, ["png: 1 file"], run, "-f", "png", "-o", out / "one", "--size", "48x96", "--frames", "3")
    same(out / "all" / "frame.000003.png", out / "one" / "frame.000003.png")
    heights = []
    for frame in range(FRAMES):
        picture = np.array(support.read_png(out / "all" / f"frame.{frame:06d}.png"), dtype=int)
        if picture.shape != (96, 48, 3):
            complaints.append(f"--size 48x96 makes pictures of {picture.shape}")
        # The bar, first in the scene but second by its name, is blue; the background has less blue than this.
        seen = np.nonzero(picture[:, :, 2] > 130)[0]
        heights.append(seen.mean() if len(seen) else -1)
    if heights != sorted(heights) or heights[0] < 0 or heights[-1] < heights[0] + 3:
        complaints.append(f"the bar falls in pictures through the rows {heights}")
    for size in ("", "12", "12x", "x5", "0x5", "5x0", "8193x5", "5x8193", "5x5x5", "-5x5", "99999999999999999999x2"):
        expect(2, ["--size", "WIDTHxHEIGHT"], run, "-f", "png", "-o", out / "bad", f"--size={size}")
    expect(0, [], run, "-f", "png", "-o", out / "body", "--body", "bar", "--frames", "0", "--size", "1x1", "--up", "y", "-q")
    if [path.name for path in (out / "body").iterdir()] != ["bar.000000.png"] or (out / "bad").exists():
        complaints.append("a picture of one body has another name")


def check_choice(run, out):
    expect(0, ["obj: 2 files"], run, "-f", "obj", "-o", out, "--body", "bar", "--frames", "1::4")
    expect(0, [], run, "-f", "npz", "-o", out, "--body", "7-up", "--frames=2:3", "-q")
    names = sorted(path.name for path in out.iterdir())
    if names != ["7-up.npz", "bar.000001.obj", "bar.000005.obj"]:
        complaints.append(f"a choice of frames and bodies writes {names}")
    if np.load(out / "7-up.npz")["frame"].tolist() != [2, 3]:
        complaints.append("--frames=2:3 writes other frames")
    expect(0, ["export/"], run, "--format", "pc2", "--frames", "6")
    if not (run / "export" / "bar.pc2").exists():
        complaints.append("the folder export was not made")
    shutil.rmtree(run / "export")


def check_messages(run, folder):
    out = ("-o", folder / "none")
    expect(2, ["--format is missing"], run, *out)
    expect(2, ['unknown format "gltb"; did you mean glb?'], run, "-f", "mdd,gltb", *out)
    expect(2, ['unknown format "alembic", expected one of mdd, '], run, "-f", "alembic", *out)
    expect(2, ['has no body "baz"; it has 7-up, bar'], run, "-f", "mdd", "--body", "baz", *out)
    expect(2, ["has frames 0 to 6"], run, "-f", "mdd", "--frames", "3:7", *out)
    for frames in ("a", "1:b", "1:2:0", "-1", "1:2:3:4", "", "99999999999", "1;2"):
        expect(2, ["--frames", "expected A:B:STEP"], run, "-f", "mdd", f"--frames={frames}", *out)
    expect(2, ["is the folder of the run"], run, "-f", "mdd", "-o", run)
    expect(2, ["--output"], run, "-f", "mdd", "-o", "")
    expect(2, ["No such file or directory", "sinew run"], folder / "nowhere", "-f", "mdd")
    expect(2, ["holds no run (stats.jsonl"], folder, "-f", "mdd")
    expect(2, ["unknown option --fromat; did you mean --format?"], run, "--fromat", "mdd")
    expect(0, ["formats:", "mdd ", "usda", "--glb-targets"], "--help")
    if (folder / "none").exists():
        complaints.append("a refused export made its folder")
    warned = expect(0, ["5 of 7 frames were left out", "up to 65535 with --glb-targets"], run, "-f", "glb", "--glb-targets", "1", *out)
    if warned.count("warning") != 1:
        complaints.append(f"thinning out warns otherwise: {warned}")


def check_scene(folder):
    code, output = support.run(support.PROGRAM, "check", folder / "scene.yaml", "--set", "output.npy=false")
    if code != 2 or "output.npy" not in output or "mdd, glb, usda and npz" not in output:
        complaints.append(f"output.npy=false with output.mdd: exit {code}: {output}")


# ---- Folders that are not as they should be

def copy(run, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(run, folder)
    return folder


def check_stopped(run, folder):
    stopped = copy(run, folder / "stopped")
    (stopped / "summary.json").write_text((stopped / "summary.json").read_text().replace('_planned": 6', '_planned": 60'))
    expect(0, ["warning", "was stopped: it holds 6 of 60 frames", "mdd: 2 files"], stopped, "-f", "mdd")
    (stopped / "summary.json").unlink()
    with open(stopped / "bar.surface.npy", "r+b") as file:
        file.truncate((stopped / "bar.surface.npy").stat().st_size - 1)
    expect(0, ["warning", "has not ended: the start and 5 whole frames"], stopped, "-f", "npz")
    if np.load(stopped / "export" / "frames.npz")["7-up.surface"].shape[0] != 6:
        complaints.append("an unfinished run is exported with frames that are not whole")


def less_memory():
    if not support.is_sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def check_hostile(run, folder):
    """Refused by name, within a GB of memory and without a crash."""
    whole = (run / "bar.surface.npy").read_bytes()
    head = whole.index(b"(")
    hostile = copy(run, folder / "hostile")
    target = hostile / "bar.surface.npy"
    for shape in (b"(7, 2000000000, 3), }", b"(7, 99999999999999999999, 3), }", b"(7, 8, 4), }", b"(-7, 8, 3), }", b"(((((("):
        target.write_bytes(whole[:head] + shape + whole[head + len(shape):])
        expect(2, ["bar.surface.npy"], hostile, "-f", "npz", preexec_fn=less_memory)
    for cut in (0, 5, 100, 127, 128, 200):
        target.write_bytes(whole[:cut])
        expect(2, ["bar.surface.npy"], hostile, "-f", "npz", preexec_fn=less_memory)
    target.unlink()
    target.mkdir()
    expect(2, ["cannot read", "bar.surface.npy"], hostile, "-f", "npz")
    target.rmdir()
    target.write_bytes(whole[:-4] + struct.pack("<f", float("nan")))
    expect(2, ["frame 6 is not finite"], hostile, "-f", "usda")
    if any((hostile / "export").iterdir()):
        complaints.append("a refused export leaves files")
    target.write_bytes(whole)
    (hostile / "bar.surface.obj").write_text("o bar\nv 1 2 3\nf 1/9 1/9 1/9\n")
    expect(2, ["bar.surface.obj"], hostile, "-f", "npz")


def check_names(run, folder):
    """Files that were renamed: names that scenes would refuse, and that become alike in names of files."""
    odd = copy(run, folder / "odd names")
    for name in ("Ärmel & <so>", "Ärmel & \"so\""):
        for ending in ("surface.npy", "triangles.npy"):
            shutil.copy(odd / f"bar.{ending}", odd / f"{name}.{ending}")
    expect(0, ["vtu: 33 files", "glb: 1 file", "usda: 1 file"], odd, "-f", "vtu,glb,usda,mdd", "-o", folder / "öut")
    names = {path.name for path in (folder / "öut").glob("*.mdd")}
    if names != {"bar.mdd", "7-up.mdd", "__rmel____so_.mdd", "__rmel____so_-2.mdd"}:
        complaints.append(f"names that are alike make {names}")
    usda = (folder / "öut" / "frames.usda").read_text()
    if 'string name = "Ärmel & \\"so\\""' not in usda or 'def Mesh "_7_up"' not in usda or "Mesh" not in usda:
        complaints.append("frames.usda names the bodies otherwise")
    expect(0, ["mdd: 1 file"], odd, "-f", "mdd", "--body", "Ärmel & <so>", "-o", folder / "öut")


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))


def check_full_disk(run, folder):
    out = folder / "full"
    expect(0, [], run, "-f", "npz", "-o", out, "-q")
    before = (out / "frames.npz").read_bytes()
    expect(4, ["cannot write", "frames.npz", "File too large"], run, "-f", "npz", "-o", out, preexec_fn=small_files)
    if [path.name for path in out.iterdir()] != ["frames.npz"] or (out / "frames.npz").read_bytes() != before:
        complaints.append("a full disk spoils what was there")


def main():
    with tempfile.TemporaryDirectory(prefix="sinew export ") as name:
        folder = pathlib.Path(name)
        (folder / "scene.yaml").write_text(SCENE)
        run = folder / "run"
        support.must(support.PROGRAM, "run", folder / "scene.yaml", "-o", run, "-q")
        check_formats(run, folder / "out")
        check_pictures(run, folder / "pictures")
        check_choice(run, folder / "choice")
        check_messages(run, folder)
        check_scene(folder)
        check_stopped(run, folder)
        check_hostile(run, folder)
        check_names(run, folder)
        check_full_disk(run, folder)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
