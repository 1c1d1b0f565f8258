# Labels: slow
"""Every example scene checks and runs, whole, without an inverted element, a stalled frame or a dropped contact, and does
what its first line says.
"""

import array
import ast
import json
import math
import pathlib
import tempfile

from support import PROGRAM, SOURCE, finish, must

# Released or free bodies: nothing adds energy after the start.
UNDRIVEN = {"twist", "tumble"}


def places(folder, body):
    """Mean place of a body's nodes, frame by frame."""
    data = (folder / f"{body}.nodes.npy").read_bytes()
    begin = 10 + int.from_bytes(data[8:10], "little")
    frames, nodes, _ = ast.literal_eval(data[10:begin].decode("ascii"))["shape"]
    x = array.array("d", data[begin:])
    return [[sum(x[3 * nodes * frame + axis:3 * nodes * (frame + 1):3]) / nodes for axis in range(3)] for frame in range(frames)]


def moves(folder, body):
    """Where the last frame has the body, seen from the first."""
    course = places(folder, body)
    return [last - first for first, last in zip(course[0], course[-1])]


def check_drop(folder):
    ball, block = places(folder, "ball")[-1], places(folder, "block")[-1]
    if not 0.075 < ball[2] < 0.1 or math.hypot(ball[0], ball[1]) < 0.25:
        yield f"the ball of radius 0.1 ends at {ball}, not on the floor beside the steel one"
    if not 0.055 < block[2] < 0.065:
        yield f"the block ends at {block}, not flat on the floor, half its height above it"


def check_incline(folder):
    sticks, slides = (math.hypot(*moves(folder, body)) for body in ("sticks", "slides"))
    # Implicit Euler with steps of h goes a t (t + h) / 2 in a time t.
    way = (math.sin(math.radians(20)) - 0.2 * math.cos(math.radians(20))) * 9.81 * 0.75 * (0.75 + 1 / 120) / 2
    if sticks > 1e-3 * 0.16:
        yield f"the block that should stick moves by {sticks} m"
    if abs(slides / way - 1) > 0.02:
        yield f"the block that should slide {way} m slides {slides} m"


def check_press(folder):
    pad = moves(folder, "pad")
    if math.hypot(*pad) > 1e-4:
        yield f"the pad does not come back: {pad}"


def check_plates(folder):
    ball = moves(folder, "ball")
    if not 0.13 < ball[1] < 0.18 or not -0.02 < ball[2] < 0.005:
        yield f"the ball is not carried 0.15 m aside and put down, but moved by {ball}"
    if max(place[2] for place in places(folder, "ball")) < 0.16:
        yield "the ball is not lifted by 0.12 m"


def check_tissue(folder):
    # Stress over young is 0.5: beyond stretch_max = 1.26, the tissue's slope is 5 times that of the plain strip.
    for body, stretch in (("strip", 1.5), ("tissue", 1.26 + (0.5 - 0.26) / 5)):
        longer = moves(folder, body)[0] / 0.1
        if abs(longer / (stretch - 1) - 1) > 1e-3:
            yield f"{body} ends {longer} longer, not {stretch - 1}"


COURSES = {"drop": check_drop, "incline": check_incline, "press": check_press, "plates": check_plates, "tissue": check_tissue}


def check_frames(scene, frames, summary):
    """Complaints about what every run should be like."""
    count = {word: sum(frame["status"] == word for frame in frames) for word in ("converged", "budget", "stalled")}
    print(f"{scene.stem}: {summary['elements']} tets, {count}, worst det F {min(f['min_det_F'] for f in frames):.3f}, "
          f"{summary['ms_per_frame']['median']:.1f} ms a frame")
    touching = any(frame["active_contacts"] for frame in frames)
    if summary["frames"] != len(frames) or summary["status"] != count:
        yield "summary.json and stats.jsonl differ"
    if count["stalled"] or count["budget"] > len(frames) // 10:
        yield f"{count}"
    # Contacts that come and go within a step change the objective.
    if not touching and any(f["objective_last"] > f["objective_first"] + 1e-9 * abs(f["objective_first"]) for f in frames):
        yield "the objective rises in a step"
    if any(frame["inverted"] for frame in frames):
        yield "inverted elements"
    if any(frame["dropped_contacts"] for frame in frames):
        yield "dropped contacts"
    if touching != ("\ncontact:" in scene.read_text(encoding="utf-8")):
        yield "something touches" if touching else "nothing touches"
    if scene.stem in UNDRIVEN:
        total = [frame["energy"]["kinetic"] + frame["energy"]["elastic"] for frame in frames]
        if any(after > before * (1 + 1e-9) for before, after in zip(total, total[1:])):
            yield "the energy rises"


complaints = []
scenes = sorted((SOURCE / "examples").glob("*.yaml"))
if len(scenes) < 9:
    complaints.append(f"only {len(scenes)} example scenes")
with tempfile.TemporaryDirectory() as root:
    for scene in scenes:
        folder = pathlib.Path(root, scene.stem)
        report = must(PROGRAM, "check", scene)
        must(PROGRAM, "run", scene, "-o", folder, "-q")
        frames = [json.loads(line) for line in (folder / "stats.jsonl").read_text(encoding="ascii").splitlines()]
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        found = list(check_frames(scene, frames, summary))
        if "sticks and slope: friction 0.5, stiffness" not in report and scene.stem == "incline":
            found.append(f"`sinew check` says nothing of the contact:\n{report}")
        if scene.stem in COURSES:
            found += COURSES[scene.stem](folder)
        complaints += [f"{scene.name}: {words}" for words in found]
finish(complaints)
