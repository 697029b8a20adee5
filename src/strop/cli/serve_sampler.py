"""`strop serve-sampler`: vLLM's own server for a recipe, for policy.engine=vllm-server."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from strop.cli.options import recipe_of


def serve_sampler(
    url_file: Annotated[
        Path, Option(help="file that holds the server's URL as long as it is ready; name it in policy.urls")
    ],
    recipe: Annotated[
        list[str] | None,
        Argument(metavar="[NAME|RECIPE.yaml...] [KEY=VALUE...]", help="recipes, then overrides"),
    ] = None,
    host: Annotated[str, Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="port to listen on; 0 picks a free one")] = 0,
) -> None:
    """Start a vLLM server that training samples from and sends new weights to."""
    from strop.launch.sampler import serve

    serve(recipe_of(recipe or []), url_file, host, port)
