"""Large libraries that are loaded when something of them is first used: most commands and runs use none of them.

``from flitwork.base.libraries import pd`` stands for ``import pandas as pd``, which takes longer than many a run.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pd", "plt"]


class _Library(ModuleType):
    """Stands for a library, and loads it as soon as an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        # The library, and not what it has: somebody may put something else in its place.
        self.__dict__["_loaded"] = loaded = self.__dict__.get("_loaded") or import_module(self.__name__)
        return getattr(loaded, name)


if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib import pyplot as plt
else:
    np = _Library("numpy")
    pd = _Library("pandas")
    plt = _Library("matplotlib.pyplot")
