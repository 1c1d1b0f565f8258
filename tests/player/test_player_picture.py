"""What player.html shows is what the NPY and VTU files hold: covered pixels, colors, bounds, controls."""

# Labels: slow
import base64
import json
import pathlib
import shutil
import sys
import tempfile

import support

try:
    import meshio
    import numpy as np
except ImportError as error:
    support.skip(f"{error} (Debian packages python3-numpy, python3-meshio)")

from player_browser import ask
from player_raster import Raster

WIDTH, HEIGHT = 640, 480
SCENE = support.SOURCE / "tests" / "scenes" / "player.yaml"

# Viridis from its fifth on, as the manual promises.
STOPS = np.array([[0x41, 0x44, 0x87], [0x35, 0x5f, 0x8d], [0x2a, 0x78, 0x8e], [0x21, 0x91, 0x8c], [0x22, 0xa8, 0x84],
                  [0x44, 0xbf, 0x70], [0x7a, 0xd1, 0x51], [0xbd, 0xdf, 0x26], [0xfd, 0xe7, 0x25]])

# Pictures of three frames in each color, without light or anything but the bodies.
PICTURES = """
  const bytes = (array) => { let text = ""; for (const byte of array) text += String.fromCharCode(byte);
    return btoa(text); };
  sinew.setSize(%d, %d);
  sinew.setUnlit(true);
  for (const name of ["ground", "bones", "wire", "skin"]) sinew.setOption(name, false);
  const pictures = [], last = sinew.frameCount - 1;
  for (const color of ["strain", "displacement"]) {
    sinew.setColor(color);
    for (const frame of [0, Math.floor(last / 2), last]) {
      sinew.setFrame(frame);
      const picture = sinew.pixels();
      sinew.setOption("bones", true);
      const withShapes = sinew.pixels();
      sinew.setOption("bones", false);
      pictures.push({color, frame, pixels: bytes(picture.data), shapes: bytes(withShapes.data), view: sinew.camera.matrixWorldInverse.elements,
        projection: sinew.camera.projectionMatrix.elements, first: sinew.position(0, 0), pixel: sinew.project(0, 0)});
    }
  }
  return {pictures, origin: sinew.origin, fields: sinew.scene.fields, frames: sinew.scene.frames,
    ramp: [0, 0.3, 0.77, 1].map(sinew.colormap)};
""" % (WIDTH, HEIGHT)

CONTROLS = """
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const press = (key) => window.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  const seen = {start: [sinew.playing, sinew.frame]};
  seen.shown = [];
  // Waiting takes the browser's virtual time, which runs ahead of what a loaded machine draws: wait for the second
  // frame, long if need be.
  for (let i = 0; i < 20000 && seen.shown.length < 2; i++) {
    await wait(50);
    if (seen.shown.at(-1) !== sinew.frame)
      seen.shown.push(sinew.frame);
  }
  press(" ");
  seen.paused = sinew.playing;
  press("Home");
  seen.home = sinew.frame;
  press("ArrowRight");
  seen.right = sinew.frame;
  press("ArrowLeft");
  press("ArrowLeft");
  seen.left = sinew.frame;
  press("End");
  seen.end = sinew.frame;
  const scrub = document.getElementById("scrub");
  scrub.value = 3;
  scrub.dispatchEvent(new Event("input"));
  seen.scrubbed = sinew.frame;
  seen.clock = document.getElementById("clock").textContent;
  press("c");
  seen.legend = document.getElementById("legend").hidden ? "" : document.getElementById("legend").textContent;
  const before = sinew.camera.position.toArray();
  const view = document.getElementById("view");
  view.dispatchEvent(new WheelEvent("wheel", {deltaY: 120, clientX: 300, clientY: 200, cancelable: true}));
  sinew.render();
  seen.zoomed = sinew.camera.position.toArray().some((x, i) => x !== before[i]);
  seen.requests = performance.getEntriesByType("resource").map((entry) => entry.name);
  return seen;
"""


def ramp(value):
    place = np.clip(value, 0, 1) * (len(STOPS) - 1)
    return np.array([np.interp(place, np.arange(len(STOPS)), STOPS[:, channel]) for channel in range(3)])


def make_run(folder):
    shutil.copy(SCENE, folder / "scene.yaml")
    support.must(support.PROGRAM, "mesh", "make", "sphere", folder / "ball.obj", "--size", "0.2,0.2,0.2")
    support.must(support.PROGRAM, "run", folder / "scene.yaml", "-o", folder / "run", "-q")
    return {"folder": folder / "run", "body": "bar", "positions": np.load(folder / "run" / "bar.surface.npy"),
            "triangles": np.load(folder / "run" / "bar.triangles.npy")}


def matrix(picture, origin):
    """Takes positions of the NPY file to clip space."""
    view = np.array(picture["view"]).reshape(4, 4).T
    projection = np.array(picture["projection"]).reshape(4, 4).T
    shift = np.eye(4)
    shift[:3, 3] = -np.array(origin)
    return projection @ view @ shift


def field_values(run, picture):
    """A field at the surface's vertices, from the VTU file of the frame."""
    mesh = meshio.read(run["folder"] / f"{run['body']}.{picture['frame']:06d}.vtu")
    values = mesh.point_data[picture["color"]]
    return values if values.ndim == 1 else np.linalg.norm(values, axis=1)


def check_cover(picture, raster, pixels):
    shown = pixels[:, :, 3] > 127
    expected = raster.covered()
    overlap = (shown & expected).sum() / (shown | expected).sum()
    part = expected.mean()
    print(f"frame {picture['frame']}, {picture['color']}: covers {part:.3f} of the picture, IoU {overlap:.4f}")
    complaints = []
    if overlap < 0.98:
        complaints.append(f"frame {picture['frame']}: covered pixels agree to {overlap:.4f} only (at least 0.98)")
    if part < 0.02:
        complaints.append(f"frame {picture['frame']}: the body covers {part:.4f} of the picture only")
    if expected[[0, -1]].any() or expected[:, [0, -1]].any():
        complaints.append(f"frame {picture['frame']}: the first view does not hold the whole body")
    return complaints


def inner_vertices(raster, count):
    """Vertices that the picture shows, away from the outline, spread over the surface's numbering."""
    found = []
    for vertex, (x, y, depth) in enumerate(raster.pixel):
        column, row = int(np.floor(x)), int(np.floor(y))
        if not (2 <= column < raster.width - 2 and 2 <= row < raster.height - 2):
            continue
        around = raster.triangle[row - 2:row + 3, column - 2:column + 3]
        if (around >= 0).all() and vertex in raster.triangles[around].ravel() and \
                depth < raster.depth[row, column] + 1e-3:
            found.append((vertex, column, row))
    return [found[i] for i in np.linspace(0, len(found) - 1, count).astype(int)]


def check_colors(run, report, picture, raster, pixels):
    values = field_values(run, picture)
    scale = next(field for field in report["fields"] if field["name"] == picture["color"])["range"]
    complaints, seen = [], []
    for vertex, column, row in inner_vertices(raster, 5):
        value = raster.value(values, column, row)
        expected, shown = ramp(value / scale), pixels[row, column, :3].astype(float)
        seen.append(value)
        if np.abs(expected - shown).max() > 5:
            complaints.append(f"frame {picture['frame']}, vertex {vertex}: {picture['color']} is {value:.6g} of "
                              f"{scale:.6g}, color {shown} instead of {expected.round(1)}")
    print(f"frame {picture['frame']}, {picture['color']}: at 5 vertices {min(seen):.4g} to {max(seen):.4g} of {scale}")
    if picture["frame"] > 0 and max(seen) < 0.1 * scale:
        complaints.append(f"frame {picture['frame']}: the {picture['color']} of all 5 vertices is small")
    return complaints


def check_ball(picture, clip, pixels):
    """The ball is where its keys say: radius 0.1 m, from (0.5, 0, 0.6) by (0.4, 0, 0.2) in 6 frames."""
    with_ball = np.frombuffer(base64.b64decode(picture["shapes"]), np.uint8).reshape(pixels.shape)
    rows, columns = np.nonzero((with_ball != pixels).any(axis=2))
    if not len(rows):
        return [f"frame {picture['frame']}: the ball is not shown"]
    seen = np.array([columns.mean() + 0.5, rows.mean() + 0.5])
    center = np.array([0.5, 0, 0.6]) + picture["frame"] / 6 * np.array([0.4, 0, 0.2])
    place = clip @ np.append(center, 1)
    expected = (place[:2] / place[3] * [1, -1] + 1) / 2 * [WIDTH, HEIGHT]
    radius = 0.1 / place[3] * picture["projection"][5] * HEIGHT / 2
    area = len(rows) / (np.pi * radius ** 2)
    print(f"frame {picture['frame']}: ball at {seen.round(1)}, expected {expected.round(1)}, area ratio {area:.3f}")
    if np.abs(seen - expected).max() > 0.1 * radius or abs(area - 1) > 0.1:
        return [f"frame {picture['frame']}: ball at {seen} instead of {expected}, {area:.3f} of its size"]
    return []


def check_numbers(report, run):
    complaints = []
    for place, shown in zip([0, 0.3, 0.77, 1], report["ramp"]):
        if np.abs(ramp(place) - shown).max() > 1:
            complaints.append(f"color map at {place}: {shown} instead of {ramp(place)}")
    for picture in report["pictures"]:
        true = run["positions"][picture["frame"], 0]
        size = np.ptp(run["positions"][picture["frame"]], axis=0).max()
        if np.abs(true - picture["first"]).max() > 2e-5 * size:
            complaints.append(f"frame {picture['frame']}: vertex 0 at {picture['first']}, in the NPY file at {true}")
    stats = [json.loads(line) for line in (run["folder"] / "stats.jsonl").read_text().splitlines()]
    words = {0: "converged", 1: "budget", 2: "stalled"}
    shown = [(index, time, words[status]) for index, time, status, _, _ in report["frames"][1:]]
    if shown != [(line["frame"], line["time"], line["status"]) for line in stats]:
        complaints.append("frames, times or status of the player differ from stats.jsonl")
    return complaints


def check_controls(page):
    seen = ask(page, CONTROLS)
    last = int(seen["end"])
    wanted = {"paused": False, "home": 0, "right": 1, "left": 0, "scrubbed": 3, "zoomed": True}
    complaints = [f"control {name}: {seen[name]!r} instead of {value!r}" for name, value in wanted.items()
                  if seen[name] != value]
    if seen["start"] != [True, 0] or len(seen["shown"]) < 2:
        complaints.append(f"the player does not start by itself: {seen['start']}, {seen['shown']}")
    if last < 3 or "frame 3" not in seen["clock"] or "strain" not in seen["legend"]:
        complaints.append(f"last frame {last}, clock {seen['clock']!r}, color bar {seen['legend']!r}")
    if seen["requests"]:
        complaints.append(f"the page asks for {seen['requests']}")
    return complaints


def check_text(page):
    text = page.read_text(encoding="utf-8")
    complaints = [f"player.html holds {part}" for part in ("<script src", "<link", "@import", "url(") if part in text]
    if "three.js authors" not in text or "Permission is hereby granted, free of charge" not in text:
        complaints.append("player.html lacks the license of three.js")
    return complaints


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(pathlib.Path(folder))
        page = run["folder"] / "player.html"
        complaints = check_text(page)
        report = ask(page, PICTURES, "frame=0&ui=0")
        complaints += check_numbers(report, run)
        for picture in report["pictures"]:
            pixels = np.frombuffer(base64.b64decode(picture["pixels"]), np.uint8).reshape(HEIGHT, WIDTH, 4)
            clip = matrix(picture, report["origin"])
            raster = Raster(run["positions"][picture["frame"]].astype(float), run["triangles"], clip, WIDTH, HEIGHT)
            if np.abs(raster.pixel[0, :2] - picture["pixel"][:2]).max() > 0.1:
                complaints.append(f"frame {picture['frame']}: project() says {picture['pixel']}")
            complaints += check_cover(picture, raster, pixels)
            complaints += check_colors(run, report, picture, raster, pixels)
            complaints += check_ball(picture, clip, pixels)
        complaints += check_controls(page)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
