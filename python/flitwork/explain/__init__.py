"""Why is it slow? ``fw.explain(result)``: causes in words, the critical path, pictures of ranks and channels.

>>> explanation = fw.explain(fw.simulate(fw.Torus(4, 4), fw.all_to_all("a2at")))
>>> print(explanation.text)
>>> explanation.causes, explanation.path, explanation.space_time()

From below: ``records`` has the arrays that a run recorded, ``critical_path`` walks them, ``causes`` makes tables of
what it found, ``report`` sentences, ``space_time`` and ``heat_map`` pictures; ``explanation`` is all of it.
"""

from __future__ import annotations

from typing import Any

from flitwork.explain.explanation import Explanation
from flitwork.explain.records import result_in, with_records
from flitwork.results.result import Progress

__all__ = ["Explanation", "explain"]


def explain(result: Any, progress: Progress | None = None) -> Explanation:
    """Explains a result: a :class:`flitwork.Result`, its file, or what has one (a GOAL program, a run of MPI ranks).

    A result that lacks the records is simulated again with them, if what it says suffices for that: the same plan gives
    the same cycles, and the digests are compared. Else :class:`flitwork.ConfigError` says what to record:
    ``fw.Run(record=fw.Record(waits=True, operations=True))``. ``progress`` is that of :func:`flitwork.simulate`.
    """
    return Explanation(with_records(result_in(result), progress))
