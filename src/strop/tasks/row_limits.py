"""Limits on the content of a data set's row: compressed bytes, JSON text, and the size of both.

A data set is hostile text: a few kilobytes can unpack to gigabytes, and nested brackets can exhaust a parser's stack.
"""

import json
import re
import tomllib
import zlib
from collections.abc import Callable
from typing import Any

import zstandard

from strop_verify.core.errors import UserError

MAX_ROW = 256 << 20
"""Maximum bytes of one row: of a line, or of an unpacked field. The largest published rows, LiveCodeBench's problems
with their private tests, stay below half of it."""
ZSTD_STEP = 1 << 11
"""Compressed bytes read at once: zstandard packs up to 128 KiB into 4 bytes, so these unpack to at most 64 MiB."""
MAX_DEPTH = 100
"""Maximum nesting of JSON values in a task."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def inflate(data: bytes, where: str, limit: int = MAX_ROW) -> bytes:
    """Unpacks a zlib or gzip stream or zstandard frame. Raises UserError if damaged, cut off or over `limit` bytes."""
    try:
        if data[:4] == b"\x28\xb5\x2f\xfd":
            whole, torn = _inflate_zstd(data, limit)
        else:
            stream = zlib.decompressobj(wbits=47)  # 32 + 15: zlib or gzip, as the header says
            whole = stream.decompress(data, limit + 1)
            torn = not stream.eof
    except (zlib.error, zstandard.ZstdError) as error:
        raise UserError(f"{where}: compressed data is damaged: {error}") from error
    if len(whole) > limit:
        raise UserError(f"{where}: compressed data unpacks to more than {size(limit)}: left out")
    if torn:
        raise UserError(f"{where}: compressed data is cut off")
    return whole


def _inflate_zstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    """(content of a frame, up to `limit` bytes plus one step, whether it is cut off)."""
    frame = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    parts: list[bytes] = []
    length = 0
    for start in range(0, len(data), ZSTD_STEP):
        parts.append(frame.decompress(data[start : start + ZSTD_STEP]))
        length += len(parts[-1])
        if frame.eof or length > limit:
            break
    return b"".join(parts), not frame.eof


def parse_json(text: str | bytes, where: str, limit: int = MAX_ROW) -> Any:
    """The value of a JSON text. Raises a one-line UserError for what a task cannot hold: bad syntax, a repeated key,
    more than `limit` bytes, nesting deeper than `MAX_DEPTH`, NaN, infinities, half of a surrogate pair, invalid UTF-8,
    integers with more digits than Python converts (4300).
    """
    if len(text) > limit:
        raise UserError(f"{where}: JSON text of {size(len(text))}, more than {size(limit)}: left out")
    value = loads(text, where, _refuse)
    check_value(value, where)
    return value


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises UserError for bad syntax."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{where}: {error}") from error


def loads(text: str | bytes, where: str, constant: Callable[[str], Any]) -> Any:
    """The value of a JSON text; `constant` converts NaN and the infinities. Raises UserError for bad syntax."""
    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise UserError(f"{where}: bad JSON: nested deeper than {MAX_DEPTH}") from error
    except ValueError as error:
        text = " ".join(str(error).split())
        cause = text if len(text) <= 200 else f"{text[:200]}..."
        raise UserError(f"{where}: bad JSON: {cause}") from error


def check_value(value: Any, where: str) -> None:
    """Raises UserError for values deeper than `MAX_DEPTH`, numbers that are not finite and lone surrogates."""
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise UserError(f"{where}: nested deeper than {MAX_DEPTH}")
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                deeper += [*item, *item.values()]
            elif isinstance(item, list | tuple):
                deeper += item
            elif isinstance(item, str):
                if not item.isascii() and _SURROGATE.search(item):
                    raise UserError(f"{where}: half of a surrogate pair in a string")
            elif isinstance(item, float) and (item != item or item in (float("inf"), float("-inf"))):
                raise UserError(f"{where}: the number {item} is not a JSON value")
        level, depth = deeper, depth + 1


def plain_row(row: dict[str, Any], where: str) -> dict[str, Any]:
    """A table's row without columns that are null or NaN, meaning missing. Raises UserError for NaN inside values."""
    kept = {k: v for k, v in row.items() if v is not None and not (isinstance(v, float) and v != v)}
    check_value([v for v in kept.values() if isinstance(v, list | dict)], where)
    return kept


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON text. Raises ValueError for a repeated key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:60]!r} is given twice")
    return found


def size(count: int) -> str:
    """A number of bytes in human-readable form."""
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON value")
