# Labels: slow
"""The stiffness of linear tets, end to end: a scene file through `sinew run` gives the known ratios to Timoshenko's
deflection for 1, 2, 4 and 6 Kuhn cells across, within 1 % (docs: linear tets are too stiff when thin).
"""

import tempfile

from support import PROGRAM, SOURCE, finish, must, skip

try:
    import numpy
except ImportError:
    skip("numpy is missing (Debian package python3-numpy)")

YOUNG, LENGTH, FORCE = 1e6, 8, 0.01
# Measured for Poisson's ratio 0.3 with an independent small-strain program.
EXPECTED = {("corotated", 0.3): {1: 0.222, 2: 0.504, 4: 0.786, 6: 0.885},
            ("corotated", 0.45): {2: 0.300},
            ("corotated_linear", 0.3): {2: 0.504}}


def timoshenko(poisson):
    """End deflection of a bar of unit square section under a shear load at its end."""
    shear = YOUNG / (2 * (1 + poisson))
    factor = 10 * (1 + poisson) / (12 + 11 * poisson)
    return FORCE * (LENGTH ** 3 / (3 * YOUNG / 12) + LENGTH / (factor * shear))


def deflection(folder, model, poisson, cells):
    """Mean drop of the end face, from the run's results."""
    must(PROGRAM, "run", SOURCE / "tests/scenes/cantilever.yaml", "-o", folder, "-q",
         "--set", f"bodies.bar.make.cells={cells}", "--set", f"materials.steel.model={model}",
         "--set", f"materials.steel.poisson={poisson}")
    frames = numpy.load(f"{folder}/bar.nodes.npy")
    end = frames[0][:, 0] > LENGTH - 1e-9
    return float((frames[0] - frames[-1])[end, 2].mean())


complaints = []
with tempfile.TemporaryDirectory() as root:
    for (model, poisson), table in EXPECTED.items():
        for cells, expected in table.items():
            ratio = deflection(f"{root}/{model}-{poisson}-{cells}", model, poisson, cells) / timoshenko(poisson)
            print(f"{model}, poisson {poisson}, {cells} cells: {ratio:.4f}, expected {expected}")
            if abs(ratio - expected) > 0.01 * expected:
                complaints.append(f"{model} with {cells} cells across: {ratio:.4f} of Timoshenko, expected {expected}")
finish(complaints)
