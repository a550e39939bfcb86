"""Keys that change nothing in BookSim beside certain others: any value is accepted there, with a note.

Each was run in BookSim 2 with and without the key: the outputs are identical (``tools/booksim_compare.py --idle``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flitwork.booksim.parameters import parameters

if TYPE_CHECKING:
    from flitwork.booksim.settings import Settings

#: Traffic that reads ``xr``.
OF_DIGITS = ("tornado", "neighbor")


@dataclass(frozen=True)
class Idle:
    """Where a key changes nothing; ``where`` says it in words."""

    test: Callable[[Settings], bool]
    where: str


def _private(settings: Settings) -> bool:
    return bool(settings["buffer_policy"] == "private")


def _kind(settings: Settings, allocator: str) -> str:
    return parameters(settings[allocator]).name


def _no_queue_at_outputs(settings: Settings) -> bool:
    """Whether a flit leaves an output in the cycle in which it comes, so that no limit but 0 is ever reached."""
    st_delay = settings["st_prepare_delay"] + settings["st_final_delay"]
    return bool(settings["output_speedup"] == 1 and st_delay <= 1 and settings["output_buffer_size"])


def speculates(settings: Settings) -> bool:
    """Whether packets without a VC ask for the switch. With ``spec_check_elig`` alone off BookSim lets none ask."""
    return bool(settings["speculative"] and (settings["spec_check_elig"] or not settings["spec_check_cred"]))


_NOT_SPECULATIVE = Idle(lambda settings: not speculates(settings), "while no packet speculates")
_PRIVATE = Idle(_private, "with buffer_policy = private")

IDLE: dict[str, Idle] = {
    "xr": Idle(lambda s: parameters(s["traffic"]).name not in OF_DIGITS, "with traffic other than tornado, neighbor"),
    "output_buffer_size": Idle(
        _no_queue_at_outputs, "unless 0, with output_speedup = 1 and st_prepare_delay + st_final_delay = 1"
    ),
    "spec_check_elig": Idle(lambda settings: not settings["speculative"], "while speculative is off"),
    "spec_check_cred": _NOT_SPECULATIVE,
    "spec_sw_allocator": _NOT_SPECULATIVE,
    "spec_mask_by_reqs": Idle(
        lambda s: not speculates(s) or s["spec_sw_allocator"] == "prio",
        "while no packet speculates, or with spec_sw_allocator = prio",
    ),
    "vc_buf_size": Idle(lambda s: s["buf_size"] >= 0, "where buf_size says how many places a port has"),
    "private_bufs": Idle(
        lambda s: _private(s) or s.value("private_bufs") == s["num_vcs"],
        "with buffer_policy = private, or one for each VC",
    ),
    "private_buf_size": _PRIVATE,
    "private_buf_start_vc": _PRIVATE,
    "private_buf_end_vc": _PRIVATE,
    "vc_prioritize_empty": Idle(
        lambda s: _kind(s, "vc_allocator") == "islip" or s["wait_for_tail_credit"],
        "with vc_allocator = islip, or wait_for_tail_credit on",
    ),
}
