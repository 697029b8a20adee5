"""The MCP server of `strop serve-search`: one tool that answers where in a folder something is, on stdin and stdout."""

import asyncio
import logging
from pathlib import Path
from typing import Annotated

from pydantic import Field

from strop import __version__
from strop.core.errors import StropError
from strop.rollouts.services import Threads
from strop.serve.finder import PlaceFinder

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


def serve(finder: PlaceFinder, root: Path) -> None:
    """Serves until stdin ends. Nothing outside of `root` is looked at."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    server = MCPServer("strop-search", version=__version__, log_level="WARNING")
    threads = Threads()  # which keep no process alive: it ends at once, whatever goes on
    logging.disable(logging.DEBUG)  # bm25s

    only_reads = ToolAnnotations(read_only_hint=True)

    @server.tool(description=_WHAT, structured_output=False, annotations=only_reads)
    async def search_code(question: _Question, folder: _Below = ".") -> str:
        try:
            place = (root / folder).resolve()
            if not place.is_relative_to(root):
                raise ToolError(f"{folder!r:.200} is outside of the repository")
            found = await asyncio.wrap_future(threads.submit(lambda: finder.find(place, question)))
        except (StropError, ValueError) as error:
            raise ToolError(" ".join(str(error).split())) from error
        below = place.relative_to(root).as_posix()
        return found.text(lines=True, below="" if below == "." else below) or f"no place found: {found.why}"

    threads.submit(server.run).result()  # in a thread as well: reading stdin cannot be interrupted
