"""`strop serve-verifier`: offers this machine's verifier over HTTP, for training on other machines."""

import os
from pathlib import Path
from typing import Annotated

from typer import Option

from strop.cli.options import AnyRecipes, Host, Port, Workers, recipe_of, say
from strop_verify.core.errors import UserError
from strop_verify.core.listening import end_on_sigterm, is_loopback, listen, print_new_key, url_of


def serve_verifier(
    recipe: AnyRecipes = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    token_file: Annotated[
        Path | None, Option(help="file with the token; default: STROP_VERIFIER_TOKEN")
    ] = None,
    workers: Workers = None,
    new_token: Annotated[bool, Option("--new-token", help="print a new token, then stop")] = False,
) -> None:
    """Judge answers for other machines, whose recipes name this one in `verifier.url`. Of the recipe given here, only
    `sandbox` is used.
    """
    if new_token:
        print_new_key()
        return
    from strop_verify.verification.remote.protocol import read_token

    token = read_token(token_file, os.environ)
    box = recipe_of(recipe or [], [] if workers is None else [f"sandbox.workers={workers}"]).sandbox
    try:
        from strop_verify.verification.remote.server import VerifierApp
    except ImportError as error:
        raise UserError(f"serve-verifier needs {error.name}: pip install 'strop[serve]'") from None
    from strop_verify.verification import open_configured
    from strop_verify.verification.pool.pool import VerifierPool
    from strop_verify.verification.settings import fingerprint, limits_of

    with listen(host, port) as socket:
        if not is_loopback(host):
            say(
                f"warning: {host} can be reached from other machines and the channel is not encrypted; use a private "
                "network or a tunnel"
            )
        end_on_sigterm()
        with open_configured(box) as pool:
            assert isinstance(pool, VerifierPool)
            app = VerifierApp(pool, token, fingerprint(limits_of(box), box.rust_verdict, box.trust), host)
            print(f"listening on {url_of(host, socket)} with {pool.stats()['workers']} workers", flush=True)
            app.server(socket).run()
