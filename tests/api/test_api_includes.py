"""Every #include stays inside the module table of CMakeLists.txt (its meaning: docs/step.md)."""

import collections
import re

import support

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Headers of the C library; what else a module needs from outside is listed with the modules that may need it. The
# benchmarks may use anything: they measure it.
C_LIBRARY = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split()
OUTSIDE = {
    "omp.h": {"base", "factor"},
    "pthread.h": {"base", "factor", "sparse"},
    "metis.h": {"base", "factor", "sparse"},
    "immintrin.h": {"factor"},
    "cblas.h": {"base", "factor", "solve"},
    "openblas_config.h": {"base"},
    "lapacke.h": {"factor", "solve"},
    "yaml.h": {"base", "scene"},
    "zlib.h": {"io"},
    "png.h": {"io"},
    "dirent.h": {"io", "cli"},
    "fcntl.h": {"io", "cli"},
    "unistd.h": {"base", "io", "cli"},
    "sys/file.h": {"io"},
    "sys/stat.h": {"io", "cli"},
    "sys/types.h": {"io", "cli"},
    "sys/resource.h": {"io", "cli"},
    "sys/ioctl.h": {"cli"},
}
# Public headers, each with the lowest module that may include it; sinew.h is for programs. Contact reads the shapes that
# model.h defines.
PUBLIC = {"base.h": "base", "version.h": "base", "material.h": "material", "mesh.h": "mesh", "factor.h": "factor",
          "step.h": "solve", "model.h": "contact", "state.h": "sim", "io.h": "io", "scene.h": "scene"}
PROGRAMS = {"cli": set(), "viewer": set(), "python": set(), "bench": {"factor", "solve"}}

modules = support.module_table()
headers = {path.name for path in support.files(".h", folders=["include/sinew"])}
complaints = []


def may_include(owner):
    """Modules whose private headers a file of `owner` may include."""
    if owner in PROGRAMS:
        # bench may include what factor and solve are made of, too.
        direct = PROGRAMS[owner]
        return direct.union(*(modules[name] for name in direct), {owner})
    return set(modules[owner]) | {owner}


def check_public_use(place, owner, name):
    if name not in headers:
        complaints.append(f"{place}: include/sinew/{name} does not exist")
    elif owner not in PROGRAMS and PUBLIC.get(name) not in may_include(owner):
        complaints.append(f"{place}: {owner} stands below {PUBLIC.get(name, 'the programs')}, which sinew/{name} "
                          "belongs to")


def check_private(place, owner, name):
    folder = name.split("/")[0]
    if owner in PROGRAMS and (support.SOURCE / owner / name).is_file():
        return
    allowed = may_include(owner)
    if folder == "sinew" and "/" in name:
        check_public_use(place, owner, name.split("/", 1)[1])
    elif folder not in modules and folder not in PROGRAMS:
        complaints.append(f'{place}: write "module/file.h", "sinew/file.h" or <file.h> instead of "{name}"')
    elif folder not in allowed:
        complaints.append(f"{place}: {owner} must not include {folder} (it may: {' '.join(sorted(allowed))}); "
                          "move the code down, pass a callback, or change the table in CMakeLists.txt with a reason")


def check_outside(place, owner, name):
    if name.endswith(".h") and name[:-2] in C_LIBRARY:
        return
    if name.startswith("sinew/"):
        complaints.append(f'{place}: write "{name}" with quotes')
    elif owner != "bench" and owner not in OUTSIDE.get(name, ()):
        where = ", ".join(sorted(OUTSIDE.get(name, {"no module"})))
        complaints.append(f"{place}: <{name}> belongs in {where}, not in {owner}")


def check_file(path, owner):
    for number, line in support.lines(path):
        match = INCLUDE.match(line)
        if match:
            check = check_private if match.group(1) == '"' else check_outside
            check(f"{path}:{number}", owner, match.group(2))


def check_public(path):
    """Public headers include the C library and one another only."""
    for number, line in support.lines(path):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, name = match.groups()
        public = kind == '"' and name.startswith("sinew/") and name[6:] in headers
        plain = kind == "<" and name[:-2] in C_LIBRARY
        if not public and not plain:
            complaints.append(f"{path}:{number}: a public header may include public headers and the C library, "
                              f"not {name}")


def check_table():
    """Lowest first: a module may include only what stands above it; each folder of src is a module."""
    seen = set()
    for name, below in modules.items():
        for other in below:
            if other not in seen:
                complaints.append(f"CMakeLists.txt: sinew_module({name}): {other} does not stand above it")
        seen.add(name)
    for folder in sorted((support.SOURCE / "src").iterdir()):
        if folder.is_dir() and folder.name not in modules:
            complaints.append(f"src/{folder.name}: no module of that name in CMakeLists.txt")


    unknown = headers - PUBLIC.keys() - {"sinew.h"}
    complaints.extend(f"include/sinew/{name}: give it a module in PUBLIC of this test" for name in sorted(unknown))


def check_names(paths):
    """Base names carry the module and are unique."""
    places = collections.defaultdict(list)
    for path in paths:
        places[path.name].append(path)
        module = path.parts[1]
        if not re.match(rf"{module}(_\w+)?\.[ch]$", path.name):
            complaints.append(f"{path}: name it {module}_{path.name}")
    complaints.extend(f"the same file name twice: {' '.join(map(str, same))}" for same in places.values()
                      if len(same) > 1)


private = support.files(".c", ".h", folders=["src"])
check_table()
check_names(private)
for source in private:
    if source.parts[1] in modules:
        check_file(source, source.parts[1])
for program in PROGRAMS:
    for source in support.files(".c", ".h", folders=[program]):
        check_file(source, program)
for header in support.files(".h", folders=["include"]):
    check_public(header)
support.finish(complaints)
