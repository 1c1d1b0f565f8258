"""Blender imports a surface and moves it by the PC2 file of the run: all vertices in all frames, to the last bit."""

# Labels: heavy
import pathlib
import sys
import tempfile

import support

from apps_run import DROP, DROP_SETTINGS, EXAMPLES, SCENE, answer, check_picture, front_view, np, record

LOOK = pathlib.Path(__file__).with_name("blender_look.py")


def check_motion(folder, run, importers):
    complaints = []
    for name, body in run.bodies.items():
        for importer in importers:
            seen = np.load(folder / f"{name}.{importer}.npz")
            where, shape = f"{name}, import by {importer}", body.surface.shape
            if seen["points"].shape != shape or not np.array_equal(seen["triangles"], body.triangles):
                complaints.append(f"{where}: {seen['points'].shape} instead of {shape}, or other triangles")
                continue
            off = np.abs(seen["points"] - body.surface).max(axis=(1, 2))
            moved = np.abs(body.surface - body.surface[0]).max()
            print(f"{where}: {shape[1]} vertices, {run.frames} frames, off by {off.max()}, moved by {moved}")
            if off.any():
                complaints.append(f"{where}: frames {np.nonzero(off)[0].tolist()} are off by up to {off.max()}")
    return complaints


def check_scene(folder, scene, surfaces, *settings):
    """surfaces: files that Blender imports instead of frame 0 of the run, by body."""
    run = record(folder / "run", scene, "output.player=false", "output.npy=true", "output.pc2=true",
                 "output.obj.every=1", *settings)
    last = run.frames - 1
    view = front_view(np.concatenate([body.surface for body in run.bodies.values()], axis=1))
    files = {name: surfaces.get(name, run.folder / f"{name}.000000.obj") for name in run.bodies}
    request = {"view": view, "frames": run.frames, "pictures": [last // 2, last], "run": str(run.folder),
               "script": str(EXAMPLES / "blender_open.py"), "bodies": [
        {"name": name, "obj": str(path), "pc2": str(run.folder / f"{name}.pc2")} for name, path in files.items()]}
    opened = answer(folder, request, support.tool("blender", "blender"), "-b", "--factory-startup",
                    "--python-exit-code", "1", "-P", LOOK, "--")
    print(f"Blender {opened['version']}")
    complaints = check_motion(folder, run, opened["importers"])
    if opened["last"] != last or abs(opened["fps"] * run.times[1] - 1) > 1e-6:
        complaints.append(f"blender_open.py: {opened['fps']} frames a second, the last is {opened['last']} of {last}")
    for frame in (last // 2, last):
        surfaces = [(body.surface[frame], body.triangles) for body in run.bodies.values()]
        complaints += check_picture(f"frame {frame}", np.load(folder / f"{frame}.npy"), view, surfaces)
    return complaints


def main():
    support.tool("blender", "blender")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # The block's surface comes from a file of its own, which Blender can import as well.
        source = folder / "block.obj"
        support.must(support.PROGRAM, "mesh", "make", "block", source, "--size", "0.3,0.2,0.1", "--cells", "8")
        complaints = check_scene(folder, SCENE, {"block": source}, "bodies.block.make=null",
                                 f"bodies.block.mesh={source}", "bodies.block.translate=[-0.1, 0, 0.05]")
    with tempfile.TemporaryDirectory() as name:
        complaints += check_scene(pathlib.Path(name), DROP, {}, *DROP_SETTINGS)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
