"""Runs that are killed and go on, for the tests of --resume: a scene in mid-contact, kills, and what must be equal."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import time

import support

# Two soft bodies on their way over a ball of steel, a moving plate and the floor, with every kind of result.
SCENE = """
sinew: 1
time: {fps: 60, frames: 40, substeps: 2, integrator: implicit_euler}
gravity: [0, 0, -9.81]
materials:
  gum: {model: corotated, young: 3e4, poisson: 0.35, density: 1000}
bodies:
  ball:
    make: {shape: sphere, size: [0.2, 0.2, 0.2], cells: 8}
    embed: {cells: 4}
    material: gum
    translate: [0.03, 0, 0.42]
  bar: {make: {shape: beam, size: [0.3, 0.1, 0.1], cells: 2}, material: gum, rotate: [0, 20, 0],
        translate: [-0.5, -0.05, 0.12]}
rigid:
  steel: {sphere: {center: [0, 0, 0.15], radius: 0.15}}
  floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}
  plate:
    box: {center: [0.25, 0, 0.1], half_size: [0.02, 0.2, 0.1]}
    motion: {keys: [{time: 0}, {time: 0.6, move: [-0.15, 0, 0]}]}
contact:
  - {between: [ball, steel], friction: 0.3}
  - {between: [ball, floor], friction: 0.3}
  - {between: [ball, plate], friction: 0.5}
  - {between: [bar, floor], friction: 0.5}
solver: {iterations: 20, tolerance: 1e-3}
output:
  player: true
  pc2: true
  mdd: true
  glb: true
  usda: true
  npz: true
  contacts: true
  obj: {every: 5}
  vtu: {every: 4}
  preview: {every: 8, width: 64, height: 40, color: strain}
  probes: {tip: {body: bar, point: [-0.3, 0, 0.1]}, under: {rigid: floor}}
"""
FRAMES = 40
THREADS = (1, 2, 4)


def default_signals():
    """A test driver in the background may have switched the interrupt off, which children would inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(folder, results, *options, **more):
    """Starts a run of folder/scene.yaml into a folder."""
    command = [str(word) for word in (support.PROGRAM, "run", folder / "scene.yaml", "-o", results, *options)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, preexec_fn=default_signals, **more)


def finish(process):
    """Exit code and output of a run."""
    output = process.communicate()[0]
    return process.returncode, output


def frames_done(results):
    """Whole lines of stats.jsonl; 0 if there is none."""
    try:
        return (results / "stats.jsonl").read_bytes().count(b"\n")
    except OSError:
        return 0


def wait_for_frames(process, results, frames):
    """Waits until so many frames are there, or the run has ended."""
    while process.poll() is None and frames_done(results) < frames:
        time.sleep(0.001)


def kill_at_random(process, results, dice):
    """Kills a run: while it sets up, or some time behind a frame, or while it writes the page at the end."""
    begin = frames_done(results)
    target = dice.randint(begin, FRAMES)
    if dice.random() < 0.1:
        time.sleep(dice.random() * 0.1)
    else:
        wait_for_frames(process, results, target)
        time.sleep(dice.random() * (0.05 if target == FRAMES else 0.02))
    process.send_signal(signal.SIGKILL)
    process.communicate()


# ---- What must be equal

def stats_of(path):
    """Lines without times. A new process has to factor once more, in its first frame."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["ms"], line["factorizations"]
    return lines


def summary_of(path):
    summary = json.loads(path.read_text())
    return {key: summary[key] for key in ("version", "nodes", "elements", "kept_nodes", "frames", "status", "state_hash")}


def page_of(path):
    """The page, with the milliseconds that it shows taken out."""
    text = path.read_text()
    head, scene, tail = re.fullmatch(r'(.*<script type="application/json" id="sinew-scene">)(.*?)(</script>.*)', text,
                                     re.DOTALL).groups()
    scene = json.loads(scene)
    del scene["msPerFrame"]
    scene["frames"] = [frame[:4] for frame in scene["frames"]]
    return head, scene, tail


def records_of(path):
    """checkpoint.frames without the times spent."""
    return [(when, status, iterations) for when, _, status, iterations in struct.iter_unpack("<ddii", path.read_bytes())]


# Of checkpoint.bin the state is compared through its hash in the summary: the rest depends on times spent.
READERS = {"stats.jsonl": stats_of, "summary.json": summary_of, "player.html": page_of, "checkpoint.frames": records_of,
           "checkpoint.bin": lambda path: path.stat().st_size}


def differences(wanted, found):
    """Files of two folders that do not hold the same."""
    names = [{path.name for path in folder.iterdir()} for folder in (wanted, found)]
    if names[0] != names[1]:
        return [f"{found}: files are missing or too many: {sorted(names[0] ^ names[1])}"]
    return [f"{found / name} differs from the run that did not stop" for name in sorted(names[0])
            if READERS.get(name, pathlib.Path.read_bytes)(wanted / name) !=
            READERS.get(name, pathlib.Path.read_bytes)(found / name)]


# ---- Kills

def make_reference(folder):
    """The run that does not stop."""
    (folder / "scene.yaml").write_text(SCENE)
    results = folder / "whole"
    code, output = finish(start(folder, results, "-q", "--threads", "2"))
    if code != 0:
        support.finish([f"the run ends with {code}: {output}"])
    contacts = [line["active_contacts"] for line in map(json.loads, (results / "stats.jsonl").read_text().splitlines())]
    print(f"contacts a frame: {min(contacts)} to {max(contacts)}")
    if min(contacts[FRAMES // 2:]) == 0:
        support.finish(["the scene is not in contact, which this test is about"])
    return results


def kill_and_resume(folder, reference, kills, dice, threads):
    """Kills a run some times, goes on each time, and compares in the end."""
    results = folder / "killed"
    shutil.rmtree(results, ignore_errors=True)
    moments = []
    for kill in range(kills + 1):
        has_checkpoint = (results / "checkpoint.bin").exists()
        process = start(folder, results, "-q", "--threads", threads, "--resume" if has_checkpoint else "--overwrite")
        if kill < kills:
            kill_at_random(process, results, dice)
            moments.append(frames_done(results))
    code, output = finish(process)
    print(f"{threads} threads, killed at frames {moments}")
    if code != 0:
        return [f"killed at {moments} and resumed, the run ends with {code}: {output}"]
    return [f"{line} (killed at {moments}, {threads} threads)" for line in differences(reference, results)]


def run_kills(folder, rounds, kills_a_round):
    """Rounds with a printed seed, that SINEW_SEED repeats. Thread counts take turns."""
    seed = int(os.environ.get("SINEW_SEED", random.SystemRandom().randrange(1 << 31)))
    print(f"SINEW_SEED={seed}")
    dice = random.Random(seed)
    reference = make_reference(folder)
    complaints = []
    for number in range(rounds):
        complaints += kill_and_resume(folder, reference, kills_a_round, dice, THREADS[number % len(THREADS)])
    return complaints
