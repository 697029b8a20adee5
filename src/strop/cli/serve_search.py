"""`strop serve-search`: where in a repository something is, for coding agents, over MCP."""

from pathlib import Path
from typing import Annotated

from typer import Option

from strop.cli.options import EngineOptions, grouped, say
from strop.cli.search import ModelWord, Overrides, Seconds, finder_of
from strop.core.errors import UserError


@grouped
def serve_search(
    answering: EngineOptions,
    model: ModelWord,
    overrides: Overrides = None,
    root: Annotated[Path, Option(help="folder that is searched; nothing outside of it is read")] = Path(),
    seconds: Seconds = 120.0,
) -> None:
    """Serve the tool search_code over MCP on stdin and stdout: a coding agent starts this command by itself."""
    from strop.core.optional import require
    from strop.serve import search_mcp

    if not root.is_dir():
        raise UserError(f"--root {root}: no such folder")
    require("mcp.server", package="mcp", extra="mcp", purpose="strop serve-search")
    with finder_of(model, answering, overrides or [], seconds) as finder:
        say(f"search_code over MCP on stdin and stdout, for {root.resolve()}")
        search_mcp.serve(finder, root.resolve())
