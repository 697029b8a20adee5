"""How many functions a linked program runs before `main`, by its ELF sections."""

import struct

_KINDS = {14, 15, 16}
"""Types of the sections .init_array, .fini_array and .preinit_array."""


def count_constructors(program: bytes) -> int:
    """Entries of the arrays of functions run before and after `main`. Raises ValueError where there is no ELF file."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    try:
        (start,) = struct.unpack_from("<Q", program, 40)
        size, count = struct.unpack_from("<HH", program, 58)
        sections = [struct.unpack_from("<IIQQQQ", program, start + size * n) for n in range(count)]
    except struct.error as error:
        raise ValueError(f"not a whole ELF file: {error}") from None
    return sum(section[5] // 8 for section in sections if section[1] in _KINDS)
