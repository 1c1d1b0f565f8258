"""Runs that stop - killed, interrupted, by a failing step, on a full disk - and go on to the same bits."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import resume_runs
import support

# A body that leaves the numbers behind in the third of its frames, in a later substep.
LOST = """
sinew: 1
time: {fps: 30, frames: 6, substeps: 4}
materials: {m: {young: 1e5}}
bodies: {b: {make: {shape: beam, cells: 1}, material: m, initial: {velocity: [1.7e15, 0, 0]}}}
output: {player: false}
"""


def check_interrupt(folder, reference, signal_number, word):
    """The frame is finished, the results so far are whole, and the command that is printed goes on."""
    results = folder / f"stopped by {word}"
    process = resume_runs.start(folder, results, "--overwrite", "--threads", 2)
    resume_runs.wait_for_frames(process, results, 7)
    process.send_signal(signal_number)
    code, output = resume_runs.finish(process)
    frames = resume_runs.frames_done(results)
    command = re.search(r"interrupted after frame (\d+) of 40; go on with: (sinew run .*)", output)
    if code != 130 or not command or int(command[1]) != frames:
        return [f"{word}: exit {code}, {frames} frames, output {output}"]
    complaints = []
    if resume_runs.summary_of(results / "summary.json")["frames"] != frames or \
            len(resume_runs.page_of(results / "player.html")[1]["frames"]) != frames + 1:
        complaints.append(f"{word}: the results of the {frames} frames are not whole")
    path = f"{support.PROGRAM.parent}:{os.environ['PATH']}"
    code, output = support.run("sh", "-c", command[2], env=os.environ | {"PATH": path})
    if code != 0:
        return complaints + [f"{word}: {command[2]} ends with {code}: {output}"]
    return complaints + resume_runs.differences(reference, results)


def check_second_interrupt(folder):
    """A frame that takes for ever: the first interrupt waits for its end, the second one does not. Meanwhile the folder
    is taken."""
    results = folder / "for ever"
    process = resume_runs.start(folder, results, "--set", "time.substeps=10000", "--set", "time.fps=0.01",
                                "--set", "solver.tolerance=0", "--set", "solver.iterations=1000")
    while process.poll() is None and not (results / "checkpoint.bin").exists():
        pass
    process.send_signal(signal.SIGINT)
    complaints = expect(folder, results, 4, ("another run is writing into",))
    try:
        process.wait(0.5)
        return [f"an interrupt in a long frame ends with {process.returncode} at once: {process.communicate()[0]}"]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
    code, output = resume_runs.finish(process)
    return complaints if code == -signal.SIGTERM else [f"the second interrupt ends with {code}: {output}"]


def expect(folder, results, code, words, *options):
    got, output = resume_runs.finish(resume_runs.start(folder, results, "--resume", *options))
    if got == code and all(word in output for word in words):
        return []
    return [f"--resume {options} ends with {got}, expected {code} and {words}: {output}"]


def check_refusals(folder, reference):
    """Exit 2 with the cause and the remedy; nothing is touched."""
    results = folder / "refused"
    shutil.copytree(reference, results)
    before = {path.name: path.read_bytes() for path in results.iterdir()}
    complaints = []
    for words, options in ((("another model", "--overwrite"), ("--set", "materials.gum.young=4e4")),
                           (("another model",), ("--set", "contact.0.friction=0.31")),
                           (("another time step", "2", "3"), ("--set", "time.substeps=3")),
                           (("another solver",), ("--set", "solver.iterations=21")),
                           (("another solver, integrator or precision",), ("--precision", "accurate")),
                           (("--precision", "fast|accurate"), ("--precision", "double")),
                           (("other outputs",), ("--set", "output.pc2=false")),
                           (("--resume and --overwrite",), ("--overwrite",))):
        complaints += expect(folder, results, 2, words, *options)
    if before != {path.name: path.read_bytes() for path in results.iterdir()}:
        complaints.append("a refused run changed files")
    complaints += expect(folder, results, 0, ("is complete", "all 40 frames"))
    complaints += expect(folder, results, 0, ("is complete", "all 40 frames"), "--frames", "12")
    if before != {path.name: path.read_bytes() for path in results.iterdir()}:
        complaints.append("a run with nothing left to do changed files")
    (results / "stats.jsonl").unlink()
    complaints += expect(folder, results, 2, ("stats.jsonl is missing",))
    (results / "checkpoint.bin").write_bytes(before["checkpoint.bin"][:-1])
    complaints += expect(folder, results, 2, ("checkpoint.bin is damaged", "--overwrite"))
    (results / "checkpoint.bin").unlink()
    complaints += expect(folder, results, 2, ("holds no checkpoint", "without --resume"))
    # Scripts that are started again and again begin with --resume, too.
    (folder / "empty").mkdir()
    for begun in (folder / "nowhere", folder / "empty"):
        complaints += expect(folder, begun, 0, ("2 frames in",), "--frames", "2")
    return complaints


def check_growth(folder, reference):
    """A run that was planned shorter, with checkpoints at its end only."""
    results = folder / "grown"
    complaints = []
    for frames in ("11", "40"):
        option = ("--resume",) if results.exists() else ()
        code, output = resume_runs.finish(resume_runs.start(folder, results, "--frames", frames, *option,
                                                            "--set", "output.checkpoint.every=0"))
        if code != 0:
            complaints.append(f"a run of {frames} frames ends with {code}: {output}")
    return complaints + resume_runs.differences(reference, results)


def check_failed_step(folder):
    """The state in the results is that of the last whole frame, not of the substep before the failure."""
    lost = folder / "lost"
    lost.mkdir()
    (lost / "scene.yaml").write_text(LOST)
    code, output = resume_runs.finish(resume_runs.start(lost, lost / "out"))
    found = re.search(r"frame (\d+): .* away from the origin", output)
    if code != 2 or not found:
        return [f"a run whose step fails ends with {code}: {output}"]
    frames = int(found[1]) - 1
    support.must(support.PROGRAM, "run", lost / "scene.yaml", "-o", lost / "short", "-q", "--frames", frames)
    summaries = [json.loads((lost / name / "summary.json").read_text()) for name in ("out", "short")]
    complaints = [] if summaries[0]["state_hash"] == summaries[1]["state_hash"] and frames > 0 else \
        [f"after a step that failed the state is not that of the last whole frame: {summaries}"]
    return complaints + expect(lost, lost / "out", 2, (f"frame {frames + 1}: ", "away from the origin"))


def check_full_disk(folder, reference):
    """A limit on file sizes stands for a full disk. With room again, the run goes on."""
    complaints = []
    for limit in (9000, 60000, 500000):
        def limit_files(bytes_left=limit):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, resource.RLIM_INFINITY))
        results = folder / f"room for {limit}"
        code, output = support.run(support.PROGRAM, "run", folder / "scene.yaml", "-o", results, "-q",
                                   preexec_fn=limit_files)
        kept = (results / "checkpoint.bin").exists()
        if code != 4 or "File too large" not in output or f"{results}/" not in output or \
                ("go on with: sinew run --resume" in output) != kept:
            complaints.append(f"a disk with room for {limit} bytes ends with {code}: {output}")
        if kept:
            complaints += expect(folder, results, 0, ())
            complaints += resume_runs.differences(reference, results)
    if not kept:
        complaints.append("no limit left room for a checkpoint")
    return complaints


def check_unwritable(folder):
    """Folders that cannot be made or written: exit 4, and the path."""
    complaints = []
    (folder / "file").write_text("")
    places = [(folder / "file" / "out", "Not a directory", {})]
    locked = folder / "locked"
    locked.mkdir(mode=0o555)
    if os.geteuid() != 0:
        places.append((locked, "Permission denied", {}))
    for place, reason, more in places:
        code, output = support.run(support.PROGRAM, "run", folder / "scene.yaml", "-o", place, **more)
        if code != 4 or reason not in output or str(place) not in output:
            complaints.append(f"-o {place} ends with {code}: {output}")
    return complaints


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        complaints = resume_runs.run_kills(folder, 3, 2)
        reference = folder / "whole"
        complaints += check_interrupt(folder, reference, signal.SIGINT, "Ctrl-C")
        complaints += check_interrupt(folder, reference, signal.SIGTERM, "SIGTERM")
        complaints += check_second_interrupt(folder)
        complaints += check_refusals(folder, reference)
        complaints += check_growth(folder, reference)
        complaints += check_failed_step(folder)
        complaints += check_full_disk(folder, reference)
        complaints += check_unwritable(folder)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
