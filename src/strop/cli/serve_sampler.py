"""`strop serve-sampler`: starts vLLM's own server for a recipe, for policy.engine=vllm-server."""

from pathlib import Path
from typing import Annotated

from typer import Option

from strop.cli.options import AnyRecipes, Host, Port, recipe_of


def serve_sampler(
    url_file: Annotated[
        Path, Option(help="file that holds the server's URL while it is ready; name it in policy.urls")
    ],
    recipe: AnyRecipes = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
) -> None:
    """Start a vLLM server that training samples from and sends new weights to."""
    from strop.launch.sampler import serve

    serve(recipe_of(recipe or []), url_file, host, port)
