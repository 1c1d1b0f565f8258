"""ParaView opens the .pvd and .vtu.series of a run: times, positions, arrays, ranges and pictures are the run's."""

# Labels: heavy
import pathlib
import shutil
import sys
import tempfile

import support

from apps_run import (DROP, DROP_SETTINGS, EXAMPLES, SCENE, answer, boundary, check_picture, display, front_view, home,
                      np, record)

LOOK = pathlib.Path(__file__).with_name("paraview_look.py")
TRIANGLE, TETRAHEDRON = 5, 10
ARRAYS = {"displacement", "strain", "velocity"}


def bodies_in_order(run):
    """Names as in frames.pvd, which has the order of the scene file."""
    text = (run.folder / "frames.pvd").read_text()
    return sorted(run.bodies, key=lambda name: text.index(f'"{name}.000000.vtu"'))


def wanted_mesh(body, volume):
    """Positions of all frames, cells, cell type, and by how much positions may differ: surfaces are kept in float."""
    if volume:
        return body.nodes, body.tets, TETRAHEDRON, 0
    return body.surface, body.triangles, TRIANGLE, 1e-7 * np.abs(body.surface).max()


def check_fields(where, run, points, fields, part, slack):
    """Displacements lead from one rest place, velocities from frame to frame; ranges shown are those of the arrays."""
    complaints = []
    wanted = ARRAYS | ({"contact_force"} if run.touches and slack else set())
    if set(part["ranges"]) != wanted:
        return [f"{where}: arrays {sorted(part['ranges'])} instead of {sorted(wanted)}"]
    rest = points - fields["displacement"]
    off = np.ptp(rest, axis=0).max()
    if off > 2 * slack + 1e-12:
        complaints.append(f"{where}: displacement is off by {off}")
    steps = np.diff(run.times)[:, None, None]
    off = np.abs(fields["velocity"][1:] - np.diff(points, axis=0) / steps).max()
    if off > 2 * slack / steps.min() + 1e-10 * np.abs(fields["velocity"]).max():
        complaints.append(f"{where}: velocity is off by {off}")
    sizes = {"displacement": np.linalg.norm(fields["displacement"], axis=2), "strain": fields["strain"],
             "velocity": np.linalg.norm(fields["velocity"], axis=2)}
    for name, size in sizes.items():
        ranges = np.array([size.min(axis=1), size.max(axis=1)]).T
        off = np.abs(ranges - part["ranges"][name]).max()
        if off > 2 * slack + 1e-12 * ranges.max() or not 0 < ranges.max() < np.inf:
            complaints.append(f"{where}: {name} in {part['ranges'][name]} instead of {ranges.tolist()}")
    return complaints


def check_force(where, run, fields):
    """What the vertices of the ball feel is what the steel of drop.yaml feels, which nothing else touches."""
    felt = np.array([np.zeros(3)] + [obstacle["force"] for line in run.stats for obstacle in line["obstacles"]
                                     if obstacle["name"] == "steel"])
    off = np.abs(fields["contact_force"].sum(axis=1) + felt).max()
    print(f"{where}: up to {np.abs(felt).max():.1f} N, off by {off}")
    if off > 1e-9 * np.abs(felt).max() or not felt.any():
        return [f"{where}: contact_force differs from the force in stats.jsonl by {off} of {np.abs(felt).max()} N"]
    return []


def worst_det_f(points, rest, cells):
    """The smallest det F over the tets of a body, frame by frame."""
    def volumes(x):
        a, b, c = (x[cells[:, k]] - x[cells[:, 0]] for k in (1, 2, 3))
        return np.einsum("ij,ij->i", a, np.cross(b, c))
    return np.array([(volumes(x) / volumes(rest)).min() for x in points])


def check_opened(folder, name, run, found, names, volume):
    """What ParaView found in one file, which holds the named bodies."""
    complaints, worst = [], []
    if len(found["times"]) != run.frames or np.abs(found["times"] - run.times).max() > 1e-12 * run.times[-1]:
        return [f"{name}: times {found['times']} instead of {run.times.tolist()}"]
    if len(found["parts"]) != len(names):
        return [f"{name}: {len(found['parts'])} parts instead of {names}"]
    for i, body in enumerate(names):
        where, fields = f"{name}, {body}", np.load(folder / f"{name}.{i}.npz")
        places, cells, kind, slack = wanted_mesh(run.bodies[body], volume)
        if fields["points"].shape != places.shape or fields["cells"].shape != (run.frames, cells.size):
            complaints.append(f"{where}: {fields['points'].shape} points, {fields['cells'].shape} corners of cells")
            continue
        off = np.abs(fields["points"] - places).max()
        print(f"{where}: {places.shape[1]} points, {len(cells)} cells, {run.frames} times, off by {off}")
        if off > slack or not (fields["types"] == kind).all() or not (fields["cells"] == cells.ravel()).all():
            complaints.append(f"{where}: points are off by {off}, or cells differ")
        complaints += check_fields(where, run, fields["points"], fields, found["parts"][i], slack)
        if run.touches and body == "ball":
            complaints += check_force(where, run, fields)
        if volume:
            worst.append(worst_det_f(fields["points"], fields["points"][0] - fields["displacement"][0], cells))
    if volume and len(names) == len(run.bodies) and not complaints:
        off = np.abs(np.min(worst, axis=0)[1:] - [line["min_det_F"] for line in run.stats]).max()
        if off > 1e-12:
            complaints.append(f"{name}: the worst det F differs from stats.jsonl by {off}")
    return complaints


def check_example(run, found, said):
    """paraview_pictures.py makes a picture a frame and prints the largest strain."""
    pictures = sorted(run.folder.glob("picture.*.png"))
    strain = max(high for part in found["parts"] for _, high in part["ranges"]["strain"])
    if len(pictures) != run.frames or f"{run.frames} pictures; strain up to {strain:.3g}\n" not in said:
        return [f"paraview_pictures.py: {len(pictures)} pictures, strain is up to {strain:.3g}, but it says\n{said}"]
    return []


def check_scene(folder, scene, volume, *settings):
    run = record(folder / "run", scene, "output.player=false", "output.npy=true", "output.vtu.every=1",
                 f"output.vtu.volume={str(volume).lower()}", *settings)
    run.touches = scene == DROP
    names = bodies_in_order(run)
    files = {"frames": ("frames.pvd", names)} | {name: (f"{name}.vtu.series", [name]) for name in names}
    last = run.frames - 1
    view = front_view(np.concatenate([body.nodes for body in run.bodies.values()], axis=1))
    request = {"view": view, "open": [{"name": name, "path": str(run.folder / path), "pictures": [last // 2, last]}
                                      for name, (path, _) in files.items()]}
    pvpython = support.tool("pvpython", "python3-paraview")
    with display() as variables:
        opened = answer(folder, request, pvpython, LOOK, **variables)
        said = support.must(pvpython, EXAMPLES / "paraview_pictures.py", run.folder, env=home(folder) | variables)
    complaints = check_example(run, opened["frames"], said)
    for name, (_, inside) in files.items():
        complaints += check_opened(folder, name, run, opened[name], inside, volume)
        for frame in (last // 2, last):
            surfaces = [(places[frame], boundary(cells) if volume else cells) for places, cells, _, _ in
                        (wanted_mesh(run.bodies[body], volume) for body in inside)]
            shown = np.load(folder / f"{name}.{frame}.npy")
            complaints += check_picture(f"{name}, frame {frame}", shown, view, surfaces)
    return complaints


def main():
    support.tool("pvpython", "python3-paraview")
    support.tool("Xvfb", "xvfb")
    complaints = []
    for scene, volume, settings in ((SCENE, True, []), (SCENE, False, []), (DROP, False, DROP_SETTINGS)):
        with tempfile.TemporaryDirectory() as name:
            complaints += check_scene(pathlib.Path(name), scene, volume, *settings)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
