"""40 random scenes of 200 to 2,000 tets, half of them with contact, run through the program: no failure, and no number
that is not finite, whatever shapes, materials, frictions, speeds and steps come together. Inverted tets are reported.

SINEW_SEED=N runs other scenes; a complaint names the seed, and the scene that it makes stays where the complaint says.
"""

import array
import json
import math
import os
import pathlib
import random
import time

from support import BINARY, PROGRAM, finish, run

SCENES = 40
SEED = int(os.environ.get("SINEW_SEED", "1"))
WORK = BINARY / "random_scenes"
TETS = (200, 2000)


def power(rng, low, high):
    """A number between two powers of ten."""
    return 10 ** rng.uniform(low, high)


def direction(rng):
    """A unit vector, evenly spread."""
    z, angle = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
    return [math.sqrt(1 - z * z) * math.cos(angle), math.sqrt(1 - z * z) * math.sin(angle), z]


def scaled(vector, factor):
    return [factor * component for component in vector]


def make_body(rng, size, alone):
    """A body about `size` m long, around the origin or beginning there; two together have at most 2,000 tets."""
    shape = rng.choice(["beam", "block", "sphere"])
    if shape == "beam":
        cells = rng.choice([2, 3, 4] if alone else [2, 3])
        return {"make": {"shape": "beam", "size": [size, 0.2 * size, 0.2 * size], "cells": cells}}
    sides = [size * rng.uniform(0.6, 1) for _ in range(3)]
    lattice = rng.choice(["bcc", "kuhn"])
    cells = 4 if lattice == "bcc" else rng.choice([5, 6] if alone else [5])
    return {"make": {"shape": shape, "size": sides, "cells": 6}, "embed": {"lattice": lattice, "cells": cells}}


def make_material(rng):
    model = rng.choice(["corotated", "corotated", "arap", "corotated_linear", "biphasic"])
    poisson = 0 if model in ("arap", "biphasic") else rng.choice([0, 0.2, 0.3, 0.4, 0.45])
    material = {"model": model, "young": power(rng, 3, 7), "poisson": poisson, "density": power(rng, 2, 3.5)}
    if model == "biphasic":
        material |= {"stretch_min": rng.uniform(0.3, 0.99), "stretch_max": rng.uniform(1.01, 3), "stiffening": power(rng, 0, 1)}
    return material


def make_start(rng, size, frame, aim):
    """Velocities up to ten sizes a frame if there is something to hit; stretched and twisted starts."""
    speed = size / frame * (power(rng, -1.5, 1) if aim else power(rng, -2, -0.5))
    length = math.hypot(*aim) if aim else 1
    start = {"velocity": scaled(aim or direction(rng), speed / length),
             "spin": scaled(direction(rng), math.degrees(power(rng, -2, 0) / frame))}
    if rng.random() < 0.4:
        start["stretch"] = [rng.choice([0.5, 0.8, 1, 1.3, 1.8]) for _ in range(3)]
        start["twist"] = {"axis": direction(rng), "rate": rng.uniform(0, 120) / size}
    return start


def make_motion(rng, size, frame, frames):
    """Two keys, up to some sizes apart."""
    move = scaled(direction(rng), size * rng.uniform(0, 2))
    turn = scaled(direction(rng), rng.uniform(0, 180))
    return {"interpolation": rng.choice(["linear", "smooth"]),
            "keys": [{"time": 0}, {"time": frame * frames * rng.uniform(0.2, 1), "move": move, "rotate": turn}]}


def make_shape(rng, size, place):
    """A rigid thing about a place; a plane there faces the origin."""
    kind = rng.choice(["plane", "plane", "sphere", "capsule", "box", "surface"])
    if kind == "plane":
        return {"plane": {"point": place, "normal": scaled(place, -1 / size)}}
    if kind == "sphere":
        return {"sphere": {"center": place, "radius": size * rng.uniform(0.05, 0.6)}}
    if kind == "capsule":
        end = [p + size * d for p, d in zip(place, direction(rng))]
        return {"capsule": {"from": place, "to": end, "radius": size * rng.uniform(0.02, 0.3)}}
    if kind == "box":
        return {"box": {"center": place, "half_size": [size * power(rng, -2, 0) for _ in range(3)]}}
    made = {"shape": rng.choice(["block", "sphere"]), "size": [size * rng.uniform(0.2, 0.8) for _ in range(3)], "cells": 6}
    return {"surface": made, "translate": place, "rotate": scaled(direction(rng), rng.uniform(0, 90))}


def add_contact(rng, scene, size, frame, places):
    """A thing at each place, some of them moving, each to be touched by all bodies."""
    frames = scene["time"]["frames"]
    scene["rigid"], scene["contact"] = {}, []
    for i, place in enumerate(places):
        thing = make_shape(rng, size, place)
        if rng.random() < 0.4:
            thing["motion"] = make_motion(rng, size, frame, frames)
        scene["rigid"][f"thing{i}"] = thing
        for body in scene["bodies"]:
            touch = {"between": [body, f"thing{i}"], "friction": rng.choice([0, 0.1, 0.5, 1, 2])}
            if rng.random() < 0.3:
                touch["stiffness"] = scene["materials"]["m"]["young"] / size * power(rng, 0, 3)
            scene["contact"].append(rng.choice([touch, dict(touch, between=touch["between"][::-1])]))
    bodies = list(scene["bodies"])
    if len(bodies) == 2 and rng.random() < 0.7:
        scene["contact"].append({"between": bodies, "friction": rng.choice([0, 0.5])})
    if rng.random() < 0.5:
        scene["contact"].append({"between": [bodies[0], bodies[0]], "friction": rng.choice([0, 0.5])})


def add_ties(rng, scene, size):
    """Pins at one end, loads, springs; quasistatics needs the pins."""
    still = rng.random() < 0.3
    if still:
        scene["time"]["integrator"] = "quasistatic"
    for body in scene["bodies"]:
        point = [0.05 * size, 0, 0] if scene["bodies"][body]["make"]["shape"] == "beam" else [-0.1 * size, 0, 0]
        if still or rng.random() < 0.5:
            scene.setdefault("pins", []).append({"body": body, "select": {"plane": {"point": point, "normal": [1, 0, 0]}}})
        if rng.random() < 0.5:
            force = scene["materials"]["m"]["young"] * size ** 2 * power(rng, -4, -1.5)
            scene.setdefault("loads", []).append({"body": body, "select": "all", "force": scaled(direction(rng), force)})


def make_scene(seed, contact):
    rng = random.Random(seed)
    size, frame = power(rng, -2, 1), power(rng, -2.5, -1)
    scene = {"sinew": 1,
             "time": {"fps": 1 / frame, "frames": 20, "substeps": rng.choice([1, 1, 2, 3])},
             "gravity": scaled(direction(rng), rng.choice([0, 9.81])),
             "materials": {"m": make_material(rng)},
             "output": {"player": False}}
    count = rng.choice([1, 1, 2])
    scene["bodies"] = {f"body{i}": make_body(rng, size, count == 1) for i in range(count)}
    # Around the bodies, now and then inside of them.
    places = [scaled(direction(rng), size * rng.uniform(0.3, 1.5)) for _ in range(rng.choice([1, 1, 2, 3]))] if contact else []
    methods = ["lbfgs"] if scene["materials"]["m"]["model"] == "corotated_linear" else ["lbfgs", "lbfgs", "projective"]
    scene["solver"] = {"method": rng.choice(methods), "iterations": rng.choice([1, 3, 10, 30]), "tolerance": power(rng, -5, -2)}
    for body in scene["bodies"].values():
        body["material"] = "m"
        body["rotate"] = scaled(direction(rng), rng.uniform(0, 180)) if contact else [0, 0, 0]
        body["initial"] = make_start(rng, size, frame, rng.choice(places) if contact else None)
    if contact:
        add_contact(rng, scene, size, frame, places)
    else:
        add_ties(rng, scene, size)
    return scene


def numbers(value):
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    elif value is None:
        yield math.nan


def positions(path):
    """Doubles of an NPY file."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + int.from_bytes(data[8:10], "little")
    values = array.array("d")
    values.frombytes(data[begin:])
    return values


def check(scene, folder):
    """Complaints about a run, and what to print of it."""
    with open(folder / "stats.jsonl", encoding="ascii") as file:
        frames = [json.loads(line) for line in file]
    with open(folder / "summary.json", encoding="utf-8") as file:
        summary = json.load(file)
    complaints = []
    if len(frames) != scene["time"]["frames"]:
        complaints.append(f"{len(frames)} frames instead of {scene['time']['frames']}")
    if not TETS[0] <= summary["elements"] <= TETS[1]:
        complaints.append(f"{summary['elements']} tets; the test is about {TETS[0]} to {TETS[1]}")
    for frame in frames:
        if not all(math.isfinite(number) for number in numbers(frame)):
            complaints.append(f"frame {frame['frame']}: a number is not finite: {frame}")
    for body in scene["bodies"]:
        if not all(map(math.isfinite, positions(folder / f"{body}.nodes.npy"))):
            complaints.append(f"{body}: a position is not finite")
    last = frames[-1]
    touched = max(frame["active_contacts"] for frame in frames)
    return complaints, touched, (f"{summary['elements']} tets, {summary['status']}, contacts up to {touched}, "
                                 f"deepest {max(f['max_penetration'] for f in frames):.3g} m, inverted at the end {last['inverted']}")


complaints = []
touching = 0
start = time.monotonic()
for index in range(SCENES):
    seed, contact = SEED * 1000 + index, index % 2 == 1
    place = WORK / f"{seed}"
    place.mkdir(parents=True, exist_ok=True)
    scene = make_scene(seed, contact)
    (place / "scene.yaml").write_text(json.dumps(scene, indent=1), encoding="ascii")
    code, output = run(PROGRAM, "run", place / "scene.yaml", "-o", place / "out", "--overwrite", "-q", timeout=120)
    if code != 0:
        complaints.append(f"seed {seed}: exit {code}: {output.strip()} ({pathlib.Path(place, 'scene.yaml')})")
        continue
    found, touched, words = check(scene, place / "out")
    touching += touched > 0
    complaints += [f"seed {seed}: {complaint} ({place / 'scene.yaml'})" for complaint in found]
    print(f"seed {seed}{', contact' if contact else ''}: {words}")
print(f"{SCENES} scenes in {time.monotonic() - start:.1f} s, {touching} with contact forces")
# A generator whose things never meet would test nothing.
if touching < SCENES // 4:
    complaints.append(f"only {touching} scenes had a contact force")
finish(complaints)
