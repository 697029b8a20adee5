"""Packed private tests of LiveCodeBench, base64(zlib(pickle(JSON text))), unpacked without carrying out a pickle."""

import base64
import binascii
import pickle
import pickletools
import zlib

from strop.core.errors import UserError
from strop.tasks.bounded import inflate

_ALLOWED = {
    "PROTO", "FRAME", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP",
}  # fmt: skip
"""Operations of the pickle of one text."""


def unpacked(packed: str, where: str) -> str:
    """The JSON text in base64(zlib(pickle(text))). Unpacks within limits; raises UserError for anything else.

    The pickle is read as a list of operations and never carried out: it may hold one text and nothing more.
    """
    try:
        data = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UserError(f"{where}: private_test_cases is neither JSON nor base64: {error}") from error
    raw = inflate(data, f"{where}: private_test_cases")
    found: list[str] = []
    try:
        for operation, argument, _ in pickletools.genops(raw):
            if operation.name not in _ALLOWED:
                raise ValueError(f"operation {operation.name} is not that of a text")
            if isinstance(argument, str):
                found.append(argument)
    except (ValueError, IndexError, OverflowError, MemoryError) as error:
        cause = " ".join(str(error).split())[:200]
        raise UserError(f"{where}: private_test_cases: the pickle is refused: {cause}") from error
    if len(found) != 1:
        raise UserError(
            f"{where}: private_test_cases: the pickle is refused: it holds {len(found)} texts, not one"
        )
    return found[0]


def packed(tests: str) -> str:
    """The inverse of `unpacked`."""
    return base64.b64encode(zlib.compress(pickle.dumps(tests))).decode()
