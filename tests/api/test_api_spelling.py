"""American spelling in identifiers, keys, comments and documents: one spelling, so that a search finds everything."""

import pathlib
import re

import support

# Verbs whose British form ends in -ise, as stems, and other words as pairs.
STEMS = """anonym capital categor character criminal custom diagonal discret emphas equal factor final general
    harmon ideal immun initial internal item legal linear local magnet maxim memor mesh minim mobil modern normal
    optim organ orthogonal orthonormal parallel parametr parametr penal polar prior quant random raster recogn regular
    serial special stabil standard summar symmetr synchron token triangular util vector visual voxel""".split()
PAIRS = {
    "behaviour": "behavior", "catalogue": "catalog", "centimetre": "centimeter", "centre": "center",
    "centred": "centered", "centring": "centering", "colour": "color", "defence": "defense", "favour": "favor", "fibre": "fiber",
    "grey": "gray", "honour": "honor", "labour": "labor", "licence": "license", "litre": "liter",
    "metres": "meters", "millimetre": "millimeter", "kilometre": "kilometer", "neighbour": "neighbor",
    "programme": "program", "sceptic": "skeptic", "rumour": "rumor", "vapour": "vapor", "analyse": "analyze",
    "analysing": "analyzing", "catalyse": "catalyze", "cancelled": "canceled", "cancelling": "canceling",
    "labelled": "labeled", "labelling": "labeling", "modelled": "modeled", "modelling": "modeling",
    "signalled": "signaled", "travelled": "traveled", "travelling": "traveling", "tunnelling": "tunneling",
}
VERBS = re.compile(r"(?i)(" + "|".join(STEMS) + r")is(e|es|ed|er|ers|ing|able|ations?)(?![a-z])")
REALISE = re.compile(r"(?i)(?<![a-z])realis(e|es|ed|ing|ations?)(?![a-z])")
METRE = re.compile(r"(?i)(?<![a-z])metre(?![a-z])")
WORDS = re.compile("(?i)" + "|".join(sorted(PAIRS, key=len, reverse=True)) + r"|programmes")

complaints = []


def american(word):
    """The American form of a word that one of the patterns found."""
    lower = word.lower()
    if lower in PAIRS:
        return PAIRS[lower]
    return re.sub(r"is(?=(e|es|ed|er|ers|ing|able|ations?)$)", "iz", lower).replace("metre", "meter")


def check(path):
    for number, line in support.lines(path):
        for pattern in (VERBS, REALISE, METRE, WORDS):
            for match in pattern.finditer(line):
                word = match.group(0)
                # "programmed" and "programmer" are American too.
                if word.lower() == "programme" and line[match.end():match.end() + 1].isalpha():
                    continue
                complaints.append(f"{path}:{number}: {word}: write {american(word)}")


me = pathlib.Path(__file__).resolve()
texts = support.files(".c", ".h", ".py", ".cmake", ".txt", ".in", ".md", ".yaml", ".json", ".js", ".html", ".css")
# What fuzzers found is no text of ours.
texts = [text for text in texts if "corpus" not in text.parts]
top = [pathlib.Path(name) for name in ("CMakeLists.txt", "README.md", "CHANGELOG.md", ".ci/run")]
scripts = [path.relative_to(support.SOURCE) for path in sorted((support.SOURCE / "script").iterdir())]
for text in texts + top + scripts:
    if support.SOURCE / text != me:
        check(text)
support.finish(complaints)
