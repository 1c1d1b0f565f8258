"""An outside project finds, builds and runs against the installed package: CMake and pkg-config, shared and static.

The programs are those of examples/, which the README and the pages in docs/ show.
"""

import os
import pathlib
import re
import tempfile

import support

EXAMPLES = support.SOURCE / "examples"
# Program -> its arguments and what its output must hold.
PROGRAMS = {"beam": ([], "(converged"), "first": ([EXAMPLES / "beam.yaml"], "elastic energy"),
            "poisson": ([], "an insulator inside")}
HERE = pathlib.Path(__file__).resolve().parent
compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", (support.BINARY / "CMakeCache.txt").read_text(encoding="utf-8"),
                     re.MULTILINE).group(1)
complaints = []


def expect_files(prefix):
    """What an installation has to hold."""
    wanted = ["bin/sinew", "include/sinew/sinew.h", "share/doc/sinew/LICENSE", "share/doc/sinew/README.md",
              "share/sinew/examples/first.c", "share/sinew/examples/arm.yaml"]
    complaints.extend(f"cmake --install left out {name}" for name in wanted if not (prefix / name).is_file())
    found = {path.name for path in prefix.rglob("*")}
    wanted = {"libsinew.a", "libsinew.so", "sinewConfig.cmake", "sinewConfigVersion.cmake", "sinew.pc"}
    complaints.extend(f"cmake --install left out {name}" for name in sorted(wanted - found))
    if "sinew-bench" in found:
        complaints.append("cmake --install installs sinew-bench, which links GPL code")
    for path in prefix.rglob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        if any(str(folder) in text for folder in (support.SOURCE / "include", support.SOURCE / "src", support.BINARY)):
            complaints.append(f"{path.relative_to(prefix)} names the source or the build tree")


def numbers(pattern, output):
    return [float(number) for number in re.findall(pattern + r" ([-+.e\d]+)", output)]


def wrong_numbers(output):
    """What is wrong with the numbers of examples/poisson.c: errors against the known solution and their order, and how
    well the heated block is in balance before and after a partial update."""
    errors, orders = numbers("error", output), numbers("order", output)
    balance, power = numbers("out of balance by", output), numbers("power", output)
    if len(errors) != 3 or len(orders) != 2 or len(balance) != 6 or len(power) != 6:
        return "lines are missing"
    if errors[-1] > 8e-4 or any(abs(order - 2) > 0.05 for order in orders):
        return "the error at 32^3 cells exceeds 8e-4, or the order is not 2"
    if max(numbers("residual", output)) > 1e-12 or max(balance) > 1e-11:
        return "the equations are not solved"
    if not power[0] < power[1] < power[2] or not power[3] < power[4] < power[5]:
        return "a hotter heater must take more power"
    return None


def expect_run(how, name, program, **options):
    arguments, wanted = PROGRAMS[name]
    code, output = support.run(program, *arguments, **options)
    if code != 0 or wanted not in output:
        complaints.append(f"{how}: {name}: exit {code}, wanted in its output: {wanted}\n{output}")
    elif name == "poisson" and wrong_numbers(output):
        complaints.append(f"{how}: {name}: {wrong_numbers(output)}\n{output}")


def with_cmake(prefix, folder):
    support.must("cmake", "-S", HERE / "consumer", "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
                 f"-DEXAMPLES={EXAMPLES}", f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release")
    support.must("cmake", "--build", folder)
    for name in PROGRAMS:
        for library in ("sinew", "sinew_static"):
            expect_run(f"CMake, sinew::{library}", name, folder / f"{name}_{library}")


def with_pkg_config(prefix, folder):
    library = next(prefix.rglob("libsinew.a")).parent
    environment = dict(os.environ, PKG_CONFIG_PATH=str(library / "pkgconfig"), LD_LIBRARY_PATH=str(library))

    def build(*options):
        flags = support.must("pkg-config", *options, "--cflags", "--libs", "sinew", env=environment).split()
        for name in PROGRAMS:
            support.must(compiler, "-std=c17", EXAMPLES / f"{name}.c", "-o", folder / name, *flags, "-lm")
            expect_run(f"pkg-config {' '.join(options)}", name, folder / name, env=environment)

    build()
    # The linker prefers the shared library wherever it finds both.
    for shared in library.glob("libsinew.so*"):
        shared.unlink()
    build("--static")


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    support.must("cmake", "--install", support.BINARY, "--prefix", place / "prefix")
    expect_files(place / "prefix")
    (place / "moved").mkdir()
    # The package must work wherever it is carried.
    moved = (place / "prefix").rename(place / "moved" / "prefix")
    with_cmake(moved, place / "build")
    with_pkg_config(moved, place)
support.finish(complaints)
