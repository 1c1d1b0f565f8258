"""Run by Blender: opens what sinew export wrote, and writes what is there. Arguments after --: request.json.

request {frames, fps, glb, bodies: [{name, obj, caches: {format: path}}]}; answer.json {version}; NAME.FORMAT.npz with
points [frames, vertices, 3] as they are in the scene, corners [triangles, 3] and, of glb, uv [triangles, 3, 2], material
[triangles] and materials.
"""

import json
import pathlib
import sys

import bpy
import numpy as np


# The glTF importer of Debian's Blender 3.4 asks for a name that Debian's numpy no longer has.
if "bool" not in np.__dict__:
    np.bool = bool


def points_of(thing):
    """Places in the scene, after shape keys and modifiers."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", places)
    # In double where something is turned; by ones and zeros nothing is rounded.
    turn = np.array(evaluated.matrix_world)
    return places.reshape(-1, 3) @ turn[:3, :3].T + turn[:3, 3]


def frames_of(thing, frames):
    found = []
    for frame in range(frames):
        bpy.context.scene.frame_set(frame)
        found.append(points_of(thing))
    return np.array(found)


def corners_of(thing):
    return np.array([list(polygon.vertices) for polygon in thing.data.polygons], np.int32)


def look_of(thing):
    mesh = thing.data
    names = [material.name for material in mesh.materials]
    found = {"material": np.array([polygon.material_index for polygon in mesh.polygons]), "materials": np.array(names)}
    if mesh.uv_layers:
        uv = np.empty(2 * len(mesh.loops), np.float32)
        mesh.uv_layers[0].data.foreach_get("uv", uv)
        found["uv"] = uv.reshape(-1, 3, 2)
    return found


def open_cache(body, kind, path, frames, folder):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=body["obj"], forward_axis="Y", up_axis="Z")
    thing, = bpy.context.selected_objects
    cache = thing.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = kind.upper()
    cache.filepath = path
    np.savez(folder / f"{body['name']}.{kind}.npz", points=frames_of(thing, frames), corners=corners_of(thing))


def open_glb(request, folder):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # The times of keys are multiplied by this.
    bpy.context.scene.render.fps = request["fps"]
    bpy.ops.import_scene.gltf(filepath=request["glb"])
    for body in request["bodies"]:
        thing = bpy.data.objects[body["name"]]
        np.savez(folder / f"{body['name']}.glb.npz", points=frames_of(thing, request["frames"]),
                 corners=corners_of(thing), **look_of(thing))


def main():
    request_path = pathlib.Path(sys.argv[-1])
    request, folder = json.loads(request_path.read_text()), request_path.parent
    for body in request["bodies"]:
        for kind, path in body["caches"].items():
            open_cache(body, kind, path, request["frames"], folder)
    open_glb(request, folder)
    (folder / "answer.json").write_text(json.dumps({"version": bpy.app.version_string}))


main()
