"""Lays out the memory of a process that forks, so that each child copies few of its pages.

A child gets a copy of every page that it or its parent writes to, and new objects go into the holes that earlier ones
left, all over the heap. `fill_holes` uses the holes up: what a child makes then lies together on pages of its own. It
only ever costs memory, at most `_MOST_BYTES`, where the allocators are not those of CPython and glibc.
"""

import ctypes
from collections.abc import Callable
from typing import Any

_POOL, _POOL_HEADER = 1 << 14, 48
"""CPython keeps objects of up to `_SMALL` bytes, by size in steps of 16, in pools of this size."""
_SMALL = 512
_BELOW_MMAP = 130_000
"""Bytes of a block that is too large for any hole, and that malloc still takes from the top of the heap."""
_MOST_BYTES = 4 << 20


def fill_holes() -> None:
    """Takes the free blocks below the top of the heap for good, in Python's allocator and in the C library's."""
    take, give = _allocator(ctypes.pythonapi, "PyObject_Malloc", "PyObject_Free")
    for size in range(16, _SMALL + 1, 16):
        _take_until(take, give, size, lambda block: block % _POOL == _POOL_HEADER, _MOST_BYTES // 32)
    take, give = _allocator(ctypes.CDLL(None), "malloc", "free")
    top = take(_BELOW_MMAP)
    give(top)
    left, size = _MOST_BYTES, 1 << 16
    while size >= 24 and left > 0:
        left -= _take_until(take, give, size, lambda block: block >= top, left)
        size = size * 7 // 8 if size > 2048 else size - 16


def _allocator(library: Any, take: str, give: str) -> tuple[Callable[[int], int], Callable[[int], None]]:
    take_block, give_block = getattr(library, take), getattr(library, give)
    take_block.argtypes, take_block.restype = [ctypes.c_size_t], ctypes.c_void_p
    give_block.argtypes, give_block.restype = [ctypes.c_void_p], None
    return take_block, give_block


def _take_until(
    take: Callable[[int], int],
    give: Callable[[int], None],
    size: int,
    fresh: Callable[[int], bool],
    most: int,
) -> int:
    """Takes blocks until one lies on fresh memory, which is given back; returns the bytes taken."""
    taken = 0
    while taken < most:
        block = take(size)
        if not block or fresh(block):
            give(block)
            break
        taken += size
    return taken
