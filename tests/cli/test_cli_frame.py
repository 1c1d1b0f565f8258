"""The frame of the program: version with licenses, help of every command, nearest names, and the way to sinew-bench."""

from support import BINARY, PROGRAM, finish, run

complaints = []


def expect(arguments, code, *texts):
    """Runs the program and compares exit code and output."""
    got, output = run(PROGRAM, *arguments)
    if got != code:
        complaints.append(f"sinew {' '.join(arguments)}: exit {got}, expected {code}: {output[:300]}")
    for text in texts:
        if text not in output:
            complaints.append(f"sinew {' '.join(arguments)}: no '{text}' in: {output[:300]}")


expect(["--version"], 0, "sinew 0.", "METIS", "Apache-2.0", "OpenBLAS", "BSD", "libyaml", "MIT", "zlib")
expect(["--help"], 0, "run", "check", "mesh", "bench", "exit status")
for command in ["run", "check", "mesh", "bench", "help"]:
    expect(["help", command], 0, f"usage: sinew {command}")
expect(["help", "scene"], 0, "materials", "young")
expect(["help", "materials"], 0, "corotated", "arap")
expect(["rum", "x.yaml"], 2, "run")
expect(["run"], 2)
expect(["run", "x.yaml", "--frame", "3"], 2, "--frames")
expect(["check", "no-such-file.yaml"], 2, "no-such-file.yaml")
if (BINARY / "bin" / "sinew-bench").exists():
    expect(["bench", "--list"], 0, "factor", "step")
    expect(["bench", "nonsense"], 2, "nonsense")
else:
    expect(["bench", "--list"], 2, "script/bench")
finish(complaints)
