# Labels: long
"""100 kills at random moments of runs in mid-contact: each goes on to the bits of the run that did not stop."""

import pathlib
import sys
import tempfile

import resume_runs
import support


def main():
    with tempfile.TemporaryDirectory() as name:
        support.finish(resume_runs.run_kills(pathlib.Path(name), 34, 3))


if __name__ == "__main__":
    sys.exit(main())
