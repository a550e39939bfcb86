"""Means over repetitions, and how well they are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

#: Two-sided 95 % quantiles of Student's t for 1, 2, ... degrees of freedom; 1.96 beyond.
_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10)


def half_width_95(values: pd.Series[float] | np.ndarray[Any, Any]) -> float:
    """Half the width of the 95 % confidence interval of the mean; 0 for a single value."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return 0.0
    t = _T95[len(values) - 2] if len(values) - 2 < len(_T95) else 1.96
    return float(t * values.std(ddof=1) / math.sqrt(len(values)))
