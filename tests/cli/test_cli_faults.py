"""Bad circumstances: closed streams, a full disk behind the output, a run that a step ends, an empty folder name."""

import json
import pathlib
import shutil
import subprocess
import tempfile

import support

SCENE = """sinew: 1
time: {fps: 30, frames: 4}
materials: {m: {young: 1e5}}
bodies: {b: {make: {shape: beam, cells: 1}, material: m, initial: {velocity: [%s, 0, 0]}}}
output: {player: false}
"""
complaints = []


def shell(command, folder):
    """Exit code and stderr of a shell command in the folder; $SINEW is the program."""
    done = subprocess.run(["sh", "-c", command], cwd=folder, env={"SINEW": str(support.PROGRAM)}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr


def expect(command, folder, code, *words):
    got, text = shell(command, folder)
    if got != code or any(word not in text for word in words):
        complaints.append(f"{command}: exit {got}, expected {code} and {words} in: {text[:300]}")


def check_statistics(folder, frames):
    """Every line of stats.jsonl is a record, and the summary counts them."""
    try:
        records = [json.loads(line) for line in (folder / "out" / "stats.jsonl").read_text().splitlines()]
        summary = json.loads((folder / "out" / "summary.json").read_text())
    except (OSError, ValueError) as error:
        complaints.append(f"the results are no good: {error}")
        return
    if len(records) != frames or summary["frames"] != frames:
        complaints.append(f"{len(records)} records, {summary['frames']} frames in the summary, expected {frames}")


folder = pathlib.Path(tempfile.mkdtemp(prefix="sinew-faults-"))
try:
    (folder / "good.yaml").write_text(SCENE % "0")
    # At frame 3 the body is so far away that doubles no longer hold its shape.
    (folder / "lost.yaml").write_text(SCENE % "1.5e15")
    run = "$SINEW run %s -o out --overwrite"
    for streams, code in (("2>&-", 0), (">&-", 4), ("<&- >&- 2>&-", 4)):
        expect(f"{run % 'good.yaml'} {streams}", folder, code)
        check_statistics(folder, 4)
    expect("$SINEW help scene >/dev/full", folder, 4, "could not be written: is the disk full")
    expect("$SINEW run good.yaml -o ''", folder, 2, "--output", "name of a folder")
    expect(run % "lost.yaml", folder, 2, "frame 3: ", "away from the origin")
    check_statistics(folder, 2)
finally:
    shutil.rmtree(folder)
support.finish(complaints)
