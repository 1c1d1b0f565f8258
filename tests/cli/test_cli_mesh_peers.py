"""Meshes of other programs, in every format and flavor that they write, read as what they are; what Sinew writes, meshio
reads as the same. Gmsh, TetGen and Blender take part where they are installed."""

# Labels: slow
import pathlib
import shutil
import sys
import tempfile

import support

try:
    import meshio
    import numpy as np
except ImportError as error:
    support.skip(f"{error} (Debian package python3-meshio)")

FLOAT = 1e-7  # Relative error of files in single precision.
GMSH = 1e-14  # Gmsh writes 16 digits.
BLENDER_SLACK = 1e-5  # Blender writes 6 digits behind the point.
SHORT = {"ball-a.stl": FLOAT, "ball-b.stl": FLOAT, "beam-ascii.vtu": 1e-11}  # Of meshio.

BLENDER = """import bpy, sys
folder = sys.argv[sys.argv.index("--") + 1]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_mesh.stl(filepath=folder + "/ball.stl")
for ascii in (False, True):
    name = folder + "/blender-" + ("ascii" if ascii else "binary")
    bpy.ops.export_mesh.stl(filepath=name + ".stl", ascii=ascii, use_selection=False)
    bpy.ops.export_mesh.ply(filepath=name + ".ply", use_ascii=ascii, use_selection=False)
bpy.ops.wm.obj_export(filepath=folder + "/blender.obj", forward_axis="Y", up_axis="Z")
"""


class Peers:
    """The folder of the files, the two meshes, and what is wrong."""

    def __init__(self, folder):
        self.folder = folder
        self.complaints = []
        self.count = 0
        support.must(support.PROGRAM, "mesh", "make", "beam", folder / "beam.msh", "--size", "1,0.3,0.2", "--cells", "3")
        support.must(support.PROGRAM, "mesh", "make", "sphere", folder / "ball.ply", "--cells", "5")
        support.must(support.PROGRAM, "mesh", "convert", folder / "ball.ply", folder / "ball.stl")
        self.beam = self.load("beam.msh")
        self.ball = self.load("ball.ply")

    def load(self, name):
        mesh = meshio.read(self.folder / name)
        kind = "tetra" if "tetra" in mesh.cells_dict else "triangle"
        return mesh.points, np.concatenate([cells.data for cells in mesh.cells if cells.type == kind])

    def check(self, name, mesh, slack=0.0, converted=None):
        """Holds a file against a mesh: corners of cells in their order, so that loose vertices and joined ones do
        not count."""
        self.count += 1
        if converted is None:
            converted = f"{name}.back.vtu"
            code, output = support.run(support.PROGRAM, "mesh", "convert", self.folder / name, self.folder / converted)
            if code != 0:
                self.complaints.append(f"{name}: {output}")
                return
        points, cells = self.load(converted)
        wanted, found = mesh[0][mesh[1]], points[cells]
        if wanted.shape != found.shape:
            self.complaints.append(f"{name}: {found.shape} instead of {wanted.shape}")
        elif np.abs(wanted - found).max() > slack * np.abs(wanted).max():
            self.complaints.append(f"{name}: off by {np.abs(wanted - found).max()}")

    def check_set(self, name, mesh, slack):
        """The same where the other program has an order of its own: the middles of all cells, sorted."""
        converted = f"{name}.back.vtu"
        support.must(support.PROGRAM, "mesh", "convert", self.folder / name, self.folder / converted)
        points, cells = self.load(converted)
        self.count += 1
        wanted, found = (np.sort(p[c].mean(axis=1) @ np.array([1, np.pi, np.e])) for p, c in (mesh, (points, cells)))
        if len(wanted) != len(found) or np.abs(wanted - found).max() > slack:
            self.complaints.append(f"{name}: {len(found)} cells of {len(wanted)}, or others")


def meshio_files(peers):
    """What meshio writes: formats with their options."""
    solid = [("beam-22.msh", "gmsh22", {"binary": False}), ("beam-22b.msh", "gmsh22", {"binary": True}),
             ("beam-41.msh", "gmsh", {"binary": False}), ("beam-41b.msh", "gmsh", {"binary": True}),
             ("beam-42.vtk", "vtk42", {"binary": False}), ("beam-42b.vtk", "vtk42", {"binary": True}),
             ("beam-51.vtk", "vtk51", {"binary": False}), ("beam-51b.vtk", "vtk51", {"binary": True}),
             ("beam-ascii.vtu", "vtu", {"binary": False}), ("beam-zlib.vtu", "vtu", {"compression": "zlib"}),
             ("beam-plain.vtu", "vtu", {"compression": None}), ("beam.mesh", "medit", {}),
             ("beam.inp", "abaqus", {}), ("beam.node", "tetgen", {})]
    surface = [("ball-a.stl", "stl", {"binary": False}), ("ball-b.stl", "stl", {"binary": True}),
               ("ball-a.ply", "ply", {"binary": False}), ("ball-b.ply", "ply", {"binary": True}), ("ball.off", "off", {}),
               ("ball.obj", "obj", {}), ("ball-22b.msh", "gmsh22", {"binary": True}),
               ("ball-41.msh", "gmsh", {"binary": False}), ("ball-41b.msh", "gmsh", {"binary": True}),
               ("ball-42b.vtk", "vtk42", {"binary": True}), ("ball-51.vtk", "vtk51", {"binary": False}),
               ("ball-zlib.vtu", "vtu", {"compression": "zlib"}), ("ball.mesh", "medit", {}),
               ("ball.inp", "abaqus", {})]
    for kind, mesh, files in (("tetra", peers.beam, solid), ("triangle", peers.ball, surface)):
        for name, form, options in files:
            meshio.write(peers.folder / name, meshio.Mesh(mesh[0], [(kind, mesh[1])]), file_format=form, **options)
            peers.check(name, mesh, SHORT.get(name, 0.0))
    meshio.write(peers.folder / "beam-lzma.vtu", meshio.Mesh(peers.beam[0], [("tetra", peers.beam[1])]),
                 compression="lzma")
    code, output = support.run(support.PROGRAM, "mesh", "info", peers.folder / "beam-lzma.vtu")
    if code != 2 or "vtkLZMADataCompressor" not in output:
        peers.complaints.append(f"beam-lzma.vtu: exit {code}: {output}")


def our_files(peers):
    """What Sinew writes, as meshio reads it."""
    for stem, mesh, endings in (("beam", peers.beam, ["msh", "mesh", "vtk", "vtu", "node", "inp"]),
                                ("ball", peers.ball, ["ply", "stl", "obj", "msh", "mesh", "vtk", "vtu", "inp"])):
        source = peers.folder / ("beam.msh" if stem == "beam" else "ball.ply")
        for ending in endings:
            name = f"ours-{stem}.{ending}"
            support.must(support.PROGRAM, "mesh", "convert", source, peers.folder / name)
            peers.check(name, mesh, {"stl": FLOAT, "inp": 1e-12}.get(ending, 0.0), converted=name)


def gmsh_files(peers, gmsh):
    """What Gmsh makes of both meshes; of second order, the corners are the same."""
    for stem, mesh in (("beam", peers.beam), ("ball", peers.ball)):
        source = peers.folder / f"ours-{stem}.msh"
        for form, ending, options in (("msh22", "msh", []), ("msh22", "msh", ["-bin"]), ("msh41", "msh", []),
                                      ("msh41", "msh", ["-bin"]), ("msh41", "msh", ["-order", "2"]),
                                      ("msh41", "msh", ["-bin", "-order", "2"]), ("msh22", "msh", ["-bin", "-order", "2"]),
                                      ("vtk", "vtk", []), ("vtk", "vtk", ["-bin"]), ("inp", "inp", []),
                                      ("inp", "inp", ["-order", "2"]), ("mesh", "mesh", [])):
            name = f"gmsh-{stem}-{form}{''.join(options)}.{ending}"
            support.must(gmsh, source, "-save_all", *options, "-format", form, "-o", peers.folder / name, "-save")
            peers.check(name, mesh, GMSH)
    for options in ([], ["-bin"]):
        name = f"gmsh-ball{''.join(options)}.stl"
        support.must(gmsh, peers.folder / "ours-ball.msh", *options, "-format", "stl", "-o", peers.folder / name, "-save")
        peers.check(name, peers.ball, 1e-6)


def tetgen_files(peers, tetgen):
    """TetGen fills the ball, from 1 and from 0, of first and second order: what it says is what we read."""
    points, cells = peers.ball
    lines = [f"{len(points)} 3 0 0"] + [f"{i + 1} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(points.tolist())]
    lines += [f"{len(cells)} 0"] + ["1\n3 " + " ".join(map(str, cell + 1)) for cell in cells] + ["0", "0"]
    for options in ("-pq", "-pqz", "-pqo2", "-pqzo2"):
        stem = f"tetgen{options}"
        (peers.folder / f"{stem}.poly").write_text("\n".join(lines) + "\n")
        support.must(tetgen, options, peers.folder / f"{stem}.poly")
        places, tets = ([line.split() for line in (peers.folder / f"{stem}.1.{part}").read_text().splitlines()[1:]
                         if not line.startswith("#")] for part in ("node", "ele"))
        first = int(places[0][0])
        mesh = (np.array([line[1:4] for line in places], float), np.array([line[1:5] for line in tets], int) - first)
        for part in ("node", "ele", "face"):
            peers.check(f"{stem}.1.{part}", mesh)


def blender_files(peers, blender):
    (peers.folder / "blender.py").write_text(BLENDER)
    support.must(blender, "-b", "--python-exit-code", "1", "-P", peers.folder / "blender.py", "--", peers.folder)
    for name in ("blender-ascii.stl", "blender-binary.stl", "blender-ascii.ply", "blender-binary.ply", "blender.obj"):
        peers.check_set(name, peers.ball, BLENDER_SLACK)


def main():
    with tempfile.TemporaryDirectory() as name:
        peers = Peers(pathlib.Path(name))
        meshio_files(peers)
        our_files(peers)
        for program, files in (("gmsh", gmsh_files), ("tetgen", tetgen_files), ("blender", blender_files)):
            path = shutil.which(program)
            if path:
                files(peers, path)
            else:
                print(f"{program} is missing: its files are not looked at")
        print(f"{peers.count} files")
        support.finish(peers.complaints)


if __name__ == "__main__":
    sys.exit(main())
