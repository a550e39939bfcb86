"""What an engine is: jobs go in, outcomes come out one by one, and it can be stopped at any time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from flitwork.base.errors import SimulationError
from flitwork.experiment.jobs import Job
from flitwork.experiment.store import Store
from flitwork.results.result import Result

#: How often an engine gives a sign of life while it waits for an outcome.
TICK_SECONDS = 0.1
#: The hint where there is no scheduler.
HOW_TO_START = "start one with `dask scheduler` and give the address that it prints, such as tcp://host:8786"

Outcomes = Generator["Outcome | None", None, None]


@dataclass(frozen=True)
class Outcome:
    """How a job ended: with its result, or with the error that stopped it."""

    job: Job
    result: Result | SimulationError


class Engine(ABC):
    """Where simulations run."""

    #: Whether other processes simulate: plans cannot be sent, so that each makes the plan that it runs.
    another_process = False

    @abstractmethod
    def run(self, jobs: Sequence[Job], store: Store | None) -> Outcomes:
        """Starts the jobs in the order given. Yields the outcome of each once, and ``None`` several times a second.

        A result is in the store (if there is one) before it is yielded. Closing the generator stops what still runs. A
        simulation that fails is an outcome; an engine that cannot go on raises.
        """

    def work_under_way(self) -> float:
        """What the jobs that run now have done already, in the unit of ``Job.seconds``."""
        return 0.0
