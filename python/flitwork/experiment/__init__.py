"""Studies: many simulations from one file or one function, run on all cores and kept on the disk.

A study file becomes points (``points``), points become plans (``execute``), finished plans are stored one by one
(``store``) and put into one table (``table``).
"""

from flitwork.experiment.execute import Job, Status, Watcher, execute, plan_points
from flitwork.experiment.points import Point, expand
from flitwork.experiment.store import Store
from flitwork.experiment.study import StudyRun, run_study
from flitwork.experiment.study_file import StudyFile, load_study, parse_study
from flitwork.experiment.sweep import sweep

__all__ = [
    "Job",
    "Point",
    "Status",
    "Store",
    "StudyFile",
    "StudyRun",
    "Watcher",
    "execute",
    "expand",
    "load_study",
    "parse_study",
    "plan_points",
    "run_study",
    "sweep",
]
