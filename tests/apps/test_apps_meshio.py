"""meshio reads VTU files, OBJ sequences and meshes that Sinew writes: positions are those of the NPY files."""

import json
import pathlib
import sys
import tempfile

import support

from apps_run import EXAMPLES, SCENE, np, record

try:
    import meshio
except ImportError as error:
    support.skip(f"{error} (Debian package python3-meshio)")


def check_mesh(where, path, positions, cells, kind, slack=0):
    mesh = meshio.read(path)
    if mesh.points.shape != positions.shape or list(mesh.cells_dict) != [kind]:
        return [f"{where}: {mesh.points.shape} points instead of {positions.shape}, cells {list(mesh.cells_dict)}"]
    off = np.abs(mesh.points - positions).max()
    if off > slack or not np.array_equal(mesh.cells_dict[kind], cells):
        return [f"{where}: points are off by {off}, or cells differ"]
    return []


def check_frames(run):
    """Each frame of each body: the tets as VTU, exactly; the surface as OBJ, which is kept in float as NPY."""
    complaints = []
    for name, body in run.bodies.items():
        slack = 1e-7 * np.abs(body.surface).max()
        for frame in range(run.frames):
            vtu, obj = (f"{name}.{frame:06d}.{ending}" for ending in ("vtu", "obj"))
            complaints += check_mesh(vtu, run.folder / vtu, body.nodes[frame], body.tets, "tetra")
            complaints += check_mesh(obj, run.folder / obj, body.surface[frame], body.triangles, "triangle", slack)
            # The nearest float of what an OBJ file says is what the NPY file holds.
            if not np.array_equal(meshio.read(run.folder / obj).points.astype(np.float32), body.surface[frame]):
                complaints.append(f"{obj}: not the same places in single precision")
    return complaints


def check_series(run):
    complaints = []
    for name in run.bodies:
        series = json.loads((run.folder / f"{name}.vtu.series").read_text())
        wanted = [{"name": f"{name}.{frame:06d}.vtu", "time": time} for frame, time in enumerate(run.times)]
        if series != {"file-series-version": "1.0", "files": wanted}:
            complaints.append(f"{name}.vtu.series: {series}")
    return complaints


def check_meshes(folder):
    """A mesh that Sinew made, in both formats of tets: what meshio reads of it is what a run starts with."""
    complaints = []
    for ending in ("mesh", "msh"):
        path = folder / f"bar.{ending}"
        support.must(support.PROGRAM, "mesh", "make", "beam", path, "--size", "0.4,0.1,0.1", "--cells", "2")
        run = record(folder / ending, SCENE, "time.frames=1", "bodies.bar.make=null", f"bodies.bar.mesh={path}",
                     "bodies.bar.translate=[0, 0, 0]", "bodies.bar.initial=null")
        complaints += check_mesh(path.name, path, run.bodies["bar"].nodes[0], run.bodies["bar"].tets, "tetra")
    support.must(support.PROGRAM, "mesh", "surface", folder / "bar.msh", folder / "bar.obj")
    surface = meshio.read(folder / "bar.obj")
    off = np.abs(surface.points.astype(np.float32) - run.bodies["bar"].surface[0]).max()
    if off > 0 or not np.array_equal(surface.cells_dict["triangle"], run.bodies["bar"].triangles):
        complaints.append(f"bar.obj: points are off by {off}, or triangles differ")
    return complaints


def check_example(run):
    """python_read.py ends with an STL file of the last frame."""
    for name, body in run.bodies.items():
        print(support.must(sys.executable, EXAMPLES / "python_read.py", run.folder, name))
        corners = meshio.read(run.folder / f"{name}.last.stl")
        places = corners.points[corners.cells_dict["triangle"]]
        off = np.abs(places - body.surface[-1][body.triangles]).max()
        if off > 1e-6 * np.abs(body.surface[-1]).max():
            return [f"{name}.last.stl is off by {off}"]
    return []


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = record(folder / "run", SCENE, "output.vtu.every=1", "output.obj.every=1")
        support.finish(check_frames(run) + check_series(run) + check_example(run) + check_meshes(folder))


if __name__ == "__main__":
    sys.exit(main())
