"""Run by pvpython: opens files as the program does and writes what it finds. Argument: request.json.

request {open: [{name, path, pictures: [frame]}], view}; answer.json {name: {times, parts: [{ranges: {array: [[low,
high] of each frame]}}]}}; NAME.PART.npz holds points, cells, types and arrays, frame by frame, NAME.FRAME.npy which
pixels of NAME.FRAME.png differ from the background.
"""

import json
import pathlib
import sys

import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

BACKGROUND = [0.2, 0.4, 0.8]


def leaves(data):
    """The meshes of what was read: itself, or the blocks of a collection of several."""
    if not data.IsA("vtkMultiBlockDataSet"):
        return [data]
    return [leaf for i in range(data.GetNumberOfBlocks()) for leaf in leaves(data.GetBlock(i))]


def read(reader):
    """Per part, what does not change and lists of what does, over all time steps."""
    parts = []
    for time in reader.TimestepValues:
        reader.UpdatePipeline(time)
        for i, mesh in enumerate(leaves(servermanager.Fetch(reader))):
            if i == len(parts):
                parts.append({"cells": [], "types": [], "points": [], "arrays": {}, "ranges": {}})
            part, fields = parts[i], mesh.GetPointData()
            part["cells"].append(vtk_to_numpy(mesh.GetCells().GetConnectivityArray()).copy())
            part["types"].append(vtk_to_numpy(mesh.GetCellTypesArray()).copy())
            part["points"].append(vtk_to_numpy(mesh.GetPoints().GetData()).copy())
            for k in range(fields.GetNumberOfArrays()):
                array = fields.GetArray(k)
                part["arrays"].setdefault(array.GetName(), []).append(vtk_to_numpy(array).copy())
                # What the program shows as range: of the magnitude where there are components.
                part["ranges"].setdefault(array.GetName(), []).append(
                    array.GetRange(-1 if array.GetNumberOfComponents() > 1 else 0))
    return parts


def make_view(wanted):
    # The camera stays where it is put when the first thing is shown.
    simple._DisableFirstRenderCameraReset()
    view = simple.CreateView("RenderView")
    view.ViewSize = [wanted["width"], wanted["height"]]
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    # A pixel is covered or not.
    view.UseFXAA = 0
    view.GetRenderWindow().SetMultiSamples(0)
    view.CameraParallelProjection = 1
    view.CameraFocalPoint = wanted["center"]
    view.CameraPosition = np.subtract(wanted["center"], [0, wanted["distance"], 0]).tolist()
    view.CameraViewUp = [0, 0, 1]
    view.CameraParallelScale = wanted["half_height"]
    return view


def take_picture(view, reader, frame, path):
    view.ViewTime = reader.TimestepValues[frame]
    simple.Render(view)
    simple.SaveScreenshot(str(path), view, ImageResolution=list(view.ViewSize))
    png = vtkPNGReader()
    png.SetFileName(str(path))
    png.Update()
    image = png.GetOutput()
    width, height, _ = image.GetDimensions()
    # VTK's rows go up.
    pixels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)[::-1, :, :3]
    return (np.abs(pixels - 255 * np.array(BACKGROUND)) > 2).any(axis=2)


def main():
    request_path = pathlib.Path(sys.argv[1])
    request, folder = json.loads(request_path.read_text()), request_path.parent
    view, answer = make_view(request["view"]), {}
    for wanted in request["open"]:
        name, reader = wanted["name"], simple.OpenDataFile(wanted["path"])
        parts = read(reader)
        for i, part in enumerate(parts):
            np.savez(folder / f"{name}.{i}.npz", points=part["points"], cells=part["cells"], types=part["types"],
                     **part["arrays"])
        answer[name] = {"times": list(reader.TimestepValues), "parts": [{"ranges": part["ranges"]} for part in parts]}
        display = simple.Show(reader, view)
        display.Representation = "Surface"
        for frame in wanted["pictures"]:
            np.save(folder / f"{name}.{frame}.npy", take_picture(view, reader, frame, folder / f"{name}.{frame}.png"))
        simple.Hide(reader, view)
    (folder / "answer.json").write_text(json.dumps(answer))


main()
