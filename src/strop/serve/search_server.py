"""The MCP server of `strop serve-search`, with one tool that finds code in a repository.

It serves on stdin and stdout, or over HTTP (streamable, without sessions) behind the guard of `core.listening`.
"""

import asyncio
import logging
from pathlib import Path
from socket import socket as Socket
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from strop import __version__
from strop.rollouts.services import Threads
from strop.serve.found import Find
from strop_verify.core.errors import StropError
from strop_verify.core.listening import GuardedServer, RequestGuard

if TYPE_CHECKING:
    from mcp.server import MCPServer

PATH = "/mcp"
"""Path of the server's URL."""
_WHAT = """Finds where in the repository something is: the files and lines that matter for a request.
Answers with PATH:FIRST-LAST of each file and with those lines."""
_Question = Annotated[
    str,
    Field(
        description="what is looked for, in words, such as an issue's text; name identifiers that are known"
    ),
]
_Below = Annotated[
    str, Field(description="look only in this folder, a path relative to the repository's top")
]


def serve_pipes(find: Find, root: Path) -> None:
    """Serves until stdin ends. Only files below `root` are searched."""
    threads = Threads()
    server = _server(find, root, threads)
    threads.submit(server.run).result()  # in a thread as well: reading stdin cannot be interrupted


def serve_http(find: Find, root: Path, listening: Socket, host: str) -> None:
    """Serves at PATH until a signal. `host` is the address that `listening` is bound to."""
    from mcp.server.transport_security import TransportSecuritySettings

    app = _server(find, root, Threads()).streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard's
    )  # fmt: skip
    GuardedServer(RequestGuard(app, host=host), listening).run()


def _server(find: Find, root: Path, threads: Threads) -> "MCPServer":
    """The server with its tool. `threads` must not keep the process alive, so that it ends at once at any time."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    server = MCPServer("strop-search", version=__version__, log_level="WARNING")
    logging.disable(logging.DEBUG)  # bm25s

    @server.tool(description=_WHAT, structured_output=False, annotations=ToolAnnotations(read_only_hint=True))
    async def search_code(question: _Question, folder: _Below = ".") -> str:
        try:
            place = (root / folder).resolve()
            if not place.is_relative_to(root):
                raise ToolError(f"{folder!r:.200} is outside the repository")
            found = await asyncio.wrap_future(threads.submit(lambda: find(place, question)))
        except (StropError, ValueError) as error:
            raise ToolError(" ".join(str(error).split())) from error
        below = place.relative_to(root).as_posix()
        return found.text(lines=True, below="" if below == "." else below) or f"no place found: {found.why}"

    return server
