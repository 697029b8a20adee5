"""`strop serve-search`: lets coding agents search a repository, over MCP."""

from pathlib import Path
from typing import Annotated

from typer import Option

from strop.cli.options import EngineOptions, Host, Overrides, grouped, say
from strop.cli.search import ModelWord, Seconds, finder_of
from strop_verify.core.errors import UserError
from strop_verify.core.listening import end_on_sigterm, is_loopback, listen, url_of


@grouped
def serve_search(
    answering: EngineOptions,
    model: ModelWord = "",
    overrides: Overrides = None,
    root: Annotated[Path, Option(help="folder to search; nothing outside it is read")] = Path(),
    seconds: Seconds = 120.0,
    port: Annotated[
        int | None,
        Option(
            min=0, max=65535, help="serve over HTTP at this port; 0 picks a free one", show_default="stdin"
        ),
    ] = None,
    host: Host = "127.0.0.1",
) -> None:
    """Serve the tool search_code over MCP: on stdin and stdout, for a coding agent that starts this command, or over
    HTTP with --port.
    """
    from strop.serve.search_server import PATH, serve_http, serve_pipes
    from strop_verify.core.optional_packages import require

    if not root.is_dir():
        raise UserError(f"--root {root}: no such folder")
    require("mcp.server", package="mcp", extra="mcp", purpose="strop serve-search")
    place = root.resolve()
    if port is None:
        with finder_of(model, answering, overrides or [], seconds) as finder:
            say(f"search_code over MCP on stdin and stdout, for {place}")
            serve_pipes(finder.find, place)
        return
    if host in ("0.0.0.0", "::", ""):
        raise UserError(f"--host {host}: name the one address by which clients reach this machine")
    end_on_sigterm()
    with listen(host, port) as socket, finder_of(model, answering, overrides or [], seconds) as finder:
        if not is_loopback(host):
            say(
                f"warning: {host} can be reached from other machines, and anyone who reaches it can read {place}"
            )
        say(f"search_code over MCP at {url_of(host, socket)}{PATH}, for {place}")
        serve_http(finder.find, place, socket, host)
