"""PC2, OBJ, .vtu.series, probes.csv and contacts.csv of a run: they open, and agree with the NPY files and each other."""

import csv
import json
import pathlib
import struct
import sys
import tempfile

import support

try:
    import meshio
    import numpy as np
except ImportError as error:
    support.skip(f"{error} (Debian packages python3-numpy, python3-meshio)")

# A bar of tets falls onto the floor, and a block in a lattice flies by; numbers in cm, results in m.
SCENE = """
sinew: 1
units: {length: cm}
time: {fps: 50, frames: 12, integrator: implicit_euler}
gravity: [0, 0, -981]
materials:
  rubber: {model: corotated, young: 1e3, poisson: 0.3, density: 1e-3}
bodies:
  bar: {make: {shape: beam, size: [40, 10, 10], cells: 2}, translate: [0, 0, 1], material: rubber}
  block:
    make: {shape: block, size: [20, 20, 20], cells: 4}
    embed: {lattice: bcc, cells: 3}
    translate: [0, 50, 100]
    material: rubber
    initial: {velocity: [0, 0, 300], spin: [100, 200, 0]}
rigid:
  floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}
contact:
  - {between: [bar, floor], friction: 0.5}
output:
  pc2: true
  contacts: true
  player: false
  obj: {every: 3}
  vtu: {every: 2, volume: false}
  preview: {every: 3, width: 64, height: 48}
  probes:
    tip: {body: bar, point: [40, 10, 11]}
    middle: {body: bar, point: [17, 4, 6.5]}
    floor: {rigid: floor}
"""
FRAMES, BODIES = 12, ("bar", "block")


def read_csv(path):
    """Columns by name; numbers where all cells are numbers."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    columns = {}
    for name, *cells in zip(*rows):
        try:
            columns[name] = np.array(cells, dtype=float)
        except ValueError:
            columns[name] = np.array(cells)
    return columns


def vector(columns, *names):
    return np.stack([columns[name] for name in names], axis=1)


def check_pc2(results, body):
    surface = np.load(results / f"{body}.surface.npy")
    data = (results / f"{body}.pc2").read_bytes()
    head = struct.unpack("<12siiffi", data[:32])
    points = np.frombuffer(data[32:], "<f4")
    if head != (b"POINTCACHE2\0", 1, surface.shape[1], 0.0, 1.0, FRAMES + 1):
        return [f"{body}.pc2 begins with {head}"]
    return [] if np.array_equal(points, surface.ravel()) else [f"{body}.pc2 differs from {body}.surface.npy"]


def check_obj(results, body):
    surface, triangles = np.load(results / f"{body}.surface.npy"), np.load(results / f"{body}.triangles.npy")
    found = sorted(path.name for path in results.glob(f"{body}.[0-9]*.obj"))
    wanted = [f"{body}.{frame:06d}.obj" for frame in range(0, FRAMES + 1, 3)]
    if found != wanted:
        return [f"OBJ files {found} instead of {wanted}"]
    complaints = []
    for frame in range(0, FRAMES + 1, 3):
        mesh = meshio.read(results / f"{body}.{frame:06d}.obj")
        if not np.array_equal(mesh.points.astype(np.float32), surface[frame]) or \
                not np.array_equal(mesh.cells_dict["triangle"], triangles):
            complaints.append(f"{body}.{frame:06d}.obj differs from the NPY files")
    return complaints


def check_pictures(results):
    """Every third frame has one, with something that moves before a still background."""
    names = sorted(path.name for path in results.glob("*.png"))
    if names != [f"frame.{frame:06d}.png" for frame in range(0, FRAMES + 1, 3)]:
        return [f"pictures {names}"]
    pictures = [np.array(support.read_png(results / name), dtype=int) for name in names]
    complaints = [f"{name} has {picture.shape}" for name, picture in zip(names, pictures) if picture.shape != (48, 64, 3)]
    if not complaints and not (np.any(pictures[0] != pictures[-1]) and pictures[0].std() > 5):
        complaints.append("all pictures are alike, or empty")
    return complaints


def check_series(results, body, times):
    series = json.loads((results / f"{body}.vtu.series").read_text())
    wanted = {"file-series-version": "1.0", "files": [
        {"name": f"{body}.{frame:06d}.vtu", "time": times[frame]} for frame in range(0, FRAMES + 1, 2)]}
    complaints = [] if series == wanted else [f"{body}.vtu.series holds {series}"]
    return complaints + [f"{file['name']} is missing" for file in series["files"]
                         if not (results / file["name"]).exists()]


def check_points(results, probes):
    """The tip is a node, the middle lies in a tet; velocities are the differences that implicit Euler makes."""
    nodes, tets = np.load(results / "bar.nodes.npy"), np.load(results / "bar.tets.npy")
    complaints = []
    for name, rest in (("tip", [0.4, 0.1, 0.11]), ("middle", [0.17, 0.04, 0.065])):
        found = vector(probes, *(f"{name}.{axis}_m" for axis in "xyz"))
        speed = vector(probes, *(f"{name}.v{axis}_m_s" for axis in "xyz"))
        corners = nodes[0][tets].transpose(0, 2, 1)
        weights = np.linalg.solve(np.concatenate([corners, np.ones((len(tets), 1, 4))], axis=1),
                                  np.broadcast_to(np.array(rest + [1.0])[None, :, None], (len(tets), 4, 1)))[..., 0]
        tet = int(np.argmax(weights.min(axis=1)))
        wanted = np.einsum("a,fax->fx", weights[tet], nodes[:, tets[tet]])
        off, off_speed = np.abs(found - wanted).max(), np.abs(np.diff(found, axis=0) * 50 - speed[1:]).max()
        print(f"{name}: off by {off}, velocity by {off_speed}, falls {found[0, 2] - found[-1, 2]}")
        if weights[tet].min() < -1e-12 or off > 1e-14 or off_speed > 1e-11 or found[-1, 2] > found[0, 2] - 0.005:
            complaints.append(f"probe {name} is off by {off}, its velocity by {off_speed}, or it does not fall")
    return complaints


def check_contacts(results, probes, contacts):
    """Contacts lie at the surface, push up, and sum up to what the probe of the floor says."""
    surface = np.load(results / "bar.surface.npy")
    frame, vertex = contacts["frame"].astype(int), contacts["vertex"].astype(int)
    place, normal = vector(contacts, "x_m", "y_m", "z_m"), vector(contacts, "nx", "ny", "nz")
    force = vector(contacts, "fx_N", "fy_N", "fz_N")
    complaints = []
    if not len(frame) or set(contacts["body"]) != {"bar"} or set(contacts["shape"]) != {"floor"}:
        return [f"contacts.csv: {len(frame)} rows between {set(contacts['body'])} and {set(contacts['shape'])}"]
    at_vertex = vertex >= 0
    off = np.abs(place[at_vertex] - surface[frame[at_vertex], vertex[at_vertex]]).max()
    depth_off = np.abs(contacts["depth_m"] + place[:, 2]).max()
    if off > 1e-7 or depth_off > 1e-15 or not np.array_equal(normal, np.broadcast_to([0, 0, 1], normal.shape)):
        complaints.append(f"contacts.csv: places are off by {off}, depths by {depth_off}, or a normal is not [0, 0, 1]")
    if not np.array_equal(contacts["time_s"], probes["time_s"][frame]):
        complaints.append("contacts.csv: the times are not those of the frames")
    total = np.zeros((FRAMES + 1, 3))
    np.add.at(total, frame, -force)
    moment = np.zeros((FRAMES + 1, 3))
    np.add.at(moment, frame, -np.cross(place, force))
    off = np.abs(vector(probes, "floor.fx_N", "floor.fy_N", "floor.fz_N") - total).max()
    off_moment = np.abs(vector(probes, "floor.mx_Nm", "floor.my_Nm", "floor.mz_Nm") - moment).max()
    print(f"floor: {len(frame)} contacts, up to {-total[:, 2].min()} N, off by {off} N, {off_moment} Nm")
    if not total[:, 2].min() < -1 or max(off, off_moment) > 1e-12 * -total[:, 2].min():
        complaints.append(f"the floor's probe is off by {off} N, {off_moment} Nm of {-total[:, 2].min()} N")
    return complaints


def check_vtu_forces(results, contacts):
    complaints = []
    for body in BODIES:
        count = np.load(results / f"{body}.surface.npy").shape[1]
        for frame in range(0, FRAMES + 1, 2):
            chosen = (contacts["frame"] == frame) & (contacts["vertex"] >= 0) & (contacts["body"] == body)
            wanted = np.zeros((count, 3))
            np.add.at(wanted, contacts["vertex"][chosen].astype(int),
                      vector(contacts, "fx_N", "fy_N", "fz_N")[chosen])
            found = meshio.read(results / f"{body}.{frame:06d}.vtu").point_data["contact_force"]
            if not np.array_equal(found, wanted):
                complaints.append(f"{body}.{frame:06d}.vtu: contact_force is off by {np.abs(found - wanted).max()}")
    return complaints


def check_run(folder):
    results = folder / "run"
    support.must(support.PROGRAM, "run", folder / "scene.yaml", "-o", results, "-q")
    probes, contacts = read_csv(results / "probes.csv"), read_csv(results / "contacts.csv")
    complaints = [] if np.array_equal(probes["frame"], np.arange(FRAMES + 1)) else ["probes.csv: wrong frames"]
    complaints += check_pictures(results)
    for body in BODIES:
        complaints += check_pc2(results, body) + check_obj(results, body)
        complaints += check_series(results, body, probes["time_s"])
    return complaints + check_points(results, probes) + check_contacts(results, probes, contacts) + \
        check_vtu_forces(results, contacts)


def check_resume(folder):
    """A run that stops in mid-contact and goes on writes the same bytes."""
    half, whole = folder / "half", folder / "run"
    support.must(support.PROGRAM, "run", folder / "scene.yaml", "-o", half, "-q", "--frames", "7")
    for name in ("bar.pc2", "probes.csv", "contacts.csv"):
        with open(half / name, "ab") as file:
            file.write(b"what a run that was killed has begun")
    support.must(support.PROGRAM, "run", folder / "scene.yaml", "-o", half, "-q", "--resume")
    return [f"{path.name} differs after resuming" for pattern in ("*.pc2", "*.csv", "*.obj", "*.series", "*.vtu", "*.png", "rigid_*.npy")
            for path in sorted(whole.glob(pattern)) if (half / path.name).read_bytes() != path.read_bytes()]


def check_only_what_is_wanted(folder):
    """A second run leaves out all that the first one wrote beyond the standard files."""
    results = folder / "run"
    support.must(support.PROGRAM, "run", folder / "scene.yaml", "-o", results, "-q", "--overwrite", "--set",
                 "output=null")
    extra = [path.name for pattern in ("*.pc2", "*.[0-9]*.obj", "*.vtu*", "*.csv", "*.png")
             for path in results.glob(pattern)]
    return [f"files of the run before are still there: {extra}"] if extra else []


def check_refusals(folder):
    """Names that nothing has: the line, the nearest name, and no folder."""
    complaints = []
    for words, setting in ((("did you mean bar", "output.probes.tip.body"), "output.probes.tip.body=baar"),
                           (("did you mean floor", "output.probes.floor.rigid"), "output.probes.floor.rigid=flor")):
        code, output = support.run(support.PROGRAM, "run", folder / "scene.yaml", "-o", folder / "no", "--set", setting)
        if code != 2 or not all(word in output for word in words) or (folder / "no").exists():
            complaints.append(f"--set {setting} ends with {code}: {output}")
    return complaints


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scene.yaml").write_text(SCENE)
        complaints = check_run(folder) + check_resume(folder)
        complaints += check_only_what_is_wanted(folder) + check_refusals(folder)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
