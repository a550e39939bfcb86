"""What is measured on real MPI: message sizes of the study, numbers of ranks, and the orders of a total exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flitwork.experiment import load_study
from flitwork.experiment.axes import axes_of
from flitwork.networks.constructors import Torus
from flitwork.studies import published
from flitwork.studies.makino_1997_ap1000.measures import ABSOLUTE, BUS, RELATIVE

from flitwork_mpi.native import build
from flitwork_mpi.programs.step_table import step_table
from flitwork_mpi.tune.operations import Measurement, Way

STUDY = "makino-1997-ap1000"
#: The orders of a total exchange, by the algorithm that has it.
ORDERS = {
    "a2and": RELATIVE,
    "by_number": ABSOLUTE["cell"],
    "simple_spread": ABSOLUTE["shift"],
    "xor_spread": ABSOLUTE["xor"],
}
_POWERS_OF_TWO = "xor_spread"
_MOST_COUNTS = 8


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes: of messages, of the messages of a total exchange, and of all messages of one together."""

    messages: Sequence[int]
    exchanges: Sequence[int]
    totals: Sequence[int]

    @classmethod
    def of_study(cls, quick: bool) -> Sizes:
        """Those that the study simulates."""
        experiments = {one.id: one for one in load_study(published()[STUDY].folder / "study.toml").experiments}

        def sizes(experiment: str, name: str) -> list[int]:
            axes = axes_of(experiments[experiment], experiment, quick)
            return next([1024 * kib for kib in axis.values[name]] for axis in axes if name in axis.values)

        return cls(sizes("lengths", "KiB"), sizes("exchange_lengths", "KiB"), sizes("exchange_total", "total_KiB"))


def counts(ranks: int) -> list[int]:
    """The numbers of ranks that are measured: all of a few, or some of many, with the last."""
    if ranks <= _MOST_COUNTS + 1:
        return list(range(2, ranks + 1))
    return sorted({2 * round(ranks * k / (2 * _MOST_COUNTS)) for k in range(1, _MOST_COUNTS)} | {2, ranks})


def ways(launcher: Sequence[str], ranks: int, sizes: Sizes, steps: Path) -> list[Way]:
    """What is measured in a job of ``ranks``; the steps of the orders are written to the folder ``steps``."""
    library = str(build.library(launcher))
    found = [Way("library", {}, _library(ranks, sizes))]
    for algorithm in ORDERS:
        some = [one for one in _exchanges(ranks, sizes) if _defined(algorithm, one.ranks)]
        variables = {
            "LD_PRELOAD": library,
            "FLITWORK_MPI_RULES": str(_rules(algorithm, sorted({one.ranks for one in some}), steps)),
            "FLITWORK_MPI_STRICT": "1",
            "FLITWORK_MPI_REPORT": "1",
        }
        found.append(Way(algorithm, variables, some, ours=True))
    return found


def _library(ranks: int, sizes: Sizes) -> list[Measurement]:
    """What the MPI library carries out by itself."""
    found = [Measurement("point_to_point", size, peer) for size in sizes.messages for peer in range(2, ranks + 1)]
    for operation in BUS:
        found += [Measurement(operation, size, ranks) for size in sizes.messages]
        found += [Measurement(operation, max(sizes.messages), count) for count in counts(ranks)]
    return list(dict.fromkeys(found))


def _exchanges(ranks: int, sizes: Sizes) -> list[Measurement]:
    found = [Measurement("alltoall", size, ranks) for size in sizes.exchanges]
    found += [Measurement("alltoall", max(sizes.exchanges), count) for count in counts(ranks)]
    found += [Measurement("alltoall", size // count**2, count) for size in sizes.totals for count in counts(ranks)]
    return list(dict.fromkeys(found))


def _defined(algorithm: str, ranks: int) -> bool:
    return algorithm != _POWERS_OF_TWO or ranks & (ranks - 1) == 0


def _rules(algorithm: str, several: Sequence[int], folder: Path) -> Path:
    """Rules for our library: the steps of an order for each number of ranks."""
    folder.mkdir(exist_ok=True)
    lines = []
    for ranks in several:
        where = {"network": Torus(*_cells(ranks))} if algorithm == "a2and" else {"ranks": ranks}
        steps = step_table(algorithm, **where).save(folder / f"{algorithm}-{ranks}.steps")
        lines.append(f"alltoall ranks={ranks} algorithm=table:{steps}\n")
    rules = folder / f"{algorithm}.rules"
    rules.write_text("".join(lines), encoding="utf-8")
    return rules


def _cells(ranks: int) -> tuple[int, ...]:
    """Ranks as the cells of a torus: two rows, or one where their number is odd."""
    return (ranks // 2, 2) if ranks % 2 == 0 and ranks > 2 else (ranks,)
