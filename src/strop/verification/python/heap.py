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
_ENOUGH = 8
"""Blocks in a row that a new pool gives, and one with holes hardly ever."""
_BELOW_MMAP = 130_000
"""Bytes of a block that is too large for any hole, and that malloc still takes from the top of the heap."""
_MOST_BYTES = 4 << 20


def fill_holes() -> None:
    """Takes the free blocks below the top of the heap for good, in Python's allocator and in the C library's."""
    take, give = _allocator(ctypes.pythonapi, "PyObject_Malloc", "PyObject_Free")
    for size in range(16, _SMALL + 1, 16):
        _fill_pools(take, give, size)
    take, give = _allocator(ctypes.CDLL(None), "malloc", "free")
    top = take(_BELOW_MMAP)
    give(top)
    left, size = _MOST_BYTES, 1 << 16
    while size >= 24 and left > 0:
        while left > 0 and (block := take(size)) and block < top:
            left -= size
        give(block)
        size = size * 7 // 8 if size > 2048 else size - 16


def _allocator(library: Any, take: str, give: str) -> tuple[Callable[[int], int], Callable[[int], None]]:
    take_block, give_block = getattr(library, take), getattr(library, give)
    take_block.argtypes, take_block.restype = [ctypes.c_size_t], ctypes.c_void_p
    give_block.argtypes, give_block.restype = [ctypes.c_void_p], None
    return take_block, give_block


def _fill_pools(take: Callable[[int], int], give: Callable[[int], None], size: int) -> None:
    """Takes blocks until they come one after the other from the start of a pool, which is given back: it is new."""
    row: list[int] = []
    for _ in range(_MOST_BYTES // _SMALL * 16 // size):
        block = take(size)
        if row and block == row[-1] + size:
            row.append(block)
        else:
            row = [block] if block % _POOL == _POOL_HEADER else []
        if len(row) == _ENOUGH:
            break
    for block in row:
        give(block)
