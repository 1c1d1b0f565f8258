"""A USD parser (tinyusdz, which runs in a browser) reads USDA files: meshes, names, time samples of all frames."""

# Labels: heavy
import base64
import pathlib
import re
import sys
import tempfile

import support

from apps_run import np
from export_run import export, looks, record_two
from player.player_browser import ask

PAGE = """<!doctype html><html><body><script>%s</script><script>
const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
const WASM = "%s", USD = "%s";
</script></body></html>"""

# The scene as it is drawn, and the layer as the parser writes it out again.
SCRIPT = """
const usd = await Module({wasmBinary: bytes(WASM)});
const scene = new usd.TinyUSDZLoaderNative(), layer = new usd.TinyUSDZLoaderNative();
const report = {ok: scene.loadFromBinary(bytes(USD), "frames.usda"), said: scene.error(), meshes: []};
for (let i = 0; report.ok && i < scene.numMeshes(); i++) {
  const mesh = scene.getMesh(i);
  report.meshes.push({name: mesh.primName, path: mesh.absPath, points: Array.from(mesh.points),
                      corners: Array.from(mesh.faceVertexIndices), uv: mesh.texcoords ? Array.from(mesh.texcoords) : []});
}
report.layer_ok = layer.loadAsLayerFromBinary(bytes(USD), "frames.usda");
report.layer = report.layer_ok ? layer.layerToString() : layer.error();
return report;
"""

SAMPLE = re.compile(r"^\s*(\d+): \[(\(.*\))\],?$", re.MULTILINE)


def numbers(text):
    return np.array(re.findall(r"[-+0-9.e]+", text), float)


def parse(folder, path):
    package = support.npm_package("tinyusdz")
    program = (package / "tinyusdz.js").read_text().replace("export default Module;", "").replace("import.meta.url", '"file:///"')
    wasm, usd = (base64.b64encode(file.read_bytes()).decode() for file in (package / "tinyusdz.wasm", path))
    page = folder / "page.html"
    page.write_text(PAGE % (program, wasm, usd))
    return ask(page, SCRIPT)


def check_meshes(report, run, out):
    """The start, corner by corner: the parser makes vertices of its own along seams."""
    complaints = []
    meshes = {mesh["name"]: mesh for mesh in report["meshes"]}
    if list(meshes) != list(run.bodies):
        return [f"meshes {list(meshes)}"]
    for name, body in run.bodies.items():
        mesh, look = meshes[name], looks(out)[name]
        points, corners = np.reshape(mesh["points"], (-1, 3)), np.array(mesh["corners"])
        off = np.abs(points[corners] - body.surface[0, body.triangles.ravel()]).max()
        print(f"{name}: {len(points)} vertices, {len(corners) // 3} triangles, off by {off}")
        if off:
            complaints.append(f"{name}: off by {off}")
        if "uv" in look:
            index, uv = look["triangle_uv"].ravel(), np.reshape(mesh["uv"], (-1, 2))
            off = np.abs(uv[corners] - look["uv"][index])[index >= 0].max()
            if off > 1e-6:
                complaints.append(f"{name}: texture coordinates are off by {off}")
    return complaints


def check_samples(where, text, run, slack):
    """points and extent of all frames, body by body."""
    complaints = []
    for name, body in run.bodies.items():
        mesh = text[text.index(f'def Mesh "{name}"'):]
        for attribute in ("points", "extent"):
            part = mesh[mesh.index(f"{attribute}.timeSamples = {{"):]
            samples = {int(frame): numbers(row).reshape(-1, 3) for frame, row in SAMPLE.findall(part[:part.index("}")])}
            bounds = np.stack([body.surface.min(axis=1), body.surface.max(axis=1)], axis=1)
            wanted = body.surface if attribute == "points" else bounds
            if list(samples) != list(range(run.frames)):
                complaints.append(f"{where}: {name}.{attribute} has samples {list(samples)}")
                continue
            off = np.abs(np.array(list(samples.values())).astype(np.float32) - wanted).max()
            print(f"{where}: {name}.{attribute}, {len(samples)} samples, off by {off:.3g}")
            if not off <= slack:
                complaints.append(f"{where}: {name}.{attribute} is off by {off}")
    return complaints


def check_layer(text):
    """What the parser has understood, in its own words."""
    facts = ['upAxis = "Z"', "metersPerUnit = 1", "timeCodesPerSecond = 50", "startTimeCode = 0", "endTimeCode = 12",
             'defaultPrim = "bodies"', 'def Xform "bodies"', 'def GeomSubset "rough_skin"', 'string name = "Größe"',
             'uniform token subsetFamily:materialBind:familyType = "nonOverlapping"',
             'uniform token subdivisionScheme = "none"', 'interpolation = "faceVarying"']
    return [f"the parser has not seen {fact}" for fact in facts if fact not in text]


def main():
    support.npm_package("tinyusdz")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = record_two(folder)
        out = export(run, "usda,npz")
        report = parse(folder, out / "frames.usda")
        if not report["ok"] or not report["layer_ok"]:
            support.finish([f"refused: {report['said']} {report['layer'][:500]}"])
        complaints = check_meshes(report, run, out) + check_layer(report["layer"])
        complaints += check_samples("the file", (out / "frames.usda").read_text(), run, 0)
        # The parser prints fewer digits than it reads.
        complaints += check_samples("the parser", report["layer"], run, 1e-6)
        support.finish(complaints)


if __name__ == "__main__":
    sys.exit(main())
