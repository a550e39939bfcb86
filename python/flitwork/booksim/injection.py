"""When packets are created: BookSim's ``injection_process``."""

from __future__ import annotations

from dataclasses import dataclass

from flitwork.base.errors import did_you_mean
from flitwork.booksim.parameters import parameters
from flitwork.booksim.settings import Settings
from flitwork.values.plain import Spec

_KEYS = ("burst_alpha", "burst_beta", "burst_r1")
_EXPECTED = "bernoulli, on_off or on_off({alpha,beta,r1})"
#: What a probability may be above 1 by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Injection:
    """A process; ``packets_per_cycle`` are those of a node in the long run, if not those that were asked for."""

    process: Spec
    packets_per_cycle: float | None = None
    note: str = ""


def injection(settings: Settings, packets_per_cycle: float) -> Injection:
    """The process of the settings for a node that is to create so many packets per cycle."""
    if not 0 < packets_per_cycle <= 1 + _ROUNDING:
        raise settings.error("injection_rate", "more than 0 and at most 1 packet a cycle")
    read = parameters(settings["injection_process"])
    if read.name == "bernoulli":
        return Injection({"kind": "bernoulli"})
    if read.name != "on_off":
        raise settings.error("injection_process", _EXPECTED, did_you_mean(read.name, ("bernoulli", "on_off")))
    given = [settings[key] for key in _KEYS]
    numbers = read.found[: len(_KEYS)]
    given[: len(numbers)] = numbers
    return _on_off(settings, given, packets_per_cycle, len(numbers))


def _on_off(settings: Settings, given: list[float], rate: float, arguments: int) -> Injection:
    """``given`` are alpha, beta and r1, the first ``arguments`` of them from ``injection_process`` itself.

    Of the three one is below 0 and follows from the others and the rate.
    """

    def place(key: str) -> str:
        return "injection_process" if _KEYS.index(key) < arguments else key

    for key, one in zip(_KEYS, given, strict=True):
        if not isinstance(one, (int, float)) or one == 0 or one > 1:
            raise settings.error(place(key), f"{key} more than 0 and at most 1, or below 0: it follows from the others")
    follow = [key for key, one in zip(_KEYS, given, strict=True) if one < 0]
    if len(follow) != 1:
        shown = ", ".join(f"{key} = {one}" for key, one in zip(_KEYS, given, strict=True))
        which = place(follow[0]) if follow else place("burst_r1")
        raise settings.error(which, f"exactly one of {', '.join(_KEYS)} below 0", f"here {shown}")
    alpha, beta, in_bursts = given
    if follow[0] == "burst_r1":
        in_bursts = rate * (alpha + beta) / alpha
    elif in_bursts <= rate:
        raise settings.error(place("burst_r1"), f"burst_r1 more than the injection rate, here {rate:g} packets/cycle")
    elif follow[0] == "burst_alpha":
        alpha = beta * rate / (in_bursts - rate)
    else:
        beta = alpha * (in_bursts - rate) / rate
    return _limited(settings, alpha, beta, in_bursts, rate)


def _limited(settings: Settings, alpha: float, beta: float, in_bursts: float, rate: float) -> Injection:
    """BookSim does not look whether what follows is a probability: more than 1 acts as 1, and the load is another."""
    known = {"burst_alpha": alpha, "burst_beta": beta, "burst_r1": in_bursts}
    above = [f"{key} = {one:.4g}" for key, one in known.items() if one > 1 + _ROUNDING]
    alpha, beta, in_bursts = (min(one, 1.0) for one in known.values())
    process = {"kind": "on_off", "mean_on_cycles": 1 / beta, "mean_off_cycles": 1 / alpha}
    if not above:
        return Injection(process)
    actual = in_bursts * alpha / (alpha + beta)
    note = (
        f"{settings.place('injection_process')}: {above[0]} follows, which acts as 1, as in BookSim: nodes create "
        f"{actual:.4g} packets/cycle, not {rate:.4g}"
    )
    return Injection(process, actual, note)
