"""Studies: many simulations from one file or one function, run on all cores and kept on the disk.

A study file becomes points (``points``, ``axes``), points become plans (``jobs``), an engine runs them (``execute``,
``engines``), finished plans are stored one by one (``store``) and put into one table (``table``), whose columns are
known before (``columns``).
"""

from flitwork.experiment.archive import Archive, HasRow, different
from flitwork.experiment.columns import Columns
from flitwork.experiment.execute import Execution, Status, Watcher, execute
from flitwork.experiment.jobs import Failure, Job, Keeper, plan_points
from flitwork.experiment.point import Point
from flitwork.experiment.points import expand, known_columns
from flitwork.experiment.store import Store
from flitwork.experiment.study import StudyRun, default_folder, plan_study, run_study
from flitwork.experiment.study_file import StudyFile, load_study, parse_study
from flitwork.experiment.sweep import SweepError, run_options, run_points, sweep
from flitwork.results.columns import RESULT_COLUMNS

__all__ = [
    "RESULT_COLUMNS",
    "Archive",
    "Columns",
    "Execution",
    "Failure",
    "HasRow",
    "Job",
    "Keeper",
    "Point",
    "Status",
    "Store",
    "StudyFile",
    "StudyRun",
    "SweepError",
    "Watcher",
    "default_folder",
    "different",
    "execute",
    "expand",
    "known_columns",
    "load_study",
    "parse_study",
    "plan_points",
    "plan_study",
    "run_options",
    "run_points",
    "run_study",
    "sweep",
]
