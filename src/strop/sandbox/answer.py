"""What a keeper says over its control socket, put together from the bytes that arrive."""

import json
from typing import Any


class Answer:
    """Takes the bytes of one answer; `whole` once all have come, or the sender is gone (`message` has "broken")."""

    def __init__(self) -> None:
        self._data = b""
        self.whole = False
        self.message: dict[str, Any] = {}

    def __call__(self, data: bytes) -> None:
        """The next bytes; b"" is the end of the stream."""
        self._data += data
        if not data and not self.whole:
            self.message, self.whole = {"broken": "it ended"}, True
        elif len(self._data) >= 8 and len(self._data) >= 8 + int(self._data[:8]):
            self.message, self.whole = json.loads(self._data[8 : 8 + int(self._data[:8])]), True
