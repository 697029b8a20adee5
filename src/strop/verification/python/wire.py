"""Frames over a byte stream: four bytes of length, big-endian, then one JSON message.

Standard library only: jailed workers import this without site-packages.
"""

import os
from typing import Any

from strop.verification.python.codec import MAX_LEVELS, Malformed, Oversize, dumps, loads

HEADER = 4
NOT_BEGUN = 97
"""Exit status of a candidate that could not start: our error, as none of the answer's code has run."""
MAX_FRAME = 64 * 2**20
"""Largest frame from a trusted sender, in bytes; hostile ones are held to Limits.result_bytes."""
WRAPPED = MAX_LEVELS + 8
"""Levels of a trusted frame that holds values of a hostile one."""


class Closed(Exception):
    """The other end has closed the channel."""


def frame(message: Any) -> bytes:
    """A message with its length in front."""
    body = dumps(message)
    return len(body).to_bytes(HEADER, "big") + body


class FrameReader:
    """Cuts a stream into messages; raises Malformed when the sender breaks the format or passes `limit` bytes."""

    def __init__(self, limit: int = MAX_FRAME, levels: int = MAX_LEVELS) -> None:
        self.left, self.levels = limit, levels
        self.buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Takes the next bytes of the stream."""
        self.left -= len(data)
        if self.left < 0:
            raise Oversize("too many bytes of results")
        self.buffer += data

    def next(self) -> Any | None:
        """The next whole message, or None when more bytes are needed. No message is None."""
        if len(self.buffer) < HEADER:
            return None
        size = int.from_bytes(self.buffer[:HEADER], "big")
        if size > MAX_FRAME:
            raise Malformed("a frame longer than any")
        if size > self.left + len(self.buffer):
            raise Oversize("a result larger than allowed")
        if len(self.buffer) < HEADER + size:
            return None
        body = bytes(self.buffer[HEADER : HEADER + size])
        del self.buffer[: HEADER + size]
        message = loads(body, self.levels)
        if message is None:
            raise Malformed("an empty message")
        return message


def read_blocking(fd: int, reader: FrameReader) -> Any:
    """Waits for one message. Raises Closed at end of stream, Malformed for a broken one."""
    while (message := reader.next()) is None:
        try:
            data = os.read(fd, 1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            raise Closed("end of stream")
        reader.feed(data)
    return message


def write_blocking(fd: int, message: Any) -> None:
    """Writes a whole message. Raises Closed when the other end is gone."""
    write_all(fd, frame(message))


def write_all(fd: int, data: bytes) -> None:
    """Writes all bytes. Raises Closed when the other end is gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Closed("end of stream") from None
