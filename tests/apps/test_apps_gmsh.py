"""Gmsh reads the meshes that Sinew writes, and Sinew reads those of Gmsh: same nodes, same tets, same volume."""

# Labels: heavy
import pathlib
import sys
import tempfile

import support

from apps_run import SCENE, np, record

try:
    import meshio
except ImportError as error:
    support.skip(f"{error} (Debian package python3-meshio)")

BALL = """SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 0.1};
Physical Volume("flesh") = {1};
Mesh.MeshSizeMax = 0.04;
"""


def check_reading(folder, gmsh):
    """Gmsh opens both formats and writes them again in a newer one, which meshio reads."""
    complaints = []
    for ending in ("mesh", "msh"):
        ours, theirs = folder / f"bar.{ending}", folder / f"bar-{ending}-by-gmsh.msh"
        support.must(support.PROGRAM, "mesh", "make", "beam", ours, "--size", "0.4,0.1,0.1", "--cells", "3")
        output = support.must(gmsh, ours, "-save_all", "-format", "msh41", "-o", theirs, "-save")
        if "Error" in output or "Warning" in output:
            complaints.append(f"{ours.name}: Gmsh says\n{output}")
        before, after = meshio.read(ours), meshio.read(theirs)
        # Gmsh writes 16 digits, one too few for the last bit.
        off = np.abs(before.points - after.points).max()
        if off > 1e-15 or not np.array_equal(before.cells_dict["tetra"], after.cells_dict["tetra"]):
            complaints.append(f"{ours.name}: nodes are off by {off} in Gmsh, or tets are others")
    return complaints


def check_writing(folder, gmsh):
    """A ball that Gmsh meshed runs, from both formats, with the nodes in their order."""
    complaints = []
    source = folder / "ball.geo"
    source.write_text(BALL)
    for ending in ("msh22", "mesh"):
        path = folder / f"ball.{'msh' if ending == 'msh22' else ending}"
        support.must(gmsh, source, "-3", "-format", ending, "-o", path)
        mesh = meshio.read(path)
        info = support.must(support.PROGRAM, "mesh", "info", path)
        run = record(folder / ending, SCENE, "time.frames=1", "bodies.bar.make=null", f"bodies.bar.mesh={path}",
                     "bodies.bar.translate=[0, 0, 0]", "bodies.bar.initial=null")
        nodes, tets = run.bodies["bar"].nodes[0], run.bodies["bar"].tets
        print(f"{path.name}: {len(mesh.points)} points, {len(tets)} tets")
        if not np.array_equal(nodes, mesh.points) or not np.array_equal(tets, mesh.cells_dict["tetra"]):
            complaints.append(f"{path.name}: {nodes.shape} nodes of {mesh.points.shape}, or other places or tets")
        if ending == "msh22" and "group       flesh" not in info:
            complaints.append(f"{path.name}: the group \"flesh\" is lost:\n{info}")
    return complaints


def main():
    gmsh = support.tool("gmsh", "gmsh")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        support.finish(check_reading(folder, gmsh) + check_writing(folder, gmsh))


if __name__ == "__main__":
    sys.exit(main())
