"""What the libraries show to others, and what they ask of the C library.

The shared library exports exactly the functions that public headers mark SN_API. External symbols of the static
library all start with sn_. There is no mutable global but the listed ones, and no call that prints, ends the
program, reads the environment or changes its signals.
"""

import re

import support

SHARED = support.BINARY / "libsinew.so"
STATIC = support.BINARY / "libsinew.a"
# Made by the compiler for functions compiled for several instruction sets.
CLONE = re.compile(r"\.(resolver|ifunc|default|arch_\w+|avx\w+|haswell|\d+)(\.\d+)?$")
FORBIDDEN = """abort exit _exit _Exit quick_exit atexit getenv secure_getenv setenv putenv rand srand random signal
    sigaction longjmp siglongjmp system printf vprintf puts putchar perror stdout stderr stdin __printf_chk
    __vprintf_chk setlocale""".split()
# Mutable static storage, by object file and name, with its reason.
MUTABLE = {}
# Lock of a named critical section of OpenMP: external and mutable by its nature.
LOCK = ".gomp_critical_user_"

complaints = []


def names(*options):
    """The lines of nm, split into words."""
    return [line.split() for line in support.must("nm", *options).splitlines() if line.strip()]


def declared():
    """Functions marked SN_API in the public headers."""
    found = {}
    for header in support.files(".h", folders=["include"]):
        text = (support.SOURCE / header).read_text(encoding="utf-8")
        text = re.sub(r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*(\\\n[^\n]*)*", "", text, flags=re.DOTALL | re.MULTILINE)
        for match in re.finditer(r"\bSN_API\b([^;{]*?)\b(\w+)\s*\(", text):
            found[match.group(2)] = header
    return found


def check_exports():
    exported = {words[-1] for words in names("-D", "--defined-only", "--extern-only", SHARED)}
    public = declared()
    for name in sorted(exported - public.keys()):
        complaints.append(f"libsinew.so exports {name}, which no public header marks SN_API: "
                          "it must be hidden or declared")
    for name in sorted(public.keys() - exported):
        complaints.append(f"{public[name]}: {name} is declared SN_API but not in libsinew.so: define it, and include "
                          "the public header where it is defined")
    for name in sorted(public):
        if not name.startswith("sn_"):
            complaints.append(f"{public[name]}: {name} does not start with sn_")


def check_static():
    for words in names("--defined-only", "--extern-only", STATIC):
        if len(words) < 3:
            continue
        name = CLONE.sub("", words[-1]).removeprefix(LOCK)
        if not name.startswith("sn_"):
            complaints.append(f"libsinew.a: external symbol {words[-1]} does not start with sn_: "
                              "make it static or rename it")


def module_of(line):
    match = re.search(r"\b(\w+?)(_\w+)?\.c\.o", line)
    return match.group(1) if match else ""


def check_globals():
    module = ""
    for line in support.must("nm", "--format=sysv", "--defined-only", STATIC).splitlines():
        module = module_of(line) if ".c.o" in line else module
        fields = [field.strip() for field in line.split("|")]
        if len(fields) < 7 or not re.match(r"\.(data|bss|tdata|tbss)(\.(?!rel\.ro)|$)|\*COM\*", fields[6]):
            continue
        name = re.sub(r"\.\d+$", "", fields[0])
        known = name.startswith(LOCK) or (module, name) in MUTABLE
        if fields[3] in ("OBJECT", "TLS") and not known:
            complaints.append(f"{module}: {name} is a mutable global; put it into the context, make it const, or "
                              "list it with a reason in this test")


def check_calls():
    module = ""
    for line in support.must("nm", "--undefined-only", STATIC).splitlines():
        module = line.split(":")[0] if line.endswith(":") else module
        words = line.split()
        if len(words) == 2 and words[1] in FORBIDDEN:
            complaints.append(f"{module}: calls {words[1]}: a library prints nothing, ends nothing and reads no "
                              "environment; use sn_fail or sn_log")


check_exports()
check_static()
check_globals()
check_calls()
support.finish(complaints)
