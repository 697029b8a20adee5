"""The MCP server of `strop serve-search`: one tool that answers where in a folder something is, on stdin and stdout."""

import asyncio
from pathlib import Path

from strop import __version__
from strop.core.errors import StropError
from strop.core.optional import require
from strop.rollouts.services import Threads
from strop.serve.finder import Finder


def check_package() -> None:
    """Raises UserError where the package is missing."""
    require("mcp.server", package="mcp", extra="mcp", purpose="strop serve-search")


def serve(finder: Finder, root: Path) -> None:
    """Serves until stdin ends. Nothing outside of `root` is looked at."""
    mcp = require("mcp.server", package="mcp", extra="mcp", purpose="strop serve-search")
    errors = require(
        "mcp.server.mcpserver.exceptions", package="mcp", extra="mcp", purpose="strop serve-search"
    )
    server = mcp.MCPServer("strop-search", version=__version__, log_level="WARNING")
    threads = (
        Threads()
    )  # they keep no process alive: it ends with stdin, also while a question is looked into

    @server.tool(structured_output=False)
    async def search_code(question: str, folder: str = ".") -> str:
        """Finds where in the repository something is: the files and lines that matter for a request.

        Answers with PATH:FIRST-LAST of each file and with those lines.

        Args:
            question: what is looked for, in words, such as an issue's text; name identifiers that are known
            folder: look only below this folder, a path relative to the repository's
        """
        try:
            place = (root / folder).resolve()
            if not place.is_relative_to(root):
                raise errors.ToolError(f"{folder!r:.200} is outside of the repository")
            found = await asyncio.wrap_future(threads.submit(lambda: finder.find(place, question)))
        except (StropError, ValueError) as error:
            raise errors.ToolError(" ".join(str(error).split())) from error
        below = place.relative_to(root).as_posix()
        return found.text(lines=True, below="" if below == "." else below) or f"no place found: {found.why}"

    server.run()
