"""Collectives of buffers that are started again and again."""

from __future__ import annotations

from typing import Any

from flitwork_mpi.programs.collectives import Collectives
from flitwork_mpi.programs.persistent import Persistent
from flitwork_mpi.programs.reduction import OPS, Op

_SUM = OPS["SUM"]


class PersistentCollectives(Collectives):
    """Collectives that are started again and again."""

    def Barrier_init(self, info: Any = None) -> Persistent:
        """:meth:`Barrier`, to be started again and again."""
        return Persistent.made_by(self.Ibarrier)

    def Bcast_init(self, buf: Any, root: int = 0, info: Any = None) -> Persistent:
        """:meth:`Bcast`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ibcast(buf, root))

    def Gather_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = None) -> Persistent:
        """:meth:`Gather`, to be started again and again."""
        return Persistent.made_by(lambda: self.Igather(sendbuf, recvbuf, root))

    def Gatherv_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = None) -> Persistent:
        """:meth:`Gatherv`, to be started again and again."""
        return Persistent.made_by(lambda: self.Igatherv(sendbuf, recvbuf, root))

    def Scatter_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = None) -> Persistent:
        """:meth:`Scatter`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iscatter(sendbuf, recvbuf, root))

    def Scatterv_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = None) -> Persistent:
        """:meth:`Scatterv`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iscatterv(sendbuf, recvbuf, root))

    def Allgather_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Allgather`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iallgather(sendbuf, recvbuf))

    def Allgatherv_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Allgatherv`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iallgatherv(sendbuf, recvbuf))

    def Alltoall_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Alltoall`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ialltoall(sendbuf, recvbuf))

    def Alltoallv_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Alltoallv`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ialltoallv(sendbuf, recvbuf))

    def Alltoallw_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Alltoallw`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ialltoallw(sendbuf, recvbuf))

    def Reduce_init(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, root: int = 0, info: Any = None) -> Persistent:
        """:meth:`Reduce`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ireduce(sendbuf, recvbuf, op, root))

    def Allreduce_init(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, info: Any = None) -> Persistent:
        """:meth:`Allreduce`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iallreduce(sendbuf, recvbuf, op))

    def Reduce_scatter_block_init(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, info: Any = None) -> Persistent:
        """:meth:`Reduce_scatter_block`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ireduce_scatter_block(sendbuf, recvbuf, op))

    def Reduce_scatter_init(
        self, sendbuf: Any, recvbuf: Any, recvcounts: list[int] | None = None, op: Op = _SUM, info: Any = None
    ) -> Persistent:
        """:meth:`Reduce_scatter`, to be started again and again."""
        counts = self._counts(sendbuf, recvbuf, recvcounts)
        return Persistent.made_by(lambda: self.Ireduce_scatter(sendbuf, recvbuf, counts, op))

    def Scan_init(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, info: Any = None) -> Persistent:
        """:meth:`Scan`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iscan(sendbuf, recvbuf, op))

    def Exscan_init(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, info: Any = None) -> Persistent:
        """:meth:`Exscan`, to be started again and again."""
        return Persistent.made_by(lambda: self.Iexscan(sendbuf, recvbuf, op))
