"""Khronos' glTF validator finds neither errors nor warnings in GLB files of one and two bodies, of an arm, of one frame."""

# Labels: heavy
import json
import pathlib
import sys
import tempfile

import support

from apps_run import EXAMPLES, record
from export_run import export, record_arm, record_two

SCRIPT = """
const fs = require("fs"), validator = require(process.argv[1]);
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])), {maxIssues: 20})
  .then(report => console.log(JSON.stringify(report)));
"""


def check(name, path, bodies, targets):
    package = support.npm_package("gltf-validator")
    report = json.loads(support.must(support.tool("node", "nodejs"), "-e", SCRIPT, package, path))
    issues, info = report["issues"], report["info"]
    print(f"{name}: {issues['numErrors']} errors, {issues['numWarnings']} warnings, {info['totalTriangleCount']} "
          f"triangles, {info['animationCount']} animations, {path.stat().st_size} bytes")
    complaints = [f"{name}: {issue}" for issue in issues["messages"] if issue["severity"] <= 1]
    if info["hasMorphTargets"] != targets or info["animationCount"] != int(targets) or info["drawCallCount"] < bodies:
        complaints.append(f"{name}: {info}")
    return complaints


def main():
    support.npm_package("gltf-validator")
    complaints = []
    with tempfile.TemporaryDirectory() as name:
        run = record_two(pathlib.Path(name))
        complaints += check("two bodies", export(run, "glb") / "frames.glb", 2, True)
        complaints += check("two bodies, y up", export(run, "glb", "--up", "y") / "frames.glb", 2, True)
        complaints += check("thinned out", export(run, "glb", "--glb-targets", "3") / "frames.glb", 2, True)
        complaints += check("one frame", export(run, "glb", "--frames", "5") / "frames.glb", 2, False)
        complaints += check("one body", export(run, "glb", "--body", "cube") / "cube.glb", 1, True)
    with tempfile.TemporaryDirectory() as name:
        complaints += check("arm", export(record_arm(pathlib.Path(name)), "glb") / "frames.glb", 1, True)
    with tempfile.TemporaryDirectory() as name:
        run = record(pathlib.Path(name) / "run", EXAMPLES / "beam.yaml", "output.player=false", "time.frames=6")
        complaints += check("beam", export(run, "glb") / "frames.glb", 1, True)
    support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
