"""`strop view`: shows runs in the browser, live."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from strop.cli.options import newest_run
from strop_verify.core.errors import UserError
from strop_verify.core.listening import end_on_sigterm


def view(
    runs: Annotated[
        list[Path] | None, Argument(metavar="[RUN...]", help="run folders", show_default="the newest run")
    ] = None,
    port: Annotated[
        int | None,
        Option(min=0, max=65535, help="port to listen on; 0: any free one", show_default="free, from 6006"),
    ] = None,
    open_browser: Annotated[bool, Option("--open", help="also open the browser")] = False,
) -> None:
    """Show runs in the browser, even while they train. Ctrl-C ends it.

    The page is served on this machine only (127.0.0.1). For another machine: ssh -L 6006:127.0.0.1:6006 HOST
    """
    try:
        from strop.reports.view import ViewApp, browse, listen, url_of
    except ImportError as error:
        raise UserError(f"view needs {error.name}: pip install 'strop[report]'") from None
    end_on_sigterm()
    app = ViewApp(runs or [newest_run()])
    with listen(port) as socket:
        url = url_of(socket)

        def ready() -> None:
            print(f"{url}  (Ctrl-C ends it)", flush=True)
            if open_browser:
                browse(url)

        try:
            app.server(socket, ready).run()
        except KeyboardInterrupt:  # the usual way to stop it
            print(file=sys.stderr)
