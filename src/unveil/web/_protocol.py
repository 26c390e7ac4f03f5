"""HTTP as uvicorn speaks it, and two rules more: who connects is this user, and asks within a short time."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from unveil.web._peer import is_ours

#: How long a request may take to arrive up to its body, in seconds. Bodies have limits of their own.
PATIENCE = 15.0


class PromptProtocol(H11Protocol):
    """A connection of this user, which is closed if no request arrives on it: otherwise it would be kept for ever."""

    patience = PATIENCE

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or close the connection of another user of this machine."""
        super().connection_made(transport)
        self._wait()
        if self.client is not None and self.server is not None and not is_ours(self.client[1], self.server[1] or 0):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what arrived, and wait no longer once it is a whole request."""
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
        """Leave it to uvicorn how long a connection is kept for the next request."""
        self._stop_waiting()
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
