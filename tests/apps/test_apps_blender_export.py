"""Blender opens exports: MDD and PC2 move the surface to the last bit, GLB to the precision of floats; texture coordinates
and groups are there."""

# Labels: heavy
import pathlib
import sys
import tempfile

import support

from apps_run import answer, np
from export_run import by_group, export, looks, record_two

LOOK = pathlib.Path(__file__).with_name("blender_export.py")
FPS = 50


def check_caches(folder, run):
    complaints = []
    for name, body in run.bodies.items():
        for kind in ("mdd", "pc2"):
            seen = np.load(folder / f"{name}.{kind}.npz")
            if seen["points"].shape != body.surface.shape or not np.array_equal(seen["corners"], body.triangles):
                complaints.append(f"{name}.{kind}: {seen['points'].shape} instead of {body.surface.shape}")
                continue
            off = np.abs(seen["points"] - body.surface).max()
            print(f"{name}.{kind}: {body.surface.shape[1]} vertices, {run.frames} frames, off by {off}")
            if off:
                complaints.append(f"{name}.{kind}: off by {off}")
    return complaints


def check_glb(folder, run, out):
    """Corner by corner, for seams and groups double vertices."""
    complaints = []
    for name, body in run.bodies.items():
        seen, look = np.load(folder / f"{name}.glb.npz"), looks(out)[name]
        order = by_group(look, body.triangles)
        corners = body.triangles[order]
        if seen["corners"].shape != corners.shape:
            complaints.append(f"{name}: {seen['corners'].shape} triangles instead of {corners.shape}")
            continue
        if "triangle_uv" not in look and seen["points"].shape != body.surface.shape:
            complaints.append(f"{name}: {seen['points'].shape[1]} vertices, not in the order of the surface")
        off = np.abs(seen["points"][:, seen["corners"]] - body.surface[:, corners].astype(float)).max()
        moved = np.abs(body.surface - body.surface[0]).max()
        limit = 4 * np.finfo(np.float32).eps * np.abs(body.surface).max()
        print(f"{name}.glb: {len(corners)} triangles, off by {off:.3g} of {limit:.3g}, moved by {moved:.3g}")
        if not off <= limit or moved < 0.01:
            complaints.append(f"{name}.glb: off by {off}, allowed {limit}; moved by {moved}")
        complaints += check_look(name, seen, look, order)
    return complaints


def check_look(name, seen, look, order):
    groups = [group.decode() for group in look.get("groups", [])]
    wanted = [groups[group] if group >= 0 else name for group in look.get("triangle_group", np.full(len(order), -1))]
    found = [str(seen["materials"][material]) for material in seen["material"]]
    complaints = [] if found == [wanted[triangle] for triangle in order] else [f"{name}.glb: materials {found}"]
    if ("uv" in seen) != ("uv" in look):
        return complaints + [f"{name}.glb: texture coordinates are missing or too many"]
    if "uv" in look:
        index = look["triangle_uv"][order]
        off = np.abs(np.where((index >= 0)[..., None], seen["uv"] - look["uv"][index], 0)).max()
        if off > 1e-6:
            complaints.append(f"{name}.glb: texture coordinates are off by {off}")
    return complaints


def main():
    blender = support.tool("blender", "blender")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = record_two(folder)
        out = export(run, "mdd,pc2,glb,npz")
        request = {"frames": run.frames, "fps": FPS, "glb": str(out / "frames.glb"), "bodies": [
            {"name": body, "obj": str(run.folder / f"{body}.surface.obj"),
             "caches": {kind: str(out / f"{body}.{kind}") for kind in ("mdd", "pc2")}} for body in run.bodies]}
        opened = answer(folder, request, blender, "-b", "--factory-startup", "--python-exit-code", "1", "-P", LOOK, "--")
        print(f"Blender {opened['version']}")
        support.finish(check_caches(folder, run) + check_glb(folder, run, out))


if __name__ == "__main__":
    sys.exit(main())
