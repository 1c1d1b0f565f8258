# Labels: slow
"""Every example scene checks and runs, whole, without an inverted element or a stalled frame, and the energy of those that
nothing drives does not rise.
"""

import json
import tempfile

from support import PROGRAM, SOURCE, finish, must

# Released or free bodies: nothing adds energy after the start.
UNDRIVEN = {"twist", "tumble"}

complaints = []
scenes = sorted((SOURCE / "examples").glob("*.yaml"))
if len(scenes) < 5:
    complaints.append(f"only {len(scenes)} example scenes")
with tempfile.TemporaryDirectory() as root:
    for scene in scenes:
        must(PROGRAM, "check", scene)
        must(PROGRAM, "run", scene, "-o", f"{root}/{scene.stem}", "-q")
        with open(f"{root}/{scene.stem}/stats.jsonl", encoding="ascii") as file:
            frames = [json.loads(line) for line in file]
        with open(f"{root}/{scene.stem}/summary.json", encoding="utf-8") as file:
            summary = json.load(file)
        count = {word: sum(frame["status"] == word for frame in frames) for word in ("converged", "budget", "stalled")}
        print(f"{scene.stem}: {summary['elements']} tets, {count}, worst det F {min(f['min_det_F'] for f in frames):.3f}, "
              f"{summary['ms_per_frame']['median']:.1f} ms a frame")
        if summary["frames"] != len(frames) or summary["status"] != count:
            complaints.append(f"{scene.name}: summary.json and stats.jsonl differ")
        if count["stalled"] or count["budget"] > len(frames) // 10:
            complaints.append(f"{scene.name}: {count}")
        if any(f["objective_last"] > f["objective_first"] + 1e-9 * abs(f["objective_first"]) for f in frames):
            complaints.append(f"{scene.name}: the objective rises in a step")
        if any(frame["inverted"] for frame in frames):
            complaints.append(f"{scene.name}: inverted elements")
        if scene.stem in UNDRIVEN:
            total = [frame["energy"]["kinetic"] + frame["energy"]["elastic"] for frame in frames]
            if any(after > before * (1 + 1e-9) for before, after in zip(total, total[1:])):
                complaints.append(f"{scene.name}: the energy rises")
finish(complaints)
