"""The paper's figures with its axes, and the table of the open choices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import save, style
from flitwork.studies.yokota_2010_unsteady import burst_figures, calibrator, jam, sensitivity, steady_figures
from flitwork.studies.yokota_2010_unsteady.measures import rows
from flitwork.studies.yokota_2010_unsteady.paths import path_maps
from flitwork.studies.yokota_2010_unsteady.readings import FIRST, FIRST_IN_CALIBRATOR, of_reading, of_readings

_FIGURES: dict[str, Callable[[pd.DataFrame, Path], Figure]] = {
    "fig2": lambda results, _: steady_figures.figure_2(results),
    "fig3": lambda results, _: steady_figures.figure_3(results),
    "fig4": lambda results, _: burst_figures.figure_4(results),
    "fig5": lambda results, points: burst_figures.figure_5(results, points, scaled=False),
    "fig5-scaled": lambda results, points: burst_figures.figure_5(results, points, scaled=True),
    "fig6": lambda results, _: burst_figures.figure_6(results),
    "fig7": lambda results, points: burst_figures.figure_7(results, points),
    "fig8": lambda results, _: burst_figures.figure_8(results),
    "fig9": lambda results, _: steady_figures.figure_9(results),
    "fig10": lambda results, _: burst_figures.figure_10(results),
}


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws figures 1 to 10 of each reading that was run, the calibrator, and the sensitivity table where it was run.

    Figure 1 is the same for both readings; figure 5 comes once more over scaled time. One burst of the first reading is
    simulated again with all waits recorded, to show what its packets wait for.
    """
    points = outdir.parent / "points"
    with style():
        paths = save(path_maps(), outdir, "fig1")
        for reading, part in of_readings(results):
            for name, draw in _FIGURES.items():
                paths += save(draw(part, points), outdir, f"{name}{reading.file}")
        if not rows(results, "calibrator").empty:
            paths += save(calibrator.drawn(results, FIRST_IN_CALIBRATOR), outdir, "calibrator")
        paths += save(jam.drawn(of_reading(results, FIRST), points), outdir, "jam")
        if not rows(results, "sensitivity").empty:
            paths += save(sensitivity.drawn(results), outdir, "sensitivity")
    return paths
