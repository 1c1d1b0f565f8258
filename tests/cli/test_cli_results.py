"""What `sinew run` leaves behind: files that numpy, meshio and a JSON reader open, and that agree with one another."""

import json
import pathlib
import re
import resource
import shutil
import signal
import sys
import tempfile

import support

try:
    import meshio
    import numpy as np
except ImportError as error:
    support.skip(f"{error} (Debian packages python3-numpy, python3-meshio)")

SCENE = support.SOURCE / "tests" / "scenes" / "player.yaml"
FRAMES = 6


def start(folder, results, *options, **more):
    return support.run(support.PROGRAM, "run", folder / "scene.yaml", "-o", results, "-q", *options, **more)


def check_npy(results):
    """Shapes and types; the surface of a body without an embedded one is its boundary nodes."""
    complaints = []
    arrays = {name: np.load(results / f"bar.{name}.npy") for name in ("surface", "nodes", "triangles", "tets")}
    wanted = {"surface": ("<f4", FRAMES + 1), "nodes": ("<f8", FRAMES + 1), "triangles": ("<i4", None),
              "tets": ("<i4", None)}
    for name, (kind, frames) in wanted.items():
        array = arrays[name]
        if array.dtype != np.dtype(kind) or (frames and array.shape[0] != frames) or not array.size:
            complaints.append(f"bar.{name}.npy is {array.dtype} {array.shape}")
    nodes, surface = arrays["nodes"], arrays["surface"]
    start_places = {tuple(place) for place in nodes[0].astype(np.float32)}
    if not all(tuple(place) in start_places for place in surface[0]):
        complaints.append("a surface vertex starts at no node's place")
    if arrays["triangles"].max() != surface.shape[1] - 1 or arrays["tets"].max() != nodes.shape[1] - 1:
        complaints.append("cells and vertices differ in number")
    if not (nodes[-1, :, 2].min() < nodes[0, :, 2].min() - 0.01 and np.isfinite(nodes).all()):
        complaints.append("the bar does not sag")
    return complaints


def strains(points, rest, tets):
    """Largest |principal stretch - 1| at the nodes: mean over the tets weighted by volume, computed apart."""
    def edges(x):
        return (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(0, 2, 1)

    F = edges(points) @ np.linalg.inv(edges(rest))
    stretch = np.linalg.svd(F, compute_uv=False)
    stretch[:, 2] *= np.sign(np.linalg.det(F))
    tet_strain, volume = np.abs(stretch - 1).max(axis=1), np.linalg.det(edges(rest)) / 6
    total, weight = np.zeros(len(points)), np.zeros(len(points))
    for corner in range(4):
        np.add.at(total, tets[:, corner], tet_strain * volume)
        np.add.at(weight, tets[:, corner], volume)
    return total / weight


def check_vtu(results, volume):
    complaints = []
    nodes, tets = np.load(results / "bar.nodes.npy"), np.load(results / "bar.tets.npy")
    places, cells, kind = (nodes, tets, "tetra") if volume else \
        (np.load(results / "bar.surface.npy"), np.load(results / "bar.triangles.npy"), "triangle")
    for frame in (0, 3, FRAMES):
        mesh = meshio.read(results / f"bar.{frame:06d}.vtu")
        error = np.abs(mesh.points - places[frame]).max()
        if error > (0 if volume else 1e-7) or not np.array_equal(mesh.cells_dict[kind], cells):
            complaints.append(f"bar.{frame:06d}.vtu: points differ from the NPY file by {error}, or cells do")
        moved = np.abs(mesh.point_data["displacement"] - (places[frame] - places[0])).max()
        if moved > 1e-6 or not np.isfinite(mesh.point_data["velocity"]).all():
            complaints.append(f"bar.{frame:06d}.vtu: displacement is off by {moved}, or velocity is not finite")
        if volume:
            off = np.abs(mesh.point_data["strain"] - strains(nodes[frame], nodes[0], tets)).max()
            if off > 1e-9:
                complaints.append(f"bar.{frame:06d}.vtu: strain is off by {off}")
    return complaints


def check_collection(results):
    entries = re.findall(r'<DataSet timestep="([^"]*)" part="0" file="([^"]*)"/>',
                         (results / "frames.pvd").read_text())
    files = [f"bar.{frame:06d}.vtu" for frame in range(FRAMES + 1)]
    times_fit = all(abs(float(time) - frame / 30) < 1e-9 for frame, (time, _) in enumerate(entries))
    return [] if [name for _, name in entries] == files and times_fit else [f"frames.pvd lists {entries}"]


def check_statistics(results):
    complaints = []
    lines = [json.loads(line) for line in (results / "stats.jsonl").read_text().splitlines()]
    if [line["frame"] for line in lines] != list(range(1, FRAMES + 1)):
        complaints.append("stats.jsonl does not hold each frame once")
    summary = json.loads((results / "summary.json").read_text())
    counts = {word: sum(line["status"] == word for line in lines) for word in ("converged", "budget", "stalled")}
    if summary["status"] != counts or summary["frames"] != FRAMES or \
            summary["frames_planned"] != FRAMES:
        complaints.append(f"summary.json counts {summary['status']}, stats.jsonl {counts}")
    times = [line["ms"]["total"] for line in lines]
    if abs(summary["ms_per_frame"]["median"] - np.median(times)) > 1e-9 * max(times) or \
            abs(summary["ms_per_frame"]["p90"] - np.percentile(times, 90)) > 1e-9 * max(times):
        complaints.append(f"summary.json says {summary['ms_per_frame']} of {times}")
    if summary["precision"] != "fast":
        complaints.append(f"summary.json says precision {summary['precision']}, the default is fast")
    if not re.fullmatch("[0-9a-f]{16}", summary["state_hash"]) or summary["peak_memory_bytes"] < 1e6 or \
            summary["nodes"] != np.load(results / "bar.nodes.npy").shape[1] or summary["setup_ms"]["total"] <= 0:
        complaints.append(f"summary.json: {summary}")
    return complaints


def check_earlier_run(folder, results):
    """A second run is refused and harms nothing; with --overwrite it gives the same state."""
    before = json.loads((results / "summary.json").read_text())["state_hash"]
    kept = {path.name: path.read_bytes() for path in results.iterdir()}
    code, output = start(folder, results)
    complaints = []
    if code != 2 or "already holds a run" not in output:
        complaints.append(f"a second run into the same folder ends with {code}: {output}")
    if kept != {path.name: path.read_bytes() for path in results.iterdir()}:
        complaints.append("a refused run changed files")
    (results / "notes.txt").write_text("mine")
    code, output = start(folder, results, "--overwrite", "--set", "output.vtu.every=0")
    if code != 0 or (results / "bar.000003.vtu").exists() or not (results / "notes.txt").exists():
        complaints.append(f"--overwrite ends with {code}, or leaves old files, or takes foreign ones: {output}")
    if json.loads((results / "summary.json").read_text())["state_hash"] != before:
        complaints.append("the same scene gives another state hash")
    return complaints


def check_full_disk(folder):
    """A limit on file sizes stands for a full disk: exit 4, a path in the message, no summary."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
    results = folder / "full"
    code, output = start(folder, results, preexec_fn=limit)
    if code != 4 or "File too large" not in output or str(results) not in output:
        return [f"a full disk ends with {code}: {output}"]
    return ["a failed run has a summary"] if (results / "summary.json").exists() else []


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(SCENE, folder / "scene.yaml")
        support.must(support.PROGRAM, "mesh", "make", "sphere", folder / "ball.obj", "--size", "0.2,0.2,0.2")
        complaints = []
        for volume in (True, False):
            results = folder / f"volume {volume}" / "run"
            code, output = start(folder, results, "--set", f"output.vtu.volume={str(volume).lower()}")
            if code != 0:
                support.finish([f"sinew run ends with {code}: {output}"])
            complaints += check_npy(results) + check_vtu(results, volume) + check_collection(results)
            complaints += check_statistics(results)
        complaints += check_earlier_run(folder, results) + check_full_disk(folder)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
