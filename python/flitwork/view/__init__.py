"""A run in the browser: ``fw.view(result, "run.html")`` writes one HTML file that needs nothing else.

>>> fw.view(fw.simulate(fw.Torus(8, 8), fw.all_to_all("a2at")), "run.html")

From below: ``place`` says where everything is drawn, ``recorded`` makes sure that the result has what is shown,
``series`` bins it by time, ``levels`` makes small numbers of it, ``contents`` puts all of it together and ``page``
into a file. Style and script are in ``parts``; there, uPlot draws what has axes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flitwork.base.arguments import whole
from flitwork.base.extensions import needs
from flitwork.explain.records import result_in
from flitwork.results.result import Progress
from flitwork.view.recorded import MOST_FRAMES, with_windows

needs("report")

__all__ = ["view"]


def view(
    result: Any,
    path: str | Path = "view.html",
    *,
    frames: int | None = None,
    overwrite: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Writes a run as one HTML file: the network over time, queues, reasons to wait, and what ranks do. Its path.

    ``result`` is a :class:`flitwork.Result`, its file, or what has one (a GOAL program on a network with routers, a run
    of MPI ranks). One that lacks the records is simulated again with them, if what it says suffices for that; one that
    cannot be is shown as far as it was recorded. ``frames`` is about how many windows of time that run is divided into
    (1,000 if the result has no windows of its own). ``progress`` is that of :func:`flitwork.simulate`.

    A file that is there is replaced, or without ``overwrite`` refused. Raises :class:`flitwork.ConfigError` for a
    result without anything to show, which says what to record, and for a place that cannot be written to.
    """
    from flitwork.view.contents import contents
    from flitwork.view.page import check_place, write

    path = check_place(path, overwrite)
    if frames is not None:
        whole("frames", frames, 1, MOST_FRAMES)
    found, missing = with_windows(result_in(result), frames, progress)
    return write(path, contents(found, missing))
