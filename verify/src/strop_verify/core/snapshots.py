"""A project's files as one archive: the same bytes for the same files, and the digest that names them.

The digest is a hash of paths and contents, not of the archive. A small project can be a text: a data URI (RFC 2397).
"""

import base64
import binascii
import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping

from strop_verify.core.errors import VerificationError

Files = dict[str, bytes]
"""Relative path, with "/", to content."""
DATA = "data:application/gzip;base64,"
"""The prefix of a data URI that holds a snapshot."""


def digest_of(files: Mapping[str, bytes]) -> str:
    """Content hash of a project: 32 hex digits of the SHA-256 of every path and content, in order of paths."""
    total = hashlib.sha256()
    for path in sorted(files):
        name = path.encode("utf-8", "surrogateescape")
        total.update(b"%d:%s%d:" % (len(name), name, len(files[path])))
        total.update(hashlib.sha256(files[path]).digest())
    return total.hexdigest()[:32]


def archive(files: Mapping[str, bytes]) -> bytes:
    """The .tar.gz of files: sorted, without owners and times, so that equal files give equal bytes."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files):
            info = tarfile.TarInfo(path)
            info.size = len(files[path])
            tar.addfile(info, io.BytesIO(files[path]))
    return gzip.compress(raw.getvalue(), 6, mtime=0)


def data_uri(files: Mapping[str, bytes]) -> str:
    """The archive of files as a data URI, for `ProjectCheck.project`."""
    return DATA + base64.b64encode(archive(files)).decode()


def archive_in(uri: str) -> bytes:
    """The archive that a data URI holds. Raises VerificationError."""
    try:
        return base64.b64decode(uri.removeprefix(DATA), validate=True)
    except (binascii.Error, ValueError) as error:
        raise VerificationError(f"the snapshot in the task is not base64: {error}") from None
