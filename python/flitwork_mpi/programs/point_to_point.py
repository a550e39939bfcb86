"""Messages of one rank to another: buffers, and Python objects by pickle."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

from flitwork_mpi.programs.buffer import Buffer, as_bytes, fill, message, room
from flitwork_mpi.programs.channel import Channel
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.matched_probe import MESSAGE_NO_PROC
from flitwork_mpi.programs.matched_probe import Message as MatchedMessage
from flitwork_mpi.programs.objects import loaded
from flitwork_mpi.programs.persistent import Persistent
from flitwork_mpi.programs.pickling import dump
from flitwork_mpi.programs.request import Finish, Request, poll
from flitwork_mpi.programs.status import ANY_SOURCE, ANY_TAG, PROC_NULL, Status
from flitwork_mpi.programs.world import Message, Operation, me


class PointToPoint(Channel):
    """``Send`` and its relatives. A send is complete when its last flit has left: ``Bsend`` and ``Rsend`` are, too."""

    # Buffers.

    def Send(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Sends a buffer; returns when it has left."""
        _wait(self._send_buffer(buf, dest, tag))

    def Ssend(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Sends a buffer; returns when it has been received."""
        _wait(self._send_buffer(buf, dest, tag, True))

    def Isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Starts to send a buffer. It is copied at once."""
        return Request.of(self._send_buffer(buf, dest, tag))

    def Issend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Starts to send a buffer; complete when it has been received."""
        return Request.of(self._send_buffer(buf, dest, tag, True))

    Bsend = Rsend = Send
    Ibsend = Irsend = Isend

    def Recv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> None:
        """Receives a buffer."""
        self.Irecv(buf, source, tag)._wait(status)

    def Irecv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Posts a receive. What comes is in the buffer when it has been waited for."""
        if source == PROC_NULL:
            return Request.of(None)
        into = room(buf)
        return Request.of(self._receive(source, tag), lambda came: fill(into, came.data, came.signature), self._place)

    def Sendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        """Sends one buffer and receives another."""
        into, received, sent = self._both(sendbuf, dest, sendtag, recvbuf, source, recvtag)
        _wait(received, sent)
        came = received.message if received is not None else None
        if came is not None and into is not None:
            fill(into, came.data, came.signature)
        if status is not None:
            self._say(status, came)

    def Sendrecv_replace(
        self,
        buf: Any,
        dest: int,
        sendtag: int = 0,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        """Sends a buffer, and receives into it."""
        self.Sendrecv(buf, dest, sendtag, buf, source, recvtag, status)

    def Isendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        """:meth:`Sendrecv`, started: one request for both messages; its status is that of the receive."""
        into, received, sent = self._both(sendbuf, dest, sendtag, recvbuf, source, recvtag)
        started = [one for one in (received, sent) if one is not None]

        def work() -> Message | None:
            me().wait(*started)
            return None if received is None else received.message

        finish: Finish | None = None if into is None else lambda came: fill(into, came.data, came.signature)
        return Request.of(me().spawn(work, "Isendrecv") if started else None, finish, self._place)

    def Isendrecv_replace(
        self, buf: Any, dest: int, sendtag: int = 0, source: int = ANY_SOURCE, recvtag: int = ANY_TAG
    ) -> Request:
        """:meth:`Sendrecv_replace`, started."""
        return self.Isendrecv(buf, dest, sendtag, buf, source, recvtag)

    def Send_init(self, buf: Any, dest: int, tag: int = 0) -> Persistent:
        """A send that can be started again and again."""
        return Persistent.made_by(lambda: self.Isend(buf, dest, tag))

    def Ssend_init(self, buf: Any, dest: int, tag: int = 0) -> Persistent:
        """A synchronous send that can be started again and again."""
        return Persistent.made_by(lambda: self.Issend(buf, dest, tag))

    Bsend_init = Rsend_init = Send_init

    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Persistent:
        """A receive that can be started again and again."""
        return Persistent.made_by(lambda: self.Irecv(buf, source, tag))

    # Python objects.

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Sends an object; returns when it has left."""
        me().wait(*self._send_object(obj, dest, tag))

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Sends an object; returns when it has been received."""
        me().wait(*self._send_object(obj, dest, tag, True))

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Starts to send an object."""
        return self._sending(self._send_object(obj, dest, tag))

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Starts to send an object; complete when it has been received."""
        return self._sending(self._send_object(obj, dest, tag, True))

    bsend = send
    ibsend = isend

    def recv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Any:
        """Receives an object. ``buf``, where it is given, says how long it may be [bytes]."""
        if buf is not None:
            warnings.warn("the 'buf' argument is deprecated", UserWarning, stacklevel=2)
        return self.irecv(buf, source, tag).wait(status)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Posts a receive of an object; ``request.wait()`` returns it."""
        finish = loaded if buf is None or source == PROC_NULL else _loaded_up_to(_length(buf))
        return Request.of(self._receive(source, tag), finish, self._place)

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        """Sends one object and receives another."""
        sent = self._of_object(sendobj, dest, sendtag)
        received = self._receive(source, recvtag)
        _wait(received, _sent(sent))
        came = received.message if received is not None else None
        if status is not None:
            self._say(status, came)
        return None if came is None else loaded(came)

    # Probes.

    def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Waits for a message that a receive would take."""
        came = self._probed(source, tag)
        if status is not None:
            self._say(status, came)
        return True

    def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Whether a receive would find a message. If not, the rank goes on when something happens to it."""
        came = self._look(source, tag)
        found = came is not None or source == PROC_NULL
        if found and status is not None:
            self._say(status, came)
        return found

    probe = Probe
    iprobe = Iprobe

    def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> MatchedMessage:
        """Waits for a message and takes it: ``message.Recv(buf)``."""
        return self._matched(self._probed(source, tag), status)

    def Improbe(
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> MatchedMessage | None:
        """Takes a message, if there is one."""
        came = self._look(source, tag)
        return None if came is None and source != PROC_NULL else self._matched(came, status)

    mprobe = Mprobe
    improbe = Improbe

    def _matched(self, came: Message | None, status: Status | None) -> MatchedMessage:
        if status is not None:
            self._say(status, came)
        if came is None:
            return MatchedMessage(MESSAGE_NO_PROC)
        # It is the first message of its sender with its tag, so this receive takes it.
        return MatchedMessage.of(me().receive(came.source, came.tag, came.context), self._place)

    def _probed(self, source: int, tag: int) -> Message | None:
        """Waits for a message that a receive would take; ``None`` from nobody."""
        if source == PROC_NULL:
            return None
        process = me()
        return process.probe(*self._pattern(process, source, tag), self._context)

    def _look(self, source: int, tag: int) -> Message | None:
        if source == PROC_NULL:
            return None
        process = me()
        pattern = self._pattern(process, source, tag)
        came = process.found(*pattern, self._context)
        if came is None:
            poll(process)
            came = process.found(*pattern, self._context)
        return came

    def _send_buffer(self, spec: Any, dest: int, tag: int, synchronous: bool = False) -> Operation | None:
        return _sent(self._of_buffer(spec, dest, tag), synchronous)

    def _both(
        self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int
    ) -> tuple[Buffer | None, Operation | None, Operation | None]:
        """The room for what comes, the receive, and the send; ``None`` of nobody's."""
        into = None if source == PROC_NULL else room(recvbuf)
        # What cannot be sent must leave no receive behind.
        sent = self._of_buffer(sendbuf, dest, sendtag)
        received = self._receive(source, recvtag)
        return into, received, _sent(sent)

    def _send_object(self, obj: Any, dest: int, tag: int, synchronous: bool = False) -> Sequence[Operation]:
        """Starts to send an object; nothing to nobody."""
        sent = _sent(self._of_object(obj, dest, tag), synchronous)
        return () if sent is None else (sent,)

    def _sending(self, sent: Sequence[Operation]) -> Request:
        """The request of an object that has been started."""
        return Request.of(*sent or (None,))

    def _of_buffer(self, spec: Any, dest: int, tag: int) -> Message | None:
        """A buffer as a message; ``None`` to nobody."""
        if dest == PROC_NULL:
            return None
        buffer = message(spec)
        kind = buffer.datatype
        return self._message(dest, tag, buffer.count * kind.size, buffer.pack(), kind.signature)

    def _of_object(self, obj: Any, dest: int, tag: int) -> Message | None:
        if dest == PROC_NULL:
            return None
        data = dump(obj)
        return self._message(dest, tag, len(data), data, None)

    def _say(self, status: Status, came: Message | None) -> None:
        if came is None:
            status.set(PROC_NULL, ANY_TAG, 0)
        else:
            status.set(self._place(came.source), came.tag, came.nbytes)


def _length(buf: Any) -> int:
    """What a receive of an object has room for: a number of bytes, or a buffer."""
    try:
        return operator.index(buf)
    except TypeError:
        return as_bytes(buf, True)[0].size


def _loaded_up_to(most: int) -> Finish:
    def finish(came: Message) -> Any:
        if came.nbytes > most:
            raise fault("TRUNCATE", f"an object of {came.nbytes} bytes, and room for {most} in its receive")
        return loaded(came)

    return finish


def _sent(message: Message | None, synchronous: bool = False) -> Operation | None:
    """Starts to send a message, if there is one."""
    return None if message is None else me().send(message, synchronous)


def _wait(*operations: Operation | None) -> None:
    me().wait(*[one for one in operations if one is not None])
