# Labels: slow
"""A scanned arm with its skeleton, about 100 K tets, bends at the elbow by 90 degrees: the forearm follows its bone within
3 degrees, and no element is inverted outside the crease of the elbow.
"""

import math
import tempfile

from support import DATA, PROGRAM, SOURCE, finish, must, skip

try:
    import numpy
except ImportError:
    skip("numpy is missing (Debian package python3-numpy)")

if not (DATA / "arm.obj").exists():
    skip("no real meshes here")

CELLS = 90
ELBOW, WRIST = (numpy.array(place) for place in ((0.081400687, 0.18519857, -0.042544638),
                                                  (0.5987815, -0.077609889, 0.065252126)))
AXIS, ANGLE = numpy.array([-0.05, -0.47, -0.88]), 90
CREASE = 0.25  # reach of the elbow's folds, about twice the limb's radius there


def rotation(axis, degrees):
    """Rotation matrix (Rodrigues)."""
    x, y, z = axis / numpy.linalg.norm(axis)
    cross = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = math.radians(degrees)
    return numpy.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def best_rotation(start, end):
    """Rotation that carries one cloud of points onto the other with the least squared distance."""
    u, _, v = numpy.linalg.svd((end - end.mean(0)).T @ (start - start.mean(0)))
    return u @ numpy.diag([1, 1, numpy.linalg.det(u @ v)]) @ v


def read_tets(path):
    """Tets of a Medit file that we wrote."""
    words = open(path, encoding="ascii").read().split("Tetrahedra", 1)[1].split()
    count = int(words[0])
    return numpy.array(words[1:1 + 5 * count], dtype=numpy.int64).reshape(count, 5)[:, :4] - 1


def determinants(rest, moved, tets):
    """det F of every tet."""
    edges = [places[tets[:, 1:]] - places[tets[:, :1]] for places in (rest, moved)]
    return numpy.linalg.det(edges[1]) / numpy.linalg.det(edges[0])


complaints = []
with tempfile.TemporaryDirectory() as root:
    must(PROGRAM, "run", SOURCE / "tests/scenes/arm-data.yaml", "-o", f"{root}/run", "-q",
         "--set", f"bodies.arm.mesh={DATA / 'arm.obj'}", "--set", f"rigid.bones.skeleton={DATA / 'arm.tgf'}",
         "--set", f"bodies.arm.embed.cells={CELLS}")
    must(PROGRAM, "mesh", "lattice", DATA / "arm.obj", f"{root}/arm.mesh", "--cells", CELLS)
    tets = read_tets(f"{root}/arm.mesh")
    nodes = numpy.load(f"{root}/run/arm.nodes.npy", mmap_mode="r")
    surface = numpy.load(f"{root}/run/arm.surface.npy", mmap_mode="r")
    rest, moved = numpy.array(nodes[0]), numpy.array(nodes[-1])

    det = determinants(rest, moved, tets)
    away = numpy.linalg.norm(rest[tets].mean(1) - ELBOW, axis=1) > CREASE
    print(f"{len(tets)} tets, {int((det <= 0).sum())} inverted, {int((det[away] <= 0).sum())} of them away from the elbow")
    if not 90e3 <= len(tets) <= 115e3:
        complaints.append(f"{len(tets)} tets; the test is meant for about 100 K")
    if (det[away] <= 0).any():
        complaints.append("inverted elements away from the elbow's crease")

    bone = WRIST - ELBOW
    along = (surface[0] - ELBOW) @ bone / (bone @ bone)
    across = numpy.linalg.norm(surface[0] - ELBOW - along[:, None] * bone, axis=1)
    forearm = (along > 0.3) & (along < 0.8) & (across < 0.2)
    turned = best_rotation(numpy.array(surface[0][forearm], float), numpy.array(surface[-1][forearm], float))
    expected = rotation(AXIS, ANGLE)
    cosine = (turned @ bone) @ (expected @ bone) / (bone @ bone)
    off = math.degrees(math.acos(min(1, cosine)))
    print(f"forearm of {int(forearm.sum())} vertices: axis {off:.2f} degrees off")
    if off > 3:
        complaints.append(f"the forearm's axis is {off:.2f} degrees off its bone")
finish(complaints)
