"""HTTP through uvicorn with connection, queue, and request limits."""

import asyncio
import itertools
import re
import socket
from typing import Any

import h11
from uvicorn import Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from unveil.web._peer import is_ours
from unveil.web.guard import INSIDE

#: How long a request may take to arrive up to its body, in seconds. Bodies have limits of their own.
PATIENCE = 15.0
#: So many connections may be open on which the signed-in browser did not ask; then the oldest gives way to the next.
MOST_WAITING = 200
#: So many are taken from the system at a time. A connection is heard only when three times as many may have come after
#: it, so this is far below the number that may wait: a browser that connects in a crowd does not have to give way.
AT_A_TIME = 32
#: So many may queue in the system until they are taken; who finds no place there has to try again a second later.
_QUEUE = 1024

#: So many bytes a request may have up to its body.
_LONGEST_HEAD = 65_536
_BLANK_LINE = re.compile(rb"\n\r?\n")
# A line that does not end as it must, a header that goes on in the next line, and what no line may hold.
_NO_LINE = re.compile(rb"(?<!\r)\n|\r(?=[^\n])|\n[ \t]|\x00")
_VERSIONS = (b"1.0", b"1.1")
_numbers = itertools.count()


class PatientServer(Server):
    """Server with few connections and a long queue."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for each in sockets or []:
            each.listen(_QUEUE)


class StrictConnection(h11.Connection):
    """Understands a request in one way, or not at all.

    What can be read in two ways (lines that end in LF alone, headers that go on in the next line, a body whose length
    is told twice) is read differently by two programs that look at the same request: so requests are smuggled.
    """

    def next_event(self) -> Any:
        """Return the next event, or refuse a malformed head."""
        if self.their_state is h11.IDLE:
            received = self.trailing_data[0]
            found = _BLANK_LINE.search(received)
            end = found.end() if found else len(received)
            if end > _LONGEST_HEAD or _NO_LINE.search(received, 0, end):
                raise h11.RemoteProtocolError("the request is too long, or a line is not written as it must be")
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if event.http_version not in _VERSIONS or {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("the request is of another version, or tells its length twice")
        return event


class PromptProtocol(H11Protocol):
    """Connection of this user, closed if no request arrives.

    Whoever waits without being signed in gives way to who comes later, and never takes the place of who is.
    """

    patience = PATIENCE

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.conn = StrictConnection(h11.SERVER)
        self.number = next(_numbers)
        self._was_inside = False
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_inside(self) -> bool:
        """True if the current or last request is from the signed-in browser."""
        # A request that has just arrived was not looked at yet: until then its connection is what it was before.
        return self._was_inside or (self.scope is not None and INSIDE in self.scope)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, or close another user's connection."""
        super().connection_made(transport)
        client, server = self.client, self.server
        if client is None or server is None or not is_ours(client, (server[0], server[1] or 0)):
            transport.abort()
            return
        self._wait()
        waiting = [each for each in self.connections if isinstance(each, PromptProtocol) and not each.is_inside]
        if len(waiting) > MOST_WAITING:
            oldest = min(waiting, key=lambda each: each.number)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take received bytes; stop at a complete request."""
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()  # a second request on the same connection begins
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Leave the keep-alive time of the next request to uvicorn."""
        self._stop_waiting()
        self._was_inside = INSIDE in self.scope
        super().on_response_complete()

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.close()
