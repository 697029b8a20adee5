"""How many elements the matching blocks of difflib hold, by C where the installation found a compiler.

Texts go to `matching_blocks.c` as 32-bit code points, lone surrogates too. Without the compiled file the same counts
come from `cydifflib` (difflib's algorithm in Cython), several times slower; `strop doctor` says which it is.
"""

import ctypes
import sys
import sysconfig
from pathlib import Path

import cydifflib

_ENCODING = f"utf-32-{sys.byteorder[0]}e"
_TEXT = (ctypes.c_char_p, ctypes.c_int64)


def load() -> ctypes.CDLL | None:
    """The compiled file, or None where there is none."""
    path = Path(__file__).with_name("_matching_blocks" + str(sysconfig.get_config_var("EXT_SUFFIX")))
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    library.strop_matching_elements.argtypes = (*_TEXT, *_TEXT, ctypes.c_int)
    library.strop_matching_lines.argtypes = (*_TEXT, *_TEXT, ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
    library.strop_matching_elements.restype = library.strop_matching_lines.restype = ctypes.c_int64
    return library


LIBRARY = load()


def matching_characters(a: str, b: str, autojunk: bool) -> int:
    """Characters in the blocks of `difflib.SequenceMatcher(None, a, b, autojunk)`."""
    if LIBRARY is None:
        return _in_blocks(a, b, autojunk)
    return _counted(LIBRARY.strop_matching_elements(*_given(a), *_given(b), autojunk))


def matching_lines(a: str, b: str, autojunk: bool) -> tuple[int, int]:
    """(lines in the blocks, lines in both texts), the texts split by `str.splitlines`."""
    if LIBRARY is None:
        first, second = a.splitlines(), b.splitlines()
        return _in_blocks(first, second, autojunk), len(first) + len(second)
    counts = (ctypes.c_int64 * 2)()
    return _counted(LIBRARY.strop_matching_lines(*_given(a), *_given(b), autojunk, counts)), sum(counts)


def _given(text: str) -> tuple[bytes, int]:
    return text.encode(_ENCODING, "surrogatepass"), len(text)


def _counted(count: int) -> int:
    if count < 0:
        raise MemoryError("too little memory to compare two texts")
    return count


def _in_blocks(a: str | list[str], b: str | list[str], autojunk: bool) -> int:
    blocks = cydifflib.SequenceMatcher(None, a, b, autojunk=autojunk).get_matching_blocks()
    return sum(block.size for block in blocks)
