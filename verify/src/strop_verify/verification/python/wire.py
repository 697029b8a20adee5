"""Frames over a byte stream: four bytes of length, big-endian, then one message of named fields.

Messages are those of `verification.python.codec`. Every process reads fields as trees; a value whose sets and dicts
must be built is a field of bytes for `decode`. Standard library only: jailed workers import this without site-packages.
"""

import math
import os
from typing import Any

from strop_verify.verification.python.codec import Malformed, Oversize, message
from strop_verify.verification.python.decoder import fields

HEADER = 4
NOT_BEGUN = 97
"""Exit status of a candidate that could not start: our error, since none of the answer's code has run."""
MAX_FRAME = 64 * 2**20
"""Largest frame from a trusted sender, in bytes; hostile ones are limited to Limits.result_bytes."""

UNSIGNED = bytes(16)
"""Sent in place of a signature by a process that has no secret yet."""


class Closed(Exception):
    """The other end has closed the channel."""


def frame(named: dict[str, Any]) -> bytes:
    """A message with its length in front. Raises Unencodable."""
    return framed(message(named))


def framed(body: bytes) -> bytes:
    """A body with its length in front."""
    return len(body).to_bytes(HEADER, "big") + body


class FrameReader:
    """Cuts a stream into messages. Raises Malformed when the sender breaks the format or exceeds `limit` bytes.

    `until`: see `decoder.fields`.
    """

    def __init__(self, limit: int = MAX_FRAME, until: float = math.inf) -> None:
        self.left, self.until = limit, until
        self.buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Takes the next bytes of the stream."""
        self.left -= len(data)
        if self.left < 0:
            raise Oversize("too many bytes of results")
        self.buffer += data

    def next(self) -> dict[str, Any] | None:
        """The next whole message, or None when more bytes are needed."""
        body = self.body()
        return None if body is None else fields(body, self.until)

    def body(self) -> bytes | None:
        """The bytes of the next whole frame without its length, or None when more are needed."""
        if len(self.buffer) < HEADER:
            return None
        size = int.from_bytes(self.buffer[:HEADER], "big")
        if size > MAX_FRAME:
            raise Malformed("a frame longer than allowed")
        if size > self.left + len(self.buffer):
            raise Oversize("a result larger than allowed")
        if len(self.buffer) < HEADER + size:
            return None
        found = bytes(self.buffer[HEADER : HEADER + size])
        del self.buffer[: HEADER + size]
        return found


def read_blocking(fd: int, reader: FrameReader) -> dict[str, Any]:
    """Waits for one message. Raises Closed at end of stream, Malformed for a broken one."""
    while (found := reader.next()) is None:
        try:
            data = os.read(fd, 1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            raise Closed("end of stream")
        reader.feed(data)
    return found


def write_blocking(fd: int, named: dict[str, Any]) -> None:
    """Writes a whole message. Raises Closed when the other end is gone."""
    write_all(fd, frame(named))


def write_all(fd: int, data: bytes) -> None:
    """Writes all bytes. Raises Closed when the other end is gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Closed("end of stream") from None
