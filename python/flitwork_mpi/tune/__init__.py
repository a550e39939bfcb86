"""Which algorithm for which sizes: rules from measurements or simulations, for our MPI library and for MPI libraries.

>>> table = fw.tune.simulated(network, [1024, 65_536], ranks_per_server=[1, 4])
>>> text = fw.tune.written(fw.tune.rules(table, "openmpi"), "openmpi")
"""

from flitwork.measurements import COLUMNS

from flitwork_mpi.tune.derive import rules
from flitwork_mpi.tune.files import read_rules, written
from flitwork_mpi.tune.measuring import Bench, Limits, bench
from flitwork_mpi.tune.names import SAME, TARGETS
from flitwork_mpi.tune.rule import OPERATIONS, Asked, Choice, Rule, Selected, Span, TuningFile
from flitwork_mpi.tune.simulated import simulated
from flitwork_mpi.tune.table import read_measurements

__all__ = [
    "COLUMNS",
    "OPERATIONS",
    "SAME",
    "TARGETS",
    "Asked",
    "Bench",
    "Choice",
    "Limits",
    "Rule",
    "Selected",
    "Span",
    "TuningFile",
    "bench",
    "read_measurements",
    "read_rules",
    "rules",
    "simulated",
    "written",
]
