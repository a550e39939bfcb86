"""Knuth's portable random integers, from which BookSim draws its permutations.

D. E. Knuth, The Art of Computer Programming, volume 2, section 3.6, in the version of 2002: the subtractive lagged
Fibonacci sequence ``x[n] = (x[n - 100] - x[n - 37]) mod 2^30``. Its 100 starting values are a polynomial modulo the
recurrence's, found by repeated squaring, so that the sequences of different seeds begin at least 2^70 numbers apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flitwork.base.libraries import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.int64]"

_LONG, _SHORT = 100, 37
_BITS = 30
_MASK = 2**_BITS - 1
#: Squarings after the bits of the seed: they set the sequences of different seeds apart.
_APART = 69
#: Numbers thrown away at the start.
_WARM_UP = 1990
#: For the quality that Knuth recommends, 100 numbers are used of each 1009.
_USED, _OF = 100, 1009


class LaggedFibonacci:
    """The whole sequence of one seed, a whole number of any sign of which the last 30 bits count."""

    def __init__(self, seed: int) -> None:
        # The starting values are the coefficients, turned by the shorter lag.
        self._next = np.roll(_polynomial(seed), -_SHORT)
        self.take(_WARM_UP)

    def take(self, count: int) -> Numbers:
        """The next ``count`` numbers, each from 0 to 2^30 - 1."""
        found = np.empty(count + _LONG, np.int64)
        found[:_LONG] = self._next
        for start in range(_LONG, len(found), _SHORT):
            stop = min(start + _SHORT, len(found))
            found[start:stop] = (found[start - _LONG : stop - _LONG] - found[start - _SHORT : stop - _SHORT]) & _MASK
        self._next = found[count:].copy()
        return found[:count]


def recommended(seed: int, count: int) -> Numbers:
    """``count`` numbers of the quality that Knuth recommends: the first 100 of each 1009."""
    source = LaggedFibonacci(seed)
    parts = [source.take(_OF)[:_USED] for _ in range(-(-count // _USED))]
    return np.concatenate([np.empty(0, np.int64), *parts])[:count]


def _polynomial(seed: int) -> Numbers:
    """The 100 coefficients for a seed, the constant term first.

    They begin as the upper 29 bits of ``seed + 2``, turned by one more place each; only that of z is odd. Then the
    polynomial is squared for each bit of the seed, from the lowest on, and multiplied by z where the bit is 1. Squaring
    is meant modulo 2, where it puts the coefficient of z^j at z^2j.
    """
    places = _BITS - 1
    half, ones = ((seed + 2) & _MASK) >> 1, _MASK >> 1
    turned = [((half << j % places) | (half >> (places - j % places))) & ones for j in range(_LONG)]
    found = np.array(turned, np.int64) << 1
    found[1] += 1
    lowest_first = f"{seed & _MASK:b}"[::-1] if seed & _MASK else ""
    for bit in lowest_first + "0" * _APART:
        found = _squared(found)
        if bit == "1":
            found = np.roll(found, 1)
            found[_SHORT] = (found[_SHORT] - found[0]) & _MASK
    return found


def _squared(found: Numbers) -> Numbers:
    """Powers from z^100 on are replaced by z^100 = -z^37 - 1, the highest first."""
    wide: Numbers = np.zeros(2 * _LONG - 1, np.int64)
    wide[::2] = found
    again = 2 * _LONG - _SHORT
    # What the upper part gives lies partly at z^100 and above, where the second step finds it.
    for start, stop in ((again, len(wide)), (_LONG, again)):
        for lower in (_LONG - _SHORT, _LONG):
            wide[start - lower : stop - lower] -= wide[start:stop]
    wide &= _MASK
    return wide[:_LONG]
