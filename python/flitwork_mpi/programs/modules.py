"""Imports of ranks: ``mpi4py`` is the simulated one, and each rank has the modules of its program for itself.

Modules below the folder of the script are the program's own: each rank has them for itself, with their globals, and so
it has the modules ``random`` and ``logging``, and NumPy's global generator. All other modules are shared by all ranks.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flitwork_mpi.programs.errors import unsupported
from flitwork_mpi.programs.module import MPI, mpi4py_modules
from flitwork_mpi.programs.per_rank import PerRankState
from flitwork_mpi.programs.world import Process, here

#: Modules of the standard library that each rank of a script has for itself once it imports them.
_ALWAYS_OF_RANKS = ("random", "logging", "logging.config", "logging.handlers")
# NumPy before 1.24 has one global generator for all.
_get_generator = getattr(np.random, "get_bit_generator", lambda: None)
_set_generator = getattr(np.random, "set_bit_generator", lambda generator: None)


class Modules(importlib.abc.MetaPathFinder):
    """Changes what ``sys.modules`` has whenever another rank goes on, and gives it back at the end."""

    def __init__(self, folder: Path | None, seed: int) -> None:
        self._folder = None if folder is None else str(folder.resolve()) + "/"
        self._seed = seed
        self._mpi = mpi4py_modules(MPI)
        #: Modules that each rank has for itself.
        self._of_ranks = {"__main__"} if folder else set()
        self._of: dict[int, dict[str, types.ModuleType]] = {}
        self._outside: dict[str, types.ModuleType] = {}
        self._inside: int | None = None
        self._generators: dict[int, Any] = {}
        self.state = PerRankState()

    @property
    def names_of_ranks(self) -> Collection[str]:
        """Names of the modules that each rank has for itself."""
        return self._of_ranks

    def install(self) -> None:
        """From now on ranks import by this."""
        always = _ALWAYS_OF_RANKS if self._folder else ()
        swapped = [*always, *_mpi4py()]
        self._outside = {name: sys.modules[name] for name in (*self._of_ranks, *swapped) if name in sys.modules}
        for name in swapped:
            sys.modules.pop(name, None)
        sys.modules.update(self._mpi)
        sys.meta_path.insert(0, self)
        self._generator = _get_generator()

    def remove(self) -> None:
        """All as it was."""
        self._leave()
        sys.meta_path.remove(self)
        for name in _mpi4py():
            del sys.modules[name]
        for name in self._of_ranks:
            sys.modules.pop(name, None)
        sys.modules.update(self._outside)
        _set_generator(self._generator)
        self.state.remove()

    def enter(self, process: Process) -> None:
        """Another rank goes on."""
        rank = process.rank
        if rank == self._inside:
            return
        self._leave()
        self._inside = rank
        modules = sys.modules
        mine = self._of.setdefault(rank, {})
        for name in self._of_ranks:
            if name in mine:
                modules[name] = mine[name]
            else:
                modules.pop(name, None)
        generator = self._generators.get(rank)
        if generator is None:
            generator = self._generators[rank] = np.random.MT19937([self._seed, rank])
        _set_generator(generator)
        self.state.enter(rank)

    def _leave(self) -> None:
        if self._inside is not None:
            modules, mine = sys.modules, self._of[self._inside]
            for name in self._of_ranks:
                if name in modules:
                    mine[name] = modules[name]
            self.state.leave(self._inside)
            self._inside = None

    def give_to_rank(self, process: Process, name: str, module: types.ModuleType) -> None:
        """Gives the rank that runs a module of its own."""
        self._of_ranks.add(name)
        self._of.setdefault(process.rank, {})[name] = module
        sys.modules[name] = module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Where a module is; those of the program become the rank's own."""
        if fullname.partition(".")[0] == "mpi4py":
            # With a name, `from mpi4py import futures` would say no more than that there is no such name.
            raise ModuleNotFoundError(unsupported(fullname))
        if here.process is None or self._folder is None:
            return None
        if fullname in _ALWAYS_OF_RANKS:
            self._of_ranks.add(fullname)
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
            if (
                fullname == "random"
                and spec is not None
                and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
            ):
                spec.loader = _Seeded(fullname, spec.loader.path, self._seed * 1_000_003 + here.process.rank)
            return spec
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and self._is_of_program(spec):
            self._of_ranks.add(fullname)
            return spec
        return None

    def _is_of_program(self, spec: importlib.machinery.ModuleSpec) -> bool:
        places = [spec.origin or "", *(spec.submodule_search_locations or ())]
        inside = any(place.startswith(self._folder or "?") for place in places)
        return inside and not any("site-packages" in place for place in places) and not _is_compiled(spec)


class _Seeded(importlib.machinery.SourceFileLoader):
    """Loads ``random`` with a seed of the rank."""

    def __init__(self, name: str, path: str, seed: int) -> None:
        super().__init__(name, path)
        self._seed = seed

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs the module, and seeds its generator."""
        super().exec_module(module)
        module.seed(self._seed)


def _is_compiled(spec: importlib.machinery.ModuleSpec) -> bool:
    return isinstance(spec.loader, importlib.machinery.ExtensionFileLoader)


def _mpi4py() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "mpi4py"]
