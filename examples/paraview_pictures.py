"""Draws all frames of a run, colored by strain, without a window:  pvpython examples/paraview_pictures.py DIR

DIR is what `sinew run` filled, with output.vtu.every; the pictures are DIR/picture.0000.png and so on. ParaView needs a
display to draw: without one, xvfb-run -a -s -noreset pvpython ...
"""

import pathlib
import sys

from paraview.simple import (ColorBy, CreateView, GetAnimationScene, GetColorTransferFunction, OpenDataFile,
                             SaveAnimation, Show)

folder = pathlib.Path(sys.argv[1]).resolve()
run = OpenDataFile(str(folder / "frames.pvd"))
view = CreateView("RenderView")
view.ViewSize = [800, 600]
bodies = Show(run, view)
ColorBy(bodies, ("POINTS", "strain"))
bodies.RescaleTransferFunctionToDataRangeOverTime()
bodies.SetScalarBarVisibility(view, True)

# Seen from the front, z up, from where the middle of the motion fills the picture.
animation = GetAnimationScene()
animation.UpdateAnimationUsingDataTimeSteps()
animation.AnimationTime = run.TimestepValues[len(run.TimestepValues) // 2]
view.CameraFocalPoint, view.CameraPosition, view.CameraViewUp = [0, 0, 0], [0, -1, 0], [0, 0, 1]
view.ResetCamera()
SaveAnimation(str(folder / "picture.png"), view)
print(f"{len(run.TimestepValues)} pictures; strain up to {GetColorTransferFunction('strain').RGBPoints[-4]:.3g}")
