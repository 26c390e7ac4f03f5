"""Keep the end of what a generator prints, however much that is."""

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
        """Return the kept bytes, with the name of a secret variable in place of its value."""
        found = b"".join(self._parts)
        # The longest first: one value may be part of another.
        for name, text in sorted((secrets or {}).items(), key=lambda each: -len(each[1])):
            value = text.encode("utf-8", "surrogateescape")
            if len(text) >= _SHORTEST:
                rest = next((at for at in range(1, len(value)) if found.startswith(value[at:])), None)
                if self._is_cut and rest is not None:  # the beginning of the value was dropped
                    found = found[len(value) - rest :]
                found = found.replace(value, f"[{name}]".encode())
        return found[-KEPT:]
