"""A run with texture coordinates, seams and groups, and its exports: what the tests of other programs' formats share."""

import support

from apps_run import EXAMPLES, np, record

# A cube whose sides have texture coordinates with seams, or none; two of three groups have a name.
CUBE = """v 0 0 0
v 0.2 0 0
v 0.2 0.2 0
v 0 0.2 0
v 0 0 0.2
v 0.2 0 0.2
v 0.2 0.2 0.2
v 0 0.2 0.2
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vt 0.5 0.25
g rough skin
f 4/1 3/2 2/3 1/4
f 5/1 6/2 7/3 8/4
g Größe
f 1/1 2/2 6/5 5/4
f 2 3 7 6
g
f 3 4 8 7
f 4 1 5 8
"""

SCENE = """sinew: 1
time: {fps: 50, frames: 12, integrator: implicit_euler}
gravity: [0, 0, -9.81]
materials: {rubber: {model: corotated, young: 1e4, poisson: 0.3, density: 1000}}
bodies:
  bar: {make: {shape: beam, size: [0.4, 0.1, 0.1], cells: 2}, material: rubber, translate: [0, 0, 0.02]}
  cube:
    mesh: cube.obj
    embed: {lattice: bcc, cells: 3}
    material: rubber
    translate: [0.1, 0.5, 0.3]
    initial: {velocity: [0.3, 0, 1], spin: [100, 200, 0]}
rigid: {floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}
contact: [{between: [bar, floor]}]
"""


def record_two(folder):
    """A bar on the floor and the cube, which flies and turns."""
    (folder / "cube.obj").write_text(CUBE)
    (folder / "two.yaml").write_text(SCENE)
    return record(folder / "run", folder / "two.yaml", "output.player=false")


def record_arm(folder):
    """The arm that bends."""
    return record(folder / "run", EXAMPLES / "arm.yaml", "output.player=false", "time.frames=8",
                  "bodies.arm.embed.cells=20")


def export(run, formats, *options):
    """Exports a run; returns the folder of the files."""
    out = run.folder.parent / "exported"
    support.must(support.PROGRAM, "export", run.folder, "--format", formats, "-o", out, *options)
    return out


def looks(out):
    """What frames.npz tells of texture coordinates and groups, by body: uv, triangle_uv, triangle_group, groups."""
    found = {}
    with np.load(out / "frames.npz") as arrays:
        for key in arrays:
            body, _, part = key.rpartition(".")
            found.setdefault(body, {})[part] = arrays[key]
    return found


def by_group(look, triangles):
    """Numbers of the triangles in the order of their groups, those without one first."""
    group = look.get("triangle_group", np.full(len(triangles), -1))
    return np.argsort(group, kind="stable")
