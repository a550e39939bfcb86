"""``MPI.Errhandler``: what a program says of errors. Here they are exceptions, whatever it says."""

from __future__ import annotations

from typing import Any

from flitwork_mpi.programs.errors import CLASSES, Abort, Refusing, fault, not_supported
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.world import me


class Errhandler(Handle, metaclass=Refusing):
    """A handler: one of MPI's own, or a copy of it. Without a handler, and once given up, ``MPI.ERRHANDLER_NULL``."""

    def __init__(self, errhandler: Errhandler | None = None) -> None:
        if errhandler is None:
            self._name = "ERRHANDLER_NULL"
        elif not isinstance(errhandler, Errhandler):
            raise TypeError(f"expecting an Errhandler, not {type(errhandler).__name__}")

    def Free(self) -> None:
        """Gives it up."""
        if self is CONSTANTS[self._name] or not self:
            raise fault("ARG", f"MPI.{self._name} cannot be freed")
        self._name = "ERRHANDLER_NULL"

    def _is_of_mpi(self) -> bool:
        return self is CONSTANTS[self._name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Errhandler) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __bool__(self) -> bool:
        return self._name != "ERRHANDLER_NULL"

    def __repr__(self) -> str:
        return f"<MPI.Errhandler {self._name}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        constant = CONSTANTS[self._name]
        return (_named, (self._name,)) if self is constant else (type(self), (constant,))


def _of_mpi(name: str) -> Errhandler:
    found = Errhandler()
    found._name = name
    return found


#: MPI's own, by name.
CONSTANTS = {name: _of_mpi(name) for name in ("ERRHANDLER_NULL", "ERRORS_RETURN", "ERRORS_ARE_FATAL", "ERRORS_ABORT")}


def _named(name: str) -> Errhandler:
    return CONSTANTS[name]


class Handled:
    """What keeps a handler."""

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Any) -> Errhandler:
        """Handlers of programs are not supported."""
        raise not_supported(f"MPI.{cls.__name__}.Create_errhandler")

    def _handled(self) -> Any:
        """What a handler is kept by."""
        return id(self)

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """Keeps a handler; errors are exceptions, whatever it is."""
        if not isinstance(errhandler, Errhandler):
            raise TypeError(f"expecting an Errhandler, not {type(errhandler).__name__}")
        if not errhandler:
            raise fault("ARG", "MPI.ERRHANDLER_NULL is no handler")
        me().store["errhandler", self._handled()] = Errhandler(errhandler)

    def Get_errhandler(self) -> Errhandler:
        """The handler that is kept; as with mpi4py one that returns, if none was set."""
        return Errhandler(me().store.get(("errhandler", self._handled()), CONSTANTS["ERRORS_RETURN"]))

    def Call_errhandler(self, errorcode: int) -> None:
        """Nothing, or the end of the run, as the handler that is kept says."""
        kept = self.Get_errhandler()
        if errorcode != CLASSES["SUCCESS"] and kept != CONSTANTS["ERRORS_RETURN"]:
            raise Abort(me().rank, errorcode)
