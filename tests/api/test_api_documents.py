"""What README.md and docs/ show of a file is what the file says, and their links lead somewhere.

A code block that follows a line such as <!-- examples/first.c --> must equal that file.
"""

import pathlib
import re

import support

SHOWN = re.compile(r"^<!-- (\S+) -->\n+```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")

complaints = []


def check(document):
    text = (support.SOURCE / document).read_text(encoding="utf-8")
    for name, block in SHOWN.findall(text):
        source = support.SOURCE / name
        if not source.is_file():
            complaints.append(f"{document}: shows {name}, which does not exist")
        elif source.read_text(encoding="utf-8") != block:
            complaints.append(f"{document}: the block after <!-- {name} --> differs from the file; paste it anew")
    for link in LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)):
        if ":" not in link and not (support.SOURCE / document.parent / link).exists():
            complaints.append(f"{document}: {link} leads nowhere")


for page in [pathlib.Path("README.md"), pathlib.Path("CHANGELOG.md"), *support.files(".md", folders=["docs"])]:
    check(page)
support.finish(complaints)
