"""Opens a run in Blender, every body with its motion:  blender -P examples/blender_open.py -- DIR

DIR is what `sinew run` filled, with output.pc2; output.npy is on unless a scene turns it off.
"""

import json
import pathlib
import sys

import bpy
import numpy as np

folder = pathlib.Path(sys.argv[sys.argv.index("--") + 1]).resolve()
caches = sorted(folder.glob("*.pc2"))
if not caches:
    sys.exit(f"{folder} holds no .pc2 file; run the scene with --set output.pc2=true")
scene = bpy.context.scene
for cache in caches:
    name = cache.name.removesuffix(".pc2")
    positions = np.load(folder / f"{name}.surface.npy", mmap_mode="r")
    triangles = np.load(folder / f"{name}.triangles.npy")
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions[0].tolist(), [], triangles.tolist())
    body = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(body)
    # Blender's axes are those of Sinew, z up, so that nothing is turned.
    motion = body.modifiers.new("Sinew", "MESH_CACHE")
    motion.cache_format = "PC2"
    motion.filepath = str(cache)
    scene.frame_start, scene.frame_end = 0, len(positions) - 1

# Frames a second: a whole number, divided by a base that makes up for the rest.
with open(folder / "stats.jsonl", encoding="utf-8") as stats:
    seconds = json.loads(stats.readline())["time"]
scene.render.fps = max(1, round(1 / seconds))
scene.render.fps_base = scene.render.fps * seconds
scene.frame_set(0)
