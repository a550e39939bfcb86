"""The paper's figures with its axes, and the table of the open choices."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from flitwork.plot.style import save, style
from flitwork.studies.yokota_2010_unsteady import burst_figures, sensitivity, steady_figures
from flitwork.studies.yokota_2010_unsteady.measures import rows
from flitwork.studies.yokota_2010_unsteady.paths import path_maps


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws figures 1 to 10, figure 5 once more over scaled time, and the sensitivity table where it was run."""
    points = outdir.parent / "points"
    with style():
        drawn = {
            "fig1": path_maps(),
            "fig2": steady_figures.figure_2(results),
            "fig3": steady_figures.figure_3(results),
            "fig4": burst_figures.figure_4(results),
            "fig5": burst_figures.figure_5(results, points, scaled=False),
            "fig5-scaled": burst_figures.figure_5(results, points, scaled=True),
            "fig6": burst_figures.figure_6(results),
            "fig7": burst_figures.figure_7(results, points),
            "fig8": burst_figures.figure_8(results),
            "fig9": steady_figures.figure_9(results),
            "fig10": burst_figures.figure_10(results),
        }
        if not rows(results, "sensitivity").empty:
            drawn["sensitivity"] = sensitivity.drawn(results)
        return [path for name, figure in drawn.items() for path in save(figure, outdir, name)]
