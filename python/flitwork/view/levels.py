"""Small numbers in place of large ones: a byte for each value, and what a byte stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flitwork.base.libraries import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The largest number that a byte has.
_LEVELS = 255
#: The same where there are very many values: files are smaller, and colours hardly differ.
_FEW_LEVELS = 63
_MANY = 8_000_000
#: Ends of scales: the first that no value exceeds, times a power of ten.
_ENDS = (1.0, 2.0, 5.0)


@dataclass(frozen=True)
class Levels:
    """Values as bytes: byte ``b`` stands for ``top * (b / levels) ** power``; 0 stands for 0 alone."""

    bytes: NDArray[np.uint8]
    top: float
    power: float
    levels: int

    @property
    def scale(self) -> dict[str, float]:
        """What bytes stand for."""
        return {"top": self.top, "power": self.power, "levels": self.levels}


def levels(values: NDArray[np.floating], power: float = 1.0, top: float | None = None) -> Levels:
    """``values`` of 0 and more as bytes, the nearest; ``power`` of 2: small values are told apart better.

    ``top`` is the largest value, or where the scale ends if it says so. What is more than 0 stays so.
    """
    most = float(values.max(initial=0.0)) if top is None else top
    most = most or 1.0
    count = _FEW_LEVELS if values.size > _MANY else _LEVELS
    found = np.empty(values.shape, dtype=np.uint8)
    flat, out = values.reshape(-1), found.reshape(-1)
    step = 1 << 22
    for first in range(0, len(flat), step):
        part = flat[first : first + step].astype(np.float64)
        level = np.rint((part / most) ** (1 / power) * count)
        out[first : first + step] = np.where(part > 0, np.clip(level, 1, count), 0)
    return Levels(found, most, power, count)


def round_end(value: float) -> float:
    """The first round number that is no less: 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    ten = 10.0 ** np.floor(np.log10(value))
    return float(next((end * ten for end in _ENDS if value <= end * ten * (1 + 1e-9)), 10 * ten))
