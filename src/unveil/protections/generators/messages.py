"""The end of a generator's output, in bounded memory."""

import io
from collections import deque
from collections.abc import Mapping

#: This many bytes are kept.
KEPT = 1 << 20
#: Shorter values of variables are not hidden: they occur in any text.
_SHORTEST = 4


class Messages(io.TextIOBase):
    """A stream that keeps the last bytes written to it.

    >>> stream = Messages()
    >>> _ = stream.write("x" * KEPT + "end")
    >>> len(stream.content()), stream.content()[-4:]
    (1048576, b'xend')
    """

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._is_cut = False

    def add(self, content: bytes) -> None:
        """Take more bytes, and drop the oldest ones beyond the limit."""
        self._parts.append(content)
        self._size += len(content)
        while self._size - len(self._parts[0]) >= KEPT:
            self._size -= len(self._parts.popleft())
            self._is_cut = True

    def write(self, text: str) -> int:
        """Take text."""
        if text:
            self.add(text.encode("utf-8", "backslashreplace"))
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True

    def content(self, secrets: Mapping[str, str] | None = None) -> bytes:
        """Return the kept bytes, with values of protected variables masked."""
        found = b"".join(self._parts)
        told = {name: value.encode("utf-8", "surrogateescape") for name, value in (secrets or {}).items()}
        hidden = {name: value for name, value in told.items() if len(value) >= _SHORTEST}
        if self._is_cut:  # perhaps in the middle of a value, whose end is then left
            ends = (value[at:] for value in hidden.values() for at in range(len(value)))
            end = max((each for each in ends if found.startswith(each)), key=len, default=b"")
            found = found if end in hidden.values() else found.removeprefix(end)
        # The longest first: one value may be part of another.
        for name, value in sorted(hidden.items(), key=lambda each: -len(each[1])):
            found = found.replace(value, f"[{name}]".encode())
        return found[-KEPT:]
