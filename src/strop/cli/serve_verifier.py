"""`strop serve-verifier`: this machine's verifier over HTTP, for training on other machines."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from strop.cli.options import Workers, recipe_of
from strop.core.errors import UserError
from strop.core.listening import is_loopback, listen, print_new_key, url_of


def serve_verifier(
    recipe: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME|RECIPE.yaml...] [KEY=VALUE...]",
            help="recipes, then overrides; only `sandbox` is used",
        ),
    ] = None,
    host: Annotated[str, Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="port to listen on; 0 picks a free one")] = 8765,
    token_file: Annotated[
        Path | None, Option(help="file with the token; default: STROP_VERIFIER_TOKEN")
    ] = None,
    workers: Workers = None,
    new_token: Annotated[bool, Option("--new-token", help="print a new token, then stop")] = False,
) -> None:
    """Judge answers sent by other machines, whose recipes name this one in `verifier.url`."""
    if new_token:
        print_new_key()
        return
    from strop.verification.remote.protocol import read_token

    token = read_token(token_file, os.environ)
    box = recipe_of(recipe or [], [] if workers is None else [f"sandbox.workers={workers}"]).sandbox
    try:
        from strop.verification.remote.server import VerifierApp, VerifierServer
    except ImportError as error:
        raise UserError(f"serve-verifier needs {error.name}: pip install 'strop[serve]'") from None
    from strop.verification import open_configured
    from strop.verification.pool.pool import VerifierPool
    from strop.verification.settings import fingerprint, limits_of

    with listen(host, port) as socket:
        if not is_loopback(host):
            print(
                f"warning: {host} can be reached from other machines and the channel is not encrypted; use a private "
                "network or a tunnel",
                file=sys.stderr,
            )
        signal.signal(
            signal.SIGTERM, lambda *_: sys.exit(0)
        )  # uvicorn ends first, then raises the signal again
        with open_configured(box) as pool:
            assert isinstance(pool, VerifierPool)
            app = VerifierApp(pool, token, fingerprint(limits_of(box), box.rust_verdict, box.trust), host)
            print(f"listening on {url_of(host, socket)} with {pool.stats()['workers']} workers", flush=True)
            VerifierServer(app).run(sockets=[socket])
