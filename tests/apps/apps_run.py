"""What the tests with other programs share: a run of Sinew, a camera, and what a picture through it must show."""

import contextlib
import json
import os
import subprocess
import types

import support

try:
    import numpy as np
except ImportError as error:
    support.skip(f"{error} (Debian package python3-numpy)")

from player.player_raster import Raster

EXAMPLES = support.SOURCE / "examples"
SCENE = support.SOURCE / "tests" / "scenes" / "apps.yaml"
# A ball falls on another of steel and bounces: a second scene, with contact. Settings are those of `sinew run`.
DROP = EXAMPLES / "drop.yaml"
DROP_SETTINGS = ["time.frames=24", "time.substeps=1"]
WIDTH, HEIGHT = 400, 300


def record(folder, scene, *settings):
    """Runs a scene into a new folder. Returns it with the bodies' arrays and the lines of stats.jsonl."""
    words = [word for setting in settings for word in ("--set", setting)]
    support.must(support.PROGRAM, "run", scene, "-o", folder, "-q", *words)
    bodies = {}
    for path in sorted(folder.glob("*.nodes.npy")):
        name = path.name.removesuffix(".nodes.npy")
        bodies[name] = types.SimpleNamespace(
            **{kind: np.load(folder / f"{name}.{kind}.npy") for kind in ("nodes", "surface", "triangles", "tets")})
    stats = [json.loads(line) for line in (folder / "stats.jsonl").read_text().splitlines()]
    return types.SimpleNamespace(folder=folder, bodies=bodies, stats=stats, frames=len(stats) + 1,
                                 times=np.array([0] + [line["time"] for line in stats]))


def home(folder):
    """An environment in which a program reads and writes no settings of the user."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return kept | {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}


@contextlib.contextmanager
def display():
    """The variables of a display that shows nothing. Unlike that of xvfb-run, it is there from the start to the end, as
    it does not begin anew, deaf for a moment, each time that a program closes its last window."""
    ready, announce = os.pipe()
    server = subprocess.Popen([support.tool("Xvfb", "xvfb"), "-noreset", "-displayfd", str(announce), "-screen", "0",
                               "800x600x24"], pass_fds=[announce], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(announce)
    try:
        with open(ready) as number:
            yield {"DISPLAY": ":" + number.readline().strip()}
    finally:
        server.terminate()
        server.wait()


def answer(folder, request, *command, **variables):
    """Has a program do what a request says. Its script reads request.json beside what it writes."""
    place = folder / "request.json"
    place.write_text(json.dumps(request))
    output = support.must(*command, place, env=home(folder) | variables)
    if not (folder / "answer.json").exists():
        support.finish([f"no answer from: {' '.join(str(word) for word in command)}\n{output}"])
    return json.loads((folder / "answer.json").read_text())


def front_view(points):
    """A camera without perspective that looks along +y, x to the right and z up, at all of [..., 3] points."""
    low, high = points.reshape(-1, 3).min(axis=0), points.reshape(-1, 3).max(axis=0)
    half = 0.55 * max(high[2] - low[2], (high[0] - low[0]) * HEIGHT / WIDTH)
    return {"center": ((low + high) / 2).tolist(), "half_height": float(half), "distance": float(10 * np.ptp(points)),
            "width": WIDTH, "height": HEIGHT}


def check_picture(name, shown, view, surfaces):
    """The pixels that a picture covers are those of the surfaces, pairs of positions and triangles."""
    positions = np.vstack([points for points, _ in surfaces]).astype(float)
    start = np.cumsum([0] + [len(points) for points, _ in surfaces])
    triangles = np.vstack([cells + first for (_, cells), first in zip(surfaces, start)])
    clip = np.zeros((4, 4))
    clip[0, 0], clip[1, 2] = view["height"] / view["width"] / view["half_height"], 1 / view["half_height"]
    clip[2, 1], clip[3, 3] = 1 / view["distance"], 1
    clip[:3, 3] = -clip[:3, :3] @ view["center"]
    covered = Raster(positions, triangles, clip, view["width"], view["height"]).covered()
    overlap = (shown & covered).sum() / (shown | covered).sum()
    print(f"{name}: covers {shown.mean():.3f} of the picture, IoU {overlap:.4f}")
    complaints = []
    if overlap < 0.99:
        complaints.append(f"{name}: covered pixels agree to {overlap:.4f} only (at least 0.99)")
    edges = [(np.nonzero(mask.any(axis=axis))[0][[0, -1]] if mask.any() else np.array([-1, -1])) for axis in (0, 1)
             for mask in (shown, covered)]
    if max(np.abs(edges[0] - edges[1]).max(), np.abs(edges[2] - edges[3]).max()) > 1:
        complaints.append(f"{name}: shown in columns {edges[0]}, rows {edges[2]} instead of {edges[1]}, {edges[3]}")
    if covered.mean() < 0.02:
        complaints.append(f"{name}: the bodies cover {covered.mean():.4f} of the picture only")
    return complaints


def boundary(tets):
    """Triangles that belong to one tet only."""
    faces = np.vstack([tets[:, corners] for corners in ([1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1])])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]
