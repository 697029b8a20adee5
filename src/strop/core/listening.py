"""What every server here does alike: its socket, its address, the key that clients send, bodies of bounded size."""

import hmac
import ipaddress
import socket
from collections.abc import AsyncIterator
from pathlib import Path

from strop.core.errors import UserError


def listen(host: str, port: int, options: str = "--host or --port") -> socket.socket:
    """A listening socket; port 0 picks a free one. Raises UserError, with the options that may help, when the address
    cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=256)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}:{port}: {error}; choose another {options}") from None


def url_of(host: str, listening: socket.socket) -> str:
    """The address for clients."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(option: str, file: Path | None, least: int = 1) -> str:
    """What clients must send, "" without a file. Raises UserError."""
    if file is None:
        return ""
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{option} {file}: cannot be read ({error}); write a key into it") from None
    if len(key) < least or not key.isascii() or len(key.split()) != 1:
        long = f" of at least {least} characters" if least > 1 else ""
        raise UserError(f"{option} {file}: holds no key; write one word of ASCII{long} into it")
    return key


def brings(authorization: str, key: str) -> bool:
    """Whether the header of that name has the key as a bearer token."""
    return hmac.compare_digest(authorization.encode("latin-1", errors="replace"), b"Bearer " + key.encode())


async def bounded_body(length: str, chunks: AsyncIterator[bytes], most: int) -> bytes | None:
    """A request's body; None where it is longer than `most` bytes, by its Content-Length or by what arrives."""
    body = bytearray()
    if not length.isdigit() or int(length) > most:
        return None
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)
