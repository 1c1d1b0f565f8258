"""Every C file is formatted as .clang-format says."""

import support

formatter = support.tool("clang-format", "clang-format")
version = support.must(formatter, "--version")
if " 14." not in version:
    support.skip(f"the format is that of clang-format 14, here is {version.strip()}")

complaints = []
sources = support.files(".c", ".h")
code, output = support.run(formatter, "--dry-run", *sources, cwd=support.SOURCE)
wrong = sorted({line.split(":")[0] for line in output.splitlines() if "[-Wclang-format-violations]" in line})
if wrong:
    complaints.append("not formatted; run: clang-format -i " + " ".join(wrong))
elif code != 0:
    complaints.append(output)
support.finish(complaints)
