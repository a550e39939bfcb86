"""One simulation of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Results of points by their labels.
Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Point:
    """One simulation of a study: where it comes from and what it is."""

    experiment: str
    path: str
    params: Mapping[str, Any]
    seed: int
    spec: Mapping[str, Any]

    @property
    def label(self) -> str:
        """``experiment(N=5, seed=1)``, for messages."""
        return self._label(f"seed={self.seed}")

    @property
    def without_seed(self) -> str:
        """``experiment(N=5)``: the label that all seeds share."""
        return self._label()

    def _label(self, *more: str) -> str:
        shown = [f"{key}={value}" for key, value in self.params.items()]
        return f"{self.experiment}({', '.join([*shown, *more])})"
