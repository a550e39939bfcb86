"""Whole numbers of programs: ranks, tags, counts."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def integer(number: Any) -> int:
    """What a program gives for a whole number, such as a rank; mpi4py takes fractions, and leaves them off."""
    if type(number) is int:
        return number
    return int(number) if isinstance(number, (float, np.floating)) else operator.index(number)
