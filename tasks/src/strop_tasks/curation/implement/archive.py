"""The files of a packed tree, one at a time and never on disk. Bounded: what unpacks to more than 1 GiB is cut off."""

import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from lzma import LZMAError
from pathlib import Path

from strop_verify.core.errors import UserError

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_BYTES = 1 << 30  # of one archive, unpacked
_LONGEST_HEADER = 1 << 20
_HEADERS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
)  # fmt: skip


class _Member(tarfile.TarInfo):
    """A member whose extended header cannot fill the memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Member":
        """As for any member. Raises ReadError for an extended header of more than 1 MiB."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _LONGEST_HEADER:
            raise tarfile.ReadError("an extended header of more than 1 MiB")
        return member


def is_archive(path: Path) -> bool:
    """Whether a file's name is that of a packed tree."""
    return path.name.endswith(SUFFIXES)


def stem(path: Path) -> str:
    """The name without its ending; an sdist's folder is called so."""
    longest = max((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), key=len, default="")
    return path.name.removesuffix(longest)


def members(path: Path, suffix: str, limit: int, skipped: Counter[str]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each regular file of at most `limit` bytes whose name ends in `suffix`, in order.

    Others with that suffix are counted in `skipped`, and so is damage, which ends reading. Raises UserError if the file
    is missing or is not an archive.
    """
    begun = False
    try:
        with tarfile.open(path, "r|*", tarinfo=_Member) as packed:
            while (member := packed.next()) is not None:
                begun = True
                packed.members = []  # type: ignore[attr-defined]  # they would be kept, all of them
                if member.offset > MOST_BYTES:
                    skipped["archive too large: cut off"] += 1
                    return
                if member.name.endswith(suffix) and not member.isdir():
                    content = _content(packed, member, limit, skipped)
                    if content is not None:
                        yield member.name, content
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (tarfile.TarError, EOFError, zlib.error, LZMAError, ValueError, OSError) as error:
        if not begun:
            raise UserError(f"cannot read {path}: {' '.join(str(error).split())[:200]}") from error
        skipped["archive damaged: cut off"] += 1


def _content(
    packed: tarfile.TarFile, member: tarfile.TarInfo, limit: int, skipped: Counter[str]
) -> bytes | None:
    if not member.isreg():
        skipped["symbolic link" if member.issym() or member.islnk() else "no regular file"] += 1
        return None
    if member.size > limit:
        skipped["too long"] += 1
        return None
    file = packed.extractfile(member)
    return file.read() if file else None
