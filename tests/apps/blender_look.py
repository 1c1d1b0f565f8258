"""Run by Blender: imports surfaces, lets point caches move them, writes what is seen. Arguments after --: request.json.

request {bodies: [{name, obj, pc2}], run, script, frames, pictures: [frame], view}; answer.json {importers: [name],
version, fps, last}; NAME.IMPORTER.npz holds points [frames, vertices, 3] as they are in the scene, and triangles;
FRAME.npy which pixels of FRAME.png are opaque, all bodies together.
"""

import json
import math
import pathlib
import runpy
import sys

import bpy
import numpy as np


def import_new(path):
    # The axes of the scene are those of the file: no turn.
    bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")


def import_old(path):
    bpy.ops.import_scene.obj(filepath=path, axis_forward="Y", axis_up="Z", split_mode="OFF")


def importers():
    """Those that this Blender has: the old one was dropped with Blender 4."""
    found = {"new": import_new}
    if "obj" in dir(bpy.ops.import_scene):
        found["old"] = import_old
    return found


def add_cache(thing, path):
    cache = thing.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = path
    return cache


def vertices(thing):
    """Places in the scene, after all modifiers."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", places)
    # Multiplied in float, by ones and zeros if the importer has not turned the thing.
    turn = np.array(evaluated.matrix_world, np.float32)
    return places.reshape(-1, 3) @ turn[:3, :3].T + turn[:3, 3]


def triangles(thing):
    return np.array([list(polygon.vertices) for polygon in thing.data.polygons], np.int32)


def run_script(request):
    """The script of the examples, which makes things itself and names them after the bodies."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sys.argv = ["blender", "--", request["run"]]
    runpy.run_path(request["script"], run_name="__main__")
    return [bpy.data.objects[body["name"]] for body in request["bodies"]]


def import_bodies(request, read):
    """The things of an otherwise empty scene, one a body, each with its cache."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    things = []
    for body in request["bodies"]:
        read(body["obj"])
        thing, = bpy.context.selected_objects
        add_cache(thing, body["pc2"])
        things.append(thing)
    return things


def record(request, things, importer, folder):
    points = [[] for _ in things]
    for frame in range(request["frames"]):
        bpy.context.scene.frame_set(frame)
        for places, thing in zip(points, things):
            places.append(vertices(thing))
    for body, places, thing in zip(request["bodies"], points, things):
        np.savez(folder / f"{body['name']}.{importer}.npz", points=places, triangles=triangles(thing))


def make_studio(wanted):
    """A camera and a light; Cycles, which needs neither a display nor a graphics card."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = 2 * wanted["half_height"] * max(1, wanted["width"] / wanted["height"])
    camera.data.clip_end = 2 * wanted["distance"]
    camera.location = np.subtract(wanted["center"], [0, wanted["distance"], 0])
    camera.rotation_euler = (math.pi / 2, 0, 0)
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy = 3
    sun.rotation_euler = (0.8, 0.3, 0)
    for thing in (camera, sun):
        scene.collection.objects.link(thing)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("world")
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 16, False
    scene.render.resolution_x, scene.render.resolution_y = wanted["width"], wanted["height"]
    scene.render.film_transparent = True
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGBA"


def take_picture(frame, path):
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    pixels = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(pixels)
    # Blender's rows go up.
    return pixels.reshape(image.size[1], image.size[0], 4)[::-1, :, 3] > 0.5


def main():
    request_path = pathlib.Path(sys.argv[-1])
    request, folder = json.loads(request_path.read_text()), request_path.parent
    found = importers()
    for importer, read in found.items():
        record(request, import_bodies(request, read), importer, folder)
    record(request, run_script(request), "script", folder)
    render, last = bpy.context.scene.render, bpy.context.scene.frame_end
    answer = {"importers": [*found, "script"], "version": bpy.app.version_string, "fps": render.fps / render.fps_base,
              "last": last}
    make_studio(request["view"])
    for frame in request["pictures"]:
        np.save(folder / f"{frame}.npy", take_picture(frame, folder / f"{frame}.png"))
    (folder / "answer.json").write_text(json.dumps(answer))


main()
