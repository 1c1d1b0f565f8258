"""Each public header compiles alone, twice in one file, in C17 and C++17, with gcc and clang."""

import concurrent.futures

import support

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror", "-fsyntax-only"]
COMPILERS = [
    [support.tool("gcc", "gcc"), "-std=c17", "-Wstrict-prototypes", "-xc"],
    [support.tool("g++", "g++"), "-std=c++17", "-xc++"],
    [support.tool("clang", "clang"), "-std=c17", "-Wstrict-prototypes", "-xc"],
    [support.tool("clang++", "clang"), "-std=c++17", "-xc++"],
]


def compile_alone(job):
    compiler, header = job
    name = header.relative_to("include")
    # -include reads the header before the (empty) file and once more, so that its guard is tried too.
    code, output = support.run(*compiler, *WARNINGS, "-I", support.SOURCE / "include", "-include", name, "-include",
                               name, "/dev/null")
    return f"{header} with {compiler[0]}:\n{output}" if code != 0 else ""


jobs = [(compiler, header) for header in support.files(".h", folders=["include"]) for compiler in COMPILERS]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    support.finish([complaint for complaint in pool.map(compile_alone, jobs) if complaint])
