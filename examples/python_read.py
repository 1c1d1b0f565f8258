"""Reads a run with numpy and meshio:  python3 examples/python_read.py DIR BODY

DIR is what `sinew run` filled, with output.vtu.every. Needs Debian's python3-numpy and python3-meshio, which its own
/usr/bin/python3 sees.
"""

import json
import pathlib
import sys

import meshio
import numpy as np

folder, body = pathlib.Path(sys.argv[1]), sys.argv[2]

# Positions of all frames; memory-mapped, so that a long run is read no further than it is looked at.
nodes = np.load(folder / f"{body}.nodes.npy", mmap_mode="r")
surface = np.load(folder / f"{body}.surface.npy", mmap_mode="r")
triangles = np.load(folder / f"{body}.triangles.npy")
print(f"{len(nodes)} frames of {nodes.shape[1]} nodes and {surface.shape[1]} surface vertices")
print(f"the last frame spans {surface[-1].min(axis=0)} to {surface[-1].max(axis=0)} m")

# How each frame went.
with open(folder / "stats.jsonl", encoding="utf-8") as file:
    stats = [json.loads(line) for line in file]
energy = [frame["energy"]["kinetic"] + frame["energy"]["elastic"] for frame in stats]
print(f"{stats[-1]['time']:.3f} s, kinetic and elastic energy {energy[0]:.4g} to {energy[-1]:.4g} J")

# One frame with its fields.
last = sorted(folder.glob(f"{body}.*.vtu"))[-1]
mesh = meshio.read(last)
cells, strain = mesh.cells[0], mesh.point_data["strain"]
print(f"{last.name}: {len(cells.data)} cells of kind {cells.type}, strain up to {strain.max():.3g}")

# Any format that meshio writes, STL for one.
meshio.Mesh(surface[-1], [("triangle", triangles)]).write(folder / f"{body}.last.stl")
